//! Advisories of what trunkline is built from, as data, and the versions that `Cargo.lock` has.
//!
//! RustSec alone is not enough: of rmcp's record it held one entry. What is known beyond it stands in `advisories.json`
//! with the version that has the fix, or is the floor.

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::score;

    /// Every version of a package that the lock file has.
    fn versions<'a>(lock: &'a str, package: &str) -> Vec<&'a str> {
        let name = format!("name = \"{package}\"");
        let mut lines = lock.lines();
        let mut versions = Vec::new();
        while let Some(line) = lines.next() {
            if line == name {
                let version = lines.next().and_then(|line| line.strip_prefix("version = \""));
                versions.extend(version.and_then(|version| version.strip_suffix('"')));
            }
        }
        versions
    }

    /// The three numbers; a version with more to it than these comes before the one without.
    fn parts(version: &str) -> (Vec<u64>, bool) {
        let (numbers, rest) = version.split_once(['-', '+']).unwrap_or((version, ""));
        let numbers = numbers.split('.').map(|part| part.parse().expect("a number")).collect();
        (numbers, rest.is_empty())
    }

    /// The advisories that are open for what the lock file has.
    fn open(lock: &str, advisories: &[Value]) -> Vec<String> {
        let mut open = Vec::new();
        for advisory in advisories {
            let package = advisory["package"].as_str().unwrap();
            let fixed = advisory["fixed"].as_str().unwrap();
            for version in versions(lock, package) {
                if parts(version) < parts(fixed) {
                    open.push(format!(
                        "{package} {version}, fixed in {fixed}: {}",
                        advisory["what"]
                    ));
                }
            }
        }
        open
    }

    fn known() -> Vec<Value> {
        let known: Value = serde_json::from_str(include_str!("advisories.json")).unwrap();
        known["advisories"].as_array().unwrap().clone()
    }

    #[test]
    fn no_dependency_has_an_open_advisory() {
        let lock = include_str!("../../../../Cargo.lock");
        let known = known();
        assert_eq!(open(lock, &known), Vec::<String>::new());
        assert_eq!(versions(lock, "rmcp").len(), 1, "rmcp is there, once");
        score::done("advisories", known.len() as u64);
    }

    #[test]
    fn a_version_before_the_fix_is_found() {
        let lock = "[[package]]\nname = \"rmcp\"\nversion = \"2.0.1\"\n\n[[package]]\nname = \"h2\"\nversion = \"0.4.16-rc.1\"\n";
        let open = open(lock, &known());
        let begins = |start: &str| open.iter().filter(|line| line.starts_with(start)).count();
        assert_eq!(
            (begins("rmcp 2.0.1, fixed in 2.1.0"), begins("rmcp 2.0.1, fixed in 1.4.0")),
            (1, 0)
        );
        assert_eq!(begins("h2 0.4.16-rc.1, fixed in 0.4.16"), 1);
        assert_eq!(open.len(), 6);
    }
}
