//! The decisions that were taken (SPEC 12.1, 12.3, 12.4, 12.7), and their text. It has one way to
//! be written and read (SPEC 12.6, S-12, S-15).

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::candidate::{Candidate, Identity};
use super::changes::{Changes, FieldChange};
use super::digests::Digests;
use super::form;
use super::hash::ApprovalHash;
use super::record::{Decision, Record, Standing};
use super::root::ProjectRoot;
use crate::error::{Error, ErrorCode, Result};
use crate::json::parse;

/// Why a text is no book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Somebody damaged it.
    Damaged,
    /// A later version wrote it: it is neither guessed at nor taken away.
    Later,
}

/// What came of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decided {
    /// What is in force: the rejection of somebody else, where an approval met one that it knew
    /// nothing of.
    pub standing: Standing,
    /// Approvals that were dropped to make room, the oldest ones; their servers are pending.
    pub dropped: usize,
    /// Servers whose accepted tools were dropped to make room before that; those that they list
    /// next are accepted.
    pub unkept: usize,
}

/// All decisions of a user, in the order in which they were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    pub(super) serial: u64,
    pub(super) records: Vec<Record>,
}

/// Decisions of one book: those of a thousand projects.
pub(super) const RECORDS_MAX: usize = 4096;

/// The newest form that is understood here. Whatever joins it makes another.
const VERSION: u64 = 2;

/// The form without tools, which is written where there are none.
const VERSION_WITHOUT_TOOLS: u64 = 1;

impl Book {
    /// What was decided about a configuration; nothing while it is pending.
    pub fn standing(
        &self,
        root: &ProjectRoot,
        server: &str,
        hash: ApprovalHash,
    ) -> Option<Standing> {
        self.position(root, server, hash).map(|index| self.records[index].standing)
    }

    /// What was decided last about a name, whatever its configuration was.
    pub fn last(&self, root: &ProjectRoot, server: &str) -> Option<&Record> {
        self.records.iter().rfind(|record| record.is_of(root, server))
    }

    /// Whether some configuration of a name is approved.
    pub fn was_approved(&self, root: &ProjectRoot, server: &str) -> bool {
        let mut own = self.records.iter().filter(|record| record.is_of(root, server));
        own.any(|record| record.standing.decision == Decision::Approved)
    }

    /// The last decision about a name, if it was about this configuration. The switch and the
    /// program do not count here: only the file system tells the program. It lets nothing run.
    pub fn decided_unseen(
        &self,
        root: &ProjectRoot,
        server: &str,
        candidate: &Candidate<'_>,
    ) -> Option<Decision> {
        let last = self.last(root, server).filter(|last| !last.digests.is_empty())?;
        let changes = Changes::since(last, &candidate.fields());
        let is_apart =
            |other: &FieldChange| matches!(&*other.field, "program" | "replaced" | "disabled");
        changes.fields.iter().all(is_apart).then_some(changes.decision)
    }

