//! What a host's code may do amid what the pool carries out. The log is the whole process's:
//! nothing else is tested here.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use trunkline::{EventKind, EventMask, HandlerKind, Handlers, Lease, Session, SessionOptions};

/// What the log drops when the next notice is logged, on whatever thread that is.
static DROPPED_BY_LOG: Mutex<Option<(Session, Lease)>> = Mutex::new(None);

/// A host's log that does more than it should.
struct DroppingLog;

struct IsNotice(bool);

impl Visit for IsNotice {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 |= field.name() == "message" && format!("{value:?}") == "notice";
    }
}

impl Subscriber for DroppingLog {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut is_notice = IsNotice(false);
        event.record(&mut is_notice);
        if is_notice.0 {
            let dropped = DROPPED_BY_LOG.lock().unwrap().take();
            drop(dropped);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Panics when it is dropped, and tells that it was.
struct Panicking(Arc<AtomicBool>);

impl Drop for Panicking {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        panic!("as a host's handler may");
    }
}

/// A session with a handler, which holds what `keeps` does.
fn session(rig: &Rig, id: &str, keeps: impl Fn() + Send + Sync + 'static) -> Session {
    let options = json!({ "id": id, "servers": [] }).to_string();
    let mut options = SessionOptions::from_json(&options).unwrap();
    options.handlers = Handlers::new().with(HandlerKind::Elicitation, move |_| {
        keeps();
        async { Ok(String::new()) }
    });
    rig.pool.session(options).unwrap()
}

/// SPEC 16.2: a session that goes amid what it is told, and a handler of it that panics then, stop
/// neither the pool nor the log.
#[test]
fn a_session_that_goes_and_panics_while_it_is_told_stops_nobody() {
    rig::alone!();
    tracing::subscriber::set_global_default(DroppingLog).unwrap();
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]), "t": rig.server(&[]) })).await;
        let gone = Arc::new(AtomicBool::new(false));
        let panicking = Panicking(gone.clone());
        let loud = session(&rig, "loud", move || _ = &panicking);
        let held = acquire(&loud, "s").await;
        let calm = session(&rig, "calm", || ());
        let lease = acquire(&calm, "s").await;
        assert_eq!(rig.starts().len(), 1, "both hold one connection");
        let events = calm.subscribe(EventMask(EventKind::ToolsChanged.bit())).unwrap();
        *DROPPED_BY_LOG.lock().unwrap() = Some((loud, held));
        text(&lease, "change_list", json!({ "add": ["new"] })).await;
        let told = tokio::time::timeout(HANG, events.next()).await.expect("it is told");
        assert!(told.unwrap().json().contains(r#""added":["new"]"#));
        until(|| gone.load(Ordering::SeqCst));
        let other =
            tokio::time::timeout(HANG, acquire(&calm, "t")).await.expect("the pool goes on");
        assert_eq!(text(&other, "echo", json!({ "message": "m" })).await, "m");
    });
}
