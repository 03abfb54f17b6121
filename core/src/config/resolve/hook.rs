//! The host's hook for entries of settings, which drops or alters them before they are admitted
//! (SPEC 10.8).

use std::sync::Arc;

use serde_json::{Value, json};
use trunkline_pool::json::plain;
use trunkline_pool::layers::SourceEntry;
use trunkline_pool::settings::{Format, ReadOptions, Template, read};

use super::answers::HostAnswer;
use crate::{Error, ErrorCode};

/// What the host's hook made of an entry.
pub(crate) enum Hooked {
    /// Nothing.
    Kept,
    /// Another.
    Altered(SourceEntry),
    /// It is as if no source named it.
    Dropped,
}

impl Hooked {
    pub(crate) fn of(name: &str, template: &Template, answer: &HostAnswer) -> Hooked {
        let HostAnswer::Text(text) = answer else {
            return Hooked::wrong(name, "the handler `entries` gave no answer");
        };
        // What is no object was refused when it came.
        let answer = plain(text).unwrap_or_default();
        if answer.get("drop") == Some(&Value::Bool(true)) {
            return Hooked::Dropped;
        }
        match answer.get("configuration") {
            None => Hooked::Kept,
            Some(configuration) => Hooked::altered(name, template, configuration),
        }
    }

    /// An entry in the pool's own form, read as one of a file would be, of what that template was.
    fn altered(name: &str, template: &Template, configuration: &Value) -> Hooked {
        let mut servers = serde_json::Map::new();
        servers.insert(name.to_owned(), configuration.clone());
        let text = json!({ "mcpServers": servers }).to_string();
        let options = ReadOptions { format: Some(Format::Trunkline), ..ReadOptions::default() };
        let read = read(&text, "the handler `entries`.json", &options);
        let server = read.map(|source| source.servers.into_iter().next());
        match server {
            Ok(Some(server)) => Hooked::Altered(match server.template {
                Ok(altered) => SourceEntry::Template(Arc::new(altered.made_of(template))),
                Err(error) => SourceEntry::Invalid(error),
            }),
            Ok(None) | Err(_) => Hooked::wrong(name, "the handler `entries` gave no configuration"),
        }
    }

    fn wrong(name: &str, why: &str) -> Hooked {
        let error = Error::new(ErrorCode::InvalidConfig, why).with_server(name);
        Hooked::Altered(SourceEntry::Invalid(error.with_detail("path", "")))
    }
}
