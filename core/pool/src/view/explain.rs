//! Why a server or a tool is not there, in a sentence, and what can be done about it (SPEC 11.6).

use serde_json::{Map, Value, json};

pub use crate::error::Reason;
use crate::view::{UnknownServer, Unmatched};

#[cfg(test)]
mod tests;

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
            (Some(server), Some(reason)) => format!("`{server}` {}", reason.sentence()),
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
