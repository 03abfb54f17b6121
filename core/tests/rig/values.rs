//! What a step gives, and what a case has saved.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde_json::Value;
use trunkline::Error;

/// What a step gives.
#[derive(Clone)]
pub struct Given {
    /// It, as JSON.
    pub value: Value,
    /// The bytes of a result, as the library handed them over.
    pub raw: Option<String>,
}

impl Given {
    /// Nothing.
    pub fn nothing() -> Given {
        Given { value: Value::Null, raw: None }
    }

    /// A value that no server could take.
    pub fn value(value: Value) -> Given {
        Given { value, raw: None }
    }

    /// A result, by its bytes.
    pub fn text(text: &str) -> Given {
        let value = serde_json::from_str(text).unwrap_or(Value::Null);
        Given { value, raw: Some(text.to_string()) }
    }
}

/// Why a step gave nothing: the library's error, or a slip of the case.
pub enum Failure {
    /// The library's error.
    Library(Error),
    /// What is wrong with the case.
    Case(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Library(error) => error.fmt(out),
            Failure::Case(why) => why.fmt(out),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Library(error)
    }
}

/// The saved values of a case by name.
#[derive(Default)]
pub struct Saved(pub HashMap<String, Value>);

impl Saved {
    /// `value` with every string that is `$` and a saved name replaced.
    pub fn filled_in(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let saved = text.strip_prefix('$').and_then(|name| self.0.get(name));
                saved.cloned().unwrap_or_else(|| value.clone())
            }
            Value::Array(items) => items.iter().map(|item| self.filled_in(item)).collect(),
            Value::Object(members) => {
                let filled = members.iter().map(|(key, item)| (key.clone(), self.filled_in(item)));
                Value::Object(filled.collect())
            }
            _ => value.clone(),
        }
    }
}

/// The members that stand for a server of the tests, and the program of each, in one folder.
const PROGRAMS: [(&str, &str); 2] =
    [("testserver", "trunkline-testserver"), ("fault", "trunkline-faultserver")];

/// A server object of a case as the library wants it.
pub fn server(value: &Value, testserver: &Path, start_log: &str) -> Value {
    let named = PROGRAMS.iter().find(|(name, _)| value.get(name).is_some_and(Value::is_array));
    let Some((name, program)) = named else { return value.clone() };
    let mut members = value.as_object().cloned().unwrap_or_default();
    let mut args = members.remove(*name).unwrap_or_default();
    if let Some(args) = args.as_array_mut() {
        args.extend(["--start-log".into(), start_log.into()]);
    }
    members.insert("command".into(), testserver.with_file_name(program).to_string_lossy().into());
    members.insert("args".into(), args);
    Value::Object(members)
}

/// A value in which every server object of a case is as the library wants it, wherever it stands.
pub fn servers_within(value: &Value, testserver: &Path, start_log: &str) -> Value {
    let within = |value| servers_within(value, testserver, start_log);
    match server(value, testserver, start_log) {
        Value::Array(items) => items.iter().map(within).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, item)| (key.clone(), within(item))).collect())
        }
        plain => plain,
    }
}

/// The text of an argument, or none.
pub fn text(arguments: &[Value], at: usize) -> &str {
    arguments.get(at).and_then(Value::as_str).unwrap_or_default()
}

/// The text of an argument, as the library takes it.
pub fn body(arguments: &[Value], at: usize) -> String {
    arguments.get(at).map_or(String::new(), Value::to_string)
}

/// That a case has a name that nobody knows.
pub fn unknown(name: &str) -> Failure {
    Failure::Case(format!("{name} is not known"))
}
