//! The capabilities of the client that a server learns.

use rmcp::model::{
    ClientCapabilities, ElicitationCapability, FormElicitationCapability, RootsCapabilities,
    SamplingCapability, UrlElicitationCapability,
};
use trunkline_pool::catalog::ListKind;
use trunkline_pool::config::Era;
use trunkline_pool::options::HandlerKind;

use crate::client::Connection;
use crate::client::connection::Link;
use crate::client::state::outbox::PendingNotice;

impl Connection {
    /// The roots are others: the server is told, unless its era asks for them anew each time, and
    /// its lists count as changed, since they may follow the folders. Never blocks.
    pub(crate) fn roots_changed(&self) {
        if !self.0.metadata.is_modern() {
            self.0.pay(PendingNotice::RootsChanged);
        }
        self.0.tell(|events| events.list_changed(ListKind::Tools));
    }
}

impl Link {
    /// Roots always, since the pool answers for them; the rest where the host has a handler (SPEC
    /// 15.1, 15.2).
    pub(in crate::client) fn capabilities(&self, era: Era) -> ClientCapabilities {
        let has = |kind| self.options.offered.has(kind);
        let mut roots = RootsCapabilities::default();
        // The modern era asks for roots anew each time.
        roots.list_changed = (era == Era::Legacy).then_some(true);
        let mut sampling = SamplingCapability::default();
        sampling.tools = has(HandlerKind::SamplingTools).then(Default::default);
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = has(HandlerKind::Elicitation).then(FormElicitationCapability::default);
        elicitation.url = has(HandlerKind::ElicitationUrl).then(UrlElicitationCapability::default);
        let elicits = elicitation.form.is_some() || elicitation.url.is_some();
        let mut all = ClientCapabilities::default();
        all.roots = Some(roots);
        all.sampling = has(HandlerKind::Sampling).then_some(sampling);
        all.elicitation = elicits.then_some(elicitation);
        all
    }
}
