//! An address that sends what it was told to, whatever it is asked.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Between two parts of an answer that comes bit by bit: a wait for a time-out must see many of
/// them.
const DRIP: Duration = Duration::from_millis(10);

/// More than a comer says first.
const READ_BYTES: usize = 16 << 10;

/// What an answer is, and what comes after it.
#[derive(Clone)]
pub struct Answer {
    pub bytes: Vec<u8>,
    pub then: Then,
}

#[derive(Clone)]
pub enum Then {
    /// The connection ends.
    Close,
    /// Nothing, until the client goes.
    Hang,
    /// This, as fast as it is read.
    Repeat(String),
    /// This, again and again, at leisure.
    Drip(String),
}

/// When it sends that.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum To {
    /// To everything.
    #[default]
    Everything,
    /// To calls of tools. To all else it is a small server.
    Calls,
    /// To the first request, whatever it is. From then on it is a small server.
    First,
    /// To every comer: what is asked there is not read.
    Comers,
    /// To what comes by a socket that was idle for longer, which a hint says. To all else it is a
    /// small server.
    Idle(Duration),
    /// To requests of this method, of the protocol or of HTTP, or to the first of them alone. To
    /// all else it is a small server.
    Method { name: String, first_alone: bool },
}

impl To {
    pub fn named(word: &str) -> Option<To> {
        let words = [
            ("everything", To::Everything),
            ("calls", To::Calls),
            ("first", To::First),
            ("comers", To::Comers),
        ];
        let known = words.into_iter().find_map(|(name, to)| (name == word).then_some(to));
        if let Some(ms) = word.strip_prefix("idle:") {
            return Some(To::Idle(Duration::from_millis(ms.parse().ok()?)));
        }
        let (name, first_alone) = match word.strip_prefix("first:") {
            Some(name) => (name, true),
            None => (word, false),
        };
        let is_method = METHODS.contains(&name);
        known.or_else(|| is_method.then(|| To::Method { name: name.to_owned(), first_alone }))
    }

    /// Whether a request is one that it sends this to.
    fn is_meant(&self, http: &str, method: &Value, is_first: &AtomicBool) -> bool {
        let first = || is_first.swap(false, Ordering::AcqRel);
        match self {
            To::Everything | To::Comers => true,
            To::Calls => method == "tools/call",
            To::First => first(),
            To::Idle(_) => false,
            To::Method { name, first_alone } => {
                (http == name || method == name.as_str()) && (!first_alone || first())
            }
        }
    }
}

/// The methods that a small server is asked with.
pub const METHODS: [&str; 6] =
    ["GET", "DELETE", "initialize", "notifications/initialized", "tools/list", "tools/call"];

/// How an address begins. Nothing here speaks TLS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    Http,
    Https,
    Ws,
    Wss,
}

const SCHEMES: [(&str, Scheme); 4] =
    [("http", Scheme::Http), ("https", Scheme::Https), ("ws", Scheme::Ws), ("wss", Scheme::Wss)];

impl Scheme {
    pub fn named(word: &str) -> Option<Scheme> {
        SCHEMES.into_iter().find_map(|(name, scheme)| (name == word).then_some(scheme))
    }

    /// Where a server is at that address. Nobody may show what is asked for there.
    pub fn url(self, address: impl Display) -> String {
        let (name, _) = SCHEMES.into_iter().find(|(_, scheme)| *scheme == self).unwrap();
        format!("{name}://{address}/mcp?key=canary-query")
    }
}

impl Answer {
    /// As it is written down: `other` is where its redirects lead.
    pub fn written(sends: &str, then: &str, other: SocketAddr) -> Answer {
        let place = format!("//{other}/mcp?x=1");
        let text = sends
            .replace("{other}", &format!("http:{place}"))
            .replace("{other-without-scheme}", &place)
            .replace("{long}", &"x/".repeat(20_000))
            // The refusal of a handshake.
            .replace("{alert}", "\x15\x03\x03\0\x02\x02\x28")
            // A connection that ends says so, or the next message may still be sent over it.
            .replace("content-length:", "connection: close\r\ncontent-length:");
        let promises = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(100);
        let (how, again) = then.split_once('=').unwrap_or((then, ""));
        let again = again.replace("{promises}", &promises);
        let then = match how {
            "repeat" => Then::Repeat(again),
            "drip" => Then::Drip(again),
            "hang" => Then::Hang,
            _ => Then::Close,
        };
        Answer { bytes: text.into_bytes(), then }
    }

