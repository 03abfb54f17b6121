//! The same over a websocket, with frames of its own making, so that they can be wrong.

use std::io::{BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use serde_json::Value;
use tungstenite::handshake::derive_accept_key;

use super::exchange::{Request, respond};
use super::front::Front;
use crate::slow::lock;

/// Where the websocket is.
pub const SOCKET_PATH: &str = "/ws";

/// The longest frame of a client that is read.
const FRAME_BYTES_MAX: u64 = 64 << 20;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// The bit of the last frame of a message.
const LAST: u8 = 0x80;

impl Front {
    /// Serves one connection that asks for a websocket. Afterwards it is over.
    pub fn serve_socket(
        &self,
        request: &Request,
        input: &mut BufReader<TcpStream>,
        out: &mut TcpStream,
    ) -> Result<()> {
        let Some(key) = request.header("sec-websocket-key") else {
            return respond(out, "426 Upgrade Required", &["upgrade: websocket".into()], b"");
        };
        let accept = match self.faults.has("bad-accept") {
            true => derive_accept_key(b"another key"),
            false => derive_accept_key(key.as_bytes()),
        };
        let protocol = self.faults.value("subprotocol").unwrap_or("mcp");
        write!(
            out,
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
             sec-websocket-accept: {accept}\r\nsec-websocket-protocol: {protocol}\r\n\r\n"
        )?;
        let number = self.numbers.fetch_add(1, Ordering::SeqCst);
        let session = format!("session-{number}");
        let from = self.routes.listen(&session);
        let writing = &Mutex::new(out.try_clone()?);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A message that cannot be written, or Null, is the last one.
                while let Ok(message) = from.recv() {
                    if message.is_null() || self.bring(&message, writing).is_err() {
                        let _ = lock(writing).shutdown(Shutdown::Both);
                        return;
                    }
                }
            });
            let ended = self.read_frames(&session, input, writing);
            if let Some(to) = self.routes.listener(&session) {
                let _ = to.send(Value::Null);
            }
            self.routes.forget(&session);
            ended
        })
    }

    /// Reads what a client sends until it says farewell or goes.
    fn read_frames(
        &self,
        session: &str,
        input: &mut BufReader<TcpStream>,
        out: &Mutex<TcpStream>,
    ) -> Result<()> {
        loop {
            let (kind, payload) = read_frame(input)?;
            match kind {
                TEXT => self.take_text(session, &payload, out)?,
                PING => write_frame(&mut lock(out), LAST | PONG, &payload)?,
                PONG => {}
                CLOSE => {
                    if !self.faults.has("no-farewell") {
                        write_frame(&mut lock(out), LAST | CLOSE, &payload)?;
                    }
                    return Err(ErrorKind::ConnectionAborted.into());
                }
                _ => return Err(ErrorKind::InvalidData.into()),
            }
        }
    }

    fn take_text(&self, session: &str, text: &[u8], out: &Mutex<TcpStream>) -> Result<()> {
        let message: Value = serde_json::from_slice(text).map_err(Error::other)?;
        if message["method"] == "server/discover"
            && let Some(code) = self.faults.value("close-asked")
        {
            if let Ok(code) = code.parse() {
                farewell(code, &mut lock(out))?;
            }
            return Err(ErrorKind::ConnectionAborted.into());
        }
        if message["method"] == "tools/call" && self.fail_call(&mut lock(out))? {
            return Err(ErrorKind::ConnectionAborted.into());
        }
        let Some(to) = self.routes.listener(session) else { return Ok(()) };
        match message.get("id").is_some() && message.get("method").is_some() {
            true => drop(self.routes.pass_request(session, message, to)),
            false => self.routes.tell(session, message),
        }
        Ok(())
    }

    /// What happens to a call instead of an answer; `true` when that ends the connection.
    fn fail_call(&self, out: &mut TcpStream) -> Result<bool> {
        let faults = &self.faults;
        if let Some(code) = faults.value("close").or(faults.value("close-open")) {
            farewell(code.parse().unwrap_or(1011), out)?;
            while faults.has("close-open") {
                std::thread::park();
            }
        } else if faults.has("cut") {
            out.write_all(&[LAST | TEXT, 100, b'{', b'"'])?;
        } else if faults.has("huge-frame") {
            out.write_all(&[LAST | TEXT, 127])?;
            out.write_all(&(1_u64 << 40).to_be_bytes())?;
            return Ok(false);
        } else if faults.has("endless-message") {
            write_frame(out, TEXT, b"{\"a\":\"")?;
            loop {
                write_frame(out, 0, &[b'x'; 16 << 10])?;
            }
        } else if faults.has("bad-frame") {
            out.write_all(&[0xFF, 0x00])?;
            return Ok(false);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Writes a message in the form that the faults ask for.
    fn bring(&self, message: &Value, out: &Mutex<TcpStream>) -> Result<()> {
        let text = message.to_string();
        let text = text.as_bytes();
        let out = &mut lock(out);
        if self.faults.has("noise") {
            write_frame(out, LAST | TEXT, b"by the way")?;
        }
        if self.faults.has("pings") {
            write_frame(out, LAST | PING, b"are you there")?;
        }
        if self.faults.has("binary") {
            return write_frame(out, LAST | BINARY, text);
        }
        if self.faults.has("fragments") {
            let (first, rest) = text.split_at(text.len() / 2);
            write_frame(out, TEXT, first)?;
            write_frame(out, LAST | PING, b"within")?;
            return write_frame(out, LAST, rest);
        }
        write_frame(out, LAST | TEXT, text)
    }
}

/// The kind and the payload of one frame of a client, which is masked.
fn read_frame(input: &mut impl Read) -> Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    input.read_exact(&mut head)?;
    let length = match head[1] & 0x7F {
        126 => u64::from(u16::from_be_bytes(read(input)?)),
        127 => u64::from_be_bytes(read(input)?),
        short => u64::from(short),
    };
    if head[1] & 0x80 == 0 || head[0] & LAST == 0 || length > FRAME_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    let mask: [u8; 4] = read(input)?;
    let mut payload = vec![0; length as usize];
    input.read_exact(&mut payload)?;
    payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    Ok((head[0] & 0x0F, payload))
}

fn farewell(code: u16, out: &mut TcpStream) -> Result<()> {
    write_frame(out, LAST | CLOSE, &[&code.to_be_bytes()[..], b"the reason"].concat())
}

fn read<const N: usize>(input: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn write_frame(out: &mut TcpStream, kind: u8, payload: &[u8]) -> Result<()> {
    let mut frame = vec![kind];
    match payload.len() {
        length @ 0..=125 => frame.push(length as u8),
        length @ 126..=0xFFFF => {
            frame.push(126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    out.write_all(&frame)
}
