//! What expansion takes of the host: what it knows, and its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::words::CommandLine;

/// What a host knows without being asked. The same questions must have the same answers as long as
/// one server is expanded.
pub trait VariableLookup {
    /// A variable of the host's own environment; `None` where it is not set or is no Unicode.
    fn env(&self, name: &str) -> Option<String>;
    /// The absolute path of the workspace's folder.
    fn workspace_folder(&self) -> Option<String>;
    /// The absolute path of the user's own folder.
    fn user_home(&self) -> Option<String>;
}

/// Whether what programs print may be a value: `${cmd:…}`, and values that begin with `!`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commands {
    /// It may not: `${cmd:…}` is an error, and `!` is a character like any other. For sources of a
    /// project or workspace there is nothing else.
    Refused,
    /// The host chose that programs are run for it.
    Asked,
}

/// The answers to [`Needs`](super::Needs), each taken literally. `Debug` prints no value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Answers {
    /// By the id of the input.
    pub inputs: BTreeMap<String, String>,
    /// By the name of the secret.
    pub secrets: BTreeMap<String, String>,
    /// Names of secrets that the host refused: these are not taken from the environment.
    pub refused_secrets: BTreeSet<String>,
    /// By the command.
    pub commands: BTreeMap<CommandLine, String>,
    /// What the file of [`env_file`](super::env_file) sets; the environment that the entry itself
    /// sets goes before it.
    pub env_file: BTreeMap<String, String>,
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("inputs", &self.inputs.keys())
            .field("secrets", &self.secrets.keys())
            .field("refused_secrets", &self.refused_secrets)
            .field("commands", &self.commands.keys())
            .field("env_file", &self.env_file.keys())
            .finish()
    }
}
