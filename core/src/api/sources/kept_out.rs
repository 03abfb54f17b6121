//! What keeps a server out that could run by its configuration: the lists, or that it is switched
//! off. Whoever is told of the server hears of it as of any other refusal (SPEC 13.2, 13.4).

use std::borrow::Cow;
use std::sync::Arc;

use trunkline_pool::explain::ReasonSource;
use trunkline_pool::gates::{Facts, GateLists, Gates};
use trunkline_pool::state::{Gate, GateReason};

use super::Config;
use super::running::{ConfigStatus, ReconcileRow, ServerRecord};
use crate::api::server_config::ResolvedServer;

/// What of the lists and its own configuration keeps out what a name has.
pub(super) fn kept_out_by(
    gates: &Gates,
    name: &str,
    configured: Option<&Arc<ResolvedServer>>,
) -> Option<GateReason> {
    let facts = match configured?.spec().disabled {
        true => Facts::of_name(name).shut_by(GateReason::Disabled),
        false => Facts::of_name(name),
    };
    match gates.decide(&facts) {
        Gate::Shut(reason) => Some(reason),
        Gate::Open => None,
    }
}

impl ServerRecord {
    /// It, as it is told.
    fn told(&self) -> Cow<'_, ServerRecord> {
        match (self.kept_out, &self.standing) {
            (Some(reason), ConfigStatus::Runs) => {
                Cow::Owned(ServerRecord { standing: ConfigStatus::Shut(reason), ..self.clone() })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// What it has, unless that is kept out.
    fn let_in<'a>(&self, has: Option<&'a Arc<ResolvedServer>>) -> Option<&'a Arc<ResolvedServer>> {
        has.filter(|_| self.kept_out.is_none())
    }
}

impl ReconcileRow {
    /// From what a name had to what it has, as far as that may run.
    pub(super) fn of_change(
        (earlier, old): (Option<&ServerRecord>, Option<&Arc<ResolvedServer>>),
        (named, new): (&ServerRecord, Option<&Arc<ResolvedServer>>),
    ) -> ReconcileRow {
        let old = earlier.map_or(old, |earlier| earlier.let_in(old));
        let new = named.let_in(new);
        let earlier = earlier.map(ServerRecord::told);
        let mut row = ReconcileRow::between((earlier.as_deref(), old), (&named.told(), new));
        row.is_news |= old.is_some() != new.is_some();
        row
    }
}

impl Config {
    /// The list that keeps a server of that name out for that reason: the host's first, then those
    /// of sources, from the least.
    pub(crate) fn list_of(&self, reason: GateReason, server: &str) -> Option<ReasonSource> {
        let of_host =
            |list| ReasonSource { source: "host".into(), list, ..ReasonSource::default() };
        let desired = self.desired();
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
            Some(ReasonSource { source: source.to_string(), file, line: None, list })
        })
    }
}
