//! The text of a book, written in one way and read in one way (SPEC 12.6, S-12, S-15).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::book::{Book, Decision, RECORDS_MAX, Record, Standing};
use super::changes::Digests;
use super::hash::ApprovalHash;
use super::root::Root;
use super::tools::ToolDigests;
use crate::json::parse;
use crate::text::{digest_from_hex, hex};

/// The newest form that is understood here. Whatever joins it makes another.
const VERSION: u64 = 2;

/// The form without tools, which is written where there are none.
const VERSION_WITHOUT_TOOLS: u64 = 1;

/// A longer text is no book, and none is written.
pub(super) const BYTES_MAX: usize = 1 << 20;

/// Why a text is no book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Somebody damaged it.
    Damaged,
    /// A later version wrote it: it is neither guessed at nor taken away.
    Later,
}

impl Book {
    /// The longest text of a book, in bytes.
    pub const BYTES_MAX: usize = BYTES_MAX;

    /// Its text.
    pub fn to_text(&self) -> String {
        let records = self.records.iter().map(record_to_json).collect::<Vec<_>>();
        let has_tools = self.records.iter().any(|record| !record.tools.is_empty());
        let version = if has_tools { VERSION } else { VERSION_WITHOUT_TOOLS };
        json!({ "v": version, "serial": self.serial, "decisions": records }).to_string()
    }

    /// Reads a text. What could be understood in two ways is damaged, and so is what nothing here would write.
    ///
    /// # Errors
    /// Why it is no book.
    pub fn parse(bytes: &[u8]) -> Result<Book, Unreadable> {
        if bytes.len() > BYTES_MAX {
            return Err(Unreadable::Damaged);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::Damaged)?;
        let (value, defects) = parse(text).map_err(|_| Unreadable::Damaged)?;
        if !defects.is_empty() {
            return Err(Unreadable::Damaged);
        }
        let version = value.get("v").and_then(Value::as_u64).ok_or(Unreadable::Damaged)?;
        if version > VERSION {
            return Err(Unreadable::Later);
        }
        let book = read(value).filter(|_| version >= VERSION_WITHOUT_TOOLS);
        let is_its = |book: &Book| version == VERSION || book.records.iter().all(has_no_tools);
        book.filter(is_its).ok_or(Unreadable::Damaged)
    }
}

/// The length of a book's text; of one that fits however its texts are escaped, a bound of it, which costs less.
pub(super) fn length_at_most(book: &Book) -> usize {
    let escaped = |text: &str| text.len() * ESCAPED_BYTES_MAX;
    let bounds = book.records.iter().map(|record| {
        let fields = record.digests.fields().iter();
        let fields: usize =
            fields.map(|(name, digest)| escaped(name) + escaped(digest) + FRAME_BYTES_MAX).sum();
        let tools: usize = record.tools.keys().map(|name| length_of_tool(name)).sum();
        escaped(record.root.as_str()) + escaped(&record.server) + RECORD_BYTES_MAX + fields + tools
    });
    let bound = bounds.sum::<usize>() + FRAME_BYTES_MAX;
    if bound <= BYTES_MAX { bound } else { book.to_text().len() }
}

/// What an accepted tool takes.
pub(super) fn length_of_tool(name: &str) -> usize {
    Value::from(name).to_string().len() + DIGEST_BYTES
}

fn has_no_tools(record: &Record) -> bool {
    record.tools.is_empty()
}

/// A digest as text, with its quotes, the colon before it and the comma after it.
const DIGEST_BYTES: usize = 64 + 4;

/// What JSON makes of one byte at most: `\u0000`.
const ESCAPED_BYTES_MAX: usize = 6;

/// What is around a list or a field is shorter.
const FRAME_BYTES_MAX: usize = 64;

/// What a record has beside its texts and fields is shorter.
const RECORD_BYTES_MAX: usize = 256;

/// What a decision adds to it, with the comma that parts it from another.
pub(super) fn length_of(record: &Record) -> usize {
    record_to_json(record).to_string().len() + 1
}

fn record_to_json(record: &Record) -> Value {
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

fn read(value: Value) -> Option<Book> {
    let Value::Object(mut members) = value else { return None };
    members.remove("v")?;
    let serial = members.remove("serial")?.as_u64()?;
    let Value::Array(decisions) = members.remove("decisions")? else { return None };
    if !members.is_empty() || decisions.len() > RECORDS_MAX {
        return None;
    }
    let records = decisions.into_iter().map(read_record).collect::<Option<Vec<_>>>()?;
    // In the order of their serials, each once, none beyond the book's own.
    let mut serials = records.iter().map(|record| record.standing.serial);
    let in_order = serials.clone().zip(serials.clone().skip(1)).all(|(one, next)| one < next);
    let keys: HashSet<_> =
        records.iter().map(|record| (&record.root, &record.server, record.hash)).collect();
    let is_whole = in_order
        && keys.len() == records.len()
        && serials.next_back().is_none_or(|last| last <= serial);
    is_whole.then_some(Book { serial, records })
}

fn read_record(value: Value) -> Option<Record> {
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
    let root = Root::of_canonical(root);
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
