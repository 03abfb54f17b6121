//! The project that a decision is about.

use std::fmt;

/// A project's folder with all links resolved. Readers and writers of decisions get it from one
/// function (SPEC 12.1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectRoot(String);

impl ProjectRoot {
    /// The root of this path, which must be absolute with every link resolved: nothing is looked up
    /// here.
    pub fn of_canonical(path: impl Into<String>) -> ProjectRoot {
        ProjectRoot(path.into())
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a path is the root or in it, by its text.
    pub fn holds(&self, path: &str) -> bool {
        let root = self.0.trim_end_matches(['/', '\\']);
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
    }
}

impl fmt::Display for ProjectRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
