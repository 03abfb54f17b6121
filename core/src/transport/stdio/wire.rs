//! The pipes of one child process as a wire: its reader, its writer, its stderr and its end.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use trunkline_pool::reader_role::Lending;
use trunkline_pool::state::CloseExit;

use super::eager_read::Early;
use super::reader_role::{Offered, Output, OutputStream};
use super::{shutdown, stderr};
use crate::base::poll_on_wake::Seldom;
use crate::base::wakes::Batch;
use crate::net::redact::Redactor;
use crate::platform::{Launched, ReadPipe, Room};
use crate::transport::child::{Child, StderrTail};
use crate::transport::coalesce::{self, BatchGuard};
use crate::transport::{
    AnswerReader, BoxFuture, DisconnectCause, EventLoop, FrameKind, FrameReader, FrameWriter,
    Graces, Inbound, Via, Wire, WriteOutcome,
};
use crate::{Error, ErrorCode, Result};

/// How long the reader has the word when a write has failed.
const LAST_ANSWERS_WAIT: Duration = Duration::from_millis(5);

/// A child process that speaks over its stdin and stdout.
pub(crate) struct StdioWire {
    pub(super) server: Arc<str>,
    pub(super) writer: Arc<FrameWriter>,
    pub(super) child: Child,
    /// Takes the server's own secrets out of what it prints.
    pub(super) redactor: Arc<Redactor>,
    /// Set when stderr has been read to its end.
    pub(super) stderr_read: watch::Sender<bool>,
    /// Set when nothing of the tree is left.
    ended: watch::Sender<bool>,
    /// Who reads stdout.
    output: Output,
    /// What its task looks for before it waits.
    early: Early,
    /// Stdout and stderr, until their readers have them.
    outputs: Mutex<Option<(ReadPipe, ReadPipe)>>,
    frame_bytes: usize,
}

/// The bounds of a wire of pipes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StdioLimits {
    /// Of one frame, in bytes.
    pub frame: usize,
    /// Kept of stderr, in bytes.
    pub stderr: usize,
    /// When waiters read for themselves.
    pub lending: Lending,
}

impl StdioWire {
    /// Takes over a started program. Nothing is read before `run`.
    pub(crate) fn new(
        server: Arc<str>,
        launched: Launched,
        redactor: Arc<Redactor>,
        limits: StdioLimits,
    ) -> StdioWire {
        let Launched { process, stdin, stdout, stderr } = launched;
        StdioWire {
            server,
            writer: Arc::new(FrameWriter::new(stdin)),
            child: Child { process, stderr: StderrTail::new(limits.stderr) },
            redactor,
            stderr_read: watch::Sender::new(false),
            ended: watch::Sender::new(false),
            output: Output::new(limits.lending),
            early: Early::default(),
            outputs: Mutex::new(Some((stdout, stderr))),
            frame_bytes: limits.frame,
        }
    }
}

impl Wire for StdioWire {
    fn run(self: Arc<Self>, inbound: Arc<dyn Inbound>) {
        let outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((stdout, stderr)) = outputs else { return };
        tokio::spawn(read_frames(self.clone(), stdout, inbound.clone()));
        tokio::spawn(write_frames(self.clone(), inbound.clone()));
        tokio::spawn(read_stderr(self, stderr, inbound));
    }

    fn send(&self, frame: &[u8], kind: FrameKind) -> WriteOutcome {
        self.writer.send(frame, kind)
    }

    fn request_written(&self, inbound: &dyn Inbound) {
        // Elsewhere another thread would be woken for it.
        if coalesce::reads_on_this_thread() && inbound.awaited() == 1 {
            self.early.ask();
        }
    }

    fn is_broken(&self) -> bool {
        self.writer.is_broken()
    }

    fn recall_reader(&self) {
        self.output.recall();
    }

    fn read_here(&self, request: u64, inbound: &dyn Inbound) {
        self.output.read_here(request, inbound);
    }

    fn lend_to(&self, event_loop: &EventLoop, request: u64, inbound: &dyn Inbound) -> AnswerReader {
        self.output.lend_to(event_loop, request, inbound)
    }

    fn read_ready(&self, request: u64, inbound: &dyn Inbound) -> bool {
        self.output.read_ready(request, inbound)
    }

    fn withdraw(&self, request: u64) -> bool {
        self.writer.withdraw(request)
    }

    fn unsent(&self) -> HashSet<u64> {
        self.writer.unsent()
    }

    fn stop(&self) -> Vec<u64> {
        self.writer.stop()
    }

    fn end(
        self: Arc<Self>,
        graces: Graces,
        killed: watch::Receiver<bool>,
    ) -> BoxFuture<'static, CloseExit> {
        Box::pin(async move {
            let exit = shutdown::end_tree(
                &self.server,
                &self.child,
                &self.writer,
                self.stderr_read.subscribe(),
                graces,
                killed,
            )
            .await;
            self.ended.send_replace(true);
            exit
        })
    }

    fn was_read(&self) -> bool {
        self.writer.was_read()
    }

    fn child(&self) -> Option<&Child> {
        Some(&self.child)
    }
}

/// Reads until the server's output ends or its process does. The body of one task.
async fn read_frames(wire: Arc<StdioWire>, stdout: ReadPipe, inbound: Arc<dyn Inbound>) {
    let result = read_on(&wire, stdout, &*inbound).await;
    inbound.lost(result.err().map_or(DisconnectCause::OutputClosed, DisconnectCause::Broken)).await;
}

