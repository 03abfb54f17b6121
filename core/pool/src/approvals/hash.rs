//! What a decision is about, as one number.
//!
//! The written text is hashed beside the values: a value that looks like a variable is not that
//! variable. Unknown members count as well, since a field of a later version is no reason to
//! approve less.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::base::text::{digest_from_hex, hex};
use crate::json::canonical;

/// The version of the form that is hashed, at the head of its text.
const FORM: &str = "v1";

/// The hash of everything that a server's configuration does: SHA-256, compared whole (SPEC 12.2).
///
/// Its text is `v1:` and 64 hex digits, in the file and in all languages. It tells nothing of a
/// secret that a variable stands for, and changes with one that is written out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalHash([u8; 32]);

impl ApprovalHash {
    pub(super) fn of(fields: &BTreeMap<&'static str, Value>) -> ApprovalHash {
        ApprovalHash(digest(&json!({ "v": FORM, "fields": fields })))
    }

    /// Reads the text of a hash; nothing but the form that is written here is one.
    pub fn parse(text: &str) -> Option<ApprovalHash> {
        let digits = text.strip_prefix(FORM)?.strip_prefix(':')?;
        digest_from_hex(digits).map(ApprovalHash)
    }
}

impl fmt::Display for ApprovalHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}:{}", hex(&self.0))
    }
}

impl fmt::Debug for ApprovalHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The digest of a value, whatever the order of its members.
pub(super) fn digest(value: &Value) -> [u8; 32] {
    let text = value.to_string();
    // Without a canonical form, which only one that is too deep has, its plain text still tells
    // every difference.
    let text = canonical(&text).unwrap_or(text);
    Sha256::digest(text.as_bytes()).into()
}
