//! One JSON-RPC message a line, in both directions, on a Unix socket.
//!
//! A connection has one outlet for everything. Legacy messages go to a client of its own, modern
//! ones to the client that the principal's modern requests share (SPEC 19.4).

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use trunkline_pool::bridge::{MessageEra, era_of};

use super::front::Front;
use super::rpc_errors;
use crate::platform::Room as _;
use crate::serve::lane::{LaneError, LaneKind, Principal, Served, ServedPath};
use crate::serve::outlet::{FrameOutbox, Outlet, OutletBounds, OutletItem};
use crate::transport::{FrameReader, ServerLine};

/// Serves a connection until its client closes it, reads too slowly, or the endpoint closes it.
///
/// A dropped future closes the session that the connection has.
pub(super) async fn serve(
    front: Arc<Front>,
    (reader, writer): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    who: Principal,
) {
    let bounds = OutletBounds {
        ends_with_last: false,
        unsent_bytes_max: front.bounds.outbox_bytes,
        replay_bytes_max: 0,
    };
    let (outlet, outbox) = Outlet::new(front.next_stream(), bounds);
    let mut connection = LineConnection {
        front: front.clone(),
        who,
        path: Ok(ServedPath::default()),
        outlet: outlet.clone(),
        legacy: None,
        modern: None,
    };
    let writes = write_all(&front, outbox, writer);
    tokio::pin!(writes);
    tokio::select! {
        () = &mut writes => return,
        () = connection.read_all(reader) => {}
    }
    // What the client asked before it closed may be answered already; what runs is cancelled.
    connection.close();
    outlet.send(OutletItem::Close);
    writes.await;
}

/// A connection as its messages come.
struct LineConnection {
    front: Arc<Front>,
    who: Principal,
    /// An error is answered to the first request.
    path: Result<ServedPath, LaneError>,
    outlet: Outlet,
    legacy: Option<Arc<dyn Served>>,
    modern: Option<Arc<dyn Served>>,
}

impl LineConnection {
    async fn read_all(&mut self, mut reader: impl AsyncRead + Unpin) {
        let mut lines = FrameReader::new(self.front.bounds.body_bytes);
        let mut is_first = true;
        loop {
            let ended = match reader.read_buf(lines.room()).await {
                Ok(read) => read == 0,
                Err(_) => return,
            };
            loop {
                let line = match lines.next_line() {
                    None if ended => lines.last_line(),
                    line => line,
                };
                let Some(line) = line.map(text_of) else { break };
                let is_path = std::mem::take(&mut is_first)
                    && line.as_ref().is_some_and(|line| line.starts_with('/'));
                match line {
                    Some(path) if is_path => {
                        let parsed = ServedPath::parse(&path);
                        self.path = parsed.ok_or_else(|| rpc_errors::not_served(&path));
                    }
                    Some(text) => {
                        if let Err(error) = self.take(&text).await {
                            return self.answer(rpc_errors::answer_to(&text, &error));
                        }
                    }
                    None => self.answer(rpc_errors::unreadable()),
                }
            }
            if ended {
                return;
            }
        }
    }

    /// Hands a message on. An error ends the connection.
    async fn take(&mut self, text: &str) -> Result<(), LaneError> {
        match era_of(text, None) {
            MessageEra::Unreadable => self.answer(rpc_errors::unreadable()),
            MessageEra::Modern { .. } => {
                let client = self.modern().await?;
                client.message(text, None, self.outlet.clone());
            }
            MessageEra::Notice if self.modern.is_some() => {
                for client in [&self.modern, &self.legacy].into_iter().flatten() {
                    client.message(text, None, self.outlet.clone());
                }
            }
            MessageEra::Notice | MessageEra::Legacy | MessageEra::Initialize => {
                let client = self.legacy().await?;
                client.message(text, None, self.outlet.clone());
            }
        }
        Ok(())
    }

    async fn modern(&mut self) -> Result<Arc<dyn Served>, LaneError> {
        if let Some(client) = &self.modern {
            return Ok(client.clone());
        }
        let path = self.path.as_ref().map_err(LaneError::clone)?;
        let client = self.front.clients.modern(path, &self.who, LaneKind::Lines).await?;
        self.modern = Some(client.clone());
        Ok(client)
    }

    async fn legacy(&mut self) -> Result<Arc<dyn Served>, LaneError> {
        if let Some(client) = &self.legacy {
            return Ok(client.clone());
        }
        let path = self.path.as_ref().map_err(LaneError::clone)?;
        let client = self.front.clients.legacy(path, &self.who, LaneKind::Lines).await?;
        client.stream(self.outlet.clone());
        self.legacy = Some(client.clone());
        Ok(client)
    }

    fn answer(&self, text: String) {
        self.outlet.send(OutletItem::Frame { text, last: false, status: 200, droppable: false });
    }

    fn close(&mut self) {
        if let Some(client) = self.legacy.take() {
            client.close();
        }
        if let Some(client) = self.modern.take() {
            client.stream_closed(self.outlet.stream());
        }
    }
}

impl Drop for LineConnection {
    fn drop(&mut self) {
        self.close();
    }
}

/// The text of a line; nothing for one that is too long or not UTF-8.
fn text_of(line: ServerLine<'_>) -> Option<String> {
    match line {
        ServerLine::Whole(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        ServerLine::Oversized(_) => None,
    }
}

/// Writes what is queued until the stream ends or the client stops reading.
async fn write_all(front: &Front, mut outbox: FrameOutbox, mut writer: impl AsyncWrite + Unpin) {
    while let Ok(frame) = outbox.next().await {
        let line = one_line(&frame.text);
        let written = async {
            writer.write_all(line.as_bytes()).await?;
            writer.flush().await
        };
        let is_written = tokio::select! {
            written = tokio::time::timeout(front.bounds.stall, written) => written,
            () = outbox.overflowed() => return,
        };
        if !matches!(is_written, Ok(Ok(()))) {
            return;
        }
    }
}

/// The frame as one line. Outside of texts a newline is white space; inside it is an escape.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 1);
    line.push_str(text);
    if line.contains(['\n', '\r']) {
        line = line.replace(['\n', '\r'], " ");
    }
    line.push('\n');
    line
}
