//! The rooms of the house and their walls. `rooms.json` says which file is in which room, and what
//! still breaks a rule: those lists only shrink.

mod flows;
mod graph;
mod pictures;
mod planted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use serde_json::{Map, Value, json};

use super::source::{self, Source};
use graph::{Arrows, Graph, Kind, TypeName, tokens};

const LISTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tidy/rooms.json");

/// Held by a test that writes the lists, or reads them beside that.
static LISTS_IN_USE: Mutex<()> = Mutex::new(());

const CRATES: [&str; 6] = [
    "core/src",
    "core/pool/src",
    "core/cli/src",
    "ffi/src",
    "bindings/python/src",
    "bindings/node/src",
];

const COMMENT_COLUMNS_MAX: usize = 100;

/// What breaks a rule: how far, which may only shrink, and how it does.
struct Breach {
    key: String,
    count: usize,
    how: String,
}

type Breaches = BTreeMap<&'static str, Vec<Breach>>;

/// By rule and key: how far it may be broken.
type Allowed = BTreeMap<String, BTreeMap<String, usize>>;

fn breach(key: impl Into<String>, count: usize, how: impl Into<String>) -> Breach {
    Breach { key: key.into(), count, how: how.into() }
}

#[test]
fn what_breaks_the_rules_of_rooms_only_shrinks() {
    let files = source::tracked_in(&CRATES);
    let mut lists = read_lists();
    let allowed: Allowed = serde_json::from_value(lists["allowed"].clone()).unwrap();
    let found = breaches(&files, &lists);
    let (grown, shrunk) = compare(&found, &allowed);
    let may_grow = env::var_os("ROOMS_MAY_GROW").is_some();
    let updates = env::var_os("UPDATE_ROOMS").is_some();
    if updates && (grown.is_empty() || may_grow) {
        let keyed = |of: &Vec<Breach>| -> BTreeMap<String, usize> {
            of.iter().map(|breach| (breach.key.clone(), breach.count)).collect()
        };
        let allowed: BTreeMap<_, _> = found.iter().map(|(rule, of)| (rule, keyed(of))).collect();
        lists["allowed"] = json!(allowed);
        let _alone = LISTS_IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        fs::write(LISTS, format!("{lists:#}\n")).unwrap();
        return;
    }
    assert!(grown.is_empty(), "{} are not allowed:\n{}", grown.len(), grown.join("\n"));
    assert!(
        shrunk.is_empty(),
        "{} are better than listed; run UPDATE_ROOMS=1 cargo test -p xtask --test tidy rooms:\n{}",
        shrunk.len(),
        shrunk.join("\n")
    );
}

fn read_lists() -> Value {
    let _alone = LISTS_IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    serde_json::from_str(&fs::read_to_string(LISTS).unwrap()).unwrap()
}

/// What is worse than the lists allow, and what is better.
fn compare(found: &Breaches, allowed: &Allowed) -> (Vec<String>, Vec<String>) {
    let (mut grown, mut shrunk) = (Vec::new(), Vec::new());
    let (mut seen, mut told) = (BTreeSet::new(), BTreeSet::new());
    for (rule, breaches) in found {
        for Breach { key, count, how } in breaches {
            let limit = allowed.get(*rule).and_then(|keys| keys.get(key)).copied().unwrap_or(0);
            let line = format!("{rule}: {key}: {count} where {limit} is listed ({how})");
            let order = count.cmp(&limit);
            // Of a circle one file tells what it was and is, and each that was in none.
            let is_told = *rule == "circles" && limit > 0 && !told.insert((how, order));
            match order {
                _ if is_told => {}
                std::cmp::Ordering::Greater => grown.push(line),
                std::cmp::Ordering::Less => shrunk.push(line),
                std::cmp::Ordering::Equal => {}
            }
            seen.insert((*rule, key.as_str()));
        }
    }
    for (rule, keys) in allowed {
        let gone = keys.keys().filter(|key| !seen.contains(&(rule.as_str(), key.as_str())));
        shrunk.extend(gone.map(|key| format!("{rule}: {key}: none is left")));
    }
    (grown, shrunk)
}

