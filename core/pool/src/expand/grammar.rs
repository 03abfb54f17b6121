//! How variables are written, read once from left to right. Nothing that a variable becomes is read
//! again.

use std::path::{MAIN_SEPARATOR_STR, is_separator};

use super::words::{self, CommandLine};

/// A piece of a text: as it is written, and what it stands for.
pub(super) struct Part<'a> {
    /// How it stands in the text.
    pub written: &'a str,
    /// What stands for it.
    pub means: Means<'a>,
}

/// What a piece stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Means<'a> {
    /// This text.
    Text(&'a str),
    /// What the host knows, or what stands here where that is absent or empty.
    Known(HostValue<'a>, Option<&'a str>),
    /// What the host asks for.
    Input(&'a str),
    /// What the host keeps.
    Secret(&'a str),
    /// What a program prints.
    Command(CommandLine),
    /// What a file says.
    File(&'a str),
}

/// What the host knows without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostValue<'a> {
    /// A variable of the environment.
    Env(&'a str),
    /// The folder of the workspace.
    WorkspaceFolder,
    /// The last part of that.
    WorkspaceFolderBasename,
    /// The user's own folder.
    UserHome,
    /// The same, as shells write it.
    Tilde,
}

/// Why a text cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum VariableFault<'a> {
    /// The rest of a sentence that begins with the path of the text.
    Sentence(&'static str),
    /// What stands in braces is of a kind that nobody knows.
    Unknown(&'a str),
}

/// The pieces of a path, in order. A `~` that is all of it or stands before a separator is the home
/// folder, as in a shell; nobody else's home folder is known here.
pub(super) fn parts_of_path(path: &str) -> Result<Vec<Part<'_>>, VariableFault<'_>> {
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with(is_separator) => {
            let home = Part { written: &path[..1], means: Means::Known(HostValue::Tilde, None) };
            let rest = parts(rest)?;
            Ok(std::iter::once(home).chain(rest).collect())
        }
        _ => parts(path),
    }
}

/// The pieces of a text, in order.
pub(super) fn parts(text: &str) -> Result<Vec<Part<'_>>, VariableFault<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        push_text(&mut out, &rest[..start]);
        let (written, means) = at_dollar(&rest[start..])?;
        out.push(Part { written, means });
        rest = &rest[start + written.len()..];
    }
    push_text(&mut out, rest);
    Ok(out)
}

fn push_text<'a>(out: &mut Vec<Part<'a>>, text: &'a str) {
    if !text.is_empty() {
        out.push(Part { written: text, means: Means::Text(text) });
    }
}

/// The piece that a text with a dollar sign at its start begins with.
fn at_dollar(text: &str) -> Result<(&str, Means<'_>), VariableFault<'_>> {
    let after = &text[1..];
    if after.starts_with('$') {
        return Ok((&text[..2], Means::Text(&text[..1])));
    }
    if let Some(inside) = after.strip_prefix('{') {
        let Some(length) = length_of_braces(inside) else {
            return Err(VariableFault::Sentence("has a `${` that is not closed"));
        };
        let means = in_braces(&inside[..length])?;
        return Ok((&text[..length + 3], means));
    }
    match length_of_name(after) {
        0 => Ok((&text[..1], Means::Text(&text[..1]))),
        length => Ok((&text[..length + 1], Means::Known(HostValue::Env(&after[..length]), None))),
    }
}

/// How much stands before the brace that closes; what stands between may have pairs of its own.
pub(crate) fn length_of_braces(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(offset);
        }
    }
    None
}

fn in_braces(inside: &str) -> Result<Means<'_>, VariableFault<'_>> {
    let first = inside.split_once(':').filter(|(_, rest)| !rest.starts_with('-'));
    match first {
        Some(("input", id)) => named(id).map(Means::Input),
        Some(("secret", name)) => named(name).map(Means::Secret),
        Some(("file", path)) => named(path).map(Means::File),
        Some(("env", rest)) => {
            let (name, default) = with_default(rest)?;
            named(name).map(|name| Means::Known(HostValue::Env(name), default))
        }
        Some(("cmd", line)) => {
            words::split(line).map(Means::Command).map_err(VariableFault::Sentence)
        }
        _ => plain(inside),
    }
}

/// The variable of the folder that is worked on.
pub(super) const WORKSPACE_FOLDER: &str = "workspaceFolder";

/// The variable of that folder's name.
pub(super) const WORKSPACE_FOLDER_BASENAME: &str = "workspaceFolderBasename";

/// The variable of the user's own folder.
pub(super) const USER_HOME: &str = "userHome";

/// Variables of what stands between the parts of a path.
const SEPARATORS: [&str; 2] = ["pathSeparator", "/"];

/// The variables without a prefix that do not come from the environment.
pub const PREDEFINED: [&str; 5] =
    [WORKSPACE_FOLDER, WORKSPACE_FOLDER_BASENAME, USER_HOME, SEPARATORS[0], SEPARATORS[1]];

/// A variable without a word before it.
fn plain(inside: &str) -> Result<Means<'_>, VariableFault<'_>> {
    let (name, default) = with_default(inside)?;
    let known = match name {
        name if SEPARATORS.contains(&name) => return Ok(Means::Text(MAIN_SEPARATOR_STR)),
        WORKSPACE_FOLDER => HostValue::WorkspaceFolder,
        WORKSPACE_FOLDER_BASENAME => HostValue::WorkspaceFolderBasename,
        USER_HOME => HostValue::UserHome,
        name if is_name(name) => HostValue::Env(name),
        "" => return Err(NAMELESS),
        other => return Err(VariableFault::Unknown(other)),
    };
    Ok(Means::Known(known, default))
}

const NAMELESS: VariableFault<'static> = VariableFault::Sentence("has a `${…}` that names nothing");

/// A name that may hold anything.
fn named(name: &str) -> Result<&str, VariableFault<'_>> {
    if name.is_empty() { Err(NAMELESS) } else { Ok(name) }
}

/// A name and its default, which is taken as it stands.
fn with_default(text: &str) -> Result<(&str, Option<&str>), VariableFault<'_>> {
    let Some((name, default)) = text.split_once(":-") else { return Ok((text, None)) };
    let begins = |rest: &str| rest.starts_with(|c: char| c == '{' || c == '_' || c.is_alphabetic());
    if default.split('$').skip(1).any(begins) {
        return Err(VariableFault::Sentence("has a variable in the default of another"));
    }
    Ok((name, Some(default)))
}

fn is_part(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// How much of a text is the name of a variable, without braces, that it begins with.
pub(crate) fn length_of_name(text: &str) -> usize {
    let length = text.find(|c| !is_part(c)).unwrap_or(text.len());
    if is_name(&text[..length]) { length } else { 0 }
}

/// Whether it is a name that needs no braces.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part) && !text.starts_with(|c: char| c.is_ascii_digit())
}
