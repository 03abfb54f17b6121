//! A process that forks: the child has nothing of the pool, and harms nothing of it.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use rig::{HANG, Rig, acquire, text};
use serde_json::json;
use trunkline::{CallOptions, ErrorCode, EventMask, SessionOptions};

/// What a bug of this kind shows only now and then.
const REPETITIONS: usize = 30;

/// SPEC 16.3, I-20: in the child everything answers at once, with a typed error where there is one,
/// and the parent's call goes on.
#[test]
fn a_forked_child_leaves_the_parent_s_servers_alone() {
    rig::alone!();
    (0..REPETITIONS).for_each(|_| fork_amid_a_call());
}

/// SPEC 16.3, DESIGN 6, I-20: a fork while another thread reads its own answer leaves the parent's
/// stream alone, and the child has none.
#[test]
fn a_child_forked_while_a_thread_reads_does_not_read() {
    rig::alone!();
    let rig = Rig::new(json!({}));
    let host = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lease = host.block_on(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        acquire(&rig.session("a"), "s").await
    });
    let start = |tool: &str, arguments: &str| {
        let (send, ended) = mpsc::channel();
        let mut options = CallOptions::default();
        options.reads_here = true;
        let call = lease.start_call_tool(tool, arguments, &options, move |result| {
            let _ = send.send(result.map(drop).map_err(|error| error.code()));
        });
        (call, ended)
    };
    for _ in 0..REPETITIONS {
        // Enough of them, one after another, to be read here.
        for _ in 0..20 {
            let (call, ended) = start("echo", r#"{"message":"m"}"#);
            call.read_here();
            assert_eq!(ended.recv_timeout(HANG).unwrap(), Ok(()));
        }
        let (call, ended) = start("sleep", r#"{"ms":3}"#);
        let reads = call.clone();
        let reader = std::thread::spawn(move || reads.read_here());
        // SAFETY: the child only calls the library, which touches no lock there, and ends without
        // running destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            call.read_here();
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(ended.try_recv().is_ok())) };
        }
        let mut status = 0;
        // SAFETY: the child is ours, and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(ended.recv_timeout(HANG).unwrap(), Ok(()));
        reader.join().unwrap();
    }
}

/// SPEC 16.3, I-20: what a child drops wakes no thread of the parent's, the last handle of a pool
/// included.
#[cfg(target_os = "linux")]
#[test]
fn a_child_that_drops_all_handles_of_a_pool_wakes_nobody() {
    rig::alone!();
    let options = trunkline::PoolOptions::from_json(r#"{ "cache": "off" }"#).unwrap();
    let pool = trunkline::Pool::new(options).unwrap();
    // Whatever the pool began with is done then, and the parent wakes nobody of its own accord.
    pool.block_on(async { Ok(()) }).unwrap();
    let (mut last, mut since) = (wakes(), Instant::now());
    rig::until(|| {
        let now = wakes();
        if now != last {
            (last, since) = (now, Instant::now());
        }
        since.elapsed() > Duration::from_millis(100)
    });
    // SAFETY: the child only drops what it has of the library, looks at files and ends without
    // running destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let before = wakes();
        drop(pool);
        let fine = before == wakes() && !before.is_empty();
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(if fine { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, and `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

/// How often each runtime was woken: what is in the counters that a child has in common with its
/// parent.
#[cfg(target_os = "linux")]
fn wakes() -> Vec<String> {
    let files = std::fs::read_dir("/proc/self/fdinfo").unwrap();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
    let is_counter = |line: &&str| line.starts_with("eventfd-count");
    let counter = |text: String| text.lines().find(is_counter).map(String::from);
    texts.filter_map(counter).collect()
}

fn fork_amid_a_call() {
    let rig = Rig::new(json!({}));
    let host = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    host.block_on(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let events = session.subscribe(EventMask::ALL).unwrap();
        let (send, ended) = mpsc::channel();
        let call = lease.start_call_tool(
            "sleep",
            r#"{"ms":60000}"#,
            &CallOptions::default(),
            move |result| {
                let _ = send.send(result.map(drop).map_err(|error| error.code()));
            },
        );
        // SAFETY: the child only calls the library, which touches no lock there, and ends without
        // running destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            call.cancel();
            lease.release();
            session.close(None);
            let refused = rig.pool.session(SessionOptions::new("b")).err();
            let fine = refused.is_some_and(|error| error.code() == ErrorCode::Forked)
                && session.tools().is_err_and(|error| error.code() == ErrorCode::Forked)
                && rig.pool.status()["error"]["code"] == "forked"
                && events.is_ended()
                && events.try_next().is_none();
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(if fine { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: the child is ours, and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        assert_eq!(text(&lease, "cancelled", json!({})).await, "0");
        assert!(ended.try_recv().is_err());
        call.cancel();
        assert_eq!(ended.recv_timeout(HANG).unwrap(), Err(ErrorCode::Cancelled));
    });
}
