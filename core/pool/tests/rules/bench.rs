//! A pool on a table: a clock turned by hand, short words for inputs, and whole effect lists to
//! compare with.

use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::acceptance::QuarantinedTools;
use trunkline_pool::catalog::{Catalog, CatalogDifference, Item};
use trunkline_pool::config::Share;
use trunkline_pool::config::{Fingerprint, ServerSpec};
use trunkline_pool::options::{OnToolChange, PoolOptions};
use trunkline_pool::state::*;
use trunkline_pool::{Error, ErrorCode};

pub use trunkline_pool::state::EntryState::*;

/// A pool and its clock, in milliseconds.
pub struct Bench {
    pub pool: PoolState,
    pub now: u64,
}

/// Options with round delays: drain 1 s, idle cap 5 s, reconnect after 1 and 2 s, healthy after 30
/// s, and no quiet attempts.
pub fn options() -> PoolOptions {
    let mut options = PoolOptions::default();
    options.drain_delay = ms(1_000);
    options.idle_cap = ms(5_000);
    options.reconnect.local_delays = vec![ms(1_000), ms(2_000)];
    options.reconnect.remote_delays = vec![ms(1_000), ms(2_000)];
    options.reconnect.revive = Vec::new();
    options
}

/// What opened session 0, granted lease 0 by ticket 0 and connected entry 0 of key 0.
pub fn held() -> Bench {
    held_with(options())
}

pub fn held_with(options: PoolOptions) -> Bench {
    let mut bench = Bench::with(options);
    bench.step(open(0));
    bench.step(acquire(0, 0, 0));
    bench.step(connected(0, 1, 1));
    bench
}

impl Bench {
    pub fn new() -> Bench {
        Bench::with(options())
    }

    pub fn with(options: PoolOptions) -> Bench {
        Bench { pool: PoolState::new(options, 7), now: 0 }
    }

    /// One input; every invariant must hold after it.
    pub fn step(&mut self, input: PoolInput) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.pool.step(at(self.now), input, &mut effects);
        self.pool.invariants().unwrap();
        effects
    }

    /// Time passes to `now`, in milliseconds, and what fell due is done.
    pub fn wait_until(&mut self, now: u64) -> Vec<Effect> {
        self.now = now;
        let mut effects = Vec::new();
        self.pool.handle_timeout(at(now), &mut effects);
        self.pool.invariants().unwrap();
        effects
    }

    pub fn row(&self, entry: u32) -> EntryStatus {
        self.pool.entry(EntryId(entry)).unwrap()
    }

    pub fn deadline(&self) -> Option<u64> {
        self.pool.next_deadline().map(|at| at.0 / 1_000_000)
    }
}

pub fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

pub fn at(number: u64) -> Moment {
    Moment(number * 1_000_000)
}

pub fn id(entry: u32, generation: u32) -> ConnectionId {
    ConnectionId { entry: EntryId(entry), generation: Generation(generation) }
}

pub fn tools(version: u8) -> Arc<Catalog> {
    if version == 0 {
        return Arc::default();
    }
    let item = Item { name: "t".into(), definition: "{}".into(), digest: [version; 32] };
    Arc::new(Catalog { tools: vec![item], ..Catalog::default() })
}

/// The fingerprint of a key's configuration: another for each key.
pub fn fingerprint(key: u32) -> Fingerprint {
    let spec = serde_json::json!({ "command": key.to_string() });
    ServerSpec::from_value("s", &spec).unwrap().fingerprint("pool", &[])
}

pub fn exited() -> Error {
    Error::new(ErrorCode::Exited, "it ended")
}

pub fn unauthorized() -> Error {
    Error::new(ErrorCode::AuthRequired, "no token")
}

pub fn crash_loop() -> Error {
    Error::new(ErrorCode::CrashLoop, "lost too often, the last time: it ended").with_cause(exited())
}

pub fn unstable() -> Error {
    let message = "lost again soon after it came back, the last time: it ended";
    Error::new(ErrorCode::Unstable, message).with_cause(exited())
}

pub fn closing() -> Error {
    Error::new(ErrorCode::Closing, "the pool is draining")
}

pub fn closed_session() -> Error {
    Error::new(ErrorCode::Closed, "the session is closed")
}

