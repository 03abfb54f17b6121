//! What the pool is to be: its sources, lists and trust, and what the last pass made of them.
//!
//! A source that is replaced keeps its place; otherwise an edit of one file would change which of
//! two counts. A wrong entry keeps what it had, and a refused one does not.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use trunkline_pool::approvals::{ApprovalHash, Book};
use trunkline_pool::gates::{GateLists, Gates, JoinedLists, LaunchBound};
use trunkline_pool::layers::{Layers, Scope, SourceName};
use trunkline_pool::options::PoolOptions;
use trunkline_pool::settings::Format;

use super::event_sequencer::{EventSequencer, SourceEvent};
use super::files::findings::{Findings, ParsedSource};
use super::resolve::answers::Answers;
use super::resolve::lookup_cell::LookupState;
use super::resolve::resolved_entry::ResolvedEntry;
use super::trust::claim::Claim;
use crate::Error;

/// Everything that configures the pool. Each change is written down here first; a pass makes of it
/// what runs.
pub(crate) struct Desired {
    pub(crate) layers: Layers,
    /// What of each source has no effect, by the text that it is.
    found: BTreeMap<SourceName, Findings>,
    /// Sources that were reported as unreadable.
    broken: BTreeSet<SourceName>,
    /// The files among the sources.
    pub(crate) files: BTreeMap<SourceName, File>,
    /// Files that are watched and are no source yet.
    pub(crate) arming: Vec<Arming>,
    /// What sessions brought for sources of the workspace.
    pub(crate) claims: Vec<Claim>,
    /// The lists that the host set.
    pub(crate) host_lists: GateLists,
    pub(crate) trusted: bool,
    /// The number of the word that says so.
    trusted_by: u64,
    /// The gates of the last pass.
    pub(crate) gates: Gates,
    /// What the last pass found out of the entries of each name, from the highest that it looked
    /// at.
    pub(crate) known: BTreeMap<Box<str>, Vec<ResolvedEntry>>,
    /// What the host answered.
    pub(crate) answers: Answers,
    /// What was decided, by the last pass that could know, once something needs a decision. What
    /// runs goes on by it while decisions cannot be read.
    pub(crate) book: Option<Arc<Book>>,
    /// How often decisions could not be read since they are tried again; zero while they are not.
    pub(crate) unread: u64,
    /// Whether somebody reads what was decided for the first time.
    pub(crate) reading: LookupState,
    /// The last number of a read of a file.
    pub(crate) last_read: u64,
    /// The last number of a look.
    pub(crate) last_look: u64,
    /// What waited for approval when that was told last.
    pub(crate) pending_told: BTreeSet<(Box<str>, ApprovalHash)>,
    /// What became of sources since the last pass, to be told with the one that comes.
    pub(crate) news: VecDeque<SourceEvent>,
    /// What passes have to tell.
    pub(crate) telling: EventSequencer,
    /// Whether answers that come are gathered, for one pass.
    pub(crate) gathers: bool,
}

/// A word about the trust in the workspace.
#[derive(Clone, Copy)]
pub(crate) struct TrustUpdate {
    pub(crate) number: u64,
    pub(crate) trusted: bool,
}

/// A source that is a file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The same, as it is shown.
    pub(crate) shown: Arc<str>,
    /// By whose rules it is read, where that was said.
    pub(crate) format: Option<Format>,
    /// Whether it is read again when it changes.
    pub(crate) watch: bool,
    /// The number of the read that is taken up.
    pub(crate) read: u64,
    pub(crate) again: RereadState,
    /// It changed while nobody was to read it.
    pub(crate) is_missed: bool,
}

/// A file that is watched before it is a source.
pub(crate) struct Arming {
    pub(crate) path: PathBuf,
    /// It changed meanwhile.
    pub(crate) is_missed: bool,
}

/// Whether a file is being read because it changed. One read of each is under way for that, however
/// often it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RereadState {
    No,
    UnderWay,
    /// It is, and changed since.
    Stale,
}

impl File {
    /// It, for somebody who reads it unasked by a change.
    pub(crate) fn to_be_read(&self) -> File {
        File { again: RereadState::No, is_missed: false, ..self.clone() }
    }
}

impl RereadState {
    /// It changed; returns whether the caller is to read it.
    pub(crate) fn begin(&mut self) -> bool {
        let is_first = *self == RereadState::No;
        *self = if is_first { RereadState::UnderWay } else { RereadState::Stale };
        is_first
    }

    /// It was read; whether it is to be read once more.
    pub(crate) fn end(&mut self) -> bool {
        std::mem::replace(self, RereadState::No) == RereadState::Stale
    }
}

