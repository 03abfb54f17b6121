//! One served client: the bridge's state machine with a session of the pool behind it.
//!
//! Any thread may bring an input for the bridge. Frames go out under the lock, so
//! that they leave in order. What calls back comes after it, on one thread at a time.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, oneshot};
use trunkline_pool::bridge::{
    Action, BridgeInput, CallId, ClientFacts, Era, McpHeaders, Now, QuestionId, ServedClient,
    ServedPath, StreamId as BridgeStream,
};
use trunkline_pool::options::HandlerResult;
use trunkline_pool::state::Moment;

use super::calls::RunningCall;
use super::lane::{LaneKind, Served};
use super::leases::Leases;
use super::offers::{OfferCache, SessionOffers};
use super::outlet::{Outlet, OutletItem, StreamId};
use crate::driver::Driver;
use crate::{Error, ErrorCode, Result, Session};

/// Is told, with its number, that a client is over.
pub(super) type AtEnd = Box<dyn Fn(u64) + Send + Sync>;

/// A client of an endpoint.
pub(crate) struct PoolClient {
    /// Unique in its endpoint.
    pub(super) number: u64,
    pub(super) lane: LaneKind,
    pub(super) path: ServedPath,
    pub(super) principal: String,
    pub(super) is_modern: bool,
    pub(super) me: Weak<PoolClient>,
    at_end: AtEnd,
    pub(super) driver: Arc<Driver>,
    pub(super) session: Session,
    pub(super) leases: Leases,
    said: OfferCache,
    state: Mutex<ClientState>,
    /// The deadline may be another, or the client is over.
    pub(super) changed: Notify,
}

struct ClientState {
    bridge: ServedClient,
    outlets: HashMap<BridgeStream, Outlet>,
    calls: HashMap<CallId, RunningCall>,
    questions: HashMap<QuestionId, oneshot::Sender<HandlerResult>>,
    /// What is still to be carried out.
    work: VecDeque<Action>,
    is_working: bool,
    is_over: bool,
}

impl PoolClient {
    /// A client that has said nothing yet.
    pub(super) fn new(
        me: &Weak<PoolClient>,
        (at_end, driver): (AtEnd, Arc<Driver>),
        (number, lane, facts): (u64, LaneKind, ClientFacts),
        (session, leases): (Session, Leases),
    ) -> PoolClient {
        PoolClient {
            number,
            lane,
            path: facts.path.clone(),
            principal: facts.principal.clone(),
            is_modern: facts.era == Era::Modern,
            me: me.clone(),
            at_end,
            driver,
            session,
            leases,
            said: OfferCache::default(),
            state: Mutex::new(ClientState {
                bridge: ServedClient::new(facts),
                outlets: HashMap::new(),
                calls: HashMap::new(),
                questions: HashMap::new(),
                work: VecDeque::new(),
                is_working: false,
                is_over: false,
            }),
            changed: Notify::new(),
        }
    }

    /// Waits for the server of a transparent path, so that the client hears what it says of itself.
    /// One that cannot be had is told by the calls.
    ///
    /// # Errors
    /// Those of a session that cannot be used.
    pub(super) async fn server_is_there(&self, wait: Duration) -> Result<()> {
        let Some(server) = &self.path.server else {
            return self.session.started().await.map(drop);
        };
        let lease = self.leases.lease(&self.session, server);
        match tokio::time::timeout(wait, lease).await {
            Ok(Err(error)) if error.code() == ErrorCode::NotAdmitted => Err(error),
            Ok(Err(error)) => {
                tracing::debug!(%server, %error, "a client is let in without its server");
                Ok(())
            }
            Ok(Ok(_)) | Err(_) => Ok(()),
        }
    }

    /// Brings an input to its end. What it wants done may be done by another thread.
    pub(super) fn input(&self, input: BridgeInput<'_>) {
        let mut state = self.state();
        if state.is_over {
            return;
        }
        self.take(&mut state, input);
        self.work(state);
    }

    fn take(&self, state: &mut ClientState, input: BridgeInput<'_>) {
        let offers = SessionOffers::new(&self.session, &self.said, self.path.server.as_deref());
        let mut actions = Vec::new();
        state.bridge.take(input, &offers, self.now(), &mut actions);
        for action in actions {
            state.carry_out(action);
        }
    }

