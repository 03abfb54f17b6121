//! A program that says in its first line where it is.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::run::Stop;

/// Such a program, which ends with this.
pub struct Speaker {
    child: Child,
    input: Option<ChildStdin>,
    /// The line.
    pub said: String,
}

impl Speaker {
    /// Starts it, and waits for its line.
    pub fn start(command: &mut Command) -> Result<Speaker, Stop> {
        let name = command.get_program().to_string_lossy().into_owned();
        let failed = |why: String| Stop::Failed(format!("{name}: {why}"));
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| failed(error.to_string()))?;
        let (input, out) = (child.stdin.take(), child.stdout.take());
        let mut speaker = Speaker { child, input, said: String::new() };
        let out = out.ok_or_else(|| failed("it has no output".into()))?;
        let read = BufReader::new(out).read_line(&mut speaker.said);
        read.map_err(|error| failed(error.to_string()))?;
        speaker.said = speaker.said.trim().to_string();
        match speaker.said.is_empty() {
            true => Err(failed("it ended before it said where it is".into())),
            false => Ok(speaker),
        }
    }

    /// Gives it a line.
    pub fn tell(&mut self, line: &str) -> Result<(), Stop> {
        let missing = || Stop::Failed("the program has no input".into());
        let input = self.input.as_mut().ok_or_else(missing)?;
        writeln!(input, "{line}").map_err(|error| Stop::Failed(error.to_string()))
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        // The end of its input ends it; what does not heed that is ended.
        drop(self.input.take());
        let until = std::time::Instant::now() + PATIENCE;
        while std::time::Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long it may take to end by itself.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(15);

/// How often that is looked after.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);
