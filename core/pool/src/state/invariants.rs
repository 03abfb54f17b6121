//! What always holds, recomputed from the records and compared with what is cached.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::BudgetPlace;
use super::entry::{Entry, Phase, Stage};
use super::limits::ledger::Places;
use super::session::ask::Ask;
use super::session::records::{Lease, OpenTicket, Patience};
use super::terms::Family;
use super::{DueTimer, PoolState};
use crate::base::ids::{EntryId, SessionId, Ticket};
use crate::config::Share;

/// Fails with a sentence unless the condition holds.
macro_rules! hold {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

impl PoolState {
    /// Checks every invariant of the module's list. Costs as much as there is; meant for tests.
    ///
    /// # Errors
    /// A sentence about the first that does not hold.
    pub fn invariants(&self) -> Result<(), String> {
        for (id, entry) in self.entries.iter() {
            self.entry_is_sound(id, entry).map_err(|what| format!("entry {}: {what}", id.0))?;
        }
        self.keys_and_names_agree()?;
        self.holds_agree()?;
        self.tickets_agree()?;
        self.slots_agree()?;
        self.budget_agrees()?;
        self.owed_agrees()?;
        self.accepted_agrees()?;
        self.deadlines_agree()?;
        self.drain_is_sound()
    }

    fn entry_is_sound(&self, id: EntryId, entry: &Entry) -> Result<(), String> {
        let stage = entry.wire.map(|wire| wire.stage);
        let newest = entry.wire.is_some_and(|wire| wire.generation == entry.generation);
        hold!(entry.wire.is_none_or(|wire| wire.generation <= entry.generation), "wire from ahead");
        let fits = match entry.phase {
            Phase::Waiting { .. } => stage.is_none() && entry.family == Family::Local,
            Phase::Connecting { .. } => match stage {
                Some(Stage::Attempting) => newest,
                Some(Stage::Ending) => !newest,
                Some(Stage::Established) => false,
                None => entry.waits_for_replaced() && self.must_wait_for_replaced(entry.server),
            },
            Phase::Connected { .. } => stage == Some(Stage::Established) && newest,
            Phase::Backoff { .. } | Phase::Failed { .. } | Phase::Unauthorized { .. } => {
                stage.is_none() || stage == Some(Stage::Ending)
            }
            Phase::Ended { .. } => stage == Some(Stage::Ending),
        };
        hold!(fits, "{:?} with {:?}", entry.phase, entry.wire);
        let is_dropped = entry.wire.is_some_and(|wire| wire.is_forgone);
        let goes_on = stage == Some(Stage::Attempting) && !is_dropped;
        hold!(!goes_on || entry.is_awaited(), "an attempt that nobody wants goes on");
        if let Phase::Connected { planned, .. } = entry.phase {
            hold!(planned.is_some() == entry.holders.is_empty(), "an idle timer on a held entry");
            hold!(entry.waiters.is_empty(), "a waiter on a connected entry");
        }
        match entry.phase {
            Phase::Backoff { .. } => hold!(entry.is_wanted(), "coming back for nobody"),
            Phase::Failed { until } => {
                hold!(entry.is_wanted(), "a failed entry that nobody wants");
                hold!(entry.waiters.values().all(|is_wish| *is_wish), "a waiter on a failed entry");
                hold!(until.is_some() || !entry.is_wished(), "a wish that waits for nothing");
                hold!(entry.error.is_some(), "a failure without an error");
                let due = self.may_revive(entry);
                hold!(until.is_some() == due, "a failed entry is tried again: {due}, {until:?}");
            }
            Phase::Unauthorized { until } => {
                hold!(until.is_some() == entry.holders.is_empty(), "a timer on a held entry");
                hold!(entry.waiters.is_empty(), "a waiter without credentials");
                hold!(entry.error.is_some(), "without credentials, but without an error");
            }
            Phase::Waiting { .. } => {
                hold!(entry.is_wanted() || !entry.restarts.is_empty(), "queued for nobody");
            }
            Phase::Ended { .. } => hold!(!entry.is_wanted(), "wanted, but over"),
            Phase::Connected { .. } => {
                let own = entry.share == Share::Session;
                hold!(!own || entry.is_wanted(), "a session's own connection, idle");
            }
            Phase::Connecting { .. } => {}
        }
        hold!(entry.shown == Some(entry.visible()), "shown as {:?}", entry.shown);
        hold!(entry.idle.is_held() != entry.holders.is_empty(), "a hold without holders");
        let restarting = matches!(entry.phase, Phase::Waiting { .. } | Phase::Connecting { .. });
        hold!(!entry.is_superseded() || entry.restarts.is_empty(), "restarted for nobody");
        hold!(restarting || entry.restarts.is_empty(), "a restart of what is not restarting");
        hold!(entry.credentials.is_sound(), "credentials from ahead");
        let current = self.keys.get(&entry.key) == Some(&id);
        hold!(current != entry.is_over(), "its key leads elsewhere");
        Ok(())
    }

    fn keys_and_names_agree(&self) -> Result<(), String> {
        let (mut listed, mut replaced) = (0, 0);
        for (server, name) in self.names.iter() {
            hold!(
                name.entries.len() <= self.options.limits.entries_per_name as usize,
                "too many entries of name {}",
                server.0
            );
            listed += name.entries.len();
            for (index, id) in &name.entries {
                let fits = self.entries.get(*id).is_some_and(|entry| {
                    entry.server == server && entry.index == *index && !entry.is_over()
                });
                hold!(fits, "name {} leads astray at {index}", server.0);
                hold!(*index < name.next_index, "index {index} from ahead");
            }
        }
        let living = self.entries.iter().filter(|(_, entry)| !entry.is_over()).count();
        for (id, entry) in self.entries.iter().filter(|(_, entry)| entry.is_being_replaced()) {
            let name = self.names.get(entry.server);
            hold!(name.is_some_and(|it| it.replaced.contains(&id)), "nobody waits for {}", id.0);
            let waits = self.is_to_be_replaced(entry.server);
            hold!(entry.is_hurried || !waits, "{} is waited for and has all its time", id.0);
            replaced += 1;
        }
        let noted: usize = self.names.iter().map(|(_, name)| name.replaced.len()).sum();
        hold!(noted == replaced, "{noted} are waited for, {replaced} are being replaced");
        hold!(listed == living, "{listed} entries by name, {living} in all");
        hold!(self.keys.len() == living, "{} keys for {living} entries", self.keys.len());
        Ok(())
    }

    fn holds_agree(&self) -> Result<(), String> {
        let mut holders: BTreeMap<EntryId, BTreeSet<SessionId>> = BTreeMap::new();
        let mut leases = 0;
        for (session, record) in self.sessions.iter() {
            leases += record.holds.len();
            for (entry, lease) in &record.holds {
                holders.entry(*entry).or_default().insert(session);
                let expected = Lease { session, entry: *entry };
                hold!(self.leases.get(lease) == Some(&expected), "lease {} is another's", lease.0);
            }
        }
        hold!(leases == self.leases.len(), "{leases} leases held of {}", self.leases.len());
        for (id, entry) in self.entries.iter() {
            let derived = holders.remove(&id).unwrap_or_default();
            hold!(derived == entry.holders, "entry {}: holders differ", id.0);
        }
        hold!(holders.is_empty(), "holds on entries that are gone");
        Ok(())
    }

    fn tickets_agree(&self) -> Result<(), String> {
        let waiting: usize = self.entries.iter().map(|(_, entry)| entry.waiters.len()).sum();
        let asked: usize = self.sessions.iter().map(|(_, session)| session.tickets.len()).sum();
        let (mut acquires, mut wishes) = (0, 0);
        for (ticket, open) in self.tickets.iter() {
            match open {
                OpenTicket::Acquire { session, entry } => {
                    acquires += 1;
                    let waits =
                        self.entries.get(*entry).is_some_and(|e| e.waiters.contains_key(&ticket));
                    let asked = self
                        .sessions
                        .get(*session)
                        .is_some_and(|s| s.is_open() && s.tickets.contains(&ticket));
                    hold!(waits && asked, "ticket {} waits nowhere", ticket.0);
                }
                OpenTicket::Wish { session, server, key } => {
                    wishes += 1;
                    let waits = self.names.get(*server).and_then(|name| name.wishes.as_ref());
                    let waits = waits.and_then(|wishes| wishes.asks.get(&(*key, ticket)));
                    let fits =
                        waits.is_some_and(|ask| (ask.session, ask.server) == (*session, *server));
                    let asked = self
                        .sessions
                        .get(*session)
                        .is_some_and(|s| s.is_open() && s.tickets.contains(&ticket));
                    hold!(fits && asked, "wish {} waits nowhere", ticket.0);
                }
                OpenTicket::Restart(wait) => {
                    let left = self.restarts_of(ticket);
                    hold!(left > 0 && left == wait.left, "restart {} waits for {left}", ticket.0);
                }
                OpenTicket::Drain => {
                    let waits = self.closing.as_ref().is_some_and(|c| c.tickets.contains(&ticket));
                    hold!(waits, "drain {} is not waited for", ticket.0);
                }
            }
        }
        hold!(acquires == waiting, "{waiting} waiters for {acquires} acquires");
        hold!(acquires + wishes == asked, "{asked} asked for {acquires} acquires");
        let parked = self.names.iter().filter_map(|(_, name)| name.wishes.as_ref());
        let parked: usize = parked.map(|wishes| wishes.asks.len()).sum();
        hold!(wishes == parked, "{parked} wishes wait, {wishes} are open");
        Ok(())
    }

    fn restarts_of(&self, ticket: Ticket) -> u32 {
        let of = |entry: &Entry| entry.restarts.iter().filter(|other| **other == ticket).count();
        self.entries.iter().map(|(_, entry)| of(entry) as u32).sum()
    }

    fn slots_agree(&self) -> Result<(), String> {
        let count = |pick: fn(&Entry) -> bool| {
            self.entries.iter().filter(|(_, entry)| pick(entry)).count() as u32
        };
        let (used, leaving) =
            (count(|entry| entry.claims().slot), count(|entry| entry.claims().leaving));
        let slots = &self.slots;
        hold!(used == slots.used, "{used} slots claimed, {} booked", slots.used);
        hold!(leaving == slots.leaving, "{leaving} slots leaving, {} booked", slots.leaving);
        let limit = self.options.limits.processes;
        hold!(used <= limit, "{used} slots of {limit}");
        let derived: BTreeMap<u64, EntryId> = self
            .entries
            .iter()
            .filter_map(|(id, entry)| Some((entry.claims().turn?, id)))
            .collect();
        hold!(derived == slots.waiting, "the queue for slots differs");
        let waiting = derived.len() as u32;
        hold!(waiting == 0 || used == limit, "{waiting} wait though {used} of {limit} are used");
        hold!(waiting <= leaving, "{waiting} wait for {leaving} slots");
        Ok(())
    }

    fn budget_agrees(&self) -> Result<(), String> {
        let (mut names, mut queue) = (Places::default(), BTreeMap::new());
        for (server, name) in self.names.iter() {
            let mut places = Places::default();
            for (_, entry) in self.entries.iter().filter(|(_, entry)| entry.server == server) {
                places.change(BudgetPlace::default(), BudgetPlace::of(entry));
                let shut = self.admit(server, entry.key).is_err();
                hold!(!shut || entry.is_over(), "name {} is not admitted, but lives", server.0);
            }
            hold!(places == name.places, "{places:?} of name {}, not {:?}", server.0, name.places);
            names.change(BudgetPlace::default(), places.together());
            let Some(wishes) = &name.wishes else { continue };
            queue.insert(wishes.turn, server);
            hold!(!wishes.asks.is_empty(), "name {} waits for nobody", server.0);
            let shut = |ask: &Ask| self.admit(server, ask.key).is_err();
            hold!(!wishes.asks.values().any(shut), "name {} waits, but is not admitted", server.0);
            let free = |ask: &Ask| self.obstacle_of_ask(ask).is_none();
            hold!(!wishes.asks.values().any(free), "name {} waits, but there is room", server.0);
        }
        let in_error = self.names.iter().filter(|(_, name)| name.last_error.is_some()).count();
        hold!(in_error == self.names_in_error, "{in_error} names have an error");
        let book = &self.budget;
        hold!(names == book.names, "{names:?} have a place, {:?} are booked", book.names);
        hold!(
            names.held <= self.budget_limit(),
            "{} places of {}",
            names.held,
            self.budget_limit()
        );
        hold!(queue == self.queue.names, "the queue for the budget differs");
        let known = |turn: &u64| queue.contains_key(turn);
        hold!(self.queue.untold.iter().all(known), "told of what does not wait");
        Ok(())
    }

    fn owed_agrees(&self) -> Result<(), String> {
        let mut derived = BTreeSet::new();
        for (id, entry) in self.entries.iter().filter(|(_, entry)| entry.claims().owed) {
            hold!(
                self.obstacle_of(entry).is_some(),
                "entry {} is owed what there is room for",
                id.0
            );
            derived.insert(id);
        }
        hold!(derived == self.owed, "{:?} are owed an attempt, not {derived:?}", self.owed);
        Ok(())
    }

    fn accepted_agrees(&self) -> Result<(), String> {
        let mut entries = BTreeMap::new();
        for (_, entry) in self.entries.iter() {
            *entries.entry(entry.configuration()).or_insert(0) += 1;
        }
        hold!(&entries == self.accepted.entries(), "the entries of the configurations differ");
        hold!(self.accepted.agrees(), "the configurations that no entry has differ");
        Ok(())
    }

    fn deadlines_agree(&self) -> Result<(), String> {
        let entries = self
            .entries
            .iter()
            .filter_map(|(id, entry)| Some((entry.claims().due?, DueTimer::Entry(id))));
        let sessions = self
            .sessions
            .iter()
            .filter_map(|(id, session)| Some((session.kept_until?, DueTimer::Session(id))));
        let listings = self
            .entries
            .iter()
            .filter_map(|(id, entry)| Some((entry.claims().list_at?, DueTimer::Listing(id))));
        let drain = self.closing.iter().filter_map(|c| Some((c.stage.due()?, DueTimer::Drain)));
        let derived: BTreeSet<_> = entries.chain(sessions).chain(listings).chain(drain).collect();
        hold!(derived == self.due, "deadlines {:?} instead of {derived:?}", self.due);
        Ok(())
    }

    fn drain_is_sound(&self) -> Result<(), String> {
        let Some(closing) = &self.closing else {
            return Ok(());
        };
        let over = self.entries.iter().all(|(_, entry)| entry.is_over());
        hold!(over, "an entry lives on in a drain");
        let answered = closing.stage == Patience::Spent;
        hold!(answered == closing.tickets.is_empty(), "a drain that is not answered in time");
        hold!(answered || !self.entries.is_empty(), "nothing is left, but the drain waits");
        Ok(())
    }
}
