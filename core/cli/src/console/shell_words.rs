//! Words as a shell splits and quotes them. No shell runs, and no variable is expanded.

/// A command that stands in one argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CommandLine {
    pub(super) whole: String,
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

/// Splits a command at its white space. Quotes keep a word together.
pub(super) fn command_line(text: &str) -> Result<CommandLine, String> {
    let mut words = split(text)?.into_iter();
    let program = words.next().ok_or("the command is empty")?;
    Ok(CommandLine { whole: text.to_owned(), program, arguments: words.collect() })
}

fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' | '"' => quote(c, &mut rest, word.get_or_insert_default())?,
            // In paths of Windows it is itself.
            '\\' if cfg!(not(windows)) => {
                let next = rest.next().ok_or("nothing follows the last backslash")?;
                word.get_or_insert_default().push(next);
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Reads on to the end of a quote.
fn quote(mark: char, rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    while let Some(c) = rest.next() {
        match c {
            c if c == mark => return Ok(()),
            '\\' if mark == '"' => match rest.clone().next() {
                Some(next @ ('"' | '\\')) => {
                    rest.next();
                    word.push(next);
                }
                _ => word.push('\\'),
            },
            c => word.push(c),
        }
    }
    Err(format!("a quote {mark} has no end"))
}

/// A word as it is typed in a shell, so that it stays one.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_words_together() {
        let words = |text: &str| split(text).unwrap();
        assert_eq!(words("  npx -y  server "), ["npx", "-y", "server"]);
        assert_eq!(
            words(r#"sh -c 'echo "$HOME" \n' "a \"b\" \c" d''e "" "#),
            ["sh", "-c", r#"echo "$HOME" \n"#, r#"a "b" \c"#, "de", "",]
        );
        #[cfg(not(windows))]
        assert_eq!(words(r"a\ b \'c"), ["a b", "'c"]);
    }

    #[test]
    fn a_command_without_a_program_or_an_end_is_refused() {
        for text in ["", "  ", "a 'b", "a \"b"] {
            assert!(command_line(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_word_that_is_quoted_is_split_as_itself() {
        for word in ["", "plain", "it's", "a b", "$(rm) `x`; \"y\" \\", "-x"] {
            let split = split(&quoted(word)).unwrap();
            assert_eq!(split, [word]);
        }
    }
}
