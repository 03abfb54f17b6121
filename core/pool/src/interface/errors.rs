//! The stable error codes.

use serde_json::{Value, json};

use crate::error::ErrorCode;

/// One error code, as all languages know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorRow {
    /// The code; its number is the C status.
    pub code: ErrorCode,
    /// Its name in JSON and in every language.
    pub name: &'static str,
    /// Whether trying again can help.
    pub retry: Retry,
    /// The class in Python.
    pub python_class: &'static str,
    /// What Python's class is besides a `TrunklineError`.
    pub python_base: Option<&'static str>,
    /// The `code` in Node.
    pub node_code: &'static str,
    /// When it occurs.
    pub doc: &'static str,
}

/// Whether the same operation can succeed later without a change by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It cannot.
    Never,
    /// It can.
    Later,
    /// It can when the outcome is `not_sent`.
    ByOutcome,
}

impl Retry {
    /// The word in the registry.
    pub fn as_str(self) -> &'static str {
        match self {
            Retry::Never => "no",
            Retry::Later => "yes",
            Retry::ByOutcome => "by outcome",
        }
    }
}

/// Writes the table once: the rows, and an exhaustive mapping from code to row, so that a new code without a row
/// does not build.
macro_rules! errors {
    ($($code:ident $name:literal $node:literal $retry:ident $class:literal $(($base:literal))? $doc:literal;)*) => {
        /// Every error code, by number.
        pub const ERRORS: &[ErrorRow] = &[$(ErrorRow {
            code: ErrorCode::$code,
            name: $name,
            retry: Retry::$retry,
            python_class: $class,
            python_base: errors!(@base $($base)?),
            node_code: $node,
            doc: $doc,
        },)*];

        impl ErrorCode {
            /// Every code, by number.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$code,)*];

            /// The stable name, as in JSON and in every language.
            pub fn name(self) -> &'static str {
                match self {
                    $(ErrorCode::$code => $name,)*
                }
            }
        }
    };
    (@base) => { None };
    (@base $base:literal) => { Some($base) };
}

