//! A session's view of a catalog (SPEC 6.1).

use std::sync::Arc;

use super::{Change, Difference, Filter, Item};
use crate::pattern::{matches, matches_any};

impl Filter {
    /// Whether a tool or prompt of that name is visible. Names are the server's own.
    pub fn admits(&self, name: &str) -> bool {
        if matches_any(&self.exclude, name) {
            return false;
        }
        match &self.include {
            None => true,
            Some(patterns) => patterns.iter().any(|pattern| matches(without_suffix(pattern), name)),
        }
    }

    /// The visible ones of a list of tools or prompts, in its order.
    pub fn view<'a>(&'a self, items: &'a [Item]) -> impl Iterator<Item = &'a Item> {
        items.iter().filter(|item| self.admits(&item.name))
    }

    /// Whether it admits everything.
    pub fn hides_nothing(&self) -> bool {
        self.include.is_none() && self.exclude.is_empty()
    }

    /// What a session with this filter is told of a difference. Resources are not filtered.
    pub fn apply(&self, difference: &Difference) -> Difference {
        Difference {
            tools: self.visible(&difference.tools),
            prompts: self.visible(&difference.prompts),
            resources: difference.resources.clone(),
        }
    }

    fn visible(&self, change: &Change) -> Change {
        let names = |names: &[Arc<str>]| {
            names.iter().filter(|name| self.admits(name)).cloned().collect::<Vec<_>>()
        };
        Change::new(names(&change.added), names(&change.removed), names(&change.changed))
    }
}

/// `run(git *)` is the tool `run`: what stands in the parentheses is for others to judge.
fn without_suffix(pattern: &str) -> &str {
    match pattern.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') => name,
        _ => pattern,
    }
}
