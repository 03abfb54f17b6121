//! Events, from what happened to who subscribed: in order, and bounded.

mod event;
mod event_text;
mod hub;
mod json_members;
mod list_events;
pub(crate) mod log_feed;
mod recipient;
mod subject;
mod subscriber;
mod subscription;
mod warn_once;

pub use self::event::{Event, EventMask};
pub(crate) use self::hub::Hub;
pub(crate) use self::list_events::ListEvents;
pub(crate) use self::recipient::Recipient;
pub(crate) use self::subject::{EventSubject, named};
pub(crate) use self::subscriber::BYTES_MAX as EVENT_BYTES_MAX;
pub use self::subscription::Subscription;
pub(crate) use self::warn_once::Warned;
