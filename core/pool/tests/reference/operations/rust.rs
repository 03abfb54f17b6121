//! What the glue in Rust has in common: the types of the core, and how its functions are called.

use trunkline_pool::interface::OptionScope;
use trunkline_pool::interface::operations::{
    Gives, Operation, Owner, Parameter, ParameterKind as Kind,
};

/// The first lines of a file that is written; a tidy rule knows them.
pub const ORIGIN: &str = "//! Written from core/pool/src/interface/operations; do not edit.
//!
//! `UPDATE_REFERENCE=1 cargo test -p trunkline-pool --test reference` writes it anew.
";

/// The type of the options of a scope.
pub fn options_type(scope: OptionScope) -> &'static str {
    match scope {
        OptionScope::Acquire => "AcquireOptions",
        OptionScope::Configure => "ConfigureOptions",
        OptionScope::Drain => "DrainOptions",
        OptionScope::SignIn => "SignInOptions",
        OptionScope::Load => "LoadOptions",
        OptionScope::Reload => "ReloadOptions",
        OptionScope::Status => "StatusOptions",
        other => panic!("no operation whose glue is written has the options of {}", other.name()),
    }
}

/// The function of the core.
pub fn function(operation: &Operation) -> &'static str {
    match operation.name {
        "status" => "status_with",
        name => name,
    }
}

/// Whether the function of the core can fail.
pub fn is_fallible(operation: &Operation) -> bool {
    let is_look_at_a_lease =
        operation.owner == Owner::Lease && operation.gives == Gives::Introduction;
    operation.name != "status" && operation.name != "release" && !is_look_at_a_lease
}

/// Whether what it does begins with the call, and not with the first look at its future: the last
/// of several calls holds.
pub fn begins_at_once(operation: &Operation) -> bool {
    operation.parameters.iter().any(|parameter| parameter.kind == Kind::Flag)
}

/// How an owned argument is passed to the core.
pub fn passed(parameter: &Parameter) -> String {
    let name = parameter.name;
    match parameter.kind {
        Kind::OptionalText | Kind::Settings => format!("{name}.as_deref()"),
        Kind::Config | Kind::Roots | Kind::Source => format!("&{name}"),
        Kind::OptionalConfig => format!("{name}.as_ref()"),
        Kind::Servers
        | Kind::Gates
        | Kind::Flag
        | Kind::Switch
        | Kind::Index
        | Kind::Timeout
        | Kind::Shape
        | Kind::Path => name.to_owned(),
        _ => format!("&{name}"),
    }
}

/// All arguments of the core's function, in its order.
pub fn arguments(operation: &Operation) -> String {
    let mut all: Vec<_> = operation.parameters.iter().map(passed).collect();
    match operation.options {
        Some(OptionScope::Configure) => all.push("options".to_owned()),
        Some(_) => all.push("&options".to_owned()),
        None => {}
    }
    all.join(", ")
}

/// The `use` of a crate for the names of the list that the text has.
pub fn imports(krate: &str, names: &[&str], text: &str) -> String {
    let mut used: Vec<_> = names.iter().filter(|name| has_word(text, name)).copied().collect();
    used.sort_by_key(|name| (*name != "self", !name.starts_with(char::is_uppercase), *name));
    match used.as_slice() {
        [] => String::new(),
        [one] => format!("use {krate}::{one};\n"),
        all if all.join(", ").len() + krate.len() < 91 => {
            format!("use {krate}::{{{}}};\n", all.join(", "))
        }
        all => {
            let mut used = String::new();
            let mut line = String::new();
            for name in all {
                if line.len() + name.len() > 92 {
                    used.push_str(&format!("    {}\n", line.trim_end()));
                    line.clear();
                }
                line.push_str(&format!("{name}, "));
            }
            format!("use {krate}::{{\n{used}    {}\n}};\n", line.trim_end())
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
