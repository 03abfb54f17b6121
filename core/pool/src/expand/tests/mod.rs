//! Variables as they are written, and what becomes of them.

use super::*;
use crate::settings::{Format, ReadOptions, read};

mod commands;
mod dotenv;
mod fields;
mod files;
mod forms;
mod generated;
mod home;
mod looked_up;

/// A host with a small environment.
struct Host;

impl VariableLookup for Host {
    fn env(&self, name: &str) -> Option<String> {
        let value = match name {
            "A" => "1",
            "EMPTY" => "",
            "TRAP" => "${A} $A $$ ${input:i} ${cmd:x} !x",
            "SPACES" => "two words; rm -rf *",
            "PATH" => "/bin:/usr/bin",
            "ProgramFiles(x86)" => "programs",
            "ÜMLAUT" => "ü",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn workspace_folder(&self) -> Option<String> {
        Some("/srv/${A}".to_owned())
    }

    fn user_home(&self) -> Option<String> {
        None
    }
}

/// The template of one server's entry in the pool's own form.
fn template(entry: &Value) -> Template {
    template_of(Format::Trunkline, entry)
}

fn template_of(format: Format, entry: &Value) -> Template {
    let text = serde_json::json!({ "mcpServers": { "one": entry } }).to_string();
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let source = read(&text, "/srv/.mcp.json", &options).unwrap();
    source.servers[0].template.clone().unwrap()
}
