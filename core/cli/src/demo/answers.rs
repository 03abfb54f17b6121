//! What the demo server answers, by method. Requests of both eras are answered: those of the modern
//! one name their revision, those of the legacy one follow `initialize`.

use serde_json::{Value, json};

use super::offers;
use super::refusal::Refusal;

/// The answer to a request.
pub(super) fn answer(method: &str, params: &Value) -> Result<Value, Refusal> {
    check_revision(params)?;
    match method {
        "initialize" => Ok(initialized(params)),
        "server/discover" => Ok(discovered()),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(lasting(json!({ "tools": offers::tools() }))),
        "tools/call" => called(params),
        "resources/list" => Ok(lasting(json!({ "resources": [offers::resource()] }))),
        "resources/templates/list" => {
            Ok(lasting(json!({ "resourceTemplates": [offers::template()] })))
        }
        "resources/read" => read(params["uri"].as_str().unwrap_or_default()),
        "prompts/list" => Ok(lasting(json!({ "prompts": [offers::prompt()] }))),
        "prompts/get" => prompted(params),
        "completion/complete" => Ok(completed(&params["argument"])),
        _ => Err(Refusal::new(-32601, format!("the method `{method}` is not known"))),
    }
}

/// Whether the request is of the modern era.
pub(super) fn is_modern(params: &Value) -> bool {
    params["_meta"][REVISION].is_string()
}

fn check_revision(params: &Value) -> Result<(), Refusal> {
    match params["_meta"][REVISION].as_str() {
        None | Some(MODERN) => Ok(()),
        Some(asked) => {
            let mut refusal = Refusal::new(-32022, "the revision is not spoken");
            refusal.more = json!({ "supported": [MODERN], "requested": asked });
            Err(refusal)
        }
    }
}

fn initialized(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let revision = LEGACY.iter().find(|known| **known == asked).unwrap_or(&LEGACY[0]);
    json!({
        "protocolVersion": revision,
        "capabilities": capabilities(),
        "serverInfo": about(),
        "instructions": INSTRUCTIONS,
    })
}

fn discovered() -> Value {
    lasting(json!({
        "supportedVersions": [MODERN],
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
        "_meta": { "io.modelcontextprotocol/serverInfo": about() },
    }))
}

fn about() -> Value {
    json!({ "name": "trunkline-demo", "version": env!("CARGO_PKG_VERSION") })
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} })
}

/// What stays as it is for as long as the process runs.
fn lasting(mut result: Value) -> Value {
    result["ttlMs"] = 3_600_000.into();
    result["cacheScope"] = "public".into();
    result
}

/// A result of a tool with one text.
pub(super) fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn failed(message: &str) -> Value {
    let mut result = text(message);
    result["isError"] = true.into();
    result
}

fn called(params: &Value) -> Result<Value, Refusal> {
    let given = &params["arguments"];
    Ok(match params["name"].as_str().unwrap_or_default() {
        "echo" => match given["message"].as_str() {
            Some(message) => text(message),
            None => failed("`message` must be a text"),
        },
        "add" => match (given["a"].as_i64(), given["b"].as_i64()) {
            (Some(a), Some(b)) => text(&(i128::from(a) + i128::from(b)).to_string()),
            _ => failed("`a` and `b` must be whole numbers"),
        },
        "measure" => match given["text"].as_str() {
            Some(measured) => {
                let sizes = offers::measured(measured);
                let mut result = text(&sizes.to_string());
                result["structuredContent"] = sizes;
                result
            }
            None => failed("`text` must be a text"),
        },
        "pid" => text(&std::process::id().to_string()),
        name => return Err(Refusal::new(-32602, format!("no tool is called `{name}`"))),
    })
}

fn read(uri: &str) -> Result<Value, Refusal> {
    let text = match uri.strip_prefix(offers::GREETING) {
        Some(name) if !name.is_empty() => offers::greeting(name, ""),
        _ if uri == offers::README => offers::ABOUT.to_owned(),
        _ => return Err(Refusal::new(-32002, format!("no resource has the address `{uri}`"))),
    };
    Ok(lasting(json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] })))
}

fn prompted(params: &Value) -> Result<Value, Refusal> {
    if params["name"] != "greet" {
        let name = params["name"].as_str().unwrap_or_default();
        return Err(Refusal::new(-32602, format!("no prompt is called `{name}`")));
    }
    let given = |name: &str| params["arguments"][name].as_str().unwrap_or_default();
    if given("name").is_empty() {
        return Err(Refusal::new(-32602, "the prompt needs the argument `name`"));
    }
    let content =
        json!({ "type": "text", "text": offers::greeting(given("name"), given("style")) });
    Ok(json!({ "messages": [{ "role": "user", "content": content }] }))
}

/// The words that begin as the argument does.
fn completed(argument: &Value) -> Value {
    let begun = argument["value"].as_str().unwrap_or_default();
    let words: &[&str] = match argument["name"].as_str() {
        Some("style") => &offers::STYLES,
        Some("name") => &offers::NAMES,
        _ => &[],
    };
    let values: Vec<&&str> = words.iter().filter(|word| word.starts_with(begun)).collect();
    json!({ "completion": { "values": values, "total": values.len(), "hasMore": false } })
}

const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// The revision of the modern era.
const MODERN: &str = "2026-07-28";

/// Those of the legacy era, the newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const INSTRUCTIONS: &str = "A server to try hosts with. Nothing that it does has an effect.";
