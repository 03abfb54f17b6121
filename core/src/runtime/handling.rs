//! Handlers of the host at work: what panics in one is a refusal, and reaches nobody else (SPEC
//! 16.2); nor does what the end of one does, or of anything else of the host's, however long that
//! takes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use trunkline_pool::options::{HandlerFuture, HandlerResult, Refusal};

use crate::platform;

/// A handler whose panic is a refusal. A dropped future drops the handler, on a thread that is
/// nobody else's.
pub(crate) async fn contained(handling: HandlerFuture) -> HandlerResult {
    let mut work = Apart::new("trunkline-handler", handling);
    std::future::poll_fn(|context| {
        let Some(handling) = work.get_mut() else { return Poll::Ready(Err(failed())) };
        let poll = AssertUnwindSafe(|| handling.as_mut().poll(context));
        catch_unwind(poll).unwrap_or_else(|_| Poll::Ready(Err(failed())))
    })
    .await
}

/// What is said of a handler that did not do its part.
pub(crate) fn failed() -> Refusal {
    Refusal::new(Refusal::INTERNAL_ERROR, "the handler failed")
}

/// Something of the host's, until nobody needs it any more: it ends on a thread that is nobody
/// else's. Its end is code of the host's, which may block and panic, and the thread that drops it
/// has others to serve.
///
/// There are few such threads: servers ask at a pace, and are provided one by one.
pub(crate) struct Apart<T: Send + 'static> {
    thread: &'static str,
    /// It is there until the end.
    ends: Option<Contained<T>>,
}

/// What panics when it is dropped stays here.
struct Contained<T>(Option<T>);

impl<T: Send + 'static> Apart<T> {
    /// It ends on a thread of that name.
    pub(crate) fn new(thread: &'static str, ends: T) -> Apart<T> {
        Apart { thread, ends: Some(Contained(Some(ends))) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.ends.as_ref()?.0.as_ref()
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.ends.as_mut()?.0.as_mut()
    }
}

impl<T: Send + 'static> Drop for Apart<T> {
    fn drop(&mut self) {
        let Some(ends) = self.ends.take() else { return };
        // Without a thread it ends here, with the closure.
        let begun = platform::start_callback_thread(self.thread, move || drop(ends));
        if let Err(error) = begun {
            tracing::warn!(%error, "no thread for the end of something of the host's");
        }
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        let ends = self.0.take();
        if catch_unwind(AssertUnwindSafe(|| drop(ends))).is_err() {
            tracing::error!("something of the host's panicked when it was dropped");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;

    /// No end of a handler here takes as long.
    const HANG: Duration = Duration::from_secs(90);

    /// Does this when it is dropped.
    struct AtEnd<F: FnMut()>(F);

    impl<F: FnMut()> Drop for AtEnd<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    /// A handler that answers at once or never, and does this at its end.
    fn handler(answers: bool, at_end: impl FnMut() + Send + 'static) -> HandlerFuture {
        let mut held = Some(AtEnd(at_end));
        Box::pin(std::future::poll_fn(move |_| match held.as_mut() {
            Some(_) if answers => Poll::Ready(Ok("{}".to_owned())),
            _ => Poll::Pending,
        }))
    }

    /// Whether it answered before it was given up.
    async fn answers(handling: HandlerFuture) -> bool {
        tokio::time::timeout(Duration::from_millis(1), contained(handling)).await.is_ok()
    }

    /// SPEC 16.2: a panic at its end is nobody's, whether it answered or was given up.
    #[tokio::test]
    async fn a_handler_that_panics_when_it_is_dropped_is_contained() {
        for does in [true, false] {
            let (tell, told) = channel();
            let panics = move || {
                tell.send(()).unwrap();
                panic!("of the host");
            };
            assert_eq!(answers(handler(does, panics)).await, does);
            told.recv_timeout(HANG).unwrap();
        }
    }

    /// SPEC 16.2: nobody waits for its end.
    #[tokio::test]
    async fn a_handler_that_blocks_when_it_is_dropped_holds_nobody_up() {
        for does in [true, false] {
            let (release, released) = channel();
            let (tell, told) = channel();
            let blocks = move || tell.send(held(&released)).unwrap();
            assert_eq!(answers(handler(does, blocks)).await, does);
            release.send(()).unwrap();
            assert!(told.recv_timeout(HANG).unwrap(), "it was waited for");
        }
    }

    /// Whether it came to this before anybody gave up.
    fn held(released: &Receiver<()>) -> bool {
        released.recv_timeout(HANG / 4).is_ok()
    }
}
