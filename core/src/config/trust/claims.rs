//! Configurations that a session brought for a source of the workspace: they need the approval and
//! the trust that a file of it would need, so that no way leads past those (SPEC 11.3).

use std::sync::Arc;

use trunkline_pool::approvals::{Book, ProjectRoot};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::gates::{
    ApprovalState, Facts, Gates, ServerPresence, ServerSwitch, Trust, Validity,
};
use trunkline_pool::layers::{Scope, SelfGrant, SourceName};
use trunkline_pool::state::{Gate, GateReason};

use super::claim::Claim;
use super::warrant::Approved;
use crate::Result;
use crate::config::Config;
use crate::config::desired::{Desired, also};
use crate::config::resolve::launch_preview::LaunchPreview;
use crate::config::resolve::lookup_cell::LookupState;
use crate::config::resolve::lookup_job::LookupJob;
use crate::config::types::{EntryOrigin, RefreshScope};
use crate::driver::server_config::ResolvedServer;
use crate::driver::{Authority, Warrant};
use crate::host_env::runners;

impl Config {
    /// A configuration as one of a source of that scope, without what it would grant itself.
    pub(crate) async fn claimed(
        self: &Arc<Self>,
        name: &str,
        spec: &ServerSpec,
        scope: Scope,
    ) -> Result<Arc<ResolvedServer>> {
        let mut spec = spec.clone();
        runners::settle(&mut spec);
        let (config, of, written) = (self.clone(), name.to_owned(), spec.clone());
        let find = move || Ok(config.warrant_of_claim(&of, &written, scope));
        let warrant = self.off_thread(find).await?;
        SelfGrant::of(&spec).into_iter().for_each(|granted| granted.revoke(&mut spec));
        let configured = ResolvedServer::by(
            Authority::Warrant(warrant),
            Arc::new(spec),
            None,
            &self.driver.options,
        );
        // What is decided of it, and who has to be asked.
        self.change_apart(RefreshScope::No, also(|_| {})).await?;
        Ok(configured)
    }

    fn warrant_of_claim(
        self: &Arc<Self>,
        name: &str,
        spec: &ServerSpec,
        scope: Scope,
    ) -> Arc<Approved> {
        let (sighted, command) = LaunchPreview::of_spec(name, spec, self.sighting());
        let mut desired = self.desired();
        let warrant = self.warrants.of(self.clone(), name, (&sighted, &command));
        let weak = Arc::downgrade(&warrant);
        if let Some(claim) = desired.claims.iter_mut().find(|claim| claim.warrant.ptr_eq(&weak)) {
            (claim.sighted, claim.at) = (sighted, LookupState::Done);
            return warrant;
        }
        let source = Arc::new(SourceName::of_scope(scope));
        desired.claims.push(Claim {
            name: name.into(),
            spec: Arc::new(spec.clone()),
            sighted,
            at: LookupState::Done,
            origin: EntryOrigin { source, file: None, line: None },
            warrant: weak,
            is_pending: false,
        });
        warrant
    }
}

impl Config {
    /// What was claimed, and for which scope, where it was found to be something else by now than
    /// what it runs by.
    pub(crate) fn claimed_elsewhere(
        &self,
        own: &ResolvedServer,
    ) -> Option<(Arc<ServerSpec>, Scope)> {
        let desired = self.desired();
        let (claim, warrant) = desired.claim_of(own)?;
        claim.identity().filter(|now| now.hash != warrant.identity().hash)?;
        Some((claim.spec.clone(), claim.origin.source.scope()))
    }

    /// The source that a session named for the server that it brought, if any.
    pub(crate) fn claimed_source(&self, own: &ResolvedServer) -> Option<Arc<SourceName>> {
        Some(self.desired().claim_of(own)?.0.origin.source.clone())
    }
}

impl Desired {
    /// The claim by which something that a session brought runs.
    fn claim_of(&self, own: &ResolvedServer) -> Option<(&Claim, Arc<Approved>)> {
        let runs_by = own.authority.id()?;
        self.claims.iter().find_map(|claim| {
            let warrant = claim.warrant.upgrade()?;
            let is_it = Authority::Warrant(warrant.clone()).id() == Some(runs_by);
            is_it.then_some((claim, warrant))
        })
    }
}

impl Desired {
    /// What would run of the entries of that name.
    pub(crate) fn known_of(&self, server: &str) -> impl Iterator<Item = &LaunchPreview> {
        let known = self.known.get(server).into_iter().flatten();
        known.filter_map(|known| known.sighted())
    }

    /// The same, and of what sessions brought.
    pub(crate) fn sighted(&self, server: &str) -> impl Iterator<Item = &LaunchPreview> {
        let claims = self.claims.iter().filter(move |claim| *claim.name == *server);
        self.known_of(server).chain(claims.map(|claim| &claim.sighted))
    }

    /// Finds out what has to be asked about claims; those that nobody has any more are forgotten.
    pub(crate) fn judge_claims(
        &mut self,
        root: &ProjectRoot,
        fresh: RefreshScope,
        book: &Book,
    ) -> Vec<LookupJob> {
        let (trusted, gates, mut looks) = (self.trusted, &self.gates, Vec::new());
        self.claims.retain_mut(|claim| {
            if claim.warrant.strong_count() == 0 {
                return false;
            }
            if fresh != RefreshScope::No {
                claim.at = LookupState::Wanted;
            }
            if let Some(number) = claim.at.begin(&mut self.last_look, false) {
                let of = (&*claim.name, &claim.origin.source);
                looks.push(LookupJob::of_claim(number, of, &claim.spec));
            }
            let hash = claim.sighted.identity.hash;
            let standing = book.standing(root, &claim.name, hash);
            let waits = waits(gates, &claim.name) && claim.sighted.is_whole;
            // While it is looked up nobody is asked anew: what it was need not be what it is.
            let is_known = claim.at == LookupState::Done || claim.is_pending;
            claim.is_pending = trusted && standing.is_none() && waits && is_known;
            true
        });
        looks
    }
}

impl Config {
    /// What is decided of the newest configuration of that name that a session brought, and of
    /// which source it is.
    pub(crate) fn claimed_as(&self, name: &str) -> Option<(Gate, Arc<SourceName>)> {
        let desired = self.desired();
        let mut newest = desired.claims.iter().rev().filter(|claim| *claim.name == *name);
        newest
            .find_map(|claim| Some((claim.warrant.upgrade()?.gate(), claim.origin.source.clone())))
    }

    /// The names of all that sessions brought.
    pub(crate) fn claimed_names(&self) -> Vec<Box<str>> {
        let desired = self.desired();
        desired.claims.iter().map(|claim| claim.name.clone()).collect()
    }
}

/// Whether a server of that name would wait for a decision and for nothing else: of what the lists
/// keep out nobody is asked.
fn waits(gates: &Gates, name: &str) -> bool {
    let (presence, validity) = (ServerPresence::Named, Validity::Valid);
    let (trust, switch) = (Trust::Given, ServerSwitch::On);
    let facts = Facts { name, presence, validity, trust, switch, approval: ApprovalState::Pending };
    gates.decide(&facts) == Gate::Shut(GateReason::PendingApproval)
}
