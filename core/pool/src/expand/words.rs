//! The words of a command that is run without a shell.

use std::fmt;

/// A program and its arguments, whose output is a value. `Debug` prints no argument.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandLine {
    program: String,
    args: Vec<String>,
}

impl CommandLine {
    /// The program: a path, or a name looked up in `PATH`.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Its arguments, in order.
    pub fn args(&self) -> &[String] {
        &self.args
    }
}

impl fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandLine").field("program", &self.program).finish_non_exhaustive()
    }
}

/// Splits a text at its white space, as far as no quotes or backslashes hold it together. There is
/// nothing else that a shell would see: no variables, no patterns, no operators.
///
/// # Errors
/// The rest of a sentence that begins with the path of the text.
pub(super) fn split(text: &str) -> Result<CommandLine, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                quoted(character, &mut characters, word)?;
            }
            '\\' => match characters.next() {
                // An escaped line break joins two lines.
                Some('\n') => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => return Err("has a command that ends with a backslash"),
            },
            space if space.is_ascii_whitespace() => words.extend(word.take()),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    let mut words = words.into_iter();
    match words.next().filter(|program| !program.is_empty()) {
        Some(word) if is_assignment(&word) => {
            Err("has a command that begins with an assignment, which takes a shell")
        }
        Some(program) => Ok(CommandLine { program, args: words.collect() }),
        None => Err("has a command without a program"),
    }
}

/// Whether a shell would take it for the value of a variable: it may be a secret, and is no
/// program.
fn is_assignment(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=').is_some_and(|(name, _)| name.chars().all(is_part))
}

/// What stands between two quotes: in single ones every character is itself, in double ones a
/// backslash escapes what a shell would act on.
fn quoted(
    quote: char,
    characters: &mut std::str::Chars<'_>,
    word: &mut String,
) -> Result<(), &'static str> {
    while let Some(character) = characters.next() {
        match character {
            end if end == quote => return Ok(()),
            '\\' if quote == '"' => match characters.next() {
                Some('\n') => {}
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                Some(other) => word.extend(['\\', other]),
                None => break,
            },
            plain => word.push(plain),
        }
    }
    Err("has a command with a quote that is not closed")
}
