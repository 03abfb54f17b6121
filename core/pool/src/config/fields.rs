//! The members of one server's configuration, taken out one by one; what is left at the end is unknown.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::{Error, ErrorCode, Result};
use crate::interface::{OptionKind, OptionRow, Scope, Support, options};
use crate::json::joined;
use crate::text::escaped;

/// The most items of `args`, `env`, `headers` and the like.
const ITEMS_MAX: usize = 10_000;

/// The members that have not been taken yet.
pub(super) struct Fields<'a> {
    server: &'a str,
    left: Map<String, Value>,
}

/// A member under the spelling that the configuration uses.
pub(super) struct Field {
    pub name: String,
    pub value: Value,
}

impl<'a> Fields<'a> {
    /// Refuses what differs from a known name in its case alone, and what is known and not supported (S-15).
    pub(super) fn new(server: &'a str, value: &Value) -> Result<Fields<'a>> {
        let Some(members) = value.as_object() else {
            return Err(invalid(server, "", "the configuration of a server must be an object"));
        };
        let mut left = members.clone();
        // Null is absent, wherever it stands for a whole member.
        left.retain(|_, value| !value.is_null());
        let fields = Fields { server, left };
        for name in fields.left.keys() {
            let Some((spelling, row)) = similar(name) else { continue };
            if spelling != *name {
                let message = format!("`{}` must be written `{spelling}`", escaped(name));
                return Err(fields.error(&joined("", name), &message));
            }
            if row.support == Support::Planned {
                let message = format!("`{name}` is not supported by this version");
                return Err(fields.error(name, &message));
            }
        }
        Ok(fields)
    }

    pub(super) fn error(&self, path: &str, message: &str) -> Error {
        invalid(self.server, path, message)
    }

    /// What nobody took.
    pub(super) fn into_unknown(self) -> Map<String, Value> {
        self.left
    }

    /// The member of that name or one of its other spellings; two of them are an error.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<Field>> {
        let mut found: Option<Field> = None;
        for spelling in row(name).spellings() {
            let Some(value) = self.left.shift_remove(&spelling) else { continue };
            if let Some(first) = &found {
                let message = format!("`{}` and `{spelling}` are the same field", first.name);
                return Err(self.error(&spelling, &message));
            }
            found = Some(Field { name: spelling, value });
        }
        Ok(found)
    }

    /// The member of exactly that spelling, if it has the right shape; else it stays where it is.
    pub(super) fn take_object(&mut self, spelling: &str) -> Option<Map<String, Value>> {
        if !self.left.get(spelling)?.is_object() {
            return None;
        }
        match self.left.shift_remove(spelling) {
            Some(Value::Object(members)) => Some(members),
            _ => None,
        }
    }

    pub(super) fn has(&self, spelling: &str) -> bool {
        self.left.contains_key(spelling)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        let Some(Field { name, value }) = self.take(name)? else { return Ok(None) };
        self.as_text(&name, &value).map(Some)
    }

    pub(super) fn bool(&mut self, name: &str) -> Result<Option<bool>> {
        let Some(Field { name, value }) = self.take(name)? else { return Ok(None) };
        match value {
            Value::Bool(value) => Ok(Some(value)),
            _ => Err(self.error(&name, &format!("`{name}` must be true or false"))),
        }
    }

    pub(super) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(Field { name, value }) = self.take(name)? else { return Ok(None) };
        self.as_texts(&name, &value).map(Some)
    }

    pub(super) fn as_texts(&self, path: &str, value: &Value) -> Result<Vec<String>> {
        let Value::Array(items) = value else {
            return Err(self.error(path, &format!("`{path}` must be an array of strings")));
        };
        self.check_count(path, items.len())?;
        let texts = items.iter().enumerate();
        texts.map(|(index, item)| self.as_string(&format!("{path}[{index}]"), item)).collect()
    }

    /// An object whose members are strings or null.
    pub(super) fn text_map(&mut self, name: &str) -> Result<Vec<(String, Option<String>)>> {
        let Some(Field { name, value }) = self.take(name)? else { return Ok(Vec::new()) };
        let Value::Object(members) = value else {
            return Err(self.error(&name, &format!("`{name}` must be an object of strings")));
        };
        self.check_count(&name, members.len())?;
        let texts = members.iter().map(|(member, value)| match value {
            Value::Null => Ok((member.clone(), None)),
            value => Ok((member.clone(), Some(self.as_string(&joined(&name, member), value)?))),
        });
        texts.collect()
    }

    /// A whole number of milliseconds within the registry's range.
    pub(super) fn duration(&mut self, name: &str) -> Result<Option<Duration>> {
        let OptionKind::Duration { min, max } = row(name).kind else { return Ok(None) };
        let Some(Field { name, value }) = self.take(name)? else { return Ok(None) };
        match value.as_u64() {
            Some(number) if (min..=max).contains(&number) => {
                Ok(Some(Duration::from_millis(number)))
            }
            _ => {
                let message =
                    format!("`{name}` must be a whole number of milliseconds from {min} to {max}");
                Err(self.error(&name, &message))
            }
        }
    }

    /// A string that is not empty.
    pub(super) fn as_text(&self, path: &str, value: &Value) -> Result<String> {
        let text = self.as_string(path, value)?;
        if text.is_empty() {
            return Err(self.error(path, &format!("`{path}` must not be empty")));
        }
        Ok(text)
    }

    fn as_string(&self, path: &str, value: &Value) -> Result<String> {
        let Value::String(text) = value else {
            return Err(self.error(path, &format!("`{path}` must be a string")));
        };
        match text.chars().find(|c| matches!(c, '\0' | '\u{feff}')) {
            Some('\0') => Err(self.error(path, &format!("`{path}` must not hold a NUL character"))),
            Some(_) => Err(self.error(path, &format!("`{path}` must not hold a byte order mark"))),
            None => Ok(text.clone()),
        }
    }

    fn check_count(&self, path: &str, count: usize) -> Result<()> {
        if count > ITEMS_MAX {
            return Err(self.error(path, &format!("`{path}` has more than {ITEMS_MAX} items")));
        }
        Ok(())
    }
}

/// The error for one server's configuration.
pub(super) fn invalid(server: &str, path: &str, message: &str) -> Error {
    Error::new(ErrorCode::InvalidConfig, message).with_server(server).with_detail("path", path)
}

/// The registry's row of a server's field. Asked only for names that are in it.
fn row(name: &str) -> &'static OptionRow {
    let rows = options(Scope::Server);
    let found = rows.iter().find(|row| row.name == name);
    debug_assert!(found.is_some(), "`{name}` is not in the registry");
    found.unwrap_or(&rows[0])
}

/// The known spelling that `name` is, or differs from in its case alone.
fn similar(name: &str) -> Option<(String, &'static OptionRow)> {
    let mut near = None;
    for row in options(Scope::Server) {
        for spelling in row.spellings() {
            if spelling == name {
                return Some((spelling, row));
            }
            if near.is_none() && spelling.eq_ignore_ascii_case(name) {
                near = Some((spelling, row));
            }
        }
    }
    near
}
