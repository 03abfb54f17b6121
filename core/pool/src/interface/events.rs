//! The kinds of event, and what each carries.

use serde_json::{Value, json};

/// The kinds of event; the number is the bit in a C mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum EventKind {
    /// An entry changed its visible state.
    StatusChanged = 0,
    /// Tools of a session's view came, went or changed.
    ToolsChanged = 1,
    /// Prompts of a session's view came, went or changed.
    PromptsChanged = 2,
    /// Resources of a session's view came, went or changed.
    ResourcesChanged = 3,
    /// A subscribed resource was updated.
    ResourceUpdated = 4,
    /// A held connection was lost.
    Disconnected = 5,
    /// A held connection is back.
    Reconnected = 6,
    /// A held connection is gone for good.
    Failed = 7,
    /// Progress of a call.
    Progress = 8,
    /// A log message of a server.
    Log = 9,
    /// A line that a server wrote to stderr.
    Stderr = 10,
    /// Servers wait for approval.
    ApprovalNeeded = 11,
    /// A server wants credentials.
    AuthRequired = 12,
    /// The budget is nearly used up.
    BudgetWarning = 13,
    /// Servers refused in one pass.
    RefusedBatch = 14,
    /// A source of configuration changed.
    SourceChanged = 15,
    /// A source of configuration is broken.
    SourceError = 16,
    /// A reconcile ended.
    Reconciled = 17,
    /// A changed tool waits to be accepted.
    ToolQuarantined = 18,
    /// A server of the session became ready.
    ServerReady = 19,
    /// Something the operator should know.
    Warning = 20,
    /// A person has done what a server wanted done at an address.
    ElicitationCompleted = 21,
    /// The subscriber was too slow; events were dropped.
    Lagged = 63,
}

/// The `scope` of an event's envelope: whom it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EnvelopeScope {
    /// The pool; every subscriber of the pool gets it.
    Pool,
    /// One session.
    Session,
    /// The pool, told to every session: summing over sessions counts it as often as there are
    /// sessions (SPEC 9.5).
    Workspace,
    /// The subscriber itself.
    Subscriber,
}

impl EnvelopeScope {
    /// The word in the envelope.
    pub fn as_str(self) -> &'static str {
        match self {
            EnvelopeScope::Pool => "pool",
            EnvelopeScope::Session => "session",
            EnvelopeScope::Workspace => "workspace",
            EnvelopeScope::Subscriber => "subscriber",
        }
    }
}

/// One member of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayloadField {
    /// Its name.
    pub name: &'static str,
    /// Its JSON type.
    pub kind: &'static str,
    /// Whether it can be absent.
    pub presence: Presence,
}

/// Whether a member is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always.
    Required,
    /// Not always.
    Optional,
}

/// One kind of event, as all languages know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventRow {
    /// The kind; its number is the bit of the C mask.
    pub kind: EventKind,
    /// Its `type`.
    pub name: &'static str,
    /// Whom it concerns.
    pub scope: EnvelopeScope,
    /// What it carries besides the envelope.
    pub payload: &'static [PayloadField],
    /// When it occurs.
    pub doc: &'static str,
}

const fn field(name: &'static str, kind: &'static str) -> PayloadField {
    PayloadField { name, kind, presence: Presence::Required }
}

const fn optional(name: &'static str, kind: &'static str) -> PayloadField {
    PayloadField { name, kind, presence: Presence::Optional }
}

/// What every event carries.
pub(super) const ENVELOPE: &[PayloadField] = &[
    field("v", "integer"),
    field("seq", "integer"),
    field("type", "string"),
    field("scope", "string"),
    optional("session", "string"),
    optional("server", "string"),
    optional("entry_index", "integer"),
    optional("generation", "integer"),
];

const LIST_CHANGE: &[PayloadField] = &[
    field("added", "array of strings"),
    field("removed", "array of strings"),
    field("changed", "array of strings"),
    field("revision", "integer"),
];

/// Writes the table once: the rows, and exhaustive mappings from kind to name and scope.
macro_rules! events {
    ($($kind:ident $name:literal $scope:ident $payload:expr, $doc:literal;)*) => {
        /// Every kind of event, by number.
        pub const EVENTS: &[EventRow] = &[$(EventRow {
            kind: EventKind::$kind,
            name: $name,
            scope: EnvelopeScope::$scope,
            payload: $payload,
            doc: $doc,
        },)*];

        impl EventKind {
            /// Every kind, by number.
            pub const ALL: &[EventKind] = &[$(EventKind::$kind,)*];

            /// The `type` of its events.
            pub fn name(self) -> &'static str {
                match self {
                    $(EventKind::$kind => $name,)*
                }
            }

            /// The `scope` of its events.
            pub fn scope(self) -> EnvelopeScope {
                match self {
                    $(EventKind::$kind => EnvelopeScope::$scope,)*
                }
            }
        }
    };
}