    /// Carries out what is left to do, unless another thread does.
    fn work<'a>(&'a self, mut state: MutexGuard<'a, ClientState>) {
        if !state.is_working {
            state.is_working = true;
            while let Some(action) = state.work.pop_front() {
                drop(state);
                self.carry_out(action);
                state = self.state();
            }
            state.is_working = false;
        }
        drop(state);
        self.changed.notify_one();
    }

    /// What may call back.
    fn carry_out(&self, action: Action) {
        match action {
            Action::Call { call, server, method, params, needs } => {
                self.start_call(call, &server, &method, &params, needs);
            }
            Action::Cancel { call } => {
                let running = self.state().calls.remove(&call);
                running.into_iter().for_each(RunningCall::cancel);
            }
            Action::Answer { question, answer } => self.answer(question, answer),
            Action::Subscribe { call, server, uri } => self.subscribe(call, &server, uri),
            Action::Unsubscribe { server, uri } => self.unsubscribe(&server, uri),
            Action::SetLogLevel { level } => self.leases.set_level(level),
            Action::Dropped { server, what } => {
                tracing::debug!(%server, ?what, "a message has no way to its client");
            }
            Action::Close => self.end(),
            other => tracing::error!(?other, "an action that has no place here"),
        }
    }

    /// A call, or a subscription, is under way; it is not kept if it has ended.
    pub(super) fn keep_call(&self, call: CallId, running: RunningCall) {
        let mut state = self.state();
        match state.is_over {
            true => {
                drop(state);
                running.cancel();
            }
            false => drop(state.calls.insert(call, running)),
        }
    }

    /// It waits there, unless it was sent meanwhile. What was cancelled does not go on.
    pub(super) fn begun_to_wait(&self, call: CallId, running: RunningCall) {
        let unwanted = match self.state().calls.get_mut(&call) {
            Some(place) if place.begins() => {
                *place = running;
                None
            }
            Some(_) => None,
            None => Some(running),
        };
        unwanted.into_iter().for_each(RunningCall::cancel);
    }

    /// Where it is under way; `false` when it has ended or was cancelled.
    pub(super) fn go_on(&self, call: CallId, running: RunningCall) -> bool {
        match self.state().calls.get_mut(&call) {
            Some(place) => {
                *place = running;
                true
            }
            None => false,
        }
    }

    /// A call has ended. Of one that was cancelled nobody is told.
    pub(super) fn call_ended(&self, call: CallId, result: std::result::Result<&str, &Error>) {
        let mut state = self.state();
        if state.calls.remove(&call).is_none() || state.is_over {
            return;
        }
        self.take(&mut state, BridgeInput::Answered { call, result });
        self.work(state);
    }

    /// The one call to this server that is under way; where several are it is not known which is
    /// meant.
    pub(super) fn only_call(&self, server: &str) -> Option<CallId> {
        let state = self.state();
        let mut calls = state.calls.iter().filter(|(_, running)| running.is_of(server));
        let (call, _) = calls.next()?;
        calls.next().is_none().then_some(*call)
    }

    /// Keeps where the answer to a question goes; `false` when the client is over.
    pub(super) fn keep_question(
        &self,
        question: QuestionId,
        answer: oneshot::Sender<HandlerResult>,
    ) -> bool {
        let mut state = self.state();
        if !state.is_over {
            state.questions.insert(question, answer);
        }
        !state.is_over
    }

    /// Where the answer to a question goes, if that is awaited.
    pub(super) fn take_question(
        &self,
        question: QuestionId,
    ) -> Option<oneshot::Sender<HandlerResult>> {
        self.state().questions.remove(&question)
    }

    /// When the bridge is to be told the time.
    pub(super) fn next_deadline(&self) -> Option<Moment> {
        self.state().bridge.next_deadline()
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Calls under way.
    pub(super) fn calls_under_way(&self) -> usize {
        self.state().calls.len()
    }

    /// Nothing is kept of it: its calls are cancelled, its questions refused, its session closed.
    pub(super) fn end(&self) {
        let (calls, questions, outlets) = {
            let mut state = self.state();
            if std::mem::replace(&mut state.is_over, true) {
                return;
            }
            state.work.clear();
            let calls = std::mem::take(&mut state.calls);
            (calls, std::mem::take(&mut state.questions), std::mem::take(&mut state.outlets))
        };
        calls.into_values().for_each(RunningCall::cancel);
        // Those who wait for an answer see that nothing comes.
        drop(questions);
        outlets.into_values().for_each(|outlet| outlet.send(OutletItem::Close));
        self.leases.give_up();
        self.session.close(None);
        (self.at_end)(self.number);
        self.changed.notify_one();
    }

    fn now(&self) -> Now {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock before 1970 makes every sealed state one of the future.
        let unix_seconds = since.map_or(0, |since| since.as_secs());
        Now { moment: self.driver.now(), unix_seconds }
    }

    fn state(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientState {
    /// Frames go out at once; what may call back waits for its turn.
    fn carry_out(&mut self, action: Action) {
        let (stream, outgoing) = match action {
            Action::Send { stream, frame: text, last, status, droppable } => {
                (stream, OutletItem::Frame { text, last, status, droppable })
            }
            Action::Accepted { stream } => (stream, OutletItem::Accepted),
            Action::OpenSession { stream } => (stream, OutletItem::SessionOpened),
            Action::End { stream } => (stream, OutletItem::Close),
            other => return self.work.push_back(other),
        };
        if let Some(outlet) = self.outlets.get(&stream) {
            outlet.send(outgoing);
            if !outlet.is_open() {
                self.outlets.remove(&stream);
            }
        }
    }

    /// Frames for this stream go there from now on.
    fn let_out(&mut self, outlet: Outlet) -> BridgeStream {
        let StreamId(number) = outlet.stream();
        self.outlets.insert(BridgeStream(number), outlet);
        BridgeStream(number)
    }
}

impl Served for PoolClient {
    fn message(&self, text: &str, headers: Option<&McpHeaders>, outlet: Outlet) {
        let mut state = self.state();
        if state.is_over {
            return outlet.send(OutletItem::Refused { status: 404, text: None });
        }
        let stream = state.let_out(outlet);
        self.take(&mut state, BridgeInput::Message { stream, text, headers });
        self.work(state);
    }

    fn stream(&self, outlet: Outlet) {
        let mut state = self.state();
        if state.is_over {
            return outlet.send(OutletItem::Close);
        }
        let stream = state.let_out(outlet);
        self.take(&mut state, BridgeInput::Stream { stream });
        self.work(state);
    }

    fn stream_closed(&self, StreamId(number): StreamId) {
        let stream = BridgeStream(number);
        let mut state = self.state();
        state.outlets.remove(&stream);
        if !state.is_over {
            self.take(&mut state, BridgeInput::StreamClosed { stream });
            self.work(state);
        }
    }

    fn close(&self) {
        self.input(BridgeInput::Close);
        self.end();
    }
}
