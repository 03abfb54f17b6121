//! One run: a setup and a row of moves, each drawn from a source of its own, so that a run repeats
//! exactly and can be cut down by leaving moves out.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::catalog::Catalog;
use trunkline_pool::state::{
    Ask, ConnectionId, DrainMode, Effect, EntryId, EntryState, EntryStatus, KeyId, LeaseId, Moment,
    PoolInput, PoolState, SessionId, Situation, Slot, Ticket,
};

use crate::accepting;
use crate::budget::Books;
use crate::chance::Chance;
use crate::coverage::Coverage;
use crate::definitions::held;
use crate::ending::Ending;
use crate::gating;
use crate::model::{Cause, Model};
use crate::replaced::Replaced;
use crate::restarts::{self, Restarts};
use crate::rules::{Rules, Step, refusals_are_just, was_current};
use crate::setup::Setup;
use crate::words::{brief, said_by, words_of};
use crate::world::{Stage, World, catalog};

/// A run under way.
pub struct Run {
    pub setup: Setup,
    pub pool: PoolState,
    pub world: World,
    model: Model,
    rules: Rules,
    restarts: Restarts,
    replaced: Replaced,
    ending: Ending,
    books: Books,
    pub coverage: Coverage,
    now: Moment,
    next_ticket: u64,
    next_session: u64,
    old_sessions: Vec<SessionId>,
    old_tickets: Vec<Ticket>,
    old_leases: Vec<LeaseId>,
    /// What each acquire was answered with, when it was a lease.
    pub granted: BTreeMap<Ticket, (LeaseId, EntryId)>,
    pub steps: u64,
    /// What happened, when somebody wants to read it.
    pub story: Option<Vec<String>>,
}

/// What went wrong, at which move.
#[derive(Clone, Debug)]
pub struct Failure {
    pub at: u64,
    pub what: String,
}

/// How many moves a run has before it is brought to rest.
pub const MOVES: u64 = 300;

/// The machine was asleep for a year, in milliseconds.
const A_YEAR: u64 = 365 * 24 * 3_600_000;

/// Rounds in which a run must come to rest: each answers everything or passes one deadline.
const ROUNDS_TO_REST: u32 = 20_000;

/// Makes the moves of a seed that are `kept`, and brings the run to rest.
pub fn run(seed: u64, kept: &[u64], story: bool) -> (Run, Result<(), Failure>) {
    let mut chance = Chance::new(seed);
    let setup = Setup::draw(&mut chance);
    let mut run = Run::new(setup, &mut chance);
    run.story = story.then(Vec::new);
    for &number in kept {
        if let Err(what) = run.make_move(&mut Chance::of_move(seed, number)) {
            return (run, Err(Failure { at: number, what }));
        }
    }
    let result = run.come_to_rest(&mut Chance::of_move(seed, u64::MAX));
    let result = result.map_err(|what| Failure { at: u64::MAX, what: said_by("at rest", what) });
    (run, result)
}

impl Run {
    /// An empty pool, before the first move.
    pub fn new(setup: Setup, chance: &mut Chance) -> Run {
        Run {
            pool: PoolState::new(setup.options.clone(), chance.next()),
            setup,
            world: World::default(),
            model: Model::default(),
            rules: Rules::default(),
            restarts: Restarts::default(),
            replaced: Replaced::default(),
            ending: Ending::default(),
            books: Books::default(),
            coverage: Coverage::default(),
            now: Moment(1_000_000),
            next_ticket: 0,
            next_session: 0,
            old_sessions: Vec::new(),
            old_tickets: Vec::new(),
            old_leases: Vec::new(),
            granted: BTreeMap::new(),
            steps: 0,
            story: None,
        }
    }

    fn make_move(&mut self, chance: &mut Chance) -> Result<(), String> {
        if chance.percent(self.setup.hasty) {
            return self.pass_time(chance);
        }
        if chance.percent(self.setup.busy) {
            return self.world_moves(chance, false);
        }
        match self.command(chance) {
            Some(input) => self.step(input, chance),
            None => Ok(()),
        }
    }

