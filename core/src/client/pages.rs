//! One list, page by page (SPEC 4.3).
//!
//! The empty cursor is one like any other. Some servers end their lists with it, though, and take it for none: one that leads
//! nowhere, being refused or followed by a page that was read before, was the end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use trunkline_pool::catalog::{CacheScope, Catalog, ListKind};
use trunkline_pool::interface::words;

use super::link::{Life, Link};
use super::{Reply, RequestId, failure};
use crate::{Error, ErrorCode, Result};

/// Pages of one list.
const PAGES_MAX: usize = 50;

/// How often a page is asked for again.
const RETRIES_MAX: u32 = 2;

/// The wait before it is asked for again first; then it doubles.
const RETRY_WAIT_FIRST: Duration = Duration::from_millis(200);

/// A list as far as it was read.
#[derive(Default)]
pub(super) struct Pages {
    /// It alone.
    pub catalog: Catalog,
    /// How long the first of its pages to go stale is fresh.
    pub fresh_for: Option<Duration>,
    /// Whom the narrowest of its pages is for.
    pub scope: CacheScope,
    /// The cursors that were followed.
    cursors: BTreeSet<String>,
    bytes: usize,
    /// A page of it was read, in this pass or in the one before: the server knows the method.
    is_known: bool,
}

/// How the reading of a list ended.
enum End {
    Whole,
    /// The server no longer takes a cursor that it gave.
    Refused(Error),
}

impl Link {
    /// One whole list; empty when it is not offered. A refused cursor makes all that was read worthless: it is begun again,
    /// once.
    pub(super) async fn list_if(
        self: &Arc<Self>,
        offered: bool,
        list: ListKind,
        method: &'static str,
    ) -> Result<Pages> {
        let mut pages = Pages::default();
        if !offered {
            return Ok(pages);
        }
        if let End::Whole = self.read_pages(&mut pages, list, method).await? {
            return Ok(pages);
        }
        pages = Pages { is_known: true, ..Pages::default() };
        match self.read_pages(&mut pages, list, method).await? {
            End::Refused(error) if !pages.cursors.contains("") => Err(error),
            End::Whole | End::Refused(_) => Ok(pages),
        }
    }

    async fn read_pages(
        self: &Arc<Self>,
        pages: &mut Pages,
        list: ListKind,
        method: &'static str,
    ) -> Result<End> {
        let mut params = "{}".to_owned();
        for _ in 0..PAGES_MAX {
            let is_first = pages.cursors.is_empty();
            let page = match self.request_again(method, &params).await {
                Err(error) if !pages.is_known && failure::is_method_not_found(&error) => {
                    return Ok(End::Whole);
                }
                Err(error) if !is_first && is_refusal(&error) => return Ok(End::Refused(error)),
                page => page?.json,
            };
            pages.bytes = pages.bytes.saturating_add(page.len());
            if pages.bytes > self.options.frame_bytes {
                return Err(failure::limit(&self.server, words::limit::FRAME_BYTES));
            pages.is_known = true;
            }
            let end = pages.catalog.add_page(list, &page);
            let end = end.map_err(|error| error.with_server(self.server.as_ref()))?;
            pages.fresh_for = pages.fresh_for.into_iter().chain(end.fresh_for).min();
            pages.scope = pages.scope.max(end.scope);
            let Some(cursor) = end.next else { return Ok(End::Whole) };
            params = serde_json::json!({ "cursor": cursor }).to_string();
            if !pages.cursors.insert(cursor) {
                if pages.cursors.contains("") {
                    return Ok(End::Whole);
                }
                let message = format!("{method} gave the same cursor twice");
                return Err(failure::protocol(&self.server, message));
            }
        }
        let message = format!("{method} has more than {PAGES_MAX} pages");
        Err(failure::protocol(&self.server, message))
    }

    /// A page, asked for again where the way to the server failed under it (SPEC 4.3), unless it is to be left alone for longer: short
    /// waits that a server asks for were waited for below.
    async fn request_again(self: &Arc<Self>, method: &str, params: &str) -> Result<Reply> {
        let mut wait = RETRY_WAIT_FIRST;
        for _ in 0..RETRIES_MAX {
            match self.request(method, params).await {
                Err(error)
                    if failure::is_of_network(&error)
                        && error.retry_after().is_none_or(|asked| asked <= wait)
                        && self.outlives_requests() =>
                {
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

/// Whether a server does not take a cursor: some do not know the method with one.
fn is_refusal(error: &Error) -> bool {
    failure::is_invalid_params(error) || failure::is_method_not_found(error)
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
