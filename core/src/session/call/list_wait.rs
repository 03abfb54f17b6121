//! Waiting for lists that are read or owed, and then calling once more (SPEC 7.9).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use trunkline_pool::in_flight::later;
use trunkline_pool::options::CallOptions;

use super::awaited_lists::AwaitedLists;
use super::calls::CallHandle;
use super::operation::Operation;
use super::retry::ResultCallback;
use super::waiting::{Tool, WaitingCall};
use crate::Outcome;
use crate::session::session_core::SessionCore;

/// The longest that lists are waited for which are read or owed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The member of `detail` that says that lists were still to come.
const PENDING: &str = "listing_pending";

/// Has a call that was refused wait for lists. `tool` is the name that it was called by.
pub(crate) fn start(
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
    pub(crate) async fn until_listed(&self, server: Option<&str>) {
        let is_meant = |name: &str| server.is_none_or(|server| server == name);
        for cell in self.holds.cells().into_iter().filter(|cell| is_meant(&cell.server)) {
            let generation = cell.load().slot.generation;
            self.driver.wait_until_listed(&cell, generation).await;
        }
    }
}

impl WaitingCall {
    /// Waits for the lists, and calls once more; as long as it may.
    pub(crate) async fn when_listed(self: &Arc<Self>, owed: &AwaitedLists) {
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
        let (server, own) = match view.resolve(exposed, || session.no_such_tool(&view, exposed)) {
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
