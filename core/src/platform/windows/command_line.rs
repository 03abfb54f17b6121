//! What a program on Windows is given as text: one command line and one block of environment
//! (S-20).
//!
//! Without calls of the system, so that it is tested everywhere.
//!
//! Batch files get no percent signs, quotes or line breaks: what `%*` becomes cannot be known, and
//! the usual tricks hold for the first reading only.

use std::cmp::Ordering;

/// Why a text cannot be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentRefusal {
    /// Text ends at a zero.
    Zero,
    /// The interpreter of batch files would take it for something else.
    BatchArgument,
    /// No file has such a name.
    ProgramName,
}

impl ArgumentRefusal {
    pub(super) fn message(self) -> &'static str {
        match self {
            ArgumentRefusal::Zero => "a value contains a zero byte",
            ArgumentRefusal::BatchArgument => {
                "an argument of a batch file contains a quote, a percent sign or a line break"
            }
            ArgumentRefusal::ProgramName => "a program's name contains a quote",
        }
    }
}

const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;
const SPACE: u16 = b' ' as u16;

/// Whether a file is run by the command interpreter, which the system starts for these by itself.
pub(super) fn is_batch_file(path: &str) -> bool {
    // The system passes over dots and spaces at the end of a name.
    let path = path.trim_end_matches(['.', ' ']);
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|it| it.eq_ignore_ascii_case("bat") || it.eq_ignore_ascii_case("cmd"))
}

/// A command line that the program's own start-up takes apart into exactly these arguments; ends
/// with a zero.
pub(super) fn command_line<'a>(
    name: &[u16],
    args: impl Iterator<Item = &'a [u16]>,
) -> Result<Vec<u16>, ArgumentRefusal> {
    if name.contains(&QUOTE) {
        return Err(ArgumentRefusal::ProgramName);
    }
    let mut line = vec![QUOTE];
    push(&mut line, name)?;
    line.push(QUOTE);
    for arg in args {
        line.push(SPACE);
        let is_plain = |unit: &u16| {
            !matches!(char::from_u32((*unit).into()), Some(' ' | '\t' | '\n' | '\u{b}' | '"'))
        };
        if !arg.is_empty() && arg.iter().all(is_plain) {
            push(&mut line, arg)?;
        } else {
            push_quoted(&mut line, arg)?;
        }
    }
    line.push(0);
    Ok(line)
}

/// A command line for the command interpreter that runs a batch file; ends with a zero.
///
/// Within quotes the interpreter takes everything for itself but quotes, percent signs and line
/// breaks. There is no way to write those that every batch file passes on unharmed, so they are
/// refused.
pub(super) fn batch_command_line<'a>(
    script: &[u16],
    args: impl Iterator<Item = &'a [u16]>,
) -> Result<Vec<u16>, ArgumentRefusal> {
    let is_special =
        |unit: &u16| matches!(char::from_u32((*unit).into()), Some('"' | '%' | '\r' | '\n'));
    // Extensions on, delayed expansion off, no start-up commands; the outer quotes are taken off by
    // the interpreter.
    let mut line: Vec<u16> = "cmd.exe /e:ON /v:OFF /d /s /c \"\"".encode_utf16().collect();
    if script.iter().any(is_special) {
        return Err(ArgumentRefusal::ProgramName);
    }
    push(&mut line, script)?;
    line.push(QUOTE);
    for arg in args {
        if arg.iter().any(is_special) {
            return Err(ArgumentRefusal::BatchArgument);
        }
        line.push(SPACE);
        push_quoted(&mut line, arg)?;
    }
    line.extend([QUOTE, 0]);
    Ok(line)
}

/// The whole environment as one block: `NAME=value` texts, sorted by name without regard to case,
/// then one more zero.
pub(super) fn environment_block(
    mut variables: Vec<(Vec<u16>, Vec<u16>)>,
) -> Result<Vec<u16>, ArgumentRefusal> {
    variables.sort_by(|(one, _), (other, _)| by_name(one, other));
    let mut block = Vec::new();
    for (name, value) in &variables {
        push(&mut block, name)?;
        block.push(b'='.into());
        push(&mut block, value)?;
        block.push(0);
    }
    if block.is_empty() {
        block.push(0);
    }
    block.push(0);
    Ok(block)
}

fn by_name(one: &[u16], other: &[u16]) -> Ordering {
    let upper = |unit: &u16| u8::try_from(*unit).map_or(*unit, |it| it.to_ascii_uppercase().into());
    one.iter().map(upper).cmp(other.iter().map(upper))
}

/// In quotes. Backslashes count double where a quote follows, and a quote in the text has one of
/// its own.
fn push_quoted(line: &mut Vec<u16>, arg: &[u16]) -> Result<(), ArgumentRefusal> {
    line.push(QUOTE);
    let mut backslashes = 0;
    for unit in arg {
        if *unit == QUOTE {
            line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
        }
        backslashes = if *unit == BACKSLASH { backslashes + 1 } else { 0 };
        push(line, &[*unit])?;
    }
    line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    line.push(QUOTE);
    Ok(())
}

