//! Functions of the host that panic with a secret in their words, and a secret in their hands.

use std::sync::mpsc;
use std::time::Duration;

use rig::{Rig, host};
use serde_json::json;
use trunkline::{AcquireOptions, CallOptions, EventMask, HostConnection, HostServer, ServerSpec};

use crate::canaries::{canary, look, shown, with_events};

/// No call of a function of the host's takes as long.
const HANG: Duration = Duration::from_secs(90);

/// What every panic of these functions begins with.
const OWN: &str = "failed with";

/// What these functions panic with is the host's, whose hook has it. Of other panics the words are
/// shown, and printed.
pub fn keep() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let words = panic.payload().downcast_ref::<String>();
        if !words.is_some_and(|words| words.starts_with(OWN)) {
            shown::keep("panic", panic.to_string());
            previous(panic);
        }
    }));
}

/// Panics as a host does whose function fails with what it works with.
fn fail(place: &'static str) -> ! {
    panic!("{OWN} {}", canary(place))
}

/// A server of the host's that cannot be talked to.
struct Fails;

impl HostServer for Fails {
    fn receive(&self, _: &HostConnection, _: &str) {
        fail("what a server of the host panics with");
    }

    fn closed(&self, _: &HostConnection) {
        fail("what the end of a server of the host panics with");
    }
}

/// Each kind of function that a host gives, but for handlers.
pub fn all(rig: &Rig) {
    with_events(rig, || {
        host(async {
            let session = rig.session("a");
            session.provide("provided", Fails).unwrap();
            let options = AcquireOptions::from_json(r#"{"timeout_ms":60000}"#).unwrap();
            let acquired = session.acquire("provided", None, &options).await;
            acquired.err().iter().for_each(|error| shown::keep_error("acquire", error));
            look(rig, &session, &["provided"]);
            let server = rig.server(&[]);
            let spec = ServerSpec::from_value("called", &server).unwrap();
            let events = session.subscribe(EventMask::ALL).unwrap();
            events.set_wake(|| fail("what a wake function panics with"));
            let lease = session.acquire("called", Some(&spec), &options).await.unwrap();
            let (ended, end) = mpsc::channel();
            let call = lease.start_call_tool("pid", "{}", &CallOptions::default(), move |_| {
                let _ = ended.send(());
                fail("what the end of a call panics with")
            });
            end.recv_timeout(HANG).expect("the call ends");
            drop(call);
            look(rig, &session, &["called"]);
            session.close(None);
        });
    });
}

/// What a handler does with a question that names this.
pub fn asked(question: &str) {
    if question.contains("panics") {
        fail("what a handler panics with");
    }
}

/// Settings whose input is asked of a handler that panics.
pub fn settings() -> String {
    json!({ "mcpServers": { "f": { "command": "no-such", "env": { "A": "${input:panics}" } } } })
        .to_string()
}
