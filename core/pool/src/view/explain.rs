//! Why a server or a tool is not there, in a sentence, and what can be done about it (SPEC 11.6).

use serde_json::{Map, Value, json};

use crate::interface::words::{gate, hidden};
use crate::view::{UnknownServer, Unmatched};

#[cfg(test)]
mod tests;

/// Why something is not there. Of those that apply to a server the first counts, as SPEC 11.6 has
/// them; then come those of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The server was configured, and no source names it any more.
    Removed,
    /// No source names the server, nor did any.
    NotConfigured,
    /// Its configuration is wrong.
    InvalidConfig,
    /// The workspace is not trusted.
    Untrusted,
    /// A list keeps it out.
    Excluded,
    /// A list of those that may run lacks it.
    NotAllowed,
    /// Its configuration, or the session, switches it off.
    Disabled,
    /// Its approval was refused.
    Rejected,
    /// It waits for approval.
    PendingApproval,
    /// The host is asked for what its configuration needs.
    Waiting,
    /// The pool is closing.
    Closing,
    /// Its first connection is being made.
    Connecting,
    /// It was lost, and is on the way back.
    Reconnecting,
    /// The budget, or a limit, has no room for it.
    Budget,
    /// It wants credentials.
    AuthRequired,
    /// It could not be connected to, or was lost for good.
    Failed,
    /// It runs for calls of its tools only, and none runs.
    Asleep,
    /// Nobody asked for it, or nobody holds it any more.
    Unused,
    /// The server lists the tool; its configuration or the session leaves it out.
    Filtered,
    /// The tool's definition changed, and was not accepted.
    Quarantined,
    /// The server lists the tool in a way that cannot be taken over.
    Malformed,
    /// The server lists the tool, and it cannot be used.
    LeftOut,
    /// The server lists no such tool, or no server has such a name.
    Unknown,
}

/// A reason, its word, its sentence about a server or a tool, and the remedy.
type ReasonRow = (Reason, &'static str, &'static str, &'static str);

/// Every reason. The sentences of a server go on after its name.
const TABLE: &[ReasonRow] = &[
    (
        Reason::Removed,
        gate::REMOVED,
        "was configured, and no source names it any more",
        "configure the server again",
    ),
    (
        Reason::NotConfigured,
        gate::NOT_CONFIGURED,
        "is named by no source",
        "look at the name, or configure the server",
    ),
    (
        Reason::InvalidConfig,
        gate::INVALID_CONFIG,
        "has a configuration that is wrong",
        "mend the server's entry",
    ),
    (
        Reason::Untrusted,
        gate::UNTRUSTED,
        "needs a trusted workspace",
        "trust the workspace with `set_trusted`",
    ),
    (
        Reason::Excluded,
        gate::EXCLUDED,
        "is on a list of servers that may not run",
        "take the name off that list",
    ),
    (
        Reason::NotAllowed,
        gate::NOT_ALLOWED,
        "is missing on a list of servers that may run",
        "put the name on every such list; what `launch_allowed` leaves out needs a new pool",
    ),
    (
        Reason::Disabled,
        gate::DISABLED,
        "is switched off",
        "enable the server in the session, or in its configuration",
    ),
    (
        Reason::Rejected,
        gate::REJECTED,
        "was rejected",
        "approve the server with `approve`, or ask anew after `forget`",
    ),
    (
        Reason::PendingApproval,
        gate::PENDING_APPROVAL,
        "waits for approval",
        "show a person what `approvals` says, and answer with `approve` or `reject`",
    ),
    (
        Reason::Waiting,
        "waiting",
        "waits for what the host is asked for its configuration",
        "answer the question, or wait until `settled`",
    ),
    (Reason::Closing, "closing", "does not start, since the pool is closing", "make a new pool"),
    (
        Reason::Connecting,
        "connecting",
        "is being connected to",
        "wait until the session is `ready`",
    ),
    (
        Reason::Reconnecting,
        "reconnecting",
        "was lost, and is on the way back",
        "wait, or call with an option that waits for the server",
    ),
    (
        Reason::Budget,
        "budget",
        "finds no room in the pool",
        "release or disable another server, or give the pool a larger budget or limit",
    ),
    (
        Reason::AuthRequired,
        "auth_required",
        "wants credentials",
        "sign in with `sign_in`, or configure the credentials",
    ),
    (
        Reason::Failed,
        "failed",
        "has failed",
        "mend what `last_error` of the status says, and `restart` or acquire the server",
    ),
    (
        Reason::Asleep,
        "asleep",
        "is asleep, since it runs for calls only",
        "call one of its tools, which starts it",
    ),
    (
        Reason::Unused,
        "unused",
        "may run, and is held by nobody here",
        "acquire the server, or open a session that wants it",
    ),
    (
        Reason::Filtered,
        hidden::FILTERED,
        "lists the tool, and its configuration or the session leaves it out",
        "let the tool through in the server's configuration and in the session",
    ),
    (
        Reason::Quarantined,
        hidden::QUARANTINED,
        "changed the tool's definition, which was not accepted",
        "look at the difference that the status shows, and accept it with `accept_tool`",
    ),
    (
        Reason::Malformed,
        hidden::MALFORMED,
        "lists the tool in a way that cannot be taken over",
        "mend the server: the message says what is wrong",
    ),
    (
        Reason::LeftOut,
        hidden::LEFT_OUT,
        "lists the tool, and it cannot be used",
        "use another tool of the server",
    ),
    (
        Reason::Unknown,
        hidden::UNKNOWN,
        "lists no such tool",
        "look at the tools that the session lists",
    ),
];

impl Reason {
    /// Every reason.
    pub fn all() -> impl Iterator<Item = Reason> {
        TABLE.iter().map(|(reason, ..)| *reason)
    }

    /// The reason of that word.
    pub fn from_word(word: &str) -> Option<Reason> {
        TABLE.iter().find(|row| row.1 == word).map(|(reason, ..)| *reason)
    }

    /// The word.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// What is so of a server with it, as it goes on after the server's name.
    pub fn sentence(self) -> &'static str {
        self.row().2
    }

    /// What can be done about it.
    pub fn remedy(self) -> &'static str {
        self.row().3
    }

    fn row(self) -> &'static ReasonRow {
        TABLE.iter().find(|row| row.0 == self).expect("a test finds every reason in the table")
    }
}

