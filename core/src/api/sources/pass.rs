//! A pass: from what is desired to what runs (SPEC 13.1, 13.2).
//!
//! What is to be is written down under one lock and made into a plan there; nobody is called meanwhile. What follows from it is done
//! without the lock, each step from what is newest when its turn comes: of two changes at once the last word is the newest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

use serde_json::{Map, Value};
use trunkline_pool::approvals::Root;
use trunkline_pool::interface::EventKind;
use trunkline_pool::layers::Winner;

use super::claims::Claim;
use super::desired::Desired;
use super::entry::{Fresh, Known, Outcome, Sight};
use super::questions::{self, Ask};
use super::running::{Applied, Moved, Origin, Planned, Row};
use crate::api::pool::PoolCore;
use crate::api::wanted::follow_together;
use crate::driver::About;
use crate::lookup::HostVariables;

/// What a pass did, by name.
pub(super) struct Passed {
    rows: BTreeMap<Box<str>, Row>,
    /// Names of the source that was changed, which are told whatever came of them.
    mentioned: BTreeSet<Box<str>>,
}

/// A pass that is under way, or work that ends in one; its end wakes who waits for that.
pub(super) struct Busy(Arc<PoolCore>);

impl Busy {
    pub(super) fn new(pool: &Arc<PoolCore>) -> Busy {
        pool.sources.passes.fetch_add(1, Ordering::AcqRel);
        Busy(pool.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.sources.passes.fetch_sub(1, Ordering::AcqRel);
        self.0.sources.settled.notify_waiters();
    }
}

/// What is left to be done about a pass, once no lock is held.
struct Aftermath {
    moved: Moved,
    questions: Vec<Ask>,
}

impl PoolCore {
    /// Writes a change down, makes a pass of it and carries that out.
    pub(super) fn change(self: &Arc<Self>, change: impl FnOnce(&mut Desired)) -> Passed {
        self.change_with(Fresh::No, |desired| {
            change(desired);
            BTreeSet::new()
        })
    }

    /// [`change`](Self::change), of which the names that it is about are told in any case.
    pub(super) fn change_with(
        self: &Arc<Self>,
        fresh: Fresh,
        change: impl FnOnce(&mut Desired) -> BTreeSet<Box<str>>,
    ) -> Passed {
        let _busy = Busy::new(self);
        let (mut passed, after, meanwhile) = {
            let mut desired = self.sources.desired();
            let mentioned = change(&mut desired);
            let mut meanwhile = BTreeMap::new();
            if desired.needs_book() {
                (desired, meanwhile) = self.with_book(desired);
            }
            // The newest, whoever read it and when; else the last that could be read.
            desired.book = self.sources.approvals.known().or(desired.book.take());
            let (rows, after) = desired.pass(self, fresh);
            (Passed { rows, mentioned }, after, meanwhile)
        };
        self.carry_out(after);
        if passed.is_news() {
            self.tell(EventKind::Reconciled, ("servers", passed.rows_to_json(Shape::Plain)));
        }
        passed.add(meanwhile);
        self.tell_requests();
        passed
    }

    /// Reads what was decided, for the first time. The disk is read without the lock, and may have something to tell; what other passes did
    /// meanwhile is given as well, since they took up the change that this one is for.
    fn with_book<'a>(
        self: &'a Arc<Self>,
        mut desired: MutexGuard<'a, Desired>,
    ) -> (MutexGuard<'a, Desired>, BTreeMap<Box<str>, Row>) {
        // Nobody else reads as long as it is there.
        desired.meanwhile = Some(BTreeMap::new());
        drop(desired);
        self.read_book();
        let mut desired = self.sources.desired();
        let meanwhile = desired.meanwhile.take().unwrap_or_default();
        (desired, meanwhile)
    }

    /// Tells what waits for approval, unless that was told last (SPEC 12.5). One at a time tells, so that the newest is told last.
    fn tell_requests(&self) {
        loop {
            let requests = {
                let mut desired = self.sources.desired();
                if desired.tells || desired.meanwhile.is_some() {
                    return;
                }
                let Some(requests) = desired.requests_if_news(&self.sources.root) else { return };
                desired.tells = true;
                requests
            };
            self.tell(EventKind::ApprovalNeeded, ("requests", requests.into()));
            self.sources.desired().tells = false;
        }
    }

    fn tell(&self, kind: EventKind, field: (&str, Value)) {
        self.driver.hub.publish(kind, None, &About::default(), &[field]);
    }

    /// Does what follows from a pass.
    fn carry_out(self: &Arc<Self>, after: Aftermath) {
        let Aftermath { moved, questions } = after;
        // What is shut goes first, and before the sessions follow what is gone is told apart from what is new: a restart of what they
        // let go then makes room for what they ask for.
        self.driver.set_gates(|| self.running().lists.clone());
        self.driver.review_keys();
        if !moved.is_empty() {
            self.driver.reconfigure(|key| self.running().judge(key, &moved));
        }
        // Each takes what is newest when its turn comes: a session that opens or another change that comes meanwhile
        // makes none of them miss anything. The handles stay until all have followed.
        let sessions = self.live_sessions();
        let cores: Vec<_> = sessions.iter().map(|session| session.core().clone()).collect();
        follow_together(&cores);
        questions::ask(self, questions);
    }

