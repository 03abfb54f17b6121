//! What a session was given last, and the numbers of its lists.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use arc_swap::ArcSwapOption;
use trunkline_pool::catalog::ListKind;
use trunkline_pool::naming::Naming;
use trunkline_pool::view::{Made, Revision};

use super::SessionView;
use super::list::{List, ListHistory, ListedItem};
use super::snapshot::VisibleServer;
use crate::session::lease::LeaseTable;
use crate::session::lease::lease_state::LeaseState;

/// What a session was given last, and what the next lists go by.
#[derive(Default)]
#[repr(C)]
pub(crate) struct ViewCache {
    /// Whether a change was told since the last lists were made.
    is_behind: AtomicBool,
    last: ArcSwapOption<SessionView>,
    /// Held while lists are made: what a list holds, and the number of a change that is told
    /// meanwhile, have one order.
    book: Mutex<ListBook>,
}

/// What the next lists go by, and their numbers.
#[derive(Default)]
#[repr(C)]
struct ListBook {
    numbers: Numbers,
    history: ListHistory,
}

#[derive(Default)]
struct Numbers {
    tools: Revision,
    prompts: Revision,
    resources: Revision,
}

impl ViewCache {
    /// The lists as they are; made anew only when a catalog or a state in them changed.
    pub(crate) fn lists(&self, holds: &LeaseTable, naming: &Naming) -> Arc<SessionView> {
        if let Some(last) = self.current(holds) {
            return last;
        }
        let mut book = self.book();
        // Somebody may have made them meanwhile.
        if let Some(last) = self.current(holds) {
            return last;
        }
        // Before the look at what is seen: of a change that is told after it the next lists have
        // the number.
        self.is_behind.store(false, Ordering::Release);
        let mut lists = SessionView::new(naming, &holds.seen(), &mut book.history);
        book.history.order.forget_gone(&lists.tools, ListedItem::tool_name);
        book.numbers.give(&mut lists, self.last.load().as_deref());
        let lists = Arc::new(lists);
        self.last.store(Some(lists.clone()));
        lists
    }

    /// The tools of one hold, in the session's order and by its names.
    pub(crate) fn tools_of(
        &self,
        (holds, naming): (&LeaseTable, &Naming),
        held: &Arc<LeaseState>,
    ) -> Arc<[ListedItem]> {
        // Who has a bare name is decided with all servers in view.
        let all = self.lists(holds, naming);
        let mut book = self.book();
        let seen = [VisibleServer::Held(held.clone())];
        let own = SessionView::new(naming, &seen, &mut book.history);
        book.history.order.forget_gone(&all.tools, ListedItem::tool_name);
        own.tools.items
    }

    /// The number of a change that is told: lists that are made from now on have it.
    pub(crate) fn number_of_change(&self, list: ListKind) -> u64 {
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
    pub(crate) fn end(&self) -> Option<Arc<SessionView>> {
        self.last.swap(None)
    }

    fn current(&self, holds: &LeaseTable) -> Option<Arc<SessionView>> {
        let last = self.last.load_full().filter(|_| !self.is_behind.load(Ordering::Acquire));
        last.filter(|last| last.is_current(&holds.seen()))
    }

    fn book(&self) -> MutexGuard<'_, ListBook> {
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