    pub fn pass_time(&mut self, chance: &mut Chance) -> Result<(), String> {
        let next = self.pool.next_deadline().unwrap_or(self.now);
        let target = match chance.below(6) {
            0 => self.now.after(chance.millis(&[0, 1, 7, 300])),
            1 => Moment(next.0.saturating_sub(1)),
            2 => next.after(chance.millis(&[0, 1, 500])),
            3 => self.now.after(chance.millis(&[1_000, 40_000, 400_000, A_YEAR])),
            _ => next,
        };
        self.now = self.now.max(target);
        // Sometimes the timer is late, and something else comes first.
        if chance.percent(80) { self.timeout() } else { Ok(()) }
    }

    pub fn world_moves(&mut self, chance: &mut Chance, calm: bool) -> Result<(), String> {
        if !calm && !self.world.echoes.is_empty() {
            // States that pass quickly are where a late event is most likely to do harm.
            let fleeting = |row: &EntryStatus| match row.situation {
                Situation::Queued | Situation::ListingDue => row.generation.0 > 1,
                Situation::BackoffEnding | Situation::FailedEnding => true,
                _ => false,
            };
            let rows: Vec<EntryStatus> = self.pool.entries().collect();
            let rare = rows.iter().any(fleeting);
            let known = rows.iter().filter(|row| !rare || fleeting(row));
            let known: Vec<EntryId> = known.map(|row| row.entry).collect();
            let share = if rare { self.setup.repeating * 3 / 2 } else { self.setup.repeating / 2 };
            if chance.percent(share) {
                return match self.world.echo(&known, chance) {
                    Some(input) => self.step(input, chance),
                    None => Ok(()),
                };
            }
        }
        let talkative = self.world.talkative();
        if let Some(connection) = chance.pick_some(&talkative)
            && (calm || chance.percent(50))
        {
            return match self.world.deliver(connection, &self.setup, chance) {
                Some(input) => self.step(input, chance),
                None => Ok(()),
            };
        }
        let mut candidates = self.world.restless();
        if !calm {
            let up = |(connection, reality): (&ConnectionId, &crate::world::Reality)| {
                (reality.stage == Stage::Up).then_some(*connection)
            };
            candidates.extend(self.world.connections.iter().filter_map(up));
        }
        if let Some(connection) = chance.pick_some(&candidates) {
            self.world.happen(connection, &self.setup, calm, chance);
        }
        Ok(())
    }

