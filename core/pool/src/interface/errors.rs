//! The stable error codes.

use serde_json::{Value, json};

/// What went wrong, as a number that never changes its meaning (the C status is this number).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A value is wrong; `detail.path` says which.
    InvalidArgument = 1,
    /// An option that does not exist; `detail.option` and the nearest name.
    UnknownOption = 2,
    /// A handle that is stale, released or foreign.
    BadHandle = 3,
    /// The pool, session or lease is closed.
    Closed = 4,
    /// The pool is draining.
    Closing = 5,
    /// The process is a fork of the one that made the pool.
    Forked = 6,
    /// The host cancelled the operation.
    Cancelled = 7,
    /// A deadline passed; `detail.which` is `connect`, `list`, `total`, `idle` or `keepalive`.
    Timeout = 8,
    /// A server's configuration is wrong; `detail.source`, `path`, `line`.
    InvalidConfig = 9,
    /// A variable in a configuration is not defined.
    UndefinedVariable = 10,
    /// A gate keeps the server out; `detail.reason`.
    NotAdmitted = 11,
    /// The approved configuration is not the live one.
    StaleApproval = 12,
    /// The budget of servers is used up.
    BudgetExhausted = 13,
    /// Another limit is reached; `detail.limit`.
    Limit = 14,
    /// The server's program could not be started.
    SpawnFailed = 15,
    /// The server could not be reached.
    ConnectFailed = 16,
    /// The server's process ended.
    Exited = 17,
    /// The server broke the protocol.
    Protocol = 18,
    /// The server wants credentials.
    AuthRequired = 19,
    /// The server is reconnecting; nothing was sent.
    Unavailable = 20,
    /// The connection was lost while the call was under way.
    CallInterrupted = 21,
    /// No such tool in this session's view.
    ToolNotFound = 22,
    /// The server answered with a JSON-RPC error.
    ServerError = 23,
    /// A request of the server could not be routed.
    Declined = 24,
    /// The server was lost too often; the breaker is open.
    CrashLoop = 25,
    /// A file of the library could not be read or written.
    Store = 26,
    /// A blocking call from inside a callback.
    WrongThread = 27,
    /// A fault of the library itself.
    Internal = 28,
    /// The server came back and was lost again, until no attempt was left.
    Unstable = 29,
}

/// One error code, as all languages know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorRow {
    /// The code; its number is the C status.
    pub code: ErrorCode,
    /// Its name in JSON and in every language.
    pub name: &'static str,
    /// Whether trying again can help.
    pub retry: RetryAdvice,
    /// The class in Python.
    pub python_class: &'static str,
    /// What Python's class is besides a `TrunklineError`.
    pub python_base: Option<&'static str>,
    /// The `code` in Node.
    pub node_code: &'static str,
    /// When it occurs.
    pub doc: &'static str,
    /// What a person can do about it, where the error itself has nothing more exact.
    pub advice: &'static str,
    /// What its message names.
    pub names: Names,
}

/// Whether the same operation can succeed later without a change by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAdvice {
    /// It cannot.
    Never,
    /// It can.
    Later,
    /// It can when the outcome is `not_sent`.
    ByOutcome,
}

impl RetryAdvice {
    /// The word in the registry.
    pub fn as_str(self) -> &'static str {
        match self {
            RetryAdvice::Never => "no",
            RetryAdvice::Later => "yes",
            RetryAdvice::ByOutcome => "by outcome",
        }
    }
}

/// What stands between backticks in the message of an error, where a language spells options in its
/// own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Options, as the registry spells them. The words of others have other quotes there.
    Options,
    /// What stands in files, which is spelled there as anywhere. So does the hint.
    Files,
    /// What servers say, and what they and their tools are called.
    Others,
}

impl Names {
    /// The word in the registry.
    pub fn as_str(self) -> &'static str {
        match self {
            Names::Options => "options",
            Names::Files => "files",
            Names::Others => "others",
        }
    }
}