    /// The decisions of a project, the oldest first.
    pub fn of_root<'a>(&'a self, root: &'a ProjectRoot) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| record.root == *root)
    }

    /// Takes a decision. `seen` is what stood when the person was asked. An approval replaces a
    /// rejection only if the person saw it; a rejection replaces anything.
    ///
    /// # Errors
    /// `store` when there is no room though every approval were dropped; then nothing is changed.
    pub fn decide(
        &mut self,
        root: &ProjectRoot,
        server: &str,
        identity: &Identity,
        (decision, at_ms): (Decision, u64),
        seen: Option<Standing>,
    ) -> Result<Decided> {
        let position = self.position(root, server, identity.hash);
        if let Some(index) = position {
            let standing = self.records[index].standing;
            let is_unseen = standing.decision == Decision::Rejected && Some(standing) != seen;
            if standing.decision == decision || is_unseen {
                return Ok(Decided { standing, dropped: 0, unkept: 0 });
            }
        }
        let standing = Standing { decision, at_ms, serial: self.serial + 1 };
        let record = Record {
            root: root.clone(),
            server: server.to_owned(),
            hash: identity.hash,
            standing,
            digests: identity.digests.clone(),
            tools: Arc::default(),
        };
        let mut next = self.clone();
        if let Some(index) = position {
            next.records.remove(index);
        }
        next.serial = standing.serial;
        for earlier in next.records.iter_mut().filter(|one| one.is_of(root, server)) {
            earlier.digests = Digests::default();
        }
        next.records.push(record);
        let unkept = next.drop_tools_for_room(None);
        let dropped = next.make_room()?;
        *self = next;
        Ok(Decided { standing, dropped, unkept })
    }

    /// Makes a name pending, whatever its configuration; how many decisions there were.
    pub fn forget(&mut self, root: &ProjectRoot, server: &str) -> usize {
        let before = self.records.len();
        self.records.retain(|record| !record.is_of(root, server));
        before - self.records.len()
    }

    pub(super) fn position(
        &self,
        root: &ProjectRoot,
        server: &str,
        hash: ApprovalHash,
    ) -> Option<usize> {
        self.records.iter().position(|record| record.hash == hash && record.is_of(root, server))
    }

    /// Drops approvals until the book fits into its file, but for the newest decision.
    fn make_room(&mut self) -> Result<usize> {
        let mut dropped = 0;
        let mut length = self.length_at_most();
        while self.records.len() > RECORDS_MAX || length > Book::BYTES_MAX {
            let others = &self.records[..self.records.len().saturating_sub(1)];
            let is_approval = |one: &Record| one.standing.decision == Decision::Approved;
            let Some(oldest) = others.iter().position(is_approval) else {
                let message = "there is no room for another decision about a server";
                return Err(Error::new(ErrorCode::Store, message)
                    .with_hint("forget servers that were rejected"));
            };
            length -= form::length_of(&self.records.remove(oldest));
            dropped += 1;
        }
        Ok(dropped)
    }
}

impl Book {
    /// The longest text of a book, in bytes: a longer one is no book, and none is written.
    pub const BYTES_MAX: usize = 1 << 20;

    /// Its text.
    pub fn to_text(&self) -> String {
        let records = self.records.iter().map(form::to_json).collect::<Vec<_>>();
        let has_tools = self.records.iter().any(|record| !record.tools.is_empty());
        let version = if has_tools { VERSION } else { VERSION_WITHOUT_TOOLS };
        json!({ "v": version, "serial": self.serial, "decisions": records }).to_string()
    }

    /// Reads a text. What could be understood in two ways is damaged, and so is what nothing here
    /// would write.
    ///
    /// # Errors
    /// Why it is no book.
    pub fn parse(bytes: &[u8]) -> std::result::Result<Book, Unreadable> {
        if bytes.len() > Book::BYTES_MAX {
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
        let is_its = |book: &Book| {
            version == VERSION || book.records.iter().all(|record| record.tools.is_empty())
        };
        book.filter(is_its).ok_or(Unreadable::Damaged)
    }

    /// The length of its text; of one that fits however its texts are escaped, a bound of it, which
    /// costs less.
    pub(super) fn length_at_most(&self) -> usize {
        let bounds = self.records.iter().map(form::length_at_most);
        let bound = bounds.sum::<usize>() + form::FRAME_BYTES_MAX;
        if bound <= Book::BYTES_MAX { bound } else { self.to_text().len() }
    }
}

fn read(value: Value) -> Option<Book> {
    let Value::Object(mut members) = value else { return None };
    members.remove("v")?;
    let serial = members.remove("serial")?.as_u64()?;
    let Value::Array(decisions) = members.remove("decisions")? else { return None };
    if !members.is_empty() || decisions.len() > RECORDS_MAX {
        return None;
    }
    let records = decisions.into_iter().map(form::read).collect::<Option<Vec<_>>>()?;
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