errors! {
    InvalidArgument "invalid_argument" "TRUNKLINE_INVALID_ARGUMENT" Never "InvalidArgumentError" ("ValueError")
        "a value is wrong; `detail.path` says which";
    UnknownOption "unknown_option" "TRUNKLINE_UNKNOWN_OPTION" Never "InvalidArgumentError" ("ValueError")
        "an option that does not exist; `detail.option`, and the nearest name in `detail.nearest`";
    BadHandle "bad_handle" "TRUNKLINE_BAD_HANDLE" Never "BadHandleError"
        "a handle that is stale, released or foreign";
    Closed "closed" "TRUNKLINE_CLOSED" Never "ClosedError"
        "the pool, session or lease is closed";
    Closing "closing" "TRUNKLINE_CLOSING" Never "ClosedError"
        "the pool is draining";
    Forked "forked" "TRUNKLINE_FORKED" Never "ForkedError"
        "the process is a fork of the one that made the pool";
    Cancelled "cancelled" "TRUNKLINE_CANCELLED" Never "CancelledError"
        "the host cancelled the operation; in asyncio its own `CancelledError` where it applies";
    Timeout "timeout" "TRUNKLINE_TIMEOUT" Later "TimeoutError" ("TimeoutError")
        "a deadline passed; `detail.which` is `connect`, `list`, `total` or `idle`";
    InvalidConfig "invalid_config" "TRUNKLINE_INVALID_CONFIG" Never "ConfigError"
        "a server's configuration is wrong; `detail.source`, `path`, `line`";
    UndefinedVariable "undefined_variable" "TRUNKLINE_UNDEFINED_VARIABLE" Never "ConfigError"
        "a variable in a configuration is not defined; names it";
    NotAdmitted "not_admitted" "TRUNKLINE_NOT_ADMITTED" Never "NotAdmittedError"
        "a gate keeps the server out; `detail.reason`";
    StaleApproval "stale_approval" "TRUNKLINE_STALE_APPROVAL" Never "NotAdmittedError"
        "the hash that was shown is not that of the live configuration";
    BudgetExhausted "budget_exhausted" "TRUNKLINE_BUDGET_EXHAUSTED" Later "LimitError"
        "the budget of servers is used up; `detail.budget`, `live`, `reserved`";
    Limit "limit" "TRUNKLINE_LIMIT" Later "LimitError"
        "processes, calls in flight, a queue or a result's size; `detail.limit` says which";
    SpawnFailed "spawn_failed" "TRUNKLINE_SPAWN_FAILED" Later "ConnectError"
        "the server's program could not be started; `detail.command`, `errno`";
    ConnectFailed "connect_failed" "TRUNKLINE_CONNECT_FAILED" Later "ConnectError"
        "the server could not be reached: network, TLS, DNS";
    Exited "exited" "TRUNKLINE_EXITED" Later "ConnectError"
        "the server's process ended; `detail` has its exit status or signal and the end of its stderr";
    Protocol "protocol" "TRUNKLINE_PROTOCOL" Never "ProtocolError"
        "the server broke the protocol, or speaks no common version of it";
    AuthRequired "auth_required" "TRUNKLINE_AUTH_REQUIRED" Never "AuthRequiredError"
        "the server wants credentials; `detail` has the address, or what is missing";
    Unavailable "unavailable" "TRUNKLINE_UNAVAILABLE" Later "UnavailableError"
        "the server is reconnecting; nothing was sent";
    CallInterrupted "call_interrupted" "TRUNKLINE_CALL_INTERRUPTED" ByOutcome "CallInterruptedError"
        "the connection was lost while the call was under way; `outcome` says whether it can have run";
    ToolNotFound "tool_not_found" "TRUNKLINE_TOOL_NOT_FOUND" Never "ToolNotFoundError"
        "no such tool in this session's view; `detail` explains why";
    ServerError "server_error" "TRUNKLINE_SERVER_ERROR" Never "ServerError"
        "the server answered with a JSON-RPC error; `detail.code`, `message`, `data`";
    Declined "declined" "TRUNKLINE_DECLINED" Never "DeclinedError"
        "a request of the server could not be routed to a session";
    CrashLoop "crash_loop" "TRUNKLINE_CRASH_LOOP" Never "ConnectError"
        "the server was lost too often; the breaker is open";
    Store "store" "TRUNKLINE_STORE" Later "StoreError"
        "approvals, cache or tokens could not be read or written; `detail.errno`, `path`";
    WrongThread "wrong_thread" "TRUNKLINE_WRONG_THREAD" Never "WrongThreadError"
        "a blocking call from inside a callback";
    Internal "internal" "TRUNKLINE_INTERNAL" Never "InternalError"
        "a fault of the library itself; `detail.place`";
}

impl ErrorCode {
    /// The code of a C status; `None` for 0, which is success, and for numbers that mean nothing.
    pub fn from_number(number: i32) -> Option<ErrorCode> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        ErrorCode::ALL.get(index).copied()
    }

    /// The code of a stable name.
    pub fn from_name(name: &str) -> Option<ErrorCode> {
        ErrorCode::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// Its row in the registry.
    pub fn row(self) -> &'static ErrorRow {
        // Numbers are dense from 1, and ERRORS is in their order; a test says so.
        &ERRORS[self as usize - 1]
    }

    /// Whether the same operation may succeed later without a change by the user. `call_interrupted` is repeatable
    /// only when its outcome is `not_sent`, which the error itself knows.
    pub fn is_retryable(self) -> bool {
        self.row().retry == Retry::Later
    }
}

impl ErrorRow {
    /// Its place in the registry as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "number": self.code as i32,
            "name": self.name,
            "retryable": self.retry.as_str(),
            "python_class": self.python_class,
            "python_base": self.python_base,
            "node_code": self.node_code,
            "doc": self.doc,
        })
    }
}