events! {
    StatusChanged "status_changed" Pool
        &[optional("from", "string"), field("to", "string"), field("reason", "string")],
        "an entry changed its visible state; `from` is absent for a new one";
    ToolsChanged "tools_changed" Session LIST_CHANGE,
        "tools of the session's view came, went or changed; what the session gives up itself, by the release of a lease, is not told";
    PromptsChanged "prompts_changed" Session LIST_CHANGE,
        "prompts of the session's view came, went or changed";
    ResourcesChanged "resources_changed" Session LIST_CHANGE,
        "resources or resource templates came, went or changed";
    ResourceUpdated "resource_updated" Session &[field("uri", "string")],
        "a resource that the session subscribed to was updated; of a modern server also a part of it, by the `uri` of the whole";
    Disconnected "disconnected" Session &[field("reason", "string"), optional("error", "object")],
        "a held connection was lost; `error` says by what, such as the exit status of its process, where the pool did not end it";
    Reconnected "reconnected" Session &[field("attempts", "integer"), field("downtime_ms", "integer")],
        "a held connection is back";
    Failed "failed" Session &[field("error", "object")],
        "a held connection is gone until somebody asks for it";
    Progress "progress" Session
        &[
            field("call", "integer"),
            field("progress", "number"),
            optional("total", "number"),
            optional("message", "string"),
        ],
        "progress of a call that asked for it";
    Log "log" Session &[field("level", "string"), optional("logger", "string"), field("data", "any")],
        "a log message of a server";
    Stderr "stderr" Pool &[field("line", "string")],
        "a line that a server wrote to its stderr, escaped";
    ApprovalNeeded "approval_needed" Pool &[field("requests", "array of objects")],
        "which servers wait for approval, whenever that set changed";
    AuthRequired "auth_required" Pool
        &[
            optional("url", "string"),
            optional("missing", "string"),
            optional("scope", "string"),
            optional("resource_metadata", "string"),
        ],
        "a server wants credentials";
    BudgetWarning "budget_warning" Workspace
        &[
            field("live", "integer"),
            field("reserved", "integer"),
            field("budget", "integer"),
            field("ratio", "number"),
            field("mode", "string"),
        ],
        "the budget of servers is nearly used up; told to every session";
    RefusedBatch "refused_batch" Workspace
        &[
            field("mode", "string"),
            field("budget", "integer"),
            field("live", "integer"),
            field("reserved", "integer"),
            field("refused", "array of objects"),
        ],
        "servers that one pass refused; told to every session";
    SourceChanged "source_changed" Pool
        &[
            field("source", "string"),
            field("accepted", "boolean"),
            optional("findings", "array of objects"),
        ],
        "a source of configuration changed; one that is not accepted keeps its last good state; `findings` says what of it has no effect, if anything";
    SourceError "source_error" Pool
        &[
            field("source", "string"),
            optional("path", "string"),
            optional("line", "integer"),
            field("message", "string"),
        ],
        "a source of configuration cannot be read; its last good state stays";
    Reconciled "reconciled" Pool &[field("servers", "object")],
        "a reconcile that changed something ended; per server what happened and why";
    ToolQuarantined "tool_quarantined" Session &[field("tool", "string"), field("difference", "object")],
        "a changed tool waits to be accepted";
    ServerReady "server_ready" Session &[field("left", "array of strings")],
        "a server of the session became ready; `left` names those still under way";
    Warning "warning" Pool &[field("code", "string"), field("message", "string")],
        "a fact that the operator should know";
    ElicitationCompleted "elicitation_completed" Session &[field("elicitation_id", "string")],
        "a server says that what it asked the session to have opened, by `elicitation_url` or in an error, is over; a call that waits for it can be repeated";
    Lagged "lagged" Subscriber &[field("missed", "integer")],
        "the subscriber was too slow for as many events, or for as long ones, and so many were dropped";
}

impl EventKind {
    /// The kind of a `type`.
    pub fn from_name(name: &str) -> Option<EventKind> {
        EventKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Its bit in a mask.
    pub fn bit(self) -> u64 {
        1 << (self as u8)
    }

    /// Its row in the registry.
    pub fn row(self) -> &'static EventRow {
        EVENTS
            .iter()
            .find(|row| row.kind == self)
            .expect("the one macro that writes EVENTS writes every kind that `name` knows")
    }
}

impl PayloadField {
    /// Its place in the registry as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.kind,
            "required": self.presence == Presence::Required,
        })
    }
}

impl EventRow {
    /// Its place in the registry as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "bit": self.kind as u8,
            "type": self.name,
            "scope": self.scope.as_str(),
            "payload": self.payload.iter().map(PayloadField::to_json).collect::<Vec<_>>(),
            "doc": self.doc,
        })
    }
}