/// Writes the table once: the rows, and an exhaustive mapping from code to row, so that a new code
/// without a row does not build.
macro_rules! errors {
    ($($code:ident $name:literal $node:literal $retry:ident $names:ident $class:literal $(($base:literal))? $doc:literal
        => $advice:literal;)*) => {
        /// Every error code, by number.
        pub const ERRORS: &[ErrorRow] = &[$(ErrorRow {
            code: ErrorCode::$code,
            name: $name,
            retry: RetryAdvice::$retry,
            python_class: $class,
            python_base: errors!(@base $($base)?),
            node_code: $node,
            doc: $doc,
            advice: $advice,
            names: Names::$names,
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
    InvalidArgument "invalid_argument" "TRUNKLINE_INVALID_ARGUMENT" Never Options "InvalidArgumentError" ("ValueError")
        "a value is wrong; `detail.path` says which"
        => "correct the value that `detail.path` names";
    UnknownOption "unknown_option" "TRUNKLINE_UNKNOWN_OPTION" Never Options "InvalidArgumentError" ("ValueError")
        "an option that does not exist; `detail.option`, and the nearest name in `detail.nearest`"
        => "write the option's name as docs/reference/options.md has it, or leave it out";
    BadHandle "bad_handle" "TRUNKLINE_BAD_HANDLE" Never Options "BadHandleError"
        "a handle that is stale, released or foreign"
        => "use what the pool gave only with that pool, and not after its release";
    Closed "closed" "TRUNKLINE_CLOSED" Never Options "ClosedError"
        "the pool, session or lease is closed"
        => "what is closed stays closed: open another session, or acquire the server again; of a pool, make another";
    Closing "closing" "TRUNKLINE_CLOSING" Never Options "ClosedError"
        "the pool is draining"
        => "make a new pool: this one takes nothing new";
    Forked "forked" "TRUNKLINE_FORKED" Never Options "ForkedError"
        "the process is a fork of the one that made the pool"
        => "make a new pool in the child";
    Cancelled "cancelled" "TRUNKLINE_CANCELLED" Never Options "CancelledError"
        "the host cancelled the operation; in asyncio its own `CancelledError` where it applies"
        => "ask again if it is still wanted";
    Timeout "timeout" "TRUNKLINE_TIMEOUT" Later Options "TimeoutError" ("TimeoutError")
        "a deadline passed; `detail.which` is `connect`, `list`, `total`, `idle` or `keepalive`"
        => "try again, or give it more time: `detail.which` says which time it was";
    InvalidConfig "invalid_config" "TRUNKLINE_INVALID_CONFIG" Never Files "ConfigError"
        "a server's configuration is wrong; `detail.source`, `path`, `line`"
        => "correct the field that `detail.path` names, in the file of `detail.source` where there is one";
    UndefinedVariable "undefined_variable" "TRUNKLINE_UNDEFINED_VARIABLE" Never Files "ConfigError"
        "a variable in a configuration is not defined; names it"
        => "define the variable, or write a default into the configuration: `${NAME:-default}`";
    NotAdmitted "not_admitted" "TRUNKLINE_NOT_ADMITTED" Never Others "NotAdmittedError"
        "a gate keeps the server out; `detail.reason`"
        => "`explain` says which file or list keeps the server out";
    StaleApproval "stale_approval" "TRUNKLINE_STALE_APPROVAL" Never Options "NotAdmittedError"
        "the hash that was shown is not that of the live configuration"
        => "look at the request again, and decide about what it shows now";
    BudgetExhausted "budget_exhausted" "TRUNKLINE_BUDGET_EXHAUSTED" Later Options "LimitError"
        "the budget of servers is used up; `detail.budget`, `live`, `reserved`"
        => "release or disable another server, or give the pool a larger `budget`";
    Limit "limit" "TRUNKLINE_LIMIT" Later Options "LimitError"
        "processes, calls in flight, a queue or a result's size; `detail.limit` says which"
        => "wait until less is under way, or raise the limit that `detail.limit` names";
    SpawnFailed "spawn_failed" "TRUNKLINE_SPAWN_FAILED" Later Options "ConnectError"
        "the server's program could not be started; `detail.command`, `errno`"
        => "start the command by hand to see why";
    ConnectFailed "connect_failed" "TRUNKLINE_CONNECT_FAILED" Later Options "ConnectError"
        "the server could not be reached: network, TLS, DNS"
        => "check the address and the network, and whether the server runs";
    Exited "exited" "TRUNKLINE_EXITED" Later Options "ConnectError"
        "the server's process ended; `detail` has its exit status or signal and the end of its stderr"
        => "see the server's stderr in the detail, or start the command by hand";
    Protocol "protocol" "TRUNKLINE_PROTOCOL" Never Options "ProtocolError"
        "the server broke the protocol, or speaks no common version of it"
        => "update the server, or tell its makers what it did";
    AuthRequired "auth_required" "TRUNKLINE_AUTH_REQUIRED" Never Options "AuthRequiredError"
        "the server wants credentials; `detail` has the address, or what is missing"
        => "sign in with `sign_in`, or configure the credentials";
    Unavailable "unavailable" "TRUNKLINE_UNAVAILABLE" Later Options "UnavailableError"
        "the server is reconnecting; nothing was sent"
        => "call again when the server is back: the event `reconnected` says so";
    CallInterrupted "call_interrupted" "TRUNKLINE_CALL_INTERRUPTED" ByOutcome Options "CallInterruptedError"
        "the connection was lost while the call was under way; `outcome` says whether it can have run"
        => "look at `outcome`: after `not_sent` call again; after `unknown` it may have run";
    ToolNotFound "tool_not_found" "TRUNKLINE_TOOL_NOT_FOUND" Never Others "ToolNotFoundError"
        "no such tool in this session's view; `detail` explains why"
        => "read the session's tools again; `explain` says what became of one";
    ServerError "server_error" "TRUNKLINE_SERVER_ERROR" Never Others "ServerError"
        "the server answered with a JSON-RPC error; `detail.code`, `message`, `data`"
        => "see what the server says in `detail`, and correct the arguments";
    Declined "declined" "TRUNKLINE_DECLINED" Never Options "DeclinedError"
        "a request of the server could not be routed to a session"
        => "give the session a handler for what the server asks, or a connection of its own: `share: \"session\"`";
    CrashLoop "crash_loop" "TRUNKLINE_CRASH_LOOP" Never Options "ConnectError"
        "the server was lost too often; the breaker is open"
        => "mend what ends the server, which its stderr and the cause say, and acquire it again";
    Store "store" "TRUNKLINE_STORE" Later Options "StoreError"
        "approvals, cache, tokens or the status file could not be read or written; `detail.errno`, `path`"
        => "check the path, its permissions and the room on its disk";
    WrongThread "wrong_thread" "TRUNKLINE_WRONG_THREAD" Never Options "WrongThreadError"
        "a blocking call from inside a callback"
        => "start the operation instead, or call from another thread";
    Internal "internal" "TRUNKLINE_INTERNAL" Never Options "InternalError"
        "a fault of the library itself; `detail.place`"
        => "tell the makers of the library, with `detail`";
    Unstable "unstable" "TRUNKLINE_UNSTABLE" Later Options "ConnectError"
        "the server came back and was lost again, until no attempt was left; it is tried again after a while"
        => "look at what ends the server: its stderr and the cause say it; `ready` with its name tries it at once";
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

    /// What its message names.
    pub fn names(self) -> Names {
        self.row().names
    }

    /// Whether the same operation may succeed later without a change by the user.
    /// `call_interrupted` is repeatable only when its outcome is `not_sent`, which the error itself
    /// knows.
    pub fn is_retryable(self) -> bool {
        self.row().retry == RetryAdvice::Later
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
            "advice": self.advice,
            "names": self.names.as_str(),
        })
    }
}
