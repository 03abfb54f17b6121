//! A wire that panics under what it is given.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;

use std::collections::HashSet;

use super::*;
use crate::Outcome;
use crate::client::calls::in_flight::Purpose;
use crate::client::connection::Link;
use crate::net::redact::Redactor;
use crate::transport::{BoxFuture, FrameKind, Graces, Inbound, Wire, WriteOutcome};

/// It takes so many frames, and panics under the next.
struct Broken {
    frames: AtomicUsize,
}

impl Wire for Broken {
    fn run(self: Arc<Self>, _: Arc<dyn Inbound>) {}

    fn send(&self, _: &[u8], _: FrameKind) -> WriteOutcome {
        let left = self.frames.load(Ordering::SeqCst);
        assert!(left > 0, "the wire is broken");
        self.frames.store(left - 1, Ordering::SeqCst);
        WriteOutcome::Written
    }

    fn withdraw(&self, _: u64) -> bool {
        false
    }

    fn unsent(&self) -> HashSet<u64> {
        HashSet::new()
    }

    fn stop(&self) -> Vec<u64> {
        Vec::new()
    }

    fn end(self: Arc<Self>, _: Graces, _: watch::Receiver<bool>) -> BoxFuture<'static, CloseExit> {
        Box::pin(async { CloseExit::Clean })
    }
}

/// SPEC 5.12, I-17: what panics while it is written ends its request all the same, at first and in
/// a later round.
#[tokio::test]
async fn a_request_that_panics_as_it_is_written_has_an_end() {
    for frames in [0, 1] {
        let wire = Arc::new(Broken { frames: frames.into() });
        let redactor = Arc::new(Redactor::new(std::iter::empty(), 40));
        let options = Server::new(json!({})).options;
        let now = tokio::time::Instant::now();
        let link = Link::open(wire, redactor, options, Arc::<Recorder>::default(), now);
        let (answer, answered) = oneshot::channel();
        let done = Box::new(|result| drop(answer.send(result)));
        let written = catch_unwind(AssertUnwindSafe(|| {
            let RequestId(id) = link.start(request(), done, Purpose::Call);
            link.put(id, ("tools/call", "{}"), None)
        }));
        assert!(written.is_err());
        let error = ended(answered).await.map(drop).unwrap_err();
        assert_eq!((error.code(), error.server()), (ErrorCode::Internal, Some("s")));
        assert_eq!((error.outcome(), link.calls.count()), (Some(Outcome::Unknown), 0));
        link.close(Kill::Now).await;
    }
}