fn breaches(files: &[Source], lists: &Value) -> Breaches {
    let mut found = Breaches::new();
    let mut unread = Vec::new();
    let mut add = |rule, more: Vec<Breach>| found.entry(rule).or_default().extend(more);
    for folder in CRATES {
        let prefix = format!("{folder}/");
        let all = || files.iter().filter(|file| file.path.starts_with(&prefix));
        let product: Vec<_> =
            all().filter(|file| file.is_rust() && !file.is_test_line(0)).collect();
        let graph = Graph::new(&product, &format!("{folder}/lib.rs"));
        let arrows = graph.arrows();
        let reached: BTreeSet<_> = graph.files().collect();
        let paths = product.iter().map(|file| file.path.as_str());
        unread.extend(paths.filter(|path| !reached.contains(path)));
        if let Some(rooms) = lists["rooms"][folder].as_object() {
            add("upward arrows", upward(&arrows, &rooms_of(&prefix, rooms, &reached)));
        }
        add("circles", circles(&arrows));
        add("folders", folders(folder, &reached));
        add("names", named(&reached, &lists["no names"]));
        add("homonyms", homonyms(folder, &graph.types, &graph.twins()));
        add("questions", product.iter().flat_map(|file| questions(file)).collect());
        add("wide comments", all().filter_map(wide_comments).collect());
    }
    assert_eq!(json!(unread), lists["outside"], "files to which no `mod` of a crate leads");
    found
}

/// The room of each file, with its place in the order. The longest path of the table that fits a
/// file counts; one with `/` at its end is a folder.
fn rooms_of<'a>(
    prefix: &str,
    rooms: &'a Map<String, Value>,
    files: &BTreeSet<&'a str>,
) -> BTreeMap<&'a str, (usize, &'a str)> {
    let mut table = BTreeMap::new();
    for (place, (room, row)) in rooms.iter().enumerate() {
        for path in row["files"].as_array().into_iter().flatten().flat_map(Value::as_str) {
            let known = table.insert(format!("{prefix}{path}"), (place, room.as_str()));
            assert!(known.is_none(), "{path} is in two rooms");
        }
    }
    let room_of = |file: &&'a str| {
        let fits = |path: &str| path == *file || path.ends_with('/') && file.starts_with(path);
        table.iter().filter(|(path, _)| fits(path)).max_by_key(|(path, _)| path.len())
    };
    let used: BTreeSet<_> = files.iter().filter_map(room_of).map(|(path, _)| path).collect();
    let unused: Vec<_> = table.keys().filter(|path| !used.contains(path)).collect();
    assert!(unused.is_empty(), "the table of rooms names what is not there: {unused:?}");
    let homeless: Vec<_> = files.iter().filter(|file| room_of(file).is_none()).collect();
    assert!(homeless.is_empty(), "files without a room: {homeless:?}");
    files.iter().filter_map(|file| Some((*file, *room_of(file)?.1))).collect()
}

fn upward(arrows: &Arrows, rooms: &BTreeMap<&str, (usize, &str)>) -> Vec<Breach> {
    let climbs = arrows.iter().filter(|((from, to), _)| rooms[from].0 < rooms[to].0);
    let told = climbs.map(|((from, to), (_, by))| {
        let how = format!("room {} -> room {}, by `{by}`", rooms[from].1, rooms[to].1);
        breach(format!("{from} -> {to}"), 1, how)
    });
    told.collect()
}

/// The files that need one another in a circle, each with the number of files in it.
fn circles<'a>(arrows: &Arrows<'a>) -> Vec<Breach> {
    let mut needs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for ((from, to), _) in arrows.iter().filter(|(_, (kind, _))| *kind == Kind::Need) {
        needs.entry(*from).or_default().push(*to);
    }
    let reached_from = |file: &'a str| {
        let (mut reached, mut ahead) = (BTreeSet::new(), vec![file]);
        while let Some(file) = ahead.pop() {
            let next = needs.get(file).into_iter().flatten();
            ahead.extend(next.filter(|to| reached.insert(**to)));
        }
        reached
    };
    let reached: BTreeMap<_, _> = needs.keys().map(|file| (*file, reached_from(file))).collect();
    let circle = |file: &str| -> Vec<&str> {
        let back = |to: &&str| reached.get(to).is_some_and(|from| from.contains(file));
        reached[file].iter().copied().filter(back).collect()
    };
    let circles = reached.keys().map(|file| (*file, circle(file)));
    circles
        .filter(|(_, circle)| circle.len() > 1)
        .map(|(file, circle)| {
            let some = circle[..circle.len().min(12)].join(", ");
            breach(file, circle.len(), format!("files in a circle, such as {some}"))
        })
        .collect()
}

