//! What one input is taken with.

use crate::bridge::action::Action;
use crate::bridge::ids::StreamId;
use crate::bridge::input::Now;
use crate::bridge::offers::Offers;

/// What one input is taken with.
pub(in crate::bridge::client) struct InputStep<'t> {
    pub offers: &'t dyn Offers,
    pub now: Now,
    pub actions: &'t mut Vec<Action>,
}

impl InputStep<'_> {
    pub fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// A frame behind which its stream goes on.
    pub fn send(&mut self, stream: StreamId, frame: String, droppable: bool) {
        self.push(Action::Send { stream, frame, last: false, status: 200, droppable });
    }
}
