//! One hold of a session, as its lease, its calls and its view see it.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use trunkline_pool::catalog::{Catalog, Item, ListKind, SkippedItem};
use trunkline_pool::interface::words;
use trunkline_pool::state::EntryId;
use trunkline_pool::view::{HiddenReason, View};

use super::HoldKind;
use crate::driver::server_config::ConfigOwner;
use crate::driver::{EntryCell, EntrySnapshot};
use crate::session::view::no_tool::{
    tool_left_out, tool_malformed, tool_not_found, tool_quarantined, tools_unlisted,
};
use crate::{Error, ErrorCode, Result};

/// What a hold and its users share. What is seen may be replaced under it, as a whole.
pub(crate) struct LeaseState {
    /// The server's name.
    pub server: Arc<str>,
    pub(crate) origin: ConfigOwner,
    /// Whether it is held for as long only as calls of it run.
    pub(crate) for_calls: bool,
    standing: AtomicU8,
    /// Behind a lock, and no swap: to drop one of those costs more than the rest of a hold.
    seen: Mutex<Arc<EntryView>>,
}

/// An entry, and what a session makes of its catalog. Holds that see the same share it.
pub(crate) struct EntryView {
    pub(crate) cell: Arc<EntryCell>,
    pub(crate) view: Arc<View>,
    /// Why it did not come back, of a hold that has failed. Here, where hardly any hold has room
    /// for it.
    failure: Option<Error>,
}

impl EntryView {
    /// An entry that is there.
    pub(crate) fn new(cell: Arc<EntryCell>, view: Arc<View>) -> Arc<EntryView> {
        Arc::new(EntryView { cell, view, failure: None })
    }
}

/// Whether a hold can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseStatus {
    /// It can.
    Held,
    /// The host let go.
    Released,
    /// The pool's configuration of the server is another.
    Revoked,
    /// The session has disabled the server.
    Disabled,
    /// The server was enabled again, and is being acquired.
    Returning,
    /// The server was enabled again, and could not be acquired.
    Failed,
}

impl LeaseStatus {
    const ALL: [LeaseStatus; 6] = [
        LeaseStatus::Held,
        LeaseStatus::Released,
        LeaseStatus::Revoked,
        LeaseStatus::Disabled,
        LeaseStatus::Returning,
        LeaseStatus::Failed,
    ];
}

impl LeaseState {
    pub(crate) fn new(
        seen: Arc<EntryView>,
        (origin, kind): (ConfigOwner, HoldKind),
    ) -> Arc<LeaseState> {
        Arc::new(LeaseState {
            server: seen.cell.server.clone(),
            origin,
            for_calls: kind == HoldKind::Calls,
            standing: AtomicU8::new(LeaseStatus::Held as u8),
            seen: Mutex::new(seen),
        })
    }

    /// The entry that is held, or was last.
    pub(crate) fn cell(&self) -> Arc<EntryCell> {
        self.seen_now().cell.clone()
    }

    /// What the session makes of the entry's catalog now.
    pub(crate) fn view(&self) -> Arc<View> {
        self.seen_now().view.clone()
    }

    /// Both.
    pub(crate) fn seen(&self) -> Arc<EntryView> {
        self.seen_now().clone()
    }

    /// Whether it is that entry through that view.
    pub(crate) fn sees(&self, entry: EntryId, view: &Arc<View>) -> bool {
        let seen = self.seen_now();
        seen.cell.entry == entry && Arc::ptr_eq(&seen.view, view)
    }

    /// The view is this from now on; the connection is not touched (SPEC 6.3).
    pub(crate) fn set_view(&self, view: View) {
        if *self.view() != view {
            self.see(|EntryView { cell, failure, .. }| EntryView {
                cell: cell.clone(),
                view: Arc::new(view),
                failure: failure.clone(),
            });
        }
    }

    pub(crate) fn standing(&self) -> LeaseStatus {
        let number = self.standing.load(Ordering::Acquire);
        LeaseStatus::ALL
            .into_iter()
            .find(|one| *one as u8 == number)
            .unwrap_or(LeaseStatus::Released)
    }

    /// What was released or revoked stays so.
    pub(crate) fn stand(&self, standing: LeaseStatus) -> bool {
        let last = [LeaseStatus::Released as u8, LeaseStatus::Revoked as u8];
        let new = |now| (!last.contains(&now)).then_some(standing as u8);
        self.standing.fetch_update(Ordering::AcqRel, Ordering::Acquire, new).is_ok()
    }

    /// It is held again, by this entry.
    pub(crate) fn come_back(&self, cell: Arc<EntryCell>) {
        self.see(|seen| EntryView { cell, view: seen.view.clone(), failure: None });
        self.stand(LeaseStatus::Held);
    }

