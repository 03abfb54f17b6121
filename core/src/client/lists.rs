//! Listing everything that a server offers: four lists at once, page by page (SPEC 4.3).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::ServerCapabilities;
use tokio::sync::oneshot;
use trunkline_pool::catalog::{Catalog, ListKind};

use super::link::{Life, Link};
use super::{Reply, RequestId, failure};
use crate::{Error, ErrorCode, Result};

/// Pages of one list.
const PAGES_MAX: usize = 50;

/// How often a page is asked for again.
const RETRIES_MAX: u32 = 2;

/// The wait before it is asked for again first; then it doubles.
const RETRY_WAIT_FIRST: Duration = Duration::from_millis(200);

/// Which listing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Part of the connect: nothing listed at all is an error (SPEC 4.4).
    First,
    /// Afterwards an empty list is a valid one.
    Later,
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
    pub(super) async fn relist(self: &Arc<Self>) -> Result<Catalog> {
        let listed = self.list(When::Later).await;
        if listed.is_err() {
            self.freshness.missed(self.options.keepalive, Instant::now());
            self.calls.timer.notify_one();
        }
        listed
    }

    /// Lists everything, within the connect's time. A dropped future cancels the requests under way.
    pub(super) async fn list(self: &Arc<Self>, when: When) -> Result<Catalog> {
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
        let ((tools, a), (prompts, b), (resources, c), (resource_templates, d)) =
            pages.map_err(|_| failure::slow(&self.server, "list", limit))??;
        let fresh_for = [a, b, c, d].into_iter().flatten().min();
        let skipped = [&tools, &prompts, &resources, &resource_templates];
        let skipped = skipped.into_iter().flat_map(|part| part.skipped.clone()).collect();
        let mut catalog = Catalog {
            tools: tools.tools,
            prompts: prompts.prompts,
            resources: resources.resources,
            resource_templates: resource_templates.resource_templates,
            skipped,
        };
        catalog.finish();
        let is_modern = self.metadata.load().is_some();
        if is_modern {
            self.wire.take_tools(&mut catalog);
        }
        let hint = fresh_for.filter(|_| is_modern);
        self.freshness.listed(&catalog, hint, self.options.keepalive, Instant::now());
        self.calls.timer.notify_one();
        if when == When::First && !declared.change() && is_empty(&catalog) {
            let message = "the server lists no tools, prompts or resources";
            return Err(failure::protocol(&self.server, message)
                .with_detail("reason", "nothing_listed")
                .with_hint("check the server's arguments: it may serve nothing without them"));
        }
        Ok(catalog)
    }

    /// One whole list, alone in a catalog; empty when it is not offered. And how long the first of its pages to go stale is fresh.
    async fn list_if(
        self: &Arc<Self>,
        offered: bool,
        list: ListKind,
        method: &'static str,
    ) -> Result<(Catalog, Option<Duration>)> {
        let (mut catalog, mut fresh_for) = (Catalog::default(), None);
        if !offered {
            return Ok((catalog, fresh_for));
        }
        let mut cursors = BTreeSet::new();
        let mut params = "{}".to_owned();
        let mut bytes = 0_usize;
        for _ in 0..PAGES_MAX {
            let page = match self.request_again(method, &params).await {
                Err(error) if failure::is_method_not_found(&error) => {
                    return Ok((catalog, fresh_for));
                }
                page => page?.json,
            };
            bytes = bytes.saturating_add(page.len());
            if bytes > self.options.frame_bytes {
                return Err(failure::limit(&self.server, "frame_bytes"));
            }
            let end = catalog.add_page(list, &page);
            let end = end.map_err(|error| error.with_server(self.server.as_ref()))?;
            fresh_for = fresh_for.into_iter().chain(end.fresh_for).min();
            let Some(cursor) = end.next else {
                return Ok((catalog, fresh_for));
            };
            params = serde_json::json!({ "cursor": cursor }).to_string();
            if !cursors.insert(cursor) {
                let message = format!("{method} gave the same cursor twice");
                return Err(failure::protocol(&self.server, message));
            }
        }
        let message = format!("{method} has more than {PAGES_MAX} pages");
        Err(failure::protocol(&self.server, message))
    }

    /// A page, asked for again where the way to the server failed under it (SPEC 4.3).
    async fn request_again(self: &Arc<Self>, method: &str, params: &str) -> Result<Reply> {
        let mut wait = RETRY_WAIT_FIRST;
        for _ in 0..RETRIES_MAX {
            match self.request(method, params).await {
                Err(error) if failure::is_of_network(&error) && self.outlives_requests() => {
                    tokio::time::sleep(wait).await;
                    wait *= 2;
                }
                answer => return answer,
            }
        }
        self.request(method, params).await
    }

    /// Whether a request may fail on its way and the connection go on: a broken pipe is the end.
    fn outlives_requests(&self) -> bool {
        self.wire.child().is_none() && matches!(self.stands(), Life::Connecting | Life::Open)
    }

    /// A request of the connection's own. A dropped future cancels it.
    async fn request(self: &Arc<Self>, method: &str, params: &str) -> Result<Reply> {
        // The listing as a whole has a deadline, and ends its requests with it.
        let (answer, reply) = oneshot::channel();
        let id = self.start_own(method, params, answer);
        let _guard = CancelOnDrop { link: self, id };
        reply.await.unwrap_or_else(|_| {
            Err(Error::new(ErrorCode::Internal, "a request was dropped without an answer"))
        })
    }
}

fn is_empty(catalog: &Catalog) -> bool {
    let Catalog { tools, prompts, resources, resource_templates, skipped } = catalog;
    tools.is_empty()
        && prompts.is_empty()
        && resources.is_empty()
        && resource_templates.is_empty()
        && skipped.is_empty()
}

/// Cancels a request that nobody waits for; one that was answered is not touched.
struct CancelOnDrop<'a> {
    link: &'a Arc<Link>,
    id: RequestId,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.link.cancel(self.id);
    }
}
