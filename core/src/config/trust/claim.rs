//! A configuration that a session brought for a source of the workspace.

use std::sync::{Arc, Weak};

use serde_json::Value;
use trunkline_pool::approvals::{Alike, ApprovalHash, Book, Candidate, Identity, ProjectRoot};
use trunkline_pool::config::ServerSpec;

use super::warrant::Approved;
use crate::config::resolve::launch_preview::{LaunchPreview, request};
use crate::config::resolve::lookup_cell::LookupState;
use crate::config::types::EntryOrigin;

/// A configuration that some session is not done with yet.
pub(crate) struct Claim {
    pub(crate) name: Box<str>,
    pub(crate) spec: Arc<ServerSpec>,
    pub(crate) sighted: LaunchPreview,
    /// Whether it is looked up again.
    pub(crate) at: LookupState,
    pub(crate) origin: EntryOrigin,
    pub(crate) warrant: Weak<Approved>,
    /// Whether it waits for a decision.
    pub(crate) is_pending: bool,
}

impl Claim {
    /// Takes up what it was found to lead to, if that is the look that counts. Nothing was found
    /// where that was lost: then it is what it was.
    pub(crate) fn take(&mut self, number: u64, sighted: Option<&LaunchPreview>) {
        if self.at.end(number)
            && let Some(sighted) = sighted
        {
            self.sighted = sighted.clone();
            let warrant = self.warrant.upgrade().filter(|_| sighted.is_whole);
            if let Some(warrant) = warrant.filter(|it| it.identity().hash == sighted.identity.hash)
            {
                warrant.forget_where_it_leads();
            }
        }
    }

    /// What waits for a decision.
    pub(crate) fn pending(&self) -> Option<(Box<str>, ApprovalHash)> {
        self.is_pending.then(|| (self.name.clone(), self.sighted.identity.hash))
    }

    /// What a decision about it is about, if one can be taken.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.sighted.is_whole.then_some(&self.sighted.identity)
    }

    /// What a person is shown of it.
    pub(crate) fn request(&self, root: &ProjectRoot, book: &Book, alike: &Alike) -> Value {
        let candidate = Candidate::of_spec(&self.spec, self.sighted.shown());
        let candidate = candidate.replaced(self.sighted.replaced());
        let beside = (None, alike.to(&self.name));
        request((root, &self.name), candidate, (&self.origin, beside), book)
    }
}
