//! Whom the progress of a call is told.

use std::sync::Arc;

/// Whether a call asks for progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// No progress token is sent.
    #[default]
    Off,
    /// A progress token is sent, and progress comes as events.
    On,
    /// As [`On`](Self::On), and the call's own events are told to this as well.
    To(ProgressReceiver),
}

/// A function that is told the progress of one call.
#[derive(Clone)]
pub struct ProgressReceiver(Arc<dyn Fn(&str) + Send + Sync>);

impl ProgressReceiver {
    /// `receive` gets the JSON text of each `progress` event of the call, in the order of the wire
    /// and before the call's end. It runs on a thread of the library and must not block.
    pub fn new(receive: impl Fn(&str) + Send + Sync + 'static) -> ProgressReceiver {
        ProgressReceiver(Arc::new(receive))
    }

    /// Tells it.
    pub fn receive(&self, event: &str) {
        (self.0)(event);
    }
}

impl PartialEq for ProgressReceiver {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ProgressReceiver {}

impl std::fmt::Debug for ProgressReceiver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ProgressReceiver")
    }
}
