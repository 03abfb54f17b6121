//! The pool for clients that do not embed it, through sockets and ports with real processes.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rig::{HANG, Rig, host};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use trunkline::{ServeOptions, Serving};

/// A pool with the reference server of that era as `s`, and its endpoint.
fn served(era: &str) -> (Rig, Serving) {
    let rig = Rig::new(json!({}));
    host(rig.configure(json!({ "s": rig.server(&["--era", era, "--list-changes"]) })));
    let folder = rig.path("own");
    std::fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    let options = json!({ "socket": folder.join("socket"), "token_file": folder.join("tokens") });
    let options = ServeOptions::from_json(&options.to_string()).unwrap();
    let serving = rig.pool.serve(options).unwrap();
    (rig, serving)
}

/// A client that speaks in lines.
struct LineClient {
    reader: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    is_modern: bool,
    last: u64,
}

impl LineClient {
    async fn new(socket: &Path, is_modern: bool) -> LineClient {
        let (reader, writer) = UnixStream::connect(socket).await.unwrap().into_split();
        let reader = BufReader::new(reader).lines();
        let mut client = LineClient { reader, writer, is_modern, last: 0 };
        client.write("/mcp/s").await;
        if !is_modern {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "elicitation": {} },
                "clientInfo": { "name": "lines", "version": "1" },
            });
            let opened = client.ask("initialize", params).await;
            assert_eq!(opened["result"]["serverInfo"]["name"], "trunkline-testserver", "{opened}");
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            client.write(&ready.to_string()).await;
        }
        client
    }

    async fn write(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = timeout(HANG, self.reader.next_line()).await.expect("nothing came");
        serde_json::from_str(&line.unwrap().expect("the connection ended")).unwrap()
    }

    async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            });
        }
        self.last += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.write(&request.to_string()).await;
        self.last
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        loop {
            let message = self.read().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }
}

/// SPEC 19.2, 19.5: clients of both eras list and call over the socket, one process serves them
/// all, and nothing is left after the close.
#[test]
fn clients_of_a_socket_list_and_call_in_both_eras_and_leave_nothing() {
    for era in ["legacy", "modern"] {
        let (rig, serving) = served(era);
        let socket = serving.socket().unwrap().to_owned();
        host(async {
            let mut clients = Vec::new();
            for number in 0..40 {
                clients.push(LineClient::new(&socket, number % 2 == 0).await);
            }
            for client in &mut clients {
                let listed = client.ask("tools/list", json!({})).await;
                let tools = listed["result"]["tools"].as_array().unwrap();
                assert!(tools.iter().any(|tool| tool["name"] == "echo"), "{era}");
                let said = client.call("echo", json!({ "message": "hi" })).await;
                assert_eq!(said["result"]["content"][0]["text"], "hi", "{era}: {said}");
            }
            assert_eq!(rig.pool.status()["processes"], 1, "{era}");
            let served = &rig.pool.status()["served"][0];
            assert_eq!(served["socket"], json!(socket));
            // All modern connections of one user are one client.
            assert_eq!(served["clients"].as_array().unwrap().len(), 21);
            serving.close().await;
            assert!(!socket.exists(), "the socket is left");
            for client in &mut clients {
                let end = timeout(HANG, client.reader.next_line()).await.expect("no end came");
                assert!(end.is_err() || end.unwrap().is_none(), "a connection is left");
            }
            assert_eq!(rig.pool.status()["totals"]["sessions"], 0);
        });
    }
}

/// SPEC 19.5: a question of a legacy server reaches the connection whose call caused it.
#[test]
fn a_question_reaches_the_connection_whose_call_caused_it() {
    let (_rig, serving) = served("legacy");
    host(async {
        let socket = serving.socket().unwrap();
        let mut one = LineClient::new(socket, false).await;
        let mut other = LineClient::new(socket, false).await;
        let form = json!({ "message": "name?", "requestedSchema": { "type": "object", "properties": {} } });
        let arguments = json!({ "method": "elicitation/create", "params": form });
        let id = one.send("tools/call", json!({ "name": "ask", "arguments": arguments })).await;
        let asked = one.read().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let result = json!({ "action": "accept", "content": { "name": "Ada" } });
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
        one.write(&answer.to_string()).await;
        let done = one.read().await;
        assert_eq!(done["id"], id);
        assert!(done["result"].to_string().contains("Ada"), "{done}");
        // The first that the other hears is its own answer.
        let id = other.send("ping", json!({})).await;
        assert_eq!(other.read().await["id"], id);
    });
}

/// One request over HTTP: its status, headers and body.
async fn post(serving: &Serving, token: &str, session: Option<&str>, body: &Value) -> String {
    let address = serving.address().unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = body.to_string();
    let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
    let head = format!(
        "POST /mcp/s HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         {session}Connection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer);
    timeout(HANG, read).await.expect("no answer came").unwrap();
    answer
}

/// SPEC 19.2, 19.7: a legacy client over HTTP has a session, and without the token nothing.
#[test]
fn a_legacy_client_over_http_has_a_session_behind_the_token() {
    let (_rig, serving) = served("legacy");
    host(async {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "http", "version": "1" },
        });
        let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let refused = post(&serving, "wrong-token-wrong-token", None, &open).await;
        assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
        let token = serving.token().unwrap();
        let opened = post(&serving, token, None, &open).await;
        let session = opened.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
        });
        let session = session.unwrap_or_else(|| panic!("{opened}"));
        let params = json!({ "name": "echo", "arguments": { "message": "hi" } });
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        let answer = post(&serving, token, Some(&session), &call).await;
        assert!(answer.contains(r#""text":"hi""#), "{answer}");
    });
}
