//! The verbs of what a session sees, and of waiting for it.

use std::time::Duration;

use serde_json::{Value, json};
use trunkline::{Introduction, List, Session, ToolFormat};

use rig::values::{Failure, Given};

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
            let shape = ToolFormat::from_word(arguments[1].as_str().unwrap_or_default())?;
            serde_json::from_str(session.tools_for(shape)?.json()).unwrap()
        }
        "revision" => session.tools()?.revision().into(),
        _ => return Err(Failure::Case(format!("no verb {verb}"))),
    }))
}

/// The verbs that [`wait`] knows.
pub const WAITS: [&str; 4] = ["started", "ready", "refresh", "listed"];

/// One wait for the servers of a session.
pub async fn wait(session: &Session, verb: &str, arguments: &[Value]) -> trunkline::Result<Given> {
    if verb == "started" {
        return Ok(Given::value(session.started().await?));
    }
    let server = arguments.get(1).and_then(Value::as_str);
    if verb == "refresh" {
        session.refresh(server.unwrap_or_default()).await?;
        return Ok(Given::nothing());
    }
    if verb == "listed" {
        session.listed(server).await?;
        return Ok(Given::nothing());
    }
    let timeout = arguments.get(2).and_then(|options| options["timeout_ms"].as_u64());
    session.ready(server, timeout.map(Duration::from_millis)).await?;
    Ok(Given::nothing())
}

/// What a server said of itself, as a case has it.
pub fn introduction(said: Option<Introduction>) -> Given {
    Given::value(said.map_or(Value::Null, |said| {
        let whole: Value = serde_json::from_str(said.json()).unwrap();
        let parts = json!({
            "protocol_version": said.protocol_version(),
            "server_info": said.server_info(),
            "capabilities": said.capabilities(),
            "instructions": said.instructions(),
        });
        assert_eq!(whole, parts);
        whole
    }))
}

fn rows(list: &List) -> Value {
    list.iter().map(|item| serde_json::from_str::<Value>(&item.to_json()).unwrap()).collect()
}
