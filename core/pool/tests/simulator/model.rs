//! What may be concluded from inputs and effects alone, without a look into the pool: who holds
//! what, which tickets are open, what each entry's callers and holders were told. Every effect is
//! held against it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trunkline_pool::ErrorCode;
use trunkline_pool::acceptance::HeldTool;
use trunkline_pool::catalog::CatalogDifference;
use trunkline_pool::state::{
    Ask, Audience, ConnectionId, Effect, EntryId, EntryState, KeyId, LeaseId, LossReason, Moment,
    Notice, PoolInput, PoolState, ServerId, SessionId, Slot, Ticket,
};

use crate::definitions::{Definitions, accepts_tool, held as digests};
use crate::revival;
use crate::world::{World, connection_of, is_ours};

/// What an open acquire asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub session: SessionId,
    pub key: KeyId,
}

/// What was told of one entry.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub slot: Option<Slot>,
    pub shown: Option<EntryState>,
    /// What its holders were last told of its connection.
    pub standing: Standing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    #[default]
    Never,
    Up,
    Away,
    Failed,
}

/// Everything that was told.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub now: Moment,
    /// Live sessions, and until when closed ones keep what they hold.
    pub sessions: BTreeMap<SessionId, Option<Moment>>,
    pub leases: BTreeMap<LeaseId, (SessionId, EntryId)>,
    pub acquires: BTreeMap<Ticket, Asked>,
    /// Those of them that are wishes and wait for room.
    pub waiting: BTreeMap<Ticket, Ask>,
    /// All wishes that are open, and those whose server failed, and is tried again unasked.
    pub wishes: BTreeSet<Ticket>,
    pub failed: BTreeSet<Ticket>,
    pub restarts: BTreeMap<Ticket, ServerId>,
    pub drains: BTreeSet<Ticket>,
    pub entries: BTreeMap<EntryId, Told>,
    pub drain_deadline: Option<Moment>,
    pub drained_in_time: bool,
    pub definitions: Definitions,
    /// When each connection was last asked to list.
    listed_at: BTreeMap<ConnectionId, Moment>,
    next_lease: u64,
}

/// The least time from the beginning of one listing to that of the next (SPEC 7.2).
const LISTING_SPACING: Duration = Duration::from_millis(250);

/// Who held what when a step began.
pub type Holds = BTreeMap<EntryId, BTreeSet<SessionId>>;

/// What a step was about.
pub enum Cause<'a> {
    Input(&'a PoolInput),
    Timeout,
}

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

impl Model {
    pub fn holds(&self) -> Holds {
        let mut holds = Holds::new();
        for (session, entry) in self.leases.values() {
            holds.entry(*entry).or_default().insert(*session);
        }
        holds
    }

    pub fn is_open(&self, session: SessionId) -> bool {
        self.sessions.get(&session) == Some(&None)
    }

    /// Takes note of what is asked, before the answer.
    pub fn expect(&mut self, cause: &Cause<'_>, now: Moment) {
        self.now = self.now.max(now);
        match cause {
            Cause::Timeout => {
                let now = self.now;
                let over: Vec<SessionId> = self
                    .sessions
                    .iter()
                    .filter(|(_, kept)| kept.is_some_and(|until| until <= now))
                    .map(|(session, _)| *session)
                    .collect();
                for session in over {
                    self.forget_session(session);
                }
            }
            Cause::Input(input) => self.expect_input(input),
        }
    }

