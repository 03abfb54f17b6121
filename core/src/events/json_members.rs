//! Members of a JSON object, as events write them.

use std::fmt::{Display, Write};

use serde_json::Value;

/// Fields that are values.
pub(super) fn members_of(fields: &[(&str, Value)]) -> impl FnOnce(&mut Members) {
    |json| fields.iter().for_each(|(name, value)| json.add(name, value))
}

/// Members of a JSON object, as they are written one by one, with a comma before each. No name
/// comes twice.
#[derive(Default)]
pub(crate) struct Members(pub(super) String);

impl Members {
    pub(super) fn add(&mut self, name: &str, value: &Value) {
        self.name(name);
        self.display(value);
    }

    pub(super) fn add_number(&mut self, name: &str, number: u64) {
        self.name(name);
        self.display(&number);
    }

    pub(super) fn add_str(&mut self, name: &str, value: &str) {
        if !value.bytes().all(is_plain) {
            return self.add(name, &value.into());
        }
        self.name(name);
        self.0.push('"');
        self.0.push_str(value);
        self.0.push('"');
    }

    /// Adds members that are written already: `"name":value`, with commas between them.
    pub(crate) fn add_written(&mut self, members: &str) {
        self.0.push(',');
        self.0.push_str(members);
    }

    // Inlined, a name is a constant that needs no copy in a loop.
    #[inline(always)]
    fn name(&mut self, name: &str) {
        // Names of members are ours.
        debug_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        self.0.push_str(",\"");
        self.0.push_str(name);
        self.0.push_str("\":");
    }

    fn display(&mut self, value: &impl Display) {
        let written = write!(self.0, "{value}");
        debug_assert!(written.is_ok(), "neither memory nor these values refuse to be written");
    }
}

/// Whether it stands for itself in a JSON string.
pub(super) fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}
