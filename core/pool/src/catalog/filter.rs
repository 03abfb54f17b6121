//! A session's view of a catalog (SPEC 6.1).

use std::sync::Arc;

use super::{CatalogDifference, Filter, NameChanges};
use crate::base::glob::matches;

impl Filter {
    /// Whether a tool or prompt of that name is visible, by its own name alone.
    pub fn admits(&self, name: &str) -> bool {
        self.admits_by(|pattern| matches(pattern, name))
    }

    /// Whether a tool or prompt is visible that fits these patterns.
    pub fn admits_by(&self, fits: impl Fn(&str) -> bool) -> bool {
        if self.exclude.iter().any(|pattern| fits(pattern)) {
            return false;
        }
        match &self.include {
            None => true,
            Some(patterns) => patterns.iter().any(|pattern| fits(without_suffix(pattern))),
        }
    }

    /// Whether it admits everything.
    #[inline]
    pub fn hides_nothing(&self) -> bool {
        self.include.is_none() && self.exclude.is_empty()
    }
}

impl CatalogDifference {
    /// The part for a session that sees only these tools and prompts. Resources are not filtered.
    pub fn seen_by(&self, admits: impl Fn(&str) -> bool) -> CatalogDifference {
        let names = |names: &[Arc<str>]| {
            names.iter().filter(|name| admits(name)).cloned().collect::<Vec<_>>()
        };
        let visible = |change: &NameChanges| {
            NameChanges::new(names(&change.added), names(&change.removed), names(&change.changed))
        };
        CatalogDifference {
            tools: visible(&self.tools),
            prompts: visible(&self.prompts),
            resources: self.resources.clone(),
        }
    }
}

/// `run(git *)` is the tool `run`: what stands in the parentheses is for others to judge.
pub(crate) fn without_suffix(pattern: &str) -> &str {
    match pattern.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') => name,
        _ => pattern,
    }
}
