//! The endpoints that serve a pool, as the pool knows them: they end with it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;

/// An endpoint that serves the pool.
pub(crate) trait PoolEndpoint: Send + Sync {
    /// Where it is, and its clients.
    fn status(&self) -> Value;

    /// Lets nobody in any more and has every client finish what it asked, no longer than that. Then
    /// nothing of it is left.
    fn drain(self: Arc<Self>, wait: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Those of one pool.
#[derive(Default)]
pub(crate) struct Endpoints(Mutex<Vec<Weak<dyn PoolEndpoint>>>);

impl Endpoints {
    /// One more, until it is dropped.
    pub(crate) fn add(&self, endpoint: Weak<dyn PoolEndpoint>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.strong_count() > 0);
        all.push(endpoint);
    }

    /// What each says of itself.
    pub(crate) fn status(&self) -> Vec<Value> {
        self.live().iter().map(|endpoint| endpoint.status()).collect()
    }

    /// Ends all of them.
    pub(crate) async fn drain(&self, wait: Duration) {
        join_all(self.live().into_iter().map(|endpoint| endpoint.drain(wait))).await;
    }

    fn live(&self) -> Vec<Arc<dyn PoolEndpoint>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).collect()
    }
}
