//! Configurations that a session brought for a source of the workspace: they need the approval and the trust that a file of it would
//! need, so that no way leads past those (SPEC 11.3).

use std::sync::{Arc, Weak};

use serde_json::Value;
use trunkline_pool::approvals::{ApprovalHash, Book, Candidate, Decision, Identity, Root};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::gates::{Approval, Facts, Gates, Presence, Switch, Trust, Validity};
use trunkline_pool::layers::{Granted, Scope, SourceName};
use trunkline_pool::state::{Gate, GateReason};

use super::desired::Desired;
use super::entry::Fresh;
use super::running::Origin;
use super::sighted::{Sighted, request};
use super::warrant::{Approved, EntryWarrant};
use crate::api::pool::{Configured, PoolCore};
use crate::api::session::SessionCore;
use crate::{Error, ErrorCode, Result};

/// A configuration of which some session is not done yet.
pub(super) struct Claim {
    pub(super) name: Box<str>,
    spec: Arc<ServerSpec>,
    sighted: Sighted,
    origin: Origin,
    warrant: Weak<EntryWarrant>,
    /// Whether it waits for a decision.
    is_pending: bool,
}

impl SessionCore {
    /// A configuration that the host brought for this session, with the word that it runs by.
    ///
    /// # Errors
    /// `invalid_argument` for an origin that it cannot have.
    pub(in crate::api) fn brought(
        &self,
        name: &str,
        spec: &ServerSpec,
        origin: Option<Scope>,
    ) -> Result<Arc<Configured>> {
        match origin {
            None | Some(Scope::Session) => {
                Ok(Configured::new(Arc::new(spec.clone()), &self.driver.options))
            }
            Some(scope) if scope.is_gated() => Ok(self.pool.claimed(name, spec, scope)),
            Some(scope) => {
                let message = format!("a configuration of an acquire cannot be of `{scope}`");
                let error = Error::new(ErrorCode::InvalidArgument, message);
                Err(self.named(name, error).with_detail("path", "origin"))
            }
        }
    }
}

impl PoolCore {
    /// A configuration as one of a source of that scope, without what it would grant itself.
    fn claimed(self: &Arc<Self>, name: &str, spec: &ServerSpec, scope: Scope) -> Arc<Configured> {
        let warrant = self.warrant_of_claim(name, spec, scope);
        let mut spec = spec.clone();
        Granted::of(&spec).into_iter().for_each(|granted| granted.revoke(&mut spec));
        let configured = Configured::warranted(Arc::new(spec), warrant, &self.driver.options);
        // What is decided of it, and who has to be asked.
        self.change(|_| {});
        configured
    }

    fn warrant_of_claim(
        self: &Arc<Self>,
        name: &str,
        spec: &ServerSpec,
        scope: Scope,
    ) -> Arc<EntryWarrant> {
        let (driver, sources) = (&self.driver, &self.sources);
        let inherit_env = &driver.options.inherit_env;
        let (sighted, command) = Sighted::of_spec(name, spec, (&driver.workspace, inherit_env));
        let hash = sighted.identity.hash;
        let mut desired = sources.desired();
        let is_it = |claim: &&Claim| *claim.name == *name && claim.sighted.identity.hash == hash;
        let known = desired.claims.iter().find(is_it);
        let known = known.and_then(|claim| claim.warrant.upgrade());
        if let Some(warrant) = known.filter(|warrant| warrant.hash() == Some(hash)) {
            return warrant;
        }
        let warrant = EntryWarrant::new(
            &sources.trust,
            Some(Approved {
                pool: Arc::downgrade(self),
                approvals: sources.approvals.clone(),
                root: sources.root.clone(),
                name: name.into(),
                hash,
                file: sighted.file.clone(),
                command,
                workspace: driver.workspace.clone(),
                inherit_env: inherit_env.clone(),
            }),
        );
        warrant.set(Gate::Shut(GateReason::PendingApproval));
        desired.claims.push(Claim {
            name: name.into(),
            spec: Arc::new(spec.clone()),
            sighted,
            origin: Origin {
                source: Arc::new(SourceName::of_scope(scope)),
                file: None,
                line: None,
            },
            warrant: Arc::downgrade(&warrant),
            is_pending: false,
        });
        warrant
    }
}

impl Desired {
    /// Brings what claims run by in line with what is decided; those that nobody has any more are forgotten.
    pub(super) fn judge_claims(&mut self, pool: &PoolCore, fresh: Fresh, book: &Book) {
        let (trusted, gates) = (self.trusted, &self.gates);
        let inherit_env = &pool.driver.options.inherit_env;
        self.claims.retain_mut(|claim| {
            let Some(warrant) = claim.warrant.upgrade() else { return false };
            if fresh != Fresh::No {
                let with = (&*pool.driver.workspace, &**inherit_env);
                claim.sighted = Sighted::of_spec(&claim.name, &claim.spec, with).0;
            }
            let hash = claim.sighted.identity.hash;
            let standing = book.standing(&pool.sources.root, &claim.name, hash);
            let gate = match standing.map(|standing| standing.decision) {
                _ if !trusted => Gate::Shut(GateReason::Untrusted),
                _ if !claim.sighted.is_whole => Gate::Shut(GateReason::PendingApproval),
                Some(Decision::Rejected) => Gate::Shut(GateReason::Rejected),
                // Its program is another by now than the one that the warrant is about.
                Some(Decision::Approved) if warrant.hash() == Some(hash) => Gate::Open,
                Some(Decision::Approved) | None => Gate::Shut(GateReason::PendingApproval),
            };
            let waits = waits(gates, &claim.name) && claim.sighted.is_whole;
            claim.is_pending = trusted && standing.is_none() && waits;
            warrant.set(gate);
            true
        });
    }
}

/// Whether a server of that name would wait for a decision and for nothing else: of what the lists keep out nobody is asked.
fn waits(gates: &Gates, name: &str) -> bool {
    let (presence, validity) = (Presence::Named, Validity::Valid);
    let (trust, switch) = (Trust::Given, Switch::On);
    let facts = Facts { name, presence, validity, trust, switch, approval: Approval::Pending };
    gates.decide(&facts) == Gate::Shut(GateReason::PendingApproval)
}

impl Claim {
    /// What waits for a decision.
    pub(super) fn pending(&self) -> Option<(Box<str>, ApprovalHash)> {
        self.is_pending.then(|| (self.name.clone(), self.sighted.identity.hash))
    }

    /// What a decision about it is about, if one can be taken.
    pub(super) fn identity(&self) -> Option<&Identity> {
        self.sighted.is_whole.then_some(&self.sighted.identity)
    }

    /// What a person is shown of it.
    pub(super) fn request(&self, root: &Root, book: &Book) -> Value {
        let candidate = Candidate::of_spec(&self.spec, self.sighted.shown());
        request((root, &self.name), candidate, &self.origin, book)
    }
}
