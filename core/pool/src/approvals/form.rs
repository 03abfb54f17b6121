//! The text of a book, written in one way and read in one way (SPEC 12.6, S-12, S-15).

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use super::book::{Book, Decision, RECORDS_MAX, Record, Standing};
use super::changes::Digests;
use super::hash::ApprovalHash;
use super::root::Root;
use crate::json::parse;

/// The form that is written here. Whatever joins it makes another.
const VERSION: u64 = 1;

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
        json!({ "v": VERSION, "serial": self.serial, "decisions": records }).to_string()
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
        read(value).filter(|_| version == VERSION).ok_or(Unreadable::Damaged)
    }
}

/// The length of a book's text; of one that fits however its texts are escaped, a bound of it, which costs less.
pub(super) fn length_at_most(book: &Book) -> usize {
    let escaped = |text: &str| text.len() * ESCAPED_BYTES_MAX;
    let bounds = book.records.iter().map(|record| {
        let fields = record.digests.fields().iter();
        let fields: usize =
            fields.map(|(name, digest)| escaped(name) + escaped(digest) + FRAME_BYTES_MAX).sum();
        escaped(record.root.as_str()) + escaped(&record.server) + RECORD_BYTES_MAX + fields
    });
    let bound = bounds.sum::<usize>() + FRAME_BYTES_MAX;
    if bound <= BYTES_MAX { bound } else { book.to_text().len() }
}

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
    let Record { root, server, hash, standing, digests } = record;
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
    let standing = Standing { decision, at_ms, serial };
    let record = Record { root: Root::of_canonical(root), server, hash, standing, digests };
    members.is_empty().then_some(record)
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
