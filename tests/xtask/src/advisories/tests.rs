use std::collections::BTreeSet;
use std::path::Path;

use chrono::{Days, NaiveDate, Utc};
use serde_json::{Value, json};

use super::database::{self, Commit};
use super::known::Known;
use super::lock::{self, Package};
use super::{AGE_DAYS_MAX, BEYOND, Judged, RUSTSEC, broken, read, too_old};
use crate::folder::Folder;
use crate::score;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn package(name: &str, version: &str) -> Package {
    Package { name: name.to_owned(), version: version.parse().unwrap() }
}

/// What RustSec answers on a day, whose youngest entry is of the same.
fn answered(day: &str, packages: Value) -> String {
    json!({ "as_of": day, "newest": { "date": day }, "packages": packages }).to_string()
}

/// What is broken on 2 January for these packages, asked about on the day before; `one` has this
/// advisory.
fn broken_for(packages: &[Package], advisory: Value, accepted: Value) -> Vec<String> {
    let rustsec = answered("2026-01-01", json!({ "one": [advisory], "two": [] }));
    let beyond = json!({ "advisories": {}, "accepted": accepted });
    let known = Known::read(&rustsec, &beyond.to_string()).unwrap();
    broken(&known, &packages.iter().cloned().collect(), day("2026-01-02"))
}

fn vulnerability(patched: &[&str], unaffected: &[&str]) -> Value {
    json!({ "id": "A", "kind": "vulnerability", "patched": patched, "unaffected": unaffected })
}

fn unsound() -> Value {
    json!({ "id": "A", "kind": "unsound", "patched": [] })
}

#[test]
fn no_dependency_has_an_open_advisory() {
    let judged = Judged::of(root(), Utc::now().date_naive()).unwrap();
    assert_eq!(judged.broken, Vec::<String>::new());
    score::done("advisories", judged.count as u64);
}

#[test]
fn a_planted_advisory_is_found_in_each_lock_file() {
    let rustsec = read(&root().join(RUSTSEC)).unwrap();
    let packages = lock::all(root()).unwrap();
    // One in a single version, one in several, one that the fuzzer's own lock file alone has.
    for name in ["rmcp", "rand", "libfuzzer-sys"] {
        let with = format!("\"{name}\": [{{\"id\":\"PLANTED\",\"kind\":\"vulnerability\"}}");
        let planted = rustsec.replacen(&format!("\"{name}\": ["), &with, 1);
        let planted = planted.replace("}      {", "},      {").replace("}\n      {", "},\n      {");
        assert_ne!(planted, rustsec, "{name}");
        let known = Known::read(&planted, &read(&root().join(BEYOND)).unwrap()).unwrap();
        let found = broken(&known, &packages, known.as_of);
        let planted =
            found.iter().filter(|line| line.contains("has PLANTED; patched in: no version"));
        let versions = packages.iter().filter(|it| it.name == name).count();
        assert!(versions > 0, "{name} is in no lock file");
        assert_eq!(planted.count(), versions, "{name}");
    }
}

#[test]
fn what_rustsec_lacks_is_found_too() {
    // RustSec's list grows by itself.
    let rustsec = answered("2026-01-01", json!({ "rmcp": [] }));
    let known = Known::read(&rustsec, &read(&root().join(BEYOND)).unwrap()).unwrap();
    let count = |version| known.open(&package("rmcp", version)).count();
    assert_eq!((count("1.3.9"), count("2.0.1"), count("3.8.0"), count("3.9.0")), (7, 5, 1, 0));
}

#[test]
fn a_version_is_held_against_the_ranges() {
    let ranges = vulnerability(&[">= 1.2.3", "^0.9.4"], &["< 0.5", "=0.7.1"]);
    let is_open = |version| {
        let found = broken_for(&[package("one", version)], ranges.clone(), json!({}));
        let whole = format!("one {version} has A; patched in: >=1.2.3; ^0.9.4");
        assert!(found.is_empty() || found == [whole], "{found:?}");
        !found.is_empty()
    };
    for version in ["1.2.3", "1.2.3+build", "2.0.0", "0.9.4", "0.9.10", "0.4.99", "0.7.1"] {
        assert!(!is_open(version), "{version}");
    }
    for version in ["1.2.2", "1.0.0", "0.9.3", "0.10.0", "0.5.0", "0.7.2", "1.2.3-rc.1"] {
        assert!(is_open(version), "{version}");
    }
}

