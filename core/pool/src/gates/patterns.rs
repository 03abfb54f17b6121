//! A list of patterns, made ready for many names.

use std::collections::BTreeSet;

use crate::base::glob::matches_any;

/// The patterns of one list: most are plain names, which are looked up instead of matched one by
/// one.
#[derive(Clone, Debug, Default)]
pub(super) struct Patterns {
    plain: BTreeSet<String>,
    others: Vec<String>,
}

impl Patterns {
    pub(super) fn new<'a>(patterns: impl IntoIterator<Item = &'a String>) -> Patterns {
        let mut list = Patterns::default();
        for pattern in patterns {
            if pattern.contains(['*', '?']) {
                list.others.push(pattern.clone());
            } else {
                list.plain.insert(pattern.clone());
            }
        }
        list
    }

    /// Whether any of them describes the name.
    pub(super) fn describe(&self, name: &str) -> bool {
        self.plain.contains(name) || matches_any(&self.others, name)
    }
}
