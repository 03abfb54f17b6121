//! What a server listed, the differences between two lists, and filters of them.

mod difference;
mod filter;
mod item;
mod page;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;

pub(crate) use filter::without_suffix;

/// The four lists of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
}

/// One listed thing: its name (a resource's is its URI, a template's its URI template), its
/// definition, byte for byte; and a digest over what a model sees of it (SPEC 7.6). `Debug` prints
/// no definition: it may say back a secret that the server has.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    /// The server's own name for it.
    pub name: Arc<str>,
    /// The definition: JSON text as received.
    pub definition: Arc<str>,
    /// SHA-256 over name, description, schemas and annotations.
    pub digest: [u8; 32],
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Item").field(&self.name).finish()
    }
}

/// Something that was listed and had to be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedItem {
    /// Which list.
    pub list: ListKind,
    /// Its name, escaped, if it had one.
    pub name: Option<String>,
    /// Why.
    pub reason: String,
}

/// A list that a server did not give.
#[derive(Clone, Debug, PartialEq)]
pub struct Unlisted {
    /// Which.
    pub list: ListKind,
    /// Why.
    pub error: Error,
}

impl Eq for Unlisted {}

/// What an entry listed: four lists, each sorted by name. `Debug` says how much that is.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The tools.
    pub tools: Vec<Item>,
    /// The prompts.
    pub prompts: Vec<Item>,
    /// The resources.
    pub resources: Vec<Item>,
    /// The resource templates.
    pub resource_templates: Vec<Item>,
    /// What was left out: a report of each, 10,000 at most.
    pub skipped: Vec<SkippedItem>,
    /// How many more were left out.
    pub unreported: usize,
    /// The lists that could not be had (SPEC 4.4): what is in them here is what was listed before,
    /// or nothing.
    pub unlisted: Vec<Unlisted>,
    /// The names of tools that run only as tasks: they are listed, and nobody here can call them.
    pub tasks: BTreeSet<Arc<str>>,
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Catalog {
            tools,
            prompts,
            resources,
            resource_templates,
            skipped,
            unreported,
            unlisted,
            tasks,
        } = self;
        f.debug_struct("Catalog")
            .field("tools", &tools.len())
            .field("prompts", &prompts.len())
            .field("resources", &resources.len())
            .field("resource_templates", &resource_templates.len())
            .field("skipped", &(skipped.len() + unreported))
            .field("unlisted", &unlisted.len())
            .field("tasks", &tasks.len())
            .finish()
    }
}

/// What a page says besides its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageEnd {
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
    /// How long the server holds the page for fresh (`ttlMs`), where it says so; what is less than
    /// nothing is nothing.
    pub fresh_for: Option<Duration>,
    /// Who may be shown it (`cacheScope`).
    pub scope: CacheScope,
}

/// Whom a server would have its lists kept for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheScope {
    /// It says nothing of that, or that they are for everybody.
    #[default]
    Shared,
    /// For the session that they were listed for alone. A word that is not understood means this.
    Private,
}

impl Catalog {
    /// The items of one list.
    pub fn list(&self, list: ListKind) -> &[Item] {
        match list {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::ResourceTemplates => &self.resource_templates,
        }
    }

    /// Why that list could not be had, where it could not.
    pub fn why_unlisted(&self, list: ListKind) -> Option<&Error> {
        let unlisted = self.unlisted.iter().find(|unlisted| unlisted.list == list);
        unlisted.map(|unlisted| &unlisted.error)
    }

    /// Takes over what was listed `before` of the lists that could not be had.
    pub fn keep_unlisted(&mut self, before: &Catalog) {
        let lists: Vec<ListKind> = self.unlisted.iter().map(|unlisted| unlisted.list).collect();
        for list in lists {
            *self.list_mut(list) = before.list(list).to_vec();
            if list == ListKind::Tools {
                self.tasks = before.tasks.clone();
            }
            self.skipped.extend(before.skipped.iter().filter(|it| it.list == list).cloned());
        }
    }

    /// How many items were left out.
    pub fn left_out(&self) -> usize {
        self.skipped.len() + self.unreported
    }

    /// Whether there is anything in the lists.
    pub fn has_items(&self) -> bool {
        ListKind::ALL.iter().any(|list| !self.list(*list).is_empty())
    }

    /// Whether nothing at all was listed, not even something that had to be left out.
    pub fn is_empty(&self) -> bool {
        !self.has_items() && self.skipped.is_empty()
    }

    /// The tool of that name. The lists must be sorted, as [`finish`](Catalog::finish) leaves them.
    pub fn tool(&self, name: &str) -> Option<&Item> {
        let index = self.tools.binary_search_by(|item| (*item.name).cmp(name)).ok()?;
        Some(&self.tools[index])
    }

    /// The same lists with one tool more, which is not among them.
    pub(crate) fn with_tool(&self, item: Item) -> Catalog {
        let mut with = self.clone();
        let at = with.tools.partition_point(|other| other.name < item.name);
        with.tools.insert(at, item);
        with
    }

    fn list_mut(&mut self, list: ListKind) -> &mut Vec<Item> {
        match list {
            ListKind::Tools => &mut self.tools,
            ListKind::Prompts => &mut self.prompts,
            ListKind::Resources => &mut self.resources,
            ListKind::ResourceTemplates => &mut self.resource_templates,
        }
    }
}

impl ListKind {
    /// The four lists.
    pub const ALL: [ListKind; 4] =
        [ListKind::Tools, ListKind::Prompts, ListKind::Resources, ListKind::ResourceTemplates];

    /// The member of a result that holds the list.
    pub fn member(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Prompts => "prompts",
            ListKind::Resources => "resources",
            ListKind::ResourceTemplates => "resourceTemplates",
        }
    }

    /// What one item of it is called in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            ListKind::Tools => "tool",
            ListKind::Prompts => "prompt",
            ListKind::Resources => "resource",
            ListKind::ResourceTemplates => "resource template",
        }
    }
}

/// Names that came, went and changed in one list, each sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameChanges {
    /// Not there before.
    pub added: Vec<Arc<str>>,
    /// Not there now.
    pub removed: Vec<Arc<str>>,
    /// Another digest.
    pub changed: Vec<Arc<str>>,
}

/// What is different between two catalogs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogDifference {
    /// Among the tools.
    pub tools: NameChanges,
    /// Among the prompts.
    pub prompts: NameChanges,
    /// Among the resources and the resource templates.
    pub resources: NameChanges,
}

/// Which of a server's tools and prompts a session sees (SPEC 6.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Patterns; `None` = everything, empty = nothing. A parenthesised suffix is dropped.
    pub include: Option<Vec<String>>,
    /// Patterns; wins over `include`.
    pub exclude: Vec<String>,
}
