//! Which fields of a configuration hold variables.

use serde_json::{Map, Value};

use crate::config::oauth::{is_address, is_secret};
use crate::error::Result;
use crate::json::joined;

/// What a text of a configuration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRole {
    /// It is the program: what it is must be known before anybody is asked.
    Program,
    /// It is the path of a folder or of a file of variables, which an approval shows too.
    Path,
    /// It says what runs or where it is reached, so that an approval shows it.
    Target,
    /// It is given to what runs, or sent there; nobody looks at it before it is admitted.
    Value,
    /// The same, where it may be a secret that stands in a file of its own.
    Secret,
}

impl TextRole {
    /// Whether it is a path, whose leading `~` means the home folder.
    pub(super) fn is_path(self) -> bool {
        match self {
            TextRole::Program | TextRole::Path => true,
            TextRole::Target | TextRole::Value | TextRole::Secret => false,
        }
    }

    /// Whether nothing is known of it before it is admitted.
    pub(super) fn is_value(self) -> bool {
        matches!(self, TextRole::Value | TextRole::Secret)
    }
}

/// The role of the texts in a member of that spelling. Other members hold no variables.
fn role(spelling: &str) -> Option<TextRole> {
    match spelling {
        "command" => Some(TextRole::Program),
        "cwd" => Some(TextRole::Path),
        "args" | "url" | "serverUrl" | "httpUrl" | "tcp" | "socket_path" | "socketPath" => {
            Some(TextRole::Target)
        }
        "env" | "headers" => Some(TextRole::Secret),
        "oauth" | "auth" => Some(TextRole::Value),
        _ => None,
    }
}

/// Whether variables in a member of that spelling become anything.
pub(crate) fn holds_variables(spelling: &str) -> bool {
    role(spelling).is_some()
}

/// A configuration with each text that may hold variables as `change` makes it, given its path and
/// role. Numbers and all else stay what they are.
pub(super) fn rewritten(
    configuration: &Map<String, Value>,
    change: &mut dyn FnMut(&str, TextRole, &str) -> Result<String>,
) -> Result<Map<String, Value>> {
    let mut out = configuration.clone();
    for (spelling, value) in &mut out {
        // A text instead of the object of sign-ins is no field of ours.
        let is_ours = spelling != "auth" || value.is_object();
        let Some(role) = role(spelling).filter(|_| is_ours) else { continue };
        let path = joined("", spelling);
        match value {
            Value::Object(members) if matches!(&**spelling, "oauth" | "auth") => {
                for (name, value) in members {
                    rewrite(&joined(&path, name), role_in_oauth(name), value, change)?;
                }
            }
            value => rewrite(&path, role, value, change)?,
        }
    }
    Ok(out)
}

/// The role of the texts in a member of `oauth`: where a sign-in leads to is shown before anybody
/// approves it.
fn role_in_oauth(name: &str) -> TextRole {
    match name {
        name if is_address(name) => TextRole::Target,
        name if is_secret(name) => TextRole::Secret,
        _ => TextRole::Value,
    }
}

fn rewrite(
    path: &str,
    role: TextRole,
    value: &mut Value,
    change: &mut dyn FnMut(&str, TextRole, &str) -> Result<String>,
) -> Result<()> {
    match value {
        Value::String(text) => {
            if text.contains(['$', '!', '~']) {
                *text = change(path, role, text)?;
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(index, item)| rewrite(&format!("{path}[{index}]"), role, item, change)),
        Value::Object(members) => members
            .iter_mut()
            .try_for_each(|(name, item)| rewrite(&joined(path, name), role, item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The name of the field in errors.
pub(super) const ENV_FILE: &str = "env_file";