    fn expect_input(&mut self, input: &PoolInput) {
        match input {
            PoolInput::OpenSession { session } => {
                self.sessions.entry(*session).or_insert(None);
            }
            PoolInput::ResumeSession { session } => {
                self.sessions.insert(*session, None);
            }
            PoolInput::CloseSession { session, keep_for } if keep_for.is_zero() => {
                self.forget_session(*session);
            }
            PoolInput::CloseSession { session, keep_for } => {
                let until = self.now.after(*keep_for);
                if let Some(kept) = self.sessions.get_mut(session) {
                    *kept = Some(until);
                }
            }
            PoolInput::Acquire(Ask { ticket, session, key, .. }) => {
                self.acquires.insert(*ticket, Asked { session: *session, key: *key });
            }
            PoolInput::Want { asks } => {
                let asked = |ask: &Ask| Asked { session: ask.session, key: ask.key };
                self.acquires.extend(asks.iter().map(|ask| (ask.ticket, asked(ask))));
                self.wishes.extend(asks.iter().map(|ask| ask.ticket));
            }
            PoolInput::Release { lease } => {
                self.leases.remove(lease);
            }
            PoolInput::Restart { ticket, server, .. } => {
                self.restarts.insert(*ticket, *server);
            }
            PoolInput::Drain { ticket, deadline, .. } => {
                self.drains.insert(*ticket);
                let set = self.drain_deadline.map_or(*deadline, |set| set.min(*deadline));
                self.drain_deadline = Some(set);
                self.leases.clear();
            }
            _ => {}
        }
    }

    fn forget_session(&mut self, session: SessionId) {
        self.sessions.remove(&session);
        self.leases.retain(|_, (holder, _)| *holder != session);
    }

