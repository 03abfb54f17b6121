//! Listing everything that a server offers: four lists at once (SPEC 4.3).

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trunkline_pool::catalog::{CacheScope, Catalog, ListKind, Unlisted};
use trunkline_pool::interface::words;
use trunkline_pool::options::NothingListed;

use super::paging::Pages;
use crate::client::connection::{Life, Link};
use crate::client::errors;
use crate::transport::DisconnectCause;
use crate::{Error, ErrorCode, Result};

/// Which listing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum When {
    /// Part of the connect: nothing listed at all may be an error (SPEC 4.4).
    First,
    /// Afterwards an empty list is a valid one.
    Later,
}

/// What a server listed, whole, and what it says of how that may be kept.
#[derive(Debug)]
pub(crate) struct ServerListing {
    /// The lists.
    pub catalog: Catalog,
    /// How long the first of them to go stale is fresh, as a server of the modern era says.
    pub fresh_for: Option<Duration>,
    /// Whom the narrowest of them is for.
    pub scope: CacheScope,
}

impl Link {
    /// Lists everything once more; what fails is made up for by another listing later. A dropped
    /// future cancels the requests under way.
    pub(in crate::client) async fn relist(self: &Arc<Self>) -> Result<ServerListing> {
        let listed = self.list(When::Later).await;
        if let Err(error) = &listed {
            if error.code() == ErrorCode::AuthRequired {
                // Nothing of it can be used before somebody signs in (SPEC 8.4).
                self.lose(DisconnectCause::Broken(error.clone())).await;
            }
            self.read_again_after(error, When::Later);
        }
        listed
    }

    /// Lists everything, within the connect's time. A dropped future cancels the requests under
    /// way.
    ///
    /// A list that is refused, fails or comes too late loses itself alone (SPEC 4.4).
    ///
    /// # Errors
    /// A lost connection, and credentials that are missing. That no list could be had is an error
    /// of a later listing; of the first one it is so where the host refuses a server that lists
    /// nothing.
    pub(in crate::client) async fn list(self: &Arc<Self>, when: When) -> Result<ServerListing> {
        let declared = self.declared.get().copied();
        let declared = declared.ok_or_else(|| errors::protocol(&self.server, "no handshake"))?;
        let until = match when {
            When::First => self.given_up_at,
            When::Later => tokio::time::Instant::now() + self.options.timeout,
        };
        let in_time = |pages| self.in_time(until, pages);
        let (tools, prompts, resources, templates) = tokio::join!(
            in_time(self.list_if(declared.tools, ListKind::Tools, "tools/list")),
            in_time(self.list_if(declared.prompts, ListKind::Prompts, "prompts/list")),
            in_time(self.list_if(declared.resources, ListKind::Resources, "resources/list")),
            in_time(self.list_if(
                declared.resources,
                ListKind::ResourceTemplates,
                "resources/templates/list"
            )),
        );
        let lists = [tools, prompts, resources, templates];
        if matches!(self.stands(), Life::Lost | Life::Closing) {
            let message = "the connection ended while its lists were read";
            return Err(errors::protocol(&self.server, message));
        }
        if let Some(error) = lists.iter().find_map(|list| self.loss_of_pipes(list.as_ref().err()?))
        {
            return Err(error);
        }
        let asked = [declared.tools, declared.prompts, declared.resources, declared.resources];
        let is_refused = when == When::First && self.options.nothing_listed == NothingListed::Error;
        let (mut listed, had) = all_of(asked, lists)?;
        if let Some(unlisted) = listed.catalog.unlisted.first()
            && had == 0
            && (when == When::Later || is_refused)
        {
            return Err(unlisted.error.clone());
        }
        let catalog = &mut listed.catalog;
        catalog.finish();
        self.mark_tasks(catalog);
        if !self.metadata.is_modern() {
            listed.fresh_for = None;
        } else if catalog.why_unlisted(ListKind::Tools).is_none() {
            self.wire.take_tools(catalog);
        }
        match listed.catalog.unlisted.first() {
            Some(unlisted) => self.read_again_after(&unlisted.error, when),
            None => {
                let (least, now) = (self.options.keepalive, Instant::now());
                self.freshness.listed(&listed.catalog, listed.fresh_for, least, now);
                self.calls.timer.notify_one();
            }
        }
        if is_refused && !declared.change() && listed.catalog.is_empty() {
            let message = "the server lists no tools, prompts or resources";
            return Err(errors::protocol(&self.server, message)
                .with_detail("reason", words::odd::NOTHING_LISTED)
                .with_hint("check the server's arguments: it may serve nothing without them"));
        }
        Ok(listed)
    }

    /// Has the lists read again later: a list was not had, as this error says.
    fn read_again_after(&self, error: &Error, when: When) {
        let now = Instant::now();
        if when == When::First || self.freshness.is_lacking() {
            self.freshness.lacks_one(error, &self.options.quiet_waits, now);
        } else {
            self.freshness.missed(error, self.options.keepalive, now);
        }
        self.calls.timer.notify_one();
    }

    /// The error, where it says that the pipes are broken: the loss is told a moment later.
    fn loss_of_pipes(&self, error: &Error) -> Option<Error> {
        let is_interrupted = error.code() == ErrorCode::CallInterrupted;
        (is_interrupted && self.wire.child().is_some()).then(|| error.clone())
    }

    /// A list, within the time that is left for it.
    async fn in_time(
        &self,
        until: tokio::time::Instant,
        pages: impl Future<Output = Result<Pages>>,
    ) -> Result<Pages> {
        let slow = |_| errors::slow(&self.server, words::deadline::LIST, self.options.timeout);
        tokio::time::timeout_at(until, pages).await.unwrap_or_else(|late| Err(slow(late)))
    }
}

impl ServerListing {
    fn add(&mut self, list: ListKind, pages: Pages) {
        self.scope = self.scope.max(pages.scope);
        self.fresh_for = self.fresh_for.into_iter().chain(pages.fresh_for).min();
        self.catalog.take_over(list, pages.catalog);
    }
}

/// The four lists as one, and how many of those that were asked for could be had.
///
/// # Errors
/// What ends more than a list.
fn all_of(asked: [bool; 4], lists: [Result<Pages>; 4]) -> Result<(ServerListing, usize)> {
    let mut listed = ServerListing {
        catalog: Catalog { tasks: BTreeSet::new(), ..Catalog::default() },
        fresh_for: None,
        scope: CacheScope::default(),
    };
    let mut had = 0;
    for ((list, asked), pages) in ListKind::ALL.into_iter().zip(asked).zip(lists) {
        match pages {
            Ok(pages) => {
                had += usize::from(asked);
                listed.add(list, pages);
            }
            Err(error) if ends_more(list, &error) => return Err(error),
            Err(error) => {
                let error = errors::kept(error);
                listed.catalog.unlisted.push(Unlisted { list, error });
            }
        }
    }
    Ok((listed, had))
}

/// Whether the failure of a list says something of the whole server (SPEC 8.4): credentials that
/// are missing for it, but for a list other than that of tools that is only forbidden.
fn ends_more(list: ListKind, error: &Error) -> bool {
    let is_forbidden = error.detail().get("status").is_some_and(|status| *status == 403);
    error.code() == ErrorCode::AuthRequired && !(is_forbidden && list != ListKind::Tools)
}
