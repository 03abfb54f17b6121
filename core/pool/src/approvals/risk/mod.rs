//! What a person should look at twice (S-09). A mark too many costs a look; no mark says that
//! something is safe.
//!
//! Interpreters and flags are looked for anywhere in the line: each rule on where a script's own
//! arguments begin is a way around it.

use std::borrow::Cow;

use self::cue::{RiskRow, Script};
pub use self::kind::{Risk, RiskKind};
use super::candidate::{Candidate, CandidateLaunch};
use super::line::escaped_text;
use super::names::is_deceptive;
use super::request::HiddenEntry;
use super::root::ProjectRoot;
use crate::config::{StdioSpec, Transport};

mod cue;
mod kind;
mod line;
mod remote;
mod rows;
mod variables;
mod words;

#[cfg(test)]
pub(super) use self::{rows::ROWS, variables::rows as variable_rows};

/// Marks of one kind that are kept of one request; what has more is looked at anyway.
const MARKS_MAX: usize = 64;

/// All marks of a candidate.
pub(super) fn marks(candidate: &Candidate<'_>, root: &ProjectRoot) -> Vec<Risk> {
    let mut marks = Vec::new();
    if let CandidateLaunch::Process { command, program, .. } = candidate.shown() {
        let argv: Vec<&str> = candidate.shown().argv().collect();
        marks.extend(of_arguments(&argv, program.as_deref(), root));
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
    marks.extend(remote::marks(candidate));
    marks.extend(candidate.env_file().map(|file| Risk::new(RiskKind::EnvFile, file)));
    let secret_files = candidate.secret_files().iter().take(MARKS_MAX);
    marks.extend(secret_files.map(|file| Risk::new(RiskKind::SecretFile, file)));
    marks
}

/// The marks of a name: whose place it takes, and what it looks like.
pub(super) fn of_name(
    server: &str,
    hides: Option<&HiddenEntry>,
    alike: Option<&str>,
) -> impl Iterator<Item = Risk> {
    let hidden = hides.filter(|hidden| hidden.is_users);
    let hidden = hidden.map(|hidden| Risk::escaped(RiskKind::HidesUserServer, hidden.escaped()));
    let like = match alike {
        Some(other) => Some(format!("{}, like {}", escaped_text(server), escaped_text(other))),
        None if is_deceptive(server) => Some(escaped_text(server)),
        None => None,
    };
    let like = like.map(|subject| Risk::escaped(RiskKind::LookalikeName, subject));
    hidden.into_iter().chain(like)
}

/// Whether a server is a package that a runner fetches, wherever it works: nothing in that folder
/// is a part of it.
pub fn is_package_runner(stdio: &StdioSpec) -> bool {
    let argv = std::iter::once(&stdio.command).chain(&stdio.args);
    words::runs_package(&argv.map(String::as_str).collect::<Vec<_>>())
}

fn of_environment(stdio: &StdioSpec) -> impl Iterator<Item = Risk> {
    let named = stdio.env.keys().chain(&stdio.inherit_env);
    let marked = named.filter_map(|name| Some(Risk::new(variables::mark_of(name)?, name)));
    let wide = stdio.inherit_env.iter().filter(|pattern| pattern.contains(['*', '?']));
    let wide = wide.take(MARKS_MAX);
    let marked = marked.take(MARKS_MAX);
    marked.chain(wide.map(|pattern| Risk::new(RiskKind::InheritsEnvironment, pattern)))
}

/// What the arguments may make any program start, wherever it stands in the command line: shells
/// and interpreters, each flag after one of them that carries code, what the table has of programs,
/// and variables that decide what is loaded. Programs take whole command lines in one argument as
/// well, so that the words of one count like arguments.
fn of_arguments(argv: &[&str], program: Option<&str>, root: &ProjectRoot) -> Vec<Risk> {
    let mut found = LineFindings {
        root,
        marks: Vec::new(),
        flags: Vec::new(),
        rows: Vec::new(),
        script: Script::default(),
    };
    for (index, argument) in argv.iter().enumerate() {
        let resolved = program.filter(|_| index == 0).map(Cow::from);
        for word in line::words(argument).chain(resolved) {
            found.take(&word, index);
        }
    }
    found.marks
}

/// What was found in the words of a line so far.
struct LineFindings<'a> {
    root: &'a ProjectRoot,
    marks: Vec<Risk>,
    /// How the interpreters that were named are given code.
    flags: Vec<&'static words::Flags>,
    /// The rows of the programs that were named.
    rows: Vec<&'static RiskRow>,
    script: Script,
}

impl LineFindings<'_> {
    fn take(&mut self, word: &str, index: usize) {
        let marks = &mut self.marks;
        if self.flags.iter().any(|flags| flags.carry_code(word)) {
            mark(marks, RiskKind::InlineCode, word, index);
        }
        for row in self.rows.iter().filter(|row| row.is_in(word)) {
            mark(marks, row.kind, word, index);
        }
        if self.script.take_word(word, self.root) {
            mark(marks, RiskKind::WorkspaceCode, word, index);
        }
        let name = words::program_name(word);
        if words::is_shell(&name) {
            mark(marks, RiskKind::Shell, word, index);
        }
        if let Some((name, _)) = word.split_once('=')
            && let Some(kind) = variables::mark_of(name)
        {
            mark(marks, kind, word, index);
        }
        for row in rows::of(&name) {
            if row.is_named(index) {
                mark(marks, row.kind, word, index);
            }
            if row.takes_script() {
                self.script.begin();
            }
            note(&mut self.rows, row);
        }
        words::flags_of(&name).for_each(|flags| note(&mut self.flags, flags));
    }
}

/// Each once: a line may name a program as often as it is long.
fn note<T>(known: &mut Vec<&'static T>, more: &'static T) {
    if !known.iter().any(|known| std::ptr::eq(*known, more)) {
        known.push(more);
    }
}

/// One mark of a kind for an argument.
fn mark(marks: &mut Vec<Risk>, kind: RiskKind, subject: &str, argument: usize) {
    let of_kind = || marks.iter().filter(|mark| mark.kind == kind);
    if of_kind().count() < MARKS_MAX && !of_kind().any(|mark| mark.argument == Some(argument)) {
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

/// The packages that a runner fetches: those that flags name, and each word before such a flag that
/// may be one. What follows the first word that is no value is the program's own, but for a flag
/// that some runners look for everywhere.
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
