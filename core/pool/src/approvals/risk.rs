//! What a person should look at twice (S-09). A mark too many costs a look; no mark says that something is safe.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::candidate::{Candidate, Shown};
use super::line::escaped_text;
use super::root::Root;
use crate::config::{StdioSpec, Transport};

mod line;
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
        marks.extend(of_arguments(&argv, program.as_deref()));
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

/// What the arguments may make any program start, wherever it stands in the command line: shells and interpreters, each flag after one of
/// them that carries code, and variables that decide what is loaded. Programs take whole command lines in one argument as well, so that
/// the words of one count like arguments.
fn of_arguments(argv: &[&str], program: Option<&str>) -> Vec<Risk> {
    let mut marks = Vec::new();
    let mut flags: Vec<&words::Flags> = Vec::new();
    for (index, argument) in argv.iter().enumerate() {
        let resolved = program.filter(|_| index == 0).map(Cow::from);
        for word in line::words(argument).chain(resolved) {
            let word = &*word;
            if flags.iter().any(|flags| flags.carry_code(word)) {
                mark(&mut marks, RiskKind::InlineCode, word, index);
            }
            let name = words::program_name(word);
            if words::is_shell(&name) {
                mark(&mut marks, RiskKind::Shell, word, index);
            }
            if word.split_once('=').is_some_and(|(name, _)| words::is_loader(name)) {
                mark(&mut marks, RiskKind::LoaderVariable, word, index);
            }
            // Each once: a line may name a program as often as it is long.
            for more in words::flags_of(&name) {
                if !flags.iter().any(|known| std::ptr::eq(*known, more)) {
                    flags.push(more);
                }
            }
        }
    }
    marks
}

/// One mark of a kind for an argument.
fn mark(marks: &mut Vec<Risk>, kind: RiskKind, subject: &str, argument: usize) {
    let is_there = |mark: &Risk| mark.kind == kind && mark.argument == Some(argument);
    if marks.len() < MARKS_MAX && !marks.iter().any(is_there) {
        marks.push(Risk::of_argument(kind, subject, argument));
    }
}

/// The packages that a runner of packages fetches, as far as their version is not settled.
fn unpinned(argv: &[&str]) -> Vec<Risk> {
    let mut marks = Vec::new();
    for (index, package) in fetched(argv) {
        if !words::is_pinned(package) {
            mark(&mut marks, RiskKind::UnpinnedPackage, package, index);
        }
    }
    marks
}

/// The packages that a runner fetches: those that flags name, and each word before such a flag that may be one. What follows the first
/// word that is no value is the program's own, but for a flag that some runners look for everywhere.
fn fetched<'a>(argv: &[&'a str]) -> Vec<(usize, &'a str)> {
    let (mut packages, mut is_named, mut is_over) = (Vec::new(), false, false);
    let Some((program, arguments)) = argv.split_first() else { return packages };
    let Some(runner) = words::runner_of(&words::program_name(program)) else { return packages };
    // A word may be the value of the flag before it, which is not known.
    let mut may_be_value = false;
    let mut rest = arguments.iter().zip(1..);
    while let Some((argument, index)) = rest.next() {
        let (flag, value) =
            argument.split_once('=').map_or((*argument, None), |(flag, value)| (flag, Some(value)));
        let names = runner.naming.contains(&flag);
        let is_package = match is_over {
            false => names || runner.adding.contains(&flag),
            true => words::EVERYWHERE == flag,
        };
        if is_package {
            is_named |= names;
            may_be_value = false;
            let value = value.map(|value| (index, value));
            packages.extend(value.or_else(|| rest.next().map(|(next, index)| (index, *next))));
        } else if is_over {
            continue;
        } else if argument.starts_with('-') {
            let takes = value.is_none() && runner.taking.contains(&flag);
            may_be_value = value.is_none() && !takes && !runner.bare.contains(&flag);
            if takes {
                rest.next();
            }
        } else if !words::RUNNER_VERBS.contains(argument) {
            if !is_named {
                packages.push((index, *argument));
            }
            (is_over, may_be_value) = (!may_be_value, false);
        }
    }
    packages
}
