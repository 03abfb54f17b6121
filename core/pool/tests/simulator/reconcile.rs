//! The second simulation: a configuration that is edited at random, the plan that each session
//! makes of it, and the pool that carries it out (I-11 to I-13; SPEC 13.1-13.3).
//!
//! Sessions follow the newest configuration by `plan` alone, some at once and some later, while
//! connections come up and idle ones end. What a plan should have found is worked out here from the
//! edits and not from fingerprints.

use std::collections::BTreeMap;

use serde_json::json;
use trunkline_pool::config::{Fingerprint, ServerSpec, Share};
use trunkline_pool::gates::{Shuts, WarrantId};
use trunkline_pool::options::SessionOptions;
use trunkline_pool::plan::{Connection, Holding, Plan, plan};
use trunkline_pool::state::{
    ConnectionId, EntryId, Generation, KeyId, PoolInput, SessionId, Ticket,
};
use trunkline_pool::view::Viewed;

use crate::chance::Chance;
use crate::run::Run;
use crate::setup::Setup;
use crate::words::said_by;

/// One server, as somebody wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wish {
    command: u8,
    own: bool,
    view: u8,
    /// By which decision it runs, if not by the host's own word.
    warrant: Option<u8>,
    lazy: bool,
    /// How often its name was shut out before.
    shut: u64,
}

/// What a session last followed, and the question that it asked for each server.
#[derive(Clone, Debug, Default)]
struct Follower {
    wishes: BTreeMap<String, Wish>,
    asked: BTreeMap<String, Ticket>,
}

/// An entry's identity: two sessions meet exactly when these are equal.
type Key = (u8, Option<usize>, Option<u8>);

struct Workspace {
    run: Run,
    specs: Vec<(Fingerprint, ServerSpec)>,
    options: SessionOptions,
    desired: BTreeMap<String, Wish>,
    /// How often each name was shut out, and let in again.
    shut: BTreeMap<String, u64>,
    followers: Vec<Follower>,
    keys: BTreeMap<Key, KeyId>,
}

const NAMES: u64 = 5;
const COMMANDS: u8 = 4;
const VIEWS: u8 = 4;

/// Bursts of edits in one run; together more than the 1,000 edits that an unchanged server must
/// outlive.
const BURSTS: u64 = 60;

/// Makes the edits of one seed; says how many steps the pool made.
pub fn edit(seed: u64) -> (u64, Result<(), String>) {
    let mut chance = Chance::new(seed ^ 0x5ca1_ab1e);
    let mut setup = Setup::draw(&mut chance);
    setup.options.limits.processes = 1024;
    setup.options.limits.entries_per_name = 256;
    // Edits that a budget refuses do not converge: that is its purpose.
    setup.options.budget = None;
    setup.gating = 0;
    setup.own = true;
    let sessions = 1 + chance.below(3) as usize;
    let mut workspace = Workspace {
        run: Run::new(setup, &mut chance),
        specs: (0..COMMANDS * VIEWS).map(spec).collect(),
        options: SessionOptions::new("a"),
        desired: BTreeMap::new(),
        shut: BTreeMap::new(),
        followers: vec![Follower::default(); sessions],
        keys: BTreeMap::new(),
    };
    let result = workspace.live(sessions, &mut chance);
    (workspace.run.steps, result)
}

/// The configuration of a command that is viewed so, by their number.
fn spec(number: u8) -> (Fingerprint, ServerSpec) {
    let (command, view) = (number / VIEWS, number % VIEWS);
    let exclude: &[&str] = if view & 2 == 0 { &[] } else { &["t0"] };
    let value = json!({
        "command": format!("c{command}"), "exclude": exclude, "trust": view & 1 == 1,
    });
    let spec = ServerSpec::from_value("s", &value).expect("a whole configuration");
    (spec.fingerprint("", &[]), spec)
}

impl Workspace {
    fn live(&mut self, sessions: usize, chance: &mut Chance) -> Result<(), String> {
        for session in 0..sessions as u64 {
            self.run.step(PoolInput::OpenSession { session: SessionId(session) }, chance)?;
        }
        for _ in 0..BURSTS {
            for _ in 0..1 + chance.below(6) {
                self.change(chance);
            }
            for session in 0..sessions {
                if chance.percent(70) {
                    self.follow(session, chance)?;
                }
            }
            for _ in 0..chance.below(12) {
                match chance.below(6) {
                    0 => self.run.pass_time(chance)?,
                    _ => self.run.world_moves(chance, true)?,
                }
            }
            if chance.percent(20) {
                self.converges(chance)?;
            }
        }
        self.converges(chance)?;
        self.run.come_to_rest(chance).map_err(|what| said_by("at rest", what))
    }

