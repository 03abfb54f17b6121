//! A pass: from what is desired to what runs (SPEC 13.1, 13.2).
//!
//! What is to be is written down under one lock and made into a plan there; nobody is called
//! meanwhile. What follows from it is done without the lock, each step from what is newest when its
//! turn comes: of two changes at once the last word is the newest.
//!
//! A file look-up is a fact that a later pass brings in. Looking before the lock would let one
//! share that is away keep all other changes from being planned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::oneshot::Receiver;
use trunkline_pool::approvals::{Alike, ApprovalHash, ProjectRoot};
use trunkline_pool::catalog_cache::CacheKey;
use trunkline_pool::layers::Winner;

use super::Config;
use super::desired::{Desired, also};
use super::report_row::{Applied, ReconcileRow, RowDetail};
use super::resolve::answers::Ask;
use super::resolve::entry::Resolver;
use super::resolve::lookup_job::LookupJob;
use super::resolve::questions;
use super::resolve::resolved_entry::ResolvedEntry;
use super::resolve::stack::{Stack, StackLookup, origin};
use super::running::{ChangedServers, PriorState, TimeoutChanges};
use super::telling::EventTurn;
use super::trust::claim::Claim;
use super::types::{EntryOrigin, RefreshScope};
use crate::Result;
use crate::driver::{ConnectionKey, Driver};
use crate::host_env::HostVariables;
use crate::runtime::blocking_pool;

/// What a pass did, by name.
#[derive(Default)]
pub(crate) struct ReconcileReport {
    rows: BTreeMap<Box<str>, ReconcileRow>,
    /// Names of the source that was changed, which are told whatever came of them.
    mentioned: BTreeSet<Box<str>>,
}

/// A pass that is under way, or work that ends in one; its end wakes who waits for that.
pub(crate) struct BusyGuard(Arc<Config>);

impl BusyGuard {
    pub(crate) fn new(config: &Arc<Config>) -> BusyGuard {
        config.passes.fetch_add(1, Ordering::AcqRel);
        BusyGuard(config.clone())
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.passes.fetch_sub(1, Ordering::AcqRel);
        self.0.settled.notify_waiters();
    }
}

/// What a pass did and lacks, and what is left to be done about it once no lock is held.
pub(crate) struct PassPlan {
    /// When it is told.
    turn: EventTurn,
    passed: ReconcileReport,
    moved: ChangedServers,
    retimed: TimeoutChanges,
    questions: Vec<Ask>,
    looks: Vec<LookupJob>,
    /// How what is looked up stood before.
    since: BTreeMap<Box<str>, PriorState>,
}

/// A change that was taken up, as far as nothing has to be looked up for it.
pub(crate) struct PendingPass {
    /// What is to be looked up.
    owed: PendingLookups,
    busy: BusyGuard,
    passed: ReconcileReport,
    since: BTreeMap<Box<str>, PriorState>,
}

/// Looks that are not begun yet, by source. Those that are left at the end begin on a thread of
/// their own: other passes count on them, also after this one gave up.
struct PendingLookups {
    config: Arc<Config>,
    looks: Vec<Vec<LookupJob>>,
}

impl PendingLookups {
    fn take(&mut self) -> Vec<Vec<LookupJob>> {
        std::mem::take(&mut self.looks)
    }
}

impl Drop for PendingLookups {
    fn drop(&mut self) {
        self.take().into_iter().for_each(|looks| drop(self.config.look_up_apart(looks)));
    }
}

impl Config {
    /// Writes a change down, makes a pass of it and carries that out. What has to be looked up for
    /// it is looked up in this thread, which may have to wait for the file system.
    pub(crate) fn change(self: &Arc<Self>, change: impl FnOnce(&mut Desired)) -> ReconcileReport {
        self.change_with(RefreshScope::No, also(change))
    }

    /// [`change`](Self::change), which tells the names that it is about in any case.
    pub(crate) fn change_with(
        self: &Arc<Self>,
        fresh: RefreshScope,
        change: impl FnOnce(&mut Desired) -> BTreeSet<Box<str>>,
    ) -> ReconcileReport {
        self.begin(fresh, change).here()
    }

    /// [`change_with`](Self::change_with) on threads that may wait: nothing of it is done where
    /// others wait for this one.
    ///
    /// # Errors
    /// `internal` when the process ends.
    pub(crate) async fn change_apart(
        self: &Arc<Self>,
        fresh: RefreshScope,
        change: impl FnOnce(&mut Desired) -> BTreeSet<Box<str>> + Send + 'static,
    ) -> Result<ReconcileReport> {
        let config = self.clone();
        let begun = self.off_thread(move || Ok(config.begin(fresh, change))).await?;
        Ok(begun.apart().await)
    }