pub fn cancelled() -> Error {
    Error::new(ErrorCode::Cancelled, "the acquire was cancelled")
}

pub fn limit(name: &str, limit: u32) -> Error {
    let what = match name {
        "processes" => "server processes",
        _ => "connections of the server",
    };
    let message = format!("there are {limit} {what}, as many as `limits.{name}` allows");
    Error::new(ErrorCode::Limit, message).with_detail("limit", name)
}

// Inputs.

pub fn open(session: u64) -> PoolInput {
    PoolInput::OpenSession { session: SessionId(session) }
}

pub fn close(session: u64) -> PoolInput {
    close_keeping(session, 0)
}

pub fn close_keeping(session: u64, keep_for: u64) -> PoolInput {
    PoolInput::CloseSession { session: SessionId(session), keep_for: ms(keep_for) }
}

pub fn resume(session: u64) -> PoolInput {
    PoolInput::ResumeSession { session: SessionId(session) }
}

/// An acquire of a local server; the server's number is the key's.
pub fn acquire(ticket: u64, session: u64, key: u32) -> PoolInput {
    acquire_of(ticket, session, key, key, Family::Local)
}

pub fn acquire_of(ticket: u64, session: u64, key: u32, server: u32, family: Family) -> PoolInput {
    PoolInput::Acquire(Ask {
        ticket: Ticket(ticket),
        session: SessionId(session),
        key: KeyId(key),
        server: ServerId(server),
        fingerprint: fingerprint(key),
        on_tool_change: OnToolChange::Notify,
        family,
        share: Share::Pool,
        reconnect: None,
    })
}

/// An acquire of a server whose changed tools are held back.
pub fn acquire_held_back(ticket: u64, session: u64, key: u32, server: u32) -> PoolInput {
    let mut input = acquire_of(ticket, session, key, server, Family::Local);
    if let PoolInput::Acquire(Ask { on_tool_change, .. }) = &mut input {
        *on_tool_change = OnToolChange::Quarantine;
    }
    input
}

/// What an [`acquire_held_back`] accepts belongs to.
pub fn held_back_of(key: u32, server: u32) -> Configuration {
    let (server, fingerprint) = (ServerId(server), fingerprint(key));
    Configuration { server, fingerprint, on_tool_change: OnToolChange::Quarantine }
}

/// An acquire with a configuration that has its own delays.
pub fn acquire_delayed(ticket: u64, session: u64, delays: &[u64]) -> PoolInput {
    let mut input = acquire(ticket, session, 0);
    if let PoolInput::Acquire(Ask { reconnect, .. }) = &mut input {
        let mut own = options().reconnect;
        own.local_delays = delays.iter().map(|delay| ms(*delay)).collect();
        *reconnect = Some(Arc::new(own));
    }
    input
}

/// An acquire of a connection that is the session's own.
pub fn acquire_own(ticket: u64, session: u64, key: u32) -> PoolInput {
    let mut input = acquire(ticket, session, key);
    if let PoolInput::Acquire(Ask { share, .. }) = &mut input {
        *share = Share::Session;
    }
    input
}

pub fn cancel(ticket: u64) -> PoolInput {
    PoolInput::CancelAcquire { ticket: Ticket(ticket) }
}

pub fn release(lease: u64) -> PoolInput {
    PoolInput::Release { lease: LeaseId(lease) }
}

pub fn restart(ticket: u64, server: u32, index: Option<u32>) -> PoolInput {
    PoolInput::Restart { ticket: Ticket(ticket), server: ServerId(server), index }
}

/// What is acquired there, as the wishes of one pass.
pub fn want<const COUNT: usize>(acquires: [PoolInput; COUNT]) -> PoolInput {
    let ask = |acquire| match acquire {
        PoolInput::Acquire(ask) => ask,
        other => panic!("{other:?} is no acquire"),
    };
    PoolInput::Want { asks: acquires.map(ask).into() }
}

/// These entries are of a configuration that the pool no longer has, and those of one that it has.
pub fn reconfigure(outdated: &[u32], current: &[u32]) -> PoolInput {
    let ids = |entries: &[u32]| entries.iter().map(|entry| EntryId(*entry)).collect();
    PoolInput::Reconfigure { outdated: ids(outdated), current: ids(current) }
}

