//! Variables in what a settings file says of a server (SPEC 10.5, S-07).
//!
//! A text is read once, from left to right, and what a variable becomes is taken as it is: it is
//! not read again, not split and not quoted. There are two steps. [`look_up`] comes before a server
//! is admitted: it puts the environment and folders in place where they say what would run, and
//! asks nobody. [`expand`] comes after: it takes the host's [`Answers`] to what [`needs`] lists and
//! makes the server.
//!
//! ```
//! use trunkline_pool::expand::{Answers, Commands, VariableLookup, expand};
//! use trunkline_pool::settings::{ReadOptions, read};
//!
//! struct Host;
//! impl VariableLookup for Host {
//!     fn env(&self, name: &str) -> Option<String> {
//!         (name == "PROGRAM").then(|| "demo".to_owned())
//!     }
//!     fn workspace_folder(&self) -> Option<String> {
//!         Some("/srv/project".to_owned())
//!     }
//!     fn user_home(&self) -> Option<String> {
//!         None
//!     }
//! }
//!
//! let text = r#"{ "mcpServers": { "demo": { "command": "$PROGRAM", "args": ["${workspaceFolder}/x"] } } }"#;
//! let source = read(text, ".mcp.json", &ReadOptions::default())?;
//! let template = source.servers[0].template.clone()?;
//! let spec = expand(&template, &Host, Commands::Refused, &Answers::default())?;
//! assert_eq!(spec.transport_name(), "stdio");
//! # Ok::<(), trunkline_pool::Error>(())
//! ```
//!
//! What holds:
//! 1. A text without `$` is unchanged, but for a command that is asked for, and for the home folder
//!    at the start of a path.
//! 2. No value of a variable, answer or default is read for variables.
//! 3. A configuration that `look_up` takes has no malformed variable in any field, admitted or not.
//! 4. Where `look_up` takes a configuration, its program and where that is found wait for no
//!    answer.
//!
//! `$$` stands for `$`: a backslash would be doubled by JSON. A text that begins with `${` and is
//! no variable is an error, because a server would otherwise get half a template as its token. The
//! program waits for no answer, since an approval could not say what would run.

mod dotenv;
mod fields;
mod grammar;
mod host;
mod needs;
mod texts;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

pub use self::dotenv::{DOTENV_BYTES_MAX, DotenvFault, parse_dotenv};
pub(crate) use self::fields::holds_variables;
pub use self::grammar::PREDEFINED;
pub(crate) use self::grammar::{length_of_braces, length_of_name};
pub use self::host::{Answers, Commands, VariableLookup};
pub use self::needs::{Needs, TakenKind, needs, takes, value_files};
pub use self::words::CommandLine;

use self::fields::{ENV_FILE, TextRole};
use self::texts::Texts;
use crate::config::{ServerSpec, Transport, ValueOfFiles};
use crate::error::{ErrorCode, Result};
use crate::json::joined;
use crate::settings::Template;

/// What would run, as far as it is known without asking anybody.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct LookedUp {
    /// The server: its command, arguments, folder and addresses with the environment and folders in
    /// place, and with what has to be asked for as it is written; all else as it is written. It
    /// must not be connected to.
    pub spec: ServerSpec,
    /// What the entry itself sets as `PATH`, under any spelling of its letters: the program is
    /// looked for there. `None` takes the variable away.
    pub own_path: BTreeMap<String, Option<String>>,
    /// Whether the working directory has to be asked for, so that it is not known yet.
    pub folder_waits: bool,
    /// The files whose texts are values once a connection begins.
    pub files: Vec<String>,
}

impl fmt::Debug for LookedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookedUp").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// What would run, for the approval: nothing is asked, run, opened or written.
///
/// # Errors
/// `undefined_variable` for a variable of the command, arguments, folder, addresses or `PATH`, with
/// `detail.variable`; `invalid_config` for a malformed variable anywhere, and for a program that
/// would have to be asked for. Also for what is no server with its variables in place. Both in the
/// terms of the file, with `detail.source`, `path`, `line` and `column`.
pub fn look_up(
    template: &Template,
    variables: &dyn VariableLookup,
    commands: Commands,
) -> Result<LookedUp> {
    let mut own_path = BTreeMap::new();
    let mut texts = Texts::before_admission(template, variables, commands);
    let looked_up =
        fields::rewritten(template.configuration(), &mut |path, role, text| match role {
            TextRole::Program => texts.settled(path, role, text),
            TextRole::Path | TextRole::Target => texts.expanded(path, role, text),
            TextRole::Value | TextRole::Secret => {
                texts.check(path, role, text).map(|()| text.to_owned())
            }
        })?;
    if let Some(file) = template.env_file() {
        texts.check(ENV_FILE, TextRole::Path, file)?;
    }
    for (name, value) in own_paths(template.configuration()) {
        let settled = match value {
            Some(text) => Some(texts.settled(&joined("env", name), TextRole::Secret, text)?),
            None => None,
        };
        own_path.insert(name.clone(), settled);
    }
    let spec = template.looked_up(&looked_up)?;
    let folder = template.configuration().get("cwd").and_then(Value::as_str);
    let folder_waits = folder.is_some_and(|folder| texts.waits(TextRole::Path, folder));
    if let (Transport::Stdio(stdio), Some(folder)) = (&spec.transport, folder)
        && begins_at_folder(&stdio.command)
    {
        texts.settled("cwd", TextRole::Path, folder)?;
    }
    let files = value_files(template, variables)?;
    Ok(LookedUp { spec, own_path, folder_waits, files })
}

