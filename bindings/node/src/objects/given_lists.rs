//! The lists that JavaScript has of a session: it gets one again only when the list is another.

use std::cell::RefCell;
use std::collections::HashMap;

use trunkline::{List, ShapedTools};

use crate::runtime::json_text::{JsonText, numbered, shaped};

/// What JavaScript has, by the name of the list.
#[derive(Default)]
pub struct GivenLists(RefCell<HashMap<&'static str, Given>>);

/// What tells a list from another of the same name in its session.
#[derive(PartialEq, Eq)]
struct Given {
    revision: u64,
    /// The revision says nothing of these marks.
    deferred: Box<[bool]>,
}

impl GivenLists {
    /// The list as JSON text; nothing where JavaScript has it.
    pub fn listed(&self, name: &'static str, list: List) -> Option<JsonText> {
        let deferred = list.iter().map(|item| item.deferred).collect();
        self.is_new(name, Given { revision: list.revision(), deferred }).then(|| numbered(list))
    }

    /// The tools of that shape as JSON text; nothing where JavaScript has them.
    pub fn shaped(&self, shape: &'static str, tools: &ShapedTools) -> Option<JsonText> {
        let given = Given { revision: tools.revision(), deferred: Box::default() };
        self.is_new(shape, given).then(|| shaped(tools))
    }

    /// Whether JavaScript has another list of that name, or none. From now on it has this one.
    fn is_new(&self, name: &'static str, given: Given) -> bool {
        let mut all = self.0.borrow_mut();
        if all.get(name) == Some(&given) {
            return false;
        }
        all.insert(name, given);
        true
    }
}
