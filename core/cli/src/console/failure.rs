//! Why a command did not do what it was asked for, and how that is told.

use serde_json::{Value, json};
use trunkline::{Error, ErrorCode};
use trunkline_pool::text::escaped;

use super::arguments::Common;
use super::exit::Exit;
use super::format;
use super::hints;
use super::terminal::Terminal;

/// Why a command ended early.
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
    json: Box<Value>,
}

impl Failure {
    /// One of the command line itself.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        let message = message.into();
        let json = json!({ "code": "command_line", "message": message }).into();
        Failure { exit, message, hint: None, json }
    }

    /// The command line makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// A signal came.
    pub(crate) fn signal(number: u8) -> Failure {
        Failure::new(Exit::Signal(number), "interrupted").with_code("interrupted")
    }

    /// A person was asked, and did not say yes.
    pub(crate) fn unconfirmed() -> Failure {
        Failure::new(Exit::Failed, "nothing was decided").with_code("not_confirmed")
    }

    /// Another code than that of a wrong command line.
    fn with_code(mut self, code: &str) -> Failure {
        self.json["code"] = code.into();
        self
    }

    /// Adds what can be done about it.
    pub(crate) fn with_hint(mut self, hint: &str) -> Failure {
        self.hint = Some(hint.to_owned());
        self.json["hint"] = hint.into();
        self
    }

    /// What went wrong.
    #[cfg(test)]
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Tells it, on the stream for errors.
    pub(crate) fn tell(self, common: &Common, terminal: &mut Terminal<'_>) -> Exit {
        if common.json {
            let error = json!({ "v": 1, "error": self.json }).to_string();
            terminal.note(&format::visible_json(&error));
            return self.exit;
        }
        terminal.note(&format!("trunkline: {}", format::lines(&self.message)));
        let mut error = &*self.json;
        loop {
            for line in last_words(error) {
                terminal.note(&format!("  stderr  {}", format::plain(line)));
            }
            error = &error["cause"];
            let Some(message) = error["message"].as_str() else { break };
            terminal.note(&format!("  cause   {}", format::plain(message)));
        }
        if let Some(hint) = &self.hint {
            terminal.note(&format!("  {}", format::plain(&hints::typed(hint, common))));
        }
        self.exit
    }
}

/// The last lines that the server of an error wrote to its stderr; what came before them is in the
/// JSON.
fn last_words(error: &Value) -> impl Iterator<Item = &str> {
    let lines = error["detail"]["stderr"].as_array().map_or(&[][..], Vec::as_slice);
    let last = &lines[lines.len().saturating_sub(LAST_WORDS)..];
    last.iter().filter_map(Value::as_str)
}

/// Lines of it that are shown.
const LAST_WORDS: usize = 5;

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let says = |source: &str| error.message().contains(&escaped(source));
        let at = match ["source", "line"].map(|name| error.detail().get(name)) {
            [Some(Value::String(source)), _] if says(source) => String::new(),
            [Some(Value::String(source)), Some(line)] => format!("{}:{line}: ", escaped(source)),
            [Some(Value::String(source)), None] => format!("{}: ", escaped(source)),
            _ => String::new(),
        };
        let failure = Failure {
            exit: Exit::of(&error),
            message: format!("{at}{error}"),
            hint: error.hint().map(str::to_owned),
            json: error.to_json().into(),
        };
        match hint_here(&error) {
            Some(hint) => failure.with_hint(&hint),
            None => failure,
        }
    }
}

/// What to do about an error where it is said otherwise on a command line than in a program.
fn hint_here(error: &Error) -> Option<String> {
    let detail = |member| error.detail().get(member).and_then(Value::as_str);
    // The time that a command gives, and not one of the pool.
    let of_command = matches!(detail("which"), Some("total" | "idle"))
        || error.detail().contains_key("timeout_ms");
    if error.code() == ErrorCode::Timeout && of_command {
        return Some("`--timeout SECONDS` gives it more time, if it is only slow".to_owned());
    }
    let hint = error.hint()?;
    if let Some(path) = detail("path").filter(|_| hint.contains("`detail.path`")) {
        return Some(format!("correct `{path}`"));
    }
    if hint.contains(" of the pool") {
        return Some(format!("{hint} (`--options` takes those of the pool)"));
    }
    Some(hints::here(hint, error.server()))
}
