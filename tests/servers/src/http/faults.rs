//! What the front does otherwise than a good server would.

/// The words of `--http-faults`, some with a value behind a colon.
#[derive(Debug, Default)]
pub struct Faults {
    words: Vec<(String, String)>,
}

/// Every word, and what it makes the front do.
const KNOWN: &[&str] = &[
    "json",             // answers are JSON bodies, not streams
    "stateless",        // no session ids
    "no-get",           // 405 for the stream of what is unasked
    "no-delete",        // 405 for the end of a session
    "stuck-delete",     // no answer to the end of a session
    "forget-404",       // the Nth call finds its session gone
    "forget-400",       // the same, said as some servers do
    "cut",              // the stream of each call ends before its answer
    "cut-after-id", // the same, after an event that it can be resumed from, with its value in the id
    "cut-ids",      // the same, again whenever it is resumed, and asks to be resumed at once
    "busy-get",     // the first N streams get 429 and `Retry-After: 3`
    "busy-resume",  // streams that are resumed get 503 and an hour of `Retry-After`
    "one-get", // the first stream of what is unasked ends with its first message, and the next get that status
    "second-get", // streams of what is unasked end with their first message, and the second gets that status
    "event-ids",  // their messages have ids, where they end with the first
    "redirect-get", // streams are redirected to the address that is its value
    "redirect-resume", // the same, those that are resumed
    "redirect-status", // what redirects have in the place of 307
    "retry-0",    // streams of what is unasked end at once and ask to come back at once
    "busy",       // the first N messages get 503 and `Retry-After: 1`
    "busy-wait",  // the `Retry-After` of these and of `busy-call`
    "busy-date",  // the same, the second given as a date of the server's own clock
    "ping-status", // each `ping` gets that status: 429 with an hour of `Retry-After`, others with an error of the protocol
    "list-status", // each list of tools gets that status in the same way
    "busy-calls",  // each call gets 503 and an hour of `Retry-After`
    "busy-call",   // the first N calls get 503 and `Retry-After: 1`
    "first-call",  // the first call gets the HTTP status that is its value, and no header
    "busy-status", // what `busy-calls` and `busy-call` answer in the place of 503
    "deaf-get",    // streams of what is unasked end after so many ms, and bring nothing
    "call-status", // each call gets the HTTP status that is its value, and no header
    "gzip-calls",  // the answer to each call is 4 MiB that inflate to 4 GiB
    "cut-body", // the body of each call's answer is shorter than said, and then the connection ends
    "listen-cut", // the first N streams of changes (of the modern era) end when they have begun
    "listen-garbage", // events that are no messages come before each stream of changes
    "listen-status", // streams of changes get that status: 429 with an hour of `Retry-After`
    "wants-header", // calls of a tool need an argument's header: the two are its value, as `echo:Loud`
    "own-tools",    // each list of tools has one more, named after the caller's credentials
    "unavailable",  // the first N lists get 502
    "unavailable-wait", // the `Retry-After` of these
    "auth",         // 401
    "auth-challenge", // 401 with `WWW-Authenticate`
    "auth-calls",   // each call gets 401
    "forbidden",    // 403
    "needs-agent", // 403 and a page to clients that do not say `trunkline/...`, a person's own program but
    "cookie", // the handshake sets a cookie, each call another, and nobody is known without the newest
    "redirect", // to the address that is its value
    "redirect-here", // 307 to another path of this server
    "endless-body", // the body of each call's answer never ends
    "endless-event", // the event of each call's answer never ends
    "html",   // a web page
    "text",   // plain text
    "endpoint", // HTTP+SSE: messages are to be posted to the address that is its value
    "no-endpoint", // HTTP+SSE: the stream does not say where messages are posted
    "early-end", // HTTP+SSE: the stream ends at once
    "open-accept", // HTTP+SSE: what is answered to the POST of a call never ends
    "bad-accept", // websocket: the handshake is answered for another key
    "subprotocol", // websocket: this is spoken, and not `mcp`
    "close",  // websocket: each call is answered with a farewell of that code
    "close-open", // the same, and the connection stays open
    "close-asked", // websocket: as `close`, upon `server/discover`; without a code the end alone
    "huge-frame", // websocket: the answer to each call is said to have a terabyte
    "endless-message", // websocket: the answer to each call never ends
    "bad-frame", // websocket: each call is answered with a frame that there is not
    "no-farewell", // websocket: the farewell is not answered
    "noise",  // websocket: other words before each message
    "pings",  // websocket: a ping before each message
    "binary", // websocket: messages are binary
    "fragments", // websocket: messages come in two parts
    "hung-notices", // no answer to a notification but the opening one, for its value in ms or for ever
    "no-handshake", // `initialize` gets an error of the protocol, with the status that is its value, or 404
    "late-discover", // `server/discover` is answered once `initialize` has come: `first`, or `last`, or `never`
    "late-accept",   // the opening notification is taken after 300 ms
];

impl Faults {
    pub fn parse(text: &str) -> Result<Faults, String> {
        let mut faults = Faults::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            if !KNOWN.contains(&name) {
                return Err(format!("unknown fault {name}"));
            }
            faults.words.push((name.to_string(), value.to_string()));
        }
        Ok(faults)
    }

    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(word, _)| word == name).map(|(_, value)| value.as_str())
    }

    /// The number that is a fault's value; 0 without one.
    pub fn number(&self, name: &str) -> u64 {
        self.value(name).and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}
