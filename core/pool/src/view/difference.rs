//! What is different between two things that a session was shown (SPEC 6.3, 6.5, 7.4).

use super::{Shown, View};
use crate::catalog::{Catalog, Change, Difference, Item};

impl<'a> Shown<'a> {
    /// From `before` to `after`, of which either may be nothing: a server that came or went.
    ///
    /// A tool is changed when its definition or one of its marks is. Prompts and resources have no marks.
    pub fn difference(before: Option<Shown<'_>>, after: Option<Shown<'_>>) -> Difference {
        let same = |old: &Item, new: &Item| old.digest == new.digest;
        let marks =
            |shown: Option<Shown<'_>>, tool: &Item| shown.map(|shown| shown.view.marks(&tool.name));
        let same_tool =
            |old: &Item, new: &Item| same(old, new) && marks(before, old) == marks(after, new);
        let seen = |list| {
            (Shown::items(before, list, View::admits), Shown::items(after, list, View::admits))
        };
        let all = |list| {
            (Shown::items(before, list, |_, _| true), Shown::items(after, list, |_, _| true))
        };
        let templates = Change::of(all(|catalog| &catalog.resource_templates), same);
        Difference {
            tools: Change::of(seen(|catalog| &catalog.tools), same_tool),
            prompts: Change::of(seen(|catalog| &catalog.prompts), same),
            resources: Change::of(all(|catalog| &catalog.resources), same).with(templates),
        }
    }

    fn items(
        shown: Option<Shown<'a>>,
        list: fn(&Catalog) -> &[Item],
        admits: fn(&View, &str) -> bool,
    ) -> Vec<&'a Item> {
        let Some(Shown { catalog, view }) = shown else { return Vec::new() };
        list(catalog).iter().filter(|item| admits(view, &item.name)).collect()
    }
}
