//! The capabilities of the client that a server is told of.

use std::sync::atomic::Ordering;

use rmcp::model::{
    ClientCapabilities, ElicitationCapability, FormElicitationCapability, RootsCapabilities,
    SamplingCapability, UrlElicitationCapability,
};
use trunkline_pool::catalog::ListKind;
use trunkline_pool::config::Era;
use trunkline_pool::options::HandlerKind;

use super::Connection;
use super::link::Link;
use crate::transport::{FrameKind, Sent};

/// What a server of the legacy era is told when the roots are others.
const ROOTS_CHANGED: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}\n";

impl Connection {
    /// The roots are others: the server is told, unless its era asks for them anew each time, and its lists count as changed, since
    /// they may follow the folders. Never blocks.
    pub(crate) fn roots_changed(&self) {
        if !self.0.metadata.is_modern() {
            self.0.tell_of_roots();
        }
        self.0.tell(|events| events.list_changed(ListKind::Tools));
    }
}

impl Link {
    /// Tells the server that the roots are others; once there is room, where there is none now. Changes that wait for it are told as one.
    fn tell_of_roots(&self) {
        if self.is_told_of_roots() || self.owes_roots.swap(true, Ordering::AcqRel) {
            return;
        }
        let Some(link) = self.me.upgrade() else { return };
        self.runtime.spawn(async move {
            loop {
                link.wire.room().await;
                // From here on a change has a wait of its own, unless this one goes on.
                link.owes_roots.store(false, Ordering::Release);
                if link.is_told_of_roots() || link.owes_roots.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        });
    }

    /// Whether there was room for it, or nobody is there to be told any more.
    fn is_told_of_roots(&self) -> bool {
        self.wire.send(ROOTS_CHANGED, FrameKind::Notification) != Sent::Full
    }

    /// Roots always, since the pool answers for them; the rest where the host has a handler (SPEC 15.1, 15.2).
    pub(super) fn capabilities(&self, era: Era) -> ClientCapabilities {
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