    fn command(&mut self, chance: &mut Chance) -> Option<PoolInput> {
        // A caller that waits for a drain may lose patience with it.
        let again = !self.model.drains.is_empty() && chance.percent(10);
        if again || chance.below(1000) < self.setup.draining / 5 {
            let how = chance.pick(&[DrainMode::Finish, DrainMode::Force]);
            let deadline = self.now.after(chance.millis(&[0, 50, 10_000]));
            return Some(PoolInput::Drain { ticket: self.ticket(), how, deadline });
        }
        if chance.percent(2) {
            let ticket = self.ticket();
            return accepting::draw(ticket, &self.pool, &self.model, chance);
        }
        if chance.percent(1) {
            let configuration = self.setup.configuration_of(self.any_key(chance));
            return Some(accepting::recall(configuration, chance));
        }
        if chance.percent(self.setup.restarting) {
            return Some(self.restart(chance));
        }
        if chance.percent(self.setup.restarting) {
            return Some(restarts::edit(&self.pool, chance));
        }
        if chance.percent(3) {
            let server = self.setup.server_of(self.any_key(chance));
            let context = chance.below(2);
            let rows = self.pool.entries().filter(|row| row.server == server);
            // Some of its entries, as those of one authorization context are.
            let entries = rows.map(|row| row.entry).filter(|id| u64::from(id.0) % 2 == context);
            return Some(PoolInput::CredentialsChanged { entries: entries.collect() });
        }
        if chance.percent(self.setup.gating) {
            return gating::draw(&self.setup, &self.pool, &self.model, chance);
        }
        let open: Vec<SessionId> = self.model.sessions.keys().copied().collect();
        match chance.below(95) {
            0..8 if open.len() < self.setup.sessions => {
                let session = SessionId(self.next_session);
                self.next_session += 1;
                Some(PoolInput::OpenSession { session })
            }
            0..10 => {
                let keep_for = chance.millis(&[0, 0, 3, 2_000, 60_000]);
                let session = self.any_session(&open, chance)?;
                Some(PoolInput::CloseSession { session, keep_for })
            }
            10..15 => Some(PoolInput::ResumeSession { session: self.any_session(&open, chance)? }),
            15..16 => Some(PoolInput::OpenSession { session: self.any_session(&open, chance)? }),
            16..32 => self.wishes(&open, chance),
            32..60 => {
                let session = self.any_session(&open, chance)?;
                let key = self.any_key(chance);
                let ticket = self.ticket();
                Some(self.setup.acquire(ticket, session, key))
            }
            60..88 => {
                let leases: Vec<LeaseId> = self.model.leases.keys().copied().collect();
                let repeated = chance.percent(10);
                let from = if repeated { &self.old_leases } else { &leases };
                Some(PoolInput::Release { lease: chance.pick_some(from)? })
            }
            _ => {
                let open: Vec<Ticket> = self.model.acquires.keys().copied().collect();
                let from = if chance.percent(20) { &self.old_tickets } else { &open };
                Some(PoolInput::CancelAcquire { ticket: chance.pick_some(from)? })
            }
        }
    }

    fn restart(&mut self, chance: &mut Chance) -> PoolInput {
        let key = KeyId(chance.below(u64::from(self.setup.keys) + 1) as u32);
        let index = chance.percent(40).then(|| chance.below(4) as u32);
        let server = self.setup.server_of(key);
        PoolInput::Restart { ticket: self.ticket(), server, index }
    }

    /// Everything that one pass wants: of one session as it opens, or of several in a reconcile.
    fn wishes(&mut self, open: &[SessionId], chance: &mut Chance) -> Option<PoolInput> {
        let mut asks = Vec::new();
        for _ in 0..1 + chance.below(4) {
            let (session, key) = (self.any_session(open, chance)?, self.any_key(chance));
            let ticket = self.ticket();
            asks.push(self.setup.ask(ticket, session, key));
        }
        Some(PoolInput::Want { asks })
    }

    fn any_key(&self, chance: &mut Chance) -> KeyId {
        KeyId(chance.below(u64::from(self.setup.keys)) as u32)
    }

    fn any_session(&self, open: &[SessionId], chance: &mut Chance) -> Option<SessionId> {
        let from = if chance.percent(4) { &self.old_sessions } else { open };
        chance.pick_some(from)
    }