    /// Somebody saves the file.
    fn change(&mut self, chance: &mut Chance) {
        let name = format!("s{}", chance.below(NAMES));
        let wish = Wish {
            command: chance.below(u64::from(COMMANDS)) as u8,
            own: chance.percent(25),
            view: chance.below(u64::from(VIEWS)) as u8,
            warrant: chance.percent(25).then(|| chance.below(2) as u8),
            lazy: chance.percent(20),
            shut: self.shut.get(&name).copied().unwrap_or_default(),
        };
        match (chance.below(10), self.desired.get_mut(&name)) {
            (0 | 1, _) => drop(self.desired.remove(&name)),
            (2 | 3, Some(there)) => there.view = wish.view,
            (4, Some(there)) => there.own = wish.own,
            (5, Some(there)) => there.command = wish.command,
            (6, Some(there)) => (there.warrant, there.lazy) = (wish.warrant, wish.lazy),
            (7, Some(there)) => {
                there.shut += 1;
                self.shut.insert(name, there.shut);
            }
            _ => drop(self.desired.insert(name, wish)),
        }
    }

    /// A session takes up the newest configuration, as its plan says: releases first.
    fn follow(&mut self, session: usize, chance: &mut Chance) -> Result<(), String> {
        let before = self.followers[session].clone();
        let desired = self.desired.clone();
        let planned = plan(&self.holdings(&before.wishes), &self.holdings(&desired));
        let expected = expected(&before.wishes, &desired);
        said(planned == expected, || format!("{planned:?} planned instead of {expected:?}"))?;
        let owned = |names: &[&str]| -> Vec<String> { names.iter().map(|&s| s.into()).collect() };
        let (ends, begins) = (owned(&planned.ends()), owned(&planned.begins()));
        let reviewed = owned(&planned.reviewed);
        for name in ends {
            self.let_go(session, &name, chance)?;
        }
        for name in begins {
            self.ask(session, &name, chance)?;
        }
        for name in reviewed {
            let wish = desired[&name];
            self.followers[session].wishes.insert(name, wish);
        }
        let wishes = &self.followers[session].wishes;
        let again = plan(&self.holdings(wishes), &self.holdings(&desired));
        said(again.is_empty(), || format!("planned again: {again:?}"))?;
        self.untouched(session, &before)
    }

