//! Handlers that run on a host's own threads: the requests on their way there, and the answers on
//! their way back.
//!
//! A session alone keeps its handlers, since they mostly refer to it. Anything else that kept them
//! would keep a forgotten session for ever.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::oneshot;
use trunkline_pool::options::{HandlerKind, HandlerResult, Handlers, ServerRequest};

use crate::runtime::handling::failed;
use crate::{Error, ErrorCode, Result};

/// What a host's thread takes from a [`HandlerQueue`].
#[derive(Debug)]
#[non_exhaustive]
pub enum HandlerEvent {
    /// A server asks; the number is that of [`HandlerQueue::answer`].
    Asked(u64, ServerRequest),
    /// Nobody waits for the answer to that number any more. What was not taken before goes without
    /// a word.
    Withdrawn(u64),
    /// The JSON text of a `log` event.
    Logged(Box<str>),
}

/// Where requests of servers wait for a host's own thread, which takes them, and answers whenever
/// it can.
///
/// For hosts that cannot run a closure on a thread of the library: the bindings. In Rust,
/// [`Handlers::with`] is simpler. It lives as long as the [`handlers`](Self::handlers) made of it,
/// or somebody holds it.
pub struct HandlerQueue {
    inner: Mutex<DeskState>,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct DeskState {
    news: VecDeque<HandlerEvent>,
    /// Messages among the news.
    logged: usize,
    waiting: HashMap<u64, oneshot::Sender<HandlerResult>>,
    last: u64,
    /// Nobody takes anything any more.
    is_abandoned: bool,
}

impl HandlerQueue {
    /// Log messages that wait to be taken; of more the oldest are dropped. What else waits is
    /// bounded by the requests that the pool lets servers have open.
    pub const LOGGED_MAX: usize = 1024;

    /// An empty queue. `wake` is called when there is news and was none, on a thread of the
    /// library, and must not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<HandlerQueue> {
        Arc::new(HandlerQueue { inner: Mutex::default(), wake: Box::new(wake) })
    }

    /// Handlers that put their requests in the queue, by their names in the `handlers` option.
    ///
    /// # Errors
    /// `invalid_argument` with `detail.path` for a name that no handler has.
    pub fn handlers<'a>(
        self: &Arc<Self>,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Handlers> {
        names.into_iter().try_fold(Handlers::new(), |handlers, name| {
            let desk = self.clone();
            if name == LOGGING {
                return Ok(handlers.with_logging(move |event| desk.log(event)));
            }
            let Some(kind) = HandlerKind::from_name(name) else {
                let message = format!("no handler is called \"{}\"", name.escape_debug());
                let path = format!("handlers.{name}");
                return Err(Error::new(ErrorCode::InvalidArgument, message)
                    .with_detail("path", path)
                    .with_hint(HANDLERS));
            };
            Ok(handlers.with(kind, move |request| desk.ask(request)))
        })
    }

    /// Takes what waits, oldest first.
    pub fn take(&self) -> Vec<HandlerEvent> {
        let mut inner = self.inner();
        inner.logged = 0;
        inner.news.drain(..).collect()
    }

    /// Answers a request; whether anybody still waited for it.
    pub fn answer(&self, number: u64, result: HandlerResult) -> bool {
        let waiting = self.inner().waiting.remove(&number);
        waiting.is_some_and(|waiting| waiting.send(result).is_ok())
    }

    /// From here on nobody takes anything: what waits is refused, taken or not, and so is what will
    /// come.
    pub fn abandon(&self) {
        let mut inner = self.inner();
        inner.is_abandoned = true;
        inner.news.clear();
        // Without its sender a request has failed.
        let waiting = std::mem::take(&mut inner.waiting);
        drop(inner);
        drop(waiting);
    }

    fn ask(
        self: &Arc<Self>,
        request: ServerRequest,
    ) -> impl Future<Output = HandlerResult> + Send + use<> {
        let (send, receive) = oneshot::channel();
        let number = {
            let mut inner = self.inner();
            inner.last += 1;
            let number = inner.last;
            if !inner.is_abandoned {
                inner.waiting.insert(number, send);
            }
            number
        };
        self.tell(HandlerEvent::Asked(number, request));
        let open = OpenHandlerRequest { desk: self.clone(), number };
        async move {
            let answer = receive.await;
            drop(open);
            answer.unwrap_or_else(|_| Err(failed()))
        }
    }

    fn log(&self, event: &str) {
        self.tell(HandlerEvent::Logged(event.into()));
    }

    fn tell(&self, news: HandlerEvent) {
        let mut inner = self.inner();
        if inner.is_abandoned {
            return;
        }
        if matches!(news, HandlerEvent::Logged(_)) {
            if inner.logged >= Self::LOGGED_MAX {
                let oldest =
                    inner.news.iter().position(|news| matches!(news, HandlerEvent::Logged(_)));
                oldest.and_then(|oldest| inner.news.remove(oldest));
            } else {
                inner.logged += 1;
            }
        }
        inner.news.push_back(news);
        let first = inner.news.len() == 1;
        drop(inner);
        if first {
            (self.wake)();
        }
    }