/// Writes what callers had to queue, until the pipe is closed. The body of one task.
async fn write_frames(wire: Arc<StdioWire>, inbound: Arc<dyn Inbound>) {
    if wire.writer.drain().await.is_err() {
        // Mostly the process has ended, and answers may still be in the pipe; a server that only
        // closed its input is lost too.
        tokio::time::sleep(LAST_ANSWERS_WAIT).await;
        inbound.lost(DisconnectCause::InputClosed).await;
    }
}

/// Reads stderr to its end, or until nothing of the tree is left: a process that escaped may hold
/// it open.
async fn read_stderr(wire: Arc<StdioWire>, pipe: ReadPipe, inbound: Arc<dyn Inbound>) {
    let mut ended = wire.ended.subscribe();
    tokio::select! {
        biased;
        () = stderr::drain(&wire.child, &wire.redactor, &pipe, &*inbound) => {}
        _ = ended.wait_for(|ended| *ended) => {}
    }
    wire.stderr_read.send_replace(true);
}

/// Ends with the stream, or with the process.
///
/// # Errors
/// When the stream cannot be followed any more.
async fn read_on(wire: &StdioWire, mut stdout: ReadPipe, inbound: &dyn Inbound) -> Result<()> {
    let mut frames = FrameReader::new(wire.frame_bytes);
    let exited = wire.child.process.exited();
    let mut exited = Seldom::new(exited);
    loop {
        let read = tokio::select! {
            biased;
            () = wire.early.asked() => match look(wire, &stdout, &mut frames) {
                Some(read) => read,
                None => continue,
            },
            read = stdout.read(&mut frames) => read,
            // What it wrote before its end still counts; a descendant that holds the pipe does not.
            _ = &mut exited => return read_rest(wire.frame_bytes, &stdout, &mut frames, inbound),
        };
        match read {
            Ok(0) => return take_last_line(&mut frames, inbound),
            Ok(_) => {
                inbound.heard();
                if let Some(turn) = take_lines(&mut frames, inbound)? {
                    turn.end_behind_others().await;
                }
            }
            Err(error) => return Err(unreadable(wire, &error)),
        }
        (stdout, frames) = match wire.output.offer(stdout, frames, inbound) {
            Offered::Kept(stdout, frames) => (stdout, frames),
            Offered::Lent => {
                let (lent, has_exited) = tokio::select! {
                    biased;
                    lent = wire.output.returned() => (lent, false),
                    _ = &mut exited => (wire.output.call_in().await, true),
                };
                let (stdout, mut frames) = take_back(wire, lent, inbound)?;
                if has_exited {
                    return read_rest(wire.frame_bytes, &stdout, &mut frames, inbound);
                }
                (stdout, frames)
            }
        };
    }
}

/// Reads what is there now; nothing when nothing is.
fn look(
    wire: &StdioWire,
    stdout: &ReadPipe,
    frames: &mut FrameReader,
) -> Option<io::Result<usize>> {
    let read = stdout.read_now(frames.room());
    let is_empty = matches!(&read, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
    wire.early.looked(!is_empty);
    (!is_empty).then_some(read)
}

/// What a waiter has read and not taken comes first: its call is answered, whatever becomes of the
/// pipe.
fn take_back(
    wire: &StdioWire,
    lent: OutputStream,
    inbound: &dyn Inbound,
) -> Result<(ReadPipe, FrameReader)> {
    let OutputStream { pipe, mut frames, borrower } = lent;
    drop(borrower);
    drop(take_lines(&mut frames, inbound)?);
    let stdout = pipe.take_back().map_err(|error| unreadable(wire, &error))?;
    Ok((stdout, frames))
}

fn unreadable(wire: &StdioWire, error: &io::Error) -> Error {
    let message = format!("its output cannot be read: {}", error.kind());
    Error::new(ErrorCode::Protocol, message).with_server(wire.server.as_ref())
}

/// Takes what is left in the pipe, at most as much as one frame may have.
fn read_rest(
    mut left: usize,
    stdout: &ReadPipe,
    frames: &mut FrameReader,
    inbound: &dyn Inbound,
) -> Result<()> {
    while left > 0 {
        match stdout.read_now(frames.room()) {
            Ok(0) | Err(_) => break,
            Ok(count) => left = left.saturating_sub(count),
        }
        drop(take_lines(frames, inbound)?);
    }
    take_last_line(frames, inbound)
}

/// Event loops are woken once, when all are taken. Several are a turn, whose end is the caller's.
fn take_lines(frames: &mut FrameReader, inbound: &dyn Inbound) -> Result<Option<BatchGuard>> {
    let _wakes = Batch::of_those_behind();
    let Some(line) = frames.next_line() else { return Ok(None) };
    inbound.take(line, Via::Common)?;
    let mut turn = None;
    while let Some(line) = frames.next_line() {
        turn = turn.or_else(BatchGuard::begin);
        inbound.take(line, Via::Common)?;
    }
    Ok(turn)
}

fn take_last_line(frames: &mut FrameReader, inbound: &dyn Inbound) -> Result<()> {
    frames.last_line().map_or(Ok(()), |line| inbound.take_last(line))
}
