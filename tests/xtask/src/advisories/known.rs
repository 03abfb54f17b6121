//! What is known: both lists, read.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use semver::{Version, VersionReq};
use serde_json::Value;

use super::lock::Package;

pub struct Known {
    /// The day that the answers of RustSec are of.
    pub as_of: NaiveDate,
    /// The day of the youngest entry that the database had then, of whatever package: what is
    /// younger was not in the copy that was asked.
    pub newest: NaiveDate,
    /// By package; one without any was asked about too.
    rustsec: BTreeMap<String, Vec<Advisory>>,
    beyond: BTreeMap<String, Vec<Advisory>>,
    /// Warnings, and why each is none for us.
    pub accepted: BTreeMap<String, String>,
}

pub struct Advisory {
    pub id: String,
    pub kind: Kind,
    patched: Vec<VersionReq>,
    unaffected: Vec<VersionReq>,
    is_withdrawn: bool,
}

/// What RustSec calls it. All but the first are warnings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Vulnerability,
    Unsound,
    Unmaintained,
    Notice,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Vulnerability, Kind::Unsound, Kind::Unmaintained, Kind::Notice];

    pub fn word(self) -> &'static str {
        match self {
            Kind::Vulnerability => "vulnerability",
            Kind::Unsound => "unsound",
            Kind::Unmaintained => "unmaintained",
            Kind::Notice => "notice",
        }
    }
}

impl Known {
    pub fn read(rustsec: &str, beyond: &str) -> Result<Known, String> {
        let json =
            |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
        let (rustsec, beyond) = (json(rustsec)?, json(beyond)?);
        Ok(Known {
            as_of: day(&rustsec["as_of"])?,
            newest: day(&rustsec["newest"]["date"])?,
            rustsec: by_package(&rustsec["packages"])?,
            beyond: by_package(&beyond["advisories"])?,
            accepted: accepted(&beyond["accepted"])?,
        })
    }

    pub fn is_asked(&self, package: &str) -> bool {
        self.rustsec.contains_key(package)
    }

    /// What holds for a package in its version.
    pub fn open(&self, package: &Package) -> impl Iterator<Item = &Advisory> {
        let lists = [&self.rustsec, &self.beyond];
        let of_it = lists.into_iter().filter_map(|list| list.get(&package.name)).flatten();
        of_it.filter(|advisory| advisory.holds_for(&package.version))
    }
}

impl Advisory {
    fn read(item: &Value) -> Result<Advisory, String> {
        let id = item["id"].as_str().ok_or_else(|| format!("no id: {item}"))?.to_owned();
        let kind = Kind::ALL.into_iter().find(|kind| item["kind"] == kind.word());
        Ok(Advisory {
            kind: kind.ok_or_else(|| format!("{id}: of no kind that is known"))?,
            patched: ranges(&id, &item["patched"])?,
            unaffected: ranges(&id, &item["unaffected"])?,
            is_withdrawn: item["withdrawn"].is_string(),
            id,
        })
    }

    /// Whether it does. A version before a release is in no range that does not name one like it:
    /// then it holds, and somebody looks.
    fn holds_for(&self, version: &Version) -> bool {
        let mut fine = self.patched.iter().chain(&self.unaffected);
        !self.is_withdrawn && !fine.any(|range| range.matches(version))
    }

    pub fn patched(&self) -> String {
        let ranges: Vec<String> = self.patched.iter().map(VersionReq::to_string).collect();
        if ranges.is_empty() { "no version".to_owned() } else { ranges.join("; ") }
    }
}

fn day(text: &Value) -> Result<NaiveDate, String> {
    let day = text.as_str().unwrap_or_default().parse();
    day.map_err(|error| format!("{text} is no day: {error}"))
}

fn by_package(packages: &Value) -> Result<BTreeMap<String, Vec<Advisory>>, String> {
    let mut read = BTreeMap::new();
    for (name, list) in packages.as_object().ok_or("no packages")? {
        let list = list.as_array().ok_or_else(|| format!("{name}: no list"))?;
        read.insert(name.clone(), list.iter().map(Advisory::read).collect::<Result<_, _>>()?);
    }
    Ok(read)
}

fn accepted(accepted: &Value) -> Result<BTreeMap<String, String>, String> {
    let mut read = BTreeMap::new();
    for (id, reason) in accepted.as_object().ok_or("no warnings that are accepted")? {
        let reason = reason.as_str().filter(|reason| !reason.trim().is_empty());
        let reason = reason.ok_or_else(|| format!("{id} is accepted without a reason"))?;
        read.insert(id.clone(), reason.to_owned());
    }
    Ok(read)
}

fn ranges(id: &str, list: &Value) -> Result<Vec<VersionReq>, String> {
    let ranges = list.as_array().into_iter().flatten();
    let read = |range: &Value| {
        let text = range.as_str().ok_or_else(|| format!("{id}: {range} is no range"))?;
        VersionReq::parse(text).map_err(|error| format!("{id}: {text}: {error}"))
    };
    ranges.map(read).collect()
}
