//! Listing everything that a server offers: four lists at once (SPEC 4.3).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::ServerCapabilities;
use trunkline_pool::catalog::{CacheScope, Catalog, ListKind};
use trunkline_pool::interface::words;

use super::failure;
use super::link::Link;
use crate::Result;

/// Which listing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Part of the connect: nothing listed at all is an error (SPEC 4.4).
    First,
    /// Afterwards an empty list is a valid one.
    Later,
}

/// What a server listed, whole, and what it says of how that may be kept.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The lists.
    pub catalog: Catalog,
    /// How long the first of them to go stale is fresh, as a server of the modern era says.
    pub fresh_for: Option<Duration>,
    /// Whom the narrowest of them is for.
    pub scope: CacheScope,
}

/// What a server declared about its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lists {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Which of them may change.
    pub tools_change: bool,
    pub prompts_change: bool,
    pub resources_change: bool,
}

impl Lists {
    /// Only what is declared is asked for, since the protocol wants it so and a server may not answer what it never
    /// offered. One that declares nothing at all is asked for its tools: some serve tools without saying so.
    pub(super) fn declared_by(server: &ServerCapabilities) -> Lists {
        let prompts = server.prompts.is_some();
        let resources = server.resources.is_some();
        let changes = |declared: Option<bool>| declared == Some(true);
        Lists {
            tools: server.tools.is_some() || !(prompts || resources),
            prompts,
            resources,
            tools_change: changes(server.tools.as_ref().and_then(|it| it.list_changed)),
            prompts_change: changes(server.prompts.as_ref().and_then(|it| it.list_changed)),
            resources_change: changes(server.resources.as_ref().and_then(|it| it.list_changed)),
        }
    }

    /// Whether any of them may change.
    pub(super) fn change(&self) -> bool {
        self.tools_change || self.prompts_change || self.resources_change
    }
}

impl Link {
    /// Lists everything once more; what fails is made up for by another listing later. A dropped future cancels the requests under way.
    pub(super) async fn relist(self: &Arc<Self>) -> Result<Listed> {
        let listed = self.list(When::Later).await;
        if let Err(error) = &listed {
            self.freshness.missed(error, self.options.keepalive, Instant::now());
            self.calls.timer.notify_one();
        }
        listed
    }

    /// Lists everything, within the connect's time. A dropped future cancels the requests under way.
    pub(super) async fn list(self: &Arc<Self>, when: When) -> Result<Listed> {
        let limit = self.options.timeout;
        let declared = self.declared.get().copied();
        let declared = declared.ok_or_else(|| failure::protocol(&self.server, "no handshake"))?;
        let pages = async {
            tokio::try_join!(
                self.list_if(declared.tools, ListKind::Tools, "tools/list"),
                self.list_if(declared.prompts, ListKind::Prompts, "prompts/list"),
                self.list_if(declared.resources, ListKind::Resources, "resources/list"),
                self.list_if(
                    declared.resources,
                    ListKind::ResourceTemplates,
                    "resources/templates/list"
                ),
            )
        };
        let pages = tokio::time::timeout(limit, pages).await;
        let (tools, prompts, resources, resource_templates) =
            pages.map_err(|_| failure::slow(&self.server, words::deadline::LIST, limit))??;
        let lists = [&tools, &prompts, &resources, &resource_templates];
        let scope = lists.iter().map(|pages| pages.scope).max().unwrap_or_default();
        let fresh_for = lists.iter().filter_map(|pages| pages.fresh_for).min();
        let skipped = lists.iter().flat_map(|pages| pages.catalog.skipped.clone()).collect();
        let mut catalog = Catalog {
            tools: tools.catalog.tools,
            prompts: prompts.catalog.prompts,
            resources: resources.catalog.resources,
            resource_templates: resource_templates.catalog.resource_templates,
            skipped,
            tasks: BTreeSet::new(),
        };
        catalog.finish();
        self.mark_tasks(&mut catalog);
        let is_modern = self.metadata.is_modern();
        if is_modern {
            self.wire.take_tools(&mut catalog);
        }
        let fresh_for = fresh_for.filter(|_| is_modern);
        self.freshness.listed(&catalog, fresh_for, self.options.keepalive, Instant::now());
        self.calls.timer.notify_one();
        if when == When::First && !declared.change() && catalog.is_empty() {
            let message = "the server lists no tools, prompts or resources";
            return Err(failure::protocol(&self.server, message)
                .with_detail("reason", words::odd::NOTHING_LISTED)
                .with_hint("check the server's arguments: it may serve nothing without them"));
        }
        Ok(Listed { catalog, fresh_for, scope })
    }
}
