//! What is expected: `tests/conformance/reference.json` and `served.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, from_str, from_value};

use crate::run::Stop;

/// The checks that a client must pass.
#[derive(Clone)]
pub struct Reference {
    /// By scored scenario, by revision: what the Rust SDK's own client passes.
    pub scored: BTreeMap<String, BTreeMap<String, u64>>,
    /// By scenario that is not scored and that a pool can pass, in each revision: all its checks.
    beside: BTreeMap<String, u64>,
}

impl Reference {
    pub fn read(root: &Path) -> Result<Reference, Stop> {
        let parsed = Reference::parse(&text(root, PATH)?);
        parsed.map_err(|error| Stop::Failed(format!("{PATH}: {error}")))
    }

    /// What is expected of servers: of the reference server itself, and of an endpoint in front of
    /// one of either era.
    pub fn served(root: &Path) -> Result<BTreeMap<String, Reference>, Stop> {
        let parsed = from_str::<BTreeMap<String, _>>(&text(root, SERVED)?);
        let parsed = parsed.map_err(|error| Stop::Failed(format!("{SERVED}: {error}")))?;
        let one = |(of, scored)| (of, Reference { scored, beside: BTreeMap::new() });
        Ok(parsed.into_iter().map(one).collect())
    }

    pub fn parse(text: &str) -> serde_json::Result<Reference> {
        let mut whole: Value = from_str(text)?;
        let [scored, beside] = ["scored", "beside"].map(|part| whole[part].take());
        Ok(Reference { scored: from_value(scored)?, beside: from_value(beside)? })
    }

    /// The same, of one revision alone.
    pub fn of(&self, revision: &str) -> Reference {
        let mut one = self.clone();
        one.scored.retain(|name, _| name == revision);
        one
    }

    /// All that is wanted: revision, scenario, checks.
    pub fn wanted(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.scored.iter().flat_map(|(revision, scenarios)| {
            let wanted = scenarios.iter().chain(&self.beside);
            wanted.map(move |(scenario, checks)| (revision.as_str(), scenario.as_str(), *checks))
        })
    }
}

fn text(root: &Path, path: &str) -> Result<String, Stop> {
    let text = std::fs::read_to_string(root.join(path));
    text.map_err(|error| Stop::Failed(format!("{path}: {error}")))
}

const PATH: &str = "tests/conformance/reference.json";
const SERVED: &str = "tests/conformance/served.json";
