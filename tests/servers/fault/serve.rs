//! The reading loop: a small server of the legacy era, whose tool `any` does what the flags say.

use std::io::BufRead;

use serde_json::{Value, json};

use crate::flags::Flags;
use crate::frames::{self, Frame, Wire};

/// Answers requests until the input ends.
pub fn serve(flags: &Flags) {
    let mut input = std::io::stdin().lock();
    let mut wire = Wire::new(flags.frame);
    let mut held = Vec::new();
    let mut line = Vec::new();
    while matches!(input.read_until(b'\n', &mut line), Ok(1..)) {
        if let (Ok(message), false) = (serde_json::from_slice::<Value>(&line), flags.silent) {
            answer(flags.frame, &message, &mut wire, &mut held);
        }
        line.clear();
    }
}

/// `held` is the calls of `other`, which wait for what comes of `any`.
fn answer(frame: Option<Frame>, message: &Value, wire: &mut Wire, held: &mut Vec<Value>) {
    let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
    match (method, message["params"]["name"].as_str()) {
        ("initialize", _) => wire.result(id, &frames::welcome(frame)),
        ("ping", _) => wire.result(id, &json!({})),
        ("tools/list", _) => wire.result(id, &frames::list(frame, &message["params"]["cursor"])),
        ("tools/call", Some("pid")) => wire.text(id, &std::process::id().to_string()),
        ("tools/call", Some("plain")) => wire.text(id, "plain"),
        ("tools/call", Some("other")) => held.push(id.clone()),
        ("tools/call", Some("hang")) => {}
        ("tools/call", Some("any")) => {
            frames::answer(frame, id, &message["params"]["arguments"], wire);
            if frame != Some(Frame::LateReply) {
                release(wire, held);
            }
            frames::after(frame);
        }
        ("notifications/cancelled", _) if frame == Some(Frame::LateReply) => {
            wire.text(&message["params"]["requestId"], "late");
            release(wire, held);
        }
        (_, _) if id.is_null() => {}
        _ => wire.send(&json!({
            "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no such method" },
        })),
    }
}

fn release(wire: &mut Wire, held: &mut Vec<Value>) {
    for id in held.drain(..) {
        wire.text(&id, "other");
    }
}