/// Whether a program is a path that begins at the working directory.
fn begins_at_folder(command: &str) -> bool {
    command.contains(std::path::is_separator) && !std::path::Path::new(command).is_absolute()
}

/// The path of the file whose variables join the environment, if there is one. It may begin at the
/// workspace.
///
/// # Errors
/// As those of [`expand`].
pub fn env_file(
    template: &Template,
    variables: &dyn VariableLookup,
    commands: Commands,
    answers: &Answers,
) -> Result<Option<String>> {
    let Some(file) = template.env_file() else { return Ok(None) };
    let mut texts = Texts::admitted(template, variables, commands, answers);
    texts.expanded(ENV_FILE, TextRole::Path, file).map(Some)
}

/// The server, with every variable in place but what files say: that is put there when a connection
/// begins.
///
/// # Errors
/// `undefined_variable` that names what is neither set nor answered, with `detail.variable`;
/// `invalid_config` for a malformed variable, for texts of more than 16 MiB, and for what is no
/// server with its variables in place. Both in the terms of the file, with `detail.source`, `path`,
/// `line` and `column`.
pub fn expand(
    template: &Template,
    variables: &dyn VariableLookup,
    commands: Commands,
    answers: &Answers,
) -> Result<ServerSpec> {
    let mut texts = Texts::admitted(template, variables, commands, answers);
    let mut value_files = Vec::new();
    let mut expanded =
        fields::rewritten(template.configuration(), &mut |path, role, text| match role {
            TextRole::Program => texts.settled(path, role, text),
            TextRole::Path | TextRole::Target | TextRole::Value => texts.expanded(path, role, text),
            TextRole::Secret => {
                let (written, pieces) = texts.secret(path, text)?;
                value_files.extend(pieces.map(|pieces| ValueOfFiles::new(path, pieces)));
                Ok(written)
            }
        })?;
    join_env_file(template, answers, &mut expanded)?;
    let spec = template.spec_of(&expanded)?;
    Ok(ServerSpec { value_files, ..spec })
}

/// The most bytes of a file whose text is a value.
pub const VALUE_FILE_BYTES_MAX: usize = 64 << 10;

/// The value that the text of such a file is: all of it but one end of a line at its end.
///
/// # Errors
/// Why the text cannot be a value, as the rest of a sentence that begins with the file.
pub fn value_of_file(text: &str) -> std::result::Result<&str, &'static str> {
    let value = text.strip_suffix('\n').map_or(text, |it| it.strip_suffix('\r').unwrap_or(it));
    match value {
        "" => Err("is empty"),
        value if value.contains('\0') => Err("holds a NUL character"),
        value => Ok(value),
    }
}

/// What a configuration sets as `PATH`. Which of the spellings counts is the system's matter.
fn own_paths(configuration: &Map<String, Value>) -> impl Iterator<Item = (&String, Option<&str>)> {
    let env = configuration.get("env").and_then(Value::as_object);
    let paths = env.into_iter().flatten().filter(|(name, _)| name.eq_ignore_ascii_case("PATH"));
    paths.map(|(name, value)| (name, value.as_str()))
}

/// Puts the variables of the file below those of the entry; what the entry sets or unsets stays.
fn join_env_file(
    template: &Template,
    answers: &Answers,
    expanded: &mut Map<String, Value>,
) -> Result<()> {
    if answers.env_file.is_empty() {
        return Ok(());
    }
    // The approval showed which program the look-up found.
    if let Some(name) = answers.env_file.keys().find(|name| name.eq_ignore_ascii_case("PATH")) {
        let message = format!(
            "the file of `{ENV_FILE}` sets {name}, which decides which program runs; set it in the entry itself"
        );
        return Err(template.error(ErrorCode::InvalidConfig, ENV_FILE, &message));
    }
    let env = expanded.entry("env").or_insert_with(|| Value::Object(Map::new()));
    if env.is_null() {
        *env = Value::Object(Map::new());
    }
    if let Value::Object(env) = env {
        for (name, value) in &answers.env_file {
            env.entry(name).or_insert_with(|| Value::String(value.clone()));
        }
    }
    Ok(())
}
