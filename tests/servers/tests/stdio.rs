//! The reference server answers as the suites rely on it.

#[path = "../../../core/tests/rig/folder.rs"]
mod folder;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use folder::Folder;
use serde_json::{Value, json};

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(flags: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_trunkline-testserver"))
            .args(flags)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Server { child, input, output }
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.read()
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> Value {
        self.ask(id, "tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn end(mut self) -> i32 {
        drop(self.input.take());
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn it_shakes_hands_in_the_version_asked_for_and_ends_with_its_input() {
    let mut server = Server::start(&["--list-changes"]);
    let reply = server.ask(0, "initialize", &json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(reply["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(reply["result"]["capabilities"]["tools"]["listChanged"], true);
    let reply = server.ask(1, "initialize", &json!({"protocolVersion": "2026-07-28"}));
    assert_eq!(reply["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(server.end(), 0);
}

#[test]
fn without_an_input_it_serves_until_a_signal() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trunkline-testserver"))
        .args(["--http", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let host = address.trim().strip_prefix("http://").and_then(|rest| rest.split('/').next());
    let mut stream = std::net::TcpStream::connect(host.unwrap()).unwrap();
    stream.write_all(b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
}

#[test]
fn a_slow_call_holds_up_no_other_and_a_cancelled_one_is_never_answered() {
    let mut server = Server::start(&[]);
    let slow = json!({"name": "sleep", "arguments": {"ms": 60_000}});
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": slow}));
    let reply = server.call(2, "under_way", &json!({}));
    assert_eq!(reply["result"]["content"][0]["text"], "1");
    let params = json!({"requestId": 1});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    server.send(&cancel);
    let reply = server.call(3, "cancelled", &json!({}));
    assert_eq!(reply["id"], 3);
    assert_eq!(reply["result"]["content"][0]["text"], "1");
    assert_eq!(server.end(), 0);
}

#[test]
fn requests_in_one_write_are_all_answered_in_order() {
    let mut server = Server::start(&[]);
    let mut lines = String::new();
    for id in 0..200 {
        let params = json!({"name": "echo", "arguments": {"message": format!("{id}é\"")}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        lines += &format!("{call}\n");
    }
    server.input.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    for id in 0..200 {
        let reply = server.read();
        assert_eq!(reply["id"], id);
        assert_eq!(reply["result"]["content"][0]["text"], format!("{id}é\""));
    }
    assert_eq!(server.end(), 0);
}

#[test]
fn big_results_have_the_size_asked_for() {
    let mut server = Server::start(&[]);
    for bytes in [0, 100, 20_000, 1_000_000] {
        let reply = server.call(1, "big", &json!({"bytes": bytes}));
        assert_eq!(reply["result"]["content"][0]["text"].as_str().unwrap().len(), bytes);
    }
    assert_eq!(server.end(), 0);
}

#[test]
fn a_changed_list_is_announced_before_the_answer() {
    let mut server = Server::start(&["--tools", "1"]);
    let arguments = json!({"add": "extra", "remove": "tool_1"});
    let notification = server.call(1, "change_list", &arguments);
    assert_eq!(notification["method"], "notifications/tools/list_changed");
    assert_eq!(server.read()["id"], 1);
    let listed = server.ask(2, "tools/list", &json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(names.contains(&"extra") && !names.contains(&"tool_1"));
    assert_eq!(server.end(), 0);
}

#[test]
fn every_start_is_logged_and_a_crash_ends_with_its_code() {
    let folder = Folder::new();
    let log = folder.join("starts");
    let path = log.to_string_lossy().into_owned();
    for _ in 0..2 {
        let mut server = Server::start(&["--start-log", &path]);
        let params = json!({"name": "crash", "arguments": {"code": 7}});
        let crash = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        server.send(&crash);
        assert_eq!(server.end(), 7);
    }
    let lines = std::fs::read_to_string(&log).unwrap();
    assert_eq!(lines.lines().filter(|line| line.ends_with(" server")).count(), 2);
}
