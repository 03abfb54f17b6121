//! Every warrant of a pool: one for trust, and one for each configuration of a name about which a
//! decision is taken.
//!
//! What is to run by one holds it: what the pool has of a name, what sessions brought or keep of
//! it, and the connections. As long as anybody does, each pass judges it by its own hash, although
//! no source may name it any more.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use trunkline_pool::approvals::{ApprovalHash, Book, Identity, ProjectRoot};

use super::warrant::{Approved, Approving, Trust};
use crate::config::resolve::launch_preview::{Command, LaunchPreview};

/// The warrants of a pool.
pub(crate) struct Warrants {
    trust: Arc<Trust>,
    approved: Mutex<ByHash>,
}

/// By name and hash.
type ByHash = BTreeMap<(Box<str>, ApprovalHash), Weak<Approved>>;

impl Warrants {
    /// Those of a pool whose workspace is trusted, or is not.
    pub(crate) fn new(trusted: bool) -> Warrants {
        Warrants { trust: Trust::new(trusted), approved: Mutex::default() }
    }

    /// The one of all that needs trust and no approval.
    pub(crate) fn trust(&self) -> &Arc<Trust> {
        &self.trust
    }

    /// The one of this configuration, which was looked up just now.
    pub(crate) fn of(
        &self,
        config: Arc<dyn Approving>,
        name: &str,
        with: (&LaunchPreview, &Command),
    ) -> Arc<Approved> {
        let mut approved = self.approved();
        let key = (Box::from(name), with.0.identity.hash);
        if let Some(warrant) = approved.get(&key).and_then(Weak::upgrade) {
            warrant.sighted(with);
            return warrant;
        }
        let warrant = Approved::new(Arc::downgrade(&config), &self.trust, name, with);
        approved.insert(key, Arc::downgrade(&warrant));
        warrant
    }

    /// Brings all in line with what is decided.
    pub(crate) fn judge(&self, trusted: bool, root: &ProjectRoot, book: &Book) {
        self.trust.set(trusted);
        self.live().iter().for_each(|warrant| warrant.judge(root, book));
    }

    /// What led to another program than the approved one may start again, if it leads there no
    /// more.
    pub(crate) fn forget_where_all_lead(&self) {
        self.live().iter().for_each(|warrant| warrant.forget_where_it_leads());
    }

    /// What is to run of that name, whether a source still names it or not.
    pub(crate) fn identities(&self, name: &str) -> Vec<Identity> {
        let live = self.live().into_iter().filter(|warrant| warrant.name() == name);
        live.map(|warrant| warrant.identity().clone()).collect()
    }

    fn live(&self) -> Vec<Arc<Approved>> {
        let mut live = Vec::new();
        self.approved().retain(|_, warrant| {
            let warrant = warrant.upgrade();
            let is_live = warrant.is_some();
            live.extend(warrant);
            is_live
        });
        live
    }

    fn approved(&self) -> MutexGuard<'_, ByHash> {
        self.approved.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
