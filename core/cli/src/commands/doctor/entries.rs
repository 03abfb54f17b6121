//! The settings files, the programs of their servers, and the entries that are in force.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use trunkline::bounded;
use trunkline::settings::{FILE_BYTES_MAX, ReadOptions, Source, Template, read};
use trunkline::{Result, Start, Surroundings, Way, find_program, find_start, find_way};
use trunkline_pool::text::escaped;

use super::finding::{Finding, State, Topic};
use crate::console::context::Opened;
use crate::console::format::text;

/// A settings file, as far as it can be read.
pub(super) struct Read {
    path: String,
    title: String,
    source: std::result::Result<Source, Box<Finding>>,
}

/// An entry that is the one of its name.
pub(super) struct DoctorEntry<'a> {
    pub name: &'a str,
    pub template: &'a Template,
    /// What its start would use, where it starts a program.
    pub start: Option<Start>,
    /// The way to it, where it is remote.
    pub way: Option<Way>,
    pub around: Surroundings<'a>,
}

/// Reads the files of these paths and titles.
pub(super) fn files(paths: Vec<(String, String)>, workspace: &Path) -> Vec<Read> {
    let files = paths.into_iter().map(|(path, title)| {
        let text = bounded::text(path.as_ref(), FILE_BYTES_MAX);
        let text = text
            .map_err(|error| Finding::new(State::Wrong, Topic::File, &*path, error.to_string()));
        let source = text.map_err(Box::new).and_then(|text| {
            read_as(&text, &path, workspace)
                .map_err(|error| Box::new(Finding::of(Topic::File, &*path, &error)))
        });
        Read { source, path, title }
    });
    files.collect()
}

fn read_as(text: &str, path: &str, workspace: &Path) -> Result<Source> {
    let workspace = workspace.to_str().filter(|path| !path.is_empty()).map(str::to_owned);
    read(text, path, &ReadOptions { workspace, ..ReadOptions::default() })
}

/// What is to be said of a file.
pub(super) fn of_file(file: &Read) -> Finding {
    let source = match &file.source {
        Ok(source) => source,
        Err(finding) => {
            let Finding { state, topic, about, message, hint, .. } = &**finding;
            let found = Finding::new(*state, *topic, &**about, message.clone());
            return Finding { hint: hint.clone(), ..found };
        }
    };
    let without_effect = match source.findings.len() {
        0 => String::new(),
        count => format!(", {count} fields without effect"),
    };
    let message = format!("{}: {} servers{without_effect}", file.title, source.servers.len());
    Finding::new(State::Good, Topic::File, &*file.path, message)
}

/// The programs of all entries. One whose name several files have is told with its file.
pub(super) fn programs(files: &[Read], workspace: &Path) -> Vec<Finding> {
    let mut times = BTreeMap::<&str, usize>::new();
    for (_, name, _) in entries(files) {
        *times.entry(name).or_default() += 1;
    }
    let found = entries(files).filter_map(|(path, name, template)| {
        let mut found = match find_program(name, template, workspace) {
            Ok(program) => {
                let program = program?.display().to_string();
                Finding::new(State::Good, Topic::Program, name, program)
            }
            Err(_) if template.unexpanded().disabled => return None,
            Err(error) => Finding::of(Topic::Program, name, &error),
        };
        if times[name] > 1 && !found.message.contains(path) {
            found.message = found.message.and(&format!(" ({})", escaped(path)));
        }
        Some(found)
    });
    found.collect()
}

/// All entries that can be understood, with the paths of their files.
fn entries(files: &[Read]) -> impl Iterator<Item = (&str, &str, &Template)> {
    files.iter().flat_map(|file| {
        let servers = file.source.iter().flat_map(|source| &source.servers);
        servers
            .filter_map(|server| Some((&*file.path, &*server.name, server.template.as_ref().ok()?)))
    })
}

/// The entries that the pool takes for their names, but for those that are switched off.
pub(super) fn in_force<'a>(
    files: &'a [Read],
    status: &Value,
    opened: &'a Opened,
) -> Vec<DoctorEntry<'a>> {
    let taken = entries(files).filter(|(path, name, template)| {
        status["servers"][*name]["file"] == **path && !template.unexpanded().disabled
    });
    let looked_at = taken.map(|(_, name, template)| {
        let origin = text(&status["servers"][name], "origin");
        let around = Surroundings {
            workspace: &opened.workspace,
            inherit_env: &opened.inherit_env,
            is_of_project: matches!(origin, "project" | "workspace"),
            path: None,
        };
        // What is wrong with the entry itself is told where programs and servers are.
        let start = find_start(name, template, &around).ok().flatten();
        let way = find_way(name, template, &opened.workspace).ok().flatten();
        DoctorEntry { name, template, start, way, around }
    });
    looked_at.collect()
}
