//! Bad frames: what stands on the wire in place of an answer, or around it.

use std::io::Write;

use serde_json::{Value, json};

use crate::family;

/// One kind of bad frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frame {
    OverLimit,
    DeepResult,
    DuplicateId,
    UnknownId,
    LateReply,
    HalfLine,
    CrLf,
    Bom,
    Garbage,
    NullId,
    ResultAndError,
    MalformedTool,
    EndlessCursors,
    RepeatedCursor,
    OldRevision,
    StderrFlood,
    UnreadableWithId,
    UnreadableWithoutId,
    StopsReading,
    /// What the call itself says, byte by byte.
    Said,
}

const FRAMES: [(&str, Frame); 20] = [
    ("over-limit", Frame::OverLimit),
    ("deep-result", Frame::DeepResult),
    ("duplicate-id", Frame::DuplicateId),
    ("unknown-id", Frame::UnknownId),
    ("late-reply", Frame::LateReply),
    ("half-line", Frame::HalfLine),
    ("crlf", Frame::CrLf),
    ("bom", Frame::Bom),
    ("garbage", Frame::Garbage),
    ("null-id", Frame::NullId),
    ("result-and-error", Frame::ResultAndError),
    ("malformed-tool", Frame::MalformedTool),
    ("endless-cursors", Frame::EndlessCursors),
    ("repeated-cursor", Frame::RepeatedCursor),
    ("old-revision", Frame::OldRevision),
    ("stderr-flood", Frame::StderrFlood),
    ("unreadable-with-id", Frame::UnreadableWithId),
    ("unreadable-without-id", Frame::UnreadableWithoutId),
    ("stops-reading", Frame::StopsReading),
    ("said", Frame::Said),
];

impl Frame {
    pub fn named(name: &str) -> Option<Frame> {
        FRAMES.iter().find(|(known, _)| *known == name).map(|(_, frame)| *frame)
    }

    pub fn names() -> Vec<&'static str> {
        FRAMES.iter().map(|(name, _)| *name).collect()
    }
}

/// Standard output, one message a line.
pub struct Wire {
    /// What comes before the first message.
    begin: Vec<u8>,
    end: &'static [u8],
    is_silent: bool,
    /// How many messages are written before the process ends.
    left: Option<u32>,
}

impl Wire {
    pub fn new(frame: Option<Frame>, before: &str, left: Option<u32>) -> Wire {
        let mark = if frame == Some(Frame::Bom) { "\u{feff}" } else { "" };
        let begin = [mark, before].concat().into_bytes();
        let end: &[u8] = if frame == Some(Frame::CrLf) { b"\r\n" } else { b"\n" };
        Wire { begin, end, is_silent: false, left }
    }

    /// Writes nothing any more.
    pub fn fall_silent(&mut self) {
        self.is_silent = true;
    }

    /// Writes these bytes; a server whose client has gone has nothing left to do.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.is_silent {
            return;
        }
        let mut out = std::io::stdout().lock();
        let begin = std::mem::take(&mut self.begin);
        let written =
            out.write_all(&begin).and_then(|()| out.write_all(bytes)).and_then(|()| out.flush());
        if written.is_err() {
            std::process::exit(0);
        }
    }

    pub fn line(&mut self, bytes: &[u8]) {
        self.write(&[bytes, self.end].concat());
        self.left = self.left.map(|left| left.saturating_sub(1));
        if self.left == Some(0) {
            std::process::exit(3);
        }
    }

    pub fn send(&mut self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    pub fn result(&mut self, id: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// A tool's result of one text block.
    pub fn text(&mut self, id: &Value, text: &str) {
        self.result(id, &json!({ "content": [{ "type": "text", "text": text }] }));
    }
}

/// The result of the handshake.
pub fn welcome(frame: Option<Frame>) -> Value {
    let revision = if frame == Some(Frame::OldRevision) { "1999-01-01" } else { "2025-11-25" };
    json!({
        "protocolVersion": revision,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "trunkline-faultserver", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// What a server of the modern era says of itself.
pub fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": { "tools": {} },
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo":
            { "name": "trunkline-faultserver", "version": env!("CARGO_PKG_VERSION") } },
    })
}

/// A page of the list of tools.
pub fn list(frame: Option<Frame>, cursor: &Value) -> Value {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let mut tools = ["any", "plain", "other", "hang", "pid"].map(tool).to_vec();
    if frame == Some(Frame::MalformedTool) {
        tools.insert(1, json!({ "name": "malformed", "inputSchema": 7 }));
    }
    let page: u64 = cursor.as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or_default();
    match frame {
        Some(Frame::EndlessCursors) => {
            json!({ "tools": tools, "nextCursor": (page + 1).to_string() })
        }
        Some(Frame::RepeatedCursor) => json!({ "tools": tools, "nextCursor": "1" }),
        _ => json!({ "tools": tools }),
    }
}

