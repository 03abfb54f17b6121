//! The plain types of the header: strings, status numbers, items, options and callbacks.

use std::ffi::{c_char, c_void};

use trunkline::ErrorCode;

/// The version of this interface. It grows when a function, a field or a number is added; nothing
/// is ever changed or removed within one SONAME. Compare it with `trunkline_abi_version()`, which
/// answers for the library that was loaded: that one must not be less.
pub const TRUNKLINE_ABI_VERSION: u32 = 1;

/// Where a time or an index may be left to the library: "the default", or "all of them". Each
/// function says which it means. A language without unsigned numbers passes -1, which has the same
/// bits.
pub const TRUNKLINE_DEFAULT: u64 = u64::MAX;

/// For `trunkline_pool_restart`: every entry of the server.
pub const TRUNKLINE_EVERY_ENTRY: u32 = u32::MAX;

/// For subscriptions: every kind of event.
pub const TRUNKLINE_EVERY_EVENT: u64 = u64::MAX;

/// The number of a session. The types of numbers say in a signature what is meant; a compiler takes
/// one for another, and the library answers `TRUNKLINE_STATUS_BAD_HANDLE`.
pub type SessionHandle = u64;

/// The number of a lease.
pub type LeaseHandle = u64;

/// The number of an operation that was started.
pub type OpHandle = u64;

/// The number of a subscription.
pub type SubscriptionHandle = u64;

/// The number of a request of a server, by which it is answered.
pub type RequestHandle = u64;

/// The number of a connection with a server that the host provides.
pub type HostConnectionHandle = u64;

/// A piece of UTF-8 text, by pointer and length in bytes; it need not end with a NUL byte.
///
/// Given to a function, it is read (and copied) before the function returns. `{NULL, 0}` is the
/// empty text. Text that is not UTF-8 is answered with `TRUNKLINE_STATUS_INVALID_ARGUMENT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Str {
    /// The first byte; may be NULL when `len` is 0.
    pub ptr: *const c_char,
    /// How many bytes.
    pub len: usize,
}

impl Str {
    /// The view of a text that outlives the view's use.
    pub(crate) fn of(text: &str) -> Str {
        Str { ptr: text.as_ptr().cast(), len: text.len() }
    }

    /// The empty text.
    pub(crate) const EMPTY: Str = Str { ptr: std::ptr::null(), len: 0 };
}

/// How a function, or an operation, ended. A number never changes its meaning, and new ones may
/// come: treat what you do not know as a failure.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It succeeded.
    Ok = 0,
    /// A value is wrong; `detail.path` names the parameter or the member.
    InvalidArgument = 1,
    /// An option that does not exist; `detail.option`, and the nearest name in the hint.
    UnknownOption = 2,
    /// A handle that is stale, released, of another kind or of another pool.
    BadHandle = 3,
    /// The pool, session or lease is closed.
    Closed = 4,
    /// The pool is draining.
    Closing = 5,
    /// The process is a fork of the one that made the object.
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
    /// A blocking function was called from inside a callback.
    WrongThread = 27,
    /// A fault of the library itself; `detail.place` says where.
    Internal = 28,
    /// The server came back and was lost again, until no attempt was left; it is tried again after
    /// a while.
    Unstable = 29,
}

impl From<ErrorCode> for Status {
    fn from(code: ErrorCode) -> Status {
        match code {
            ErrorCode::InvalidArgument => Status::InvalidArgument,
            ErrorCode::UnknownOption => Status::UnknownOption,
            ErrorCode::BadHandle => Status::BadHandle,
            ErrorCode::Closed => Status::Closed,
            ErrorCode::Closing => Status::Closing,
            ErrorCode::Forked => Status::Forked,
            ErrorCode::Cancelled => Status::Cancelled,
            ErrorCode::Timeout => Status::Timeout,
            ErrorCode::InvalidConfig => Status::InvalidConfig,
            ErrorCode::UndefinedVariable => Status::UndefinedVariable,
            ErrorCode::NotAdmitted => Status::NotAdmitted,
            ErrorCode::StaleApproval => Status::StaleApproval,
            ErrorCode::BudgetExhausted => Status::BudgetExhausted,
            ErrorCode::Limit => Status::Limit,
            ErrorCode::SpawnFailed => Status::SpawnFailed,
            ErrorCode::ConnectFailed => Status::ConnectFailed,
            ErrorCode::Exited => Status::Exited,
            ErrorCode::Protocol => Status::Protocol,
            ErrorCode::AuthRequired => Status::AuthRequired,
            ErrorCode::Unavailable => Status::Unavailable,
            ErrorCode::CallInterrupted => Status::CallInterrupted,
            ErrorCode::ToolNotFound => Status::ToolNotFound,
            ErrorCode::ServerError => Status::ServerError,
            ErrorCode::Declined => Status::Declined,
            ErrorCode::CrashLoop => Status::CrashLoop,
            ErrorCode::Unstable => Status::Unstable,
            ErrorCode::Store => Status::Store,
            ErrorCode::WrongThread => Status::WrongThread,
            // Codes of a newer core that this interface has no number for yet are faults of the
            // build.
            _ => Status::Internal,
        }
    }
}

