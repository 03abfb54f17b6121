//! What an option is: its name in each language, its type, range, default and meaning.

use serde_json::{Map, Value, json};

use super::names::{node_name, python_name};

/// The longest wait before an attempt, in milliseconds: an hour.
pub(crate) const RETRY_DELAY_MS_MAX: u64 = 3_600_000;

/// What takes the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionScope {
    /// Making a pool.
    Pool,
    /// Opening a session.
    Session,
    /// Changing a live session.
    Configure,
    /// The configuration of one server.
    Server,
    /// One call.
    Call,
    /// An explicit acquire.
    Acquire,
    /// `drain_all`.
    Drain,
    /// A sign-in.
    SignIn,
    /// `set_gates`.
    Gates,
    /// `load`.
    Load,
    /// `reload`.
    Reload,
    /// `status` and `metrics`.
    Status,
    /// `serve`, which is not in [`SCOPES`]: Rust alone has it.
    Serve,
}

/// Every scope, in the order of the reference.
pub const SCOPES: &[OptionScope] = &[
    OptionScope::Pool,
    OptionScope::Session,
    OptionScope::Configure,
    OptionScope::Server,
    OptionScope::Call,
    OptionScope::Acquire,
    OptionScope::Drain,
    OptionScope::SignIn,
    OptionScope::Gates,
    OptionScope::Load,
    OptionScope::Reload,
    OptionScope::Status,
];

impl OptionScope {
    /// The word in the registry.
    pub fn name(self) -> &'static str {
        match self {
            OptionScope::Pool => "pool",
            OptionScope::Session => "session",
            OptionScope::Configure => "configure",
            OptionScope::Server => "server",
            OptionScope::Call => "call",
            OptionScope::Acquire => "acquire",
            OptionScope::Drain => "drain",
            OptionScope::SignIn => "sign_in",
            OptionScope::Gates => "gates",
            OptionScope::Load => "load",
            OptionScope::Reload => "reload",
            OptionScope::Status => "status",
            OptionScope::Serve => "serve",
        }
    }
}

/// One option, as all languages know it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptionRow {
    /// The name in C and in JSON; Python's and Node's follow from it.
    pub name: &'static str,
    /// Other spellings that are understood; only servers have some, since their configuration is
    /// written for others.
    pub aliases: &'static [&'static str],
    /// What a value looks like.
    pub kind: OptionKind,
    /// The default as JSON text, or in words where it depends on something; empty when there is
    /// none.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
}

/// What the value of an option looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OptionKind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer {
        /// The least.
        min: u64,
        /// The most.
        max: u64,
        /// Of what: `bytes`, `threads`; empty for a plain count.
        unit: &'static str,
    },
    /// Whole milliseconds; float seconds in Python.
    Duration {
        /// The least, in milliseconds.
        min: u64,
        /// The most, in milliseconds.
        max: u64,
    },
    /// An object of lists of durations, one list for each of these names.
    DurationLists(&'static [&'static str]),
    /// A list of durations, each of this many milliseconds at least.
    Durations {
        /// The least, in milliseconds.
        min: u64,
    },
    /// A string that is not empty.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An array of strings.
    Texts,
    /// An array of these words.
    Words(&'static [&'static str]),
    /// The word `all`, or an array of server names.
    AllOrNames,
    /// An object: server name to `true` or `false`.
    BoolByServer,
    /// An object: server name to an array of patterns.
    PatternsByServer,
    /// An object with these members.
    Object(&'static [OptionRow]),
    /// An object whose members are not ours.
    AnyObject,
    /// An object of strings.
    TextMap,
    /// An array of icons, as the protocol has them.
    Icons,
    /// Functions of the host: no JSON form.
    Handlers,
}

