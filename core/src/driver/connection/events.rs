//! What a connection tells, carried to the reducer and to the subscribers.

use std::sync::{Arc, Mutex, Weak};

use trunkline_pool::catalog::ListKind;
use trunkline_pool::interface::EventKind;
use trunkline_pool::interface::words::warning_code;
use trunkline_pool::options::{HandlerFuture, Refusal};
use trunkline_pool::state::{ConnectionId, LossReason, PoolInput};

use super::EndReport;
use crate::Error;
use crate::client::{Callers, ConnectionEvents, ServerQuestion};
use crate::driver::Driver;
use crate::driver::entry::{Control, EntryCell};
use crate::events::EventSubject;

/// The answer of a pool that is gone.
const NO_ROOTS: &str = r#"{"roots":[]}"#;

/// What a connection tells, carried to the reducer and to the subscribers.
///
/// What it tells before the reducer knows that it is connected waits here, so that nothing of it
/// overtakes `Connected`.
pub(in crate::driver) struct EventRelay {
    pub(in crate::driver) driver: Weak<Driver>,
    pub(in crate::driver) cell: Arc<EntryCell>,
    pub(in crate::driver) id: ConnectionId,
    pub(in crate::driver) gate: Mutex<Gate>,
}

pub(in crate::driver) enum Gate {
    /// Not announced; what came meanwhile.
    Waiting(EarlyInputs),
    Announced,
}

/// What waits until a connection is announced.
#[derive(Default)]
pub(in crate::driver) struct EarlyInputs {
    /// At most one loss and one stale mark.
    inputs: Vec<PoolInput>,
    /// Resources may have been updated: every session that wants one is told, whichever it was.
    resources: bool,
}

impl EventRelay {
    pub(in crate::driver) fn new(ended: &EndReport) -> Self {
        EventRelay {
            driver: Arc::downgrade(&ended.driver),
            cell: ended.cell.clone(),
            id: ended.id,
            gate: Mutex::new(Gate::Waiting(EarlyInputs::default())),
        }
    }

    /// The reducer knows of the connection: what waited goes to it.
    pub(in crate::driver) fn announce(&self) {
        loop {
            let EarlyInputs { inputs, resources } = match &mut *self.gate() {
                Gate::Waiting(held) if held.resources || !held.inputs.is_empty() => {
                    std::mem::take(held)
                }
                gate => {
                    *gate = Gate::Announced;
                    return;
                }
            };
            // A loss comes last.
            if resources && let Some(driver) = self.driver.upgrade() {
                driver.resources_missed(&self.cell, self.id);
            }
            for input in inputs {
                self.pass(input);
            }
        }
    }

    fn tell(&self, input: PoolInput) {
        if let Gate::Waiting(EarlyInputs { inputs, .. }) = &mut *self.gate() {
            if !inputs.contains(&input) {
                inputs.push(input);
            }
            return;
        }
        self.pass(input);
    }

    /// The driver, to be told of resources at once; otherwise that waits.
    fn driver_for_resources(&self) -> Option<Arc<Driver>> {
        match &mut *self.gate() {
            Gate::Waiting(held) => {
                held.resources = true;
                None
            }
            Gate::Announced => self.driver.upgrade(),
        }
    }

    fn pass(&self, input: PoolInput) {
        let Some(driver) = self.driver.upgrade() else { return };
        let lost = match &input {
            PoolInput::Disconnected { reason, .. } => Some(*reason),
            _ => None,
        };
        driver.step(input);
        if let Some(reason) = lost {
            self.cell.control(self.id.generation, Control::Lost(reason));
        }
    }

    fn gate(&self) -> std::sync::MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl ConnectionEvents for EventRelay {
    fn started(&self, pid: u32) {
        self.cell.started(self.id.generation, pid);
    }

    fn lost(&self, reason: LossReason, error: Error) {
        self.tell(PoolInput::Disconnected { connection: self.id, reason, error });
    }

    fn exited_late(&self, how: &str) {
        if let Some(driver) = self.driver.upgrade() {
            driver.warn_of((&self.cell, self.id.generation), warning_code::EXIT, how);
        }
    }

    fn list_changed(&self, _list: ListKind) {
        self.tell(PoolInput::CatalogStale { connection: self.id });
    }

    fn resource_updated(&self, uri: &str) {
        if let Some(driver) = self.driver_for_resources() {
            driver.resource_updated(&self.cell, self.id.generation, uri);
        }
    }

    fn elicitation_completed(&self, id: &str, shown: &str) {
        if let Some(driver) = self.driver.upgrade() {
            driver.elicitation_completed(&self.cell, self.id, (id, shown));
        }
    }

    fn resources_missed(&self) {
        if let Some(driver) = self.driver_for_resources() {
            driver.resources_missed(&self.cell, self.id);
        }
    }

    fn log(&self, params: &str, callers: Callers) {
        if let Some(driver) = self.driver.upgrade() {
            driver.logged(&self.cell, self.id, params, callers);
        }
    }

    fn roots(&self) -> String {
        self.driver.upgrade().map_or_else(|| NO_ROOTS.into(), |driver| driver.roots_for(&self.cell))
    }

    fn ask(&self, question: ServerQuestion<'_>) -> std::result::Result<HandlerFuture, Refusal> {
        let driver = self.driver.upgrade();
        let driver = driver.ok_or_else(|| super::asks::declined("the pool is gone"))?;
        driver.ask_session(&self.cell, self.id, question)
    }

    fn stderr(&self, line: &str) {
        let Some(driver) = self.driver.upgrade() else { return };
        let fields = [("line", line.into())];
        let about = EventSubject::entry(&self.cell.named, self.id.generation);
        driver.hub.publish(EventKind::Stderr, None, &about, &fields);
    }
}
