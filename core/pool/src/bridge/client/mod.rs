//! One served client as a state machine: what it asked, what servers ask it, and what it listens to.

mod announcements;
mod call;
mod calls;
mod ending;
mod forwarding;
mod listens;
mod parked;
mod questions;
mod requests;
mod rounds;
mod subscriptions;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::BTreeMap;

use call::{Asker, OpenCall, RequestKey};
use listens::Listen;
use parked::ParkedCall;
use questions::AskedQuestion;
use subscriptions::{ResourceKey, Subscription};
use turn::Turn;

use super::action::Action;
use super::capabilities::ClientCapabilities;
use super::facts::{ClientFacts, LaneKind};
use super::ids::{CallId, StreamId};
use super::input::{Input, Kinds, Now};
use super::offers::Offers;
use super::shown::introductions::Introducing;
use super::wire::meta::MODERN;
use crate::config::Era;
use crate::options::LogLevel;
use crate::state::Moment;

/// One client of an endpoint: a legacy session or connection, or everything of one modern
/// principal on one path.
#[derive(Debug)]
pub struct ServedClient {
    facts: ClientFacts,
    stage: Stage,
    /// What a legacy client agreed in `initialize`; of a modern one nothing.
    opened: Option<Opened>,
    /// The least grave messages that a legacy session asked for.
    log_level: Option<LogLevel>,
    /// Where the messages of a legacy client go that belong to no request.
    open_stream: Option<StreamId>,
    /// The lists that changed while there was no such stream.
    missed: Kinds,
    /// Requests that are not answered yet, by the stream of their POST.
    posts: BTreeMap<StreamId, usize>,
    calls: BTreeMap<CallId, OpenCall>,
    /// The calls that somebody waits for, by the id of the client.
    requests: BTreeMap<RequestKey, CallId>,
    /// Questions that a legacy client was asked, by the id that it was given.
    asked: BTreeMap<u64, AskedQuestion>,
    parked: BTreeMap<String, ParkedCall>,
    listens: BTreeMap<Asker, Listen>,
    subscriptions: BTreeMap<ResourceKey, Subscription>,
    /// Subscriptions that their servers did not answer yet.
    subscribing: BTreeMap<CallId, ResourceKey>,
    counts: Counts,
    last_heard: Moment,
}

/// What a legacy client agreed in `initialize`.
#[derive(Clone, Copy, Debug)]
struct Opened {
    revision: &'static str,
    capabilities: ClientCapabilities,
}

/// How far a client is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    Draining,
    Closed,
}

/// The numbers that were given so far.
#[derive(Debug, Default)]
struct Counts {
    calls: u64,
    questions: u64,
    handles: u64,
}

/// The next number of a row that begins with 1.
fn next(count: &mut u64) -> u64 {
    *count += 1;
    *count
}

impl ServedClient {
    /// A client that has said nothing yet.
    pub fn new(facts: ClientFacts) -> Self {
        ServedClient {
            facts,
            stage: Stage::Open,
            opened: None,
            log_level: None,
            open_stream: None,
            missed: Kinds::default(),
            posts: BTreeMap::new(),
            calls: BTreeMap::new(),
            requests: BTreeMap::new(),
            asked: BTreeMap::new(),
            parked: BTreeMap::new(),
            listens: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            subscribing: BTreeMap::new(),
            counts: Counts::default(),
            last_heard: Moment::default(),
        }
    }

    /// Takes one input to its end; what it wants done is appended to `actions`.
    pub fn take(
        &mut self,
        input: Input<'_>,
        offers: &dyn Offers,
        now: Now,
        actions: &mut Vec<Action>,
    ) {
        let turn = &mut Turn { offers, now, actions };
        if input.is_of_client() || self.last_heard == Moment::default() {
            self.last_heard = now.moment;
        }
        match input {
            Input::Message { stream, text, headers } => {
                self.take_message(turn, stream, text, headers);
            }
            Input::Stream { stream } => self.take_stream(turn, stream),
            Input::StreamClosed { stream } => self.take_stream_closed(turn, stream),
            Input::Answered { call, result } => self.take_answered(turn, call, result),
            Input::Progress { call, params } => self.take_progress(turn, call, params),
            Input::Logged { server, params, call } => self.take_logged(turn, server, params, call),
            Input::Asked { question, server, call, method, params } => {
                self.take_asked(turn, (question, call), server, (method, params));
            }
            Input::Unasked { question } => self.take_unasked(turn, question),
            Input::ListsChanged { kinds } => self.take_lists_changed(turn, kinds),
            Input::ResourceUpdated { server, uri } => self.take_updated(turn, server, uri),
            Input::Tick => self.take_tick(turn),
            Input::Drain => self.drain(turn),
            Input::Close => self.close(turn),
        }
        self.end_if_drained(turn);
    }

    /// When `Input::Tick` is due; `None` while nothing waits.
    pub fn next_deadline(&self) -> Option<Moment> {
        let parked = self.parked.values().map(|parked| parked.until).min();
        let idle = self.is_idle().then(|| self.last_heard.after(self.facts.limits.idle));
        parked.into_iter().chain(idle).min()
    }

    /// Whether nothing is kept for this client but what it is.
    pub fn is_empty(&self) -> bool {
        self.posts.is_empty()
            && self.calls.is_empty()
            && self.requests.is_empty()
            && self.asked.is_empty()
            && self.parked.is_empty()
            && self.listens.is_empty()
            && self.subscriptions.is_empty()
            && self.subscribing.is_empty()
    }

    fn is_modern(&self) -> bool {
        self.facts.era == Era::Modern
    }

    fn is_http(&self) -> bool {
        self.facts.lane == LaneKind::Http
    }

    /// The revision that this client speaks.
    fn revision(&self) -> &'static str {
        match (self.facts.era, self.opened) {
            (Era::Modern, _) | (Era::Legacy, None) => MODERN,
            (Era::Legacy, Some(opened)) => opened.revision,
        }
    }

    fn introducing<'a>(&'a self, offers: &'a dyn Offers) -> Introducing<'a> {
        Introducing {
            path: &self.facts.path,
            endpoint: &self.facts.endpoint,
            offers,
            era: self.facts.era,
        }
    }

    fn new_call(&mut self) -> CallId {
        CallId(next(&mut self.counts.calls))
    }
}