    fn holdings<'a>(
        &'a self,
        wishes: &'a BTreeMap<String, Wish>,
    ) -> BTreeMap<&'a str, Holding<'a>> {
        wishes.iter().map(|(name, wish)| (&**name, self.holding(name, *wish))).collect()
    }

    fn holding<'a>(&'a self, server: &'a str, wish: Wish) -> Holding<'a> {
        let (fingerprint, spec) = &self.specs[usize::from(wish.command * VIEWS + wish.view)];
        let share = if wish.own { Share::Session } else { Share::Pool };
        let warrant = wish.warrant.map(|number| WarrantId(number.into()));
        let connection = Connection { fingerprint: *fingerprint, share, warrant };
        let shuts = Shuts { name: wish.shut, warrant: 0 };
        let viewed = Viewed { server, spec, options: &self.options };
        Holding { connection, shuts, lazy: wish.lazy, viewed }
    }

    fn let_go(&mut self, session: usize, name: &str, chance: &mut Chance) -> Result<(), String> {
        let follower = &mut self.followers[session];
        follower.wishes.remove(name);
        let Some(ticket) = follower.asked.remove(name) else {
            return Err(format!("{name} is to be let go, but was never asked for"));
        };
        let input = match self.run.granted.get(&ticket) {
            Some((lease, _)) => PoolInput::Release { lease: *lease },
            None => PoolInput::CancelAcquire { ticket },
        };
        self.run.step(input, chance)
    }

    fn ask(&mut self, session: usize, name: &str, chance: &mut Chance) -> Result<(), String> {
        let wish = self.desired[name];
        // The setup takes every second key for a session's own.
        let next = KeyId(2 * self.keys.len() as u32 + u32::from(wish.own));
        let key = *self.keys.entry(identity(session, wish)).or_insert(next);
        let (ticket, setup) = (self.run.ticket(), &self.run.setup);
        let follower = &mut self.followers[session];
        follower.wishes.insert(name.to_string(), wish);
        follower.asked.insert(name.to_string(), ticket);
        let session = SessionId(session as u64);
        let input = setup.acquire(ticket, session, key);
        self.run.step(input, chance)
    }

    /// I-12: what was not changed has the same hold, on a connection that nobody told to end.
    fn untouched(&self, session: usize, before: &Follower) -> Result<(), String> {
        for (name, ticket) in &before.asked {
            let (old, new) = (before.wishes[name], self.desired.get(name));
            if new.is_none_or(|new| asked(session, *new) != asked(session, old)) {
                continue;
            }
            let now = self.followers[session].asked.get(name);
            said(now == Some(ticket), || format!("{name} was asked for again"))?;
            let Some((_, entry)) = self.run.granted.get(ticket) else { continue };
            self.stands(*entry).map_err(|what| said_by("reconcile", format!("{name}: {what}")))?;
        }
        Ok(())
    }

    fn stands(&self, entry: EntryId) -> Result<(), String> {
        let row = self.run.pool.entry(entry).ok_or("held, but gone")?;
        let connection = ConnectionId { entry, generation: row.generation };
        let world = &self.run.world;
        let real = world.connections.get(&connection);
        // What was dropped before it had begun was no connection.
        let earlier = (1..row.generation.0).map(Generation);
        let is_first = earlier
            .map(|generation| ConnectionId { entry, generation })
            .all(|it| world.forgone.contains(&it));
        let stands = real.is_some_and(|real| real.heard_up && real.closing.is_none());
        if stands && is_first {
            return Ok(());
        }
        Err(format!("an unchanged server was touched: {row:?}, {real:?}"))
    }

    /// I-13: after the last edit, one plan per session leads to what is desired, and to nothing
    /// else.
    fn converges(&mut self, chance: &mut Chance) -> Result<(), String> {
        for session in 0..self.followers.len() {
            self.follow(session, chance)?;
        }
        self.run.settle(chance, true)?;
        let mut wanted: BTreeMap<KeyId, u32> = BTreeMap::new();
        for session in 0..self.followers.len() {
            let mut keys: Vec<Key> =
                self.desired.values().map(|wish| identity(session, *wish)).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.iter().for_each(|key| *wanted.entry(self.keys[key]).or_default() += 1);
            let follower = &self.followers[session];
            let view_fits = follower.wishes == self.desired;
            said(view_fits, || format!("{:?}, desired {:?}", follower.wishes, self.desired))?;
        }
        let live: BTreeMap<KeyId, u32> =
            self.run.pool.entries().map(|row| (row.key, row.refs)).collect();
        said(live == wanted, || format!("live {live:?}, desired {wanted:?}"))?;
        let steps = self.run.steps;
        for session in 0..self.followers.len() {
            self.follow(session, chance)?;
        }
        said(self.run.steps == steps, || "a second reconcile made the pool do something".into())
    }
}

/// Whose connection a wish is about.
fn identity(session: usize, wish: Wish) -> Key {
    (wish.command, wish.own.then_some(session), wish.warrant)
}

/// What it was asked for as.
fn asked(session: usize, wish: Wish) -> (Key, u64, bool) {
    (identity(session, wish), wish.shut, wish.lazy)
}

/// The plan, worked out from what was written.
fn expected<'a>(old: &'a BTreeMap<String, Wish>, new: &'a BTreeMap<String, Wish>) -> Plan<'a> {
    let removed = old.keys().filter(|name| !new.contains_key(*name));
    let mut plan = Plan { removed: removed.map(|s| &**s).collect(), ..Plan::default() };
    for (name, wish) in new {
        let list = match old.get(name) {
            None => &mut plan.added,
            Some(old) if asked(0, *old) != asked(0, *wish) => &mut plan.replaced,
            Some(old) if old.view != wish.view => &mut plan.reviewed,
            Some(_) => &mut plan.unchanged,
        };
        list.push(name);
    }
    plan
}

fn said(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(said_by("reconcile", what())) }
}
