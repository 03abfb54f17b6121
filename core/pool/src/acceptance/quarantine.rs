//! Tools that are held back, and what is different about them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::definition::Definition;
use super::excerpt::excerpts;
use crate::base::text::hex;
use crate::catalog::{Catalog, Item};
use crate::json::{canonical, members};

/// The tools of an entry that are held back, sorted by name. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuarantinedTools(Arc<[HeldTool]>);

/// A tool that is neither listed nor called until its definition is accepted. `Debug` prints no
/// definition.
#[derive(Clone)]
pub struct HeldTool {
    /// The tool as the server lists it now.
    pub item: Item,
    /// What was accepted; nothing when its name is one more than can be remembered.
    pub accepted: Option<Definition>,
    /// Made when somebody is told, which may be never; every copy has the same.
    difference: Arc<OnceLock<Value>>,
}

impl fmt::Debug for HeldTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeldTool").field(&self.item.name).finish()
    }
}

impl PartialEq for HeldTool {
    fn eq(&self, other: &Self) -> bool {
        self.item == other.item && self.accepted == other.accepted
    }
}

impl QuarantinedTools {
    /// These, which must be sorted by name.
    pub(super) fn new(tools: Vec<HeldTool>) -> QuarantinedTools {
        if tools.is_empty() { QuarantinedTools::default() } else { QuarantinedTools(tools.into()) }
    }

    /// Whether the two are one and the same.
    pub fn is_same(&self, other: &QuarantinedTools) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.is_empty() && other.0.is_empty())
    }

    /// The tools.
    pub fn tools(&self) -> &[HeldTool] {
        &self.0
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&HeldTool> {
        let index = self.0.binary_search_by(|tool| (*tool.item.name).cmp(name)).ok()?;
        Some(&self.0[index])
    }

    /// Those whose definition is not held back in `before`.
    pub fn since(&self, before: &QuarantinedTools) -> QuarantinedTools {
        let is_new = |tool: &&HeldTool| {
            let old = before.tool(&tool.item.name);
            old.is_none_or(|old| old.item.digest != tool.item.digest)
        };
        QuarantinedTools::new(self.0.iter().filter(is_new).cloned().collect())
    }

    /// All but the one of that name.
    pub fn without(&self, name: &str) -> QuarantinedTools {
        let others = self.0.iter().filter(|tool| &*tool.item.name != name);
        QuarantinedTools::new(others.cloned().collect())
    }

    /// The lists without what is held back.
    pub(super) fn taken_out_of(&self, listed: Arc<Catalog>) -> Arc<Catalog> {
        if self.0.is_empty() {
            return listed;
        }
        let mut usable = (*listed).clone();
        usable.tools.retain(|item| self.tool(&item.name).is_none());
        Arc::new(usable)
    }
}

impl HeldTool {
    pub(super) fn new(item: Item, accepted: Option<Definition>) -> HeldTool {
        HeldTool { item, accepted, difference: Arc::default() }
    }

    /// What is different about it:
    /// `{"from": digest?, "to": digest, "fields": {name: {"from": text?, "to": text?}}?}`.
    ///
    /// The digests are hex. Texts are the server's, escaped, and cut to an excerpt that begins
    /// shortly before the first difference; a member that is not there has none. `fields` is
    /// missing when the accepted definition was not kept.
    pub fn difference(&self) -> &Value {
        self.difference_without(&|json| json.to_owned())
    }

    /// The same, made of definitions as `hide` leaves them, where nobody made it before. What it
    /// takes out is in no copy of it.
    pub fn difference_without(&self, hide: &dyn Fn(&str) -> String) -> &Value {
        self.difference.get_or_init(|| {
            let mut difference = Map::new();
            if let Some(accepted) = &self.accepted {
                difference.insert("from".into(), hex(&accepted.digest).into());
            }
            difference.insert("to".into(), hex(&self.item.digest).into());
            let old = self.accepted.as_ref().and_then(|accepted| accepted.text.as_deref());
            let fields = old.and_then(|old| fields(&hide(old), &hide(&self.item.definition)));
            if let Some(fields) = fields {
                difference.insert("fields".into(), fields.into());
            }
            Value::Object(difference)
        })
    }
}

/// The members that differ among those that a model sees; nothing when a text cannot be read, which
/// none is that was listed.
fn fields(old: &str, new: &str) -> Option<Map<String, Value>> {
    let (old, new) = (canonical(old).ok()?, canonical(new).ok()?);
    let (old, new) = (members(&old).ok()?, members(&new).ok()?);
    let mut fields = Map::new();
    for name in Item::seen_of_tools() {
        let text = |members: &[(String, &serde_json::value::RawValue)]| {
            let found = members.iter().find(|(member, _)| member == name);
            found.map(|(_, value)| value.get().to_owned()).filter(|text| text != "null")
        };
        let (old, new) = (text(&old), text(&new));
        if old != new {
            let (old, new) = excerpts(old.as_deref().map(shown), new.as_deref().map(shown));
            let mut field = Map::new();
            field.extend(old.map(|old| ("from".to_owned(), json!(old))));
            field.extend(new.map(|new| ("to".to_owned(), json!(new))));
            fields.insert(name.to_owned(), field.into());
        }
    }
    Some(fields)
}

/// A string's own text; of anything else its JSON.
fn shown(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
}