/// What the call of `any` gets.
pub fn answer(frame: Option<Frame>, id: &Value, arguments: &Value, wire: &mut Wire) {
    match (frame, arguments["line"].as_str()) {
        (Some(Frame::Said), Some(line)) => wire.line(&said(line, id)),
        _ => answer_as_flagged(frame, id, wire),
    }
}

/// The bytes of a line: each character is one byte, and `$ID` the id of the call.
fn said(line: &str, id: &Value) -> Vec<u8> {
    line.replace("$ID", &id.to_string()).chars().map(|it| u32::from(it) as u8).collect()
}

fn answer_as_flagged(frame: Option<Frame>, id: &Value, wire: &mut Wire) {
    match frame {
        Some(Frame::OverLimit) => {
            wire.write(
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#
                )
                .as_bytes(),
            );
            (0..LINE_CHUNKS).for_each(|_| wire.write(&[b'x'; CHUNK_BYTES]));
            wire.line(br#""}]}}"#);
        }
        Some(Frame::DeepResult) => {
            let deep = ["[".repeat(DEPTH), "]".repeat(DEPTH)].concat();
            let result = format!(r#"{{"content":[],"structuredContent":{{"deep":{deep}}}}}"#);
            wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).as_bytes());
        }
        Some(Frame::DuplicateId) => {
            wire.text(id, "any");
            wire.text(id, "again");
        }
        Some(Frame::HalfLine) => {
            wire.write(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"ha"#).as_bytes());
            std::process::exit(0);
        }
        Some(Frame::ResultAndError) => wire.send(&json!({
            "jsonrpc": "2.0", "id": id, "result": {}, "error": { "code": 1, "message": "both" },
        })),
        Some(Frame::UnreadableWithId) => {
            wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":nope}}}}"#).as_bytes());
        }
        Some(Frame::UnreadableWithoutId) => wire.line(br#"{"jsonrpc":"2.0",nope}"#),
        // It is answered when it has been cancelled.
        Some(Frame::LateReply) => {}
        // It is never answered.
        Some(Frame::StopsReading) => {}
        _ => {
            before(frame, wire);
            wire.text(id, "any");
        }
    }
}

/// What comes before an answer that is as it should be.
fn before(frame: Option<Frame>, wire: &mut Wire) {
    match frame {
        Some(Frame::UnknownId) => {
            for id in [
                json!(987_654_321),
                json!("abc"),
                json!(-1),
                json!(1.5),
                json!([1]),
                json!({}),
                json!(true),
            ] {
                wire.text(&id, "nobody's");
                wire.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": "nobody's" } }));
            }
        }
        Some(Frame::NullId) => wire.send(&json!({
            "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "what?" },
        })),
        Some(Frame::Garbage) => {
            let lines: [&[u8]; 12] = [
                b"Starting",
                b"[1,2]",
                b"\xff\xfe\x00",
                b"",
                b"null",
                b"}",
                b"\"text\"",
                b"{",
                b"{}",
                br#"{"level":"info","msg":"ready"}"#,
                br#"{"level":"info","method":"GET","path":"/x","status":200}"#,
                br#"{"level":"error","error":"dial tcp: refused"}"#,
            ];
            lines.iter().for_each(|line| wire.line(line));
        }
        Some(Frame::StderrFlood) => flood(),
        _ => {}
    }
}

/// What comes after the answers.
pub fn after(frame: Option<Frame>) {
    if frame == Some(Frame::StopsReading) {
        family::wait_for_a_signal();
    }
}

/// One long line, then as much again in shorter ones.
fn flood() {
    let mut stderr = std::io::stderr().lock();
    for chunk in 0..FLOOD_CHUNKS {
        let mut bytes = [b'x'; CHUNK_BYTES];
        if chunk >= FLOOD_CHUNKS / 2 {
            bytes.iter_mut().step_by(LINE_BYTES).for_each(|byte| *byte = b'\n');
        }
        if stderr.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// How deep the deep result is nested.
const DEPTH: usize = 200_000;

const CHUNK_BYTES: usize = 64 << 10;

/// A line of the flood: few enough lines that a host which listens to all of them is not the
/// measure.
const LINE_BYTES: usize = 16 << 10;

/// 16 MiB of result on one line.
const LINE_CHUNKS: usize = 256;

/// 16 MiB of standard error: many times what a pipe holds and what is kept of it.
const FLOOD_CHUNKS: usize = 256;

#[cfg(test)]
mod tests {
    use super::Frame;
    use serde_json::Value;

    #[test]
    fn every_bad_frame_has_its_outcome_written_down() {
        let written: Value = serde_json::from_str(include_str!("behaviours.json")).unwrap();
        let frames = written["frames"].as_array().unwrap().iter();
        let mut named: Vec<&str> = frames.filter_map(|row| row["frame"].as_str()).collect();
        named.dedup();
        assert_eq!(named, Frame::names());
    }
}
