//! `cargo xtask advisories`: what is known against the packages that the project is built of, and
//! whether it holds for the versions in use.
//!
//! Two lists are kept as facts. `rustsec.json` has what the RustSec database says of each package
//! of the lock files, also that it says nothing; given the folder of a clone of that database, the
//! command writes it anew. `beyond.json` is written by hand: advisories that RustSec does not have,
//! and warnings that are accepted, with the reason. `SECURITY.md` says what the lists can and
//! cannot show.

mod database;
mod known;
mod lock;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use chrono::{NaiveDate, Utc};

use crate::machine::Machine;
use known::{Kind, Known};
use lock::Package;

const RUSTSEC: &str = "tests/xtask/src/advisories/rustsec.json";

const BEYOND: &str = "tests/xtask/src/advisories/beyond.json";

const RENEW: &str =
    "`cargo xtask advisories FOLDER` asks a clone of https://github.com/rustsec/advisory-db";

/// How old the answers of RustSec may be, in days: new advisories come every week.
const AGE_DAYS_MAX: i64 = 30;

/// Asks the clone in the folder that is named, if one is; then says what is broken.
pub fn advisories(machine: &Machine, chosen: &[&str]) -> ExitCode {
    let asked = chosen.first().map_or(Ok(()), |clone| renew(&machine.root, Path::new(clone)));
    let broken = match asked.and_then(|()| Judged::of(&machine.root, Utc::now().date_naive())) {
        Ok(judged) => {
            let (count, Known { as_of, newest, .. }) = (judged.count, &judged.known);
            println!("{count} packages; RustSec as of {as_of}, its youngest entry of {newest}");
            judged.broken
        }
        Err(why) => vec![why],
    };
    broken.iter().for_each(|line| eprintln!("xtask: {line}"));
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn renew(root: &Path, clone: &Path) -> Result<(), String> {
    let names = lock::all(root)?.into_iter().map(|package| package.name).collect();
    let facts = database::facts(clone, &names, &database::commit(clone)?)?;
    let file = root.join(RUSTSEC);
    let wrong = |why: &dyn Display| format!("{}: {why}", file.display());
    let kept = serde_json::from_str(&read(&file)?).map_err(|error| wrong(&error))?;
    if let Some(id) = database::lost(&kept, &facts) {
        return Err(format!("{} has no {id}, which was there before", clone.display()));
    }
    std::fs::write(&file, database::text(&facts)).map_err(|error| wrong(&error))
}

struct Judged {
    known: Known,
    /// How many packages there are, each version by itself.
    count: usize,
    broken: Vec<String>,
}

impl Judged {
    fn of(root: &Path, today: NaiveDate) -> Result<Judged, String> {
        let known = Known::read(&read(&root.join(RUSTSEC))?, &read(&root.join(BEYOND))?)?;
        let packages = lock::all(root)?;
        let broken = broken(&known, &packages, today);
        Ok(Judged { known, count: packages.len(), broken })
    }
}

/// All that is broken: answers too old, a package that was not asked about, an advisory that holds,
/// a warning that nobody accepted, and one that was accepted and holds no more.
fn broken(known: &Known, packages: &BTreeSet<Package>, today: NaiveDate) -> Vec<String> {
    let mut broken = Vec::from_iter(too_old(known.as_of, today));
    let mut warnings = BTreeSet::new();
    for package in packages {
        let Package { name, version } = package;
        if !known.is_asked(name) {
            broken.push(format!("{name} was never asked about: {RENEW}"));
        }
        for advisory in known.open(package) {
            let id = advisory.id.as_str();
            if advisory.kind == Kind::Vulnerability {
                let patched = advisory.patched();
                broken.push(format!("{name} {version} has {id}; patched in: {patched}"));
                continue;
            }
            warnings.insert(id);
            if !known.accepted.contains_key(id) {
                let kind = advisory.kind.word();
                broken.push(format!(
                    "{name} {version} is {kind} ({id}), and {BEYOND} does not accept it"
                ));
            }
        }
    }
    let accepted = known.accepted.keys().filter(|id| !warnings.contains(id.as_str()));
    broken.extend(accepted.map(|id| format!("{id} is accepted, and holds for nothing")));
    broken
}

/// What is wrong with answers of that day.
fn too_old(as_of: NaiveDate, today: NaiveDate) -> Option<String> {
    match (today - as_of).num_days() {
        // Where it was asked it may be tomorrow already.
        -1..=AGE_DAYS_MAX => None,
        ..-1 => Some(format!("RustSec was asked on {as_of}, which is still to come")),
        days => Some(format!(
            "RustSec was asked on {as_of}, {days} days ago, and {AGE_DAYS_MAX} are the most: {RENEW}"
        )),
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}
