//! The interpreter that the first line of a script names: the system says of one that is missing no more than "no such file".

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::program::{check, of_command};
use crate::bounded;
use crate::transport::escape::escape_line;
use crate::{Error, Result};

/// As much of the first line as systems look at, in bytes.
const LINE_BYTES_MAX: u64 = 256;

/// Whether the interpreter of a program that is a script can be executed. What cannot be read is left to the system, which says why.
///
/// # Errors
/// `spawn_failed` with `detail.command`, `detail.interpreter` and `detail.errno`.
pub(crate) fn check_interpreter(
    server: &str,
    command: &str,
    program: &Path,
    cwd: &Path,
) -> Result<()> {
    let Ok(Some(interpreter)) = bounded::open(program).and_then(named) else { return Ok(()) };
    // A relative one begins where the program does.
    let found = check(&cwd.join(&interpreter));
    match found {
        Err(error) if is_told(&error) => Err(unfit(server, command, &interpreter, &error)),
        _ => Ok(()),
    }
}

/// Whether that would end the start, with words that say nothing of the interpreter.
fn is_told(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// The path behind `#!`, if the file begins so.
fn named(file: File) -> io::Result<Option<String>> {
    let beginning = bounded::up_to(file.take(LINE_BYTES_MAX), LINE_BYTES_MAX as usize)?;
    let beginning = beginning.unwrap_or_default();
    let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(rest) = line.strip_prefix(b"#!") else { return Ok(None) };
    let Ok(rest) = std::str::from_utf8(rest) else { return Ok(None) };
    // To the system a blank or a tab ends it, and a carriage return is a part of it.
    let name = rest.trim_start_matches([' ', '\t']).split([' ', '\t']).next();
    Ok(name.filter(|name| !name.is_empty()).map(str::to_owned))
}

fn unfit(server: &str, command: &str, interpreter: &str, error: &io::Error) -> Error {
    let shown = escape_line(command.as_bytes());
    let (name, ends_in_cr) = match interpreter.strip_suffix('\r') {
        Some(name) => (escape_line(name.as_bytes()), true),
        None => (escape_line(interpreter.as_bytes()), false),
    };
    let (why, hint) = match (ends_in_cr, error.kind()) {
        (true, _) => (
            format!("{name} and a carriage return, which is no program"),
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