impl OptionKind {
    /// The word in the registry.
    pub fn name(&self) -> &'static str {
        match self {
            OptionKind::Bool => "boolean",
            OptionKind::Integer { .. } => "integer",
            OptionKind::Duration { .. } => "duration",
            OptionKind::DurationLists(_) => "lists of durations",
            OptionKind::Durations { .. } => "list of durations",
            OptionKind::Text => "string",
            OptionKind::Word(_) => "word",
            OptionKind::Texts => "array of strings",
            OptionKind::Words(_) => "array of words",
            OptionKind::AllOrNames => "\"all\" or array of strings",
            OptionKind::BoolByServer => "object: server to boolean",
            OptionKind::PatternsByServer => "object: server to array of strings",
            OptionKind::Object(_) => "object",
            OptionKind::AnyObject => "any object",
            OptionKind::TextMap => "object of strings",
            OptionKind::Icons => "array of icons",
            OptionKind::Handlers => "handlers",
        }
    }

    fn describe(&self, out: &mut Map<String, Value>, member: fn(&OptionRow) -> Value) {
        match self {
            OptionKind::Integer { min, max, unit } => {
                out.insert("min".into(), (*min).into());
                out.insert("max".into(), (*max).into());
                if !unit.is_empty() {
                    out.insert("unit".into(), (*unit).into());
                }
            }
            OptionKind::Duration { min, max } => {
                out.insert("min".into(), (*min).into());
                out.insert("max".into(), (*max).into());
                out.insert("unit".into(), "milliseconds".into());
            }
            OptionKind::DurationLists(names) => {
                out.insert("names".into(), (*names).into());
                out.insert("unit".into(), "milliseconds".into());
            }
            OptionKind::Durations { min } => {
                out.insert("min".into(), (*min).into());
                out.insert("max".into(), RETRY_DELAY_MS_MAX.into());
                out.insert("is_list".into(), true.into());
                out.insert("unit".into(), "milliseconds".into());
            }
            OptionKind::Word(words) | OptionKind::Words(words) => {
                out.insert("words".into(), (*words).into());
            }
            OptionKind::Object(rows) => {
                out.insert("members".into(), rows.iter().map(member).collect());
            }
            OptionKind::Bool
            | OptionKind::Text
            | OptionKind::Texts
            | OptionKind::AllOrNames
            | OptionKind::BoolByServer
            | OptionKind::PatternsByServer
            | OptionKind::AnyObject
            | OptionKind::TextMap
            | OptionKind::Icons
            | OptionKind::Handlers => {}
        }
    }
}

impl OptionRow {
    /// The name in Python; durations are float seconds there.
    pub fn python_name(&self) -> &'static str {
        python_name(self.name)
    }

    /// The name in Node.
    pub fn node_name(&self) -> String {
        node_name(self.name)
    }

    /// Every way to write a field of a server, whose configuration is the same text in every
    /// language: its name, the name in camelCase, and what others call it.
    pub fn spellings(&self) -> Vec<String> {
        let camel = self.node_name();
        let mut all = vec![self.name.to_owned()];
        if camel != self.name {
            all.push(camel);
        }
        for alias in self.aliases {
            if !all.iter().any(|known| known == alias) {
                all.push((*alias).to_owned());
            }
        }
        all
    }

    /// Its place in the registry as JSON.
    pub fn to_json(&self) -> Value {
        let mut out = self.names();
        if !self.aliases.is_empty() {
            out.insert("aliases".into(), self.aliases.into());
        }
        out.insert("type".into(), self.kind.name().into());
        self.kind.describe(&mut out, OptionRow::to_json);
        out.insert("default".into(), json!(self.default));
        out.insert("doc".into(), self.doc.into());
        Value::Object(out)
    }

    /// Of that, its names and what its values look like.
    pub(super) fn names_to_json(&self) -> Value {
        let mut out = self.names();
        self.kind.describe(&mut out, OptionRow::names_to_json);
        Value::Object(out)
    }

    fn names(&self) -> Map<String, Value> {
        let mut out = Map::new();
        out.insert("name".into(), self.name.into());
        out.insert("python".into(), self.python_name().into());
        out.insert("node".into(), self.node_name().into());
        out
    }
}

pub(super) const fn duration(min: u64, max: u64) -> OptionKind {
    OptionKind::Duration { min, max }
}

pub(super) const fn integer(min: u64, max: u64, unit: &'static str) -> OptionKind {
    OptionKind::Integer { min, max, unit }
}

pub(super) const fn row(
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    doc: &'static str,
) -> OptionRow {
    OptionRow { name, aliases: &[], kind, default, doc }
}

pub(super) const fn also(aliases: &'static [&'static str], row: OptionRow) -> OptionRow {
    OptionRow { aliases, ..row }
}
