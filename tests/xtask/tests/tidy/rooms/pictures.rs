//! The pictures of `ARCHITECTURE.md`: the rooms, from the highest to the lowest, and the main flows
//! through them. A page beside it has each flow with its functions. The data that the tests hold
//! the code to make them all.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use serde_json::{Value, json};

use super::CRATES;
use super::flows::{Flow, Flows, Stage};

const MAP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md");

/// Every flow, with its functions.
const STEPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/internals/flow-steps.md");

/// As many flows as the map shows: the first of the list.
const FLOWS_ON_THE_MAP: usize = 5;

const END: &str = "<!-- end of the picture -->\n";

#[test]
fn the_map_shows_the_rooms_and_the_flows() {
    let (lists, flows) = (super::read_lists(), Flows::read());
    let page = fs::read_to_string(MAP).unwrap();
    let page = with_picture(&page, "rooms", &picture_of_rooms(&lists));
    stands_in(MAP, &with_picture(&page, "flows", &picture_of_flows(&flows, &lists)));
    let steps = fs::read_to_string(STEPS).unwrap();
    stands_in(STEPS, &with_picture(&steps, "steps", &steps_of_flows(&flows, &lists)));
}

/// Compares a page with what the data make of it, or writes it.
fn stands_in(path: &str, made: &str) {
    let page = fs::read_to_string(path).unwrap();
    if env::var_os("UPDATE_ROOMS").is_some() && made != page {
        fs::write(path, made).unwrap();
        return;
    }
    let differs = page.lines().zip(made.lines()).find(|(there, made)| there != made);
    assert!(
        made == page,
        "a picture of {path} is another; run UPDATE_ROOMS=1 cargo test -p xtask --test tidy \
         rooms. The first line that differs, and what it is made of the data: {differs:#?}"
    );
}

#[test]
fn the_map_shows_every_crate_of_the_rules_and_no_folder_that_is_gone() {
    let lists = super::read_lists();
    let shown: Vec<_> = lists["crates"].as_object().unwrap().keys().collect();
    let is_shown = |folder: &&str| shown.iter().any(|shown| folder.starts_with(*shown));
    let missing: Vec<_> = CRATES.into_iter().filter(|folder| !is_shown(folder)).collect();
    assert!(missing.is_empty(), "`crates` of rooms.json lacks {missing:?}");
    let root = Path::new(MAP).parent().unwrap();
    let gone: Vec<_> = shown.iter().filter(|folder| !root.join(folder).is_dir()).collect();
    assert!(gone.is_empty(), "`crates` of rooms.json names {gone:?}");
}

/// The page with this between the marks of the picture.
fn with_picture(page: &str, name: &str, picture: &str) -> String {
    let mark = format!("<!-- picture: {name} -->\n");
    let (before, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("no `{mark}`"));
    let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("`{mark}` has no end"));
    format!("{before}{mark}\n{picture}\n{END}{after}")
}

/// Crates and rooms, each line above what it may import.
fn picture_of_rooms(lists: &Value) -> String {
    let mut rows: Vec<(String, &str)> = Vec::new();
    for (folder, owns) in lists["crates"].as_object().unwrap().iter().rev() {
        rows.push((folder.clone(), owns.as_str().unwrap()));
        let rooms = lists["rooms"].get(folder).and_then(Value::as_object);
        for (room, row) in rooms.into_iter().flatten().rev() {
            rows.push((format!("  {room}"), row["owns"].as_str().unwrap()));
        }
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let line = |(name, owns): &(String, &str)| format!("{name:width$}  {owns}\n");
    format!("```text\n{}```\n", rows.iter().map(line).collect::<String>())
}

/// The main flows: the rooms of each stage, and what happens there.
fn picture_of_flows(flows: &Flows, lists: &Value) -> String {
    let one = |flow: &Flow| {
        let mut picture = format!("**{}.** {}\n\n```text\n", flow.name, flow.premise);
        let rooms: Vec<_> =
            flow.stages.iter().map(|stage| rooms_of(stage, lists).join(" → ")).collect();
        let width = rooms.iter().map(|rooms| rooms.chars().count()).max().unwrap_or_default();
        for (stage, rooms) in flow.stages.iter().zip(&rooms) {
            picture.push_str(&format!("{rooms:width$}  {}\n", stage.what));
        }
        picture + "```\n"
    };
    flows.flows.iter().take(FLOWS_ON_THE_MAP).map(one).collect::<Vec<_>>().join("\n")
}

/// Each flow as a list of its stages, with the rooms and functions that they go through.
fn steps_of_flows(flows: &Flows, lists: &Value) -> String {
    let files = flows.files();
    let one = |flow: &Flow| {
        let lines = flow.stages.iter().enumerate();
        let lines = lines.map(|(place, stage)| line(place + 1, stage, &files, lists));
        let goal = flow.goal.map(|goal| format!(" The goal is {goal}.")).unwrap_or_default();
        let Flow { name, premise, files, .. } = flow;
        format!("## {name}\n\n{premise} {files} files.{goal}\n\n{}", lines.collect::<String>())
    };
    flows.flows.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn line(number: usize, stage: &Stage, files: &BTreeSet<&str>, lists: &Value) -> String {
    let mut visits: Vec<(&str, Vec<&str>)> = Vec::new();
    for step in &stage.steps {
        match visits.last_mut() {
            Some((file, functions)) if *file == step.file => functions.push(&step.function),
            _ => visits.push((&step.file, vec![&step.function])),
        }
    }
    let visit = |(file, functions): &(&str, Vec<&str>)| {
        let label = label(file, files);
        match functions.as_slice() {
            [function] => format!("`{label}::{function}`"),
            functions => format!("`{label}::{{{}}}`", functions.join(", ")),
        }
    };
    let visits = visits.iter().map(visit).collect::<Vec<_>>().join(" → ");
    format!("{number}. **{}.** {}: {visits}\n", rooms_of(stage, lists).join(", "), stage.what)
}

/// The rooms of a stage, in the order in which it comes to them.
fn rooms_of<'a>(stage: &Stage, lists: &'a Value) -> Vec<&'a str> {
    let mut rooms = Vec::new();
    for step in &stage.steps {
        let room = room_of(&step.file, lists);
        if !rooms.contains(&room) {
            rooms.push(room);
        }
    }
    rooms
}

