//! The person who signs in, and the host that asks them to.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use trunkline::{AcquireOptions, CallOptions, Error, Lease, Session, SignInOptions};

use crate::Rig;
use crate::remote::Remote;

/// Where the host gets redirects.
pub const REDIRECT: &str = "http://localhost:3000/callback";

/// What no error, event or status may hold.
pub const CANARIES: [&str; 4] = ["code-canary", "token-canary", "renewal-canary", "secret-canary"];

/// A server that wants a token, and its configuration without one.
pub fn guarded(rig: &Rig, ways: &Value, oauth: Value) -> (Remote, Value) {
    let remote = Remote::start(rig, "", &["--http-auth", &ways.to_string()]);
    let config = json!({ "type": "http", "url": remote.url, "oauth": oauth });
    (remote, config)
}

/// The same over a websocket.
pub fn guarded_socket(rig: &Rig, ways: &Value) -> (Remote, Value) {
    let remote = Remote::start_socket(rig, "", &["--http-auth", &ways.to_string()]);
    let config = json!({ "type": "ws", "url": remote.url });
    (remote, config)
}

/// The pool's one server, as `s`, and a session that wants nothing unasked.
pub async fn start(rig: &Rig, (remote, config): (Remote, Value)) -> (Remote, Session) {
    rig.configure(json!({ "s": config })).await;
    (remote, rig.session("a"))
}

/// Why a session does not get that server.
pub async fn refusal(session: &Session) -> Error {
    let acquired = session.acquire("s", None, &AcquireOptions::default()).await;
    acquired.err().expect("it wants credentials")
}

/// A call, for what becomes of it.
pub async fn call(lease: &Lease) -> Result<(), Error> {
    lease.call_tool("echo", r#"{"message":"hi"}"#, &CallOptions::default()).await.map(drop)
}

/// The options of a sign-in.
pub fn options() -> SignInOptions {
    let options = json!({ "redirect_uri": REDIRECT });
    SignInOptions::from_json(&options.to_string()).unwrap()
}

/// Visits the address to sign in at; where the authorization server sends the person back to.
pub fn visit(url: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
    location.unwrap_or_else(|| panic!("no redirect: {answer}")).to_owned()
}

/// Signs in as a host and a person do.
pub async fn sign_in(rig: &Rig, server: &str) -> Result<Value, Error> {
    let begun = rig.pool.sign_in(server, &options()).await?;
    let url = begun["url"].as_str().unwrap();
    rig.pool.finish_sign_in(&visit(url)).await
}

/// S-48, and the words of the flows.
pub fn assert_shows_no_secret(rig: &Rig, error: Option<&Error>) {
    let told = error.map(|error| format!("{error} {error:?} {}", error.to_json()));
    let shown = format!("{} {}", told.unwrap_or_default(), rig.pool.status());
    for canary in CANARIES {
        assert!(!shown.contains(canary), "{shown}");
    }
}
