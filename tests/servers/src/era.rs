//! The two eras: what the modern one asks of each request, and how a server of the legacy one takes
//! a question before the handshake.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::scan::member;
use crate::serve::{Server, Turn, capabilities, text_param};
use crate::slow::lock;
use crate::wire::quote;

/// What the server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Era {
    /// `initialize` first.
    #[default]
    Legacy,
    /// Each request stands for itself.
    Modern,
    /// Whichever the client opens with.
    Dual,
}

/// What a server of the legacy era does with a request that comes before `initialize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Early {
    /// Answers it like any other.
    #[default]
    Answered,
    /// Says nothing.
    Ignored,
    /// Reads nothing any more.
    Hangs,
    /// Ends.
    Exits,
    /// Refuses it, and `initialize` after it.
    Confused,
}

impl Era {
    pub fn named(word: &str) -> Option<Era> {
        Some(match word {
            "legacy" => Era::Legacy,
            "modern" => Era::Modern,
            "dual" => Era::Dual,
            _ => return None,
        })
    }
}

impl Early {
    pub fn named(word: &str) -> Option<Early> {
        Some(match word {
            "answered" => Early::Answered,
            "ignored" => Early::Ignored,
            "hangs" => Early::Hangs,
            "exits" => Early::Exits,
            "confused" => Early::Confused,
            _ => return None,
        })
    }
}

/// How the client opened.
#[derive(Default)]
pub struct Opened {
    /// With `initialize`.
    legacy: AtomicBool,
    /// With anything else.
    other: AtomicBool,
}

impl Opened {
    /// Whether the client shook hands, and is told what it did not ask for.
    pub fn is_legacy(&self) -> bool {
        self.legacy.load(Ordering::Relaxed)
    }
}

/// Whether a request is to be answered as usual; otherwise it has been dealt with. `method` has its
/// quotes.
pub fn admits(turn: &mut Turn, id: &[u8], method: &[u8], params: &[u8]) -> bool {
    let server = turn.server;
    let is_modern = server.flags.era != Era::Legacy && is_modern(params);
    if method == b"\"initialize\"" && !is_modern {
        return admits_handshake(turn, id);
    }
    let opened = &server.opened;
    let was_asked = opened.other.swap(true, Ordering::Relaxed);
    if server.flags.era == Era::Legacy {
        return opened.is_legacy() || admits_early(turn, id, was_asked);
    }
    let revision =
        member(params, "_meta").map(|meta| text_param(meta, PROTOCOL_VERSION)).unwrap_or_default();
    if revision.is_empty() {
        if opened.is_legacy() {
            return true;
        }
        turn.batch.error(id, -32602, "the request names no revision", None);
    } else if !revisions(turn).contains(&revision) {
        refuse_revision(turn, id, &revision);
    } else if REMOVED.contains(&method) {
        turn.batch.error(id, -32601, "not in this era", None);
    } else {
        return true;
    }
    false
}

/// Whether the sender of a request with this `_meta` wants log messages of that level: in the
/// modern era each request says it, in the legacy era one request for all.
pub fn is_heard(server: &Server, meta: Option<&[u8]>, level: &str) -> bool {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    let grave = |level: &str| LEVELS.iter().position(|known| *known == level);
    let Some(meta) = meta.filter(|meta| member(meta, PROTOCOL_VERSION).is_some()) else {
        let asked = lock(&server.log_level).clone();
        return asked.is_empty() || grave(level) >= grave(&asked);
    };
    let asked = text_param(meta, "io.modelcontextprotocol/logLevel");
    grave(&asked).is_some_and(|asked| grave(level) >= Some(asked))
}

/// Whether the params are those of a request of the modern era.
pub fn is_modern(params: &[u8]) -> bool {
    member(params, "_meta").is_some_and(|meta| member(meta, PROTOCOL_VERSION).is_some())
}

fn admits_handshake(turn: &mut Turn, id: &[u8]) -> bool {
    let server = turn.server;
    let was_asked = server.opened.other.load(Ordering::Relaxed);
    match server.flags.era {
        Era::Legacy if was_asked && server.flags.early == Early::Confused => {
            turn.batch.error(id, -32600, "the conversation has begun already", None);
            return false;
        }
        Era::Modern => {
            refuse_revision(turn, id, "");
            return false;
        }
        // As the public Python servers do over a pipe. Over HTTP each message stands for itself.
        Era::Dual if was_asked && !server.opened.is_legacy() && server.flags.http.is_none() => {
            refuse_revision(turn, id, "");
            return false;
        }
        Era::Legacy | Era::Dual => {}
    }
    server.opened.legacy.store(true, Ordering::Relaxed);
    true
}

fn admits_early(turn: &mut Turn, id: &[u8], was_asked: bool) -> bool {
    match turn.server.flags.early {
        Early::Answered => return true,
        Early::Ignored => {}
        Early::Hangs => loop {
            std::thread::park();
        },
        Early::Exits => std::process::exit(4),
        Early::Confused => {
            let message = if was_asked { "again?" } else { "initialize comes first" };
            turn.batch.error(id, -32600, message, None);
        }
    }
    false
}

/// `server/discover`.
pub fn discover(turn: &mut Turn, id: &[u8]) {
    let result = format!(
        r#"{{"resultType":"complete","supportedVersions":{},"capabilities":{},"instructions":"for tests","ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"trunkline-testserver","version":"{}"}}}}}}"#,
        serde_json::Value::from(revisions(turn)),
        capabilities(&turn.server.flags),
        env!("CARGO_PKG_VERSION"),
    );
    turn.batch.result(id, result.as_bytes());
}

fn refuse_revision(turn: &mut Turn, id: &[u8], asked: &str) {
    let supported = serde_json::Value::from(revisions(turn));
    let more = format!(r#"{{"supported":{supported},"requested":{}}}"#, quote(asked));
    turn.batch.error(id, -32022, "Unsupported protocol version", Some(&more));
}

/// The revisions of the modern era that are spoken.
fn revisions(turn: &Turn) -> Vec<String> {
    let named = turn.server.flags.revisions.as_deref().unwrap_or("2026-07-28");
    named.split(',').map(str::to_string).collect()
}

/// The member of `_meta` that names the revision of a request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What the modern era has no place for.
const REMOVED: [&[u8]; 5] = [
    b"\"initialize\"",
    b"\"ping\"",
    b"\"resources/subscribe\"",
    b"\"resources/unsubscribe\"",
    b"\"logging/setLevel\"",
];
