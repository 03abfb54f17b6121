//! The entries of one name, from the highest: which of them counts (SPEC 12.11).
//!
//! An entry that somebody has to approve hides what is below it only once it may run. Until then
//! the one below stays in force, and both are told of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trunkline_pool::layers::{Layers, Scope, SourceName, Winner};

use super::answers::Answers;
use super::entry::Resolver;
use super::lookup_job::LookupJob;
use super::resolved_entry::{Outcome, ResolvedEntry};
use crate::config::desired::File;
use crate::config::types::{EntryOrigin, Over, PendingOn, ServerPlan, ServerVerdict};

/// The look at all entries, in one pass.
pub(crate) struct StackLookup<'a> {
    pub(crate) sight: &'a Resolver<'a>,
    pub(crate) layers: &'a Layers,
    pub(crate) files: &'a BTreeMap<SourceName, File>,
    pub(crate) answers: &'a mut Answers,
    pub(crate) last_look: &'a mut u64,
    /// The maker of this pass takes part in every look of these.
    pub(crate) mine: &'a BTreeSet<Box<str>>,
    /// What the file system has to say.
    pub(crate) looks: Vec<LookupJob>,
    /// The names that wait for that.
    pub(crate) waiting: Vec<Box<str>>,
}

impl StackLookup<'_> {
    /// Looks at the entries of a name until one counts.
    pub(crate) fn look(&mut self, name: &str, entries: &[Winner], mut stack: Stack) -> Stack {
        for (place, winner) in entries.iter().enumerate() {
            let contents = self.layers.contents(&winner.source);
            let inputs = contents.map_or(&[][..], |contents| contents.inputs.as_slice());
            let is_gated = winner.source.scope().is_gated();
            let was = stack.earlier(winner, entries);
            let Outcome::Known(verdict, mut known) =
                self.sight.look(name, winner, inputs, was, self.answers)
            else {
                // The host dropped it: what a project says is gone then, and what is below it is
                // not.
                if is_gated {
                    continue;
                }
                break;
            };
            let lack = known.lack(name, self.last_look, self.mine.contains(name));
            if lack.is_some() || matches!(verdict, ServerVerdict::Wait(PendingOn::Files, _)) {
                self.waiting.push(name.into());
            }
            self.looks.extend(lack);
            let hidden = hidden_by(&entries[place + 1..]).filter(|_| is_gated);
            known.hides = hidden.map(|lower| origin(self.files, lower));
            let planned = ServerPlan {
                origin: Arc::new(origin(self.files, winner)),
                approval: self.sight.decided(name, &known),
                verdict,
                over: Vec::new(),
                hides: known.hides.clone(),
            };
            let hides_nothing = self.sight.hides_nothing(name, winner.source.scope(), &planned);
            stack.put(*known, planned, hides_nothing);
            if !hides_nothing {
                break;
            }
        }
        stack
    }
}

/// Where an entry is said.
pub(crate) fn origin(files: &BTreeMap<SourceName, File>, winner: &Winner) -> EntryOrigin {
    let file = files.get(&*winner.source).map(|file| file.shown.clone());
    let line = winner.defined.place.map(|place| place.line);
    EntryOrigin { source: winner.source.clone(), file, line }
}

/// The entries of a name that were looked at so far.
pub(crate) struct Stack {
    /// What the pass before knew of entries of the name.
    earlier: Vec<ResolvedEntry>,
    known: Vec<ResolvedEntry>,
    /// What may not run yet, or at all, and hides nothing.
    over: Vec<ServerPlan>,
    counts: Option<ServerPlan>,
}

/// The entry that one would take the place of: the user's own, if there is one.
fn hidden_by(lower: &[Winner]) -> Option<&Winner> {
    lower.iter().find(|entry| !entry.source.scope().is_gated()).or(lower.first())
}

impl Stack {
    pub(crate) fn new(earlier: Option<Vec<ResolvedEntry>>) -> Stack {
        let earlier = earlier.unwrap_or_default();
        Stack { earlier, known: Vec::new(), over: Vec::new(), counts: None }
    }

    /// What was known of this entry, else of one that is gone, whose place it took.
    fn earlier(&mut self, entry: &Winner, entries: &[Winner]) -> Option<ResolvedEntry> {
        let is_there = |known: &ResolvedEntry| {
            entries.iter().any(|entry| entry.source == known.winner().source)
        };
        let own = self.earlier.iter().position(|known| known.winner().source == entry.source);
        let of_gone = || self.earlier.iter().position(|known| !is_there(known));
        Some(self.earlier.remove(own.or_else(of_gone)?))
    }

    /// What came of the entry that follows.
    fn put(&mut self, known: ResolvedEntry, planned: ServerPlan, hides_nothing: bool) {
        self.known.push(known);
        match hides_nothing {
            true => self.over.push(planned),
            false => self.counts = Some(planned),
        }
    }

    /// What is known of all, and what is to be: of several that may not run the highest says why.
    pub(crate) fn end(self) -> (Vec<ResolvedEntry>, Option<ServerPlan>) {
        let mut over = self.over.into_iter();
        let Some(mut planned) = self.counts.or_else(|| over.next()) else {
            return (self.known, None);
        };
        planned.over = over.map(Over::of).collect();
        (self.known, Some(planned))
    }
}

impl Resolver<'_> {
    /// Whether the entries below count, since this one may not run. While it is not known yet
    /// whether it may, what was approved before keeps its place.
    fn hides_nothing(&self, name: &str, scope: Scope, planned: &ServerPlan) -> bool {
        scope.is_gated()
            && match &planned.verdict {
                ServerVerdict::Run(configured) => configured.spec().disabled,
                ServerVerdict::Shut(_) | ServerVerdict::Invalid(..) => true,
                ServerVerdict::Wait(..) => self.knows_book && !self.was_approved(name),
            }
    }
}
