//! What an operation is: its names, what it takes and gives, how it ends.

use super::parameters::Parameter;
use crate::interface::{ErrorCode, OptionScope, node_name};

/// Whose operation it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Owner {
    /// Nobody's: it needs no pool.
    Library,
    /// A pool's.
    Pool,
    /// A session's.
    Session,
    /// A lease's.
    Lease,
}

impl Owner {
    /// Every owner, in the order of the reference.
    pub const ALL: [Owner; 4] = [Owner::Library, Owner::Pool, Owner::Session, Owner::Lease];

    /// The word in names: `pool`.
    pub fn word(self) -> &'static str {
        match self {
            Owner::Library => "library",
            Owner::Pool => "pool",
            Owner::Session => "session",
            Owner::Lease => "lease",
        }
    }

    /// The class of Python and Node: `Pool`.
    pub fn class(self) -> &'static str {
        match self {
            Owner::Library => "",
            Owner::Pool => "Pool",
            Owner::Session => "Session",
            Owner::Lease => "Lease",
        }
    }
}

/// A language of the bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Language {
    /// C, and C++ on top of it.
    C,
    /// Python.
    Python,
    /// Node.
    Node,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 3] = [Language::C, Language::Python, Language::Node];
}

/// How an operation is called in a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spelling {
    /// By the rule of the language.
    Same,
    /// By another name.
    As(&'static str),
    /// Not at all: what stands in its place.
    Absent(&'static str),
}

/// How an operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It returns at once.
    Now,
    /// It has an end of its own: three forms in C, a coroutine, a promise.
    Later,
    /// The same; it is a request to a server, and refused before the server can have seen it.
    Sends,
}

/// What an operation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Gives {
    /// Nothing.
    Nothing,
    /// A document: JSON in C, an object elsewhere.
    Report,
    /// The same; a list of them in Python and Node has objects.
    Listed,
    /// A text that is no JSON.
    Text,
    /// What a server said of itself, or nothing.
    Introduction,
    /// A lease.
    Lease,
    /// The result of a request, undecoded.
    Call,
    /// An object of the library: a session, a stream.
    Object,
}

/// An error that an operation is known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The code.
    pub code: ErrorCode,
    /// When, in words that follow the code; empty where the code says it all.
    pub when: &'static str,
}

/// One operation, as all languages know it.
///
/// In the texts a name in braces is another operation (`{pool.load}`), and words in backticks are
/// options, members and values; each language spells both its own way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Operation {
    /// Whose it is.
    pub owner: Owner,
    /// The name in Rust and Python.
    pub name: &'static str,
    /// The name in C: by rule `trunkline_<owner>_<name>`.
    pub c: Spelling,
    /// The name in Python: by rule the same.
    pub python: Spelling,
    /// The name in Node: by rule in camelCase.
    pub node: Spelling,
    /// What it takes, without the options.
    pub parameters: &'static [Parameter],
    /// The options that it takes.
    pub options: Option<OptionScope>,
    /// How it ends.
    pub waits: Waits,
    /// What it gives.
    pub gives: Gives,
    /// What that is, in words; empty where it gives nothing.
    pub result: &'static str,
    /// The type of that in TypeScript.
    pub typescript: &'static str,
    /// The errors it is known for.
    pub errors: &'static [Failure],
    /// An operation whose errors it has besides, as `session.acquire`; empty for none.
    pub errors_of: &'static str,
    /// The version that has it first.
    pub since: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// What holds in one language alone.
    pub notes: &'static [(Language, &'static str)],
    /// The languages whose glue is written by hand, since no other operation has its shape.
    pub by_hand: &'static [Language],
}

impl Operation {
    /// Its name in texts: `pool.load`.
    pub fn key(&self) -> String {
        format!("{}.{}", self.owner.word(), self.name)
    }

    /// Its name in a language, if it is there.
    pub fn name_in(&self, language: Language) -> Option<String> {
        let (spelling, by_rule) = match language {
            Language::C if self.owner == Owner::Library => {
                (self.c, format!("trunkline_{}", self.name))
            }
            Language::C => (self.c, format!("trunkline_{}_{}", self.owner.word(), self.name)),
            Language::Python => (self.python, self.name.to_owned()),
            Language::Node => (self.node, node_name(self.name)),
        };
        match spelling {
            Spelling::Same => Some(by_rule),
            Spelling::As(name) => Some(name.to_owned()),
            Spelling::Absent(_) => None,
        }
    }

    /// The functions of C: three where it has an end of its own.
    pub fn c_functions(&self) -> Vec<String> {
        let Some(name) = self.name_in(Language::C) else { return Vec::new() };
        match self.waits {
            Waits::Now => vec![name],
            _ if self.has_one_form() => vec![name],
            _ => vec![name.clone(), format!("{name}_start"), format!("{name}_enqueue")],
        }
    }

    /// Whether its function of C blocks and has no other form.
    pub fn has_one_form(&self) -> bool {
        self.waits != Waits::Now && self.by_hand.contains(&Language::C)
    }

    /// Whether its glue in a language is written from the row.
    pub fn is_written(&self, language: Language) -> bool {
        self.name_in(language).is_some() && !self.by_hand.contains(&language)
    }

    /// What holds in one language alone.
    pub fn notes_in(&self, language: Language) -> impl Iterator<Item = &'static str> {
        self.notes.iter().filter(move |(of, _)| *of == language).map(|(_, note)| *note)
    }
}
