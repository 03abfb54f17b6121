//! The lists that a session gives its host: each with a number, in an order that lasts.

#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use trunkline_pool::naming::{BareNames, ToolName};
use trunkline_pool::shapes::ToolFormat;
use trunkline_pool::view::{Made, Order};

/// A listed tool, prompt, resource or resource template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedItem {
    /// Tools: the exposed name. Others: the server's own name, or URI.
    pub name: Arc<str>,
    /// The server.
    pub server: Arc<str>,
    /// The server's own name, or URI.
    pub own_name: Arc<str>,
    /// The definition, as the server sent it.
    pub definition: Arc<str>,
    /// Whether the session trusts the server; its own mark, which no other session sees (SPEC 6.2).
    pub trust: bool,
    /// Tools: whether the session wants it loaded whatever else is deferred; its own mark.
    pub always_load: bool,
    /// Whether it is known from what the server listed earlier, and the server is not connected: a
    /// call of such a tool starts the server, or waits for it.
    pub deferred: bool,
}

impl ListedItem {
    /// `{"name", "server", "own_name", "trust", "always_load", "deferred", "definition"}` as JSON
    /// text, the definition unchanged.
    pub fn to_json(&self) -> String {
        let [name, server, own_name] =
            [&self.name, &self.server, &self.own_name].map(|text| Value::from(&**text).to_string());
        let ListedItem { definition, trust, always_load, deferred, .. } = self;
        format!(
            r#"{{"name":{name},"server":{server},"own_name":{own_name},"trust":{trust},"always_load":{always_load},"deferred":{deferred},"definition":{definition}}}"#
        )
    }

    /// Which tool it is.
    pub(crate) fn tool_name(&self) -> ToolName {
        ToolName { server: self.server.clone(), tool: self.own_name.clone() }
    }

    /// Whether the two are the same to who reads them: where one is known from is not.
    pub(crate) fn is_like(&self, other: &ListedItem) -> bool {
        let ListedItem { name, server, own_name, definition, trust, always_load, deferred: _ } =
            self;
        (name, server, own_name) == (&other.name, &other.server, &other.own_name)
            && definition == &other.definition
            && (*trust, *always_load) == (other.trust, other.always_load)
    }
}

/// One list of a session's view: a slice, and its number. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct List {
    pub(crate) revision: u64,
    pub(crate) items: Arc<[ListedItem]>,
}

impl List {
    pub(crate) fn new(items: impl Into<Arc<[ListedItem]>>) -> List {
        List { revision: 0, items: items.into() }
    }

    /// The number of this list in its session, from 1. Lists that differ have different numbers,
    /// and later ones no smaller ones. Whether an item is deferred makes no difference.
    ///
    /// An event that tells of a change (`tools_changed`, `prompts_changed`, `resources_changed`)
    /// has a `revision` too: a list with that number or a greater one has the change. Resources and
    /// resource templates share their numbers.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the two list the same items in the same order, whatever their numbers.
    pub fn has_same_items(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.items, &other.items) || self.items == other.items
    }

    /// Whether it was the same before.
    pub(crate) fn made(&self, before: Option<&List>) -> Made {
        match before {
            Some(before) if before.items.len() == self.items.len() => {
                let mut pairs = before.items.iter().zip(self.items.iter());
                if pairs.all(|(before, now)| before.is_like(now)) {
                    Made::Same
                } else {
                    Made::Other
                }
            }
            _ => Made::Other,
        }
    }
}

impl Deref for List {
    type Target = [ListedItem];

    fn deref(&self) -> &[ListedItem] {
        &self.items
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a ListedItem;
    type IntoIter = std::slice::Iter<'a, ListedItem>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// The tools of a view in the shape of a model API. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ShapedTools {
    revision: u64,
    json: Arc<str>,
}

impl ShapedTools {
    /// The tools, as a JSON array.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The number of the list, as of [`List::revision`].
    pub fn revision(&self) -> u64 {
        self.revision
    }
}

/// The tools of one view in each shape that was asked for; made once.
#[derive(Default)]
pub(crate) struct Shaped([OnceLock<Arc<str>>; ToolFormat::ALL.len()]);

impl Shaped {
    /// The tools of `list` in that shape. All calls are of one list.
    pub(crate) fn tools(&self, shape: ToolFormat, list: &List) -> ShapedTools {
        let made = || {
            let tools = list.iter().map(|tool| shape.tool(&tool.name, &tool.definition));
            format!("[{}]", tools.collect::<Vec<_>>().join(",")).into()
        };
        let place =
            ToolFormat::ALL.iter().position(|one| *one == shape).map(|place| &self.0[place]);
        let json = place.map_or_else(made, |place| place.get_or_init(made).clone());
        ShapedTools { revision: list.revision, json }
    }
}

/// What outlasts each of a session's lists.
#[derive(Default)]
#[repr(C)]
pub(crate) struct ListHistory {
    pub(crate) order: Order,
    pub(crate) bare_names: BareNames,
}
