//! Pools whose requests and status go to OpenTelemetry.

use std::sync::Arc;

use serde_json::Value;

use super::Pool;
use crate::Result;
use crate::otlp::Telemetry;
use trunkline_pool::options::PoolOptions;

impl Pool {
    /// [`new`](Self::new), for a pool that is watched. Feature `otlp`.
    ///
    /// Pools may have one `telemetry` together.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn with_telemetry(options: PoolOptions, telemetry: &Telemetry) -> Result<Pool> {
        let pool = Pool::observed(options, telemetry.observer())?;
        telemetry.watch(pool.status_while_there());
        Ok(pool)
    }

    /// Its status, for as long as it is there.
    fn status_while_there(&self) -> impl Fn() -> Option<Value> + Send + use<> {
        let handle = Arc::downgrade(&self.1);
        move || handle.upgrade().map(|handle| Pool(handle.0.clone(), handle).status())
    }
}
