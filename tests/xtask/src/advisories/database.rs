//! The facts of a clone of the RustSec database: numbers, days, kinds and ranges, and no text of
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::known::Kind;
use super::read;

/// The commit that a clone is at.
pub struct Commit {
    pub hash: String,
    pub day: String,
}

pub fn commit(clone: &Path) -> Result<Commit, String> {
    let log = ["log", "-1", "--format=%H %cs"];
    let output = Command::new("git").arg("-C").arg(clone).args(log).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (hash, day) =
        text.trim().split_once(' ').ok_or_else(|| format!("{}: no clone", clone.display()))?;
    Ok(Commit { hash: hash.to_owned(), day: day.to_owned() })
}

/// What a clone says of these packages. The day is that of its commit: an old clone gives old
/// answers, whenever it is asked.
pub fn facts(clone: &Path, names: &BTreeSet<String>, commit: &Commit) -> Result<Value, String> {
    let mut packages: BTreeMap<&str, Vec<Value>> =
        names.iter().map(|name| (name.as_str(), Vec::new())).collect();
    let mut newest = (String::new(), String::new());
    for folder in entries(&clone.join("crates"))? {
        let mut files = entries(&folder)?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
        for file in files {
            let advisory =
                advisory(&read(&file)?).map_err(|why| format!("{}: {why}", file.display()))?;
            let member = |key: &str| advisory.facts[key].as_str().unwrap_or_default().to_owned();
            newest = newest.max((member("date"), member("id")));
            if let Some(known) = packages.get_mut(advisory.package.as_str()) {
                known.push(advisory.facts);
            }
        }
    }
    let (date, id) = newest;
    Ok(json!({
        "as_of": commit.day,
        "newest": { "id": id, "date": date },
        "source": format!("https://github.com/rustsec/advisory-db at {}", commit.hash),
        "packages": packages,
    }))
}

/// An advisory that was known of a package, and is known no more. The database withdraws advisories
/// and takes none out: a clone without one is not whole.
pub fn lost(kept: &Value, facts: &Value) -> Option<String> {
    let asked = facts["packages"].as_object().into_iter().flatten();
    let lost = asked.flat_map(|(name, now)| {
        let before = kept["packages"][name].as_array().into_iter().flatten();
        let is_known =
            |id: &Value| now.as_array().into_iter().flatten().any(|item| item["id"] == *id);
        before.map(|item| &item["id"]).filter(move |id| !is_known(id))
    });
    lost.filter_map(Value::as_str).next().map(str::to_owned)
}

/// How the file is written: a line for each advisory, so that a change of it can be read.
pub fn text(facts: &Value) -> String {
    let member = |key: &str| format!("  \"{key}\": {},\n", facts[key]);
    let packages = facts["packages"].as_object().into_iter().flatten().map(|(name, list)| {
        let known: Vec<String> =
            list.as_array().into_iter().flatten().map(|item| format!("\n      {item}")).collect();
        let close = if known.is_empty() { "" } else { "\n    " };
        format!("    \"{name}\": [{}{close}]", known.join(","))
    });
    let packages = packages.collect::<Vec<_>>().join(",\n");
    let head = ["as_of", "newest", "source"].map(member).concat();
    format!("{{\n{head}  \"packages\": {{\n{packages}\n  }}\n}}\n")
}

struct Advisory {
    package: String,
    facts: Value,
}

/// The facts of one page: they stand before its text, between fences.
fn advisory(page: &str) -> Result<Advisory, String> {
    let fenced = page.strip_prefix("```toml\n").and_then(|rest| rest.split_once("\n```"));
    let (front, _) = fenced.ok_or("no facts before the text")?;
    let table = DeTable::parse(front).map_err(|error| error.to_string())?;
    let of = |part: &str, key: &str| {
        table.get_ref().get(part)?.get_ref().get(key).map(|value| value.get_ref())
    };
    let word = |key: &str| of("advisory", key).and_then(DeValue::as_str);
    let (id, date) = (word("id").ok_or("no id")?, word("date").ok_or("no date")?);
    let kind = word("informational").unwrap_or(Kind::Vulnerability.word());
    let mut facts = json!({ "id": id, "date": date, "kind": kind });
    let lists = [("advisory", "aliases"), ("versions", "patched"), ("versions", "unaffected")];
    for (part, key) in lists {
        let list = words(of(part, key));
        if !list.is_empty() || key == "patched" {
            facts[key] = json!(list);
        }
    }
    if let Some(day) = word("withdrawn") {
        facts["withdrawn"] = json!(day);
    }
    Ok(Advisory { package: word("package").ok_or("no package")?.to_owned(), facts })
}

fn words<'a>(list: Option<&'a DeValue>) -> Vec<&'a str> {
    let items = list.and_then(DeValue::as_array).into_iter().flat_map(|list| list.iter());
    items.filter_map(|item| item.get_ref().as_str()).collect()
}

/// What is in a folder, in order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    let listed = std::fs::read_dir(folder).map_err(wrong)?;
    let mut paths: Vec<PathBuf> =
        listed.map(|entry| Ok(entry.map_err(wrong)?.path())).collect::<Result<_, String>>()?;
    paths.sort();
    Ok(paths)
}