pub fn drain(ticket: u64, how: DrainMode, deadline: u64) -> PoolInput {
    PoolInput::Drain { ticket: Ticket(ticket), how, deadline: at(deadline) }
}

pub fn credentials_changed(entry: u32) -> PoolInput {
    PoolInput::CredentialsChanged { entries: vec![EntryId(entry)] }
}

pub fn connected(entry: u32, generation: u32, version: u8) -> PoolInput {
    PoolInput::Connected { connection: id(entry, generation), catalog: tools(version) }
}

pub fn connect_failed(entry: u32, generation: u32, error: Error) -> PoolInput {
    PoolInput::ConnectFailed { connection: id(entry, generation), error }
}

pub fn disconnected(entry: u32, generation: u32) -> PoolInput {
    disconnected_by(entry, generation, exited())
}

pub fn disconnected_by(entry: u32, generation: u32, error: Error) -> PoolInput {
    let reason = LossReason::TransportClosed;
    PoolInput::Disconnected { connection: id(entry, generation), reason, error }
}

pub fn closed(entry: u32, generation: u32) -> PoolInput {
    PoolInput::Closed { connection: id(entry, generation), exit: CloseExit::Clean }
}

pub fn killed(entry: u32, generation: u32) -> PoolInput {
    PoolInput::Closed { connection: id(entry, generation), exit: CloseExit::Forced }
}

/// What was told by [`forgo`] had not begun.
pub fn unbegun(entry: u32, generation: u32) -> PoolInput {
    PoolInput::Closed { connection: id(entry, generation), exit: CloseExit::Unbegun }
}

pub fn stale(entry: u32, generation: u32) -> PoolInput {
    PoolInput::CatalogStale { connection: id(entry, generation) }
}

/// The answer to the `number`th listing of an incarnation.
pub fn listed(entry: u32, generation: u32, number: u64, version: u8) -> PoolInput {
    let (connection, number) = (id(entry, generation), ListingNumber(number));
    PoolInput::CatalogListed { connection, number, result: Ok(tools(version)) }
}

pub fn listing_failed(entry: u32, generation: u32, number: u64) -> PoolInput {
    let (connection, number) = (id(entry, generation), ListingNumber(number));
    PoolInput::CatalogListed { connection, number, result: Err(exited()) }
}

// Effects.

pub fn connect(entry: u32, generation: u32, key: u32) -> Effect {
    let (connection, key) = (id(entry, generation), KeyId(key));
    Effect::Connect { connection, key, admitted: an_admission() }
}

/// Nobody but a reducer that asked its gates can make one.
fn an_admission() -> Admitted {
    let mut bench = Bench::new();
    bench.step(open(0));
    let effects = bench.step(acquire(0, 0, 0));
    let admitted = effects.iter().find_map(|effect| match effect {
        Effect::Connect { admitted, .. } => Some(*admitted),
        _ => None,
    });
    admitted.unwrap()
}

pub fn end(entry: u32, generation: u32, how: CloseMode) -> Effect {
    Effect::Close { connection: id(entry, generation), how }
}

pub fn forgo(entry: u32, generation: u32) -> Effect {
    Effect::Forgo { connection: id(entry, generation) }
}

/// The `number`th listing of an incarnation begins.
pub fn list(entry: u32, generation: u32, number: u64) -> Effect {
    Effect::ListCatalog { connection: id(entry, generation), number: ListingNumber(number) }
}

pub fn publish(entry: u32, generation: u32, state: EntryState, version: u8) -> Effect {
    publish_error(entry, generation, state, version, None)
}

pub fn publish_error(
    entry: u32,
    generation: u32,
    state: EntryState,
    version: u8,
    error: impl Into<Option<Error>>,
) -> Effect {
    let (generation, catalog) = (Generation(generation), tools(version));
    let slot =
        Slot { generation, state, catalog, held: QuarantinedTools::default(), error: error.into() };
    Effect::Publish { entry: EntryId(entry), slot }
}

pub fn grant(ticket: u64, lease: u64, entry: u32) -> Effect {
    Effect::Grant { ticket: Ticket(ticket), lease: LeaseId(lease), entry: EntryId(entry) }
}

