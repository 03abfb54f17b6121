//! The rule of changed tools, written a second time (SPEC 7.6): which definitions are accepted,
//! what may be used of what was listed, and what is held back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trunkline_pool::ErrorCode;
use trunkline_pool::acceptance::{QuarantinedTools, Recalled};
use trunkline_pool::approvals::Standing;
use trunkline_pool::catalog::{Catalog, CatalogDifference, Item, NameChanges};
use trunkline_pool::options::OnToolChange;
use trunkline_pool::state::{
    Configuration, ConnectionId, Effect, EntryId, EntryState, EntryStatus, ListingNumber,
    PoolInput, ServerId, Situation, Slot,
};

use crate::model::{Cause, Holds, Model, heard};
use crate::setup::Setup;

/// Whether a tool is accepted in that step.
pub fn accepts_tool(cause: &Cause) -> bool {
    matches!(cause, Cause::Input(PoolInput::AcceptTool { .. }))
}

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
    /// By which approval, where one was recalled.
    by: BTreeMap<Configuration, Standing>,
    /// What is held back, whether or not an entry is there.
    held: BTreeMap<Configuration, Digests>,
    /// The configurations with more or other accepted tools since this step began.
    unkept: BTreeSet<Configuration>,
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
        self.unkept.clear();
        self.entries.values_mut().for_each(|expected| expected.renewed.clear());
        let Cause::Input(input) = cause else { return };
        match input {
            PoolInput::Connected { connection, catalog } => {
                if let Some(row) = before.get(&connection.entry)
                    && row.situation == Situation::Connecting
                    && row.living == Some(connection.generation)
                {
                    self.judge(row, catalog, setup);
                }
            }
            PoolInput::CatalogListed { connection, number, result: Ok(catalog) } => {
                let listing = [Situation::Listing, Situation::ListingOutdated];
                if let Some(row) = before.get(&connection.entry)
                    && listing.contains(&row.situation)
                    && row.living == Some(connection.generation)
                    && self.listings.get(connection) == Some(number)
                {
                    self.judge(row, catalog, setup);
                }
            }
            PoolInput::Recall { configuration, recalled } => self.recall(*configuration, recalled),
            PoolInput::AcceptTool { server, tool, digest, .. } => {
                let rows = before
                    .values()
                    .filter(|row| row.server == *server && row.situation != Situation::Ending);
                let rows: Vec<&EntryStatus> = rows.collect();
                let answer = match closing {
                    true => Err(ErrorCode::Closing),
                    false => self.accept(*server, &rows, (tool, *digest), setup),
                };
                self.answer = Some(answer);
            }
            _ => {}
        }
    }

    fn judge(&mut self, row: &EntryStatus, listed: &Catalog, setup: &Setup) {
        let configuration = setup.configuration_of(row.key);
        let is_held_back = configuration.on_tool_change == OnToolChange::Quarantine;
        let accepted = self.accepted.entry(configuration).or_default();
        let known = accepted.len();
        let mut expected = Expected::default();
        for item in &listed.tools {
            let (name, digest) = (item.name.clone(), item.digest);
            let known = *accepted.entry(name.clone()).or_insert(digest);
            if known == digest {
                expected.usable.insert(name, digest);
            } else if is_held_back {
                expected.held.insert(name, digest);
            } else {
                accepted.insert(name.clone(), digest);
                expected.usable.insert(name.clone(), digest);
                expected.renewed.push(name);
            }
        }
        if is_held_back && accepted.len() > known {
            self.unkept.insert(configuration);
        }
        self.held.insert(configuration, expected.held.clone());
        self.entries.insert(row.entry, expected);
    }

    fn recall(&mut self, configuration: Configuration, recalled: &Recalled) {
        if configuration.on_tool_change == OnToolChange::Notify {
            return;
        }
        let tools: Digests = match recalled {
            Recalled::Approved { by, tools } => {
                if self.by.insert(configuration, *by) != Some(*by) {
                    self.accepted.remove(&configuration);
                    self.held.remove(&configuration);
                }
                (**tools).clone()
            }
            Recalled::Shown(catalog) => digests(&catalog.tools),
        };
        let accepted = self.accepted.entry(configuration).or_default();
        for (name, digest) in tools {
            accepted.entry(name).or_insert(digest);
        }
    }

    fn accept(
        &mut self,
        server: ServerId,
        rows: &[&EntryStatus],
        (tool, digest): (&Arc<str>, [u8; 32]),
        setup: &Setup,
    ) -> Result<(), ErrorCode> {
        let mut listed = Vec::new();
        let mut accepted = BTreeSet::new();
        for row in rows {
            let Some(expected) = self.entries.get_mut(&row.entry) else { continue };
            listed.extend(expected.held.get(tool).or(expected.usable.get(tool)).copied());
            if expected.held.get(tool) == Some(&digest) {
                expected.held.remove(tool);
                expected.usable.insert(tool.clone(), digest);
                expected.renewed.push(tool.clone());
                accepted.insert(setup.configuration_of(row.key));
            }
        }
        let live: Vec<Configuration> =
            rows.iter().map(|row| setup.configuration_of(row.key)).collect();
        for (configuration, held) in &self.held {
            if configuration.server == server && !accepted.contains(configuration) {
                listed.extend(held.get(tool).copied());
                if held.get(tool) == Some(&digest) {
                    accepted.insert(*configuration);
                }
            }
        }
        for (configuration, known) in &self.accepted {
            let held = self.held.get(configuration).and_then(|held| held.get(tool));
            let is_asleep = configuration.server == server && !live.contains(configuration);
            if is_asleep && held.is_none() {
                listed.extend(known.get(tool).copied().filter(|known| *known == digest));
            }
        }
        for configuration in accepted {
            self.accepted.entry(configuration).or_default().insert(tool.clone(), digest);
            let held = self.held.entry(configuration).or_default();
            if held.get(tool) == Some(&digest) {
                held.remove(tool);
            }
            self.unkept.insert(configuration);
        }
        match listed.contains(&digest) {
            true => Ok(()),
            false if listed.is_empty() => Err(ErrorCode::ToolNotFound),
            false => Err(ErrorCode::StaleApproval),
        }
    }

    /// Holds one effect against what should be.
    pub fn take(&mut self, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::ListCatalog { connection, number } => {
                let last = self.listings.insert(*connection, *number).unwrap_or_default();
                check!(*number > last, "{connection} lists as {number:?} after {last:?}");
            }
            Effect::KeepAccepted { configuration, accepted, .. } => {
                let right = self.accepted.get(configuration) == Some(&**accepted);
                check!(right, "{accepted:?} are kept of {configuration:?}");
                self.unkept.remove(configuration);
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
        let usable = digests(&slot.catalog.tools);
        let right = usable == expected.usable && held(&slot.held) == expected.held;
        check!(right, "{slot:?} of {entry:?}, not {expected:?}");
        Ok(())
    }

    /// An acceptance is answered at once.
    pub fn is_answered(&self) -> Result<(), String> {
        check!(self.answer.is_none(), "an acceptance without an answer");
        check!(self.unkept.is_empty(), "accepted, and not kept: {:?}", self.unkept);
        Ok(())
    }

    /// What holders should be told: a tool that comes with another definition than it had has
    /// changed as well.
    pub fn difference(
        &self,
        entry: EntryId,
        before: &Catalog,
        after: &Catalog,
    ) -> CatalogDifference {
        let mut difference = CatalogDifference::between(before, after);
        let NameChanges { added, changed, .. } = &mut difference.tools;
        let renewed = self.entries.get(&entry).map(|expected| expected.renewed.clone());
        changed.extend(renewed.into_iter().flatten().filter(|name| added.contains(name)));
        changed.sort();
        difference
    }
}

impl Model {
    /// A new holder of an entry hears of the tools held back there, and of nothing else.
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

fn digests(items: &[Item]) -> Digests {
    items.iter().map(|item| (item.name.clone(), item.digest)).collect()
}

/// The digests of what is held back.
pub fn held(held: &QuarantinedTools) -> Digests {
    held.tools().iter().map(|tool| (tool.item.name.clone(), tool.item.digest)).collect()
}
