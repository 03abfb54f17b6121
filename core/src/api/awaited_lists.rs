//! Calls of tools that a session does not see yet, while the lists of their server are being read
//! or have to be (SPEC 7.9).
//!
//! What a server announced before a result is in force when the result is there: whoever has the
//! result may call what was announced, and the call waits for the lists. A tool that is seen, or
//! that something keeps away, is no matter of these.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use trunkline_pool::in_flight::later;
use trunkline_pool::naming::NameStyle;
use trunkline_pool::options::CallOptions;
use trunkline_pool::state::Generation;
use trunkline_pool::view::HiddenReason;

use super::calls::CallHandle;
use super::lease_state::LeaseState;
use super::operation::Operation;
use super::retry::ResultCallback;
use super::session_core::SessionCore;
use super::view::SessionView;
use super::waiting::{Tool, WaitingCall};
use crate::driver::EntryCell;
use crate::{Error, ErrorCode, Outcome};

/// The longest that lists are waited for which are read or owed.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The member of `detail` that says that lists were still to come.
const PENDING: &str = "listing_pending";

/// The lists that a call waits for which was refused.
pub(super) struct AwaitedLists {
    /// What it was called by, with the server's own name; none of a call by an exposed name.
    held: Option<Arc<LeaseState>>,
    lists: Vec<(Arc<EntryCell>, Generation)>,
    refused: Error,
}

impl AwaitedLists {
    /// Those that a call by a hold waits for, if any.
    pub(super) fn by_hold(
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
    pub(super) fn by_name(
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
    fn server(&self) -> Arc<str> {
        let first = || self.lists.first().map(|(cell, _)| cell.server.clone());
        self.refused.server().map(Arc::from).or_else(first).unwrap_or_else(|| "".into())
    }
}

/// Whether a tool is refused since nobody lists it, and for no other reason.
pub(super) fn is_unknown(error: &Error) -> bool {
    let reason = error.detail().get("reason");
    matches!(error.code(), ErrorCode::ToolNotFound | ErrorCode::Unavailable)
        && reason.is_some_and(|reason| reason == HiddenReason::Unknown.as_str())
}

/// Has a call that was refused wait for lists. `tool` is the name that it was called by.
pub(super) fn start(
    session: &Arc<SessionCore>,
    (owed, tool): (AwaitedLists, &str),
    arguments: &str,
    options: &CallOptions,
    done: ResultCallback,
) -> Operation {
    let number = match session.begin_call() {
        Ok(number) => number,
        Err(error) => {
            done(Err(error.with_session(&*session.recipient.id).with_outcome(Outcome::NotSent)));
            return Operation::ended();
        }
    };
    let tool = Tool { exposed: tool.into(), server: owed.server(), own: tool.into() };
    WaitingCall::new(session, number, (tool, Some(owed)), (arguments, options), done).start()
}

impl SessionCore {
    pub(super) async fn until_listed(&self, server: Option<&str>) {
        let is_meant = |name: &str| server.is_none_or(|server| server == name);
        for cell in self.holds.cells().into_iter().filter(|cell| is_meant(&cell.server)) {
            let generation = cell.load().slot.generation;
            self.driver.wait_until_listed(&cell, generation).await;
        }
    }
}

impl WaitingCall {
    /// Waits for the lists, and calls once more; as long as it may.
    pub(super) async fn when_listed(self: &Arc<Self>, owed: &AwaitedLists) {
        let patience = self.timeout().min(PATIENCE);
        let deadline = Instant::from_std(later(self.began(), patience));
        let driver = &self.session().driver;
        let listed = async {
            for (cell, generation) in &owed.lists {
                driver.wait_until_listed(cell, *generation).await;
            }
        };
        if timeout_at(deadline, listed).await.is_err() {
            return self.fail(owed.refused.clone().with_detail(PENDING, true));
        }
        match &owed.held {
            Some(held) => self.go(held),
            None => self.call_by_name(),
        }
    }

    /// Calls whatever has the name now, as a call that begins now would.
    fn call_by_name(&self) {
        let session = self.session();
        let view = match session.view() {
            Ok(view) => view,
            Err(error) => return self.fail(error),
        };
        let exposed = &*self.tool().exposed;
        let (server, own) = match view.resolve(session, exposed) {
            Ok((seeing, own)) => (seeing.server().clone(), own.into()),
            Err(error) => return self.fail(error),
        };
        let tool = Tool { exposed: exposed.into(), server, own };
        let next = |done| self.followed_by(tool, done);
        if let Some(call) = self.hand_on(next) {
            call.begin();
        }
    }

    /// It is on its way as another one from now on, unless it ended. What cancels it cancels that.
    fn hand_on(
        &self,
        next: impl FnOnce(ResultCallback) -> Arc<WaitingCall>,
    ) -> Option<Arc<WaitingCall>> {
        let mut state = self.state();
        state.waiting = None;
        let call = next(state.done.take()?);
        state.on_its_way = Some(CallHandle::Lasting(call.clone()));
        Some(call)
    }
}
