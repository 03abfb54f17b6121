//! The folders that are watched, brought in line with where the declared files are.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use trunkline_pool::text::escaped;

use super::backend::{Backend, WatchOutcome};
use super::inbox::Inbox;
use super::path_trail::{Folder, FolderId};
use super::types::{POLL_INTERVAL, Polled, UnwatchedReason};
use super::watch_set::{Declared, Plan};

/// What is declared, and what is watched for it.
pub(super) struct ActiveWatches {
    inbox: Arc<Inbox>,
    /// `None` where the system has no more of them; tried again with each poll.
    backend: Option<Backend>,
    watches_max: usize,
    declared: BTreeSet<Declared>,
    plan: Plan,
    watched: HashMap<PathBuf, FolderId>,
    polled: BTreeMap<FolderId, Polled>,
    /// When the files are to be looked at without an event.
    next_look: Option<Instant>,
}

/// What came of bringing the watches in line.
struct WatchRound {
    watched: usize,
    polled: BTreeMap<FolderId, Polled>,
}

impl ActiveWatches {
    pub(super) fn new(inbox: Arc<Inbox>, watches_max: usize) -> ActiveWatches {
        ActiveWatches {
            inbox,
            backend: None,
            watches_max,
            declared: BTreeSet::new(),
            plan: Plan::default(),
            watched: HashMap::new(),
            polled: BTreeMap::new(),
            next_look: None,
        }
    }

    pub(super) fn declare(&mut self, files: BTreeSet<PathBuf>) {
        self.declared = files.into_iter().map(Declared::from).collect();
    }

    pub(super) fn declared(&self) -> &BTreeSet<Declared> {
        &self.declared
    }

    pub(super) fn polled(&self) -> Vec<Polled> {
        self.polled.values().cloned().collect()
    }

    pub(super) fn next_look(&self) -> Option<Instant> {
        self.next_look
    }

    /// Makes the system's watches, or makes them anew when nobody hears them. Only on a thread of
    /// ours.
    pub(super) fn revive(&mut self) {
        if self.backend.as_ref().is_some_and(Backend::is_alive) {
            return;
        }
        self.watched.clear();
        // The old one is over before the new one begins.
        self.backend = None;
        match Backend::new(self.inbox.clone()) {
            Ok(backend) => self.backend = Some(backend),
            Err(error) => tracing::debug!(%error, "there are no watches"),
        }
    }

    /// Gives everything back.
    pub(super) fn disarm(&mut self) {
        self.backend = None;
    }

    /// What was watched at these paths, or below, may be another folder now: it is watched anew
    /// when the watches are brought in line.
    pub(super) fn forget(&mut self, is_moved: impl Fn(&Path) -> bool) {
        let moved: Vec<PathBuf> =
            self.watched.keys().filter(|folder| is_moved(folder)).cloned().collect();
        for folder in moved {
            self.unwatch(&folder);
        }
    }

    /// Watches what has to be watched now; the files that were found to lead elsewhere, or to have
    /// been written, since the last time.
    ///
    /// A folder that is newly watched may have changed just before. So may a name that is newly of
    /// interest in a watched folder. So the files are looked up again until that brings neither:
    /// what changes after the last look is heard.
    pub(super) fn align(&mut self) -> BTreeSet<Declared> {
        let mut is_settled = false;
        let mut plan = Plan::of(&self.declared);
        let mut is_heard = plan.goes_the_way_of(&self.plan);
        let mut round = WatchRound { watched: 0, polled: BTreeMap::new() };
        for _ in 0..ROUNDS_MAX {
            self.inbox.widen(plan.interests());
            round = self.watch_all(&plan);
            is_settled = round.watched == 0 && is_heard;
            if is_settled {
                break;
            }
            let next = Plan::of(&self.declared);
            is_heard = next.goes_the_way_of(&plan);
            plan = next;
        }
        let wanted: BTreeSet<&PathBuf> = plan.folders.iter().map(|folder| &folder.path).collect();
        let surplus: Vec<PathBuf> =
            self.watched.keys().filter(|folder| !wanted.contains(folder)).cloned().collect();
        surplus.iter().for_each(|folder| self.unwatch(folder));
        self.inbox.narrow(plan.interests());
        let mut changed = plan.changed_since(&self.plan);
        changed.extend(plan.through(|id| self.is_news(&round.polled, id)));
        if !is_settled {
            changed.extend(self.declared.iter().cloned());
        }
        self.plan = plan;
        self.polled = round.polled;
        self.schedule(is_settled);
        changed
    }

