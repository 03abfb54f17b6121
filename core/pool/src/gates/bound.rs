//! What no list can widen.

use super::patterns::Patterns;

/// The servers that may run for as long as the pool lives, as it was started (SPEC 11.2, S-06).
///
/// It is made once, and nothing changes it: lists that come at run time admit what both they and
/// the bound admit.
#[derive(Clone, Debug, Default)]
pub struct LaunchBound(Option<Patterns>);

impl LaunchBound {
    /// The bound of these patterns; `None` bounds nothing, no pattern admits nothing.
    pub fn new(patterns: Option<Vec<String>>) -> LaunchBound {
        LaunchBound(patterns.map(|patterns| Patterns::new(&patterns)))
    }

    /// Whether a server of that name is within it.
    pub fn admits(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|patterns| patterns.describe(name))
    }
}
