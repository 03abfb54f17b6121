//! Why a command did not do what it was asked for, and the number that says so.

use serde_json::{Value, json};
use trunkline::{Error, ErrorCode};
use trunkline_pool::text::escaped;

use crate::arguments::Common;
use crate::shown;
use crate::terminal::Terminal;

/// How the process exits. Numbers keep their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It was done.
    Success,
    /// It was done, and the answer is bad news: a tool that failed, a server that is not there, something to mend.
    Failed,
    /// The command line makes no sense.
    Usage,
    /// Settings cannot be read, or an entry is wrong.
    Settings,
    /// A gate keeps the server out.
    NotAdmitted,
    /// The server could not be reached, or was lost.
    Unreachable,
    /// The server wants credentials.
    SignIn,
    /// A time was over.
    TimedOut,
    /// No server or tool has that name.
    NotFound,
    /// A fault of the program itself, or of the machine.
    Internal,
    /// A signal ended it: 128 and its number.
    Signal(u8),
}

impl Exit {
    /// The number.
    pub fn number(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Settings => 3,
            Exit::NotAdmitted => 4,
            Exit::Unreachable => 5,
            Exit::SignIn => 6,
            Exit::TimedOut => 7,
            Exit::NotFound => 8,
            Exit::Internal => 9,
            Exit::Signal(number) => number.saturating_add(128),
        }
    }

    /// That of an error of the library.
    pub(crate) fn of(error: &Error) -> Exit {
        let reason = error.detail().get("reason").and_then(Value::as_str);
        match error.code() {
            ErrorCode::NotAdmitted if matches!(reason, Some("not_configured" | "removed")) => {
                Exit::NotFound
            }
            ErrorCode::NotAdmitted | ErrorCode::StaleApproval => Exit::NotAdmitted,
            ErrorCode::InvalidArgument | ErrorCode::UnknownOption => Exit::Usage,
            ErrorCode::InvalidConfig | ErrorCode::UndefinedVariable => Exit::Settings,
            ErrorCode::SpawnFailed
            | ErrorCode::ConnectFailed
            | ErrorCode::Exited
            | ErrorCode::Protocol
            | ErrorCode::Unavailable
            | ErrorCode::CallInterrupted
            | ErrorCode::CrashLoop => Exit::Unreachable,
            ErrorCode::AuthRequired => Exit::SignIn,
            ErrorCode::Timeout => Exit::TimedOut,
            ErrorCode::ToolNotFound => Exit::NotFound,
            ErrorCode::ServerError | ErrorCode::Declined => Exit::Failed,
            ErrorCode::BudgetExhausted | ErrorCode::Limit => Exit::NotAdmitted,
            // What is left is nothing that a command line can bring about; later codes are told as they are.
            _ => Exit::Internal,
        }
    }
}

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
            terminal.note(&shown::visible_json(&error));
            return self.exit;
        }
        terminal.note(&format!("trunkline: {}", shown::lines(&self.message)));
        if let Some(hint) = &self.hint {
            terminal.note(&format!("  {}", escaped(hint)));
        }
        self.exit
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let says = |source: &str| error.message().contains(source);
        let at = match ["source", "line"].map(|name| error.detail().get(name)) {
            [Some(Value::String(source)), _] if says(source) => String::new(),
            [Some(Value::String(source)), Some(line)] => format!("{}:{line}: ", escaped(source)),
            [Some(Value::String(source)), None] => format!("{}: ", escaped(source)),
            _ => String::new(),
        };
        let waits = error.detail().get("reason").is_some_and(|reason| reason == "pending_approval");
        let hint = waits.then_some("`trunkline approve` shows what would run, and approves it");
        let failure = Failure {
            exit: Exit::of(&error),
            message: format!("{at}{error}"),
            hint: error.hint().map(str::to_owned),
            json: error.to_json().into(),
        };
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
