//! `serve` and `connect`, with the reference server behind them.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::rig::Home;

const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}"#;
const OPEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn home() -> Home {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "s": home.server(&[]) }));
    home
}

/// One client of `connect`, which ends its input when everything is answered.
fn client(home: &Home, words: &[&str]) {
    let words = [&["connect"], words].concat();
    let mut child = home.command(&words).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("{OPEN}\n{CALL}\n").as_bytes()).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut hear = || {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap_or_else(|_| panic!("no message: {line:?}"))
    };
    let (opened, called) = (hear(), hear());
    assert!(opened["result"]["serverInfo"].is_object(), "{opened}");
    assert!(called.to_string().contains("hello"), "{called}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

struct Served(Child);

impl Served {
    fn end(mut self) {
        let signalled = std::process::Command::new("kill").arg(self.0.id().to_string()).status();
        assert!(signalled.unwrap().success());
        assert!(self.0.wait().unwrap().success(), "a signal is how it ends");
    }
}

/// SPEC 19.1, 19.2: clients that a product starts share the servers of `serve`.
#[test]
fn clients_of_connect_share_the_server_of_serve() {
    let home = home();
    let mut child = home.command(&["serve", "--json"]).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let served = Served(child);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert!(said["http"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{said}");
    for _ in 0..3 {
        client(&home, &["s"]);
    }
    assert_eq!(home.starts().len(), 1, "one process serves every client");
    served.end();
    assert!(!std::path::Path::new(said["socket"].as_str().unwrap()).exists());
    home.has_no_process();
}

/// SPEC 19.2: without an endpoint `connect` serves by itself, and leaves nothing.
#[test]
fn connect_serves_by_itself_where_nobody_does() {
    let home = home();
    client(&home, &["s"]);
    assert_eq!(home.starts().len(), 1);
    home.has_no_process();
    let mut child = home.command(&["connect", "none"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{OPEN}\n").as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(answer["error"]["code"].is_i64(), "{answer}");
}