/// The kinds of event. The number is the bit in a subscription's mask:
/// `TRUNKLINE_MASK(TRUNKLINE_EVENT_TOOLS_CHANGED)`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventNumber {
    /// An entry changed its visible state: `from`, `to`, `reason`.
    StatusChanged = 0,
    /// Tools of a session's view came, went or changed: `added`, `removed`, `changed`, `revision`.
    ToolsChanged = 1,
    /// Prompts of a session's view came, went or changed.
    PromptsChanged = 2,
    /// Resources of a session's view came, went or changed.
    ResourcesChanged = 3,
    /// A subscribed resource was updated: `uri`.
    ResourceUpdated = 4,
    /// A held connection was lost: `reason`.
    Disconnected = 5,
    /// A held connection is back: `attempts`, `downtime_ms`.
    Reconnected = 6,
    /// A held connection is gone for good: `error`.
    Failed = 7,
    /// Progress of a call: `call`, `progress`, `total`, `message`.
    Progress = 8,
    /// A log message of a server: `level`, `logger`, `data`.
    Log = 9,
    /// A line that a server wrote to stderr, escaped: `line`.
    Stderr = 10,
    /// Servers wait for approval: `requests`.
    ApprovalNeeded = 11,
    /// A server wants credentials: `url`, `missing`.
    AuthRequired = 12,
    /// The budget is nearly used up.
    BudgetWarning = 13,
    /// Servers refused in one pass.
    RefusedBatch = 14,
    /// A source of configuration changed: `source`, `accepted`.
    SourceChanged = 15,
    /// A source of configuration is broken: `source`, `path`, `line`, `message`.
    SourceError = 16,
    /// A reconcile ended; its report.
    Reconciled = 17,
    /// A changed tool waits to be accepted: `tool`, `difference`.
    ToolQuarantined = 18,
    /// A server of the session became ready; how many are left.
    ServerReady = 19,
    /// Something the operator should know: `code`, `message`.
    Warning = 20,
    /// What a server asked the session to have opened is over: `elicitation_id`.
    ElicitationCompleted = 21,
    /// This subscriber was too slow, and `missed` events were dropped. Always delivered, whatever
    /// the mask says.
    Lagged = 63,
}

/// The options of one call. Start from `TRUNKLINE_CALL_OPTIONS_INIT`; a field that is zero means
/// the default.
///
/// NULL in place of the struct means all defaults. A `struct_size` below the first version's, or
/// above 4096, is answered with `TRUNKLINE_STATUS_INVALID_ARGUMENT`; a byte that is not zero beyond
/// what this version of the library knows, with `TRUNKLINE_STATUS_UNKNOWN_OPTION`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CallOptionsStruct {
    /// `sizeof(trunkline_call_options)` of the header that the host was compiled with.
    pub struct_size: usize,
    /// Milliseconds for the call in all; 0: the server's, or the pool's (10 min).
    pub timeout_ms: u64,
    /// Milliseconds without progress; 0: the server's, or the pool's (300 s).
    pub idle_timeout_ms: u64,
    /// 1: ask the server for progress, which comes as `TRUNKLINE_EVENT_PROGRESS`. 0: do not.
    pub progress: u32,
    /// What is sent again when the connection is lost. 0: nothing. 1: what was provably never sent.
    /// 2: also a call of a tool that is declared read-only or idempotent, when the session trusts
    /// the server.
    pub retry: u32,
    /// The request's `_meta`: the text of a JSON object; empty: none. A `traceparent`, `tracestate`
    /// or `baggage` in it must be as W3C defines them, and a `progressToken` does not go out: the
    /// library has its own.
    pub meta_json: Str,
    /// NULL, or where the number is put by which the call's progress events name it (`call`),
    /// unique within its session. Written before the function returns (a blocking one: before it
    /// waits), and left alone when nothing was sent. `trunkline_session_request` sends later and
    /// leaves it alone too: for progress, send the request by a lease. The number may come after
    /// the call's end, so it must not lie in what `destroy` frees.
    pub out_call: *mut u64,
    /// 1: wait while the server is reconnecting, at most for the call's time in all. 0: fail at
    /// once.
    pub wait: u32,
    /// The shape that a model was given the tool in: arguments that have other names there go to
    /// the server under its own. 0: none. 1: `mcp`. 2: `openai`. 3: `openai_responses`. 4:
    /// `anthropic`. 5: `gemini`. 6: `any`.
    pub shape: u32,
    /// 1: a tool that the server does not list is asked of the server all the same; never one that
    /// a filter, a gate or a quarantine keeps from the session. 0: it is refused.
    pub unlisted: u32,
}