    /// The same without an event, for what is not watched: also the files that may have changed
    /// without looking different.
    pub(super) fn look(&mut self) -> BTreeSet<Declared> {
        let fresh = self.plan.fresh();
        let polled = self.plan.through(|id| self.polled.contains_key(id));
        self.next_look = None;
        let mut changed = self.align();
        changed.extend(fresh.intersection(&polled).cloned());
        changed
    }

    /// Whether a folder is polled that was watched until now, or new: what came in between was not
    /// heard.
    fn is_news(&self, polled: &BTreeMap<FolderId, Polled>, id: &FolderId) -> bool {
        let is_new = polled.contains_key(id) && !self.polled.contains_key(id);
        let was_known = self.plan.folders.iter().any(|folder| folder.id == *id);
        is_new && was_known
    }

    fn watch_all(&mut self, plan: &Plan) -> WatchRound {
        let mut round = WatchRound { watched: 0, polled: BTreeMap::new() };
        for folder in &plan.folders {
            match self.watch(folder) {
                Some(WatchOutcome::Yes | WatchOutcome::Gone) => round.watched += 1,
                Some(WatchOutcome::No(why)) => {
                    let polled = Polled { folder: folder.path.clone(), why };
                    if !self.polled.contains_key(&folder.id) {
                        let folder = escaped(&folder.path.to_string_lossy());
                        tracing::warn!(folder, ?why, "a folder is polled instead of watched");
                    }
                    round.polled.insert(folder.id.clone(), polled);
                }
                None => {}
            }
        }
        round
    }

    /// Watches a folder; `None` when it is watched already.
    fn watch(&mut self, folder: &Folder) -> Option<WatchOutcome> {
        match self.watched.get(&folder.path) {
            Some(id) if *id == folder.id => return None,
            Some(_) => self.unwatch(&folder.path),
            None => {}
        }
        let Some(backend) = &mut self.backend else {
            return Some(WatchOutcome::No(UnwatchedReason::NoWatcher));
        };
        if self.watched.len() >= self.watches_max {
            return Some(WatchOutcome::No(UnwatchedReason::TooMany));
        }
        let watched = backend.watch(&folder.path);
        if matches!(watched, WatchOutcome::Yes) {
            self.watched.insert(folder.path.clone(), folder.id.clone());
        }
        Some(watched)
    }

    fn unwatch(&mut self, folder: &Path) {
        self.watched.remove(folder);
        if let Some(backend) = &mut self.backend {
            backend.unwatch(folder);
        }
    }

    fn schedule(&mut self, is_settled: bool) {
        let delay = match (is_settled, self.polled.is_empty()) {
            (false, _) => Some(RETRY_DELAY),
            (true, false) => Some(POLL_INTERVAL),
            (true, true) => None,
        };
        // What comes meanwhile does not put a look off.
        let next = delay.map(|delay| Instant::now() + delay);
        self.next_look = next.map(|next| self.next_look.map_or(next, |look| look.min(next)));
    }
}

/// How often files are looked up again in one go. More is needed only while folders come and go on
/// the way to them.
const ROUNDS_MAX: usize = 16;

/// When the next go begins, where folders came and went all the time.
const RETRY_DELAY: Duration = Duration::from_millis(50);
