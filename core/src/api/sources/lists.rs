//! Which list of which source keeps a server out.

use trunkline_pool::explain::Provenance;
use trunkline_pool::gates::GateLists;
use trunkline_pool::state::GateReason;

use crate::api::pool::PoolCore;

impl PoolCore {
    /// The list that keeps a server of that name out for that reason: the host's first, then those of sources, from the least.
    pub(in crate::api) fn list_of(&self, reason: GateReason, server: &str) -> Option<Provenance> {
        let of_host = |list| Provenance { source: "host".into(), list, ..Provenance::default() };
        let desired = self.sources.desired();
        let by_host = desired.host_lists.list_of(reason, server);
        if by_host.is_some() {
            return Some(of_host(by_host));
        }
        let bound = self.driver.options.launch_allowed.clone();
        let bound = GateLists::new(bound, Vec::new(), Vec::new());
        if bound.list_of(reason, server).is_some() {
            return Some(of_host(Some("launch_allowed")));
        }
        desired.layers.lists().into_iter().find_map(|(source, lists)| {
            let list = Some(lists.list_of(reason, server)?);
            let file = desired.files.get(&source).map(|file| file.shown.to_string());
            Some(Provenance { source: source.to_string(), file, line: None, list })
        })
    }
}
