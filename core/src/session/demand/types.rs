//! The servers that a session wants, as data: nothing here knows the session.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::gates::Shuts;
use trunkline_pool::options::SessionOptions;
use trunkline_pool::plan::Holding;
use trunkline_pool::state::Ticket;
use trunkline_pool::view::Viewed;

use crate::driver::server_config::ResolvedServer;
use crate::session::lease::{HoldId, HoldKind};
use crate::{Error, ErrorCode};

/// The wanted servers by name.
#[derive(Default)]
pub(crate) struct DemandSet {
    pub(crate) servers: BTreeMap<Box<str>, ServerDemand>,
    last: WantId,
    /// How often what is kept was looked for.
    pub(crate) looks: u64,
    /// The session has seen what was kept at its beginning.
    pub(crate) shown: bool,
    /// The session is closed: nothing is wanted any more.
    pub(crate) closed: bool,
}

/// The number of a want, and of a question that it asked: tells the answer to an earlier one of the
/// same server apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WantId(pub(crate) u64);

/// A server that is to be asked for.
pub(crate) struct NewDemand {
    pub(crate) server: Box<str>,
    pub(crate) configured: Arc<ResolvedServer>,
    pub(crate) want: WantId,
}

/// A server that a session is to want.
pub(crate) struct DesiredServer {
    pub(crate) configured: Arc<ResolvedServer>,
    pub(crate) options: Arc<SessionOptions>,
    /// As it is now.
    pub(crate) shuts: Shuts,
    pub(crate) lazy: bool,
}

pub(crate) struct ServerDemand {
    /// The number of its newest question.
    pub(crate) id: WantId,
    /// Its own.
    pub(crate) born: WantId,
    /// The newest of the same connection.
    pub(crate) configured: Arc<ResolvedServer>,
    /// What the session sees of it is made of this, and of these options: the newest too.
    pub(crate) seen_by: (Arc<ResolvedServer>, Arc<SessionOptions>),
    /// As it was when it was asked for: a gate that was shut since has ended what came of it.
    shuts: Shuts,
    /// The question to the pool.
    pub(crate) ticket: Option<Ticket>,
    pub(crate) state: DemandState,
    /// What is kept of it.
    pub(crate) kept: CacheProbe,
    /// Present when it runs for calls only.
    pub(crate) lazy: Option<Lazy>,
}

/// How far what is kept of a server was looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheProbe {
    /// Not yet.
    Never,
    /// It is being looked for, at that look.
    At(u64),
    /// What there is was taken.
    Taken,
}

/// What a want has whose server runs for calls only.
#[derive(Default)]
pub(crate) struct Lazy {
    /// The calls that run, or wait for it.
    pub(crate) users: usize,
    /// Its server is started once, since nothing is known of its tools.
    pub(crate) learns: bool,
    /// The failure that the session was told of, until its server is there again.
    pub(crate) told: Option<ErrorCode>,
}

pub(crate) enum DemandState {
    /// What is kept of it is looked for, and decides whether it is asked for.
    Looking,
    Pending,
    /// There is no room for it; it begins when there is.
    Waiting(Error),
    Ready(HoldId),
    Failed(Error),
    /// It failed, and what ends that has come: the next plan asks for it anew. Until then it is one
    /// that is still to come.
    Over,
    /// No question was asked: its tools are known, and no call needs it. How its last start failed.
    Asleep(Option<Error>),
}

impl DemandSet {
    /// A want, unless it is over, or another of the same server has taken its place.
    pub(crate) fn of(&mut self, server: &str, id: WantId) -> Option<&mut ServerDemand> {
        self.servers.get_mut(server).filter(|want| want.id == id)
    }

    /// A new number for a question.
    pub(crate) fn next(&mut self) -> WantId {
        self.last.0 += 1;
        self.last
    }
}

impl ServerDemand {
    pub(crate) fn new(id: WantId, to_want: DesiredServer) -> ServerDemand {
        let DesiredServer { configured, options, shuts, lazy } = to_want;
        let (state, lazy) = match lazy {
            true => (DemandState::Looking, Some(Lazy::default())),
            false => (DemandState::Pending, None),
        };
        let (ticket, kept, seen_by) = (None, CacheProbe::Never, (configured.clone(), options));
        ServerDemand { id, born: id, configured, seen_by, shuts, ticket, state, kept, lazy }
    }

