//! Patterns meet a tool by its own name and by the exposed one (SPEC 18.11).

use std::sync::Arc;

use crate::base::glob::matches;
use crate::naming::Naming;

/// How the tools of a server are exposed, for views with a pattern of exposed names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposing {
    /// The server.
    pub server: Arc<str>,
    /// How its tools are named.
    pub naming: Arc<Naming>,
}

/// The names of one tool or prompt.
pub(super) struct ItemNames<'a> {
    own: &'a str,
    exposed: Option<(String, &'a Naming)>,
}

impl<'a> ItemNames<'a> {
    pub(super) fn new(own: &'a str, exposing: Option<&'a Exposing>) -> ItemNames<'a> {
        let exposed = exposing.map(|exposing| {
            let Exposing { server, naming } = exposing;
            (naming.of_pair(server, own), &**naming)
        });
        ItemNames { own, exposed }
    }

    /// Whether a pattern describes one of them.
    pub(super) fn fit(&self, pattern: &str) -> bool {
        matches(pattern, self.own)
            || self.exposed.as_ref().is_some_and(|(exposed, naming)| {
                naming.is_exposed_pattern(pattern) && matches(pattern, exposed)
            })
    }
}

/// What stands before the first wildcard.
fn literal(pattern: &str) -> &str {
    pattern.split(['*', '?']).next().unwrap_or_default()
}

impl Naming {
    /// Whether a pattern is one of exposed names too. What tells them apart from own names has to
    /// stand before the first wildcard: `*git*` says nothing of the server `git`, all of whose
    /// exposed names have that in them.
    pub fn is_exposed_pattern(&self, pattern: &str) -> bool {
        self.has_marks_of_exposed(literal(pattern))
    }
}

/// A pattern that no name fails to match says nothing of one.
pub(super) fn is_all(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.chars().all(|letter| letter == '*')
}