/// Called for each event, in their order, on a thread of the subscription's own. `event` is a
/// `trunkline_event` (or a number that came later), `json` the whole event, good until the function
/// returns.
///
/// It must not throw. While it runs, this subscription waits and no other does.
pub type EventFn = Option<unsafe extern "C" fn(user_data: *mut c_void, event: u32, json: Str)>;

/// The handlers that a host can have. The number is the bit in what it offers.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerNumber {
    /// `sampling/createMessage`.
    Sampling = 0,
    /// `sampling/createMessage` with tools; where it stands alone, without them too.
    SamplingTools = 1,
    /// `elicitation/create` of a form.
    Elicitation = 2,
    /// `elicitation/create` of an address that the user is to visit; only `http` and `https` ones
    /// arrive.
    ElicitationUrl = 3,
    /// Each `log` event of the session.
    Logging = 4,
    /// What a remote server is to be let in with, asked by the library when a server refuses what
    /// it was sent: `params` is `{url, reason, scopes, challenge}`, `reason` one of `missing`,
    /// `refused`, `expired` and `scope`. The answer is `{"token": ..., "expires_in_ms": ...}`; a
    /// refusal, or an answer without a token, leaves the server `auth_required`.
    Credentials = 5,
    /// The value of an input that settings declare, asked by the library: `params` is
    /// `{id, source, description?, default?, secret?, options?, command?}`, the answer
    /// `{"value": ...}`. Anything else leaves the server without the value.
    Inputs = 6,
    /// A secret that settings name, asked by the library: `params` is `{name, source}`, the answer
    /// `{"value": ...}`. After `{}` the environment counts; after a refusal or a failure the server
    /// goes without the value.
    Secrets = 7,
    /// What becomes of a server that settings name, asked by the library before it is admitted:
    /// `params` is `{source, configuration}`. The answer is `{}` to keep it, `{"drop": true}`, or
    /// `{"configuration": {...}}`; without one the server does not run.
    Entries = 8,
}

/// What a host's handlers are told.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEvent {
    /// A server asks: `{kind, server, entry_index, generation, session, method, params}`. Answer it
    /// with `trunkline_request_answer` or `trunkline_request_refuse`. What the library itself asks
    /// is about a configuration: `entry_index` and `generation` are null then, and `session` is for
    /// the pool's.
    Asked = 1,
    /// Nobody waits for the answer to that request any more.
    Withdrawn = 2,
    /// A `log` event.
    Logged = 3,
}

/// Called with what servers ask of the host, in their order, on a thread of the handlers' own.
/// `event` is a `trunkline_request_event` (or a number that came later), `request` the number to
/// answer by, `json` good until the function returns. What a server sends is to be shown to people
/// with care.
///
/// It must not throw. It may answer at once. An answer that takes long is better given later, by
/// any thread, since the next request is told only when this has returned.
pub type AskFn = Option<
    unsafe extern "C" fn(user_data: *mut c_void, event: u32, request: RequestHandle, json: Str),
>;

/// Called with each message of the pool for a server that the host provides, in their order, on a
/// thread of the connection's own. `frame_json` is one JSON-RPC message, good until the function
/// returns.
///
/// It must not throw. It may block: that delays this server alone.
pub type HostReceiveFn = Option<
    unsafe extern "C" fn(user_data: *mut c_void, connection: HostConnectionHandle, frame_json: Str),
>;

/// Called once, and last, when a connection with a server that the host provides is over. Its
/// number is bad already.
pub type HostClosedFn =
    Option<unsafe extern "C" fn(user_data: *mut c_void, connection: HostConnectionHandle)>;

/// Called with what the library logs, on a thread of its own. `records` is the text of a JSON array
/// of `{time_ms, level, logger, message, fields}`, good until the function returns. It must not
/// throw.
pub type LogFn = Option<unsafe extern "C" fn(user_data: *mut c_void, records: Str)>;

/// Called exactly once for each `user_data` that was handed over, after its last callback, or
/// before the function returns when that function fails. May be NULL.
pub type DestroyFn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;
