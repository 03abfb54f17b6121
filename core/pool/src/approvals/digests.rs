//! What is kept of a configuration that was decided about: enough to tell what is different later
//! (SPEC 12.5).
//!
//! The newest decision of a name has a digest of each field. So neither an argument nor a value is
//! ever in the file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::hash::{ApprovalHash, digest};
use crate::base::text::hex;

/// A digest of each field of a configuration, cut: it tells what to show, and decides nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// What they are salted with: the hash of the configuration that they are of.
    pub(super) of: Option<ApprovalHash>,
    fields: BTreeMap<String, String>,
}

/// Members of `env` or `headers` that have a digest each; of more the field has one as a whole.
const MEMBERS_MAX: usize = 64;

/// Bytes of a member's name; with a longer one the field has one digest as a whole.
const MEMBER_BYTES_MAX: usize = 128;

/// Bytes of a digest that are kept.
const DIGEST_BYTES: usize = 8;

impl Digests {
    pub(super) fn of(fields: &BTreeMap<&'static str, Value>, hash: ApprovalHash) -> Digests {
        let mut out = BTreeMap::new();
        for (name, value) in fields {
            if is_default(value) {
                continue;
            }
            match value.as_object().filter(|members| is_told_apart(name, members)) {
                Some(members) => out.extend(members.iter().map(|(member, value)| {
                    let name = format!("{name}.{member}");
                    let digest = salted(hash, &name, value);
                    (name, digest)
                })),
                None => {
                    out.insert((*name).to_owned(), salted(hash, name, value));
                }
            }
        }
        Digests::kept(hash, out)
    }

    /// None are of nothing.
    pub(super) fn kept(of: ApprovalHash, fields: BTreeMap<String, String>) -> Digests {
        Digests { of: (!fields.is_empty()).then_some(of), fields }
    }

    pub(super) fn fields(&self) -> &BTreeMap<String, String> {
        &self.fields
    }

    /// Whether nothing is known of what they were of.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// What is the same as not being there.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(members) => members.is_empty(),
        // Written and shown: both are not there.
        Value::Array(items) => items.iter().all(Value::is_null) && !items.is_empty(),
        _ => false,
    }
}

fn is_told_apart(name: &str, members: &serde_json::Map<String, Value>) -> bool {
    matches!(name, "env" | "headers")
        && members.len() <= MEMBERS_MAX
        && members.keys().all(|member| member.len() <= MEMBER_BYTES_MAX)
}

fn salted(salt: ApprovalHash, name: &str, value: &Value) -> String {
    hex(&digest(&json!([salt.to_string(), name, value]))[..DIGEST_BYTES])
}
