//! The operations of a pool that configure it: its sources, the trust in them, sign-ins.

use super::build::{fails, fails_when, later, now, parameter};
use super::operation::{Failure, Gives, Operation, Owner};
use super::parameters::{Parameter, ParameterKind as Kind};
use super::pool::ENDED;
use crate::interface::ErrorCode::{
    AuthRequired, Cancelled, Closed, Closing, ConnectFailed, Forked, InvalidArgument,
    InvalidConfig, Limit, Protocol, StaleApproval, Store, Timeout, UnknownOption,
};
use crate::interface::OptionScope;

pub(super) const ROWS: &[Operation] = &[
    later(
        Owner::Pool,
        "load",
        "Reads a settings file into the source that its place implies, and waits until that is done. Inside of the workspace that is `workspace`, or `project` for its `.mcp.json`; outside, what the file is known as ({library.detect}), else `user`. Servers of the project and the workspace wait for approval ({pool.approve}). A cancellation takes no begun work back.",
    )
    .takes(&[parameter(
        "path",
        Kind::Path,
        "absolute, or relative to the process's folder",
    )])
    .options(OptionScope::Load)
    .gives(
        Gives::Report,
        "SourceReport",
        "the report, `{v, source, servers: {name: {action, source?, reason?, error?}}, findings}`. `findings` says what of the text is without effect: `[{kind, path, line, column, server?, what?}]`",
    )
    .errors(&[
        fails_when(
            InvalidConfig,
            "(with `detail.source`, and `detail.line` where the text does not parse) when the file cannot be read, with nothing changed",
        ),
        fails(UnknownOption),
        fails(InvalidArgument),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
    ]),
    now(
        Owner::Pool,
        "set_source",
        "Replaces a source whole by settings, in any form that settings files have, or removes it. New servers start in the sessions that want them; removed ones are released; equal ones stay untouched. Variables are expanded, and servers of `project` and `workspace` wait for approval. It asks nobody and returns once that is under way. The calling thread looks up programs and files of variables of new servers, and the first time the file of approvals. So it waits for the file system.",
    )
    .takes(&[
        parameter(
            "source",
            Kind::Source,
            "a scope (`user`, `project`, `workspace`, `managed`, `session`, `launch` or `extension`), or one with a name after a colon, such as `extension:git`",
        ),
        parameter("settings", Kind::Settings, "as a settings file; none removes the source"),
    ])
    .gives(Gives::Report, "SourceReport", "the report of {pool.load}")
    .errors(&[
        fails_when(InvalidConfig, "for settings that cannot be read, with `detail.line`"),
        fails_when(InvalidArgument, "(`runtime` has functions of its own)"),
        fails(Closing),
        fails(Closed),
        fails(Forked),
    ]),
    now(
        Owner::Pool,
        "switch_source",
        "Switches a source off, so that it is as if it were empty, or on again. Returns at once, as {pool.set_source}.",
    )
    .takes(&[
        parameter(
            "source",
            Kind::Source,
            "as of {pool.set_source}; a scope alone stands for all of its sources, those that come later included",
        ),
        parameter("to", Kind::Switch, ""),
    ])
    .gives(Gives::Report, "SourceReport", "the report of {pool.load} without `findings`")
    .errors(AT_ONCE),
    now(
        Owner::Pool,
        "add_server",
        "Adds a server to the run-time source, which beats every other, or replaces it there. Its values are taken as they are. Returns at once, as {pool.set_source}.",
    )
    .takes(&[
        parameter("server", Kind::Text, ""),
        parameter("config", Kind::Config, "what the settings of one server have (`{\"command\": ...}`)"),
    ])
    .gives(
        Gives::Report,
        "RuntimeReport<'added' | 'replaced' | 'unchanged' | 'refused'>",
        "`{v, server, result, reason?, findings?}` with the result `added`, `replaced`, `unchanged` or `refused`, which starts when what refuses it is gone, and with the members that no rule knows, as `[{kind, server, path, nearest?}]`",
    )
    .errors(&[
        fails(InvalidConfig),
        fails(InvalidArgument),
        fails(Closing),
        fails(Closed),
        fails(Forked),
    ]),
    now(
        Owner::Pool,
        "remove_server",
        "Takes a server out of the run-time source; what another source says of that name counts again. Returns at once.",
    )
    .takes(&[parameter("server", Kind::Text, "")])
    .gives(
        Gives::Report,
        "RuntimeReport<'removed' | 'not_present'>",
        "`{v, server, result}` with the result `removed` or `not_present`",
    )
    .errors(AT_ONCE),
    later(
        Owner::Pool,
        "set_trusted",
        "Sets whether the workspace is trusted. A server that loses its trust ends at once; one that has it again starts or waits for approval. Files that were not read without trust are read first. Of several calls the last one made holds, no matter how long their files take. A cancellation takes no begun work back.",
    )
    .takes(&[parameter("trusted", Kind::Flag, "")])
    .gives(Gives::Report, "SourceReport", "the report of {pool.approve}")
    .errors(ENDED),
    later(
        Owner::Pool,
        "reload",
        "Reads every loaded file again, and waits until that is done. It looks up anew variables, programs, decisions about servers, and questions without an answer. A file that cannot be read keeps what it had. Files of sources that need trust are not read in a workspace that is not trusted. The event `reconciled` that follows says what became of a `waiting` server. A cancellation takes no begun work back.",
    )
    .options(OptionScope::Reload)
    .gives(
        Gives::Report,
        "ReloadReport",
        "`{v, servers, errors: [{source, error}], findings, reconnected?}`. `findings` are those of every file that was read, as of {pool.load}, each with its `source`. `reconnected` is there when that was asked for: by server the rows of {pool.restart}, or one with an `error` where it could not be begun",
    )
    .errors(&[
        fails(UnknownOption),
        fails(InvalidArgument),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
    ]),
    later(
        Owner::Pool,
        "approvals",
        "Lists what waits for approval and what was decided for this workspace. It reads and follows decisions that another process took meanwhile.",
    )
    .gives(
        Gives::Report,
        "Approvals",
        "`{v, root, requests, decisions: [{server, hash, decision, at_ms}]}`. A request says what would run, with `server` and `hash`. Show `escaped` to decision makers, as it is; `exact` and the file of `origin` hold what the settings hold, control characters and all, and are not for a terminal",
    )
    .errors(&[
        fails_when(Store, "when the decisions cannot be read"),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails(InvalidArgument),
    ]),
    later(
        Owner::Pool,
        "approve",
        "Approves the configuration whose request with that hash was shown. Once the decision is kept, the server starts in the sessions that want it. A rejection by another host that this one did not see stays in force, and the report says so. A cancellation takes no begun work back.",
    )
    .takes(SHOWN)
    .gives(
        Gives::Report,
        "SourceReport",
        "the report, `{v, servers: {name: {action, source?, reason?, error?}}}`",
    )
    .errors(&[
        fails_when(StaleApproval, "when the configuration is another by now"),
        fails_when(Store, "when it cannot be kept, and is not in force then"),
        fails_when(
            InvalidArgument,
            "(also for a server that needs no approval, or a text that is no hash)",
        ),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
    ]),
    later(
        Owner::Pool,
        "reject",
        "Rejects the configuration with that hash: a running server ends, and nobody is asked about it again. A cancellation takes no begun work back.",
    )
    .takes(SHOWN)
    .gives(Gives::Report, "SourceReport", "the report of {pool.approve}")
    .errors_of("pool.approve"),
    later(
        Owner::Pool,
        "forget",
        "Forgets every decision about a server of this workspace, so that it waits for approval again. A cancellation takes no begun work back.",
    )
    .takes(&[parameter("server", Kind::Text, "")])
    .gives(
        Gives::Report,
        "SourceReport & { forgotten: number }",
        "`{v, forgotten, servers}`; `forgotten` counts the decisions",
    )
    .errors(&[
        fails_when(Store, "when that cannot be kept"),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails(InvalidArgument),
    ]),
    later(
        Owner::Pool,
        "settled",
        "Waits until nothing that configuration caused is under way: no question to the host, no connect. Says how every server stands that a source names.",
    )
    .takes(&[parameter(
        "timeout",
        Kind::Timeout,
        "as long as it takes: handlers have their time, connects theirs from their turn on, and a file system that does not answer none",
    )])
    .gives(
        Gives::Report,
        "SettledReport",
        "`{v, servers: {name: {state, source, reason?, error?, file?}}}` with the state `ready`, `failed`, `refused`, `waiting` or `off`",
    )
    .errors(&[
        fails_when(Timeout, "(with `detail.servers`)"),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails(InvalidArgument),
    ]),
    later(
        Owner::Pool,
        "sign_in",
        "Begins to sign in to a remote server, and waits for the address that a person has to visit. What they are redirected to goes to {pool.finish_sign_in}. A sign-in to the same server that is under way is over with it. The library opens no browser and listens on no port. What the server's own `oauth` says goes before the options.",
    )
    .takes(&[parameter("server", Kind::Text, "")])
    .options(OptionScope::SignIn)
    .gives(
        Gives::Report,
        "{ v: 1; server: string; url: string; expiresInMs: number }",
        "`{v, server, url, expires_in_ms}`",
    )
    .errors(&[
        fails_when(
            Protocol,
            "when the server or an authorization server breaks a rule (`detail.refused`)",
        ),
        fails_when(AuthRequired, "when there is nothing to sign in to"),
        fails(ConnectFailed),
        fails(Timeout),
        fails(Limit),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails(UnknownOption),
        fails_when(
            InvalidArgument,
            "(also for a server that the pool does not know, or without a redirect)",
        ),
    ]),
    later(
        Owner::Pool,
        "finish_sign_in",
        "Ends a sign-in with the whole address that the person was redirected to, and waits for the token. The server is then connected to for those who hold or want it.",
    )
    .takes(&[parameter("redirect_url", Kind::Address, "")])
    .gives(
        Gives::Report,
        "{ v: 1; server: string; stored?: boolean; error?: TrunklineError }",
        "`{v, server}`, and with a file of `tokens` `stored` and, where that is false, `error`",
    )
    .errors(&[
        fails_when(Protocol, "(`detail.refused`)"),
        fails_when(AuthRequired, "when the person or the authorization server refused"),
        fails(ConnectFailed),
        fails(Timeout),
        fails(Limit),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails_when(
            InvalidArgument,
            "(also when it belongs to no sign-in that is under way)",
        ),
    ]),
    later(
        Owner::Pool,
        "sign_out",
        "Forgets what was signed in for a server, and a sign-in that is under way.",
    )
    .takes(&[parameter("server", Kind::Text, "")])
    .gives(
        Gives::Report,
        "{ v: 1; server: string; signedOut: boolean }",
        "`{v, server, signed_out}`",
    )
    .errors(&[
        fails_when(Store, "when it is forgotten here and still in the file of `tokens`"),
        fails(Closing),
        fails(Closed),
        fails(Cancelled),
        fails(Forked),
        fails_when(InvalidArgument, "(also for a server that the pool does not know)"),
    ]),
];

/// What a decision is about.
const SHOWN: &[Parameter] = &[
    parameter("server", Kind::Text, ""),
    parameter("hash", Kind::Text, "of the request, so that what is decided is what was shown"),
];

/// The errors of a change that returns at once.
const AT_ONCE: &[Failure] = &[fails(InvalidArgument), fails(Closing), fails(Closed), fails(Forked)];
