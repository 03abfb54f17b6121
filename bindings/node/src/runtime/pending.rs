//! The promises that are not settled yet.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use napi::{Result, check_status, sys};
use trunkline::{Operation, Session};

use crate::runtime::text;

/// The promises of one environment by number. Only its JavaScript thread touches them.
#[derive(Default)]
pub struct Pending {
    promises: HashMap<u64, Unsettled>,
    numbers: u64,
}

struct Unsettled {
    deferred: Deferred,
    operation: Option<Operation>,
    _owner: Owner,
}

/// What a pending operation keeps: its session must not be collected, and thereby closed, while
/// somebody awaits it.
pub enum Owner {
    /// The operation keeps by itself what it needs.
    Itself,
    /// A session.
    Session(Session),
    /// What an object shares.
    Shared(Arc<dyn Any + Send + Sync>),
}

/// The handle by which a promise is settled, once.
pub struct Deferred(sys::napi_deferred);

impl Pending {
    /// A number for an operation, not used before.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Adds a promise; returns whether it is now the only one.
    pub fn insert(&mut self, number: u64, deferred: Deferred, owner: Owner) -> bool {
        let unsettled = Unsettled { deferred, operation: None, _owner: owner };
        self.promises.insert(number, unsettled);
        self.promises.len() == 1
    }

    /// Whether no promise is unsettled.
    pub fn is_empty(&self) -> bool {
        self.promises.is_empty()
    }

    /// Notes by which operation the promise can be cancelled.
    pub fn attach(&mut self, number: u64, operation: Operation) {
        if let Some(unsettled) = self.promises.get_mut(&number) {
            unsettled.operation = Some(operation);
        }
    }

    /// The operation behind a promise, while that is unsettled.
    pub fn operation(&self, number: u64) -> Option<Operation> {
        self.promises.get(&number)?.operation.clone()
    }

    /// Takes a promise out, to settle it; the second value says whether none is left.
    pub fn remove(&mut self, number: u64) -> Option<(Deferred, bool)> {
        let unsettled = self.promises.remove(&number)?;
        Some((unsettled.deferred, self.promises.is_empty()))
    }

    /// Takes all out: their operations. The promises stay unsettled for ever, so this is for the
    /// end of the environment.
    pub fn abandon(&mut self) -> Vec<Operation> {
        self.promises.drain().filter_map(|(_, unsettled)| unsettled.operation).collect()
    }
}

impl Deferred {
    /// A new promise, and the handle that settles it.
    pub fn new(env: sys::napi_env) -> Result<(Deferred, sys::napi_value)> {
        let (mut deferred, mut promise) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: `env` is current on this thread, and both results are written before they are
        // read.
        check_status!(unsafe { sys::napi_create_promise(env, &mut deferred, &mut promise) })?;
        Ok((Deferred(deferred), promise))
    }

    /// Fulfils the promise.
    pub fn resolve(self, env: sys::napi_env, value: sys::napi_value) {
        // SAFETY: the deferred is used up by value, so it is settled once; a failure leaves nothing
        // to do.
        unsafe { sys::napi_resolve_deferred(env, self.0, value) };
    }

    /// Rejects the promise with a text (`lib/errors.cjs` makes the error of it).
    pub fn reject(self, env: sys::napi_env, reason: &str) {
        let value = text::to_js(env, reason).or_else(|_| text::undefined(env));
        if let Ok(value) = value {
            // SAFETY: as in `resolve`.
            unsafe { sys::napi_reject_deferred(env, self.0, value) };
        }
    }
}
