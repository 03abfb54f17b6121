//! Carries lines between a client and an endpoint.

use std::io::{self, BufRead, Read as _, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::terminal::Terminal;

/// Bytes that are carried at a time.
const PIECE: usize = 64 << 10;

/// Ends a process whose endpoint went away: nobody could answer what it still reads.
const SIGTERM: u8 = 15;

/// Carries both ways until the client ends its input and everything is answered.
pub(super) fn carry(
    endpoint: UnixStream,
    path: &str,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let interrupt = terminal.interrupt.clone();
    let (input, output) = terminal.pipes();
    let mut reader = endpoint.try_clone().map_err(|error| lost(&error))?;
    let mut writer = endpoint;
    writer.write_all(format!("{path}\n").as_bytes()).map_err(|error| lost(&error))?;
    let is_over = AtomicBool::new(false);
    let carried = std::thread::scope(|scope| {
        let answers = scope.spawn(|| {
            let answered = answers(&mut reader, output);
            if !is_over.load(Ordering::SeqCst) {
                interrupt.tell(SIGTERM);
            }
            answered
        });
        let asked = questions(input, &mut writer);
        is_over.store(true, Ordering::SeqCst);
        // The endpoint answers what it has, and closes. One that is gone closes nothing any more.
        let _ = writer.shutdown(Shutdown::Write);
        let answered = answers.join().unwrap_or(Ok(()));
        asked.and(answered)
    });
    carried.map_err(|error| lost(&error))?;
    Ok(Exit::Success)
}

fn questions(input: &mut dyn BufRead, writer: &mut UnixStream) -> io::Result<()> {
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            return Ok(());
        }
        let length = piece.len();
        writer.write_all(piece)?;
        input.consume(length);
    }
}

fn answers(reader: &mut UnixStream, output: &mut (dyn Write + Send)) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = reader.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        output.write_all(&piece[..length])?;
        output.flush()?;
    }
}

pub(super) fn lost(error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the endpoint cannot be reached: {error}"))
}