fn push(text: &mut Vec<u16>, part: &[u16]) -> Result<(), ArgumentRefusal> {
    if part.contains(&0) {
        return Err(ArgumentRefusal::Zero);
    }
    text.extend_from_slice(part);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn line(args: &[&str]) -> String {
        let args: Vec<_> = args.iter().map(|arg| units(arg)).collect();
        let line = command_line(&units("a b.exe"), args.iter().map(|arg| &**arg)).unwrap();
        let line = String::from_utf16(&line).unwrap();
        line.strip_suffix('\0').unwrap().strip_prefix("\"a b.exe\"").unwrap().to_owned()
    }

    /// What a program makes of its command line, by the published rules: the arguments after the
    /// name.
    fn taken_apart(line: &str) -> Vec<String> {
        let mut args = Vec::new();
        let mut rest = line.chars().peekable();
        while rest.next_if_eq(&' ').is_some() {
            let (mut arg, mut quoted) = (String::new(), false);
            while let Some(next) = rest.next_if(|it| quoted || *it != ' ') {
                let mut backslashes = usize::from(next == '\\');
                while next == '\\' && rest.next_if_eq(&'\\').is_some() {
                    backslashes += 1;
                }
                let before_quote = next == '"' || rest.peek() == Some(&'"');
                let kept = if before_quote { backslashes / 2 } else { backslashes };
                arg.extend(std::iter::repeat_n('\\', kept));
                match (next, backslashes % 2) {
                    ('\\', 1) if before_quote => arg.extend(rest.next()),
                    ('\\', _) => {}
                    ('"', _) => quoted = !quoted,
                    (plain, _) => arg.push(plain),
                }
            }
            args.push(arg);
        }
        args
    }

    /// S-20: on Windows a program gets exactly its arguments.
    #[test]
    fn a_command_line_is_taken_apart_into_the_same_arguments() {
        let parts = ["", "a", " ", "\"", "\\", "\\\\", "%PATH%", "^&|<>", "\t", "\u{e9}\u{1f600}"];
        let mut corpus = Vec::new();
        for one in parts {
            for two in parts {
                corpus.push([one, two, one].concat());
            }
        }
        let args: Vec<&str> = corpus.iter().map(|it| &**it).collect();
        assert_eq!(taken_apart(&line(&args)), args);
        assert_eq!(line(&["a", "", "b c", "\"", r"d\", r"e f\"]), r#" a "" "b c" "\"" d\ "e f\\""#);
    }

    /// S-20: what cannot be escaped for a batch file is refused, and all else is quoted.
    #[test]
    fn a_batch_file_gets_no_argument_that_its_interpreter_would_change() {
        let batch = |arg: &str| {
            let arg = units(arg);
            let line = batch_command_line(&units(r"C:\a b\npx.cmd"), [&*arg].into_iter());
            line.map(|line| String::from_utf16(&line).unwrap())
        };
        assert_eq!(
            batch("-y &calc^|!x!").unwrap(),
            "cmd.exe /e:ON /v:OFF /d /s /c \"\"C:\\a b\\npx.cmd\" \"-y &calc^|!x!\"\"\0"
        );
        assert!(batch("a\\").unwrap().ends_with("\"a\\\\\"\"\0"));
        for refused in ["\"", "%PATH%", "a\nb", "a\rb"] {
            assert_eq!(batch(refused), Err(ArgumentRefusal::BatchArgument), "{refused}");
        }
        assert!(ArgumentRefusal::BatchArgument.message().contains("percent sign"));
        assert_eq!(batch("a\0b"), Err(ArgumentRefusal::Zero));
        let none = std::iter::empty;
        assert_eq!(
            batch_command_line(&units("%x%.cmd"), none()),
            Err(ArgumentRefusal::ProgramName)
        );
        assert_eq!(command_line(&units("a\".exe"), none()), Err(ArgumentRefusal::ProgramName));
    }

    /// S-20: whatever way its name is written.
    #[test]
    fn batch_files_are_known_by_their_names() {
        for name in [r"C:\npx.cmd", "a.BAT", "a.cmd. .", "a.exe.bat "] {
            assert!(is_batch_file(name), "{name}");
        }
        for name in ["a.exe", "cmd", r"C:\x.cmd\y", "a.cmd.exe", "bat"] {
            assert!(!is_batch_file(name), "{name}");
        }
    }

    #[test]
    fn an_environment_block_is_sorted_and_ends_with_two_zeros() {
        let pair = |name: &str, value: &str| (units(name), units(value));
        let block = environment_block(vec![pair("b", "2"), pair("C", ""), pair("A", "1=")]);
        assert_eq!(String::from_utf16(&block.unwrap()).unwrap(), "A=1=\0b=2\0C=\0\0");
        assert_eq!(environment_block(Vec::new()).unwrap(), [0, 0]);
        assert_eq!(environment_block(vec![pair("A", "\0")]), Err(ArgumentRefusal::Zero));
    }
}