    /// Holds every effect of a step against what was told before.
    pub fn take(
        &mut self,
        cause: &Cause<'_>,
        effects: &[Effect],
        held: &Holds,
        world: &World,
    ) -> Result<(), String> {
        let published: BTreeMap<EntryId, Slot> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Publish { entry, .. } => {
                    Some((*entry, self.entries.get(entry)?.slot.clone()?))
                }
                _ => None,
            })
            .collect();
        let mut ranks: BTreeMap<EntryId, u8> = BTreeMap::new();
        for effect in effects {
            if let Some((entry, rank)) = rank(effect) {
                let last = ranks.insert(entry, rank).unwrap_or(0);
                // Each wish of a pass is granted by itself, after what was told of the one before.
                let wish = matches!(cause, Cause::Input(PoolInput::Want { .. })) && rank == 2;
                // What lost its place in this step may be in the way of what gets it.
                let ends = matches!(effect, Effect::Publish { slot, .. } if slot.state == EntryState::Closed);
                check!(last <= rank || wish || ends, "{effect:?} comes too late in {effects:?}");
                let shown = self.entries.get(&entry).and_then(|told| told.shown);
                check!(shown != Some(EntryState::Closed), "{effect:?} of a closed entry");
            }
            self.definitions.take(effect)?;
            self.take_one(cause, effect, held, world)?;
        }
        self.definitions.is_answered()?;
        self.newcomers_know_what_is_held_back(effects, held)?;
        let by_gate = matches!(cause, Cause::Input(PoolInput::SetGates { .. }));
        self.nothing_is_owed(effects, held, &published, by_gate)
    }

    fn take_one(
        &mut self,
        cause: &Cause<'_>,
        effect: &Effect,
        held: &Holds,
        world: &World,
    ) -> Result<(), String> {
        match effect {
            Effect::Connect { connection, .. } => {
                check!(self.drain_deadline.is_none(), "{connection} begins after the drain");
            }
            Effect::Close { connection, .. } => {
                let timer = matches!(cause, Cause::Timeout);
                let holders = held.contains_key(&connection.entry)
                    && self.leases.values().any(|(_, entry)| *entry == connection.entry);
                check!(!(timer && holders), "a timer takes the held {connection} away");
            }
            Effect::ListCatalog { connection, .. } => {
                let up = world.connections.get(connection).is_some_and(|reality| reality.heard_up);
                check!(up, "{connection} is to list, but does not stand");
                let last = self.listed_at.insert(*connection, self.now);
                let soon = last.is_some_and(|last| self.now < last.after(LISTING_SPACING));
                check!(!soon, "{connection} lists again, too soon after {last:?}");
            }
            Effect::Publish { entry, slot } => self.published(*entry, slot)?,
            Effect::Grant { ticket, lease, entry } => {
                self.failed.remove(ticket);
                self.wishes.remove(ticket);
                self.granted(*ticket, *lease, *entry, world)?
            }
            Effect::Defer { ticket, error } => {
                let full = [ErrorCode::BudgetExhausted, ErrorCode::Limit];
                let right = self.may_wait(*ticket) && full.contains(&error.code());
                check!(right, "{ticket:?} deferred: {error:?}");
            }
            Effect::Postpone { ticket, error } => revival::is_postponed(self, *ticket, error)?,
            // `definitions` has looked at it.
            Effect::Refuse { .. } if accepts_tool(cause) => {}
            Effect::Refuse { ticket, error } => {
                self.failed.remove(ticket);
                self.wishes.remove(ticket);
                if let Some(asked) = self.acquires.remove(ticket) {
                    let right = match error.code() {
                        ErrorCode::Closed => !self.is_open(asked.session),
                        ErrorCode::Closing => self.drain_deadline.is_some(),
                        _ => self.is_open(asked.session),
                    };
                    check!(right, "{ticket:?} refused: {error:?}");
                } else {
                    let open = self.restarts.remove(ticket).is_some();
                    check!(open && error.code() == ErrorCode::Closing, "{ticket:?} refused");
                }
            }
            Effect::Restarted { ticket, reports } => {
                check!(self.restarts.remove(ticket).is_some(), "{ticket:?} restarted twice");
                let entries: Vec<EntryId> = reports.iter().map(|report| report.entry).collect();
                check!(entries.is_sorted_by(|a, b| a < b), "reports in disorder: {entries:?}");
            }
            Effect::Drained { ticket, report } => {
                check!(self.drains.remove(ticket), "{ticket:?} drained twice");
                self.drained_in_time = report.errors.is_empty();
            }
            // What everybody is told is held against the budget.
            Effect::Notify { audience: Audience::Everybody, .. } => {}
            Effect::ToolAccepted { .. } | Effect::KeepAccepted { .. } | Effect::Forgo { .. } => {}
            Effect::Notify { audience, notice } => self.notified(audience, notice, held)?,
            _ => return Err(format!("an effect that nobody expects: {effect:?}")),
        }
        Ok(())
    }

    fn published(&mut self, entry: EntryId, slot: &Slot) -> Result<(), String> {
        let told = self.entries.entry(entry).or_default();
        let last = told.slot.as_ref().map(|slot| slot.generation).unwrap_or_default();
        check!(slot.generation >= last, "{entry:?} goes back to {:?}", slot.generation);
        told.slot = Some(slot.clone());
        if slot.state == EntryState::Closed {
            // Nobody holds what is closed, no matter who took it away.
            self.leases.retain(|_, (_, other)| *other != entry);
        }
        Ok(())
    }

    pub fn may_wait(&self, ticket: Ticket) -> bool {
        self.acquires.get(&ticket).is_some_and(|asked| self.is_open(asked.session))
    }

    fn granted(
        &mut self,
        ticket: Ticket,
        lease: LeaseId,
        entry: EntryId,
        world: &World,
    ) -> Result<(), String> {
        let Some(asked) = self.acquires.remove(&ticket) else {
            return Err(format!("{ticket:?} granted, but not open"));
        };
        check!(self.is_open(asked.session), "a lease for {:?}, which is closed", asked.session);
        let slot = self.entries.get(&entry).and_then(|told| told.slot.clone());
        let Some(slot) = slot.filter(|slot| slot.state == EntryState::Active) else {
            return Err(format!("a lease on {entry:?}, which is not published as active"));
        };
        let connection = ConnectionId { entry, generation: slot.generation };
        let real = world.connections.get(&connection);
        let right = real.is_some_and(|reality| reality.heard_up && reality.key == asked.key);
        check!(right, "a lease on {connection}, which is {real:?}, for {asked:?}");
        check!(lease.0 >= self.next_lease, "{lease:?} used twice");
        self.next_lease = lease.0 + 1;
        self.leases.insert(lease, (asked.session, entry));
        Ok(())
    }

    fn notified(&mut self, to: &Audience, notice: &Notice, held: &Holds) -> Result<(), String> {
        let entry = entry_of(notice);
        let told = self.entries.entry(entry).or_default();
        let slot = told.slot.clone().ok_or("a notice before anything was published")?;
        if let Audience::Sessions(sessions) = to {
            let once: BTreeSet<&SessionId> = sessions.iter().collect();
            check!(!once.is_empty() && once.len() == sessions.len(), "told twice: {sessions:?}");
            for session in sessions {
                let mut holder = held.get(&entry).is_some_and(|holders| holders.contains(session));
                if matches!(notice, Notice::ToolsQuarantined { .. }) {
                    holder |= self.leases.values().any(|lease| *lease == (*session, entry));
                }
                check!(holder, "{session:?} is told {notice:?}, but holds nothing");
                let is_open = self.sessions.get(session) == Some(&None);
                check!(is_open, "{session:?} is told, but closed");
            }
        }
        let Notice::StatusChanged { from, to, generation, .. } = notice else {
            return self.holder_is_told(entry, notice, &slot);
        };
        check!(*from == told.shown && told.shown != Some(*to), "{notice:?} after {:?}", told.shown);
        check!(*generation == slot.generation, "{notice:?} but {:?}", slot.generation);
        told.shown = Some(*to);
        Ok(())
    }

    /// The notices of one entry come in an order that makes sense (SPEC 8.5), each with the right generation.
    fn holder_is_told(&self, entry: EntryId, notice: &Notice, slot: &Slot) -> Result<(), String> {
        let standing = self.entries[&entry].standing;
        let fits = match notice {
            Notice::Disconnected { generation, reason, error, .. } => {
                standing == Standing::Up
                    && error.is_none() == is_ours(*reason)
                    && match reason {
                        LossReason::Restart => generation.0 < slot.generation.0,
                        _ => *generation == slot.generation,
                    }
            }
            Notice::Reconnected { generation, attempts, .. } => {
                *generation == slot.generation && *attempts > 0
            }
            Notice::Failed { generation, error, .. } => {
                *generation == slot.generation && Some(error) == slot.error.as_ref()
            }
            Notice::AuthRequired { generation, error, .. } => {
                *generation == slot.generation
                    && slot.state == EntryState::AuthRequired
                    && Some(error) == slot.error.as_ref()
            }
            Notice::ToolsQuarantined { generation, held, .. } => {
                let is_held = |tool: &HeldTool| slot.held.tool(&tool.item.name) == Some(tool);
                *generation == slot.generation && held.tools().iter().all(is_held)
            }
            Notice::CatalogChanged { generation, after, before, difference, .. } => {
                *generation == slot.generation
                    && *after == slot.catalog
                    && **difference == self.definitions.difference(entry, before, after)
                    && !difference.is_empty()
            }
            _ => false,
        };
        check!(fits, "{notice:?} while {standing:?} and published as {slot:?}");
        Ok(())
    }

    /// A holder of an entry through a step hears everything that the entry published.
    fn nothing_is_owed(
        &mut self,
        effects: &[Effect],
        held: &Holds,
        published: &BTreeMap<EntryId, Slot>,
        by_gate: bool,
    ) -> Result<(), String> {
        for effect in effects {
            let Effect::Publish { entry, slot } = effect else { continue };
            let told = self.entries.entry(*entry).or_default();
            let before = told.standing;
            let connected = matches!(slot.state, EntryState::Active | EntryState::Draining);
            let failed = matches!(slot.state, EntryState::Failed | EntryState::AuthRequired);
            told.standing = match slot.state {
                _ if connected => Standing::Up,
                _ if failed => Standing::Failed,
                EntryState::Closed => Standing::Never,
                _ if before == Standing::Up => Standing::Away,
                _ => before,
            };
            let after = told.standing;
            let asks = |effect: &&Effect| matches!(effect, Effect::Notify { audience: Audience::Pool, notice: Notice::AuthRequired { entry: of, .. } } if of == entry);
            let asked = effects.iter().filter(asks).count();
            let shows = |effect: &Effect| matches!(effect, Effect::Publish { entry: of, slot } if of == entry && slot.state == EntryState::AuthRequired);
            let lacks = effects.iter().any(shows);
            check!(asked == usize::from(lacks), "{asked} told that {entry:?} lacks credentials");
            let lost = before == Standing::Up && after != Standing::Up;
            let back = matches!(before, Standing::Away | Standing::Failed) && after == Standing::Up;
            let closed = slot.state == EntryState::Closed;
            let changed = published.get(entry).is_some_and(|last| {
                (!closed || by_gate)
                    && !CatalogDifference::between(&last.catalog, &slot.catalog).is_empty()
            });
            let last_held =
                published.get(entry).map(|last| digests(&last.held)).unwrap_or_default();
            let newly_held = digests(&slot.held)
                .iter()
                .any(|(name, digest)| last_held.get(name) != Some(digest));
            // What was tried quietly, and failed again, is no news.
            let was = published.get(entry).map(|last| last.state);
            let again = was == Some(EntryState::Failed) && slot.state == EntryState::Failed;
            let gone = failed && !again;
            for session in held.get(entry).into_iter().flatten() {
                if self.sessions.get(session) != Some(&None)
                    || (closed && self.drain_deadline.is_none() && !by_gate)
                {
                    continue;
                }
                let heard = heard(effects, *session, *entry);
                let owed: Vec<&str> = [
                    (lost, "disconnected"),
                    (back, "reconnected"),
                    (gone, "failed"),
                    (newly_held, "quarantined"),
                    (changed, "changed"),
                ]
                .iter()
                .filter_map(|(owed, word)| owed.then_some(*word))
                .collect();
                check!(heard == owed, "{session:?} heard {heard:?} of {entry:?}, not {owed:?}");
            }
        }
        Ok(())
    }
}

