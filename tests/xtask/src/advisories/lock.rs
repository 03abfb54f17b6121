//! The packages of the lock files.

use std::collections::BTreeSet;
use std::path::Path;

use semver::Version;
use toml::de::{DeTable, DeValue};

use super::read;

/// A package in one version.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Package {
    pub name: String,
    pub version: Version,
}

/// Those of all lock files: the workspace's, and those of the packages that it leaves out.
pub fn all(root: &Path) -> Result<BTreeSet<Package>, String> {
    let mut packages = of(&read(&root.join("Cargo.lock"))?)?;
    for folder in left_out(&read(&root.join("Cargo.toml"))?)? {
        packages.append(&mut of(&read(&root.join(folder).join("Cargo.lock"))?)?);
    }
    Ok(packages)
}

/// Those of one lock file that come from elsewhere.
pub fn of(lock: &str) -> Result<BTreeSet<Package>, String> {
    let table = DeTable::parse(lock).map_err(|error| error.to_string())?;
    let listed = table.get_ref().get("package").and_then(|list| list.get_ref().as_array());
    let listed = listed.ok_or("a lock file without packages")?.iter().map(|item| item.get_ref());
    listed.filter(|item| item.get("source").is_some()).map(package).collect()
}

fn package(item: &DeValue) -> Result<Package, String> {
    let member = |key: &str| item.get(key).and_then(|value| value.get_ref().as_str());
    let name = member("name").ok_or("a package without a name")?.to_owned();
    let version = member("version").ok_or_else(|| format!("{name} without a version"))?;
    let version = Version::parse(version).map_err(|error| format!("{name} {version}: {error}"))?;
    Ok(Package { name, version })
}

fn left_out(manifest: &str) -> Result<Vec<String>, String> {
    let table = DeTable::parse(manifest).map_err(|error| error.to_string())?;
    let workspace = table.get_ref().get("workspace");
    let list = workspace.and_then(|workspace| workspace.get_ref().get("exclude"));
    let list = list.and_then(|list| list.get_ref().as_array());
    let folders = list.into_iter().flat_map(|list| list.iter());
    Ok(folders.filter_map(|folder| folder.get_ref().as_str().map(str::to_owned)).collect())
}