    /// Writes a change down, and does what can be done about it without a look at the file system.
    pub(crate) fn begin(
        self: &Arc<Self>,
        fresh: RefreshScope,
        change: impl FnOnce(&mut Desired) -> BTreeSet<Box<str>>,
    ) -> PendingPass {
        let busy = BusyGuard::new(self);
        let (passed, looks, since) = self.pass(fresh, change);
        let owed = PendingLookups { config: self.clone(), looks: by_source(looks) };
        PendingPass { owed, busy, passed, since }
    }

    fn pass(
        self: &Arc<Self>,
        fresh: RefreshScope,
        change: impl FnOnce(&mut Desired) -> BTreeSet<Box<str>>,
    ) -> (ReconcileReport, Vec<LookupJob>, BTreeMap<Box<str>, PriorState>) {
        let planned = self.plan(fresh, change);
        self.end_pass(planned)
    }

    /// Writes a change down and plans what becomes of it.
    pub(crate) fn plan(
        self: &Arc<Self>,
        fresh: RefreshScope,
        change: impl FnOnce(&mut Desired) -> BTreeSet<Box<str>>,
    ) -> PassPlan {
        let mut desired = self.desired();
        let mentioned = change(&mut desired);
        // The newest, no matter who read it and when; else the last that could be read.
        desired.book = self.approvals.known().or(desired.book.take());
        desired.pass(self, fresh, mentioned)
    }

    /// Carries out what is planned, and tells what came of it.
    pub(crate) fn end_pass(
        self: &Arc<Self>,
        PassPlan { turn, passed, moved, retimed, questions, looks, since }: PassPlan,
    ) -> (ReconcileReport, Vec<LookupJob>, BTreeMap<Box<str>, PriorState>) {
        self.carry_out(&moved, &retimed);
        turn.end(passed.is_news().then(|| passed.rows_to_json(RowDetail::Plain)));
        // An answer ends in another pass, which tells nothing before this one.
        questions::ask(self, questions);
        (passed, looks, since)
    }

    /// Looks up what a pass lacks of one source, and makes the pass that follows, until it lacks no
    /// more. Blocks for as long as the file system does.
    fn look_up(self: &Arc<Self>, mut looks: Vec<LookupJob>) -> ReconcileReport {
        let mut passed = ReconcileReport::default();
        let source = looks.first().and_then(|look| look.source().cloned());
        for _ in 0..ROUNDS_MAX {
            if looks.is_empty() {
                return passed;
            }
            let found = looks.into_iter().map(|look| look.carry_out(self)).collect();
            let (more, lacks, _) = self.pass(RefreshScope::No, |desired| {
                desired.take_found(found);
                BTreeSet::new()
            });
            passed.add(more);
            let (own, others) =
                lacks.into_iter().partition(|look| look.source() == source.as_ref());
            looks = own;
            for others in by_source(others) {
                // Whatever they wait for, this one does not.
                drop(self.look_up_apart(others));
            }
        }
        self.desired().give_back(looks);
        passed
    }

    /// [`look_up`](Self::look_up) on a thread that may wait.
    fn look_up_apart(self: &Arc<Self>, looks: Vec<LookupJob>) -> Receiver<ReconcileReport> {
        blocking_pool::begin(self.looking_up(looks))
    }

    /// [`look_up`](Self::look_up), which is work under way from now on.
    fn looking_up(
        self: &Arc<Self>,
        looks: Vec<LookupJob>,
    ) -> impl FnOnce() -> ReconcileReport + Send + 'static {
        let (config, busy) = (self.clone(), BusyGuard::new(self));
        move || {
            let passed = config.look_up(looks);
            drop(busy);
            passed
        }
    }

    /// Does what follows from a pass.
    fn carry_out(self: &Arc<Self>, moved: &ChangedServers, retimed: &TimeoutChanges) {
        // What is shut goes first, and before the sessions follow what is gone is told apart from
        // what is new: a restart of what they let go then makes room for what they ask for.
        self.driver.set_gates(|| self.running().lists.clone());
        self.driver.review_keys();
        // Of no other: the last to ask has said the time of that.
        if !retimed.is_empty() {
            let newer = |key: &ConnectionKey| self.running().newer(key);
            self.driver.heed(|key| retimed.contains(&*key.name).then(|| newer(key)).flatten());
        }
        if !moved.is_empty() {
            self.driver.reconfigure(|key| self.running().judge(key, moved));
        }
        let Some(sessions) = self.driver.session_set() else { return };
        if !sessions.reconcile_all() {
            self.look_ahead(moved.keys().map(|name| &**name));
        }
    }

    /// Decisions or programs may be others: what needs approval is looked at again, in the
    /// background.
    pub(crate) fn look_again(self: &Arc<Self>) {
        let (config, busy) = (self.clone(), BusyGuard::new(self));
        self.driver.spawn(async move {
            config.reread_decisions().await;
            // It fails with the process alone.
            let _ = config.change_apart(RefreshScope::Sights, |_| BTreeSet::new()).await;
            drop(busy);
        });
    }
}