/// Publish, then grant, then notify: the place of an effect in the order of one entry.
fn rank(effect: &Effect) -> Option<(EntryId, u8)> {
    match effect {
        Effect::Publish { entry, .. } => Some((*entry, 1)),
        Effect::Grant { entry, .. } => Some((*entry, 2)),
        Effect::Notify { notice, .. } => Some((entry_of(notice), 3)),
        // Its holders hear that it is taken away before it is (SPEC 9.2).
        Effect::Close { connection, .. } => Some((connection.entry, 4)),
        _ => None,
    }
}

fn entry_of(notice: &Notice) -> EntryId {
    match notice {
        Notice::StatusChanged { entry, .. }
        | Notice::CatalogChanged { entry, .. }
        | Notice::ToolsQuarantined { entry, .. }
        | Notice::Disconnected { entry, .. }
        | Notice::Reconnected { entry, .. }
        | Notice::AuthRequired { entry, .. }
        | Notice::Failed { entry, .. } => *entry,
        _ => EntryId(u32::MAX),
    }
}

/// What a session hears about an entry, in order.
pub fn heard(effects: &[Effect], session: SessionId, of: EntryId) -> Vec<&'static str> {
    let word = |effect: &Effect| match effect {
        Effect::Notify { audience: Audience::Sessions(to), notice }
            if to.contains(&session) && entry_of(notice) == of =>
        {
            Some(match notice {
                Notice::Disconnected { .. } => "disconnected",
                Notice::Reconnected { .. } => "reconnected",
                Notice::Failed { .. } => "failed",
                Notice::ToolsQuarantined { .. } => "quarantined",
                Notice::CatalogChanged { .. } => "changed",
                _ => "something else",
            })
        }
        _ => None,
    };
    effects.iter().filter_map(word).collect()
}

/// Whether an event is about the incarnation that the pool knows.
pub fn is_current(pool: &PoolState, input: &PoolInput) -> bool {
    connection_of(input).is_some_and(|connection| {
        pool.entry(connection.entry).is_some_and(|row| row.living == Some(connection.generation))
    })
}
