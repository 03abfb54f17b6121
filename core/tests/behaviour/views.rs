//! The verbs of what a session sees, and of waiting for it.

use std::time::Duration;

use serde_json::Value;
use trunkline::{List, Session, Shape};

use crate::values::{Failure, Given};

/// The verbs that [`step`] knows.
pub const VERBS: [&str; 6] =
    ["tools", "prompts", "resources", "resource_templates", "tools_for", "revision"];

/// One step.
pub fn step(session: &Session, verb: &str, arguments: &[Value]) -> Result<Given, Failure> {
    Ok(Given::value(match verb {
        "tools" => rows(&session.tools()?),
        "prompts" => rows(&session.prompts()?),
        "resources" => rows(&session.resources()?),
        "resource_templates" => rows(&session.resource_templates()?),
        "tools_for" => {
            let shape = Shape::from_word(arguments[1].as_str().unwrap_or_default())?;
            serde_json::from_str(session.tools_for(shape)?.json()).unwrap()
        }
        "revision" => session.tools()?.revision().into(),
        _ => return Err(Failure::Case(format!("no verb {verb}"))),
    }))
}

/// The verbs that [`wait`] knows.
pub const WAITS: [&str; 2] = ["started", "ready"];

/// One wait for the servers of a session.
pub async fn wait(session: &Session, verb: &str, arguments: &[Value]) -> trunkline::Result<Given> {
    if verb == "started" {
        return Ok(Given::value(session.started().await?));
    }
    let server = arguments.get(1).and_then(Value::as_str);
    let timeout = arguments.get(2).and_then(|options| options["timeout_ms"].as_u64());
    session.ready(server, timeout.map(Duration::from_millis)).await?;
    Ok(Given::nothing())
}

fn rows(list: &List) -> Value {
    list.iter().map(|item| serde_json::from_str::<Value>(&item.to_json()).unwrap()).collect()
}
