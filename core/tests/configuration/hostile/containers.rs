//! The files that hostile servers stand in: those of several products, each in its own syntax.

use serde_json::{Map, Value, json};

use super::generate::Dice;

/// A kind of settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// `mcpServers`, as most products have it.
    Common,
    /// `servers` with `inputs`, as VS Code has it.
    Inputs,
    /// `mcp_servers` in TOML, as Codex has it.
    Toml,
    /// `extensions` in YAML, as Goose has it.
    Yaml,
    /// The list `mcpServers` in YAML, as Continue has it.
    List,
}

impl Container {
    pub fn any(dice: &mut Dice) -> Container {
        use Container::{Common, Inputs, List, Toml, Yaml};
        dice.pick(&[Common, Common, Common, Inputs, Toml, Yaml, List])
    }

    /// How the name of such a file ends.
    pub fn extension(self) -> &'static str {
        match self {
            Container::Common | Container::Inputs => "json",
            Container::Toml => "toml",
            Container::Yaml | Container::List => "yaml",
        }
    }

    /// A file of one server.
    pub fn text(self, server: &str, entry: &Value) -> String {
        let mut entry = entry.clone();
        match self {
            Container::Common => json!({ "mcpServers": { server: entry } }).to_string(),
            Container::Inputs => {
                let input = json!({ "id": "asked", "type": "promptString", "command": "id" });
                json!({ "servers": { server: entry }, "inputs": [input] }).to_string()
            }
            Container::Toml => {
                format!("[mcp_servers.{}]\n{}", Value::from(server), members(&entry))
            }
            Container::Yaml => {
                rename(&mut entry, &[("command", "cmd"), ("env", "envs"), ("url", "uri")]);
                json!({ "extensions": { server: entry } }).to_string()
            }
            Container::List => {
                entry["name"] = json!(server);
                json!({ "mcpServers": [entry] }).to_string()
            }
        }
    }
}

fn rename(entry: &mut Value, names: &[(&str, &str)]) {
    let members = entry.as_object_mut().unwrap();
    for (from, to) in names {
        if let Some(value) = members.remove(*from) {
            members.insert((*to).to_owned(), value);
        }
    }
}

/// The members of a table of TOML, whose texts, lists and inline tables are written nearly as those
/// of JSON.
fn members(entry: &Value) -> String {
    let members = entry.as_object().unwrap().iter();
    members
        .map(|(name, value)| format!("{} = {}\n", Value::from(name.as_str()), toml(value)))
        .collect()
}

fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => inline(members),
        other => other.to_string(),
    }
}

fn inline(members: &Map<String, Value>) -> String {
    let members = members
        .iter()
        .map(|(name, value)| format!("{} = {}", Value::from(name.as_str()), toml(value)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}
