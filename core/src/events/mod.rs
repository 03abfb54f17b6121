//! Events, from what happened to who subscribed: in order, and bounded.

mod event;
mod event_text;
mod hub;
mod recipient;
mod subject;
mod subscriber;

pub use self::event::{Event, EventMask, Subscription};
pub(crate) use self::event_text::{Said, named};
pub(crate) use self::hub::Hub;
pub(crate) use self::recipient::Recipient;
pub(crate) use self::subject::About;
pub(crate) use self::subscriber::{BYTES_MAX as EVENT_BYTES_MAX, Subscriber};