    /// Decisions or programs may be others: what needs approval is looked at again, in the background.
    pub(super) fn look_again(self: &Arc<Self>) {
        let (pool, busy) = (self.clone(), Busy::new(self));
        self.driver.spawn(async move {
            pool.reread_decisions().await;
            pool.change_with(Fresh::Sights, |_| BTreeSet::new());
            drop(busy);
        });
    }
}

impl Desired {
    fn pass(&mut self, pool: &Arc<PoolCore>, fresh: Fresh) -> (BTreeMap<Box<str>, Row>, Aftermath) {
        pool.sources.trust.store(self.trusted, Ordering::Release);
        let lists = self.lists();
        self.gates.replace(lists.clone());
        let book = self.book.clone().unwrap_or_default();
        let sight = Sight {
            pool,
            book: &book,
            variables: HostVariables::new(&pool.driver.workspace),
            gates: &self.gates,
            trusted: self.trusted,
            fresh,
        };
        self.answers.begin_pass();
        let mut earlier = std::mem::take(&mut self.known);
        let mut plan = BTreeMap::new();
        for (name, winner) in self.layers.resolve() {
            let contents = self.layers.contents(&winner.source);
            let inputs = contents.map_or(&[][..], |contents| contents.inputs.as_slice());
            let was = earlier.remove(&name);
            match sight.look(&name, &winner, inputs, was, &mut self.answers) {
                Outcome::Known(verdict, known) => {
                    let origin = Arc::new(self.origin(&winner));
                    plan.insert(name.clone(), Planned { origin, verdict });
                    self.known.insert(name, *known);
                }
                Outcome::Dropped => {}
            }
        }
        self.judge_claims(pool, fresh, &book);
        let questions = self.answers.end_pass();
        let (rows, moved) = {
            let mut running = pool.running();
            running.lists = lists;
            running.replace(plan)
        };
        if let Some(waits) = &mut self.meanwhile {
            let news = rows.iter().filter(|(_, row)| row.is_news);
            waits.extend(news.map(|(name, row)| (name.clone(), row.clone())));
        }
        (rows, Aftermath { moved, questions })
    }

    /// What waits for approval, where that is another than was told last (SPEC 12.5).
    fn requests_if_news(&mut self, root: &Root) -> Option<Vec<Value>> {
        let pending = self.known.iter().filter(|(_, known)| known.is_pending);
        let hash = |known: &Known| known.sighted().map(|sighted| sighted.identity.hash);
        let pending = pending.filter_map(|(name, known)| Some((name.clone(), hash(known)?)));
        let claimed = self.claims.iter().filter_map(Claim::pending);
        let pending: BTreeSet<_> = pending.chain(claimed).collect();
        let is_news = pending != self.pending_told;
        self.pending_told = pending;
        is_news.then(|| self.requests(root))
    }

    /// What waits for approval, in the form of all languages.
    pub(super) fn requests(&self, root: &Root) -> Vec<Value> {
        let book = self.book.clone().unwrap_or_default();
        let pending = self.known.iter().filter(|(_, known)| known.is_pending);
        let claimed = self.claims.iter().filter(|claim| claim.pending().is_some());
        let claimed = claimed.map(|claim| claim.request(root, &book));
        let known = pending.filter_map(|(name, known)| {
            known.request((root, name), &self.origin(known.winner()), &book)
        });
        known.chain(claimed).collect()
    }

    fn origin(&self, winner: &Winner) -> Origin {
        let file = self.files.get(&*winner.source).map(|file| file.shown.clone());
        let line = winner.defined.place.map(|place| place.line);
        Origin { source: winner.source.clone(), file, line }
    }
}

/// How much the rows of a report say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// What happened, and what is wrong.
    Plain,
    /// The source as well.
    Sourced,
}

impl Passed {
    /// Tells as well what other passes did, as far as it was nothing that this one changed.
    fn add(&mut self, others: BTreeMap<Box<str>, Row>) {
        for (name, row) in others {
            match self.rows.get(&name) {
                Some(own) if own.is_news => {}
                None if row.applied != Applied::Removed => {}
                Some(_) | None => drop(self.rows.insert(name, row)),
            }
        }
    }

    /// Whether anything is other than before.
    pub(super) fn is_news(&self) -> bool {
        self.rows.values().any(|row| row.is_news)
    }

    /// The rows of what changed, and of what the change is about: `{name: {action, source?, reason?, error?}}`.
    pub(super) fn rows_to_json(&self, shape: Shape) -> Value {
        let rows = self.rows.iter();
        let told = rows.filter(|(name, row)| row.is_news || self.mentioned.contains(*name));
        let told = told.map(|(name, row)| (name.to_string(), row.to_json(shape)));
        told.collect::<Map<_, _>>().into()
    }

    /// What became of a server that was added.
    pub(super) fn result(&self, name: &str) -> &'static str {
        match self.rows.get(name).map_or(Applied::Unchanged, |row| row.applied) {
            Applied::Unchanged => "unchanged",
            Applied::Added => "added",
            _ => "replaced",
        }
    }
}
