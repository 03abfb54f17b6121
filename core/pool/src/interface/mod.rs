//! The registry of operations, errors, events, options and names of telemetry.
//!
//! Rust, C, Python and Node share it.
//!
//! It only grows: numbers and names are never reused. The header, the stubs and the docs are
//! checked against it.

mod client_rows;
mod errors;
mod events;
pub mod metrics;
mod names;
pub mod operations;
mod option_rows;
mod options;
mod serve_rows;
mod server_rows;
mod spelling;
pub mod telemetry;
pub mod words;

pub use errors::{ERRORS, ErrorCode, ErrorRow, Names, RetryAdvice};
pub use events::{EVENTS, EnvelopeScope, EventKind, EventRow, PayloadField, Presence};
pub use names::{node_name, python_name};
pub(crate) use options::RETRY_DELAY_MS_MAX;
pub use options::{OptionKind, OptionRow, OptionScope, SCOPES};
pub use spelling::Dialect;

use serde_json::{Value, json};

/// The version of the registry's own form.
const VERSION: u32 = 1;

/// The parts of the registry as JSON, by their names in it.
pub const PARTS: [&str; 5] = ["errors", "events", "envelope", "options", "telemetry"];

/// The whole registry as JSON: `{v, errors, events, envelope, options, telemetry}`.
///
/// Bindings translate their keyword arguments with it, and check their stubs against it.
pub fn to_json() -> Value {
    let parts = PARTS.iter().map(|name| ((*name).to_owned(), part_to_json(name)));
    [("v".to_owned(), json!(VERSION))].into_iter().chain(parts).collect()
}

/// One of the [`PARTS`]; null for what is none.
///
/// The options are in theirs by scope. The fields of servers have `spellings` instead of names by
/// language: their configuration is the same everywhere.
pub fn part_to_json(name: &str) -> Value {
    match name {
        "errors" => ERRORS.iter().map(ErrorRow::to_json).collect(),
        "events" => EVENTS.iter().map(EventRow::to_json).collect(),
        "envelope" => events::ENVELOPE.iter().map(PayloadField::to_json).collect(),
        "options" => options_to_json(),
        "telemetry" => telemetry::to_json(),
        _ => Value::Null,
    }
}

fn options_to_json() -> Value {
    let scopes = SCOPES.iter().map(|scope| {
        let rows = options(*scope).iter().map(|row| match scope {
            OptionScope::Server => server_field(row),
            _ => row.to_json(),
        });
        let rows = rows.collect::<Vec<_>>();
        (scope.name().to_owned(), Value::from(rows))
    });
    Value::Object(scopes.collect())
}

/// The options of a scope, in the order of the reference.
pub fn options(scope: OptionScope) -> &'static [OptionRow] {
    match scope {
        OptionScope::Pool => option_rows::POOL,
        OptionScope::Session => option_rows::SESSION,
        OptionScope::Configure => option_rows::CONFIGURE,
        OptionScope::Server => server_rows::SERVER,
        OptionScope::Call => option_rows::CALL,
        OptionScope::Acquire => option_rows::ACQUIRE,
        OptionScope::Drain => option_rows::DRAIN,
        OptionScope::SignIn => option_rows::SIGN_IN,
        OptionScope::Gates => option_rows::GATES,
        OptionScope::Load => option_rows::LOAD,
        OptionScope::Reload => option_rows::RELOAD,
        OptionScope::Status => option_rows::STATUS,
        OptionScope::Serve => serve_rows::SERVE,
    }
}

/// How the options of a scope are called, and what of their values a binding has to translate:
/// `[{name, python, node, …}]`.
///
/// A binding reads it when its host first uses the scope; the whole takes it several times as long
/// as making a pool.
pub fn names_to_json(scope: OptionScope) -> Value {
    options(scope).iter().map(OptionRow::names_to_json).collect()
}

fn server_field(row: &OptionRow) -> Value {
    let mut out = row.to_json();
    if let Value::Object(members) = &mut out {
        for name in ["python", "node", "aliases"] {
            members.shift_remove(name);
        }
        members.insert("spellings".into(), row.spellings().into());
    }
    out
}

#[cfg(test)]
mod tests;
