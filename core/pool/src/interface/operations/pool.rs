//! The operations of a pool: its sessions, its state, its end.

use super::build::{fails, fails_when, later, now, parameter};
use super::operation::{Gives, Language, Operation, Owner, Spelling};
use super::parameters::ParameterKind as Kind;
use crate::interface::ErrorCode::{
    Cancelled, Closed, Closing, Forked, InvalidArgument, InvalidConfig, Limit, StaleApproval,
    Timeout, ToolNotFound, UnknownOption,
};
use crate::interface::OptionScope;

pub(super) const ROWS: &[Operation] = &[
    now(Owner::Pool, "new", "Makes a pool with nothing in it. Returns at once.")
        .takes(&[HANDLERS])
        .options(OptionScope::Pool)
        .gives(Gives::Object, "Pool", "the pool; {pool.close} ends it")
        .errors(&[
            fails(UnknownOption),
            fails_when(InvalidArgument, "(also when `workers` conflicts with a pool that is there)"),
            fails_when(Limit, "when too many pools are there, or no thread can be started"),
        ])
        .python(Spelling::As("__init__"))
        .node(Spelling::As("constructor"))
        .by_hand(&Language::ALL),
    now(
        Owner::Pool,
        "session",
        "Opens a session. Returns at once; the servers that it wants start in the background, and {session.started} and {session.ready} wait for them.",
    )
    .takes(&[parameter("id", Kind::SessionId, "of the conversation; no live session has it"), HANDLERS])
    .options(OptionScope::Session)
    .gives(Gives::Object, "Session", "the session; {session.close} ends it")
    .errors(&[
        fails(UnknownOption),
        fails_when(InvalidArgument, "(also when a live session has that id)"),
        fails(Closing),
        fails(Closed),
        fails(Limit),
        fails(Forked),
    ])
    .c(Spelling::As("trunkline_session_open"))
    .by_hand(&Language::ALL),
    later(
        Owner::Pool,
        "acquire",
        "A lease on a server by its configuration, for a session by its id. It opens the session if need be, puts the server into the session's own source, and waits until it is connected.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter("config", Kind::Config, "what the settings of one server have (`{\"command\": ...}`)"),
        parameter("session", Kind::SessionId, "its id"),
    ])
    .options(OptionScope::Acquire)
    .gives(Gives::Lease, "Lease", "the lease; {lease.release} gives it up")
    .errors_of("session.acquire"),
    later(
        Owner::Pool,
        "restart",
        "Replaces the connections of a server's entries, or of one of them, and waits for the new ones.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter("index", Kind::Index, "of the one entry"),
    ])
    .gives(
        Gives::Report,
        "RestartReport",
        "a report with `{entry_index, restarted, duration_ms | reason}` for each entry; the reason is `in_flight`, `disabled`, `auth_required`, `not_admitted`, `budget_would_exceed`, `superseded` (the server is configured otherwise now, or no more), `failed` or `closing`",
    )
    .errors(ENDED),
    later(
        Owner::Pool,
        "accept_tool",
        "Accepts the definition of a tool that is kept back. From then on it is listed and can be called in every session, and, of a server that needed approval, in later processes. Accepting again does nothing.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter("tool", Kind::Text, "the server's own name"),
        parameter(
            "digest",
            Kind::Text,
            "`difference.to` of the `tool_quarantined` event, or of the status, so that what is accepted is what was shown",
        ),
    ])
    .errors(&[
        fails_when(StaleApproval, "when the tool has changed again since"),
        fails_when(ToolNotFound, "when the server lists no tool of that name now"),
        fails(Limit),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails_when(InvalidArgument, "(also for a server that the pool never saw)"),
    ]),
    later(
        Owner::Pool,
        "set_roots",
        "Replaces the folders that servers are told of, and waits until they are looked at. Servers that can be told are told so, and the lists of every connection are asked for again, in the background. Folders that are equal to those before do nothing. Changes are made in the order of the calls. A file system that does not answer delays this change and later ones, and nothing else. A cancellation takes no begun change back.",
    )
    .takes(&[parameter(
        "roots",
        Kind::Roots,
        "absolute, or relative to the workspace, as the option `roots` of the pool",
    )])
    .errors(&[
        fails_when(
            InvalidArgument,
            "(with `detail.path`, `roots[0]`) for one that is not a folder, with nothing changed",
        ),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
    ]),
    now(
        Owner::Pool,
        "set_gates",
        "Replaces the lists of servers that may run, within the pool's option `launch_allowed`. A server that is no longer admitted ends at once. A server that is admitted again starts in the sessions that want it. A lease on a server that was kept out stays closed. Equal lists do nothing. Returns at once.",
    )
    .takes(&[parameter(
        "gates",
        Kind::Gates,
        "any of `allowed`, `excluded` and `pending`, lists of patterns of names (`*` any characters, `?` one). What is absent is not kept: without `allowed` all may run, and an empty list is none",
    )])
    .gives(
        Gives::Report,
        "GateReport",
        "the report `{v, servers: {name: {admitted, reason?}}}` of the servers about which it changed",
    )
    .errors(&[
        fails(UnknownOption),
        fails(InvalidArgument),
        fails(Closing),
        fails(Closed),
        fails(Forked),
    ]),
    now(
        Owner::Pool,
        "explain",
        "Says why the pool has a server, or a tool by its exposed name, or has not. {session.explain} says what a session hides or switches off. Returns at once.",
    )
    .takes(&[parameter("name", Kind::Text, "")])
    .gives(
        Gives::Report,
        "Explanation",
        "`{v, name, kind, server?, available, reason?, message, from?, remedy?}` with the kind `server` or `tool`, and in `from` the `source`, `file`, `line` and `list` that decide",
    )
    .errors(&[fails(InvalidArgument), fails(Forked)]),
    now(
        Owner::Pool,
        "status",
        "The whole pool: servers, entries, processes. It always works, and never shows a secret. With `processes` it looks at more than the pool's own state.",
    )
    .options(OptionScope::Status)
    .gives(Gives::Report, "Status", "the status")
    .errors(&[fails(Forked), fails(InvalidArgument), fails(UnknownOption)])
    .c(Spelling::As("trunkline_pool_status_with")),
    now(
        Owner::Pool,
        "metrics",
        "Gives the counts of the status in the text format of Prometheus (0.0.4), for the host to serve. Its labels are names of servers, methods of the protocol and codes of errors: nothing that a model or a server writes.",
    )
    .options(OptionScope::Status)
    .gives(Gives::Text, "string", "the text")
    .errors(&[fails(Forked), fails(InvalidArgument), fails(UnknownOption)]),
    now(
        Owner::Pool,
        "events",
        "Subscribes to events of the pool and its sessions, from now on. It ends with the pool. At most `limits.event_backlog` events wait, and what does not fit is counted in one `lagged` event.",
    )
    .takes(&[KINDS])
    .gives(Gives::Object, "EventStream", "the events, and the state that they continue, `{v, seq, status}`")
    .errors(&[fails(Limit), fails(Closed), fails(Forked), fails(InvalidArgument)])
    .c(Spelling::As("trunkline_pool_subscribe"))
    .by_hand(&Language::ALL),
    later(
        Owner::Pool,
        "drain_all",
        "Ends every connection, one-way: later acquires, reconciles and restarts are refused as `closing`. With `force`, calls under way are interrupted at once; otherwise they may finish until the time is over. A cancellation ends the wait alone: the drain goes on.",
    )
    .options(OptionScope::Drain)
    .gives(
        Gives::Report,
        "DrainReport",
        "the report, `{v, drained, forced, errors: [{server, entry_index, error}]}`",
    )
    .errors(&[
        fails(Closed),
        fails(UnknownOption),
        fails(Cancelled),
        fails(Forked),
        fails(InvalidArgument),
    ]),
    later(
        Owner::Pool,
        "close",
        "Drains, then ends every subscription. With `force`, calls under way are interrupted at once; otherwise they may finish for `timeout_ms`, or the pool's `close_timeout_ms`. A second close waits for the first, and hurries it. To cancel it ends the wait alone: the close goes on.",
    )
    .options(OptionScope::Drain)
    .errors(&[
        fails_when(Timeout, "when a callback of C has not returned in time"),
        fails(Forked),
        fails(InvalidArgument),
    ])
    .notes(&[(
        Language::C,
        "It takes `timeout_ms` for everything together, and no `force`: 0 has that effect. What is called on the pool afterwards answers `CLOSED`, until `trunkline_pool_free`.",
    )])
    .by_hand(&Language::ALL),
    later(
        Owner::Pool,
        "reconcile",
        "Makes these servers the pool's run-time source, and waits until that is done. New servers start in the sessions that want them; removed ones are released; equal ones stay untouched. A cancellation takes no begun change back.",
    )
    .takes(&[parameter("servers", Kind::Servers, "with or without a `mcpServers` around them")])
    .gives(
        Gives::Report,
        "ReconcileReport",
        "the report, `{v, servers: {name: {action, error?}}, findings?}`, with the members that no rule knows as `[{kind, server, path, nearest?}]`",
    )
    .errors(&[
        fails_when(
            InvalidConfig,
            "when it is not an object of servers (a server that is wrong spoils itself alone, in the report)",
        ),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails(InvalidArgument),
    ]),
];

const HANDLERS: super::parameters::Parameter = parameter(
    "handlers",
    Kind::Functions,
    "what answers the servers of sessions; may be absent, and a session has the pool's where one is missing",
);

pub(super) const KINDS: super::parameters::Parameter =
    parameter("kinds", Kind::Functions, "the types of the events that are wanted; all by default");

/// The errors of an operation on a pool that may be over.
pub(super) const ENDED: &[super::operation::Failure] =
    &[fails(Closing), fails(Closed), fails(Cancelled), fails(Forked), fails(InvalidArgument)];
