//! Handlers of a session or pool, as a case scripts them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use trunkline::{HandlerKind, HandlerResult, Handlers, Refusal};

use rig::values::Failure;

/// What the handlers of one session or pool were asked, oldest first.
#[derive(Clone, Default)]
pub struct Asked(Arc<Mutex<Vec<Value>>>);

impl Asked {
    /// What they were asked so far.
    pub fn so_far(&self) -> Value {
        self.0.lock().unwrap().clone().into()
    }

    fn note(&self, json: &str) {
        self.0.lock().unwrap().push(serde_json::from_str(json).unwrap_or(Value::Null));
    }
}

/// Takes the scripts out of the options: the handlers that they describe, and what these are asked.
pub fn take(options: &mut Map<String, Value>) -> Result<(Handlers, Asked), Failure> {
    let (mut handlers, asked) = (Handlers::new(), Asked::default());
    let scripts = options.remove("handlers").unwrap_or(json!({}));
    for (name, script) in scripts.as_object().into_iter().flatten() {
        let noted = asked.clone();
        if name == "logging" {
            handlers = handlers.with_logging(move |event| noted.note(event));
            continue;
        }
        let kind = HandlerKind::from_name(name)
            .ok_or_else(|| Failure::Case(format!("no handler {name}")))?;
        let script = script.clone();
        handlers = handlers.with(kind, move |request| {
            noted.note(&request.to_json());
            carried_out(script.clone())
        });
    }
    Ok((handlers, asked))
}

async fn carried_out(script: Value) -> HandlerResult {
    if script["silent"] == true {
        std::future::pending::<()>().await;
    }
    let after = script["after_ms"].as_u64().unwrap_or_default();
    tokio::time::sleep(Duration::from_millis(after)).await;
    if let Some(refusal) = script.get("refuse") {
        let code = refusal["code"].as_i64().unwrap_or_default() as i32;
        return Err(Refusal::new(code, refusal["message"].as_str().unwrap_or_default()));
    }
    // Without an answer the script wants the handler to fail, and what is no object does.
    Ok(script.get("answer").unwrap_or(&json!([])).to_string())
}
