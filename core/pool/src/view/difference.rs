//! What is different between two things that a session was shown (SPEC 6.3, 6.5, 7.4).

use super::{CatalogView, View};
use crate::catalog::{Catalog, CatalogDifference, Item, NameChanges};

impl<'a> CatalogView<'a> {
    /// From `before` to `after`. Either may be nothing: a server that came or went.
    ///
    /// A tool is changed when its definition or one of its marks is. Prompts and resources have no
    /// marks.
    pub fn difference(
        before: Option<CatalogView<'_>>,
        after: Option<CatalogView<'_>>,
    ) -> CatalogDifference {
        let same = |old: &Item, new: &Item| old.digest == new.digest;
        let marks = |shown: Option<CatalogView<'_>>, tool: &Item| {
            shown.map(|shown| shown.view.marks(&tool.name))
        };
        let same_tool =
            |old: &Item, new: &Item| same(old, new) && marks(before, old) == marks(after, new);
        let seen = |list| {
            (
                CatalogView::items(before, list, View::admits),
                CatalogView::items(after, list, View::admits),
            )
        };
        let all = |list| {
            (
                CatalogView::items(before, list, |_, _| true),
                CatalogView::items(after, list, |_, _| true),
            )
        };
        let templates = NameChanges::of(all(|catalog| &catalog.resource_templates), same);
        CatalogDifference {
            tools: NameChanges::of(seen(|catalog| &catalog.tools), same_tool),
            prompts: NameChanges::of(seen(|catalog| &catalog.prompts), same),
            resources: NameChanges::of(all(|catalog| &catalog.resources), same).with(templates),
        }
    }

    fn items(
        shown: Option<CatalogView<'a>>,
        list: fn(&Catalog) -> &[Item],
        admits: fn(&View, &str) -> bool,
    ) -> Vec<&'a Item> {
        let Some(CatalogView { catalog, view }) = shown else { return Vec::new() };
        list(catalog).iter().filter(|item| admits(view, &item.name)).collect()
    }
}
