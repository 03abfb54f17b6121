//! Files of variables: lines of `NAME=value`.
//!
//! Such a file does not set `PATH`. It is read after the approval, which showed the program that
//! the look-up found.

use std::collections::BTreeMap;

/// The most bytes of such a file.
pub const DOTENV_BYTES_MAX: usize = 1 << 20;

/// What is wrong with a file of variables. It shows nothing of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DotenvFault {
    /// The line, from 1.
    pub line: usize,
    /// The rest of a sentence that begins with the line.
    pub sentence: &'static str,
}

/// Reads the variables of a file; the last of two of one name counts.
///
/// A line is `NAME=value`, with white space around either and `export` before it, if anybody likes;
/// an empty one and one that begins with `#` say nothing. A value in single quotes is itself; in
/// double ones `\n`, `\r`, `\t`, `\"`, `\$` and `\\` are escapes; both may go on over several
/// lines. Without quotes a value ends with its line, or before white space and a `#`. Variables in
/// values are not expanded.
///
/// # Errors
/// The first line that has another form, or that holds a NUL character.
pub fn parse_dotenv(text: &str) -> Result<BTreeMap<String, String>, DotenvFault> {
    let mut out = BTreeMap::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        let fault = |sentence| {
            let line = 1 + text[..start].matches('\n').count();
            DotenvFault { line, sentence }
        };
        let (here, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let written = here.trim();
        if written.is_empty() || written.starts_with('#') {
            rest = after;
            continue;
        }
        let Some((name, _)) = here.split_once('=') else {
            return Err(fault("has no `=`"));
        };
        let value = rest[name.len() + 1..].trim_start_matches([' ', '\t']);
        let name = name.trim();
        let name =
            name.strip_prefix("export").filter(|it| it.starts_with([' ', '\t'])).unwrap_or(name);
        let name = name.trim();
        if !is_name(name) {
            return Err(fault("does not begin with the name of a variable"));
        }
        let (value, after) = value_of(value).map_err(fault)?;
        if value.contains('\0') {
            return Err(fault("holds a NUL character"));
        }
        out.insert(name.to_owned(), value);
        rest = after;
    }
    Ok(out)
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    !name.is_empty() && name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// A value, and what follows its line.
fn value_of(text: &str) -> Result<(String, &str), &'static str> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let Some(quote) = quote else {
        let (line, after) = text.split_once('\n').unwrap_or((text, ""));
        let commented = line.char_indices().find(|&(at, c)| {
            c == '#' && line[..at].chars().next_back().is_none_or(char::is_whitespace)
        });
        let value = commented.map_or(line, |(at, _)| &line[..at]);
        return Ok((value.trim().to_owned(), after));
    };
    let (value, after) = quoted(quote, &text[1..])?;
    let (left, after) = after.split_once('\n').unwrap_or((after, ""));
    let left = left.trim();
    match left.is_empty() || left.starts_with('#') {
        true => Ok((value, after)),
        false => Err("goes on after its value"),
    }
}

fn quoted(quote: char, text: &str) -> Result<(String, &str), &'static str> {
    let mut out = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            end if end == quote => return Ok((out, &text[at + end.len_utf8()..])),
            '\\' if quote == '"' => match characters.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, 't')) => out.push('\t'),
                Some((_, escaped @ ('"' | '\\' | '$'))) => out.push(escaped),
                Some((_, other)) => out.extend(['\\', other]),
                None => break,
            },
            plain => out.push(plain),
        }
    }
    Err("has a quote that is not closed")
}
