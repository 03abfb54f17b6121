//! The pool of a case: the first one, and each that takes its place.

use std::time::Duration;

use serde_json::Value;
use trunkline::{EventMask, Pool, PoolOptions};

use crate::handlers::{self, Asked};
use crate::record::Record;
use crate::sources::keep_apart;
use rig::values::{Failure, Given, Saved};

/// A new pool, all its events, and what its handlers are asked.
pub struct Begun {
    pub pool: Pool,
    pub record: Record,
    pub asked: Asked,
}

/// A pool with the options of the case.
pub fn begin(case: &Value, saved: &Saved) -> Result<Begun, Failure> {
    let mut members = case.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
    let (handlers, asked) = handlers::take(&mut members)?;
    keep_apart(&mut members);
    let options = saved.filled_in(&Value::Object(members)).to_string();
    let mut options = PoolOptions::from_json(&options)?;
    options.handlers = handlers;
    let pool = Pool::new(options)?;
    let record = Record::new(pool.subscribe(EventMask::ALL)?);
    Ok(Begun { pool, record, asked })
}

/// One with these options, beside it, and its end.
pub async fn another(options: &Value) -> Result<Given, Failure> {
    Pool::new(PoolOptions::from_json(&options.to_string())?)?.close().await?;
    Ok(Given::nothing())
}

/// Closes a pool, which may take so long.
pub async fn end(pool: &Pool, hang_bound: Duration) -> Result<(), String> {
    match tokio::time::timeout(hang_bound, pool.close()).await {
        Ok(closed) => closed.map_err(|error| format!("close: {error}")),
        Err(_) => Err("the close hangs".to_string()),
    }
}
