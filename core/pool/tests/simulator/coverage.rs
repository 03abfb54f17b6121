//! Which inputs met which states: an untried pair that can happen is a gap in the evidence.

use std::collections::BTreeMap;

use trunkline_pool::state::{
    Ask, EntryStatus, Gate, KeyId, Moment, PoolInput, PoolState, Situation, Ticket,
};

use crate::model::{Cause, Model, is_current};
use crate::world::connection_of;

/// How often each pair was met: the state of the entry, or of the session, and the input.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub pairs: BTreeMap<(&'static str, &'static str), u64>,
}

const SITUATIONS: [(Situation, &str); 13] = [
    (Situation::Queued, "queued"),
    (Situation::Replacing, "replacing"),
    (Situation::Connecting, "connecting"),
    (Situation::Connected, "connected"),
    (Situation::ListingDue, "listing-due"),
    (Situation::Listing, "listing"),
    (Situation::ListingOutdated, "listing-outdated"),
    (Situation::BackoffEnding, "backoff-ending"),
    (Situation::Backoff, "backoff"),
    (Situation::FailedEnding, "failed-ending"),
    (Situation::Failed, "failed"),
    (Situation::Unauthorized, "unauthorized"),
    (Situation::Ending, "ending"),
];

/// Inputs that concern an entry, and the states in which they can never meet it.
///
/// Who waits does so only where an outcome is to come. An event is of the current incarnation (as
/// opposed to `old`) when that incarnation exists outside, be it that the pool already knows what
/// it says. Deadlines exist only where somebody goes or comes back.
const ENTRY_INPUTS: [(&str, &[&str]); 25] = [
    ("acquire", &["ending"]),
    ("want", &["ending"]),
    ("gate", &[]),
    ("key-gate", &[]),
    (
        "cancel",
        &[
            "connected",
            "listing-due",
            "listing",
            "listing-outdated",
            "failed-ending",
            "unauthorized",
            "ending",
        ],
    ),
    ("release", &["ending"]),
    ("close-session", &["ending"]),
    ("restart", &[]),
    ("reconfigure", &[]),
    ("credentials", &[]),
    ("drain", &[]),
    (
        "listing-deadline",
        &[
            "queued",
            "replacing",
            "connecting",
            "connected",
            "listing",
            "listing-outdated",
            "backoff-ending",
            "backoff",
            "failed-ending",
            "failed",
            "unauthorized",
            "ending",
        ],
    ),
    ("deadline", &["queued", "replacing", "connecting", "ending"]),
    ("connected", &["queued", "backoff", "failed", "unauthorized"]),
    (
        "connect-failed",
        &[
            "queued",
            "connected",
            "listing-due",
            "listing",
            "listing-outdated",
            "backoff",
            "backoff-ending",
            "failed",
            "failed-ending",
            "unauthorized",
        ],
    ),
    ("disconnected", &["queued", "connecting", "backoff", "failed", "unauthorized"]),
    ("stale", &["queued", "connecting", "backoff", "failed", "unauthorized"]),
    ("listed", &["queued", "connecting", "backoff", "failed", "unauthorized"]),
    ("closed", &["queued", "backoff", "failed", "unauthorized"]),
    ("old connected", &[]),
    ("old connect-failed", &[]),
    ("old disconnected", &[]),
    ("old stale", &[]),
    ("old listed", &[]),
    ("old closed", &[]),
];

/// What concerns a wish that waits for room.
const WISH_INPUTS: [&str; 5] = ["cancel", "close-session", "gate", "key-gate", "drain"];
const WISH: &str = "waiting wish";

/// Session states and the inputs that concern them.
const SESSION_INPUTS: [&str; 4] = ["open-session", "close-session", "resume-session", "acquire"];
const SESSION_STATES: [&str; 3] = ["open session", "kept session", "no session"];

fn word(row: &EntryStatus) -> &'static str {
    SITUATIONS
        .iter()
        .find(|(situation, _)| *situation == row.situation)
        .map_or("?", |(_, word)| word)
}

