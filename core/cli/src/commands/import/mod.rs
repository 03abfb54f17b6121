//! `import`: the servers of one settings file, as another product writes them.

mod dialect;
mod entry;
mod files;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde_json::{Value, json};
use trunkline::bounded;
use trunkline::settings::{FILE_BYTES_MAX, Format, Lists, ReadOptions, read};
use trunkline_pool::gates::{GateLists, GateReason};
use trunkline_pool::text::escaped;

use super::text;
use crate::console::arguments::Common;
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let file = text(given, "file").unwrap_or_default();
    let content = bounded::text(file.as_ref(), FILE_BYTES_MAX)
        .map_err(|error| Failure::new(Exit::Settings, format!("{}: {error}", escaped(file))))?;
    let workspace = common.workspace.as_deref().unwrap_or(Path::new("."));
    let workspace = std::path::absolute(workspace).ok();
    let options = ReadOptions {
        format: text(given, "from").and_then(Format::of_name),
        workspace: workspace.and_then(|path| path.to_str().map(str::to_owned)),
        project: None,
    };
    let to = text(given, "to").and_then(Format::of_name).unwrap_or(Format::Trunkline);
    let made = made(&content, (file, &options), to)?;
    if let Some(output) = given.get_one::<PathBuf>("output") {
        save(output, &made.text)?;
    }
    if common.json {
        let Made { text, servers, lost, literal, left_out } = &made;
        let report = json!({
            "v": 1, "to": to.name(), "text": text, "servers": servers, "lost": lost, "literal": literal,
            "left_out": left_out,
        });
        format::json(terminal, &report);
    } else {
        if !given.contains_id("output") {
            terminal.write(&made.text);
        }
        let literal = format!("kept as written; {} does not expand it", to.name());
        for (what, rows) in
            [("left out", &made.left_out), ("not written", &made.lost), (&*literal, &made.literal)]
        {
            for row in rows {
                let [server, why] = ["server", "what"].map(|member| format::text(row, member));
                terminal.note(&format!("{}: {what}: {}", escaped(server), escaped(why)));
            }
        }
    }
    Ok(if made.left_out.is_empty() { Exit::Success } else { Exit::Failed })
}

/// What became of a file.
struct Made {
    text: String,
    /// The names that were written.
    servers: Vec<String>,
    /// What the other product has no field for: `{server, what}`.
    lost: Vec<Value>,
    /// What is kept as written, since the other product does not expand it: `{server, what}`.
    literal: Vec<Value>,
    /// Servers that were not written: `{server, what}`.
    left_out: Vec<Value>,
}

fn made(content: &str, (file, options): (&str, &ReadOptions), to: Format) -> Result<Made, Failure> {
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
fn gates(lists: &Lists) -> GateLists {
    GateLists::new(lists.allowed.clone(), lists.excluded.clone(), Vec::new())
}

/// Whether it keeps that one out.
fn is_shut(lists: &GateLists, name: &str) -> bool {
    let reasons = [GateReason::Excluded, GateReason::NotAllowed];
    reasons.iter().any(|reason| lists.list_of(*reason, name).is_some())
}

/// A new file for this user alone, since settings hold secrets; one that is there stays.
fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let saved = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    saved.map_err(|error| {
        Failure::usage(format!("{} is not written: {error}", escaped(&path.to_string_lossy())))
    })
}

#[cfg(test)]
mod tests;
