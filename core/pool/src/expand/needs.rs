//! What a configuration takes of the host, found without anybody being asked.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{self, ENV_FILE, TextRole};
use super::grammar::{HostValue, Means};
use super::host::{Commands, VariableLookup};
use super::texts;
use super::words::CommandLine;
use crate::error::Result;
use crate::settings::Template;

/// What only the host can answer, once the server is admitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// The ids of `${input:id}`.
    pub inputs: BTreeSet<String>,
    /// The names of secrets that the host keeps. One that it does not have, and did not refuse, is
    /// taken from the environment.
    pub secrets: BTreeSet<String>,
    /// The programs whose output is a value.
    pub commands: BTreeSet<CommandLine>,
}

/// What the host must answer before the server can be expanded. What is malformed asks for nothing;
/// [`look_up`](super::look_up) tells it.
pub fn needs(template: &Template, commands: Commands) -> Needs {
    let mut out = Needs::default();
    each(template, commands, &mut |_, means| match means {
        Means::Input(id) => drop(out.inputs.insert(id.to_owned())),
        Means::Secret(name) => drop(out.secrets.insert(name.to_owned())),
        Means::Command(line) => drop(out.commands.insert(line)),
        Means::Text(_) | Means::Known(..) | Means::File(_) => {}
    });
    out
}

/// What a host gives to a configuration that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TakenKind {
    /// A variable of its environment.
    Env,
    /// What a person answers.
    Input,
    /// A secret that it keeps.
    Secret,
    /// A file of this machine, whose text is a value.
    File,
}

impl TakenKind {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            TakenKind::Env => "env",
            TakenKind::Input => "input",
            TakenKind::Secret => "secret",
            TakenKind::File => "file",
        }
    }
}

/// What a configuration takes of the host by its name, and the paths of the fields that it goes
/// into, such as `env.TOKEN`. Commands are not among it, since no configuration that somebody
/// decides about may run one.
pub fn takes(template: &Template) -> BTreeMap<(TakenKind, String), BTreeSet<String>> {
    let mut out = BTreeMap::<_, BTreeSet<String>>::new();
    each(template, Commands::Refused, &mut |path, means| {
        let (kind, name) = match means {
            Means::Known(HostValue::Env(name), _) => (TakenKind::Env, name),
            Means::Input(id) => (TakenKind::Input, id),
            Means::Secret(name) => (TakenKind::Secret, name),
            Means::File(path) => (TakenKind::File, path),
            Means::Known(
                HostValue::WorkspaceFolder
                | HostValue::WorkspaceFolderBasename
                | HostValue::UserHome
                | HostValue::Tilde,
                _,
            ) => return,
            Means::Text(_) | Means::Command(_) => return,
        };
        out.entry((kind, name.to_owned())).or_default().insert(path.to_owned());
    });
    out
}

/// The paths of the files whose texts are values, each once; they may begin at the workspace.
/// Nothing is opened.
///
/// # Errors
/// `undefined_variable` for one below a home folder that nobody knows.
pub fn value_files(template: &Template, variables: &dyn VariableLookup) -> Result<Vec<String>> {
    let taken = takes(template).into_iter().filter(|((kind, _), _)| *kind == TakenKind::File);
    let found = taken.map(|((_, written), fields)| {
        let field = fields.into_iter().next().unwrap_or_default();
        texts::path_of_file(template, variables, &field, &written)
    });
    found.collect()
}

/// Each piece of each text that may hold variables, with the path of its field.
fn each(template: &Template, commands: Commands, note: &mut dyn FnMut(&str, Means<'_>)) {
    let mut note = |path: &str, role, text: &str| {
        for part in texts::parts(text, role, commands).into_iter().flatten() {
            note(path, part.means);
        }
    };
    if let Some(file) = template.env_file() {
        note(ENV_FILE, TextRole::Path, file);
    }
    let visited = fields::rewritten(template.configuration(), &mut |path, role, text| {
        note(path, role, text);
        Ok(String::new())
    });
    debug_assert!(visited.is_ok(), "nothing in it fails");
}
