//! The version, which is written down once: in the workspace's manifest.

use crate::machine::Machine;
use crate::run::Stop;

/// The version of everything.
pub fn of_workspace(machine: &Machine) -> Result<String, Stop> {
    let path = machine.root.join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| super::failed(&path, &error))?;
    let line = text.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|line| line.strip_suffix('"'));
    version.map(str::to_owned).ok_or_else(|| Stop::Failed("the workspace has no version".into()))
}

#[cfg(test)]
mod tests {
    use crate::machine::{Machine, Reach};

    /// Where else the version has to be written, and what stands around it.
    const PLACES: [(&str, &str, &str); 9] = [
        ("Cargo.toml", "trunkline = { path = \"core\", version = \"", "\" }"),
        ("Cargo.toml", "trunkline-cli = { path = \"core/cli\", version = \"", "\" }"),
        ("Cargo.toml", "trunkline-pool = { path = \"core/pool\", version = \"", "\" }"),
        ("Cargo.toml", "trunkline-ffi = { path = \"ffi\", version = \"", "\" }"),
        ("bindings/node/package.json", "\n  \"version\": \"", "\","),
        ("include/trunkline.h", "#define TRUNKLINE_VERSION \"", "\"\n"),
        ("docs/guide/stability.md", "trunkline is at ", ","),
        ("docs/guide/cli.md", "trunkline: ", ","),
        ("CHANGELOG.md", "\n## ", ", "),
    ];

    fn text(path: &str) -> String {
        let machine = Machine::new(Reach::Default).unwrap();
        std::fs::read_to_string(machine.root.join(path)).unwrap()
    }

    #[test]
    fn every_place_has_the_version_of_the_workspace() {
        let machine = Machine::new(Reach::Default).unwrap();
        let version = super::of_workspace(&machine).unwrap();
        for (path, before, after) in PLACES {
            let stands = format!("{before}{version}{after}");
            assert!(text(path).contains(&stands), "{path} lacks {stands:?}");
        }
        // The wheel has that of its crate.
        assert!(text("bindings/python/pyproject.toml").contains("dynamic = [\"version\"]"));
        for path in text("Cargo.toml").lines().filter_map(member) {
            let manifest = text(&format!("{path}/Cargo.toml"));
            assert!(manifest.contains("\nversion.workspace = true\n"), "{path}");
        }
        // What finds an installed library asks for the series.
        let (series, _) = version.rsplit_once('.').unwrap();
        let finds = format!("find_package(trunkline {series} REQUIRED)");
        for path in ["tests/c/install/CMakeLists.txt", "docs/guide/c.md"] {
            assert!(text(path).contains(&finds), "{path} lacks {finds}");
        }
    }

    fn member(line: &str) -> Option<&str> {
        line.strip_prefix("    \"")?.strip_suffix("\",")
    }
}
