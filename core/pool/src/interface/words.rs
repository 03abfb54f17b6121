//! The words that members of events and errors can be: what is said here, and nowhere else, is what
//! hosts may match on.
//!
//! Code names a word by its constant. So a new one is in this table, and in the pages that are made
//! from it, before it can be said; a test looks that nobody writes one out.

use super::errors::ErrorCode;
use super::events::EventKind;

/// The words of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WordList {
    /// What has the member.
    pub of: Of,
    /// Its name.
    pub member: &'static str,
    /// The words, each with its meaning.
    pub words: &'static [(&'static str, &'static str)],
}

/// What has a member of a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Of {
    /// Events of that kind.
    Event(EventKind),
    /// The `detail` of errors of that code.
    Error(ErrorCode),
}

/// Writes each list once: a constant for each word, and all of them.
macro_rules! words {
    ($($(#[doc = $about:literal])+ $list:ident { $($name:ident $word:literal $meaning:literal;)* })*) => {$(
        $(#[doc = $about])+
        pub mod $list {
            $(
                #[doc = concat!("`", $word, "`: ", $meaning, ".")]
                pub const $name: &str = $word;
            )*

            /// Every word, with its meaning.
            pub const ALL: &[(&str, &str)] = &[$(($word, $meaning),)*];
        }
    )*};
}

words! {
    /// The states of an entry (SPEC 3.1).
    entry_state {
        SPAWNING "spawning" "its first connection is being made";
        ACTIVE "active" "connected and held";
        DRAINING "draining" "connected and held by nobody";
        RECONNECTING "reconnecting" "lost, and on the way back";
        AUTH_REQUIRED "auth_required" "it waits for credentials";
        FAILED "failed" "lost for good, until somebody asks for it";
        CLOSED "closed" "gone";
    }

    /// Why an entry changed its state.
    status_reason {
        ACQUIRE "acquire" "somebody asked for the server";
        CONNECTED "connected" "an attempt succeeded";
        CONNECT_FAILED "connect_failed" "an attempt failed";
        HELD "held" "somebody holds it again";
        RELEASED "released" "nobody holds it any more";
        DRAIN_DELAY "drain_delay" "nobody held it for the drain delay";
        IDLE_CAP "idle_cap" "it was of no use for the idle cap";
        UNWANTED "unwanted" "the caller that asked for it gave up before it connected";
        LOST "lost" "the connection was lost";
        ATTEMPTS_USED_UP "attempts_used_up" "every attempt of the schedule failed";
        CRASH_LOOP "crash_loop" "it was lost too often";
        UNSTABLE "unstable" "it came back and was lost again, until no attempt was left";
        CREDENTIALS "credentials" "there are other credentials than it was tried with";
        AUTH_REQUIRED "auth_required" "the server wants credentials";
        RESTART "restart" "a restart was asked for";
        SUPERSEDED "superseded" "a newer configuration took its place";
        DRAIN_ALL "drain_all" "the pool is draining";
        GATE "gate" "a gate no longer admits it";
        BUDGET_EXHAUSTED "budget_exhausted" "the budget has no room for it to come back";
        LIMIT "limit" "a limit has no room for it to come back";
    }

    /// Why a held connection was lost (SPEC 8.5).
    loss_reason {
        TRANSPORT_CLOSED "transport_closed" "the server closed it, or its process ended";
        TRANSPORT_ERROR "transport_error" "reading or writing failed, or the server broke the protocol";
        KEEPALIVE "keepalive" "the server no longer answers";
        SESSION_LOST "session_lost" "the server no longer knows the session";
        RESTART "restart" "a restart was asked for";
        GATE "gate" "a gate no longer admits it";
        CONFIG "config" "its configuration changed";
        SHUTDOWN "shutdown" "the pool is draining";
    }

    /// What a server that wants credentials misses.
    missing {
        TOKEN "token" "credentials, or others than those it was sent";
        SCOPE "scope" "a token for more than this one";
        PERMISSION "permission" "what is asked is not allowed with these credentials";
    }

    /// What a host's own source of credentials did instead of giving some.
    denial {
        REFUSED "refused" "it has none";
        FAILED "failed" "it gave something that is not a token, or panicked";
        TIMEOUT "timeout" "it took too long";
    }

    /// What the operator should know.
    warning_code {
        REQUEST_DECLINED "request_declined" "a server's request was declined, since several sessions could be meant";
        ROOTS_NOT_SHARED "roots_not_shared" "a session's own roots are left out on a connection that it shares";
        APPROVALS "approvals" "decisions about servers could not be read, or were lost";
        POLLED "polled" "files are looked at from time to time, since they cannot be watched";
        CACHE "cache" "what servers listed could not be kept, or what was kept could not be read";
        TOKENS "tokens" "credentials could not be kept, or those that were kept could not be read";
        LIST_FAILED "list_failed" "one list of a server could not be had; the others stand";
        NOTHING_LISTED "nothing_listed" "a server is connected, and lists nothing";
        TOKEN_TYPE "token_type" "a token of no known kind is sent as a bearer token";
        SUBSCRIPTION "subscription" "a server took no new subscription to a resource after a reconnect";
        EXIT "exit" "how the process of a lost connection ended, which was not known yet when the loss was told";
        FILTER "filter" "a filter or mark does nothing: its pattern matches nothing that the server lists, or its server is none";
    }

    /// How the budget of servers counts.
    budget_mode {
        OFF "off" "it is only shown";
        WARN "warn" "the pool warns before the limit is reached, and refuses nothing";
        ENFORCE "enforce" "nothing begins beyond it";
    }

    /// Which limit was reached.
    limit {
        FRAME_BYTES "frame_bytes" "one message of a server or to it, or all pages of a list";
        QUEUED_BYTES "queued_bytes" "what waits to be written to a server";
        QUEUED_FRAMES "queued_frames" "messages of a server of the host's own that wait to be read";
        QUEUED_COMMANDS "queued_commands" "commands that wait for the pool";
        IN_FLIGHT_PER_ENTRY "in_flight_per_entry" "calls in flight on one connection";
        IN_FLIGHT_PER_SESSION "in_flight_per_session" "calls in flight of one session";
        RESOURCE_STREAMS "resource_streams" "resources of one modern server that are subscribed to";
        PROCESSES "processes" "server processes in all";
        ENTRIES_PER_NAME "entries_per_name" "connections of one server name";
        ENTRIES "entries" "connections in the life of a pool";
        REMEMBERED_TOOLS "remembered_tools" "definitions of tools that are remembered";
        REQUESTS "requests" "requests of one sign-in";
        REDIRECTS "redirects" "redirects of one request of a sign-in";
        AUTH_BODY_BYTES "auth_body_bytes" "an answer in a sign-in";
        DESCRIPTORS "descriptors" "descriptors of the process (C)";
        QUEUE "queue" "operations of one completion queue (C)";
        CALLBACKS "callbacks" "callbacks that wait to be made (C)";
        THREADS "threads" "threads of the process";
        SUBSCRIPTIONS "subscriptions" "subscriptions with a callback (C)";
        HANDLERS "handlers" "pools and sessions with handlers of their own (C)";
        HANDLES "handles" "handles of one kind (C)";
    }

    /// Which deadline passed.
    deadline {
        CONNECT "connect" "that of a connect, of an acquire or of a sign-in's requests";
        LIST "list" "that of the lists";
        TOTAL "total" "that of a call in all, of a drain or of a stream's acknowledgement";
        IDLE "idle" "that of a call without progress";
        KEEPALIVE "keepalive" "the server left the keep-alive's questions unanswered";
    }

    /// Why a server is not admitted (SPEC 11.6).
    gate {
        REMOVED "removed" "it was configured, and no source names it any more";
        NOT_CONFIGURED "not_configured" "no source names it";
        INVALID_CONFIG "invalid_config" "its configuration is wrong";
        UNTRUSTED "untrusted" "the workspace is not trusted";
        EXCLUDED "excluded" "it is on the list of those that may not run";
        NOT_ALLOWED "not_allowed" "it is not on the list of those that may run";
        DISABLED "disabled" "its configuration, or the session, switches it off";
        REJECTED "rejected" "its approval was refused";
        PENDING_APPROVAL "pending_approval" "it waits for approval";
    }

    /// Why a tool is not there for a session.
    hidden {
        UNKNOWN "unknown" "the server lists no such tool";
        FILTERED "filtered" "the server's configuration or the session leaves it out";
        QUARANTINED "quarantined" "its definition changed, and was not accepted";
        MALFORMED "malformed" "the server lists it in a way that cannot be taken over";
        LEFT_OUT "left_out" "the server lists it, and it cannot be used";
        DISABLED "disabled" "the session has disabled the server";
    }

    /// Why a lease is closed.
    lease_end {
        RELEASED "released" "the host released it";
        CONFIG "config" "the pool's configuration of the server changed";
    }

    /// Where the way to a server failed.
    connect_kind {
        CLOSED "closed" "the connection broke";
        DNS "dns" "its name cannot be resolved";
        NETWORK "network" "no connection could be made";
        NOT_HTTP "not_http" "what answers there speaks no HTTP";
        PROXY "proxy" "the proxy that the environment names does not lead there";
        REFUSED "refused" "the connection was refused";
        SOCKET "socket" "its Unix socket";
        TIMEOUT "timeout" "it did not answer in time";
        TLS "tls" "TLS failed";
    }

    /// What is wrong with a server that keeps to the protocol.
    odd {
        NOTHING_LISTED "nothing_listed" "it lists no tools, prompts or resources, and `nothing_listed` refuses that";
    }
}

const fn event(
    kind: EventKind,
    member: &'static str,
    words: &'static [(&'static str, &'static str)],
) -> WordList {
    WordList { of: Of::Event(kind), member, words }
}

const fn error(
    code: ErrorCode,
    member: &'static str,
    words: &'static [(&'static str, &'static str)],
) -> WordList {
    WordList { of: Of::Error(code), member, words }
}

/// Every member that is one of a few words.
pub const WORDS: &[WordList] = &[
    event(EventKind::StatusChanged, "from", entry_state::ALL),
    event(EventKind::StatusChanged, "to", entry_state::ALL),
    event(EventKind::StatusChanged, "reason", status_reason::ALL),
    event(EventKind::Disconnected, "reason", loss_reason::ALL),
    event(EventKind::AuthRequired, "missing", missing::ALL),
    event(EventKind::BudgetWarning, "mode", budget_mode::ALL),
    event(EventKind::RefusedBatch, "mode", budget_mode::ALL),
    event(EventKind::Warning, "code", warning_code::ALL),
    error(ErrorCode::Closed, "reason", lease_end::ALL),
    error(ErrorCode::Timeout, "which", deadline::ALL),
    error(ErrorCode::NotAdmitted, "reason", gate::ALL),
    error(ErrorCode::Limit, "limit", limit::ALL),
    error(ErrorCode::ConnectFailed, "kind", connect_kind::ALL),
    error(ErrorCode::Protocol, "reason", odd::ALL),
    error(ErrorCode::AuthRequired, "missing", missing::ALL),
    error(ErrorCode::AuthRequired, "handler", denial::ALL),
    error(ErrorCode::Unavailable, "state", entry_state::ALL),
    error(ErrorCode::ToolNotFound, "reason", hidden::ALL),
];