    pub fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }

    pub fn step(&mut self, input: PoolInput, chance: &mut Chance) -> Result<(), String> {
        match &input {
            PoolInput::Acquire(Ask { ticket, .. }) | PoolInput::Restart { ticket, .. } => {
                self.old_tickets.push(*ticket);
            }
            PoolInput::Want { asks } => self.old_tickets.extend(asks.iter().map(|ask| ask.ticket)),
            PoolInput::OpenSession { session } => self.old_sessions.push(*session),
            _ => {}
        }
        // Threads read the clock before they take their turn, so that a moment can be old, and as
        // old as a thread was asleep (I-26).
        let age = if chance.percent(5) { chance.pick(&[1_000, 3_000_000, u64::MAX]) } else { 0 };
        let now = Moment(self.now.0.saturating_sub(age));
        self.observe(&Cause::Input(&input), now)
    }

    fn timeout(&mut self) -> Result<(), String> {
        self.observe(&Cause::Timeout, self.now)?;
        let next = self.pool.next_deadline();
        if next.is_some_and(|at| at <= self.now) {
            return Err(format!("timer: due at {next:?}, but it is {:?}", self.now));
        }
        Ok(())
    }

    /// One step of the pool and every check that there is.
    fn observe(&mut self, cause: &Cause<'_>, now: Moment) -> Result<(), String> {
        self.coverage.note(cause, now, &self.pool, &self.model);
        self.steps += 1;
        let held = self.model.holds();
        let before: BTreeMap<EntryId, EntryStatus> =
            self.pool.entries().map(|row| (row.entry, row)).collect();
        let current = was_current(&self.pool, cause);
        let processes = self.pool.processes();
        let waiting = self.model.waiting.clone();
        let mut effects = Vec::new();
        // A panic is a failure like any other: it is to be cut down and told.
        let pool = &mut self.pool;
        let outcome = catch_unwind(AssertUnwindSafe(|| match cause {
            Cause::Input(input) => pool.step(now, (*input).clone(), &mut effects),
            Cause::Timeout => pool.handle_timeout(now, &mut effects),
        }));
        self.tell(cause, &effects);
        outcome.map_err(|panic| said_by("panic", words_of(panic.as_ref())))?;
        self.pool.invariants().map_err(|what| said_by("invariants", what))?;
        let closing = self.model.drain_deadline.is_some();
        self.model.definitions.expect(cause, &before, closing, &self.setup);
        self.model.expect(cause, now);
        for effect in &effects {
            self.world.take(effect).map_err(|what| said_by("world", what))?;
            if let Effect::Grant { ticket, lease, entry } = effect {
                self.old_leases.push(*lease);
                self.granted.insert(*ticket, (*lease, *entry));
            }
        }
        let taken = self.model.take(cause, &effects, &held, &self.world);
        let step = Step {
            cause,
            now: self.model.now,
            before: &before,
            current,
            held_before: &held,
            held: &self.model.holds(),
        };
        refusals_are_just(
            &step,
            &effects,
            processes,
            &self.setup,
            (&waiting, &self.books, &self.rules),
        )
        .map_err(|what| said_by("rules", what))?;
        taken
            .and_then(|()| {
                let around = (&self.pool, &self.setup);
                self.books.check(cause, &effects, around, (&mut self.model, &self.world))
            })
            .and_then(|()| self.model.agrees_with(&self.pool, &self.setup, &self.world))
            .map_err(|what| said_by("model", what))?;
        self.ending
            .check(&step, &effects, &self.pool, &self.world)
            .map_err(|what| said_by("drain", what))?;
        self.restarts
            .check(&step, &effects, &self.pool)
            .map_err(|what| said_by("restarts", what))?;
        self.replaced
            .check(&step, &effects, &self.setup, (&self.model, &self.world))
            .map_err(|what| said_by("replaced", what))?;
        self.rules.check(&step, &self.pool, &self.setup).map_err(|what| said_by("rules", what))
    }

    fn tell(&mut self, cause: &Cause<'_>, effects: &[Effect]) {
        let Some(story) = &mut self.story else { return };
        let what = match cause {
            Cause::Input(input) => brief(&format!("{input:?}")),
            Cause::Timeout => "timeout".to_owned(),
        };
        story.push(format!("{:>14} {what}", self.now.0));
        story.extend(
            effects.iter().map(|effect| format!("{:>18} {}", "->", brief(&format!("{effect:?}")))),
        );
    }

    /// Nothing more is asked and nothing more goes wrong: everything must come to rest, and then to
    /// an end.
    pub fn come_to_rest(&mut self, chance: &mut Chance) -> Result<(), String> {
        self.world.echoes.clear();
        self.settle(chance, false)?;
        self.everybody_has_an_answer()?;
        self.newest_lists_are_published()?;
        for session in self.model.sessions.keys().copied().collect::<Vec<_>>() {
            self.step(PoolInput::CloseSession { session, keep_for: Duration::ZERO }, chance)?;
        }
        self.settle(chance, true)?;
        self.everybody_has_an_answer()?;
        let left = self.pool.entries().next();
        if left.is_some() || self.pool.next_deadline().is_some() || self.pool.processes() != 0 {
            return Err(format!("left at rest: {left:?}, {:?}", self.pool.next_deadline()));
        }
        let alive = self.world.connections.iter().find(|(_, reality)| reality.stage != Stage::Gone);
        if let Some((connection, reality)) = alive {
            return Err(format!("an orphan: {connection}, {reality:?}"));
        }
        let owed = |told: &&crate::model::Told| told.shown != Some(EntryState::Closed);
        match self.model.entries.values().find(owed) {
            Some(told) => Err(format!("gone, but never shown as closed: {told:?}")),
            None => Ok(()),
        }
    }

    /// Lets the world finish what it owes. `late` lets idle servers run into their deadlines as
    /// well.
    pub fn settle(&mut self, chance: &mut Chance, late: bool) -> Result<(), String> {
        for _ in 0..ROUNDS_TO_REST {
            if !self.world.talkative().is_empty() || !self.world.restless().is_empty() {
                self.world_moves(chance, true)?;
                continue;
            }
            let waits = |row: EntryStatus| {
                matches!(row.situation, Situation::Backoff | Situation::ListingDue)
            };
            let waits = self.pool.entries().any(waits);
            let asked = self.model.acquires.len() > self.model.failed.len();
            let asked = asked || !self.model.drains.is_empty();
            // Quiet attempts without room are put off for ever, and nobody is answered by that.
            let fails = |row: &EntryStatus| {
                matches!(row.situation, Situation::Failed | Situation::FailedEnding)
            };
            let due = self.pool.entries().any(|row| row.due_at.is_some() && !fails(&row));
            let kept = self.model.sessions.values().any(Option::is_some);
            let asked = asked && (due || kept || !self.model.drains.is_empty());
            match self.pool.next_deadline().filter(|_| late || waits || asked) {
                Some(at) => {
                    self.now = self.now.max(at);
                    self.timeout()?;
                }
                None => return Ok(()),
            }
        }
        Err("it does not come to rest".to_owned())
    }

    fn everybody_has_an_answer(&self) -> Result<(), String> {
        let model = &self.model;
        let open = (&model.acquires, &model.restarts, &model.drains);
        // A wish may wait for as long as the budget is used up, or its server is not there.
        if open.0.len() == model.waiting.len() + model.failed.len()
            && open.1.is_empty()
            && open.2.is_empty()
        {
            return Ok(());
        }
        Err(format!("no answer for {open:?}"))
    }

    /// No change of a list is lost (I-14).
    fn newest_lists_are_published(&self) -> Result<(), String> {
        for (connection, reality) in &self.world.connections {
            let told = self.model.entries.get(&connection.entry);
            let slot = told.and_then(|told| told.slot.as_ref());
            let stands = reality.stage == Stage::Up && !reality.listing_failed;
            if stands
                && slot.is_none_or(|slot| all_listed(slot) != listed(&catalog(reality.version)))
            {
                return Err(format!("{connection} has lists {}, not {slot:?}", reality.version));
            }
        }
        Ok(())
    }
}

/// What a catalog lists, by name and digest.
fn listed(catalog: &Catalog) -> BTreeMap<Arc<str>, [u8; 32]> {
    catalog.tools.iter().map(|item| (item.name.clone(), item.digest)).collect()
}

/// What a slot shows that its server lists: what may be used, and what is held back.
fn all_listed(slot: &Slot) -> BTreeMap<Arc<str>, [u8; 32]> {
    let mut all = listed(&slot.catalog);
    all.extend(held(&slot.held));
    all
}
