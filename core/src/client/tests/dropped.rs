//! Connects that are dropped at each of their await points, over every transport (SECURITY row 8, I-04).

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::task::Poll;

use super::*;
use crate::score;

/// Drops a connect ever later, until it is there before that. After each nothing may be left.
async fn dropped_at_every_poll(server: &Server, is_left: impl Fn() -> bool) {
    let spec = ServerSpec::from_value("s", &server.value).unwrap();
    let mut polls = 0;
    loop {
        let (_wanted, cancel) = watch::channel(None);
        let events = Arc::<Recorder>::default();
        let attempt = Connection::connect(&spec, server.options.clone(), events, cancel);
        let mut attempt = Box::pin(attempt);
        let mut left = polls;
        let connected = std::future::poll_fn(|context| {
            if left == 0 {
                return Poll::Ready(None);
            }
            left -= 1;
            attempt.as_mut().poll(context).map(Some)
        })
        .await;
        drop(attempt);
        let is_done = connected.is_some();
        if let Some(connected) = connected {
            let (connection, _) = connected.ok().unwrap();
            connection.close(Kill::AfterGraces).await;
        }
        let begun = Instant::now();
        while is_left() {
            assert!(begun.elapsed() < HANG, "dropped at poll {polls}, it left something");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        if is_done {
            break;
        }
        polls += 1;
        assert!(polls < 1_000, "it never connects");
    }
    assert!(polls > 1, "it never waits");
    score::done("cancel/transports", 1);
}

/// I-04: what was started is ended by the runtime.
#[tokio::test]
async fn a_connect_may_be_dropped_at_every_poll() {
    for era in ["legacy", "modern"] {
        let folder = Folder::new();
        let log = folder.join("starts");
        let server = test_server(&["--era", era, "--start-log", log.to_str().unwrap()]);
        let is_left = || {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            log.lines().any(|line| lives(line.split(' ').next().unwrap().parse().unwrap()))
        };
        dropped_at_every_poll(&server, is_left).await;
    }
}

/// The reference server at an address, which ends with the value.
struct Remote {
    child: Child,
    url: String,
}

impl Remote {
    fn start(args: &[&str]) -> Remote {
        let mut command = Command::new(test_server_path());
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Remote { child, url: url.trim().to_owned() }
    }

    /// Whether a socket of this process leads there.
    fn is_connected(&self) -> bool {
        let port = self.url.rsplit(':').next().unwrap().split('/').next().unwrap();
        let there = format!(":{:04X}", port.parse::<u16>().unwrap());
        let own = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let own: Vec<PathBuf> =
            own.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect();
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        table.lines().skip(1).any(|line| {
            let row: Vec<&str> = line.split_whitespace().collect();
            row[2].ends_with(&there) && own.contains(&format!("socket:[{}]", row[9]).into())
        })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// I-04: its sockets are closed, also those of streams that would never end by themselves.
#[tokio::test]
async fn a_connect_to_an_address_may_be_dropped_at_every_poll() {
    let kinds = [
        ("http", &["--http", "0"][..]),
        ("http", &["--http", "0", "--era", "modern", "--list-changes"]),
        ("sse", &["--sse", "0"]),
        ("ws", &["--ws", "0"]),
    ];
    for (kind, flags) in kinds {
        let remote = Remote::start(flags);
        let server = Server::new(json!({ "type": kind, "url": remote.url }));
        dropped_at_every_poll(&server, || remote.is_connected()).await;
    }
}
