//! What was found out about one entry of the sources.

use std::sync::Arc;

use serde_json::Value;
use trunkline_pool::approvals::{Alike, Book, Candidate, Declared, ProjectRoot};
use trunkline_pool::layers::{SourceEntry, Winner};

use super::answers::HostQuestion;
use super::launch_preview::{LaunchPreview, request};
use super::lookup_cell::{LookedFile, LookedSight};
use super::lookup_job::LookupJob;
use crate::config::types::{EntryOrigin, ServerVerdict};
use crate::driver::server_config::ResolvedServer;

/// What was found out about an entry. As long as the entry is the same, it is not looked at again.
pub(crate) struct ResolvedEntry {
    pub(crate) winner: Winner,
    /// What the host's hook made of it.
    pub(crate) entry: SourceEntry,
    pub(crate) trusted: bool,
    /// The inputs that it takes, of one that may need approval.
    pub(crate) declared: Declared,
    /// What would run, of an entry that needs approval.
    pub(crate) sighted: LookedSight,
    /// What its file of variables says, until it is expanded.
    pub(crate) variables: LookedFile,
    /// It, with every variable in place.
    pub(crate) ready: Option<Arc<ResolvedServer>>,
    /// What the name had before: what comes to the same stays the same.
    pub(crate) before: Option<Arc<ResolvedServer>>,
    /// Whether it waits for a decision.
    pub(crate) is_pending: bool,
    /// What was asked for its sake.
    pub(crate) asks: Vec<HostQuestion>,
    /// The entry of the name that it takes the place of, or would.
    pub(crate) hides: Option<EntryOrigin>,
}

/// What an entry came to.
pub(crate) enum Outcome {
    /// This, and what was found out.
    Known(ServerVerdict, Box<ResolvedEntry>),
    /// The host dropped it: it is as if no source named it.
    Dropped,
}

impl ResolvedEntry {
    /// Where it is said.
    pub(crate) fn winner(&self) -> &Winner {
        &self.winner
    }

    /// What would run, of an entry that needs approval and can be looked up.
    pub(crate) fn sighted(&self) -> Option<&LaunchPreview> {
        self.sighted.last()?.as_ref().ok().map(|(sighted, _)| sighted)
    }

    /// Whether somebody looks up at this moment what would run.
    pub(crate) fn is_looked_up_now(&self) -> bool {
        self.sighted.is_under_way()
    }

    /// What is to be looked up of it by who made this pass; what another looks up already by them
    /// too, if it is theirs.
    pub(crate) fn lack(&mut self, name: &str, last: &mut u64, is_mine: bool) -> Option<LookupJob> {
        let SourceEntry::Template(template) = &self.entry else { return None };
        let of = (name, &self.winner.source);
        if let Some((number, basis)) = self.sighted.begin(last, is_mine) {
            return Some(LookupJob::of_sight(number, of, (template, &self.declared), basis));
        }
        let (number, path) = self.variables.begin(last, is_mine)?;
        Some(LookupJob::of_variables(number, of, template, path))
    }

    /// What a person is shown of it.
    pub(crate) fn request(
        &self,
        (root, name): (&ProjectRoot, &str),
        origin: &EntryOrigin,
        book: &Book,
        alike: &Alike,
    ) -> Option<Value> {
        let SourceEntry::Template(template) = &self.entry else { return None };
        let sighted = self.sighted()?;
        let candidate = Candidate::of_template(template, &self.declared, sighted.shown())
            .with_secret_files(sighted.secret_files())
            .replaced(sighted.replaced());
        let beside = (self.hides.as_ref(), alike.to(name));
        Some(request((root, name), candidate, (origin, beside), book))
    }
}
