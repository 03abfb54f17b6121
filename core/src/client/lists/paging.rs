//! One list, page by page (SPEC 4.3).
//!
//! The empty cursor is one like any other. Some servers end their lists with it, though, and take
//! it for none: one that leads nowhere, being refused or followed by a page that was read before,
//! was the end.
//!
//! A refused cursor makes the pages before it worthless, and the list begins again, once. Part of a
//! list would be told as the whole, and the rest as removed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use trunkline_pool::catalog::{CacheScope, Catalog, ListKind};
use trunkline_pool::interface::words;

use crate::client::connection::{Life, Link};
use crate::client::errors;
use crate::client::types::{Reply, RequestId};
use crate::{Error, ErrorCode, Result};

/// Pages of one list.
const PAGES_MAX: usize = 50;

/// How often a page is asked for again.
const RETRIES_MAX: u32 = 2;

/// The wait before it is asked for again first; then it doubles.
const RETRY_WAIT_FIRST: Duration = Duration::from_millis(200);

/// The longest `Retry-After` that a page waits for: with it for each retry, a listing is still
/// within the 5 s that a remote server has.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(2);

/// A list as far as it was read.
#[derive(Default)]
pub(in crate::client) struct Pages {
    /// It alone.
    pub catalog: Catalog,
    /// How long the first of its pages to go stale is fresh.
    pub fresh_for: Option<Duration>,
    /// Whom the narrowest of its pages is for.
    pub scope: CacheScope,
    /// A page of it was read, in this pass or in the one before: the server knows the method.
    is_known: bool,
    /// The cursors that were followed.
    cursors: BTreeSet<String>,
    bytes: usize,
}

/// How the reading of a list ended.
enum PagingEnd {
    Whole,
    /// The server no longer takes a cursor that it gave.
    Refused(Error),
}

impl Link {
    /// One whole list; empty when it is not offered. A refused cursor makes all that was read
    /// worthless: it is begun again, once.
    pub(in crate::client) async fn list_if(
        self: &Arc<Self>,
        offered: bool,
        list: ListKind,
        method: &'static str,
    ) -> Result<Pages> {
        let mut pages = Pages::default();
        if !offered {
            return Ok(pages);
        }
        if let PagingEnd::Whole = self.read_pages(&mut pages, list, method).await? {
            return Ok(pages);
        }
        pages = Pages { is_known: true, ..Pages::default() };
        match self.read_pages(&mut pages, list, method).await? {
            PagingEnd::Refused(error) if !pages.cursors.contains("") => Err(error),
            PagingEnd::Whole | PagingEnd::Refused(_) => Ok(pages),
        }
    }

    async fn read_pages(
        self: &Arc<Self>,
        pages: &mut Pages,
        list: ListKind,
        method: &'static str,
    ) -> Result<PagingEnd> {
        let mut params = "{}".to_owned();
        for _ in 0..PAGES_MAX {
            let is_first = pages.cursors.is_empty();
            let page = match self.request_again(method, &params).await {
                Err(error) if !pages.is_known && errors::is_method_not_found(&error) => {
                    return Ok(PagingEnd::Whole);
                }
                Err(error) if !is_first && is_refusal(&error) => {
                    return Ok(PagingEnd::Refused(error));
                }
                page => page?.json,
            };
            pages.is_known = true;
            pages.bytes = pages.bytes.saturating_add(page.len());
            if pages.bytes > self.options.frame_bytes {
                return Err(errors::limit(&self.server, words::limit::FRAME_BYTES));
            }
            let end = pages.catalog.add_page(list, &page);
            let end = end.map_err(|error| error.with_server(self.server.as_ref()))?;
            pages.fresh_for = pages.fresh_for.into_iter().chain(end.fresh_for).min();
            pages.scope = pages.scope.max(end.scope);
            let Some(cursor) = end.next else { return Ok(PagingEnd::Whole) };
            params = serde_json::json!({ "cursor": cursor }).to_string();
            if !pages.cursors.insert(cursor) {
                if pages.cursors.contains("") {
                    return Ok(PagingEnd::Whole);
                }
                let message = format!("{method} gave the same cursor twice");
                return Err(errors::protocol(&self.server, message));
            }
        }
        let message = format!("{method} has more than {PAGES_MAX} pages");
        Err(errors::protocol(&self.server, message))
    }

    /// A page, asked for again where the way to the server failed under it (SPEC 4.3), unless it is
    /// to be left alone for longer.
    async fn request_again(self: &Arc<Self>, method: &str, params: &str) -> Result<Reply> {
        let mut wait = RETRY_WAIT_FIRST;
        for _ in 0..RETRIES_MAX {
            match self.request(method, params).await {
                Err(error) if errors::is_of_network(&error) && self.outlives_requests() => {
                    let Some(pause) = pause(&error, wait) else { return Err(error) };
                    tokio::time::sleep(pause).await;
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
        let _guard = PageRequestGuard { link: self, id };
        reply.await.unwrap_or_else(|_| {
            Err(Error::new(ErrorCode::Internal, "a request was dropped without an answer"))
        })
    }
}

/// How long a page that failed so is left alone before it is asked for again, which is `wait` at
/// least; `None`: it is not asked for again in this listing.
fn pause(error: &Error, wait: Duration) -> Option<Duration> {
    let Some(asked) = error.retry_after().filter(|asked| *asked > wait) else { return Some(wait) };
    // The message itself was sent again after what a busy server asks for, and that did not help.
    let status = error.detail().get("status").and_then(serde_json::Value::as_u64);
    let is_busy = matches!(status, Some(429 | 503));
    (!is_busy && asked <= RETRY_AFTER_MAX).then_some(asked)
}

/// Whether a server does not take a cursor: some do not know the method with one.
fn is_refusal(error: &Error) -> bool {
    errors::is_invalid_params(error) || errors::is_method_not_found(error)
}

/// Cancels a request that nobody waits for; one that was answered is not touched.
struct PageRequestGuard<'a> {
    link: &'a Arc<Link>,
    id: RequestId,
}

impl Drop for PageRequestGuard<'_> {
    fn drop(&mut self) {
        self.link.cancel(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 4.3, 8.4.
    #[test]
    fn a_page_waits_for_what_is_asked_where_that_is_short_and_nothing_did_before() {
        let wait = Duration::from_millis(200);
        for (status, asked, expected) in [
            (None, None, Some(200)),
            (Some(502), None, Some(200)),
            (Some(502), Some(100), Some(200)),
            (Some(502), Some(1_000), Some(1_000)),
            (Some(504), Some(2_000), Some(2_000)),
            (Some(504), Some(3_000), None),
            (Some(502), Some(u64::MAX), None),
            (Some(503), None, Some(200)),
            (Some(503), Some(0), Some(200)),
            (Some(503), Some(1_000), None),
            (Some(429), Some(1_000), None),
        ] {
            let error = Error::new(ErrorCode::CallInterrupted, "?");
            let error = status.into_iter().fold(error, |it, of: u16| it.with_detail("status", of));
            let asks = |error: Error, ms: u64| error.with_detail("retry_after_ms", ms);
            let error = asked.into_iter().fold(error, asks);
            let pause = pause(&error, wait).map(|pause| pause.as_millis());
            assert_eq!(pause, expected, "{status:?} {asked:?}");
        }
    }
}