/// By how many files a folder is outside 5 to 15; a crate's root has its root file alone.
fn folders(root: &str, files: &BTreeSet<&str>) -> Vec<Breach> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (folder, _) in files.iter().filter_map(|file| file.rsplit_once('/')) {
        *counts.entry(folder).or_default() += 1;
    }
    let outside = counts.into_iter().map(|(folder, count)| {
        let how = format!("{count} files");
        match count {
            _ if folder == root => breach(format!("{folder}: loose files"), count - 1, how),
            ..5 => breach(format!("{folder}: files too few"), 5 - count, how),
            _ => breach(format!("{folder}: files too many"), count.saturating_sub(15), how),
        }
    });
    outside.filter(|breach| breach.count > 0).collect()
}

fn named(files: &BTreeSet<&str>, no_names: &Value) -> Vec<Breach> {
    let no_names: Vec<_> =
        no_names.as_array().into_iter().flatten().flat_map(Value::as_str).collect();
    let stem = |file: &str| file.trim_end_matches("/mod.rs").trim_end_matches(".rs").to_string();
    let found = files
        .iter()
        .filter(|file| stem(file).rsplit('/').next().is_some_and(|name| no_names.contains(&name)));
    found.map(|file| breach(*file, 1, "a file is called by a noun")).collect()
}

/// The type names that stand for several ideas. Twins, between which a feature or a system chooses,
/// are one.
fn homonyms(folder: &str, types: &[TypeName], twins: &[(&str, BTreeSet<&str>)]) -> Vec<Breach> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let is_free = |of: &TypeName| {
        matches!(of.name, "Error" | "Builder") || of.name == "State" && !of.is_public
    };
    for of in types.iter().filter(|of| !is_free(of)) {
        files.entry(of.name).or_default().insert(of.file);
    }
    for (name, twins) in twins {
        if let Some(files) = files.get_mut(name) {
            let others: Vec<_> = files.intersection(twins).skip(1).copied().collect();
            files.retain(|file| !others.contains(file));
        }
    }
    let shared = files.into_iter().filter(|(_, files)| files.len() > 1);
    let told = shared.map(|(name, files)| {
        let how = files.iter().copied().collect::<Vec<_>>().join(", ");
        breach(format!("{folder} {name}"), files.len(), how)
    });
    told.collect()
}

/// Functions that are named as questions, but change something or answer with no `bool`.
fn questions(file: &Source) -> Vec<Breach> {
    let tokens = tokens(file);
    let mut found = Vec::new();
    for (at, word) in tokens.iter().enumerate().skip(1) {
        let asks = ["is_", "has_", "are_", "was_"].iter().any(|start| word.starts_with(start));
        if tokens[at - 1] != "fn" || !asks {
            continue;
        }
        let mut open = 0usize;
        let end = tokens[at..].iter().position(|token| {
            match *token {
                "[" => open += 1,
                "]" => open = open.saturating_sub(1),
                _ => {}
            }
            // The length of an array stands behind a semicolon too.
            matches!(*token, "{" | "where") || *token == ";" && open == 0
        });
        let head = &tokens[at..at + end.unwrap_or_default()];
        let key = format!("{} fn {word}", file.path);
        if head.windows(2).any(|pair| pair == ["mut", "self"]) && head.contains(&"&") {
            found.push(breach(key, 1, "takes `&mut self`"));
        } else if !head.ends_with(&[")", "-", ">", "bool"]) {
            found.push(breach(key, 1, "does not return a `bool`"));
        }
    }
    found
}

/// Prose alone: a row of a table, a shape as code and what stands in a fence cannot be broken.
fn wide_comments(file: &Source) -> Option<Breach> {
    let mut is_fenced = false;
    let mut count = 0;
    for line in file.text.lines() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_fenced = false;
            continue;
        };
        let words = comment.trim_start_matches(['/', '!', ' ']);
        is_fenced ^= words.starts_with("```");
        let is_prose = !is_fenced && !words.starts_with(['|', '`']);
        count += usize::from(is_prose && line.chars().count() > COMMENT_COLUMNS_MAX);
    }
    let how = format!("comments over {COMMENT_COLUMNS_MAX} columns");
    (count > 0).then(|| breach(&file.path, count, how))
}
