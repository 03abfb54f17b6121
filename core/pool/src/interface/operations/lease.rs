//! The operations of a lease.

use super::build::{fails, fails_when, later, now, parameter, sends};
use super::operation::{Failure, Gives, Language, Operation, Owner, Spelling};
use super::parameters::ParameterKind as Kind;
use crate::interface::ErrorCode::{
    BadHandle, CallInterrupted, Cancelled, Closed, Forked, InvalidArgument, Limit, Protocol,
    ServerError, Timeout, ToolNotFound, Unavailable,
};

pub(super) const ROWS: &[Operation] = &[
    now(Owner::Lease, "describe", "What a lease holds.")
        .gives(
            Gives::Report,
            "",
            "`{v, server, entry_index, generation, state}`. The index is stable per server name, and the generation grows with each reconnect",
        )
        .errors(HELD)
        .python(Spelling::Absent("properties of the lease"))
        .node(Spelling::Absent("properties of the lease"))
        .by_hand(&[Language::C]),
    now(
        Owner::Lease,
        "introduction",
        "Gives what the server of a lease said of itself at its last connection. Returns at once.",
    )
    .gives(
        Gives::Introduction,
        "Introduction | null",
        "`{protocol_version, server_info, capabilities, instructions}`, the values in the protocol's spelling, unverified, and without the secrets that the server has of the host; nothing before it was connected to",
    )
    .errors(HELD),
    now(
        Owner::Lease,
        "tools",
        "The tools of this server in the session's view, as of {session.tools}.",
    )
    .gives(Gives::Listed, "ListedItem[]", "what {session.tools} gives")
    .errors(&[fails(Closed), fails(BadHandle), fails(Forked), fails(InvalidArgument)]),
    sends(Owner::Lease, "call_tool", "Calls a tool by the server's own name. An error of a call that may have reached the server has an `outcome`, and the arguments.")
        .takes(&[
            parameter("tool", Kind::Text, ""),
            parameter("arguments", Kind::Arguments, "an object; none for `{}`"),
        ])
        .gives(
            Gives::Call,
            "CallResult",
            "the result exactly as the server sent it, which may say that the tool failed (`isError`)",
        )
        .errors(&[
            fails(ToolNotFound),
            fails(ServerError),
            fails(Timeout),
            fails(Cancelled),
            fails(Unavailable),
            fails(CallInterrupted),
            fails(Protocol),
            fails(Limit),
            fails(Closed),
            fails(BadHandle),
            fails(Forked),
            fails(InvalidArgument),
        ])
        .notes(&[(
            Language::Python,
            "In asyncio, cancelling the task cancels the call. `progress` is a callable that gets each `progress` event before the result, in asyncio also an `async` one, and on the loop; `True` leaves them to the session's streams. A `progressToken` in `meta` does not go out: the library has its own.",
        )]),
    sends(
        Owner::Lease,
        "request",
        "Sends any other request of the protocol, and gives its result undecoded. The common ones and their parameters: `resources/read` `{\"uri\"}`, `prompts/get` `{\"name\", \"arguments\"?}`, `completion/complete` `{\"ref\", \"argument\", \"context\"?}`, `logging/setLevel` `{\"level\"}`.",
    )
    .takes(&[
        parameter("method", Kind::Text, ""),
        parameter("params", Kind::OptionalParams, "an object; none for `{}`"),
    ])
    .gives(Gives::Call, "Result", "the result exactly as the server sent it")
    .errors(&[fails_when(
        InvalidArgument,
        "for `initialize`, for calls of tools and for subscriptions, which have functions of their own, and for a prompt that the view does not have",
    )])
    .errors_of("lease.call_tool"),
    sends(Owner::Lease, "read_resource", "Reads a resource, text or base64.")
        .takes(&[parameter("uri", Kind::Text, "")])
        .gives(Gives::Call, "ResourceResult", "the result")
        .errors_of("lease.request")
        .c(Spelling::Absent("`trunkline_lease_request`")),
    sends(Owner::Lease, "get_prompt", "Gets a prompt, filled in with its arguments.")
        .takes(&[
            parameter("name", Kind::Text, ""),
            parameter("arguments", Kind::TextArguments, ""),
        ])
        .gives(Gives::Call, "PromptResult", "the result")
        .errors_of("lease.request")
        .c(Spelling::Absent("`trunkline_lease_request`")),
    sends(
        Owner::Lease,
        "complete",
        "Asks for completions of an argument of a prompt or resource template, with the params of the request.",
    )
    .takes(&[parameter("params", Kind::Params, "")])
    .gives(Gives::Call, "CompletionResult", "the result")
    .errors_of("lease.request")
    .c(Spelling::Absent("`trunkline_lease_request`")),
    later(
        Owner::Lease,
        "subscribe_resource",
        "Subscribes the session to updates of a resource. They come as `resource_updated` events. A modern server also sends those of a part, by the `uri` of the whole. All leases of the session share one count: each subscription needs its {lease.unsubscribe_resource}.",
    )
    .takes(&[parameter("uri", Kind::Text, "")])
    .errors_of("lease.request"),
    later(
        Owner::Lease,
        "unsubscribe_resource",
        "The counterpart of {lease.subscribe_resource}: with the last the session gets no more updates. Without any it does nothing.",
    )
    .takes(&[parameter("uri", Kind::Text, "")])
    .errors_of("lease.request"),
    now(
        Owner::Lease,
        "release",
        "Gives a lease up. Calls under way go on. Returns at once.",
    )
    .errors(HELD)
    .notes(&[
        (
            Language::C,
            "The handle is bad from here on: a second release answers `BAD_HANDLE` and does nothing.",
        ),
        (Language::Python, "Repeating it does nothing."),
        (Language::Node, "Repeating it does nothing."),
    ])
    .by_hand(&Language::ALL),
];

/// The errors of a look at a lease.
const HELD: &[Failure] = &[fails(BadHandle), fails(Forked), fails(InvalidArgument)];
