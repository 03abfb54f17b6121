//! The bridge: what a served client says, as requests to servers, and back (SPEC 19.4, 19.5).
//!
//! One [`ServedClient`] is a state machine as the reducer of the pool is: no IO, no clock, nothing
//! awaited. One [`BridgeInput`] is taken to its end and appends [`Action`]s, which are carried out
//! in order.

mod action;
mod capabilities;
mod client;
mod facts;
mod ids;
mod input;
mod methods;
mod offers;
mod presentation;
mod seal;
#[cfg(test)]
mod tests;
mod wire;

pub use action::{Action, CallNeeds, Unbridged};
pub use client::ServedClient;
pub use facts::{ClientFacts, ClientLimits, EndpointName, LaneKind, SealingKey, ServedPath};
pub use ids::{CallId, QuestionId, StreamId};
pub use input::{BridgeInput, ListKinds, Now};
pub use offers::{ItemOffer, Offers, SaidOfItself, ServerOffer};
pub use wire::headers::{DifferingHeaders, McpHeaders};
pub use wire::opening::{MessageEra, era_of, wants_events};
pub use wire::revisions::{LEGACY, MODERN};

pub use crate::config::Era;