/// The room of a file, by the longest path of the table; of a crate without rooms, its folder.
fn room_of<'a>(file: &str, lists: &'a Value) -> &'a str {
    let mut found = ("", "");
    for (folder, rooms) in lists["rooms"].as_object().unwrap() {
        let Some(inner) = file.strip_prefix(&format!("{folder}/")) else { continue };
        for (room, row) in rooms.as_object().unwrap() {
            let paths = row["files"].as_array().unwrap().iter().filter_map(Value::as_str);
            let fits =
                |path: &&str| inner == *path || path.ends_with('/') && inner.starts_with(path);
            let longest = paths.filter(fits).max_by_key(|path| path.len());
            if let Some(path) = longest.filter(|path| path.len() > found.0.len()) {
                found = (path, room);
            }
        }
    }
    if !found.1.is_empty() {
        return found.1;
    }
    let mut crates = lists["crates"].as_object().unwrap().keys();
    let its_crate = crates.find(|folder| file.starts_with(&format!("{folder}/")));
    its_crate.unwrap_or_else(|| panic!("{file} is in no room"))
}

/// The module of a file, with as many folders as tell it from the other files of a flow.
fn label(file: &str, files: &BTreeSet<&str>) -> String {
    let modules: Vec<String> = files.iter().map(|other| module_of(other)).collect();
    let is_shared =
        |label: &str| modules.iter().filter(|module| ends_with(module, label)).count() > 1;
    let module = module_of(file);
    let mut starts = module.rmatch_indices('/').map(|(at, _)| at + 1);
    starts.find(|start| !is_shared(&module[*start..])).map_or(&*module, |at| &module[at..]).into()
}

fn ends_with(module: &str, label: &str) -> bool {
    module.strip_suffix(label).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

fn module_of(file: &str) -> String {
    file.trim_end_matches("/mod.rs").trim_end_matches(".rs").replace("/src/", "/")
}

/// Planted: a table and a flow of two rooms, and the pictures of both.
#[test]
fn rooms_stand_from_the_highest_and_flows_in_their_order() {
    let lists = json!({
        "crates": { "pure": "rules", "a/src": "the library" },
        "rooms": { "a/src": {
            "low": { "owns": "files", "files": ["low/", "high/x.rs"] },
            "high": { "owns": "names", "files": ["high/"] },
        } },
    });
    let rooms = "```text\na/src   the library\n  high  names\n  low   files\npure    rules\n```\n";
    assert_eq!(picture_of_rooms(&lists), rooms);
    let steps = [
        ("a/src/high/y.rs", "begin"),
        ("a/src/high/y.rs", "go"),
        ("a/src/high/x.rs", "go"),
        ("a/src/low/mod.rs", "end"),
        ("pure/src/x.rs", "end"),
    ];
    let steps = steps
        .map(|(file, function)| json!({ "file": file, "function": function, "does": "It goes." }));
    let flows = Flows::of(&json!({ "outside": [], "flows": [{
        "name": "Flow",
        "premise": "Something goes.",
        "files": 4,
        "goal": 3,
        "stages": [{ "what": "It goes", "steps": steps }],
    }] }));
    let picture = "**Flow.** Something goes.\n\n```text\nhigh → low → pure  It goes\n```\n";
    assert_eq!(picture_of_flows(&flows, &lists), picture);
    let steps = "## Flow\n\nSomething goes. 4 files. The goal is 3.\n\n1. **high, low, pure.** It \
                 goes: `y::{begin, go}` → `high/x::go` → `low::end` → `pure/x::end`\n";
    assert_eq!(steps_of_flows(&flows, &lists), steps);
    let page = "a\n<!-- picture: p -->\nold\n<!-- end of the picture -->\nb\n";
    let drawn = "a\n<!-- picture: p -->\n\nnew\n\n<!-- end of the picture -->\nb\n";
    assert_eq!(with_picture(page, "p", "new\n"), drawn);
}
