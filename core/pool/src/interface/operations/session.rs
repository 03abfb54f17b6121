//! The operations of a session.

use super::build::{fails, fails_when, later, now, parameter, sends};
use super::operation::{Failure, Gives, Language, Operation, Owner, Spelling};
use super::parameters::{Parameter, ParameterKind as Kind};
use super::pool::KINDS;
use crate::interface::ErrorCode::{
    BadHandle, Cancelled, Closed, Closing, ConnectFailed, CrashLoop, Exited, Forked,
    InvalidArgument, InvalidConfig, Limit, NotAdmitted, Protocol, SpawnFailed, Timeout,
    Unavailable, UnknownOption,
};
use crate::interface::OptionScope;

pub(super) const ROWS: &[Operation] = &[
    later(
        Owner::Session,
        "acquire",
        "An explicit lease on a server, once it is connected. Every acquire gives a lease of its own.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter(
            "config",
            Kind::OptionalConfig,
            "none for a server that the pool knows; otherwise what the settings of one server have, which is first put into the session's own source",
        ),
    ])
    .options(OptionScope::Acquire)
    .gives(Gives::Lease, "Lease", "the lease; {lease.release} gives it up")
    .errors(&[
        fails(InvalidConfig),
        fails(NotAdmitted),
        fails(SpawnFailed),
        fails(ConnectFailed),
        fails(Exited),
        fails(Protocol),
        fails(Timeout),
        fails(Limit),
        fails(CrashLoop),
        fails(Cancelled),
        fails(Closing),
        fails(Closed),
        fails(BadHandle),
        fails(UnknownOption),
        fails(Forked),
        fails(InvalidArgument),
    ]),
    later(
        Owner::Session,
        "started",
        "Waits until each server that the session wants is ready, has failed or sleeps, and says how each of them stands. The wait ends `start_gate_ms` of the pool after the session's opening. A slow or failed server is no error; events tell what comes later.",
    )
    .gives(
        Gives::Report,
        "StartedReport",
        "`{v, servers: {name: {state, deferred?, error?}}}` with the state `ready`, `failed`, `waiting` or `asleep`; `deferred` is there while it waits or sleeps, and counts the tools that are listed of what is kept",
    )
    .errors(HELD),
    later(
        Owner::Session,
        "ready",
        "Waits until every server that the session wants is ready, has failed or sleeps. One that sleeps is listed and runs for calls only; its last start may have failed, which {session.started} says.",
    )
    .takes(&[
        parameter(
            "server",
            Kind::OptionalText,
            "none waits for all servers: it retries none, and a failed server is no error; the status, {session.started} and the log have it. Otherwise it waits for that server alone, and retries it once if it failed; its failure is the error",
        ),
        parameter("timeout", Kind::Timeout, "no limit but those of the connects"),
    ])
    .errors(&[
        fails(Timeout),
        fails(Cancelled),
        fails(Closed),
        fails(BadHandle),
        fails(Forked),
        fails(InvalidArgument),
    ])
    .errors_of("session.acquire")
    .by_hand(&[Language::Node]),
    later(
        Owner::Session,
        "refresh",
        "Reads the lists of a server anew, for servers that announce nothing, and waits until they are in force. The call acquires the server: it first connects to a sleeping or lost one. A list that fails alone keeps its last state, and a `warning` says so.",
    )
    .takes(SERVER)
    .errors(&[
        fails_when(Unavailable, "when the connection was lost meanwhile, or why no list could be had"),
        fails(Cancelled),
        fails(Closed),
        fails(BadHandle),
        fails(Forked),
        fails(InvalidArgument),
    ])
    .errors_of("session.acquire"),
    later(
        Owner::Session,
        "listed",
        "Waits until no list of the session's servers is being read or owed, at most 5 s. A list that a server announced before a result is then among the session's. Most often it does not wait.",
    )
    .takes(&[parameter("server", Kind::OptionalText, "none for all; otherwise this one alone")])
    .errors(HELD),
    now(
        Owner::Session,
        "introduction",
        "Gives what a server that the session holds said of itself, as {lease.introduction} has it.",
    )
    .takes(SERVER)
    .gives(Gives::Introduction, "Introduction | null", "what {lease.introduction} gives")
    .errors(&[
        fails_when(NotAdmitted, "for a server that nobody has configured"),
        fails(Closed),
        fails(BadHandle),
        fails(Forked),
        fails(InvalidArgument),
    ]),
    now(
        Owner::Session,
        "tools",
        "The tools of the session's view. A first list is sorted by exposed name; after that, tools that were listed keep their places within the session, and new ones come after them.",
    )
    .gives(
        Gives::Listed,
        "List<ListedItem>",
        "a list of `{name, server, own_name, trust, always_load, deferred, definition}`, the definitions as the servers sent them; it has a number, its revision",
    )
    .errors(SEEN)
    .notes(&[(Language::C, "`trunkline_buf_revision` says the number of the list.")]),
    now(
        Owner::Session,
        "tools_for",
        "The tools of the session's view in the shape in which a model API takes them, in the order and with the number of {session.tools}. Schemas are as the servers sent them, without the parts that the API refuses. An argument whose name the API refuses has another one; a call with the option `shape` gives it back its own.",
    )
    .takes(&[parameter(
        "shape",
        Kind::Shape,
        "`mcp`, `openai` (Chat Completions), `openai_responses`, `anthropic`, `gemini` or `any` (definitions whose schemas each of them takes)",
    )])
    .gives(Gives::Listed, "List<JsonObject>", "a list of tools")
    .errors(&[
        fails(Closed),
        fails(BadHandle),
        fails(Forked),
        fails_when(InvalidArgument, "(`detail.path` is `shape`)"),
    ])
    .notes(&[(Language::Python, "A tool that Python cannot decode is left out and logged.")])
    .by_hand(&[Language::Python, Language::Node]),
    now(Owner::Session, "prompts", "The prompts of the session's view, as of {session.tools}.")
        .gives(Gives::Listed, "List<ListedItem>", "what {session.tools} gives")
        .errors(SEEN),
    now(
        Owner::Session,
        "resources",
        "The resources of the session's view, as of {session.tools}; names are URIs.",
    )
    .gives(Gives::Listed, "List<ListedItem>", "what {session.tools} gives")
    .errors(SEEN),
    now(
        Owner::Session,
        "resource_templates",
        "The resource templates of the session's view, as of {session.tools}; names are URI templates.",
    )
    .gives(Gives::Listed, "List<ListedItem>", "what {session.tools} gives")
    .errors(SEEN),
    now(
        Owner::Session,
        "configure",
        "Changes what a session sees and wants, at once and without touching a connection. Each option replaces its old value; an absent one stays. Events tell the difference; equal options change nothing. The servers of its own connections hear of other `roots`, and their lists are read again. This thread looks at the folders, and a file system may keep it waiting.",
    )
    .options(OptionScope::Configure)
    .errors(&[
        fails(UnknownOption),
        fails(Closed),
        fails(BadHandle),
        fails(Forked),
        fails(InvalidArgument),
    ]),
    now(
        Owner::Session,
        "provide",
        "Provides a server of the host's own to this session alone, for {session.acquire}; it is never shared. Each connection with it begins the protocol anew: a server that is lost is connected again, with another connection. Providing a name again replaces it for acquires to come.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter(
            "receive",
            Kind::Functions,
            "gets the messages of the pool, one JSON-RPC message each, and answers by the connection; may be absent beside it: what is told last that a connection is over",
        ),
    ])
    .errors(&[
        fails_when(InvalidConfig, "for a bad name"),
        fails(Closed),
        fails(BadHandle),
        fails(Forked),
        fails(InvalidArgument),
    ])
    .by_hand(&Language::ALL),
    now(
        Owner::Session,
        "explain",
        "Says why this session has a server, or a tool by its exposed name, or has not. Beside what {pool.explain} says, the session's own servers, holds, switches and filters count.",
    )
    .takes(&[parameter("name", Kind::Text, "")])
    .gives(Gives::Report, "Explanation", "what {pool.explain} gives")
    .errors(&[fails(InvalidArgument), fails(Closed), fails(BadHandle), fails(Forked)]),
    now(
        Owner::Session,
        "disable",
        "Takes a server away from this session alone: its tools, prompts and resources go, its calls are refused with the reason `disabled`, and the session holds it no longer. Calls under way finish. Its leases stay, of no use until {session.enable}. Repeating it does nothing.",
    )
    .takes(SERVER)
    .errors(SWITCHED),
    now(
        Owner::Session,
        "enable",
        "Undoes {session.disable}: the session acquires the server again in the background, and `tools_changed` tells when it is back. Repeating it does nothing.",
    )
    .takes(SERVER)
    .errors(SWITCHED),
    sends(
        Owner::Session,
        "call_tool",
        "Calls a tool of the session's view by its exposed name (`mcp__server__tool`).",
    )
    .takes(&[
        parameter("tool", Kind::Text, ""),
        parameter("arguments", Kind::Arguments, "as of {lease.call_tool}"),
    ])
    .gives(Gives::Call, "CallResult", "what {lease.call_tool} gives")
    .errors_of("lease.call_tool"),
    sends(
        Owner::Session,
        "request",
        "Sends any other request of the protocol to a server, as {lease.request}. The server is acquired for that: one that sleeps is connected to first, within the request's time.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter("method", Kind::Text, ""),
        parameter("params", Kind::OptionalParams, "as of {lease.request}"),
    ])
    .gives(Gives::Call, "Result", "what {lease.request} gives")
    .errors(REQUESTED)
    .errors_of("lease.request"),
    sends(Owner::Session, "read_resource", "Reads a resource of a server, text or base64, as of {session.request}.")
        .takes(&[parameter("server", Kind::Text, ""), parameter("uri", Kind::Text, "")])
        .gives(Gives::Call, "ResourceResult", "the result")
        .errors_of("session.request")
        .c(Spelling::Absent("`trunkline_session_request`")),
    sends(
        Owner::Session,
        "get_prompt",
        "Gets a prompt of a server, filled in with its arguments, as of {session.request}.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter("name", Kind::Text, "the server's own name"),
        parameter("arguments", Kind::TextArguments, ""),
    ])
    .gives(Gives::Call, "PromptResult", "the result")
    .errors_of("session.request")
    .c(Spelling::Absent("`trunkline_session_request`")),
    sends(
        Owner::Session,
        "complete",
        "Asks a server for completions of an argument of a prompt or resource template, as of {session.request}.",
    )
    .takes(&[parameter("server", Kind::Text, ""), parameter("params", Kind::Params, "those of the request")])
    .gives(Gives::Call, "CompletionResult", "the result")
    .errors_of("session.request")
    .c(Spelling::Absent("`trunkline_session_request`")),
    now(
        Owner::Session,
        "events",
        "Subscribes to the events of this session, as of {pool.events}. It ends with the session.",
    )
    .takes(&[KINDS])
    .gives(Gives::Object, "EventStream", "what {pool.events} gives")
    .errors_of("pool.events")
    .c(Spelling::As("trunkline_session_subscribe"))
    .by_hand(&Language::ALL),
    now(
        Owner::Session,
        "close",
        "Ends a session: its calls are cancelled, and its holds on servers go. Its leases answer `closed`. Returns at once.",
    )
    .takes(&[parameter(
        "keep_for",
        Kind::Timeout,
        "what its options say: how long its holds stay, for a session of the same id that is opened meanwhile",
    )])
    .errors(&[fails(BadHandle), fails(Forked), fails(InvalidArgument)])
    .by_hand(&Language::ALL),
];

const SERVER: &[Parameter] = &[parameter("server", Kind::Text, "")];

/// The errors of what waits for a session that may be over.
const HELD: &[Failure] =
    &[fails(Cancelled), fails(Closed), fails(BadHandle), fails(Forked), fails(InvalidArgument)];

/// The errors of a look at a session.
const SEEN: &[Failure] = &[fails(Closed), fails(BadHandle), fails(Forked), fails(InvalidArgument)];

/// The errors of a request to a server that may have to be connected to first.
const REQUESTED: &[Failure] =
    &[fails_when(NotAdmitted, "and the others of {session.acquire}, with nothing sent")];

/// The errors of switching a server off and on.
const SWITCHED: &[Failure] = &[
    fails(NotAdmitted),
    fails(InvalidConfig),
    fails(Closed),
    fails(BadHandle),
    fails(Forked),
    fails(InvalidArgument),
];
