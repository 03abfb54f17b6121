//! What a settings file says that configures nothing: what may run unasked, and what was kept
//! without effect.

use super::position::Place;

/// What an entry says without effect, or of what may run unasked.
#[derive(Clone, Default)]
pub(super) struct Notes {
    pub approvals: Vec<Approval>,
    pub findings: Vec<Finding>,
}

/// A word of the file that something may run unasked (SPEC 11.7).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The server whose entry says so; none where the file says it of servers.
    pub server: Option<String>,
    /// The field, as a path in the entry or in the file.
    pub path: String,
    /// Where it stands.
    pub place: Place,
    /// What is to run unasked.
    pub what: Approved,
}

/// What a file would have run unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approved {
    /// All of it.
    Everything,
    /// These tools, or these servers where the file says it of servers.
    Names(Vec<String>),
}

/// Something about a file that is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The server whose entry it is in.
    pub server: Option<String>,
    /// The path in the entry, or in the file.
    pub path: String,
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub kind: FindingKind,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// As far as is known, the product has no such member. It is kept, unless the pool's own form
    /// makes something of its name.
    Unknown,
    /// The product has it, and it has no effect here. It is kept, as one that is unknown.
    NoEffect,
    /// A time beyond what is allowed here was cut to the longest or shortest that is.
    Cut,
    /// The server is kept out since the product keeps it in quarantine.
    Quarantined,
    /// It cannot be read and is left out.
    Unreadable,
    /// A path in it holds a control character, such as the tab that a `\\t` in the file is: a
    /// backslash that was meant as one has to be doubled there.
    ControlCharacter,
}

impl FindingKind {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            FindingKind::Unknown => "unknown",
            FindingKind::NoEffect => "no_effect",
            FindingKind::Cut => "cut",
            FindingKind::Quarantined => "quarantined",
            FindingKind::Unreadable => "unreadable",
            FindingKind::ControlCharacter => "control_character",
        }
    }
}
