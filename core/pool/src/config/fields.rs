//! The members of one server's configuration, taken out one by one; what is left at the end is
//! unknown.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::base::did_you_mean::nearest;
use crate::base::text::escaped;
use crate::error::{Error, ErrorCode, Result};
use crate::interface::{OptionKind, OptionRow, OptionScope, options};
use crate::json::{joined, whole};

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
    /// Refuses what differs from a known name in its case alone (S-15).
    pub(super) fn new(server: &'a str, value: &Value) -> Result<Fields<'a>> {
        let Some(members) = value.as_object() else {
            return Err(invalid(server, "", "the configuration of a server must be an object"));
        };
        let mut left = members.clone();
        // Null is absent, wherever it stands for a whole member.
        left.retain(|_, value| !value.is_null());
        let fields = Fields { server, left };
        for name in fields.left.keys() {
            let Some((spelling, _)) = KNOWN.similar(name) else { continue };
            if spelling != name {
                let message = format!("`{}` must be written `{spelling}`", escaped(name));
                return Err(fields.error(&joined("", name), &message));
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
        for spelling in &KNOWN.known(name).spellings {
            let Some(value) = self.left.shift_remove(spelling) else { continue };
            if let Some(first) = &found {
                let message = format!("`{}` and `{spelling}` are the same field", first.name);
                return Err(self.error(spelling, &message));
            }
            found = Some(Field { name: spelling.clone(), value });
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

    /// Takes a member that says no; whether it does.
    pub(super) fn take_false(&mut self, spelling: &str) -> bool {
        let is_false = self.left.get(spelling) == Some(&Value::Bool(false));
        is_false && self.left.shift_remove(spelling).is_some()
    }

    /// An error for members that are missing, with the member that somebody probably meant as one
    /// of them.
    pub(super) fn missing(&self, names: &[&str], message: &str) -> Error {
        let error = self.error(names[0], message);
        let meant = |left: &String| nearest(left, names.iter().copied()).is_some();
        match self.left.keys().find(|left| meant(left)) {
            Some(left) => error.with_nearest(left, names.iter().copied()),
            None => error,
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
        let OptionKind::Duration { min, max } = KNOWN.known(name).row.kind else { return Ok(None) };
        let Some(Field { name, value }) = self.take(name)? else { return Ok(None) };
        match whole(&value) {
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

    pub(super) fn as_string(&self, path: &str, value: &Value) -> Result<String> {
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

/// The registry's fields of a server, by every way to write one. Made once: a settings file asks
/// some hundred times per server. The name that somebody probably meant by a member that no rule
/// knows.
pub(super) fn nearest_known(name: &str) -> Option<&'static str> {
    let known = &LazyLock::force(&KNOWN).fields;
    nearest(name, known.iter().flat_map(|field| &field.spellings).map(String::as_str))
}

static KNOWN: LazyLock<KnownFields> = LazyLock::new(KnownFields::new);

struct KnownFields {
    fields: Vec<KnownField>,
    /// The place in `fields`, by the registry's name.
    by_name: HashMap<&'static str, usize>,
    /// Likewise, by each spelling in small letters, the first of those that are equal then.
    by_folded: HashMap<String, (usize, String)>,
}

struct KnownField {
    row: &'static OptionRow,
    spellings: Vec<String>,
}

impl KnownFields {
    fn new() -> KnownFields {
        let (mut by_name, mut by_folded) = (HashMap::new(), HashMap::new());
        let field = |row: &'static OptionRow| KnownField { row, spellings: row.spellings() };
        let fields: Vec<KnownField> = options(OptionScope::Server).iter().map(field).collect();
        for (place, KnownField { row, spellings }) in fields.iter().enumerate() {
            by_name.insert(row.name, place);
            for spelling in spellings {
                let folded = spelling.to_ascii_lowercase();
                by_folded.entry(folded).or_insert_with(|| (place, spelling.clone()));
            }
        }
        KnownFields { fields, by_name, by_folded }
    }

    /// The field of that name. Asked only for names that are in the registry.
    fn known(&self, name: &str) -> &KnownField {
        let found = self.by_name.get(name);
        debug_assert!(found.is_some(), "`{name}` is not in the registry");
        &self.fields[found.copied().unwrap_or_default()]
    }

    /// The known spelling that `name` is, or differs from in its case alone.
    fn similar<'a>(&'a self, name: &'a str) -> Option<(&'a str, &'static OptionRow)> {
        let (place, near) = self.by_folded.get(&name.to_ascii_lowercase())?;
        let KnownField { row, spellings } = &self.fields[*place];
        let is_exact = spellings.iter().any(|spelling| spelling == name);
        Some((if is_exact { name } else { near }, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-15: a name that differs in its case alone is of one field, whichever letters are large.
    #[test]
    fn no_two_fields_have_spellings_that_differ_in_their_case_alone() {
        for (place, known) in KNOWN.fields.iter().enumerate() {
            for spelling in &known.spellings {
                assert_eq!(KNOWN.by_folded[&spelling.to_ascii_lowercase()].0, place, "{spelling}");
            }
        }
    }
}
