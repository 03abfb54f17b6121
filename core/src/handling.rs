//! Handlers of the host at work: what panics in one is a refusal, and reaches nobody else (SPEC 16.2).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use trunkline_pool::options::{HandlerResult, Handling, Refusal};

const INTERNAL_ERROR: i32 = -32603;

/// A handler whose panic is a refusal.
pub(crate) async fn contained(mut handling: Handling) -> HandlerResult {
    let answer = std::future::poll_fn(|context| {
        let poll = AssertUnwindSafe(|| handling.as_mut().poll(context));
        catch_unwind(poll).unwrap_or_else(|_| Poll::Ready(Err(failed())))
    })
    .await;
    // What it holds is the host's too.
    if catch_unwind(AssertUnwindSafe(|| drop(handling))).is_err() {
        tracing::error!("a handler panicked when it was dropped");
    }
    answer
}

/// What is said of a handler that did not do its part.
pub(crate) fn failed() -> Refusal {
    Refusal::new(INTERNAL_ERROR, "the handler failed")
}
