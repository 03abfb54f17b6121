//! Which definitions of tools are accepted, between the reducer, which judges them, and the
//! approvals, with which they stay (SPEC 7.6).

use std::sync::Arc;

use trunkline_pool::acceptance::{QuarantinedTools, Recalled};
use trunkline_pool::approvals::ToolDigests;
use trunkline_pool::catalog::{Catalog, Item};
use trunkline_pool::config::Fingerprint;
use trunkline_pool::options::OnToolChange;
use trunkline_pool::state::{Configuration, PoolInput};

use crate::driver::{Authority, Core, Driver, EntryCell, Warrant};

impl Driver {
    /// What of kept lists may be shown of a server that does not run. What its live lists say is
    /// held against that.
    pub(crate) fn show(
        &self,
        (server, fingerprint): (&str, Fingerprint),
        authority: &Authority,
        kept: Arc<Catalog>,
    ) -> Arc<Catalog> {
        let on_tool_change = authority.on_tool_change(&self.options);
        if on_tool_change == OnToolChange::Notify {
            return kept;
        }
        let approved = accepted_by(authority);
        let mut core = self.core();
        let server = core.interner.server(server);
        let fingerprint = authority.judged_as(fingerprint);
        let configuration = Configuration { server, fingerprint, on_tool_change };
        self.recall(&mut core, configuration, approved);
        let usable = core.state.usable(configuration, kept);
        let recalled = Recalled::Shown(usable.clone());
        let now = self.now();
        core.run(|state, effects| {
            state.step(now, PoolInput::Recall { configuration, recalled }, effects);
        });
        usable
    }

    /// A connection is about to have its lists judged: what was accepted before is known from now
    /// on. What of them may be used.
    pub(in crate::driver) fn usable(
        &self,
        cell: &EntryCell,
        listed: &Arc<Catalog>,
    ) -> Arc<Catalog> {
        let authority = self.authority(cell.key);
        let approved = accepted_by(&authority);
        let mut core = self.core();
        let Some(configuration) = core.state.configuration(cell.entry) else {
            return listed.clone();
        };
        if configuration.on_tool_change == OnToolChange::Quarantine {
            self.recall(&mut core, configuration, approved);
        }
        core.state.usable(configuration, listed.clone())
    }

    fn recall(
        &self,
        core: &mut Core,
        configuration: Configuration,
        approved: Option<(Arc<dyn Warrant>, Recalled)>,
    ) {
        let Some((warrant, recalled)) = approved else { return };
        core.approvers.add(configuration, &warrant);
        let now = self.now();
        core.run(|state, effects| {
            state.step(now, PoolInput::Recall { configuration, recalled }, effects);
        });
    }

    /// What is held back of a server, whether or not it is connected.
    pub(crate) fn held_of(&self, server: &str) -> QuarantinedTools {
        let core = self.core();
        let server = core.interner.known_server(server);
        server.map(|server| core.state.held_of(server)).unwrap_or_default()
    }

    /// Other definitions are accepted than before: they stay with the approval, and one that the
    /// host accepted is listed where its server sleeps.
    pub(in crate::driver) fn keep_accepted(
        &self,
        configuration: Configuration,
        accepted: &Arc<ToolDigests>,
        tool: Option<&Item>,
    ) {
        let (warrants, server) = {
            let core = self.core();
            let server = core.interner.describe(configuration.server).0.to_owned();
            (core.approvers.of(&configuration), server)
        };
        for warrant in warrants {
            warrant.keep_tools(accepted, tool.map(|tool| &tool.name));
        }
        if tool.is_some() {
            self.show_kept_of(&server);
        }
    }
}

/// What was accepted by the approval that it is. Asked without a lock: the one that answers may be
/// the last to know the pool.
fn accepted_by(authority: &Authority) -> Option<(Arc<dyn Warrant>, Recalled)> {
    let warrant = authority.warrant()?;
    Some((warrant.clone(), warrant.accepted_tools()?))
}
