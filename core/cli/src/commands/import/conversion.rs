//! From the text of one product's file to that of another's.

use serde_json::{Value, json};
use trunkline::settings::{Format, Lists, ReadOptions, read};
use trunkline_pool::gates::{GateLists, GateReason};

use super::{entry, files};
use crate::console::failure::Failure;

/// What became of a file.
pub(super) struct Made {
    pub(super) text: String,
    /// The names that were written.
    pub(super) servers: Vec<String>,
    /// What the other product has no field for: `{server, what}`.
    pub(super) lost: Vec<Value>,
    /// What is kept as written, since the other product does not expand it: `{server, what}`.
    pub(super) literal: Vec<Value>,
    /// Servers that were not written: `{server, what}`.
    pub(super) left_out: Vec<Value>,
}

pub(super) fn made(
    content: &str,
    (file, options): (&str, &ReadOptions),
    to: Format,
) -> Result<Made, Failure> {
    let source = read(content, file, options)?;
    let (mut lost, mut literal) = (Vec::new(), Vec::new());
    let (mut left_out, mut entries) = (Vec::new(), Vec::new());
    for own in &source.skipped {
        let what = format!("it is part of the product itself (`{}`)", own.what);
        left_out.push(json!({ "server": own.name, "what": what }));
    }
    let lists = gates(&source.lists);
    for server in &source.servers {
        let row = |what: &str| json!({ "server": server.name, "what": what });
        let is_shut = is_shut(&lists, &server.name);
        let template = match &server.template {
            Ok(template) => template,
            Err(error) => {
                left_out.push(row(error.message()));
                continue;
            }
        };
        let entry = entry::entry(template, to, is_shut);
        let missing = entry.lost.iter().map(|what| row(what));
        match entry.members {
            Some(written) => {
                lost.extend(missing);
                literal.extend(entry.literal.iter().map(|what| row(what)));
                entries.push((server.name.clone(), written));
            }
            None => left_out.extend(missing),
        }
    }
    let servers = entries.iter().map(|(name, _)| name.clone()).collect();
    Ok(Made { text: files::text(to, entries), servers, lost, literal, left_out })
}

/// What a file says of its own servers (SPEC 11.1).
pub(super) fn gates(lists: &Lists) -> GateLists {
    GateLists::new(lists.allowed.clone(), lists.excluded.clone(), Vec::new())
}

/// Whether it keeps that one out.
pub(super) fn is_shut(lists: &GateLists, name: &str) -> bool {
    let reasons = [GateReason::Excluded, GateReason::NotAllowed];
    reasons.iter().any(|reason| lists.list_of(*reason, name).is_some())
}
