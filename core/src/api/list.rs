//! The lists that a session gives its host: each with a number, in an order that lasts.

#[cfg(test)]
mod tests;

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use arc_swap::ArcSwapOption;
use trunkline_pool::catalog::ListKind;
use trunkline_pool::naming::BareNames;
use trunkline_pool::shapes::Shape;
use trunkline_pool::view::{Made, Order, Revision};

use super::deferred::VisibleServer;
use super::lease_state::LeaseState;
use super::session_core::SessionCore;
use super::view::{Listed, SessionView};

/// One list of a session's view: a slice, and its number. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct List {
    revision: u64,
    items: Arc<[Listed]>,
}

impl List {
    pub(super) fn new(items: impl Into<Arc<[Listed]>>) -> List {
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

    /// Whether it was the same before.
    fn made(&self, before: Option<&List>) -> Made {
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
    type Target = [Listed];

    fn deref(&self) -> &[Listed] {
        &self.items
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a Listed;
    type IntoIter = std::slice::Iter<'a, Listed>;

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
pub(super) struct Shaped([OnceLock<Arc<str>>; Shape::ALL.len()]);

impl Shaped {
    /// The tools of `list` in that shape. All calls are of one list.
    pub(super) fn tools(&self, shape: Shape, list: &List) -> ShapedTools {
        let made = || {
            let tools = list.iter().map(|tool| shape.tool(&tool.name, &tool.definition));
            format!("[{}]", tools.collect::<Vec<_>>().join(",")).into()
        };
        let place = Shape::ALL.iter().position(|one| *one == shape).map(|place| &self.0[place]);
        let json = place.map_or_else(made, |place| place.get_or_init(made).clone());
        ShapedTools { revision: list.revision, json }
    }
}

/// What a session was given last, and what the next lists go by.
#[derive(Default)]
#[repr(C)]
pub(super) struct ViewCache {
    /// Whether a change was told since the last lists were made.
    is_behind: AtomicBool,
    last: ArcSwapOption<SessionView>,
    /// Held while lists are made: what a list holds, and the number of a change that is told
    /// meanwhile, have one order.
    book: Mutex<ListHistory>,
}

/// What outlasts each of a session's lists.
#[derive(Default)]
#[repr(C)]
pub(super) struct ListHistory {
    numbers: Numbers,
    pub(super) order: Order,
    pub(super) bare_names: BareNames,
}

#[derive(Default)]
struct Numbers {
    tools: Revision,
    prompts: Revision,
    resources: Revision,
}

impl ViewCache {
    /// The lists as they are; made anew only when a catalog or a state in them changed.
    pub(super) fn lists(&self, session: &SessionCore) -> Arc<SessionView> {
        if let Some(last) = self.current(session) {
            return last;
        }
        let mut book = self.book();
        // Somebody may have made them meanwhile.
        if let Some(last) = self.current(session) {
            return last;
        }
        // Before the look at what is seen: of a change that is told after it the next lists have
        // the number.
        self.is_behind.store(false, Ordering::Release);
        let mut lists = SessionView::new(session, &session.holds.seen(), &mut book);
        book.order.forget_gone(&lists.tools, Listed::tool_name);
        book.numbers.give(&mut lists, self.last.load().as_deref());
        let lists = Arc::new(lists);
        self.last.store(Some(lists.clone()));
        lists
    }

    /// The tools of one hold, in the session's order and by its names.
    pub(super) fn tools_of(&self, session: &SessionCore, held: &Arc<LeaseState>) -> Arc<[Listed]> {
        // Who has a bare name is decided with all servers in view.
        let all = self.lists(session);
        let mut book = self.book();
        let own = SessionView::new(session, &[VisibleServer::Held(held.clone())], &mut book);
        book.order.forget_gone(&all.tools, Listed::tool_name);
        own.tools.items
    }

    /// The number of a change that is told: lists that are made from now on have it.
    pub(super) fn number_of_change(&self, list: ListKind) -> u64 {
        let mut book = self.book();
        // The last lists may have the change, and have not its number.
        self.is_behind.store(true, Ordering::Release);
        let numbers = &mut book.numbers;
        match list {
            ListKind::Tools => numbers.tools.of_change(),
            ListKind::Prompts => numbers.prompts.of_change(),
            ListKind::Resources | ListKind::ResourceTemplates => numbers.resources.of_change(),
        }
    }

    /// Nobody is given anything any more. What a list kept alive is given back, to be dropped
    /// without a lock.
    pub(super) fn end(&self) -> Option<Arc<SessionView>> {
        self.last.swap(None)
    }

    fn current(&self, session: &SessionCore) -> Option<Arc<SessionView>> {
        let last = self.last.load_full().filter(|_| !self.is_behind.load(Ordering::Acquire));
        last.filter(|last| last.is_current(&session.holds.seen()))
    }

    fn book(&self) -> MutexGuard<'_, ListHistory> {
        self.book.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Numbers {
    fn give(&mut self, lists: &mut SessionView, before: Option<&SessionView>) {
        let made = |list: fn(&SessionView) -> &List| list(lists).made(before.map(list));
        let tools = self.tools.of_list(made(|lists| &lists.tools));
        let prompts = self.prompts.of_list(made(|lists| &lists.prompts));
        let both = [made(|lists| &lists.resources), made(|lists| &lists.resource_templates)];
        let resources = if both.contains(&Made::Other) { Made::Other } else { Made::Same };
        let resources = self.resources.of_list(resources);
        lists.tools.revision = tools;
        lists.prompts.revision = prompts;
        lists.resources.revision = resources;
        lists.resource_templates.revision = resources;
    }
}
