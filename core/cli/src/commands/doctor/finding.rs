//! One thing that was looked at, and how it is shown.

use serde_json::{Value, json};
use trunkline::Error;
use trunkline_pool::text::escaped;

use crate::console::arguments::Common;
use crate::console::format;
use crate::console::terminal::{Terminal, Tone};

/// How many names one line of text has; JSON has all.
const NAMES_MAX: usize = 8;

/// What is said of something: whole in JSON, and with the first of many names in a line of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Words {
    whole: String,
    line: String,
}

impl Words {
    /// Words that name things.
    pub(super) fn with(write: impl Fn(Most) -> String) -> Words {
        Words { whole: write(Most(usize::MAX)), line: write(Most(NAMES_MAX)) }
    }

    /// The same with something behind them.
    pub(super) fn and(&self, more: &str) -> Words {
        Words { whole: format!("{}{more}", self.whole), line: format!("{}{more}", self.line) }
    }

    pub(super) fn contains(&self, words: &str) -> bool {
        self.whole.contains(words)
    }
}

impl From<String> for Words {
    fn from(whole: String) -> Words {
        Words { line: whole.clone(), whole }
    }
}

impl From<&str> for Words {
    fn from(words: &str) -> Words {
        words.to_owned().into()
    }
}

/// How many names are told.
#[derive(Clone, Copy)]
pub(super) struct Most(usize);

impl Most {
    /// Names with commas between them, escaped; the rest of many is counted.
    pub(super) fn of<T: AsRef<str>>(self, names: &[T]) -> String {
        let shown: Vec<String> =
            names.iter().take(self.0).map(|name| escaped(name.as_ref())).collect();
        let shown = shown.join(", ");
        match names.len().saturating_sub(self.0) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Good,
    Note,
    Wrong,
}

impl State {
    fn word(self) -> (&'static str, Tone) {
        match self {
            State::Good => ("ok", Tone::Good),
            State::Note => ("note", Tone::Waiting),
            State::Wrong => ("wrong", Tone::Wrong),
        }
    }
}

/// What a finding is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Topic {
    Library,
    File,
    Program,
    Approvals,
    Proxy,
    Certificates,
    Runner,
    Folder,
    Variables,
    Shell,
    Leftover,
    Server,
}

impl Topic {
    pub(super) fn word(self) -> &'static str {
        match self {
            Topic::Library => "library",
            Topic::File => "file",
            Topic::Program => "program",
            Topic::Approvals => "approvals",
            Topic::Proxy => "proxy",
            Topic::Certificates => "certificates",
            Topic::Runner => "runner",
            Topic::Folder => "folder",
            Topic::Variables => "variables",
            Topic::Shell => "shell",
            Topic::Leftover => "leftover",
            Topic::Server => "server",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug)]
pub(super) struct Finding {
    pub state: State,
    pub topic: Topic,
    pub about: String,
    /// The servers for which it is so, where that is said of several at once.
    pub servers: Vec<String>,
    pub message: Words,
    pub hint: Option<String>,
}

impl Finding {
    pub(super) fn new(
        state: State,
        topic: Topic,
        about: impl Into<String>,
        message: impl Into<Words>,
    ) -> Finding {
        let (about, message) = (about.into(), message.into());
        Finding { state, topic, about, servers: Vec::new(), message, hint: None }
    }

    /// What an error says.
    pub(super) fn of(topic: Topic, about: impl Into<String>, error: &Error) -> Finding {
        let found = Finding::new(State::Wrong, topic, about, error.message());
        Finding { hint: error.hint().map(str::to_owned), ..found }
    }

    /// What is said of the machine alone.
    pub(super) fn general(state: State, topic: Topic, message: impl Into<Words>) -> Finding {
        Finding::new(state, topic, topic.word(), message)
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Finding {
        Finding { hint: Some(hint.into()), ..self }
    }

    /// Whether it says so of that server.
    pub(super) fn is_about(&self, name: &str, message: &str) -> bool {
        self.about == name && self.message.whole.starts_with(message)
    }

    fn to_json(&self) -> Value {
        let Finding { state, topic, about, servers, message, hint } = self;
        json!({
            "state": state.word().0,
            "topic": topic.word(),
            "about": about,
            "servers": servers,
            "message": message.whole,
            "hint": hint,
        })
    }

    /// What it is about, as people read it.
    fn subject(&self) -> String {
        match self.servers.is_empty() {
            true => escaped(&self.about),
            false => {
                let servers = Most(NAMES_MAX).of(&self.servers);
                format!("{} of {servers}", escaped(&self.about))
            }
        }
    }
}

/// Adds a finding about one server. Servers with the same finding share it.
pub(super) fn push_shared(findings: &mut Vec<Finding>, server: &str, found: Finding) {
    let is_same = |other: &&mut Finding| {
        (other.state, other.topic, &other.about) == (found.state, found.topic, &found.about)
            && (&other.message, &other.hint) == (&found.message, &found.hint)
            && !other.servers.is_empty()
    };
    match findings.iter_mut().find(is_same) {
        Some(other) => other.servers.push(server.to_owned()),
        None => findings.push(Finding { servers: vec![server.to_owned()], ..found }),
    }
}

/// Shows all of them.
pub(super) fn tell(findings: &[Finding], common: &Common, terminal: &mut Terminal<'_>) {
    if common.json {
        let findings: Vec<Value> = findings.iter().map(Finding::to_json).collect();
        return format::json(terminal, &json!({ "v": 1, "findings": findings }));
    }
    for found in findings {
        let (word, tone) = found.state.word();
        let word = terminal.toned(&format!("{word:<5}"), tone);
        terminal.line(&format!(
            "{word}  {}: {}",
            found.subject(),
            format::lines(&found.message.line)
        ));
        if let Some(hint) = &found.hint {
            terminal.line(&format!("       {}", format::lines(hint)));
        }
    }
}
