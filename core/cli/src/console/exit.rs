//! The numbers that a command line exits with; `docs/guide/cli.md` lists them.

use serde_json::Value;
use trunkline::{Error, ErrorCode};

/// How the process exits. Numbers keep their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It was done.
    Success,
    /// It was done, and the answer is bad news: a tool that failed, a server that is not there,
    /// something to mend.
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
            | ErrorCode::CrashLoop
            | ErrorCode::Unstable => Exit::Unreachable,
            ErrorCode::AuthRequired => Exit::SignIn,
            ErrorCode::Timeout => Exit::TimedOut,
            ErrorCode::ToolNotFound => Exit::NotFound,
            ErrorCode::ServerError | ErrorCode::Declined => Exit::Failed,
            ErrorCode::BudgetExhausted | ErrorCode::Limit => Exit::NotAdmitted,
            // What is left is nothing that a command line can bring about; later codes are told as
            // they are.
            _ => Exit::Internal,
        }
    }
}
