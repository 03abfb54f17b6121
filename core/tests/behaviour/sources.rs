//! The verbs of settings: files, sources, trust and approvals.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use trunkline::{LoadOptions, Pool, ReloadOptions, ServerSpec, SourceName, Switch, WorkspaceTrust};

use rig::values::{Failure, Given};

/// The verbs that [`step`] knows.
pub const VERBS: [&str; 12] = [
    "write",
    "load",
    "set_source",
    "switch_source",
    "add_server",
    "remove_server",
    "set_trusted",
    "reload",
    "approvals",
    "approve",
    "reject",
    "forget",
];

/// Without the decisions of the person who runs the cases, and what other cases listed, unless the
/// options say where that is.
pub fn keep_apart(options: &mut Map<String, Value>) {
    for (option, word) in [("approvals", "memory"), ("cache", "off")] {
        options.entry(option).or_insert_with(|| word.into());
    }
}

/// One step; server objects in `arguments` are as the library wants them.
pub async fn step(
    pool: &Pool,
    folder: &Path,
    verb: &str,
    arguments: &[Value],
) -> Result<Given, Failure> {
    let first = arguments.first().and_then(Value::as_str).unwrap_or_default();
    let second = arguments.get(1).unwrap_or(&Value::Null);
    Ok(Given::value(match verb {
        "write" => return write(&folder.join(first), second).map_err(Failure::Case),
        "load" => pool.load(folder.join(first), &LoadOptions::from_json(&body(second))?).await?,
        "set_source" => pool.set_source(&source(first)?, settings(second).as_deref())?,
        "switch_source" => {
            let to = if second == "on" { Switch::On } else { Switch::Off };
            pool.switch_source(&source(first)?, to)?
        }
        "add_server" => {
            pool.add_server(first, &ServerSpec::from_json(first, &second.to_string())?)?
        }
        "remove_server" => pool.remove_server(first)?,
        "set_trusted" => {
            let is_trusted = arguments[0] == true;
            let trust =
                if is_trusted { WorkspaceTrust::Trusted } else { WorkspaceTrust::Untrusted };
            pool.set_trusted(trust).await?
        }
        "reload" => {
            let options = arguments.first().unwrap_or(&Value::Null);
            pool.reload(&ReloadOptions::from_json(&body(options))?).await?
        }
        "approvals" => pool.approvals().await?,
        "approve" => pool.approve(first, &hash(first, second)).await?,
        "reject" => pool.reject(first, &hash(first, second)).await?,
        "forget" => pool.forget(first).await?,
        _ => return Err(Failure::Case(format!("no verb {verb}"))),
    }))
}

/// Waits as `settled` does.
pub async fn settled(pool: Pool, options: Value) -> trunkline::Result<Value> {
    pool.settled(options["timeout_ms"].as_u64().map(Duration::from_millis)).await
}

/// Writes a file as editors do, under another name first; without content it removes the file.
fn write(path: &Path, content: &Value) -> Result<Given, String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    match settings(content) {
        None => std::fs::remove_file(path).map_err(said)?,
        Some(text) => {
            std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(said)?;
            let beside = path.with_extension("new");
            std::fs::write(&beside, text).map_err(said)?;
            std::fs::rename(&beside, path).map_err(said)?;
        }
    }
    Ok(Given::nothing())
}

/// The text of settings: what is no text is written as JSON.
fn settings(content: &Value) -> Option<String> {
    match content {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        _ => Some(content.to_string()),
    }
}

fn source(name: &str) -> Result<SourceName, Failure> {
    Ok(name.parse::<SourceName>()?)
}

/// The hash by itself, or the one that was shown for the server.
fn hash(server: &str, shown: &Value) -> String {
    let requests = shown["requests"].as_array().into_iter().flatten();
    let requests: Vec<&Value> = requests.filter(|request| request["server"] == server).collect();
    let shown = requests.first().map_or(shown, |request| &request["hash"]);
    shown.as_str().unwrap_or_default().to_owned()
}

fn body(options: &Value) -> String {
    let options = if options.is_null() { &json!({}) } else { options };
    options.to_string()
}
