//! What is left of an exporter after its end: nothing. In a process of its own, whose threads and
//! descriptors are counted.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the other tests use the rest")]
mod rig;

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use opentelemetry::Context;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{SdkTracerProvider, Span, SpanData, SpanProcessor};
use rig::{Answers, HANG, Receiver, Rig, call, host};
use serde_json::json;
use trunkline::otlp::{Export, Telemetry};
use trunkline::{CallOptions, ErrorCode};

/// The threads of the exporter: the mask of signals of each.
fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let status = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    let ours = status.filter(|status| status.starts_with("Name:\tOpenTelemetry"));
    ours.map(|status| {
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t"));
        blocked.unwrap().to_owned()
    })
    .collect()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < HANG);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A pool with one call behind it, and its exporter.
fn used(to: &Export) -> Rig {
    let rig = Rig::with(to);
    host(async {
        let session = rig.session("a").await;
        let lease = rig.lease(&session).await;
        assert!(call(&lease, "echo", json!({ "message": "hi" })).await.is_ok());
    });
    rig
}

#[test]
fn nothing_is_left_of_an_exporter() {
    // This machine is never reached through a proxy.
    // SAFETY: nobody else reads the environment yet.
    unsafe { std::env::set_var("HTTP_PROXY", "http://127.0.0.1:1") };
    // Whatever is opened once for a process is open then.
    let first = Receiver::start(Answers::Well);
    host(used(&Export::to(first.endpoint())).end());
    until(|| threads().is_empty());
    let receivers = [Answers::Well, Answers::Refused, Answers::Silent].map(Receiver::start);
    for (receiver, keeps) in receivers.iter().zip([false, false, true]) {
        let before = descriptors();
        let rig = used(&Export::to(receiver.endpoint()));
        let masks = threads();
        assert_eq!(masks.len(), 2);
        for mask in masks {
            // All but those that cannot be blocked, and the C library's own.
            assert_eq!(u64::from_str_radix(&mask, 16).unwrap() | 0x1_8004_0100, u64::MAX, "{mask}");
        }
        host(rig.pool.close()).unwrap();
        let _ = rig.telemetry.shutdown(Duration::from_millis(200));
        drop(rig);
        until(|| threads().is_empty());
        // The receiver's own end of a connection that it keeps.
        until(|| descriptors() <= before + if keeps { receiver.told().raw.len() } else { 0 });
    }
    let silent = Receiver::start(Answers::Silent);
    let mut to = Export::to(silent.endpoint());
    to.metrics_every = Duration::from_millis(10);
    // Dropped as it is, inside of a runtime: nobody waits for the receiver.
    let rig = used(&to);
    silent.told_once(|told| !told.raw.is_empty());
    host(async { drop(rig) });
    until(|| threads().is_empty());
    in_a_fork(&Export::to(first.endpoint()));
    a_call_in_a_fork();
}

/// Runs that in a child, which is ended when it waits; it has to be fine there.
fn fork(child: impl FnOnce() -> bool) {
    // SAFETY: the child only calls the library, which touches no lock there, and ends without
    // running destructors.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: the signal ends it.
        unsafe { libc::alarm(3) };
        let is_fine = child();
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(i32::from(!is_fine)) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, and `status` is writable.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0);
}

/// A child does not have the threads, and waits for none.
fn in_a_fork(to: &Export) {
    let telemetry = Telemetry::export(to).unwrap();
    fork(|| {
        let is_fine = telemetry.shutdown(Telemetry::SHUTDOWN_MAX).is_ok();
        // SAFETY: what is dropped here is not dropped again, since the child ends without that.
        drop(unsafe { std::ptr::read(&telemetry) });
        is_fine
    });
    telemetry.shutdown(Telemetry::SHUTDOWN_MAX).unwrap();
    until(|| threads().is_empty());
}

/// How many spans were begun.
#[derive(Debug)]
struct Begun;

static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// How many calls were refused as those of a child are.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

impl SpanProcessor for Begun {
    fn on_start(&self, _: &mut Span, _: &Context) {
        BEGUN.fetch_add(1, Ordering::SeqCst);
    }

    fn on_end(&self, _: SpanData) {}

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// A lock of the host's providers may be held there by a thread that is the parent's.
fn a_call_in_a_fork() {
    let tracers = SdkTracerProvider::builder().with_span_processor(Begun).build();
    let rig = Rig::watched(Telemetry::through(&tracers, &SdkMeterProvider::default()));
    let session = host(rig.session("a"));
    let lease = host(rig.lease(&session));
    host(call(&lease, "pid", json!({}))).unwrap();
    fork(|| {
        let options = CallOptions::default();
        let _ = lease.start_call_tool("pid", "{}", &options, move |result| {
            let is_forked = result.is_err_and(|error| error.code() == ErrorCode::Forked);
            REFUSED.store(usize::from(is_forked), Ordering::SeqCst);
        });
        REFUSED.load(Ordering::SeqCst) == 1 && BEGUN.load(Ordering::SeqCst) == 1
    });
    drop((lease, session));
    host(rig.end());
}
