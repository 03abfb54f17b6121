//! What a client of a server over pipes cannot do without, and nothing else: the same calls as ours
//! by a task on tokio and by a thread, and a thousand tasks that are told of one thing.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Child;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{Notify, mpsc, oneshot};
use trunkline_pool::id_map::IdMap;

use crate::{cpu_time, report};

/// A client on tokio: a task that reads, one table of what is in flight, and of each call a channel
/// and a deadline.
pub struct TaskClient {
    input: Sender,
    calls: Arc<Mutex<IdMap<u64, oneshot::Sender<Vec<u8>>>>>,
    last: AtomicU64,
}

impl TaskClient {
    /// Shakes hands, and begins to read.
    pub async fn new(child: &mut Child) -> Result<TaskClient> {
        let (input, output) = ends(child)?;
        let (input, mut output) = (Sender::from_owned_fd(input)?, Receiver::from_owned_fd(output)?);
        let calls: Arc<Mutex<IdMap<u64, oneshot::Sender<Vec<u8>>>>> = Arc::default();
        let table = calls.clone();
        tokio::spawn(async move {
            let (mut buffer, mut filled) = (vec![0; BUFFER_BYTES], 0);
            loop {
                let count = output.read(&mut buffer[filled..]).await.unwrap_or(0);
                if count == 0 {
                    return;
                }
                filled += count;
                while let Some(end) = memchr::memchr(b'\n', &buffer[..filled]) {
                    let waits = id_of(&buffer[..end]).and_then(|id| lock(&table).remove(&id));
                    waits.map(|waits| waits.send(buffer[..end].to_vec()));
                    buffer.copy_within(end + 1..filled, 0);
                    filled -= end + 1;
                }
            }
        });
        // From here on it is written to without a question.
        input.writable().await?;
        let client = TaskClient { input, calls, last: AtomicU64::new(FIRST_ID) };
        client.ask(0, HELLO).await?;
        client.write(READY)?;
        Ok(client)
    }

    /// One call.
    pub async fn call(&self, bytes: usize) -> Result<()> {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        self.ask(id, &request(id, bytes)).await.map(drop)
    }

    async fn ask(&self, id: u64, request: &str) -> Result<Vec<u8>> {
        let (send, answer) = oneshot::channel();
        lock(&self.calls).insert(id, send);
        self.write(request)?;
        tokio::time::timeout(DEADLINE, answer).await?.map_err(Error::other)
    }

    fn write(&self, frame: &str) -> Result<()> {
        let count = self.input.try_write(frame.as_bytes())?;
        assert_eq!(count, frame.len(), "the pipe has room");
        Ok(())
    }
}

/// A client whose calls block: a lock, since threads share the connection, and a wait that has an
/// end.
pub struct ThreadClient {
    /// Where it writes, where it reads, and what it reads into.
    ends: Mutex<(File, File, Vec<u8>)>,
    last: AtomicU64,
}

impl ThreadClient {
    /// Shakes hands.
    pub fn new(child: &mut Child) -> Result<ThreadClient> {
        let (input, output) = ends(child)?;
        let ends = Mutex::new((input.into(), output.into(), vec![0; BUFFER_BYTES]));
        let client = ThreadClient { ends, last: AtomicU64::new(FIRST_ID) };
        client.ask(0, HELLO)?;
        lock(&client.ends).0.write_all(READY.as_bytes())?;
        Ok(client)
    }

    /// One call.
    pub fn call(&self, bytes: usize) -> Result<()> {
        let id = self.last.fetch_add(1, Ordering::Relaxed);
        self.ask(id, &request(id, bytes)).map(drop)
    }

    fn ask(&self, id: u64, request: &str) -> Result<Vec<u8>> {
        let (input, output, buffer) = &mut *lock(&self.ends);
        input.write_all(request.as_bytes())?;
        let (until, mut filled) = (Instant::now() + DEADLINE, 0);
        loop {
            let wait = until.saturating_duration_since(Instant::now()).as_millis() as libc::c_int;
            let mut asked =
                libc::pollfd { fd: output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry, which the system writes to during the call; the descriptor is
            // open.
            if unsafe { libc::poll(&raw mut asked, 1, wait) } != 1 {
                return Err(ErrorKind::TimedOut.into());
            }
            let count = output.read(&mut buffer[filled..])?;
            let end = memchr::memchr(b'\n', &buffer[filled..filled + count]);
            if let Some(end) = end.map(|at| filled + at) {
                assert_eq!(id_of(&buffer[..end]), Some(id), "nobody else asks");
                return Ok(buffer[..end].to_vec());
            }
            filled += count;
        }
    }
}

/// `told-1000`: from the moment at which somebody begins to tell a thousand tasks of one thing,
/// each by a bounded queue of its own, until each has it. They run when all were told.
pub async fn told() {
    let (left, all) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let listen = |_| {
        let (send, mut receive) = mpsc::channel::<Arc<str>>(BACKLOG);
        let (left, all) = (left.clone(), all.clone());
        tokio::spawn(async move {
            while receive.recv().await.is_some() {
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    all.notify_one();
                }
            }
        });
        send
    };
    let queues: Vec<mpsc::Sender<Arc<str>>> = (0..TASKS).map(listen).collect();
    let mut times = Vec::with_capacity(CHANGES);
    let (started, cpu) = (Instant::now(), cpu_time());
    for _ in 0..CHANGES {
        tokio::time::sleep(BETWEEN).await;
        let (began, event) = (Instant::now(), Arc::<str>::from(HELLO));
        left.store(TASKS, Ordering::Relaxed);
        for queue in &queues {
            queue.try_send(event.clone()).expect("the queue has room");
        }
        all.notified().await;
        times.push(began.elapsed());
    }
    report("told-1000", &mut times, started.elapsed(), cpu_time() - cpu);
}

fn ends(child: &mut Child) -> Result<(OwnedFd, OwnedFd)> {
    let ends = child.stdin.take().zip(child.stdout.take());
    let (input, output) = ends.ok_or_else(|| Error::other("both are pipes"))?;
    Ok((input.into(), output.into()))
}

fn request(id: u64, bytes: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":\
         {{\"name\":\"big\",\"arguments\":{{\"bytes\":{bytes}}}}}}}\n"
    )
}

/// The id of an answer in the form that the server has.
fn id_of(frame: &[u8]) -> Option<u64> {
    let rest = frame.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |id, digit| id * 10 + u64::from(digit - b'0')))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"least","version":"1"}}}"#,
    "\n"
);

const READY: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// Those of ours begin there.
const FIRST_ID: u64 = 1 << 32;

const DEADLINE: Duration = Duration::from_secs(60);

/// More than the longest answer.
const BUFFER_BYTES: usize = 1 << 18;

const TASKS: usize = 1000;

/// As many as wait for a subscriber of ours.
const BACKLOG: usize = 1024;

const CHANGES: usize = 10;

/// As between the changes that ours are told of.
const BETWEEN: Duration = Duration::from_millis(300);
