//! The text of one decision, and how long it is (SPEC 12.6).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::digests::Digests;
use super::hash::ApprovalHash;
use super::record::{Decision, Record, Standing, ToolDigests};
use super::root::ProjectRoot;
use crate::base::text::{digest_from_hex, hex};

/// A bound of what a decision takes however its texts are escaped, which costs less than its text.
pub(super) fn length_at_most(record: &Record) -> usize {
    let escaped = |text: &str| text.len() * ESCAPED_BYTES_MAX;
    let fields = record.digests.fields().iter();
    let fields: usize =
        fields.map(|(name, digest)| escaped(name) + escaped(digest) + FRAME_BYTES_MAX).sum();
    let tools: usize = record.tools.keys().map(|name| length_of_tool(name)).sum();
    escaped(record.root.as_str()) + escaped(&record.server) + RECORD_BYTES_MAX + fields + tools
}

/// What an accepted tool takes.
pub(super) fn length_of_tool(name: &str) -> usize {
    Value::from(name).to_string().len() + DIGEST_BYTES
}

/// A digest as text, with its quotes, the colon before it and the comma after it.
const DIGEST_BYTES: usize = 64 + 4;

/// What JSON makes of one byte at most: `\u0000`.
const ESCAPED_BYTES_MAX: usize = 6;

/// What is around a list or a field is shorter.
pub(super) const FRAME_BYTES_MAX: usize = 64;

/// What a record has beside its texts and fields is shorter.
const RECORD_BYTES_MAX: usize = 256;

/// What a decision adds to it, with the comma that parts it from another.
pub(super) fn length_of(record: &Record) -> usize {
    to_json(record).to_string().len() + 1
}

/// A decision as it stands in the file.
pub(super) fn to_json(record: &Record) -> Value {
    let Record { root, server, hash, standing, digests, tools } = record;
    let Standing { decision, at_ms, serial } = standing;
    let mut out = json!({
        "root": root.as_str(),
        "server": server,
        "hash": hash.to_string(),
        "decision": decision.as_str(),
        "at_ms": at_ms,
        "serial": serial,
    });
    if !digests.is_empty() {
        out["fields"] = json!(digests.fields());
    }
    if !tools.is_empty() {
        let row = |(name, digest): (&Arc<str>, &[u8; 32])| (name.to_string(), hex(digest).into());
        out["tools"] = Value::Object(tools.iter().map(row).collect());
    }
    out
}

/// Reads a decision; what nothing here would write is none.
pub(super) fn read(value: Value) -> Option<Record> {
    let Value::Object(mut members) = value else { return None };
    let root = text(&mut members, "root")?;
    let server = text(&mut members, "server")?;
    let hash = ApprovalHash::parse(&text(&mut members, "hash")?)?;
    let decision = Decision::of_word(&text(&mut members, "decision")?)?;
    let at_ms = members.remove("at_ms")?.as_u64()?;
    let serial = members.remove("serial")?.as_u64()?;
    let digests = match members.remove("fields") {
        None => Digests::default(),
        Some(Value::Object(fields)) => Digests::kept(hash, read_fields(fields)?),
        Some(_) => return None,
    };
    let tools = match members.remove("tools") {
        None => Arc::default(),
        Some(Value::Object(tools)) => Arc::new(read_tools(tools)?),
        Some(_) => return None,
    };
    let standing = Standing { decision, at_ms, serial };
    let root = ProjectRoot::of_canonical(root);
    let record = Record { root, server, hash, standing, digests, tools };
    members.is_empty().then_some(record)
}

fn read_tools(tools: Map<String, Value>) -> Option<ToolDigests> {
    let tools = tools.into_iter().map(|(name, digest)| match digest {
        Value::String(digest) => Some((Arc::from(name), digest_from_hex(&digest)?)),
        _ => None,
    });
    tools.collect()
}

fn read_fields(fields: Map<String, Value>) -> Option<BTreeMap<String, String>> {
    let fields = fields.into_iter().map(|(name, digest)| match digest {
        Value::String(digest) => Some((name, digest)),
        _ => None,
    });
    fields.collect()
}

fn text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.remove(name)? {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}
