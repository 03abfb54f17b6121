//! What a settings file says.

use std::fmt;

use super::format::Format;
use super::notes::{Approval, Finding};
use super::position::Place;
use super::syntax::Syntax;
use super::template::Template;
use crate::error::Result;

/// What one settings file says. Nothing of it is expanded, admitted or granted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Source {
    /// By whose rules it was read.
    pub format: Format,
    /// Its syntax.
    pub syntax: Syntax,
    /// Its servers, in the order of the file. A bad entry spoils itself alone.
    pub servers: Vec<Server>,
    /// Entries that are no servers of a pool: part of the product itself, such as its built-in
    /// extensions, or `trunkline connect`, which leads back to a pool.
    pub skipped: Vec<Skipped>,
    /// The inputs that it declares; a host is asked for them once a server that names one is
    /// admitted.
    pub inputs: Vec<Input>,
    /// Which servers it lets in.
    pub lists: Lists,
    /// What it says of tools or servers that may run unasked. Recorded for the host to see; it
    /// grants nothing.
    pub approvals: Vec<Approval>,
    /// What was kept without effect or read other than it is written, [`FINDINGS_MAX`] at most.
    pub findings: Vec<Finding>,
}

/// Findings that are kept of one file; a file that gives more is no longer read by a person.
pub const FINDINGS_MAX: usize = 1_000;

/// One server of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Server {
    /// Its name, as in the file; it may hold `/`, `.` and `::`.
    pub name: String,
    /// Where its entry begins.
    pub place: Place,
    /// What it is, or what is wrong with it: `invalid_config` with `detail.source`, `path`, `line`
    /// and `column`.
    pub template: Result<Template>,
}

/// An entry that is no server to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// Its `type`, or another word for what it is.
    pub what: String,
}

/// A value that the host is to ask for, where `${input:id}` stands.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// Its id.
    pub id: String,
    /// Where it is declared.
    pub place: Place,
    /// How it is asked for.
    pub kind: InputKind,
    /// The question.
    pub description: Option<String>,
    /// What is offered. A file that is shared may hold a secret here, so `Debug` does not print it.
    pub default: Option<String>,
    /// Whether the answer is a secret.
    pub secrecy: Secrecy,
}

/// How an input is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputKind {
    /// Any text.
    Text,
    /// One of these.
    Choice(Vec<String>),
    /// What a command of the editor answers; only a host that knows the command can.
    Command(String),
}

/// Whether an answer may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// It may.
    Open,
    /// It may not, and is not to be kept.
    Secret,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("id", &self.id)
            .field("place", &self.place)
            .field("kind", &self.kind)
            .field("secrecy", &self.secrecy)
            .finish_non_exhaustive()
    }
}

/// Which servers a file lets in (SPEC 11.1); it is the layers' part to join those of several files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lists {
    /// Patterns of the servers that may run: absent is all, empty is none.
    pub allowed: Option<Vec<String>>,
    /// Patterns of the servers that may not run.
    pub excluded: Vec<String>,
}