impl Config {
    /// Looks for what is kept of servers that are new, as most sessions would have it, before there
    /// is a session.
    pub(crate) fn look_ahead<'a>(&self, new: impl Iterator<Item = &'a str>) {
        let Driver { options, context, catalogs, .. } = &*self.driver;
        let offered = options.handlers.offered();
        let key = |name: &str| {
            let configured = self.configured(name).ok()?;
            let written = configured.kept_by()?;
            Some(self.driver.cache_key((name, configured.spec()), &written, offered, context))
        };
        let keys: Vec<CacheKey> = new.filter_map(key).collect();
        if !keys.is_empty() {
            catalogs.look_ahead(keys);
        }
    }
}

impl PendingPass {
    /// Looks up here what has to be: the caller waits for the file system. Of several sources each
    /// is on a thread of its own. A thread of the library does not wait for it: then what lacks a
    /// look is `waiting`, and `reconciled` tells what comes of it.
    pub(crate) fn here(mut self) -> ReconcileReport {
        let config = self.busy.0.clone();
        let runtime = &config.driver.runtime;
        if runtime.is_here() {
            return self.ended([]);
        }
        let mut looks = self.owed.take();
        let own = looks.pop();
        let (send, receive) = std::sync::mpsc::channel();
        for looks in looks {
            let (look_up, send) = (config.looking_up(looks), send.clone());
            // It is received until all have ended.
            blocking_pool::begin(move || drop(send.send(look_up())));
        }
        drop(send);
        let own = own.map(|looks| config.look_up(looks));
        let others: Vec<ReconcileReport> = receive.into_iter().collect();
        self.ended(own.into_iter().chain(others))
    }

    /// Looks it up on threads that may wait.
    pub(crate) async fn apart(mut self) -> ReconcileReport {
        let looks = self.owed.take().into_iter();
        let jobs: Vec<_> = looks.map(|looks| self.busy.0.look_up_apart(looks)).collect();
        let ended = join_all(jobs).await;
        self.ended(ended.into_iter().flatten())
    }

    /// What came of it all. Another pass may have taken up what was looked up for this one.
    fn ended(self, more: impl IntoIterator<Item = ReconcileReport>) -> ReconcileReport {
        let PendingPass { owed, busy, mut passed, since } = self;
        drop(owed);
        more.into_iter().for_each(|more| passed.add(more));
        let running = busy.0.running();
        for (name, stood) in since {
            match running.row_since(&name, &stood) {
                Some(row) => drop(passed.rows.insert(name, row)),
                None => drop(passed.rows.remove(&name)),
            }
        }
        drop(running);
        passed
    }
}

impl Desired {
    /// Makes a plan of the settings, and has it run. The caller of this pass takes part in every
    /// look of `mine`.
    fn pass(
        &mut self,
        config: &Arc<Config>,
        fresh: RefreshScope,
        mine: BTreeSet<Box<str>>,
    ) -> PassPlan {
        let lists = self.lists();
        self.gates.replace(lists.clone());
        let needs_book = self.needs_book();
        let book = self.book.clone().unwrap_or_default();
        let sight = Resolver {
            config,
            book: &book,
            knows_book: !needs_book,
            variables: HostVariables::new(&config.driver.workspace),
            path: std::env::var_os("PATH"),
            gates: &self.gates,
            trusted: self.trusted,
            fresh,
        };
        self.answers.begin_pass();
        let mut earlier = std::mem::take(&mut self.known);
        let mut plan = BTreeMap::new();
        let mut looking = StackLookup {
            sight: &sight,
            layers: &self.layers,
            files: &self.files,
            answers: &mut self.answers,
            last_look: &mut self.last_look,
            mine: &mine,
            looks: Vec::new(),
            waiting: Vec::new(),
        };
        for (name, entries) in self.layers.stacks() {
            let stack = Stack::new(earlier.remove(&name));
            let (known, planned) = looking.look(&name, &entries, stack).end();
            plan.extend(planned.map(|planned| (name.clone(), planned)));
            if !known.is_empty() {
                self.known.insert(name, known);
            }
        }
        let StackLookup { mut looks, waiting, .. } = looking;
        looks.extend(self.judge_claims(&config.root, fresh, &book));
        let warrants = &config.warrants;
        warrants.judge(self.trusted, &config.root, &book);
        if fresh == RefreshScope::Yes {
            warrants.forget_where_all_lead();
        }
        if needs_book {
            self.reading.want();
            let number = self.reading.begin(&mut self.last_look, false);
            looks.extend(number.map(LookupJob::of_book));
        }
        let questions = self.answers.end_pass();
        let mut running = config.running();
        let stood = |name: Box<str>| (name.clone(), running.now(&name));
        let since = waiting.into_iter().map(stood).collect();
        running.lists = lists;
        let (rows, moved, retimed) = running.replace(plan, &self.gates);
        let passed = ReconcileReport { rows, mentioned: mine };
        PassPlan {
            turn: EventTurn::begin(config, self),
            passed,
            moved,
            retimed,
            questions,
            looks,
            since,
        }
    }