    /// The same, for the id that a message has.
    fn to_message(&self, message: &Value) -> Answer {
        let Ok(text) = std::str::from_utf8(&self.bytes) else { return self.clone() };
        let bytes = text.replace("{id}", &message["id"].to_string()).into_bytes();
        Answer { bytes, then: self.then.clone() }
    }
}

/// Answers so until the input ends, and prints its address. A client that follows a redirect finds
/// a server there, and is found out.
pub fn listen(scheme: Scheme, sends: &str, then: &str, to: To) {
    let good = Answer { bytes: Vec::new(), then: Then::Close };
    let other = Rogue::start(To::Calls, good);
    let rogue = Rogue::start(to, Answer::written(sends, then, other.address));
    println!("{}", scheme.url(rogue.address));
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    std::process::exit(0);
}

/// A listener of this process; it ends with the value.
pub struct Rogue {
    pub address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Rogue {
    pub fn start(to: To, answer: Answer) -> Rogue {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (seen, is_first) = (over.clone(), AtomicBool::new(true));
        let thread = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                for stream in listener.incoming().map_while(Result::ok) {
                    if seen.load(Ordering::Acquire) {
                        return;
                    }
                    // A client that goes is an end like any other.
                    scope.spawn(|| drop(serve(stream, &to, &is_first, &answer)));
                }
            });
        });
        Rogue { address, over, thread: Some(thread) }
    }
}

impl Drop for Rogue {
    /// After the client has let go of its sockets: the threads end with those.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serve(
    mut out: TcpStream,
    to: &To,
    is_first: &AtomicBool,
    answer: &Answer,
) -> std::io::Result<()> {
    if *to == To::Comers {
        // What was not read when the connection ends would take the answer with it.
        let _ = out.read(&mut [0; READ_BYTES])?;
        return send(&mut out, answer);
    }
    let mut input = BufReader::new(out.try_clone()?);
    let mut answered = None::<Instant>;
    while let Some((method, body)) = request(&mut input) {
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let was_idle = |limit: Duration| answered.is_some_and(|since| since.elapsed() > limit);
        let (is_late, hint) = match to {
            To::Idle(limit) => {
                (was_idle(*limit), format!("keep-alive: timeout={}\r\n", limit.as_secs()))
            }
            _ => (false, String::new()),
        };
        if is_late || to.is_meant(&method, &message["method"], is_first) {
            return send(&mut out, &answer.to_message(&message));
        }
        let (status, body) = match (method.as_str(), small(&message)) {
            ("POST", Some(result)) => {
                let id = &message["id"];
                ("200 OK", json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
            }
            ("POST", None) => ("202 Accepted", String::new()),
            _ => ("405 Method Not Allowed", String::new()),
        };
        let length = body.len();
        write!(
            out,
            "HTTP/1.1 {status}\r\n{hint}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        answered = Some(Instant::now());
    }
    Ok(())
}

/// What a server with one tool answers, in the era that it is asked in.
fn small(message: &Value) -> Option<Value> {
    let tools = json!([{ "name": "any", "inputSchema": { "type": "object" } }]);
    Some(match message["method"].as_str()? {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
        }),
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "small", "version": "1" },
        }),
        "tools/list" => json!({ "tools": tools }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "any" }] }),
        _ => return None,
    })
}

/// The method and the body of the next request.
fn request(input: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    let mut next = |input: &mut BufReader<TcpStream>| {
        line.clear();
        let read = input.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_ascii_lowercase())
    };
    let method = next(input)?.split(' ').next()?.to_ascii_uppercase();
    let mut length = 0;
    loop {
        let header = next(input)?;
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some((method, body))
}

fn send(out: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    out.set_nodelay(true)?;
    out.write_all(&answer.bytes)?;
    match &answer.then {
        Then::Close => Ok(()),
        Then::Hang => out.read_to_end(&mut Vec::new()).map(drop),
        Then::Repeat(text) => {
            let many = text.repeat((16 << 10) / text.len());
            loop {
                out.write_all(many.as_bytes())?;
            }
        }
        Then::Drip(text) => loop {
            out.write_all(text.as_bytes())?;
            std::thread::sleep(DRIP);
        },
    }
}
