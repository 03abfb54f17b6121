//! HTTP/1.1 as far as a test needs it: a request in, a response or a stream of events out.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;

/// One request.
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// The next request of a connection; nothing when it ended.
    pub fn read(input: &mut BufReader<TcpStream>) -> Option<Request> {
        let first = line(input)?;
        let mut words = first.split(' ');
        let (method, path) = (words.next()?.to_string(), words.next()?.to_string());
        let mut headers = BTreeMap::new();
        loop {
            let line = line(input)?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_string());
        }
        let length = headers.get("content-length").and_then(|text| text.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        input.read_exact(&mut body).ok()?;
        Some(Request { method, path, headers, body })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

fn line(input: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(1..) => Some(line.trim_end().to_string()),
        Ok(0) | Err(_) => None,
    }
}

/// A whole response; `headers` are lines.
pub fn respond(out: &mut TcpStream, status: &str, headers: &[String], body: &[u8]) -> Result<()> {
    let mut head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    out.write_all(&[head.as_bytes(), body].concat())
}

/// A ping, or a list, that is not answered with a result: the server is busy, or says that it knows
/// no such method.
pub fn refuse_with(status: &str, out: &mut TcpStream) -> Result<()> {
    if status == "429" {
        return respond(out, "429 Too Many Requests", &["retry-after: 3600".into()], b"");
    }
    let body = br#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no such method"},"id":null}"#;
    respond(out, &format!("{status} As Told"), &["content-type: application/json".into()], body)
}

/// A response in chunks.
pub struct Chunks<'a>(&'a mut TcpStream);

impl<'a> Chunks<'a> {
    pub fn begin(
        out: &'a mut TcpStream,
        media_type: &str,
        headers: &[String],
    ) -> Result<Chunks<'a>> {
        let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        write!(
            out,
            "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n{more}\r\n"
        )?;
        Ok(Chunks(out))
    }

    pub fn write(&mut self, text: &[u8]) -> Result<()> {
        let head = format!("{:x}\r\n", text.len());
        self.0.write_all(&[head.as_bytes(), text, b"\r\n"].concat())
    }

    pub fn event(&mut self, text: &str) -> Result<()> {
        self.write(format!("event: message\ndata: {text}\n\n").as_bytes())
    }

    pub fn end(self) -> Result<()> {
        self.0.write_all(b"0\r\n\r\n")
    }
}

/// Gzip of one block, with the code of its longest match by its shortest: each byte after its head
/// is 1032 more of what it inflates to.
pub fn bomb() -> Vec<u8> {
    const HEAD: &[u8] =
        b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xec\xc1\x01\x01\0\0\0\x80\x90\xfe\xaf\xee\x08\x0a";
    let mut bomb = HEAD.to_vec();
    bomb.resize(4 << 20, 0);
    bomb
}
