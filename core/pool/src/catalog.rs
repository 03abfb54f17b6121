//! What a server listed, the differences between two lists, and a session's view of them.

use std::sync::Arc;

use crate::error::Result;

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

/// One listed thing: its name (a resource's is its URI, a template's its URI template), its definition as the
/// server sent it, byte for byte, and a digest over what a model sees of it (SPEC 7.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The server's own name for it.
    pub name: Arc<str>,
    /// The definition: JSON text as received.
    pub definition: Arc<str>,
    /// SHA-256 over name, description, schemas and annotations.
    pub digest: [u8; 32],
}

/// Something that was listed and had to be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Which list.
    pub list: ListKind,
    /// Its name, escaped, if it had one.
    pub name: Option<String>,
    /// Why.
    pub reason: String,
}

/// What an entry listed: four lists, each sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The tools.
    pub tools: Vec<Item>,
    /// The prompts.
    pub prompts: Vec<Item>,
    /// The resources.
    pub resources: Vec<Item>,
    /// The resource templates.
    pub resource_templates: Vec<Item>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

impl Catalog {
    /// Adds one page of a list: the JSON text of a result. Returns the cursor of the next page, if there is one.
    ///
    /// # Errors
    /// `protocol` when the result has no array of the list's name. A malformed item is skipped, not an error.
    pub fn add_page(&mut self, list: ListKind, result: &str) -> Result<Option<String>> {
        let _ = (list, result);
        Ok(None)
    }

    /// Sorts the lists by name, and of two items with one name keeps the first. Call it after the last page.
    pub fn finish(&mut self) {}

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Item> {
        self.tools.iter().find(|item| &*item.name == name)
    }
}

/// Names that came, went and changed in one list, each sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Not there before.
    pub added: Vec<Arc<str>>,
    /// Not there now.
    pub removed: Vec<Arc<str>>,
    /// Another digest.
    pub changed: Vec<Arc<str>>,
}

/// What is different between two catalogs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Among the tools.
    pub tools: Change,
    /// Among the prompts.
    pub prompts: Change,
    /// Among the resources and the resource templates.
    pub resources: Change,
}

impl Difference {
    /// From `before` to `after`.
    pub fn between(before: &Catalog, after: &Catalog) -> Difference {
        let _ = (before, after);
        Difference::default()
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        *self == Difference::default()
    }
}

/// Which of a server's tools and prompts a session sees (SPEC 6.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Patterns; `None` = everything, empty = nothing. A parenthesised suffix is dropped.
    pub include: Option<Vec<String>>,
    /// Patterns; wins over `include`.
    pub exclude: Vec<String>,
}

impl Filter {
    /// Whether a tool or prompt of that name is visible.
    pub fn admits(&self, name: &str) -> bool {
        let _ = name;
        true
    }

    /// What a session with this filter is told of a difference.
    pub fn apply(&self, difference: &Difference) -> Difference {
        difference.clone()
    }
}
