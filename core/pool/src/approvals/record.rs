//! One decision: what was decided, about what, and when (SPEC 12.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::digests::Digests;
use super::hash::ApprovalHash;
use super::root::ProjectRoot;

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
    pub root: ProjectRoot,
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

impl Record {
    /// Whether it is about a name, whatever the configuration.
    pub(super) fn is_of(&self, root: &ProjectRoot, server: &str) -> bool {
        self.server == server && self.root == *root
    }
}

/// Digests of definitions, by the tool's name.
pub type ToolDigests = BTreeMap<Arc<str>, [u8; 32]>;