    /// It could not be had again.
    pub(crate) fn fail(&self, error: Error) {
        let failure = Some(error);
        self.see(|seen| EntryView { cell: seen.cell.clone(), view: seen.view.clone(), failure });
        self.stand(LeaseStatus::Failed);
    }

    /// Whether it is of use, and its server is connected.
    pub(crate) fn is_connected(&self) -> bool {
        self.check().is_ok() && self.cell().load().slot.state.is_connected()
    }

    /// Whether it can be used.
    ///
    /// # Errors
    /// `closed` with `detail.reason` `released` or `config`, `not_admitted` with the reason
    /// `disabled`, `unavailable` while the server is acquired again, or when that failed.
    pub(crate) fn check(&self) -> Result<()> {
        let closed = |message, reason: &str| {
            Err(Error::new(ErrorCode::Closed, message).with_detail("reason", reason))
        };
        match self.standing() {
            LeaseStatus::Held => Ok(()),
            LeaseStatus::Released => closed("the lease is closed", words::lease_end::RELEASED),
            LeaseStatus::Revoked => closed(
                "the server's configuration changed; acquire it again",
                words::lease_end::CONFIG,
            ),
            LeaseStatus::Disabled => Err(disabled()),
            LeaseStatus::Returning => {
                let message = "the server was enabled, and is not connected yet";
                Err(Error::new(ErrorCode::Unavailable, message))
            }
            LeaseStatus::Failed => {
                let error =
                    Error::new(ErrorCode::Unavailable, "the server could not be acquired again");
                let error = error.with_hint("acquire it again to try once more");
                Err(match self.seen_now().failure.clone() {
                    Some(cause) => error.with_cause(cause),
                    None => error,
                })
            }
        }
    }

    /// The tool of that name in what is published now, as far as the session sees it (SPEC 5.2).
    ///
    /// # Errors
    /// `tool_not_found` with the reason.
    pub(crate) fn tool<'a>(&self, published: &'a EntrySnapshot, name: &str) -> Result<&'a Item> {
        self.tool_seen(&self.seen().view, published, name)
    }

    /// The same through a view that was looked at before.
    ///
    /// # Errors
    /// As of [`tool`](Self::tool).
    pub(crate) fn tool_seen<'a>(
        &self,
        view: &View,
        published: &'a EntrySnapshot,
        name: &str,
    ) -> Result<&'a Item> {
        if self.standing() == LeaseStatus::Disabled {
            return Err(tool_not_found(name, DISABLED));
        }
        match view.tool(&published.slot.catalog, name) {
            Ok(_) if published.slot.catalog.tasks.contains(name) => {
                Err(tool_left_out(name, "it runs only as a task, which is not supported"))
            }
            Ok(item) => Ok(item),
            Err(HiddenReason::Unknown) if published.slot.held.tool(name).is_some() => {
                Err(match view.admits(name) {
                    true => tool_quarantined(name),
                    false => tool_not_found(name, HiddenReason::Filtered.as_str()),
                })
            }
            Err(HiddenReason::Unknown) => Err(not_listed(&published.slot.catalog, view, name)),
            Err(hidden) => Err(tool_not_found(name, hidden.as_str())),
        }
    }

    fn see(&self, other: impl FnOnce(&EntryView) -> EntryView) {
        let before = {
            let mut seen = self.seen_now();
            let other = Arc::new(other(&seen));
            std::mem::replace(&mut *seen, other)
        };
        // A server of the host's own may end with it, whose code may call back here.
        drop(before);
    }

    fn seen_now(&self) -> MutexGuard<'_, Arc<EntryView>> {
        self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Why the server's list lacks a tool.
fn not_listed(catalog: &Catalog, view: &View, name: &str) -> Error {
    let is_it = |it: &&SkippedItem| it.list == ListKind::Tools && it.name.as_deref() == Some(name);
    if let Some(skipped) = catalog.skipped.iter().find(is_it) {
        return tool_malformed(name, &skipped.reason);
    }
    if let Some(error) = catalog.why_unlisted(ListKind::Tools) {
        return tools_unlisted(name, error);
    }
    let tools = catalog.tools.iter().map(|item| &*item.name);
    let seen = tools.filter(|tool| view.admits(tool));
    tool_not_found(name, HiddenReason::Unknown.as_str()).with_nearest(name, seen)
}

/// The reason that SPEC 11.6 has for it.
pub(crate) const DISABLED: &str = words::gate::DISABLED;

/// The error of whatever a session wants of a server that it has disabled.
pub(crate) fn disabled() -> Error {
    Error::new(ErrorCode::NotAdmitted, "the session has disabled the server")
        .with_detail("reason", DISABLED)
        .with_hint("enable the server in this session")
}
