//! A terminal of a test's own, which `script` makes, and what is to be seen on it.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use crate::rig::Home;

/// A program on a terminal of 110 columns and 30 rows.
pub struct Screen<'a> {
    home: &'a Home,
    child: Child,
    stdin: Option<ChildStdin>,
    bytes: Receiver<Vec<u8>>,
    /// What is not understood yet: half of a sequence.
    rest: Vec<u8>,
    cells: BTreeMap<(usize, usize), char>,
    at: (usize, usize),
    /// The sequences that change the terminal, in their order.
    pub modes: Vec<String>,
    pub was_cleared: bool,
    /// What was written since the other screen was left.
    pub behind: String,
}

impl<'a> Screen<'a> {
    /// Starts what the line says. How the terminal was before and behind it is written down, and so
    /// is the process.
    pub fn start(home: &'a Home, line: &str) -> Screen<'a> {
        let line = format!(
            "stty rows 30 cols 110; tty > ../tty; stty -g > ../before; \
             sh -c 'echo $$ > ../pid; exec {line}'; exit=$?; stty -g > ../after; exit $exit"
        );
        let program = home.command(&[]);
        let environment = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(home.path("ws"));
        script.env_clear().envs(environment).env("TERM", "xterm").env("SHELL", "/bin/sh");
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = script.spawn().unwrap();
        let (send, bytes) = sync_channel(64);
        let mut stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let (rest, cells, modes) = (Vec::new(), BTreeMap::new(), Vec::new());
        let (at, was_cleared, behind) = ((1, 1), false, String::new());
        Screen { home, child, stdin, bytes, rest, cells, at, modes, was_cleared, behind }
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) {
        self.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// The process of the program.
    pub fn pid(&self) -> String {
        std::fs::read_to_string(self.home.path("pid")).unwrap().trim().to_owned()
    }

    /// Gives the terminal another size, as who pulls at a window does.
    pub fn resize(&self, columns: u16, rows: u16) {
        let tty = std::fs::read_to_string(self.home.path("tty")).unwrap();
        let mut stty = Command::new("stty");
        stty.args(["-F", tty.trim(), "cols", &columns.to_string(), "rows", &rows.to_string()]);
        assert!(stty.status().unwrap().success());
    }

    /// Waits until the screen is as it is to be.
    pub fn until(&mut self, holds: impl Fn(&Screen<'_>) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < HANG, "it is never seen on\n{}", self.text());
            match self.bytes.recv_timeout(HANG) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => panic!("it ended, or stands still, with\n{}", self.text()),
            }
        }
    }

    /// The row with that number, from 1.
    pub fn row(&self, row: usize) -> String {
        // What is empty is not written.
        let mut text = String::new();
        let mut next = 1;
        for ((_, column), symbol) in self.cells.range((row, 0)..(row + 1, 0)) {
            text.extend(std::iter::repeat_n(' ', column - next));
            text.push(*symbol);
            next = column + 1;
        }
        text
    }

    pub fn text(&self) -> String {
        let last = self.cells.keys().next_back().map_or(0, |(row, _)| *row);
        (1..=last).map(|row| self.row(row) + "\n").collect()
    }

    /// Waits for the end of the program. Its exit, and whether the terminal is as it was before:
    /// its modes, the screen and the cursor.
    pub fn end(&mut self) -> (Option<i32>, bool) {
        let begun = Instant::now();
        while let Ok(bytes) = self.bytes.recv_timeout(HANG) {
            assert!(begun.elapsed() < HANG, "it does not end with\n{}", self.text());
            self.take(&bytes);
        }
        let exit = self.child.wait().unwrap().code();
        let [before, after] =
            ["before", "after"].map(|name| std::fs::read_to_string(self.home.path(name)).unwrap());
        let last = |on: &str, off: &str| {
            let modes = self.modes.iter().rev();
            modes.map(String::as_str).find(|mode| [on, off].contains(mode)).map(str::to_owned)
        };
        let is_back = last("?1049h", "?1049l").as_deref() == Some("?1049l")
            && last("?25h", "?25l").as_deref() == Some("?25h");
        (exit, before == after && is_back)
    }

    fn take(&mut self, bytes: &[u8]) {
        self.rest.extend(bytes);
        let rest = std::mem::take(&mut self.rest);
        // A character may be cut in two like any sequence.
        let whole = match std::str::from_utf8(&rest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap(),
        };
        let mut left = whole;
        while let Some(symbol) = left.chars().next() {
            if symbol != '\u{1b}' {
                self.put(symbol);
                left = &left[symbol.len_utf8()..];
                continue;
            }
            // Nothing but sequences that begin with `ESC [` is written here.
            let Some(end) =
                left.get(2..).and_then(|text| text.find(|end: char| ('@'..='~').contains(&end)))
            else {
                break;
            };
            assert!(left.starts_with("\u{1b}["), "{left:?}");
            self.act(&left[2..end + 3]);
            left = &left[end + 3..];
        }
        self.rest = rest[whole.len() - left.len()..].to_vec();
    }

    fn put(&mut self, symbol: char) {
        if self.modes.iter().any(|mode| mode == "?1049l") {
            self.behind.push(symbol);
            return;
        }
        self.cells.insert(self.at, symbol);
        self.at.1 += 1;
    }

    fn act(&mut self, sequence: &str) {
        let (numbers, what) = sequence.split_at(sequence.len() - 1);
        match what {
            "H" => {
                let mut numbers = numbers.split(';').map(|number| number.parse().unwrap_or(1));
                self.at = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
            }
            "J" => {
                self.cells.clear();
                self.was_cleared = true;
            }
            "h" | "l" => self.modes.push(sequence.to_owned()),
            "m" => {}
            _ => panic!("no program here writes {sequence:?}"),
        }
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        // Of a test that failed: who has the terminal goes with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A test that reaches it hangs.
const HANG: Duration = Duration::from_secs(90);