    /// What waits for approval, where that is another than was told last (SPEC 12.5).
    pub(crate) fn requests_if_news(&mut self, root: &ProjectRoot) -> Option<Vec<Value>> {
        let pending = self.each_known().filter(|(_, known)| known.is_pending);
        let hash = |known: &ResolvedEntry| known.sighted().map(|sighted| sighted.identity.hash);
        let pending = pending.filter_map(|(name, known)| Some((name.into(), hash(known)?)));
        let claimed = self.claims.iter().filter_map(Claim::pending);
        // Of what is looked up at this moment it is told in a moment what came of it, and not
        // before that it is gone.
        let is_looked_up = |(name, _): &&(Box<str>, ApprovalHash)| {
            let mut known = self.known.get(name).into_iter().flatten();
            known.any(ResolvedEntry::is_looked_up_now)
        };
        let told = self.pending_told.iter().filter(is_looked_up).cloned();
        let pending: BTreeSet<_> = pending.chain(claimed).chain(told).collect();
        let is_news = pending != self.pending_told;
        self.pending_told = pending;
        is_news.then(|| self.requests(root))
    }

    /// What waits for approval, in the form of all languages.
    pub(crate) fn requests(&self, root: &ProjectRoot) -> Vec<Value> {
        let book = self.book.clone().unwrap_or_default();
        let pending = self.each_known().filter(|(_, known)| known.is_pending);
        // Several of a name may have come to be one decision.
        let claims = self.claims.iter().filter_map(|claim| Some((claim.pending()?, claim)));
        let claims: BTreeMap<_, _> = claims.collect();
        let mut pending = pending.peekable();
        if pending.peek().is_none() && claims.is_empty() {
            return Vec::new();
        }
        let claimed_names = self.claims.iter().map(|claim| &*claim.name);
        let alike = Alike::of(self.known.keys().map(|name| &**name).chain(claimed_names));
        let claimed = claims.into_values().map(|claim| claim.request(root, &book, &alike));
        let known = pending.filter_map(|(name, known)| {
            known.request((root, name), &self.origin(known.winner()), &book, &alike)
        });
        known.chain(claimed).collect()
    }

    /// What is known of each entry, from the highest of each name.
    fn each_known(&self) -> impl Iterator<Item = (&str, &ResolvedEntry)> {
        self.known.iter().flat_map(|(name, known)| known.iter().map(|known| (&**name, known)))
    }

    fn origin(&self, winner: &Winner) -> EntryOrigin {
        origin(&self.files, winner)
    }
}

/// What is looked up, by source: what one of them waits for, the others do not.
fn by_source(looks: Vec<LookupJob>) -> Vec<Vec<LookupJob>> {
    let mut sources: BTreeMap<_, Vec<LookupJob>> = BTreeMap::new();
    for look in looks {
        sources.entry(look.source().cloned()).or_default().push(look);
    }
    sources.into_values().collect()
}

/// How often one look leads to another. An entry needs two; more are needed only while the
/// environment of the process changes, and what is left then is taken up by the next pass.
const ROUNDS_MAX: usize = 8;

impl ReconcileReport {
    /// Tells as well what a later pass did.
    pub(crate) fn add(&mut self, later: ReconcileReport) {
        self.rows.extend(later.rows.into_iter().filter(|(_, row)| row.is_news));
    }

    /// Whether anything is other than before.
    pub(crate) fn is_news(&self) -> bool {
        self.rows.values().any(|row| row.is_news)
    }

    /// The rows of what changed, and of what the change is about: `{name: {action, source?,
    /// reason?, error?}}`.
    pub(crate) fn rows_to_json(&self, detail: RowDetail) -> Value {
        let rows = self.rows.iter();
        let told = rows.filter(|(name, row)| row.is_news || self.mentioned.contains(*name));
        let told = told.map(|(name, row)| (name.to_string(), row.to_json(detail)));
        told.collect::<Map<_, _>>().into()
    }

    /// What became of a server that was added, and why it may not run.
    pub(crate) fn result(&self, name: &str) -> (&'static str, Option<&'static str>) {
        let Some(row) = self.rows.get(name) else { return ("unchanged", None) };
        let result = match row.applied {
            Applied::Unchanged => "unchanged",
            Applied::Added => "added",
            Applied::Refused => "refused",
            _ => "replaced",
        };
        (result, row.reason)
    }
}