impl Coverage {
    /// Counts what a step is about to meet.
    pub fn note(&mut self, cause: &Cause<'_>, now: Moment, pool: &PoolState, model: &Model) {
        let input = match cause {
            Cause::Timeout => {
                for row in pool.entries().filter(|row| row.due_at.is_some_and(|at| at <= now)) {
                    self.count(word(&row), "deadline");
                }
                for row in pool.entries().filter(|row| row.list_at.is_some_and(|at| at <= now)) {
                    self.count(word(&row), "listing-deadline");
                }
                return;
            }
            Cause::Input(input) => *input,
        };
        if let Some(connection) = connection_of(input) {
            let name = event_name(input, is_current(pool, input));
            match pool.entry(connection.entry) {
                Some(row) => self.count(word(&row), name),
                None => self.count("absent", name),
            }
            return;
        }
        self.note_command(input, pool, model);
    }

    fn note_command(&mut self, input: &PoolInput, pool: &PoolState, model: &Model) {
        match input {
            PoolInput::Acquire(Ask { session, key, .. }) => {
                self.count(session_word(model, *session), "acquire");
                let entry = pool
                    .entries()
                    .find(|row| row.key == *key && row.situation != Situation::Ending);
                self.count(entry.as_ref().map_or("absent", word), "acquire");
            }
            PoolInput::Want { .. } | PoolInput::SetGates { .. } | PoolInput::ForgetKeys { .. } => {
                self.note_budget(input, pool, model);
            }
            PoolInput::CancelAcquire { ticket } if model.waiting.contains_key(ticket) => {
                self.count(WISH, "cancel");
            }
            PoolInput::CancelAcquire { ticket } => {
                let word = self.waits_at(*ticket, pool, model);
                self.count(word, "cancel");
            }
            PoolInput::Release { lease } => {
                let held = model.leases.get(lease).and_then(|(_, entry)| pool.entry(*entry));
                self.count(held.as_ref().map_or("absent", word), "release");
            }
            PoolInput::OpenSession { session } => {
                self.count(session_word(model, *session), "open-session");
            }
            PoolInput::ResumeSession { session } => {
                self.count(session_word(model, *session), "resume-session");
            }
            PoolInput::CloseSession { session, .. } => {
                self.count(session_word(model, *session), "close-session");
                for (_, entry) in model.leases.values().filter(|(holder, _)| holder == session) {
                    if let Some(row) = pool.entry(*entry) {
                        self.count(word(&row), "close-session");
                    }
                }
                if model.waiting.values().any(|ask| ask.session == *session) {
                    self.count(WISH, "close-session");
                }
                for asked in model.acquires.values().filter(|asked| asked.session == *session) {
                    let row = pool
                        .entries()
                        .find(|row| row.key == asked.key && row.situation != Situation::Ending);
                    if let Some(row) = row {
                        self.count(word(&row), "close-session");
                    }
                }
            }
            PoolInput::Restart { server, .. } => {
                self.count_all(pool, "restart", |row| row.server == *server);
            }
            PoolInput::Reconfigure { outdated, .. } => {
                self.count_all(pool, "reconfigure", |row| outdated.contains(&row.entry));
            }
            PoolInput::CredentialsChanged { entries } => {
                self.count_all(pool, "credentials", |row| entries.contains(&row.entry));
            }
            PoolInput::Drain { .. } => {
                if !model.waiting.is_empty() {
                    self.count(WISH, "drain");
                }
                for row in pool.entries() {
                    self.count(word(&row), "drain");
                }
            }
            _ => {}
        }
    }

    fn note_budget(&mut self, input: &PoolInput, pool: &PoolState, model: &Model) {
        match input {
            PoolInput::Want { asks } => {
                for ask in asks {
                    self.count(session_word(model, ask.session), "acquire");
                    let entry = pool
                        .entries()
                        .find(|row| row.key == ask.key && row.situation != Situation::Ending);
                    self.count(entry.as_ref().map_or("absent", word), "want");
                }
            }
            PoolInput::SetGates { names, keys } => {
                for (server, _) in names {
                    self.count_all(pool, "gate", |row| row.server == *server);
                    if model.waiting.values().any(|ask| ask.server == *server) {
                        self.count(WISH, "gate");
                    }
                }
                for (key, _) in keys {
                    self.count_all(pool, "key-gate", |row| row.key == *key);
                    if model.waiting.values().any(|ask| ask.key == *key) {
                        self.count(WISH, "key-gate");
                    }
                }
            }
            PoolInput::ForgetKeys { keys } => {
                let is_shut = |key: &&KeyId| pool.key_gate(**key) != Gate::Open;
                if keys.iter().any(|key| is_shut(&key)) {
                    self.count("absent", "forget-shut-key");
                }
            }
            _ => {}
        }
    }

