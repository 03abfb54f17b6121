//! Servers behind an address that say back what they were sent.

use std::io::{BufReader, Read, Write};
use std::net::TcpListener;

use rig::{Rig, host};
use serde_json::json;

use crate::canaries::{arrivals, run, sent, with_events};

/// What is answered, with the request's head in place of `{head}`.
const ANSWERS: [(&str, &str); 5] = [
    ("500 No", "content-type: text/plain\r\n"),
    (
        "401 Who",
        "www-authenticate: Bearer error=\"invalid_token\", error_description=\"{line}\"\r\n",
    ),
    ("403 No", "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"{line}\"\r\n"),
    ("302 There", "location: http://127.0.0.1:1/?was={line}\r\n"),
    ("200 OK", "content-type: application/json\r\n"),
];

/// Serves that answer to every comer, for as long as the process lives.
fn serve(status: &'static str, headers: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (head, mut length) = (arrivals::read_head(&mut reader), 0);
            for line in head.to_lowercase().lines() {
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let line =
                head.lines().find(|line| line.to_lowercase().starts_with("x-key")).unwrap_or("");
            let id = serde_json::from_slice(&body)
                .map_or(json!(null), |body: serde_json::Value| body["id"].clone());
            let error =
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -1, "message": head } });
            let headers = headers.replace("{line}", line);
            let answer = format!(
                "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{error}",
                error.to_string().len()
            );
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    port
}

/// Each of them, with a header and a query that are secrets.
pub fn all(rig: &Rig) {
    const PLACES: [(&str, &str); 5] = [
        ("a header that a refusal echoes", "a query that a refusal echoes"),
        ("a header that a challenge echoes", "a query that a challenge echoes"),
        ("a header that a wish for scopes echoes", "a query that a wish for scopes echoes"),
        ("a header that a redirect echoes", "a query that a redirect echoes"),
        ("a header that an error echoes", "a query that an error echoes"),
    ];
    for ((status, headers), (header, query)) in ANSWERS.into_iter().zip(PLACES) {
        let port = serve(status, headers);
        let server = json!({
            "url": format!("http://127.0.0.1:{port}/mcp?key={}", sent(query)),
            "headers": { "X-Key": sent(header) }, "connect_timeout_ms": 5_000,
        });
        with_events(rig, || host(run(rig, json!({ "echo": server }))));
    }
}
