//! The native half of event streams.

use std::cell::RefCell;

use napi_derive::napi;
use trunkline::{EventMask, Subscription};

use crate::runtime::environment::Environment;
use crate::runtime::json_text::JsonText;
use crate::runtime::reply::Arrival;

/// A subscription. Its finaliser unsubscribes, if the host did not.
#[napi]
pub struct NativeSubscription {
    number: u64,
    subscription: RefCell<Option<Subscription>>,
}

impl NativeSubscription {
    /// The mask with the kinds that have these numbers.
    pub fn mask(kinds: &[u32]) -> EventMask {
        let bits = kinds.iter().filter_map(|&kind| 1_u64.checked_shl(kind));
        EventMask(bits.fold(0, |mask, bit| mask | bit))
    }

    /// Wraps a subscription; from now on the environment hears when it has events.
    pub fn new(environment: &Environment, subscription: Subscription) -> NativeSubscription {
        let number = environment.number();
        let queue = environment.queue().clone();
        subscription.set_wake(move || queue.push(Arrival::Readable { subscription: number }));
        NativeSubscription { number, subscription: RefCell::new(Some(subscription)) }
    }
}

#[napi]
impl NativeSubscription {
    /// Its number, with which `on_readable` is called.
    #[napi(catch_unwind)]
    pub fn number(&self) -> f64 {
        self.number as f64
    }

    /// The snapshot that it continues, as JSON text; empty once closed.
    #[napi(catch_unwind)]
    pub fn snapshot(&self) -> JsonText {
        let subscription = self.subscription.borrow();
        JsonText(subscription.as_ref().map(|s| s.snapshot().to_owned()).unwrap_or_default())
    }

    /// Up to `most` events that wait, as the text of a JSON array; empty when none does.
    #[napi(catch_unwind)]
    pub fn take(&self, most: u32) -> JsonText {
        let mut text = String::new();
        if let Some(subscription) = &*self.subscription.borrow() {
            for _ in 0..most {
                let Some(event) = subscription.try_next() else { break };
                text.push(if text.is_empty() { '[' } else { ',' });
                text.push_str(event.json());
            }
        }
        if !text.is_empty() {
            text.push(']');
        }
        JsonText(text)
    }

    /// Whether nothing waits, and nothing will come.
    #[napi(catch_unwind)]
    pub fn is_ended(&self) -> bool {
        self.subscription.borrow().as_ref().is_none_or(Subscription::is_ended)
    }

    /// Unsubscribes. Nothing arrives any more.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        // Outside of the borrow: the drop may wait for a wake-up that is under way.
        let _closed = self.subscription.take();
    }
}
