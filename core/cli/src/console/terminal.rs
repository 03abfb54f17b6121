//! The streams of one run, what may be written to them, and who interrupts it.

use std::io::{self, BufRead, ErrorKind, IsTerminal, Read as _, Write};

use trunkline::bounded;

use super::exit::Exit;
use super::interrupt::Interrupt;

/// The streams of one run, and which of them are terminals.
pub struct Terminal<'a> {
    stdin: &'a mut dyn BufRead,
    stdout: &'a mut (dyn Write + Send),
    stderr: &'a mut dyn Write,
    /// Whether a person answers.
    pub(crate) asks: bool,
    /// Whether a person reads what is written.
    pub(crate) is_read: bool,
    /// Whether a person reads what is written, and their keys can be read: what is shown may take
    /// the whole terminal.
    pub(crate) is_screen: bool,
    /// Whether a person reads what is written, and a view can take the place of another.
    pub(crate) clears: bool,
    colours: bool,
    pub(crate) interrupt: Interrupt,
    failed: Option<io::Error>,
}

/// What a text is about, as far as colours go.
#[derive(Clone, Copy)]
pub(crate) enum Tone {
    Plain,
    Good,
    Wrong,
    Waiting,
    Faint,
    Bold,
}

impl<'a> Terminal<'a> {
    /// Streams that are no terminals.
    pub fn new(
        stdin: &'a mut dyn BufRead,
        stdout: &'a mut (dyn Write + Send),
        stderr: &'a mut dyn Write,
    ) -> Terminal<'a> {
        Terminal {
            stdin,
            stdout,
            stderr,
            asks: false,
            is_read: false,
            is_screen: false,
            clears: false,
            colours: false,
            interrupt: Interrupt::new(),
            failed: None,
        }
    }

    /// The same for streams that lead to those of the process: whether they are terminals is that
    /// of the process. There are no colours where `NO_COLOR` is set or `TERM` is `dumb`.
    pub fn of_process(
        stdin: &'a mut dyn BufRead,
        stdout: &'a mut (dyn Write + Send),
        stderr: &'a mut dyn Write,
    ) -> Terminal<'a> {
        let is_read = io::stdout().is_terminal();
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        // Windows has no such variable, and terminals that all do what is needed.
        let is_able = match std::env::var_os("TERM") {
            Some(term) => term != "dumb",
            None => cfg!(windows),
        };
        Terminal {
            asks: io::stdin().is_terminal() && io::stderr().is_terminal(),
            is_read,
            is_screen: is_read && is_able && io::stdin().is_terminal() && has_room(),
            clears: is_read && is_able,
            colours: is_read && !unwanted,
            ..Terminal::new(stdin, stdout, stderr)
        }
    }

    /// The same, interrupted by that; without one nothing does.
    pub fn interrupted_by(self, interrupt: &Interrupt) -> Terminal<'a> {
        Terminal { interrupt: interrupt.clone(), ..self }
    }

    /// Writes a line to the output.
    pub(crate) fn line(&mut self, text: &str) {
        self.write(text);
        self.write("\n");
    }

    /// Writes to the output. What goes wrong is told at the end.
    pub(crate) fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.stdout.write_all(text.as_bytes()).err();
        }
    }

    /// What is drawn on where a view takes the whole terminal, and whether in colours.
    pub(crate) fn canvas(&mut self) -> (&mut dyn Write, bool) {
        (self.stdout, self.colours)
    }

    /// What a server reads and writes, which has both to itself.
    pub(crate) fn pipes(&mut self) -> (&mut dyn BufRead, &mut (dyn Write + Send)) {
        (self.stdin, self.stdout)
    }

    /// Brings the output to who reads it; whether they still do.
    pub(crate) fn flush(&mut self) -> bool {
        if self.failed.is_none() {
            self.failed = self.stdout.flush().err();
        }
        self.failed.is_none()
    }

    /// Writes a line to the stream for errors. Where nobody reads that, nothing can be done.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.stderr, "{text}").and_then(|()| self.stderr.flush());
    }

    /// Asks a person until they say yes or no. No answer is a no.
    pub(crate) fn confirms(&mut self, question: &str) -> bool {
        for _ in 0..QUESTIONS_MAX {
            match &*self.ask(&format!("{question} [y/n]")).to_lowercase() {
                "y" | "yes" => return true,
                "n" | "no" | "" => return false,
                _ => self.note("type y for yes, or n for no"),
            }
        }
        false
    }

    /// Asks a person, who answers in a line.
    fn ask(&mut self, question: &str) -> String {
        self.ask_for(question, ANSWER_BYTES_MAX)
    }

    /// The same for an answer of so many bytes at most.
    pub(crate) fn ask_for(&mut self, question: &str, max: u64) -> String {
        let _ = write!(self.stderr, "{question} ").and_then(|()| self.stderr.flush());
        // What cannot be read is no answer.
        let answer = self.next_line(max).unwrap_or_default();
        answer.trim().to_owned()
    }

    /// The next line, cut to the length of an answer. The rest of a longer one answers no other
    /// question.
    fn next_line(&mut self, max: u64) -> io::Result<String> {
        let mut line = Vec::new();
        (&mut *self.stdin).take(max).read_until(b'\n', &mut line)?;
        if line.len() as u64 == max && line.last() != Some(&b'\n') {
            self.stdin.skip_until(b'\n')?;
            line.clear();
        }
        bounded::as_text(line)
    }

    /// Everything that comes in.
    ///
    /// # Errors
    /// `FileTooLarge`, in words, for more than one message to a server may have.
    pub(crate) fn read_all(&mut self) -> io::Result<String> {
        bounded::text_of(&mut *self.stdin, INPUT_BYTES_MAX)
    }

    /// The text in the colour of its tone, on a terminal.
    pub(crate) fn toned(&self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Wrong => "31",
            Tone::Waiting => "33",
            Tone::Faint => "2",
            Tone::Bold => "1",
            Tone::Plain => return text.to_owned(),
        };
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The end of a run: an output that could not be written makes it a failure, unless its reader
    /// simply had enough.
    pub(crate) fn end(mut self, exit: Exit) -> Exit {
        self.flush();
        match self.failed.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.note(&format!("trunkline: the output cannot be written: {error}"));
                Exit::Internal
            }
            _ => exit,
        }
    }
}