/// What is explained.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject<'a> {
    /// A server.
    Server,
    /// A tool, of that server, or of none.
    Tool(Option<&'a str>),
}

/// Where a reason comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReasonSource {
    /// The source: its name, or `host`.
    pub source: String,
    /// Its file.
    pub file: Option<String>,
    /// The line of the entry, from 1.
    pub line: Option<usize>,
    /// The list that decides.
    pub list: Option<&'static str>,
}

/// A filter or mark that does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdleFilter {
    /// A pattern that matches nothing of what that server lists.
    Pattern(String, Unmatched),
    /// A server that is none.
    Server(UnknownServer),
}

impl IdleFilter {
    fn message(&self) -> String {
        match self {
            IdleFilter::Pattern(server, unmatched) => unmatched.message(server),
            IdleFilter::Server(unknown) => unknown.message(),
        }
    }

    fn to_json(&self) -> Value {
        match self {
            IdleFilter::Pattern(server, unmatched) => unmatched.to_json(server),
            IdleFilter::Server(unknown) => unknown.to_json(),
        }
    }
}

/// The answer to why something is, or is not, there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation<'a> {
    /// The name that was asked for.
    pub name: &'a str,
    /// What it is.
    pub subject: Subject<'a>,
    /// Why it is not there; nothing when it is.
    pub reason: Option<Reason>,
    /// What is wrong with it, where an error says more; of a server that is there, with what its
    /// entry says now.
    pub cause: Option<String>,
    /// Where that is said.
    pub from: Option<ReasonSource>,
    /// What of the filters does nothing.
    pub idle: Vec<IdleFilter>,
}

/// So many filters that do nothing are told of in a sentence; the others stand beside it.
const TOLD_MAX: usize = 3;

impl Explanation<'_> {
    /// A sentence.
    pub fn message(&self) -> String {
        let server = match self.subject {
            Subject::Server => Some(self.name),
            Subject::Tool(server) => server,
        };
        let mut message = match (server, self.reason) {
            (None, _) => "no server has a name that the tool could belong to".to_owned(),
            (Some(_), None) if matches!(self.subject, Subject::Tool(_)) => {
                "the tool is there".to_owned()
            }
            (Some(server), None) if self.cause.is_some() => {
                format!(
                    "`{server}` is connected by what its entry said before; what it says now is wrong"
                )
            }
            (Some(server), None) => format!("`{server}` is connected"),
            (Some(server), Some(reason)) => format!("`{server}` {}", reason.row().2),
        };
        if let Some(cause) = &self.cause {
            message.push_str(": ");
            message.push_str(cause);
        }
        for idle in self.idle.iter().take(TOLD_MAX) {
            message.push_str("; ");
            message.push_str(&idle.message());
        }
        message
    }

    /// What can be done about it.
    fn remedy(&self) -> Option<&'static str> {
        let list = self.from.as_ref().and_then(|from| from.list);
        Some(match (self.reason?, list) {
            // No decision lets it in, nor is there a request.
            (Reason::PendingApproval, Some("pending")) => {
                "take the name off the host's list `pending` with `set_gates`"
            }
            (reason, _) => reason.remedy(),
        })
    }

    /// As JSON:
    /// `{v, name, kind, server?, available, reason?, message, from?: {source, file?, line?, list?}, remedy?, unmatched?}`.
    pub fn to_json(&self) -> Value {
        let (kind, server) = match self.subject {
            Subject::Server => ("server", None),
            Subject::Tool(server) => ("tool", server),
        };
        let mut out = json!({
            "v": 1,
            "name": self.name,
            "kind": kind,
            "available": self.reason.is_none(),
            "message": self.message(),
        });
        let idle: Vec<Value> = self.idle.iter().map(IdleFilter::to_json).collect();
        let idle = (!idle.is_empty()).then(|| Value::from(idle));
        let rest = [
            ("server", server.map(Value::from)),
            ("reason", self.reason.map(|reason| reason.as_str().into())),
            ("from", self.from.as_ref().map(ReasonSource::to_json)),
            ("remedy", self.remedy().map(Value::from)),
            ("unmatched", idle),
        ];
        for (name, value) in rest {
            if let Some(value) = value {
                out[name] = value;
            }
        }
        out
    }
}

impl ReasonSource {
    fn to_json(&self) -> Value {
        let ReasonSource { source, file, line, list } = self;
        let rest = [
            ("source", Some(source.as_str().into())),
            ("file", file.as_deref().map(Value::from)),
            ("line", line.map(Value::from)),
            ("list", list.map(Value::from)),
        ];
        let rest = rest.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(rest.collect::<Map<_, _>>())
    }
}
