//! A server of Streamable HTTP that answers as a test says, and remembers what came and by which
//! socket.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which of the sockets it came by, from 0.
    pub socket: usize,
    /// Its place among all requests for the same, from 0.
    pub number: usize,
    pub http: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

impl Asked {
    /// The method of the protocol, or that of HTTP where there is no message.
    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.http)
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// What comes of a request.
pub enum Answer {
    /// What a good server of the handshake's eras says.
    Usual,
    /// The same, with these lines in its head.
    With(Vec<String>),
    /// A status, lines of its head and a body.
    Http(&'static str, Vec<String>, Vec<u8>),
    /// The socket is closed without a byte.
    Nothing,
}

/// A refusal without a body, with these lines in its head.
pub fn refusal(status: &'static str, headers: &[&str]) -> Answer {
    Answer::Http(status, headers.iter().map(|line| (*line).to_owned()).collect(), Vec::new())
}

type Answers = dyn Fn(&Asked) -> Answer + Send + Sync;

/// A running server. Its threads end with the sockets, or with the process.
pub struct Script {
    pub url: String,
    seen: Arc<Mutex<Vec<Asked>>>,
    ended: Arc<Mutex<Vec<usize>>>,
}

impl Script {
    pub fn start(answers: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Script {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Vec<Asked>>>::default();
        let (answers, noted): (Arc<Answers>, _) = (Arc::new(answers), seen.clone());
        let ended = Arc::<Mutex<Vec<usize>>>::default();
        let also_ended = ended.clone();
        let sockets = AtomicUsize::new(0);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let socket = sockets.fetch_add(1, Ordering::SeqCst);
                let (answers, noted) = (answers.clone(), noted.clone());
                let ended = also_ended.clone();
                std::thread::spawn(move || {
                    serve(&stream, socket, &*answers, &noted);
                    ended.lock().unwrap().push(socket);
                });
            }
        });
        Script { url, seen, ended }
    }

    /// Its configuration.
    pub fn config(&self) -> Value {
        json!({ "type": "http", "url": self.url })
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Asked> {
        self.seen.lock().unwrap().clone()
    }

    /// Whether that socket was closed.
    pub fn has_ended(&self, socket: usize) -> bool {
        self.ended.lock().unwrap().contains(&socket)
    }

    /// Those of one method.
    pub fn of(&self, method: &str) -> Vec<Asked> {
        self.seen().into_iter().filter(|asked| asked.method() == method).collect()
    }
}

fn serve(stream: &TcpStream, socket: usize, answers: &Answers, seen: &Mutex<Vec<Asked>>) {
    let mut input = BufReader::new(stream);
    while let Some(mut asked) = read(&mut input, socket) {
        let answer = {
            let mut seen = seen.lock().unwrap();
            asked.number = seen.iter().filter(|other| other.method() == asked.method()).count();
            seen.push(asked.clone());
            drop(seen);
            answers(&asked)
        };
        let (status, mut headers, body) = match answer {
            Answer::Usual => usual(&asked),
            Answer::With(more) => {
                let (status, headers, body) = usual(&asked);
                (status, [headers, more].concat(), body)
            }
            Answer::Http(status, headers, body) => (status, headers, body),
            Answer::Nothing => return,
        };
        headers.push(format!("content-length: {}", body.len()));
        let head = format!("HTTP/1.1 {status}\r\n{}\r\n\r\n", headers.join("\r\n"));
        if { stream }.write_all(&[head.as_bytes(), &body].concat()).is_err() {
            return;
        }
    }
}

fn read(input: &mut BufReader<&TcpStream>, socket: usize) -> Option<Asked> {
    let mut line = || {
        let mut line = String::new();
        input.read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (http, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    while let Some((name, value)) = line()?.split_once(':') {
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    input.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Asked { socket, number: 0, http, path, headers, body })
}

/// What a good server says, which has the tools `echo` and `safe`.
fn usual(asked: &Asked) -> (&'static str, Vec<String>, Vec<u8>) {
    let params = &asked.body["params"];
    let result = match asked.method() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "script", "version": "1" },
        }),
        "tools/list" => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => {
            let said = params["arguments"]["message"].as_str().unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": said }] })
        }
        "ping" => json!({}),
        "GET" => return ("405 Method Not Allowed", Vec::new(), Vec::new()),
        "DELETE" => return ("200 OK", Vec::new(), Vec::new()),
        _ if asked.body["id"].is_null() => return ("202 Accepted", Vec::new(), Vec::new()),
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return json_of(asked, "error", &error);
        }
    };
    json_of(asked, "result", &result)
}

fn json_of(asked: &Asked, member: &str, value: &Value) -> (&'static str, Vec<String>, Vec<u8>) {
    let mut headers = vec!["content-type: application/json".to_owned()];
    if asked.method() == "initialize" {
        headers.push(format!("mcp-session-id: session-{}", asked.number));
    }
    let mut body = json!({ "jsonrpc": "2.0", "id": asked.body["id"] });
    body[member] = value.clone();
    ("200 OK", headers, body.to_string().into_bytes())
}
