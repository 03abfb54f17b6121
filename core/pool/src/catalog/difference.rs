//! What is different between two catalogs (SPEC 7.4).

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::Value;

use super::{Catalog, CatalogDifference, Item, NameChanges};

impl CatalogDifference {
    /// From `before` to `after`. Both must be sorted, as [`Catalog::finish`] leaves them.
    pub fn between(before: &Catalog, after: &Catalog) -> CatalogDifference {
        let change = |list: fn(&Catalog) -> &[Item]| {
            let lists = (list(before).iter().collect(), list(after).iter().collect());
            NameChanges::of(lists, |old, new| old.digest == new.digest)
        };
        let templates = change(|catalog| &catalog.resource_templates);
        CatalogDifference {
            tools: change(|catalog| &catalog.tools),
            prompts: change(|catalog| &catalog.prompts),
            resources: change(|catalog| &catalog.resources).with(templates),
        }
    }

    /// The same, with those of the tools that came whose definition is another than they once had
    /// as changed, too.
    pub fn with_renewed(mut self, renewed: &[Arc<str>]) -> CatalogDifference {
        let added = &self.tools.added;
        let came_back = renewed.iter().filter(|name| added.binary_search(name).is_ok()).cloned();
        self.tools.changed.extend(came_back);
        self.tools.changed.sort();
        self
    }

    /// The tools that came and are changed, too.
    pub fn renewed(&self) -> Vec<Arc<str>> {
        let came = &self.tools.added;
        let changed = self.tools.changed.iter();
        changed.filter(|name| came.binary_search(name).is_ok()).cloned().collect()
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.prompts.is_empty() && self.resources.is_empty()
    }
}

impl NameChanges {
    /// Of these names, each list sorted.
    pub fn new(
        added: Vec<Arc<str>>,
        removed: Vec<Arc<str>>,
        changed: Vec<Arc<str>>,
    ) -> NameChanges {
        NameChanges { added, removed, changed }
    }

    /// Its three lists as members of a JSON object: `"added":[…],"removed":[…],"changed":[…]`.
    pub fn members(&self) -> String {
        let list = |names: &[Arc<str>]| Value::from_iter(names.iter().map(|name| &**name));
        let [added, removed, changed] =
            [&self.added, &self.removed, &self.changed].map(|names| list(names));
        format!(r#""added":{added},"removed":{removed},"changed":{changed}"#)
    }

    /// Whether no name came, went or changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// From the first of two sorted lists to the second, by a walk side by side; `same` says
    /// whether an item of one name is still what it was.
    pub(crate) fn of(
        (before, after): (Vec<&Item>, Vec<&Item>),
        same: impl Fn(&Item, &Item) -> bool,
    ) -> NameChanges {
        let mut change = NameChanges::default();
        let mut before = before.into_iter().peekable();
        let mut after = after.into_iter().peekable();
        loop {
            let order = match (before.peek(), after.peek()) {
                (None, None) => return change,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.name.cmp(&new.name),
            };
            let old = if order.is_le() { before.next() } else { None };
            let new = if order.is_ge() { after.next() } else { None };
            match (old, new) {
                (Some(old), Some(new)) if !same(old, new) => {
                    change.changed.push(new.name.clone());
                }
                (Some(_), Some(_)) | (None, None) => {}
                (Some(old), None) => change.removed.push(old.name.clone()),
                (None, Some(new)) => change.added.push(new.name.clone()),
            }
        }
    }

    /// Both changes as one, sorted, each name once.
    pub(crate) fn with(mut self, other: NameChanges) -> NameChanges {
        for (names, more) in [
            (&mut self.added, other.added),
            (&mut self.removed, other.removed),
            (&mut self.changed, other.changed),
        ] {
            names.extend(more);
            names.sort();
            names.dedup();
        }
        self
    }
}
