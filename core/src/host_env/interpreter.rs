//! The interpreter that the first line of a script names: the system says of one that is missing no
//! more than "no such file".

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::path_search::{check, find, of_command};
use crate::base::bounded_reader;
use crate::base::escape::escape_line;
use crate::{Error, Result};

/// As much of the first line as systems look at, in bytes.
pub(super) const LINE_BYTES_MAX: u64 = 256;

/// What the first line of a script says.
pub(super) struct FirstLine {
    /// The path behind `#!`.
    pub interpreter: String,
    /// All that stands behind it.
    argument: String,
}

impl FirstLine {
    /// The line of a file that begins so, if it is a script's.
    pub(super) fn of(beginning: &[u8]) -> Option<FirstLine> {
        let beginning = &beginning[..beginning.len().min(LINE_BYTES_MAX as usize)];
        let line = beginning.split(|byte| *byte == b'\n').next()?.strip_prefix(b"#!")?;
        let line = std::str::from_utf8(line).ok()?.trim_start_matches([' ', '\t']);
        // To the system a blank or a tab ends it, and a carriage return is a part of it.
        let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let (interpreter, argument) = (interpreter.to_owned(), argument.to_owned());
        (!interpreter.is_empty()).then_some(FirstLine { interpreter, argument })
    }

    /// The name of the program that `env` finds, where that is the interpreter.
    pub(super) fn of_env(&self) -> Option<&str> {
        let is_env = Path::new(&self.interpreter).file_name().is_some_and(|name| name == "env");
        let words = self.argument.split_whitespace();
        let mut words = words.map(|word| word.strip_prefix("-S").unwrap_or(word));
        let is_name =
            |word: &&str| !word.is_empty() && !word.starts_with('-') && !word.contains('=');
        words.find(is_name).filter(|_| is_env)
    }
}

/// Whether the interpreter of a program that is a script can be executed. What cannot be read is
/// left to the system, which says why.
///
/// # Errors
/// `spawn_failed` with `detail.command`, `detail.interpreter` and `detail.errno`.
pub(crate) fn check_interpreter(
    server: &str,
    command: &str,
    program: &Path,
    cwd: &Path,
) -> Result<()> {
    let Ok(Some(interpreter)) = bounded_reader::open(program).and_then(named) else {
        return Ok(());
    };
    // A relative one begins where the program does.
    let found = check(&cwd.join(&interpreter));
    match found {
        Err(error) if is_told(&error) => Err(unfit(server, command, &interpreter, &error)),
        _ => Ok(()),
    }
}

/// What executes a script, as its first line names it: the program that `env` is to look for in
/// `path`, or the one that stands there. With it the file that this is, if there is one. Only
/// looks.
pub(crate) fn interpreter(
    script: &Path,
    cwd: &Path,
    path: Option<&OsStr>,
) -> Option<(String, Option<PathBuf>)> {
    let line = bounded_reader::open(script).and_then(first_line).ok().flatten()?;
    if let Some(sought) = line.of_env() {
        return Some((sought.to_owned(), find(sought, path, cwd).ok()));
    }
    let file = cwd.join(&line.interpreter);
    let is_there = check(&file).is_ok();
    Some((line.interpreter, is_there.then_some(file)))
}

/// Whether that would end the start, with words that say nothing of the interpreter.
fn is_told(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// The path behind `#!`, if the file begins so.
fn named(file: File) -> io::Result<Option<String>> {
    Ok(first_line(file)?.map(|line| line.interpreter))
}

fn first_line(file: File) -> io::Result<Option<FirstLine>> {
    let beginning = bounded_reader::up_to(file.take(LINE_BYTES_MAX), LINE_BYTES_MAX as usize)?;
    Ok(FirstLine::of(&beginning.unwrap_or_default()))
}

fn unfit(server: &str, command: &str, interpreter: &str, error: &io::Error) -> Error {
    let shown = escape_line(command.as_bytes());
    let (name, ends_in_cr) = match interpreter.strip_suffix('\r') {
        Some(name) => (escape_line(name.as_bytes()), true),
        None => (escape_line(interpreter.as_bytes()), false),
    };
    let (why, hint) = match (ends_in_cr, error.kind()) {
        (true, _) => (
            format!("{name} and a carriage return, which is not a program"),
            "save the script with the line ends of Unix (LF alone, no CR)",
        ),
        (false, io::ErrorKind::PermissionDenied) => (
            format!("{name}, which may not be executed"),
            "make the interpreter, and the folders that lead to it, executable for this user",
        ),
        (false, _) => (
            format!("{name}, which is not there"),
            "install the interpreter, or correct the first line of the script",
        ),
    };
    let message = format!("the first line of the command {shown} names {why}");
    of_command(message, error, server, shown).with_detail("interpreter", name).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 12.12: a line more is a case more.
    #[test]
    fn the_program_that_env_finds_is_read_from_the_first_line() {
        let cases: [(&str, Option<&str>, Option<&str>); 12] = [
            ("#!/bin/sh\n", Some("/bin/sh"), None),
            ("#! /bin/sh -e\n", Some("/bin/sh"), None),
            ("#!/usr/bin/env python3\n", Some("/usr/bin/env"), Some("python3")),
            ("#!/usr/bin/env\tnode", Some("/usr/bin/env"), Some("node")),
            ("#!/usr/bin/env -S node --no-warnings\n", Some("/usr/bin/env"), Some("node")),
            ("#!/usr/bin/env -Suv run --script\n", Some("/usr/bin/env"), Some("uv")),
            ("#!/usr/bin/env -S -i A=1 sh\n", Some("/usr/bin/env"), Some("sh")),
            ("#!/usr/bin/env\n", Some("/usr/bin/env"), None),
            ("#!/bin/sh env python3\n", Some("/bin/sh"), None),
            ("#!env python3\n", Some("env"), Some("python3")),
            ("#!\n/bin/sh", None, None),
            ("\x7fELF", None, None),
        ];
        for (beginning, interpreter, found) in cases {
            let line = FirstLine::of(beginning.as_bytes());
            let said = line.as_ref().map(|line| &*line.interpreter);
            assert_eq!(said, interpreter, "{beginning:?}");
            assert_eq!(line.as_ref().and_then(FirstLine::of_env), found, "{beginning:?}");
        }
    }
}
