//! The rule of changed tools, written a second time (SPEC 7.6): which definitions are accepted, what may be used of what was listed,
//! and what is held back.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::ErrorCode;
use trunkline_pool::acceptance::Held;
use trunkline_pool::catalog::{Catalog, Change, Difference};
use trunkline_pool::options::OnToolChange;
use trunkline_pool::state::{
    Configuration, ConnectionId, Effect, EntryId, EntryState, EntryStatus, Input, ListingNumber,
    Situation, Slot,
};

use crate::model::{Cause, Holds, Model, heard};
use crate::setup::Setup;

type Digests = BTreeMap<Arc<str>, [u8; 32]>;

/// What should be published of one entry.
#[derive(Clone, Debug, Default, PartialEq)]
struct Expected {
    usable: Digests,
    held: Digests,
    /// The usable tools that the last step gave another definition.
    renewed: Vec<Arc<str>>,
}

/// What is accepted, and what follows for each entry.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    accepted: BTreeMap<Configuration, Digests>,
    entries: BTreeMap<EntryId, Expected>,
    listings: BTreeMap<ConnectionId, ListingNumber>,
    /// How the acceptance of this step must be answered.
    answer: Option<Result<(), ErrorCode>>,
}

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}

impl Definitions {
    /// Takes note of what comes in, before its effects.
    pub fn expect(
        &mut self,
        cause: &Cause<'_>,
        before: &BTreeMap<EntryId, EntryStatus>,
        closing: bool,
        setup: &Setup,
    ) {
        self.answer = None;
        self.entries.values_mut().for_each(|expected| expected.renewed.clear());
        let Cause::Input(input) = cause else { return };
        match input {
            Input::Connected { connection, catalog } => {
                if let Some(row) = before.get(&connection.entry)
                    && row.situation == Situation::Connecting
                    && row.living == Some(connection.generation)
                {
                    self.judge(row, catalog, setup);
                }
            }
            Input::CatalogListed { connection, number, result: Ok(catalog) } => {
                let listing = [Situation::Listing, Situation::ListingOutdated];
                if let Some(row) = before.get(&connection.entry)
                    && listing.contains(&row.situation)
                    && row.living == Some(connection.generation)
                    && self.listings.get(connection) == Some(number)
                {
                    self.judge(row, catalog, setup);
                }
            }
            Input::AcceptTool { server, tool, digest, .. } => {
                let rows = before
                    .values()
                    .filter(|row| row.server == *server && row.situation != Situation::Ending);
                let rows: Vec<&EntryStatus> = rows.collect();
                let answer = match closing {
                    true => Err(ErrorCode::Closing),
                    false => self.accept(&rows, tool, *digest, setup),
                };
                self.answer = Some(answer);
            }
            _ => {}
        }
    }

    fn judge(&mut self, row: &EntryStatus, listed: &Catalog, setup: &Setup) {
        let accepted = self.accepted.entry(setup.configuration_of(row.key)).or_default();
        let mut expected = Expected::default();
        for item in &listed.tools {
            let (name, digest) = (item.name.clone(), item.digest);
            let known = *accepted.entry(name.clone()).or_insert(digest);
            if known == digest {
                expected.usable.insert(name, digest);
            } else if setup.options.on_tool_change == OnToolChange::Quarantine {
                expected.held.insert(name, digest);
            } else {
                accepted.insert(name.clone(), digest);
                expected.usable.insert(name.clone(), digest);
                expected.renewed.push(name);
            }
        }
        self.entries.insert(row.entry, expected);
    }

    fn accept(
        &mut self,
        rows: &[&EntryStatus],
        tool: &Arc<str>,
        digest: [u8; 32],
        setup: &Setup,
    ) -> Result<(), ErrorCode> {
        let mut answer = Err(ErrorCode::ToolNotFound);
        for row in rows {
            let Some(expected) = self.entries.get_mut(&row.entry) else { continue };
            let listed = expected.held.get(tool).or(expected.usable.get(tool));
            if listed == Some(&digest) {
                answer = Ok(());
            } else if listed.is_some() && answer.is_err() {
                answer = Err(ErrorCode::StaleApproval);
            }
            if expected.held.get(tool) == Some(&digest) {
                expected.held.remove(tool);
                expected.usable.insert(tool.clone(), digest);
                expected.renewed.push(tool.clone());
                let configuration = setup.configuration_of(row.key);
                self.accepted.entry(configuration).or_default().insert(tool.clone(), digest);
            }
        }
        answer
    }

    /// Holds one effect against what should be.
    pub fn take(&mut self, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::ListCatalog { connection, number } => {
                let last = self.listings.insert(*connection, *number).unwrap_or_default();
                check!(*number > last, "{connection} lists as {number:?} after {last:?}");
            }
            Effect::Publish { entry, slot } => return self.published(*entry, slot),
            Effect::ToolAccepted { .. } => {
                let right = self.answer.take() == Some(Ok(()));
                check!(right, "accepted, though it could not be");
            }
            Effect::Refuse { error, .. } if self.answer.is_some() => {
                let right = self.answer.take() == Some(Err(error.code()));
                check!(right, "an acceptance refused with {error:?}");
            }
            _ => {}
        }
        Ok(())
    }

    fn published(&mut self, entry: EntryId, slot: &Slot) -> Result<(), String> {
        let over = [EntryState::Failed, EntryState::AuthRequired, EntryState::Closed];
        if over.contains(&slot.state) {
            self.entries.remove(&entry);
        }
        let expected = self.entries.get(&entry).cloned().unwrap_or_default();
        let usable = slot.catalog.tools.iter().map(|item| (item.name.clone(), item.digest));
        let usable: Digests = usable.collect();
        let right = usable == expected.usable && held(&slot.held) == expected.held;
        check!(right, "{slot:?} of {entry:?}, not {expected:?}");
        Ok(())
    }

    /// An acceptance is answered at once.
    pub fn is_answered(&self) -> Result<(), String> {
        check!(self.answer.is_none(), "an acceptance without an answer");
        Ok(())
    }

    /// What holders should be told: a tool that comes with another definition than it had has changed as well.
    pub fn difference(&self, entry: EntryId, before: &Catalog, after: &Catalog) -> Difference {
        let mut difference = Difference::between(before, after);
        let Change { added, changed, .. } = &mut difference.tools;
        let renewed = self.entries.get(&entry).map(|expected| expected.renewed.clone());
        changed.extend(renewed.into_iter().flatten().filter(|name| added.contains(name)));
        changed.sort();
        difference
    }
}

impl Model {
    /// Whoever begins to hold an entry hears of what is held back there, and of nothing else.
    pub fn newcomers_know_what_is_held_back(
        &self,
        effects: &[Effect],
        held: &Holds,
    ) -> Result<(), String> {
        for effect in effects {
            let Effect::Grant { lease, entry, .. } = effect else { continue };
            let Some((session, _)) = self.leases.get(lease) else { continue };
            if held.get(entry).is_some_and(|holders| holders.contains(session)) {
                continue;
            }
            let slot = self.entries.get(entry).and_then(|told| told.slot.as_ref());
            let some = slot.is_some_and(|slot| !slot.held.tools().is_empty());
            let owed: &[&str] = if some { &["quarantined"] } else { &[] };
            let heard = heard(effects, *session, *entry);
            check!(heard == owed, "{session:?} begins to hold {entry:?} and heard {heard:?}");
        }
        Ok(())
    }
}

/// The digests of what is held back.
pub fn held(held: &Held) -> Digests {
    held.tools().iter().map(|tool| (tool.item.name.clone(), tool.item.digest)).collect()
}
