//! What is different since the last decision, told without keeping what was there (SPEC 12.5).
//!
//! A digest of each field is kept beside the newest decision of a name, so that neither an argument nor a value is ever in the file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::book::{Decision, Record};
use super::hash::{ApprovalHash, digest};
use super::line::escaped_text;
use crate::text::hex;

/// A digest of each field of a configuration, cut: it tells what to show, and decides nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// What they are salted with: the hash of the configuration that they are of.
    of: Option<ApprovalHash>,
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
        Digests { of: Some(hash), fields: out }
    }

    pub(super) fn kept(of: ApprovalHash, fields: BTreeMap<String, String>) -> Digests {
        Digests { of: Some(of), fields }
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

/// What is different since the last decision about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// What was decided then.
    pub decision: Decision,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What is different, by field; empty when nothing is known of what was there.
    pub fields: Vec<FieldChange>,
}

/// One field that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChange {
    /// The field, such as `args` or `env.TOKEN`, escaped.
    pub field: String,
    /// How.
    pub change: Change,
}

/// How a field is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Added,
    /// It is there no more.
    Removed,
    /// It is another.
    Changed,
}

impl Change {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Removed => "removed",
            Change::Changed => "changed",
        }
    }
}

impl Changes {
    /// What these fields have that what was decided last had not, and the other way.
    pub(super) fn since(last: &Record, fields: &BTreeMap<&'static str, Value>) -> Changes {
        let changes = Changes {
            decision: last.standing.decision,
            at_ms: last.standing.at_ms,
            fields: Vec::new(),
        };
        let Some(salt) = last.digests.of.filter(|_| !last.digests.is_empty()) else {
            return changes;
        };
        // The same salt, so that what is equal has an equal digest.
        let now = Digests::of(fields, salt);
        let (before, now) = (&last.digests.fields, &now.fields);
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let different = names.into_iter().filter_map(|name| {
            let change = match (before.get(name), now.get(name)) {
                (None, _) => Change::Added,
                (_, None) => Change::Removed,
                (Some(before), Some(now)) if before == now => return None,
                _ => Change::Changed,
            };
            Some(FieldChange { field: escaped_text(name), change })
        });
        Changes { fields: different.collect(), ..changes }
    }

    pub(super) fn to_json(&self) -> Value {
        let fields = self.fields.iter();
        let fields = fields.map(
            |FieldChange { field, change }| json!({ "field": field, "change": change.as_str() }),
        );
        json!({
            "decision": self.decision.as_str(),
            "at_ms": self.at_ms,
            "fields": fields.collect::<Vec<_>>(),
        })
    }
}