pub fn refuse(ticket: u64, error: Error) -> Effect {
    Effect::Refuse { ticket: Ticket(ticket), error }
}

pub fn restarted(ticket: u64, reports: &[(u32, Result<u64, RestartRefusal>)]) -> Effect {
    let report = |(entry, result): &(u32, Result<u64, RestartRefusal>)| RestartReport {
        entry: EntryId(*entry),
        index: *entry,
        result: result.clone().map(ms),
    };
    Effect::Restarted { ticket: Ticket(ticket), reports: reports.iter().map(report).collect() }
}

pub fn drained(ticket: u64, drained: u32, forced: u32, errors: &[(u32, Error)]) -> Effect {
    let errors = errors.iter().map(|(entry, error)| (EntryId(*entry), error.clone())).collect();
    Effect::Drained { ticket: Ticket(ticket), report: DrainReport { drained, forced, errors } }
}

/// The pool's subscribers hear of a state; `from` is `None` for a new entry.
pub fn status(
    entry: u32,
    generation: u32,
    from: impl Into<Option<EntryState>>,
    to: EntryState,
    reason: &'static str,
) -> Effect {
    let (entry, generation, from) = (EntryId(entry), Generation(generation), from.into());
    let notice = Notice::StatusChanged { entry, generation, from, to, reason };
    Effect::Notify { audience: Audience::Pool, notice }
}

pub fn tell(session: u64, notice: Notice) -> Effect {
    tell_all(&[session], notice)
}

pub fn tell_all(sessions: &[u64], notice: Notice) -> Effect {
    let sessions = sessions.iter().copied().map(SessionId).collect();
    Effect::Notify { audience: Audience::Sessions(sessions), notice }
}

pub fn lost(session: u64, entry: u32, generation: u32, reason: LossReason) -> Effect {
    let (entry, generation) = (EntryId(entry), Generation(generation));
    let error = (reason == LossReason::TransportClosed).then(exited);
    tell(session, Notice::Disconnected { entry, generation, reason, error })
}

/// It was lost by that.
pub fn lost_by(session: u64, entry: u32, generation: u32, error: Error) -> Effect {
    let (entry, generation) = (EntryId(entry), Generation(generation));
    let reason = LossReason::TransportClosed;
    tell(session, Notice::Disconnected { entry, generation, reason, error: Some(error) })
}

pub fn back(session: u64, entry: u32, generation: u32, attempts: u32, downtime: u64) -> Effect {
    let (entry, generation, downtime) = (EntryId(entry), Generation(generation), ms(downtime));
    tell(session, Notice::Reconnected { entry, generation, attempts, downtime })
}

pub fn failed(session: u64, entry: u32, generation: u32, error: Error) -> Effect {
    let (entry, generation) = (EntryId(entry), Generation(generation));
    tell(session, Notice::Failed { entry, generation, error })
}

/// The pool's subscribers hear that the server wants credentials.
pub fn auth_required(entry: u32, generation: u32, error: Error) -> Effect {
    let (entry, generation) = (EntryId(entry), Generation(generation));
    let notice = Notice::AuthRequired { entry, generation, error };
    Effect::Notify { audience: Audience::Pool, notice }
}

pub fn changed(session: u64, entry: u32, generation: u32, before: u8, after: u8) -> Effect {
    changed_for(&[session], entry, generation, before, after)
}

/// All who hold the entry hear of it.
pub fn changed_for(sessions: &[u64], entry: u32, generation: u32, before: u8, after: u8) -> Effect {
    let (before, after) = (tools(before), tools(after));
    let difference = Arc::new(CatalogDifference::between(&before, &after));
    let (entry, generation) = (EntryId(entry), Generation(generation));
    tell_all(sessions, Notice::CatalogChanged { entry, generation, before, after, difference })
}

/// The tool comes with another definition than it had.
pub fn changed_and_renewed(
    session: u64,
    entry: u32,
    generation: u32,
    before: u8,
    after: u8,
) -> Effect {
    let (before, after) = (tools(before), tools(after));
    let difference = CatalogDifference::between(&before, &after).with_renewed(&["t".into()]);
    let (entry, generation, difference) =
        (EntryId(entry), Generation(generation), Arc::new(difference));
    tell(session, Notice::CatalogChanged { entry, generation, before, after, difference })
}