impl Desired {
    /// The workspace is trusted, or not, unless a newer word says so already.
    pub(crate) fn take_word(&mut self, word: TrustUpdate) {
        if word.number > self.trusted_by {
            (self.trusted, self.trusted_by) = (word.trusted, word.number);
        }
    }

    /// Takes note of files that changed, for their next reader: those that are no sources yet, and
    /// those that wait for trust.
    pub(crate) fn note_missed(&mut self, changed: &BTreeSet<PathBuf>, options: &PoolOptions) {
        for arming in &mut self.arming {
            arming.is_missed |= changed.contains(&arming.path);
        }
        let untrusted: Vec<SourceName> = self
            .files
            .iter()
            .filter(|(_, file)| file.watch && changed.contains(&file.path))
            .filter(|(source, _)| self.is_untrusted(source.scope(), options))
            .map(|(source, _)| source.clone())
            .collect();
        self.set_missed(&untrusted, true);
    }

    /// Whether these files changed while nobody was to read them.
    pub(crate) fn set_missed<'a>(
        &mut self,
        sources: impl IntoIterator<Item = &'a SourceName>,
        is_missed: bool,
    ) {
        for source in sources {
            if let Some(file) = self.files.get_mut(source) {
                file.is_missed = is_missed;
            }
        }
    }

    pub(crate) fn new(options: &PoolOptions) -> Desired {
        let (allowed, excluded) = (options.allowed.clone(), options.excluded.clone());
        let host_lists = GateLists::new(allowed, excluded, Vec::new());
        let bound = LaunchBound::new(options.launch_allowed.clone());
        Desired {
            layers: Layers::default(),
            found: BTreeMap::new(),
            broken: BTreeSet::new(),
            files: BTreeMap::new(),
            arming: Vec::new(),
            claims: Vec::new(),
            gates: Gates::new(bound, host_lists.clone()),
            host_lists,
            trusted: options.trusted,
            trusted_by: 0,
            known: BTreeMap::new(),
            answers: Answers::default(),
            book: None,
            unread: 0,
            reading: LookupState::Stale,
            last_read: 0,
            last_look: 0,
            pending_told: BTreeSet::new(),
            news: VecDeque::new(),
            telling: EventSequencer::default(),
            gathers: false,
        }
    }

    /// The lists of the host and of every source that counts.
    pub(crate) fn lists(&self) -> JoinedLists {
        let sources = self.layers.lists().into_iter().map(|(_, lists)| lists);
        sources.chain([self.host_lists.clone()]).collect()
    }

    /// Whether the host is asked for something, or its answers are not taken up yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.gathers || self.answers.is_waiting()
    }

    /// Whether what was decided has to be read before it is known what may run.
    pub(crate) fn needs_book(&self) -> bool {
        let needs = |name: &SourceName| name.scope().is_gated();
        let is_needed = !self.claims.is_empty() || self.layers.names().any(needs);
        self.book.is_none() && self.trusted && is_needed && self.unread == 0
    }

    /// Replaces a source, or removes it. It is news when the meaning or the findings are others, or
    /// when nobody was told yet that it can be read again.
    pub(crate) fn put(&mut self, source: &SourceName, said: Option<ParsedSource>) {
        let was_broken = self.broken.remove(source);
        let (is_news, findings) = match said {
            Some(ParsedSource { contents, findings }) => {
                let found = self.found.insert(source.clone(), findings.clone());
                let before = self.layers.put(source.clone(), contents);
                let now = self.layers.contents(source);
                let is_same =
                    matches!((before, now), (Some(before), Some(now)) if before.means(now));
                let is_other = !is_same || !found.unwrap_or_default().means(&findings);
                (is_other || was_broken, findings)
            }
            None => {
                self.files.remove(source);
                self.found.remove(source);
                (self.layers.remove(source).is_some(), Findings::default())
            }
        };
        if is_news {
            self.news.push_back(SourceEvent::Accepted(source.clone(), findings));
        }
    }

    /// A source cannot be read, and keeps its last good state.
    pub(crate) fn keep_unread(&mut self, source: &SourceName, error: Error) {
        self.broken.insert(source.clone());
        self.news.push_back(SourceEvent::Broken(source.clone(), error));
    }

    /// Whether servers of that scope lack the trust that they need (SPEC 11.4). Those of the
    /// workspace never start without, whatever a list says.
    pub(crate) fn is_untrusted(&self, scope: Scope, options: &PoolOptions) -> bool {
        !self.trusted && (scope.is_gated() || !options.untrusted_sources.contains(&scope))
    }
}

/// A change that is about no name in particular.
pub(crate) fn also(
    change: impl FnOnce(&mut Desired),
) -> impl FnOnce(&mut Desired) -> BTreeSet<Box<str>> {
    |desired| {
        change(desired);
        BTreeSet::new()
    }
}