    fn waits_at(&self, ticket: Ticket, pool: &PoolState, model: &Model) -> &'static str {
        let asked = model.acquires.get(&ticket);
        let row = asked.and_then(|asked| {
            pool.entries().find(|row| row.key == asked.key && row.situation != Situation::Ending)
        });
        row.as_ref().map_or("absent", word)
    }

    fn count_all(
        &mut self,
        pool: &PoolState,
        input: &'static str,
        is_met: impl Fn(&EntryStatus) -> bool,
    ) {
        for row in pool.entries().filter(is_met) {
            self.count(word(&row), input);
        }
    }

    fn count(&mut self, state: &'static str, input: &'static str) {
        *self.pairs.entry((state, input)).or_default() += 1;
    }

    pub fn join(&mut self, other: &Coverage) {
        for (pair, count) in &other.pairs {
            *self.pairs.entry(*pair).or_default() += count;
        }
    }

    /// Pairs that can happen and were not met.
    pub fn gaps(&self) -> Vec<(&'static str, &'static str)> {
        let mut feasible = Vec::new();
        for (input, never) in ENTRY_INPUTS {
            let states = SITUATIONS.iter().map(|(_, word)| *word).chain(["absent"]);
            feasible.extend(states.filter(|state| !never.contains(state)).map(|s| (s, input)));
        }
        feasible.push(("absent", "forget-shut-key"));
        feasible.extend(WISH_INPUTS.iter().map(|input| (WISH, *input)));
        for input in SESSION_INPUTS {
            feasible.extend(SESSION_STATES.iter().map(|state| (*state, input)));
        }
        let absent_is_silent = [
            "restart",
            "reconfigure",
            "credentials",
            "drain",
            "close-session",
            "deadline",
            "listing-deadline",
            "gate",
            "key-gate",
        ];
        let impossible = |(state, input): &(&str, &str)| {
            *state == "absent" && (absent_is_silent.contains(input) || is_current_event(input))
        };
        feasible.retain(|pair| !impossible(pair) && !self.pairs.contains_key(pair));
        feasible
    }

    /// Pairs that were met and are listed as impossible: the list is wrong.
    pub fn surprises(&self) -> Vec<(&'static str, &'static str)> {
        let listed = |(state, input): &&(&'static str, &'static str)| {
            ENTRY_INPUTS.iter().any(|(name, never)| name == input && never.contains(state))
        };
        self.pairs.keys().filter(listed).copied().collect()
    }

    /// The table of counts, inputs down and states across.
    pub fn table(&self) -> String {
        let mut inputs: Vec<&str> = self.pairs.keys().map(|(_, input)| *input).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let mut states: Vec<&str> = SITUATIONS.iter().map(|(_, word)| *word).collect();
        states.extend(["absent", WISH]);
        states.extend(SESSION_STATES);
        let mut table = format!("{:20}", "");
        for state in &states {
            table += &format!("{state:>17}");
        }
        for input in inputs {
            table += &format!("\n{input:20}");
            for state in &states {
                let count = self.pairs.get(&(*state, input)).copied().unwrap_or(0);
                table += &format!("{count:>17}");
            }
        }
        table
    }
}

fn is_current_event(input: &str) -> bool {
    ["connected", "connect-failed", "disconnected", "stale", "listed", "closed"].contains(&input)
}

fn session_word(model: &Model, session: trunkline_pool::state::SessionId) -> &'static str {
    match model.sessions.get(&session) {
        Some(None) => "open session",
        Some(Some(_)) => "kept session",
        None => "no session",
    }
}

fn event_name(input: &PoolInput, current: bool) -> &'static str {
    match (input, current) {
        (PoolInput::Connected { .. }, true) => "connected",
        (PoolInput::Connected { .. }, false) => "old connected",
        (PoolInput::ConnectFailed { .. }, true) => "connect-failed",
        (PoolInput::ConnectFailed { .. }, false) => "old connect-failed",
        (PoolInput::Disconnected { .. }, true) => "disconnected",
        (PoolInput::Disconnected { .. }, false) => "old disconnected",
        (PoolInput::CatalogStale { .. }, true) => "stale",
        (PoolInput::CatalogStale { .. }, false) => "old stale",
        (PoolInput::CatalogListed { .. }, true) => "listed",
        (PoolInput::CatalogListed { .. }, false) => "old listed",
        (PoolInput::Closed { .. }, true) => "closed",
        (PoolInput::Closed { .. }, false) => "old closed",
        _ => "a command",
    }
}