#[test]
fn an_advisory_that_was_withdrawn_holds_for_nothing() {
    let mut withdrawn = vulnerability(&[], &[]);
    assert_eq!(broken_for(&[package("one", "1.0.0")], withdrawn.clone(), json!({})).len(), 1);
    withdrawn["withdrawn"] = json!("2025-12-01");
    assert_eq!(broken_for(&[package("one", "1.0.0")], withdrawn, json!({})).len(), 0);
}

#[test]
fn a_package_that_was_not_asked_about_is_broken() {
    let packages = [package("two", "1.0.0"), package("three", "1.0.0")];
    let found = broken_for(&packages, unsound(), json!({}));
    assert!(matches!(&found[..], [line] if line.starts_with("three was never asked about")));
}

#[test]
fn a_warning_is_broken_until_it_is_accepted() {
    let one = [package("one", "1.0.0")];
    let found = broken_for(&one, unsound(), json!({}));
    assert!(
        matches!(&found[..], [line] if line.starts_with("one 1.0.0 is unsound (A)")),
        "{found:?}"
    );
    assert_eq!(broken_for(&one, unsound(), json!({ "A": "nothing of ours calls it" })).len(), 0);
    // A vulnerability is never accepted, and neither is what holds for nothing.
    let accepted = json!({ "A": "nothing of ours calls it" });
    assert_eq!(broken_for(&one, vulnerability(&[], &[]), accepted.clone()).len(), 2);
    let two = [package("two", "1.0.0")];
    assert_eq!(broken_for(&two, unsound(), accepted), ["A is accepted, and holds for nothing"]);
}

#[test]
fn a_warning_is_accepted_with_a_reason_alone() {
    let rustsec = answered("2026-01-01", json!({}));
    let read = |reason| {
        let beyond = json!({ "advisories": {}, "accepted": { "A": reason } }).to_string();
        Known::read(&rustsec, &beyond).err()
    };
    assert_eq!(read("it is not called"), None);
    assert_eq!(read(" "), Some("A is accepted without a reason".to_owned()));
}

#[test]
fn answers_are_too_old_after_thirty_days() {
    let asked = day("2026-02-01");
    let after = |days| too_old(asked, asked + Days::new(days));
    assert_eq!((after(0), after(AGE_DAYS_MAX as u64)), (None, None));
    let why = after(31).unwrap();
    assert!(why.starts_with("RustSec was asked on 2026-02-01, 31 days ago, and 30 are the most"));
    // East of here it is tomorrow, but not the day after.
    assert_eq!(too_old(asked, asked - Days::new(1)), None);
    assert!(too_old(asked, asked - Days::new(2)).is_some());
    let known = Known::read(
        &answered("2026-02-01", json!({})),
        &json!({ "advisories": {}, "accepted": {} }).to_string(),
    );
    assert_eq!(broken(&known.unwrap(), &BTreeSet::new(), day("2026-03-04")), [why]);
}

