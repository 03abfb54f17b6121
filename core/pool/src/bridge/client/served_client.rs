//! What is kept of one served client, and where each input goes.

use std::collections::BTreeMap;

use super::records::call::OpenCall;
use super::records::call::OpenRequest;
use super::records::call::RequestKey;
use super::records::input_step::InputStep;
use super::records::listen::Listen;
use super::records::parked_call::ParkedCall;
use super::records::question::AskedQuestion;
use super::records::subscription::ResourceKey;
use super::records::subscription::Subscription;
use crate::bridge::action::Action;
use crate::bridge::capabilities::ClientCapabilities;
use crate::bridge::facts::{ClientFacts, LaneKind};
use crate::bridge::ids::{CallId, StreamId};
use crate::bridge::input::{BridgeInput, ListKinds, Now};
use crate::bridge::offers::Offers;
use crate::bridge::presentation::introductions::Introducing;
use crate::bridge::wire::revisions::MODERN;
use crate::config::Era;
use crate::options::LogLevel;
use crate::state::Moment;

/// One client of an endpoint: a legacy session or connection, or everything of one modern
/// principal on one path.
#[derive(Debug)]
pub struct ServedClient {
    pub(super) facts: ClientFacts,
    pub(super) stage: ClientStage,
    /// What a legacy client agreed in `initialize`; of a modern one nothing.
    pub(super) opened: Option<Opened>,
    /// The least grave messages that a legacy session asked for.
    pub(super) log_level: Option<LogLevel>,
    /// Where the messages of a legacy client go that belong to no request.
    pub(super) open_stream: Option<StreamId>,
    /// The lists that changed while there was no such stream.
    pub(super) missed: ListKinds,
    /// Requests that are not answered yet, by the stream of their POST.
    pub(super) posts: BTreeMap<StreamId, usize>,
    pub(super) calls: BTreeMap<CallId, OpenCall>,
    /// The calls that somebody waits for, by the id of the client.
    pub(super) requests: BTreeMap<RequestKey, CallId>,
    /// Questions that a legacy client was asked, by the id that it was given.
    pub(super) asked: BTreeMap<u64, AskedQuestion>,
    pub(super) parked: BTreeMap<String, ParkedCall>,
    pub(super) listens: BTreeMap<OpenRequest, Listen>,
    pub(super) subscriptions: BTreeMap<ResourceKey, Subscription>,
    /// Subscriptions that their servers did not answer yet.
    pub(super) subscribing: BTreeMap<CallId, ResourceKey>,
    pub(super) counts: Counts,
    pub(super) last_heard: Moment,
}

/// What a legacy client agreed in `initialize`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    pub revision: &'static str,
    pub capabilities: ClientCapabilities,
}

/// How far a client is from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientStage {
    Open,
    Draining,
    Closed,
}

/// The numbers that were given so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub calls: u64,
    pub questions: u64,
    pub handles: u64,
}

/// The next number of a row that begins with 1.
pub(super) fn next(count: &mut u64) -> u64 {
    *count += 1;
    *count
}

impl ServedClient {
    /// A client that has said nothing yet.
    pub fn new(facts: ClientFacts) -> Self {
        ServedClient {
            facts,
            stage: ClientStage::Open,
            opened: None,
            log_level: None,
            open_stream: None,
            missed: ListKinds::default(),
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
        input: BridgeInput<'_>,
        offers: &dyn Offers,
        now: Now,
        actions: &mut Vec<Action>,
    ) {
        let turn = &mut InputStep { offers, now, actions };
        if input.is_of_client() || self.last_heard == Moment::default() {
            self.last_heard = now.moment;
        }
        match input {
            BridgeInput::Message { stream, text, headers } => {
                self.take_message(turn, stream, text, headers);
            }
            BridgeInput::Stream { stream } => self.take_stream(turn, stream),
            BridgeInput::StreamClosed { stream } => self.take_stream_closed(turn, stream),
            BridgeInput::Answered { call, result } => self.take_answered(turn, call, result),
            BridgeInput::Progress { call, params } => self.take_progress(turn, call, params),
            BridgeInput::Logged { server, params, call } => {
                self.take_logged(turn, server, params, call)
            }
            BridgeInput::Asked { question, server, call, method, params } => {
                self.take_asked(turn, (question, call), server, (method, params));
            }
            BridgeInput::Unasked { question } => self.take_unasked(turn, question),
            BridgeInput::ListsChanged { kinds } => self.take_lists_changed(turn, kinds),
            BridgeInput::ResourceUpdated { server, uri } => self.take_updated(turn, server, uri),
            BridgeInput::Tick => self.take_tick(turn),
            BridgeInput::Drain => self.drain(turn),
            BridgeInput::Close => self.close(turn),
        }
        self.end_if_drained(turn);
    }

    /// When `BridgeInput::Tick` is due; `None` while nothing waits.
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

    pub(super) fn is_modern(&self) -> bool {
        self.facts.era == Era::Modern
    }

    pub(super) fn is_http(&self) -> bool {
        self.facts.lane == LaneKind::Http
    }

    /// The revision that this client speaks.
    pub(super) fn revision(&self) -> &'static str {
        match (self.facts.era, self.opened) {
            (Era::Modern, _) | (Era::Legacy, None) => MODERN,
            (Era::Legacy, Some(opened)) => opened.revision,
        }
    }

    pub(super) fn introducing<'a>(&'a self, offers: &'a dyn Offers) -> Introducing<'a> {
        Introducing {
            path: &self.facts.path,
            endpoint: &self.facts.endpoint,
            offers,
            era: self.facts.era,
        }
    }

    pub(super) fn new_call(&mut self) -> CallId {
        CallId(next(&mut self.counts.calls))
    }
}
