//! What was decided of an entry, for those who are shown it: also while something else keeps it out
//! (SPEC 9.4, 12.1).

use trunkline_pool::approvals::{Candidate, CandidateLaunch, Decision};
use trunkline_pool::expand;
use trunkline_pool::gates::ApprovalState;
use trunkline_pool::layers::SourceEntry;

use super::entry::Resolver;
use super::launch_preview::LaunchPreview;
use super::resolved_entry::ResolvedEntry;
use crate::host_env::runners;

impl Resolver<'_> {
    /// By what would run, where that was looked up; else as far as nobody has to be asked for it.
    /// Nothing runs by this word.
    pub(crate) fn decided(&self, name: &str, known: &ResolvedEntry) -> ApprovalState {
        if !known.winner().source.scope().is_gated() {
            return ApprovalState::NotNeeded;
        }
        let decision = match known.sighted() {
            Some(sighted) => self.decision(name, sighted),
            None => self.decided_unseen(name, known),
        };
        match decision {
            Some(Decision::Approved) => ApprovalState::Approved,
            Some(Decision::Rejected) => ApprovalState::Rejected,
            None => ApprovalState::Pending,
        }
    }

    /// What was decided of what would run.
    pub(crate) fn decision(&self, name: &str, sighted: &LaunchPreview) -> Option<Decision> {
        let root = &self.config.root;
        let standing = self.book.standing(root, name, sighted.identity.hash);
        standing.map(|standing| standing.decision)
    }

    /// Whether any configuration of that name was approved.
    pub(crate) fn was_approved(&self, name: &str) -> bool {
        self.book.was_approved(&self.config.root, name)
    }

    fn decided_unseen(&self, name: &str, known: &ResolvedEntry) -> Option<Decision> {
        let SourceEntry::Template(template) = &known.entry else { return None };
        let commands = self.commands(known.winner().source.scope());
        let mut looked_up = expand::look_up(template, &self.variables, commands).ok()?;
        runners::settle(&mut looked_up.spec);
        let shown = CandidateLaunch::of(&looked_up.spec, None)?;
        let candidate = Candidate::of_template(template, &known.declared, &shown);
        self.book.decided_unseen(&self.config.root, name, &candidate)
    }
}
