//! What a person should look at twice (S-09). A mark too many costs a look; no mark says that something is safe.

use serde_json::{Value, json};

use super::candidate::{Candidate, Shown};
use super::line::escaped_text;
use super::root::Root;
use crate::config::{StdioSpec, Transport};

mod words;

/// One mark.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Risk {
    /// What it is.
    pub kind: RiskKind,
    /// The argument, variable, pattern or path that it is about, escaped.
    pub subject: String,
    /// The place of the argument in the command line, from 0, the command itself.
    pub argument: Option<usize>,
}

/// What a mark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RiskKind {
    /// A flag that gives an interpreter its program.
    InlineCode,
    /// A shell: what runs is in its arguments.
    Shell,
    /// A variable that makes programs load or run something else.
    LoaderVariable,
    /// A file of variables, which may hold such a one.
    EnvFile,
    /// A pattern that gives the server variables of the host.
    InheritsEnvironment,
    /// The program is a file of the project.
    ProgramInWorkspace,
    /// No file is found for the command.
    ProgramNotFound,
    /// A package that is fetched, in whatever version there is.
    UnpinnedPackage,
}

impl RiskKind {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            RiskKind::InlineCode => "inline_code",
            RiskKind::Shell => "shell",
            RiskKind::LoaderVariable => "loader_variable",
            RiskKind::EnvFile => "env_file",
            RiskKind::InheritsEnvironment => "inherits_environment",
            RiskKind::ProgramInWorkspace => "program_in_workspace",
            RiskKind::ProgramNotFound => "program_not_found",
            RiskKind::UnpinnedPackage => "unpinned_package",
        }
    }
}

impl Risk {
    fn new(kind: RiskKind, subject: &str) -> Risk {
        Risk { kind, subject: escaped_text(subject), argument: None }
    }

    fn of_argument(kind: RiskKind, subject: &str, argument: usize) -> Risk {
        Risk { argument: Some(argument), ..Risk::new(kind, subject) }
    }

    pub(super) fn to_json(&self) -> Value {
        let Risk { kind, subject, argument } = self;
        json!({ "kind": kind.as_str(), "subject": subject, "argument": argument })
    }
}

/// Marks of one kind that are kept of one request; what has more is looked at anyway.
const MARKS_MAX: usize = 64;

/// All marks of a candidate.
pub(super) fn marks(candidate: &Candidate<'_>, root: &Root) -> Vec<Risk> {
    let mut marks = Vec::new();
    if let Shown::Process { command, program, .. } = candidate.shown() {
        let argv: Vec<&str> = candidate.shown().argv().collect();
        marks.extend(of_interpreters(&argv, program.as_deref()).take(MARKS_MAX));
        marks.extend(unpinned(&argv));
        match program {
            None => marks.push(Risk::new(RiskKind::ProgramNotFound, command)),
            Some(program) if root.holds(program) => {
                marks.push(Risk::new(RiskKind::ProgramInWorkspace, program));
            }
            Some(_) => {}
        }
    }
    if let Transport::Stdio(stdio) = &candidate.spec().transport {
        marks.extend(of_environment(stdio));
    }
    marks.extend(candidate.env_file().map(|file| Risk::new(RiskKind::EnvFile, file)));
    marks
}

fn of_environment(stdio: &StdioSpec) -> impl Iterator<Item = Risk> {
    let loaders = stdio.env.keys().filter(|name| words::is_loader(name)).take(MARKS_MAX);
    let loaders = loaders.map(|name| Risk::new(RiskKind::LoaderVariable, name));
    let wide = stdio.inherit_env.iter().filter(|pattern| pattern.contains(['*', '?']));
    let wide = wide.take(MARKS_MAX);
    loaders.chain(wide.map(|pattern| Risk::new(RiskKind::InheritsEnvironment, pattern)))
}

/// Shells and interpreters anywhere in the command line, since any program may start what its arguments say; each flag after one of
/// them that carries code.
fn of_interpreters(argv: &[&str], program: Option<&str>) -> impl Iterator<Item = Risk> {
    let mut marks = Vec::new();
    let mut flags: Vec<&words::Flags> = Vec::new();
    for (index, argument) in argv.iter().enumerate() {
        let is_code = flags.iter().any(|flags| flags.carry_code(argument));
        if is_code {
            marks.push(Risk::of_argument(RiskKind::InlineCode, argument, index));
        }
        let resolved = program.filter(|_| index == 0);
        for path in std::iter::once(*argument).chain(resolved) {
            let name = words::program_name(path);
            if words::is_shell(&name) && marks.last().is_none_or(|mark| !mark.is_shell_at(index)) {
                marks.push(Risk::of_argument(RiskKind::Shell, path, index));
            }
            flags.extend(words::flags_of(&name));
        }
    }
    marks.into_iter()
}

impl Risk {
    fn is_shell_at(&self, index: usize) -> bool {
        self.kind == RiskKind::Shell && self.argument == Some(index)
    }
}

/// The package that a runner of packages fetches, unless its version is settled.
fn unpinned(argv: &[&str]) -> Option<Risk> {
    let runner = words::program_name(argv.first()?);
    if !words::RUNNERS.contains(&runner.as_str()) {
        return None;
    }
    let named = argv.iter().enumerate().find_map(|(index, argument)| {
        let (flag, value) =
            argument.split_once('=').map_or((*argument, None), |(f, v)| (f, Some(v)));
        let given = words::PACKAGE_FLAGS.contains(&flag);
        let next = || argv.get(index + 1).map(|next| (index + 1, *next));
        given.then(|| value.map(|value| (index, value)).or_else(next)).flatten()
    });
    let first = || {
        let mut rest = argv.iter().enumerate().skip(1);
        let is_package =
            |argument: &str| !argument.starts_with('-') && !words::RUNNER_VERBS.contains(&argument);
        rest.find(|(_, argument)| is_package(argument)).map(|(index, package)| (index, *package))
    };
    let (index, package) = named.or_else(first)?;
    let is_unpinned = !words::is_pinned(package);
    is_unpinned.then(|| Risk::of_argument(RiskKind::UnpinnedPackage, package, index))
}
