//! What a person looks at in the live view, and what each key changes of that.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde_json::Value;

/// What is shown at one time.
pub(crate) struct Look {
    pub status: Value,
    /// Whose status it is.
    pub said: String,
}

/// A part of the view that keys move in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Servers,
    Sessions,
    Stderr,
}

const PANES: [Pane; 3] = [Pane::Servers, Pane::Sessions, Pane::Stderr];

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub has_colours: bool,
    pub pane: Pane,
    /// By its name: servers come and go between two looks.
    pub server: Option<String>,
    pub session: Option<String>,
    /// Lines of stderr between the last one and the last that is shown.
    pub stderr_back: usize,
    pub has_help: bool,
}

/// What a key comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Same,
    Redraw,
    Quit,
    /// As the signal would do it that the key stands for elsewhere.
    Interrupt,
}

impl View {
    pub(super) fn new(has_colours: bool) -> View {
        View {
            has_colours,
            pane: Pane::Servers,
            server: None,
            session: None,
            stderr_back: 0,
            has_help: false,
        }
    }

    /// Another status: what is gone is looked at no more.
    pub(super) fn follow(&mut self, status: &Value) {
        keep(&mut self.server, &servers(status));
        keep(&mut self.session, &sessions(status));
        self.stderr_back = self.stderr_back.min(self.lines(status).saturating_sub(1));
    }

    /// A key was pressed while that status is shown.
    pub(super) fn press(&mut self, key: KeyEvent, status: &Value) -> Turn {
        if key.kind == KeyEventKind::Release {
            return Turn::Same;
        }
        let before = self.clone();
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Turn::Interrupt;
            }
            // It ends nothing: the first byte of an arrow that comes in two parts is the same.
            KeyCode::Esc => self.has_help = false,
            KeyCode::Char('q') => return Turn::Quit,
            KeyCode::Char('?') => self.has_help = !self.has_help,
            KeyCode::Tab => self.pane = self.beside(1),
            KeyCode::BackTab => self.pane = self.beside(PANES.len() - 1),
            KeyCode::Up | KeyCode::Char('k') => self.go(-1, status),
            KeyCode::Down | KeyCode::Char('j') => self.go(1, status),
            KeyCode::PageUp => self.go(-PAGE, status),
            KeyCode::PageDown => self.go(PAGE, status),
            KeyCode::Home => self.go(isize::MIN, status),
            KeyCode::End => self.go(isize::MAX, status),
            _ => {}
        }
        if *self == before { Turn::Same } else { Turn::Redraw }
    }

    fn beside(&self, steps: usize) -> Pane {
        let at = PANES.iter().position(|pane| *pane == self.pane).unwrap_or_default();
        PANES[(at + steps) % PANES.len()]
    }

    fn go(&mut self, steps: isize, status: &Value) {
        match self.pane {
            Pane::Servers => {
                let before = self.server.clone();
                go(&mut self.server, steps, &servers(status));
                if self.server != before {
                    self.stderr_back = 0;
                }
            }
            Pane::Sessions => go(&mut self.session, steps, &sessions(status)),
            Pane::Stderr => {
                let last = self.lines(status).saturating_sub(1);
                let back = self.stderr_back.cast_signed().saturating_sub(steps);
                self.stderr_back = back.clamp(0, last.cast_signed()).cast_unsigned();
            }
        }
    }

    /// How many lines of stderr there are of the server.
    fn lines(&self, status: &Value) -> usize {
        stderr(status, self.server.as_deref()).len()
    }
}

/// The names of the servers, in the order of the status.
pub(super) fn servers(status: &Value) -> Vec<&str> {
    status["servers"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// The ids of the open sessions.
pub(super) fn sessions(status: &Value) -> Vec<&str> {
    status["sessions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The last lines that the entries of a server wrote to stderr.
pub(super) fn stderr<'a>(status: &'a Value, server: Option<&str>) -> Vec<&'a str> {
    let Some(server) = server else { return Vec::new() };
    let entries = status["servers"][server]["entries"].as_array().into_iter().flatten();
    let lines = entries.filter_map(|entry| entry["stderr"].as_array()).flatten();
    lines.filter_map(Value::as_str).collect()
}

/// The one that is chosen, or the first where that is gone.
fn keep(chosen: &mut Option<String>, names: &[&str]) {
    if !chosen.as_deref().is_some_and(|name| names.contains(&name)) {
        *chosen = names.first().map(|name| (*name).to_owned());
    }
}

fn go(chosen: &mut Option<String>, steps: isize, names: &[&str]) {
    let at = names.iter().position(|name| chosen.as_deref() == Some(*name)).unwrap_or_default();
    let last = names.len().saturating_sub(1);
    let to = at.cast_signed().saturating_add(steps).clamp(0, last.cast_signed()).cast_unsigned();
    *chosen = names.get(to).map(|name| (*name).to_owned());
}

/// Rows that a key for a page moves by.
const PAGE: isize = 10;