#[test]
fn a_list_that_cannot_be_read_is_refused() {
    let refused = |advisory| {
        let rustsec = answered("2026-01-01", json!({ "one": [advisory] }));
        Known::read(&rustsec, r#"{"advisories":{},"accepted":{}}"#).err().unwrap()
    };
    assert!(refused(vulnerability(&["from 1.0 on"], &[])).starts_with("A: from 1.0 on: "));
    assert_eq!(refused(json!({ "id": "A", "kind": "bad" })), "A: of no kind that is known");
    let undated = answered("yesterday", json!({}));
    let why = Known::read(&undated, "{}").err().unwrap();
    assert!(why.starts_with("\"yesterday\" is no day: "), "{why}");
    assert_eq!(lock::of("version = 4"), Err("a lock file without packages".to_owned()));
}

#[test]
fn the_packages_of_a_lock_file_are_those_from_elsewhere() {
    let lock = "[[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n\
        [[package]]\nname = \"one\"\nversion = \"1.2.3+x\"\nsource = \"registry\"\n\
        [[package]]\nname = \"one\"\nversion = \"2.0.0-rc.1\"\nsource = \"git\"\n";
    let both = BTreeSet::from([package("one", "1.2.3+x"), package("one", "2.0.0-rc.1")]);
    assert_eq!(lock::of(lock), Ok(both));
}

#[test]
fn a_clone_is_asked_for_facts() {
    let clone = Folder::new();
    let page = |package: &str, number: u8, rest: &str| {
        let folder = clone.join("crates").join(package);
        std::fs::create_dir_all(&folder).unwrap();
        let id = format!("RUSTSEC-2026-000{number}");
        let head = format!("id = \"{id}\"\npackage = \"{package}\"\ndate = \"2026-05-0{number}\"");
        let text = format!(
            "```toml\n[advisory]\n{head}\n{rest}\n```\n\n# A text\n\n```toml\nno facts\n```\n"
        );
        std::fs::write(folder.join(format!("{id}.md")), text).unwrap();
    };
    page(
        "one",
        2,
        "informational = \"unmaintained\"\nwithdrawn = \"2026-05-09\"\n[versions]\npatched = []",
    );
    page(
        "one",
        1,
        "aliases = [\"CVE-1\"]\n[versions]\npatched = [\">= 1.0\"]\nunaffected = [\"< 0.3\"]",
    );
    page("another", 3, "[versions]\npatched = [\"^2\"]");
    let names = BTreeSet::from(["one".to_owned(), "none".to_owned()]);
    let commit = Commit { hash: "abc".to_owned(), day: "2026-06-01".to_owned() };
    let text = database::text(&database::facts(&clone, &names, &commit).unwrap());
    let expected = r#"{
  "as_of": "2026-06-01",
  "newest": {"id":"RUSTSEC-2026-0003","date":"2026-05-03"},
  "source": "https://github.com/rustsec/advisory-db at abc",
  "packages": {
    "none": [],
    "one": [
      {"id":"RUSTSEC-2026-0001","date":"2026-05-01","kind":"vulnerability","aliases":["CVE-1"],"patched":[">= 1.0"],"unaffected":["< 0.3"]},
      {"id":"RUSTSEC-2026-0002","date":"2026-05-02","kind":"unmaintained","patched":[],"withdrawn":"2026-05-09"}
    ]
  }
}
"#;
    assert_eq!(text, expected);
    // A folder that is no clone says nothing, which is not the same as that there is nothing.
    assert!(database::facts(&clone.join("none"), &names, &commit).is_err());
    std::fs::write(clone.join("crates/one/new.md"), "# Without facts\n").unwrap();
    assert!(
        database::facts(&clone, &names, &commit).unwrap_err().ends_with("no facts before the text")
    );
}

#[test]
fn a_clone_that_is_not_whole_is_refused() {
    let with = |ids: &[&str]| {
        let known: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
        json!({ "packages": { "one": known, "two": [] } })
    };
    let kept = with(&["A", "B"]);
    assert_eq!(database::lost(&kept, &with(&["B", "C"])), Some("A".to_owned()));
    assert_eq!(database::lost(&kept, &with(&["A", "B", "C"])), None);
    // Of a package that is gone from the lock files nothing is asked.
    assert_eq!(database::lost(&kept, &json!({ "packages": { "two": [] } })), None);
}

#[test]
fn the_kept_list_is_written_as_the_command_writes_it() {
    let kept = read(&root().join(RUSTSEC)).unwrap();
    assert_eq!(database::text(&serde_json::from_str(&kept).unwrap()), kept);
}
