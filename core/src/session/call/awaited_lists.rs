//! Calls of tools that a session does not see yet, while the lists of their server are being read
//! or have to be (SPEC 7.9).
//!
//! What a server announced before a result is in force when the result is there: the caller with
//! the result may call what was announced, and the call waits for the lists. A tool that is seen,
//! or that something keeps away, is no matter of these.

use std::sync::Arc;

use trunkline_pool::naming::NameStyle;
use trunkline_pool::state::Generation;
use trunkline_pool::view::HiddenReason;

use crate::driver::EntryCell;
use crate::session::lease::lease_state::LeaseState;
use crate::session::session_core::SessionCore;
use crate::session::view::SessionView;
use crate::{Error, ErrorCode};

/// The lists that a call waits for which was refused.
pub(crate) struct AwaitedLists {
    /// The lease that it was called by, with the server's own name; `None` for a call by an exposed
    /// name.
    pub(crate) held: Option<Arc<LeaseState>>,
    pub(crate) lists: Vec<(Arc<EntryCell>, Generation)>,
    pub(crate) refused: Error,
}

impl AwaitedLists {
    /// Those that a call by a hold waits for, if any.
    pub(crate) fn by_hold(
        session: &SessionCore,
        held: &Arc<LeaseState>,
        refused: &Error,
    ) -> Option<AwaitedLists> {
        if !is_unknown(refused) {
            return None;
        }
        AwaitedLists::among(session, [held.cell()], Some(held.clone()), refused)
    }

    /// Those that a call by an exposed name waits for: those of the server that the name would
    /// belong to. Of a bare name nobody can say that.
    pub(crate) fn by_name(
        session: &SessionCore,
        view: &SessionView,
        refused: &Error,
    ) -> Option<AwaitedLists> {
        if !is_unknown(refused) {
            return None;
        }
        let is_bare = session.driver.options.name_style == NameStyle::Bare;
        let may_have_it = |held: &&Arc<LeaseState>| match refused.server() {
            Some(server) => *held.server == *server,
            None => is_bare,
        };
        let cells = view.holds().filter(may_have_it).map(|held| held.cell());
        AwaitedLists::among(session, cells, None, refused)
    }

    fn among(
        session: &SessionCore,
        cells: impl IntoIterator<Item = Arc<EntryCell>>,
        held: Option<Arc<LeaseState>>,
        refused: &Error,
    ) -> Option<AwaitedLists> {
        let connected = |cell: Arc<EntryCell>| {
            let generation = cell.load().slot.generation;
            (cell, generation)
        };
        let is_owed = |(cell, generation): &(Arc<EntryCell>, Generation)| {
            session.driver.owes_lists(cell, *generation)
        };
        let lists: Vec<_> = cells.into_iter().map(connected).filter(is_owed).collect();
        (!lists.is_empty()).then(|| AwaitedLists { held, lists, refused: refused.clone() })
    }

    /// The server of the call, as far as anybody knows.
    pub(crate) fn server(&self) -> Arc<str> {
        let first = || self.lists.first().map(|(cell, _)| cell.server.clone());
        self.refused.server().map(Arc::from).or_else(first).unwrap_or_else(|| "".into())
    }
}

/// Whether a tool is refused since nobody lists it, and for no other reason.
pub(crate) fn is_unknown(error: &Error) -> bool {
    let reason = error.detail().get("reason");
    matches!(error.code(), ErrorCode::ToolNotFound | ErrorCode::Unavailable)
        && reason.is_some_and(|reason| reason == HiddenReason::Unknown.as_str())
}