    /// What the session has of its server.
    pub(crate) fn holding<'a>(&'a self, server: &'a str) -> Holding<'a> {
        let (connection, lazy) = (self.configured.connection(), self.lazy.is_some());
        let (configured, options) = &self.seen_by;
        let viewed = Viewed { server, spec: configured.spec(), options };
        Holding { connection, shuts: self.shuts, lazy, viewed }
    }

    /// Whether its server, or what is known of it, is still to come. What a call alone has begun is
    /// nobody else's matter.
    pub(crate) fn is_awaited(&self) -> bool {
        match self.state {
            DemandState::Looking | DemandState::Over => true,
            DemandState::Pending => self.lazy.as_ref().is_none_or(|lazy| lazy.learns),
            DemandState::Waiting(_)
            | DemandState::Ready(_)
            | DemandState::Failed(_)
            | DemandState::Asleep(_) => false,
        }
    }

    /// Whether the session is to be told of this failure: one that runs for calls only and is
    /// started in vain again stands as it stood.
    pub(crate) fn note_failure(&mut self, error: &Error) -> bool {
        let code = error.code();
        self.lazy.as_mut().is_none_or(|lazy| lazy.told.replace(code) != Some(code))
    }

    /// Its server is there, or known: the next failure is another.
    pub(crate) fn clear_failure(&mut self) {
        if let Some(lazy) = &mut self.lazy {
            lazy.told = None;
        }
    }

    /// It waits for a call, and for nobody else.
    pub(crate) fn sleep(&mut self, why: Option<Error>) {
        self.state = DemandState::Asleep(why);
        if let Some(lazy) = &mut self.lazy {
            lazy.learns = false;
        }
    }

    /// Whether nothing came of it and nobody has begun it again: with tools that are known it would
    /// sleep.
    pub(crate) fn has_learned_nothing(&self) -> bool {
        self.lazy.is_some() && self.has_failed()
    }

    /// Whether an answer of any kind is still to come.
    pub(crate) fn is_to_come(&self) -> bool {
        matches!(self.state, DemandState::Looking | DemandState::Pending | DemandState::Over)
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, DemandState::Over)
    }

    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.state, DemandState::Failed(_))
    }

    pub(crate) fn hold_kind(&self) -> HoldKind {
        if self.lazy.is_some() { HoldKind::Calls } else { HoldKind::Want }
    }

    pub(crate) fn hold(&self) -> Option<HoldId> {
        if let DemandState::Ready(hold) = self.state { Some(hold) } else { None }
    }

    /// Whether an answer to it would be taken: that of a server which failed comes when it is there
    /// after all.
    pub(crate) fn is_answerable(&self) -> bool {
        self.is_open() || (self.has_failed() && self.lazy.is_none())
    }

    /// Whether its answer is still to come.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, DemandState::Pending | DemandState::Waiting(_))
    }

    pub(crate) fn open_ticket(&self) -> Option<Ticket> {
        self.ticket.filter(|_| self.is_answerable())
    }

    /// Nothing is known of a server that would sleep: it is started once.
    pub(crate) fn learn(&mut self, server: &str) -> Option<NewDemand> {
        let (DemandState::Looking, Some(lazy)) = (&self.state, &mut self.lazy) else { return None };
        lazy.learns = true;
        self.state = DemandState::Pending;
        Some(NewDemand {
            server: server.into(),
            configured: self.configured.clone(),
            want: self.id,
        })
    }

    /// Whether it is a want for calls, and none needs it.
    pub(crate) fn is_of_no_use(&self) -> bool {
        let learns = |learns: bool| learns && matches!(self.state, DemandState::Pending);
        self.lazy.as_ref().is_some_and(|lazy| lazy.users == 0 && !learns(lazy.learns))
    }
}

impl DesiredServer {
    pub(crate) fn holding<'a>(&'a self, server: &'a str) -> Holding<'a> {
        let DesiredServer { configured, options, shuts, lazy } = self;
        let viewed = Viewed { server, spec: configured.spec(), options };
        Holding { connection: configured.connection(), shuts: *shuts, lazy: *lazy, viewed }
    }
}
