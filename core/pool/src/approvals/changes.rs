//! What is different since the last decision, told without keeping what was there (SPEC 12.5).
//!
//! A record has a short digest of each field. Arguments may hold the value of a variable, so the
//! prompt names the fields and not their old contents.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::digests::Digests;
use super::line::escaped_text;
use super::record::{Decision, Record};

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
    pub change: FieldChangeKind,
}

/// How a field is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldChangeKind {
    /// It was not there.
    Added,
    /// It is there no more.
    Removed,
    /// It is another.
    Changed,
}

impl FieldChangeKind {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            FieldChangeKind::Added => "added",
            FieldChangeKind::Removed => "removed",
            FieldChangeKind::Changed => "changed",
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
        let (before, now) = (last.digests.fields(), now.fields());
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let different = names.into_iter().filter_map(|name| {
            let change = match (before.get(name), now.get(name)) {
                (None, _) => FieldChangeKind::Added,
                (_, None) => FieldChangeKind::Removed,
                (Some(before), Some(now)) if before == now => return None,
                _ => FieldChangeKind::Changed,
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
