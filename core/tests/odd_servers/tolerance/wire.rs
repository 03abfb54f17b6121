//! HTTP and websockets, as far as a server of a row needs them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;

use serde_json::Value;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

pub const LAST: u8 = 0x80;
pub const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The text, with the bytes that it names: `<FF>` is one that no text has.
pub fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.extend(before.bytes());
        let named = after.get(..3).filter(|it| it.ends_with('>'));
        match named.and_then(|it| u8::from_str_radix(&it[..2], 16).ok()) {
            Some(byte) => (out.push(byte), rest = &after[3..]).1,
            None => (out.push(b'<'), rest = after).1,
        }
    }
    out.extend(rest.bytes());
    out
}

/// The head of a request.
pub struct Head {
    pub method: String,
    headers: BTreeMap<String, String>,
}

impl Head {
    pub fn read(input: &mut BufReader<TcpStream>) -> Option<Head> {
        let first = line(input)?;
        let method = first.split(' ').next()?.to_owned();
        let mut headers = BTreeMap::new();
        while let Some((name, value)) = line(input)?.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        Some(Head { method, headers })
    }

    pub fn body(&self, input: &mut BufReader<TcpStream>) -> Result<String> {
        let length = self.headers.get("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or_default()];
        input.read_exact(&mut body)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

fn line(input: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = input.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}

fn lines(value: &Value) -> String {
    let lines = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    lines.map(|line| format!("{line}\r\n")).collect()
}

/// Answers with the `status`, `headers` and `body` of a row, or with its `pieces` as chunks; a body
/// whose end is the connection's has no length.
pub fn respond(out: &mut TcpStream, raw: &Value) -> Result<()> {
    let mut sent = lines(&raw["before"]);
    sent += &format!("HTTP/1.1 {}\r\n", raw["status"].as_str().unwrap_or("200 OK"));
    match raw.get("headers") {
        Some(headers) => sent += &lines(headers),
        None => sent += "content-type: application/json\r\n",
    }
    if let Some(pieces) = raw["pieces"].as_array() {
        sent += "transfer-encoding: chunked\r\n\r\n";
        let mut sent = bytes(&sent);
        for piece in pieces.iter().filter_map(Value::as_str).map(bytes) {
            let extension = raw["extension"].as_str().unwrap_or_default();
            sent.extend(format!("{:X}{extension}\r\n", piece.len()).bytes());
            sent.extend(piece);
            sent.extend(b"\r\n");
        }
        sent.extend(format!("0\r\n{}\r\n", lines(&raw["trailers"])).bytes());
        return out.write_all(&sent);
    }
    let body = bytes(raw["body"].as_str().unwrap_or_default());
    if raw["ends"] == true {
        sent += "connection: close\r\n";
    } else if raw.get("length").is_none_or(|length| length != false) {
        sent += &format!("content-length: {}\r\n", body.len());
    }
    sent += "\r\n";
    out.write_all(&[bytes(&sent), body].concat())?;
    match raw["ends"] == true {
        true => out.shutdown(std::net::Shutdown::Both),
        false => Ok(()),
    }
}

/// Opens a websocket, with what a row adds to the head, or what it has in the place of all of it.
pub fn upgrade(out: &mut TcpStream, head: &Head, more: &Value) -> Result<()> {
    let key = head.headers.get("sec-websocket-key").map(String::as_str).unwrap_or_default();
    let usual = format!(
        "upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: {}\r\nsec-websocket-protocol: mcp\r\n",
        derive_accept_key(key.as_bytes())
    );
    let usual = match more["instead"].as_array() {
        Some(_) => lines(&more["instead"]).replace("$KEY", &derive_accept_key(key.as_bytes())),
        None => usual,
    };
    write!(out, "HTTP/1.1 101 Switching Protocols\r\n{usual}{}\r\n", lines(&more["headers"]))?;
    frames(out, &more["frames"])
}

/// The frames of a row: each its first byte and its text.
pub fn frames(out: &mut TcpStream, raw: &Value) -> Result<()> {
    for one in raw.as_array().into_iter().flatten() {
        let first = u8::try_from(one[0].as_u64().unwrap()).unwrap();
        frame(out, first, &bytes(one[1].as_str().unwrap()))?;
    }
    Ok(())
}

/// A frame of a server: none is masked.
pub fn frame(out: &mut TcpStream, first: u8, payload: &[u8]) -> Result<()> {
    let mut sent = vec![first];
    match payload.len() {
        length @ ..126 => sent.push(length as u8),
        length @ ..0x1_0000 => {
            sent.push(126);
            sent.extend((length as u16).to_be_bytes());
        }
        length => {
            sent.push(127);
            sent.extend((length as u64).to_be_bytes());
        }
    }
    sent.extend(payload);
    out.write_all(&sent)
}

/// The next message of the client; none after its farewell.
pub fn next_message(
    input: &mut BufReader<TcpStream>,
    out: &mut TcpStream,
) -> Result<Option<String>> {
    loop {
        let mut head = [0; 2];
        input.read_exact(&mut head)?;
        let length = match head[1] & 0x7F {
            126 => {
                let mut long = [0; 2];
                input.read_exact(&mut long)?;
                usize::from(u16::from_be_bytes(long))
            }
            127 => {
                let mut long = [0; 8];
                input.read_exact(&mut long)?;
                usize::try_from(u64::from_be_bytes(long)).unwrap()
            }
            short => usize::from(short),
        };
        let mut mask = [0; 4];
        input.read_exact(&mut mask)?;
        let mut payload = vec![0; length];
        input.read_exact(&mut payload)?;
        payload.iter_mut().enumerate().for_each(|(at, byte)| *byte ^= mask[at % 4]);
        match head[0] & 0xF {
            CLOSE => return frame(out, LAST | CLOSE, &payload).map(|()| None),
            PING => frame(out, LAST | PONG, &payload)?,
            PONG => {}
            _ => return Ok(Some(String::from_utf8_lossy(&payload).into_owned())),
        }
    }
}