    fn inner(&self) -> MutexGuard<'_, DeskState> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The handler that answers nothing.
const LOGGING: &str = "logging";

/// What a handler may be called; in backticks, where each language has its own spelling.
const HANDLERS: &str = "handlers are `sampling`, `sampling_tools`, `elicitation`, `elicitation_url`, `credentials`, `inputs`, `secrets`, `entries` and `logging`";

/// A request whose answer somebody waits for.
struct OpenHandlerRequest {
    desk: Arc<HandlerQueue>,
    number: u64,
}

impl Drop for OpenHandlerRequest {
    fn drop(&mut self) {
        let mut inner = self.desk.inner();
        if inner.waiting.remove(&self.number).is_none() {
            return;
        }
        let asks = |news: &HandlerEvent| matches!(news, HandlerEvent::Asked(number, _) if *number == self.number);
        let place = inner.news.iter().position(asks);
        let untaken = place.and_then(|place| inner.news.remove(place));
        drop(inner);
        // Who never heard of the request need not hear of its end. The two would pile up on a desk
        // that nobody looks at.
        if untaken.is_none() {
            self.desk.tell(HandlerEvent::Withdrawn(self.number));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;

    use super::*;

    fn request() -> ServerRequest {
        ServerRequest::new(HandlerKind::Elicitation, "a".into(), "elicitation/create", "{}")
    }

    /// A desk, and how often it woke its host.
    fn counting() -> (Arc<HandlerQueue>, Arc<AtomicUsize>) {
        let wakes = Arc::new(AtomicUsize::new(0));
        let counted = wakes.clone();
        let desk = HandlerQueue::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        (desk, wakes)
    }

    /// SPEC 15.1: what is taken is answered by its number, once, and what is dropped is withdrawn.
    #[test]
    fn a_request_is_answered_or_withdrawn() {
        let (desk, wakes) = counting();
        let handlers = desk.handlers(["elicitation"]).unwrap();
        let answered = handlers.answer(request()).unwrap();
        let dropped = handlers.answer(request()).unwrap();
        assert_eq!(wakes.load(Ordering::SeqCst), 1);
        let taken = desk.take();
        assert!(matches!(&taken[..], [HandlerEvent::Asked(1, _), HandlerEvent::Asked(2, _)]));
        assert!(desk.answer(1, Ok("{}".into())) && !desk.answer(1, Ok("{}".into())));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(answered), Ok("{}".into()));
        drop(dropped);
        assert!(matches!(&desk.take()[..], [HandlerEvent::Withdrawn(2)]));
        assert!(!desk.answer(2, Ok("{}".into())) && desk.take().is_empty());
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
    }

    /// SPEC 15.1: a host that takes nothing for long keeps nothing of what is over.
    #[test]
    fn a_request_that_is_withdrawn_before_it_is_taken_leaves_nothing() {
        let desk = HandlerQueue::new(|| {});
        let handlers = desk.handlers(["elicitation"]).unwrap();
        let kept = handlers.answer(request());
        drop(handlers.answer(request()));
        assert!(matches!(&desk.take()[..], [HandlerEvent::Asked(1, _)]));
        drop(kept);
        assert!(matches!(&desk.take()[..], [HandlerEvent::Withdrawn(1)]));
    }

    /// SPEC 15.1, 16.2: a request at a desk that nobody looks at any more is refused, whenever that
    /// was.
    #[test]
    fn what_waits_at_an_abandoned_desk_is_refused() {
        let (desk, wakes) = counting();
        let handlers = desk.handlers(["elicitation", "logging"]).unwrap();
        let taken = handlers.answer(request()).unwrap();
        assert_eq!(desk.take().len(), 1);
        let untaken = handlers.answer(request()).unwrap();
        desk.abandon();
        let later = handlers.answer(request()).unwrap();
        handlers.logging().unwrap().receive("{}");
        for asked in [taken, untaken, later] {
            assert_eq!(asked.now_or_never(), Some(Err(failed())));
        }
        assert!(desk.take().is_empty() && !desk.answer(1, Ok("{}".into())));
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
    }

    /// SPEC 15.1: bounded, in order, and the newest are there.
    #[test]
    fn messages_that_nobody_takes_push_the_oldest_out() {
        let desk = HandlerQueue::new(|| {});
        let handlers = desk.handlers(["logging", "sampling"]).unwrap();
        let logging = handlers.logging().unwrap();
        let _open = desk.handlers(["elicitation"]).unwrap().answer(request());
        (0..=HandlerQueue::LOGGED_MAX).for_each(|number| logging.receive(&number.to_string()));
        let taken = desk.take();
        assert_eq!(taken.len(), HandlerQueue::LOGGED_MAX + 1);
        assert!(matches!(&taken[1], HandlerEvent::Logged(event) if &**event == "1"));
        let error = desk.handlers(["samplings"]).unwrap_err();
        assert_eq!(error.detail()["path"], "handlers.samplings");
        let names = HANDLERS.split('`').skip(1).step_by(2);
        let all = desk.handlers(names).unwrap();
        assert!(HandlerKind::ALL.iter().all(|kind| all.has(*kind)) && all.logging().is_some());
    }
}
