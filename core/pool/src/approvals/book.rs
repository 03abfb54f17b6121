//! The decisions that were taken (SPEC 12.1, 12.3, 12.4, 12.7).

use std::sync::Arc;

use super::candidate::{Candidate, Identity};
use super::changes::{Changes, Digests, FieldChange};
use super::form;
use super::hash::ApprovalHash;
use super::root::Root;
use super::tools::ToolDigests;
use crate::error::{Error, ErrorCode, Result};

/// What a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Approved,
    /// It may not, and nobody is to be asked again.
    Rejected,
}

impl Decision {
    /// Its word, in the file and in all languages.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Approved => "approved",
            Decision::Rejected => "rejected",
        }
    }

    pub(super) fn of_word(word: &str) -> Option<Decision> {
        [Decision::Approved, Decision::Rejected].into_iter().find(|one| one.as_str() == word)
    }
}

/// A decision as it stands: which one, and which time it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// What was decided.
    pub decision: Decision,
    /// When, in milliseconds since 1970 by the clock of who decided.
    pub at_ms: u64,
    /// The order of decisions in one book.
    pub(crate) serial: u64,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The project.
    pub root: Root,
    /// The server's name.
    pub server: String,
    /// The configuration.
    pub hash: ApprovalHash,
    /// The decision.
    pub standing: Standing,
    /// What was decided about, beside the newest decision of the name alone.
    pub(super) digests: Digests,
    /// The definitions of its tools that are accepted by it.
    pub(super) tools: Arc<ToolDigests>,
}

/// What came of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decided {
    /// What is in force: the rejection of somebody else, where an approval met one that it knew nothing of.
    pub standing: Standing,
    /// Approvals that were dropped to make room, the oldest ones; their servers are pending.
    pub dropped: usize,
    /// Servers whose accepted tools were dropped to make room before that; those that they list next are accepted.
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

impl Book {
    /// What was decided about a configuration; nothing while it is pending.
    pub fn standing(&self, root: &Root, server: &str, hash: ApprovalHash) -> Option<Standing> {
        self.position(root, server, hash).map(|index| self.records[index].standing)
    }

    /// What was decided last about a name, whatever its configuration was.
    pub fn last(&self, root: &Root, server: &str) -> Option<&Record> {
        self.records.iter().rfind(|record| record.is_of(root, server))
    }

    /// What was decided last about a name, if that was this configuration but for whether it is switched off and for the program, which only
    /// the file system tells. It lets nothing run.
    pub fn decided_unseen(
        &self,
        root: &Root,
        server: &str,
        candidate: &Candidate<'_>,
    ) -> Option<Decision> {
        let last = self.last(root, server).filter(|last| !last.digests.is_empty())?;
        let changes = Changes::since(last, &candidate.fields());
        let is_apart = |other: &FieldChange| matches!(&*other.field, "program" | "disabled");
        changes.fields.iter().all(is_apart).then_some(changes.decision)
    }

    /// The decisions of a project, the oldest first.
    pub fn of_root<'a>(&'a self, root: &'a Root) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| record.root == *root)
    }

    /// Takes a decision. `seen` is what stood when whoever decides was asked: an approval takes the place of a rejection only of theirs
    /// to see, and a rejection that of anything.
    ///
    /// # Errors
    /// `store` when there is no room though every approval were dropped; then nothing is changed.
    pub fn decide(
        &mut self,
        root: &Root,
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
    pub fn forget(&mut self, root: &Root, server: &str) -> usize {
        let before = self.records.len();
        self.records.retain(|record| !record.is_of(root, server));
        before - self.records.len()
    }

    pub(super) fn position(&self, root: &Root, server: &str, hash: ApprovalHash) -> Option<usize> {
        self.records.iter().position(|record| record.hash == hash && record.is_of(root, server))
    }

    /// Drops approvals until the book fits into its file, but for the newest decision.
    fn make_room(&mut self) -> Result<usize> {
        let mut dropped = 0;
        let mut length = form::length_at_most(self);
        while self.records.len() > RECORDS_MAX || length > form::BYTES_MAX {
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

impl Record {
    fn is_of(&self, root: &Root, server: &str) -> bool {
        self.server == server && self.root == *root
    }
}