/// Whether the terminal says how large it is: a line that is nobody's window may have no size.
fn has_room() -> bool {
    matches!(crossterm::terminal::size(), Ok((1.., 1..)))
}

/// How often a person is asked the same.
const QUESTIONS_MAX: usize = 3;

/// More than any answer to a question has.
const ANSWER_BYTES_MAX: u64 = 1 << 10;

/// What a message to a server may have at most, unless a host says otherwise.
const INPUT_BYTES_MAX: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// SPEC 18.9: an input without an end is no message, and no answer.
    #[test]
    fn an_input_without_an_end_is_refused() {
        let mut endless = BufReader::new(io::repeat(b'a'));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut terminal = Terminal::new(&mut endless, &mut out, &mut err);
        let refused = terminal.read_all().unwrap_err();
        assert_eq!(refused.to_string(), "it is longer than 64 MiB");
    }

    /// What is behind a line that is too long for an answer answers no other question.
    #[test]
    fn the_rest_of_a_long_line_is_no_answer() {
        let input = format!("{}yes\nno\n", "a".repeat(ANSWER_BYTES_MAX as usize));
        let (mut input, mut out, mut err) = (input.as_bytes(), Vec::new(), Vec::new());
        let mut terminal = Terminal::new(&mut input, &mut out, &mut err);
        assert_eq!([(); 2].map(|()| terminal.ask("?")), ["", "no"]);
    }
}
