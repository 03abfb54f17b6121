//! The bridge: what a served client says, as requests to servers, and back (SPEC 19.4, 19.5).
//!
//! One [`ServedClient`] is a state machine as the reducer of the pool is: no IO, no clock, nothing
//! awaited. One [`Input`] is taken to its end and appends [`Action`]s, which are carried out in
//! order.

mod action;
mod capabilities;
mod facts;
mod ids;
mod input;
mod offers;
mod wire;

pub use action::{Action, CallNeeds, Unbridged};
pub use facts::{
    ClientFacts, ClientLimits, EndpointName, LaneKind, Parking, SealingKey, ServedPath,
};
pub use ids::{CallId, QuestionId, StreamId};
pub use input::{Input, Kinds, Now};
pub use offers::{ItemOffer, Offers, SaidOfItself, ServerOffer};
pub use wire::headers::{DifferingHeaders, McpHeaders};
pub use wire::opening::{MessageEra, era_of};

pub use crate::config::Era;
use crate::state::Moment;

/// One client of an endpoint: a legacy session or connection, or everything of one modern
/// principal on one path.
#[derive(Debug)]
pub struct ServedClient {
    facts: ClientFacts,
}

impl ServedClient {
    /// A client that has said nothing yet.
    pub fn new(facts: ClientFacts) -> Self {
        ServedClient { facts }
    }

    /// Takes one input to its end; what it wants done is appended to `actions`.
    pub fn take(
        &mut self,
        input: Input<'_>,
        offers: &dyn Offers,
        now: Now,
        actions: &mut Vec<Action>,
    ) {
        let _ = (&self.facts, input, offers, now, actions);
    }

    /// When `Input::Tick` is due; `None` while nothing waits.
    pub fn next_deadline(&self) -> Option<Moment> {
        None
    }
}
