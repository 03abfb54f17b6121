//! The outside: it answers effects late, in any order between connections, sometimes twice, and
//! fails at will.
//!
//! It keeps its own record of what is alive, which is what the pool's claims are held against.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use trunkline_pool::catalog::{Catalog, Item};
use trunkline_pool::state::{
    CloseExit, CloseMode, ConnectionId, Effect, EntryId, Family, Generation, KeyId, ListingNumber,
    LossReason, PoolInput,
};
use trunkline_pool::{Error, ErrorCode};

use crate::chance::Chance;
use crate::setup::Setup;

/// One connection, as it really is.
#[derive(Clone, Debug)]
pub struct Reality {
    pub key: KeyId,
    pub stage: Stage,
    /// A `Close` came for it.
    pub closing: Option<CloseMode>,
    /// A `Forgo` came for it, and it has not looked whether it has begun.
    forgone: bool,
    /// A `ListCatalog` is not answered yet: which, and it began to read when these were the lists.
    pub listing: Option<(ListingNumber, u32)>,
    /// A change was announced that this listing may not show.
    announced: bool,
    /// Which lists the server has.
    pub version: u32,
    /// The last listing failed and nothing was announced since it began, so that the pool cannot
    /// know the newest lists.
    pub listing_failed: bool,
    /// What it has said and the pool has not heard.
    pub unheard: VecDeque<PoolInput>,
    /// The pool heard `Connected` and nothing since that says otherwise.
    pub heard_up: bool,
    /// The pool heard that the attempt succeeded, and that nothing is left.
    pub heard_connected: bool,
    pub heard_gone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Attempting,
    Up,
    /// Lost; a process may still be there.
    Dying,
    Gone,
}

/// Everything outside.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub connections: BTreeMap<ConnectionId, Reality>,
    /// Attempts that were to be dropped if they had not begun.
    pub forgone: BTreeSet<ConnectionId>,
    /// Events to deliver once more, whatever they mean by then.
    pub echoes: Vec<PoolInput>,
}

/// The event's connection.
pub fn connection_of(input: &PoolInput) -> Option<ConnectionId> {
    match input {
        PoolInput::Connected { connection, .. }
        | PoolInput::ConnectFailed { connection, .. }
        | PoolInput::Disconnected { connection, .. }
        | PoolInput::CatalogStale { connection }
        | PoolInput::CatalogListed { connection, .. }
        | PoolInput::Closed { connection, .. } => Some(*connection),
        _ => None,
    }
}

/// The lists of one version: each version adds a tool, changes one, and drops one. Names and
/// definitions come back, not always together.
pub fn catalog(version: u32) -> Arc<Catalog> {
    let tool = |number: u32, digest: u8| Item {
        name: format!("t{number}").into(),
        definition: format!("{{\"name\":\"t{number}\",\"v\":{digest}}}").into(),
        digest: [digest; 32],
    };
    let tools = vec![tool(0, (version % 3) as u8), tool(1 + version % 4, (version / 4 % 2) as u8)];
    Arc::new(Catalog { tools, ..Catalog::default() })
}

impl World {
    /// Takes one effect; a complaint when it asks for what must not be.
    pub fn take(&mut self, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::Connect { connection, key, .. } => self.connect(*connection, *key),
            Effect::Close { connection, how } => {
                let Some(reality) = self.connections.get_mut(connection) else {
                    return Err(format!("close of {connection}, which is not there"));
                };
                reality.closing = Some(*how);
                Ok(())
            }
            Effect::Forgo { connection } => {
                let Some(reality) = self.connections.get_mut(connection) else {
                    return Err(format!("drop of {connection}, which is not there"));
                };
                self.forgone.insert(*connection);
                if std::mem::replace(&mut reality.forgone, true) {
                    return Err(format!("{connection} is dropped twice"));
                }
                Ok(())
            }
            Effect::ListCatalog { connection, number } => {
                let Some(reality) = self.connections.get_mut(connection) else {
                    return Err(format!("listing of {connection}, which is not there"));
                };
                if reality.listing.replace((*number, reality.version)).is_some() {
                    return Err(format!("two listings of {connection} at once"));
                }
                let is_stale = |input: &PoolInput| matches!(input, PoolInput::CatalogStale { .. });
                reality.announced = reality.unheard.iter().any(is_stale);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn connect(&mut self, connection: ConnectionId, key: KeyId) -> Result<(), String> {
        let of_entry = |(other, _): &(&ConnectionId, &Reality)| other.entry == connection.entry;
        for (other, reality) in self.connections.iter().filter(of_entry) {
            if reality.stage != Stage::Gone {
                return Err(format!("{connection} begins while {other} is {:?}", reality.stage));
            }
            if other.generation >= connection.generation || reality.key != key {
                return Err(format!(
                    "{connection} of {key:?} follows {other} of {:?}",
                    reality.key
                ));
            }
        }
        self.connections.retain(|other, reality| {
            other.entry != connection.entry || !reality.unheard.is_empty()
        });
        let reality = Reality {
            key,
            stage: Stage::Attempting,
            closing: None,
            forgone: false,
            listing: None,
            announced: false,
            version: connection.generation.0,
            listing_failed: false,
            unheard: VecDeque::new(),
            heard_up: false,
            heard_connected: false,
            heard_gone: false,
        };
        self.connections.insert(connection, reality);
        Ok(())
    }

    /// Processes that exist.
    pub fn processes(&self, setup: &Setup) -> u32 {
        let lives = |reality: &&Reality| {
            reality.stage != Stage::Gone && setup.family_of(reality.key) == Family::Local
        };
        self.connections.values().filter(lives).count() as u32
    }

    /// Connections with something to do, or to say.
    pub fn restless(&self) -> Vec<ConnectionId> {
        let restless = |(_, reality): &(&ConnectionId, &Reality)| match reality.stage {
            Stage::Attempting | Stage::Dying => true,
            Stage::Up => reality.closing.is_some() || reality.listing.is_some(),
            Stage::Gone => false,
        };
        self.connections.iter().filter(restless).map(|(connection, _)| *connection).collect()
    }

    pub fn talkative(&self) -> Vec<ConnectionId> {
        let talks = |(_, reality): &(&ConnectionId, &Reality)| !reality.unheard.is_empty();
        self.connections.iter().filter(talks).map(|(connection, _)| *connection).collect()
    }

    /// One thing happens to a connection. With `calm`, only what has to happen, and well.
    pub fn happen(
        &mut self,
        connection: ConnectionId,
        setup: &Setup,
        calm: bool,
        chance: &mut Chance,
    ) {
        let Some(reality) = self.connections.get_mut(&connection) else {
            return;
        };
        let fails = !calm && chance.percent(setup.failing);
        match reality.stage {
            Stage::Attempting if reality.closing.is_some() => {
                reality.end_attempt(connection, chance)
            }
            Stage::Attempting if reality.forgone && chance.percent(50) => {
                reality.stage = Stage::Gone;
                reality.say(PoolInput::Closed { connection, exit: CloseExit::Unbegun });
            }
            Stage::Attempting if fails => {
                reality.stage = Stage::Gone;
                reality.say(PoolInput::ConnectFailed { connection, error: failure(chance) });
            }
            Stage::Attempting if !calm && chance.percent(3) => {
                reality.stage = Stage::Gone;
                reality.say(PoolInput::Closed { connection, exit: CloseExit::Clean });
            }
            Stage::Attempting => {
                reality.stage = Stage::Up;
                let catalog = catalog(reality.version);
                reality.say(PoolInput::Connected { connection, catalog });
            }
            Stage::Up if reality.closing.is_some() && chance.percent(80) => {
                reality.reap(connection, chance);
            }
            Stage::Up if !calm && chance.percent(setup.losing) => {
                if chance.percent(10) {
                    // It ends without a word before.
                    reality.reap(connection, chance);
                } else {
                    reality.stage = Stage::Dying;
                    let reason = chance.pick(&[
                        LossReason::TransportClosed,
                        LossReason::Keepalive,
                        LossReason::SessionLost,
                    ]);
                    let error = failure(chance);
                    reality.say(PoolInput::Disconnected { connection, reason, error });
                }
            }
            Stage::Up if reality.listing.is_some() && (calm || chance.percent(50)) => {
                reality.answer_listing(connection, fails, chance);
            }
            Stage::Up if !calm && chance.percent(60) => {
                reality.version += 1;
                reality.announced = true;
                reality.listing_failed = false;
                for _ in 0..1 + chance.below(3) {
                    reality.say(PoolInput::CatalogStale { connection });
                }
            }
            Stage::Up => {}
            Stage::Dying => reality.reap(connection, chance),
            Stage::Gone => {}
        }
    }

    /// The next thing that a connection says.
    pub fn deliver(
        &mut self,
        connection: ConnectionId,
        setup: &Setup,
        chance: &mut Chance,
    ) -> Option<PoolInput> {
        let reality = self.connections.get_mut(&connection)?;
        let input = reality.unheard.pop_front()?;
        reality.heard_connected |= matches!(input, PoolInput::Connected { .. });
        reality.heard_gone |=
            matches!(input, PoolInput::ConnectFailed { .. } | PoolInput::Closed { .. });
        match input {
            PoolInput::Connected { .. } => reality.heard_up = true,
            PoolInput::Disconnected { .. } | PoolInput::Closed { .. } => reality.heard_up = false,
            _ => {}
        }
        // A listing is the rarest of events, so that most are kept.
        let is_listed = matches!(input, PoolInput::CatalogListed { .. });
        let share = if is_listed { setup.repeating * 2 } else { setup.repeating };
        let room = if is_listed { 60 } else { 40 };
        if chance.percent(share) && self.echoes.len() < room {
            self.echoes.push(input.clone());
            if is_listed || matches!(input, PoolInput::CatalogStale { .. }) {
                self.echoes.push(input.clone());
            }
        }
        Some(input)
    }

    /// An answer of an incarnation that there was before the last: so rare that it is made up.
    fn late_answer(&self, known: &[EntryId], chance: &mut Chance) -> Option<PoolInput> {
        let entry = chance.pick_some(known)?;
        let of_entry = self.connections.keys().filter(|connection| connection.entry == entry);
        let newest = of_entry.map(|connection| connection.generation.0).max()?;
        let generation = Generation(newest.checked_sub(1).filter(|older| *older > 0)?);
        let connection = ConnectionId { entry, generation };
        let catalog = catalog(chance.below(3) as u32);
        Some(match chance.below(4) {
            0 => PoolInput::Connected { connection, catalog },
            1 => PoolInput::ConnectFailed { connection, error: failure(chance) },
            _ => PoolInput::CatalogListed {
                connection,
                number: ListingNumber(1),
                result: Ok(catalog),
            },
        })
    }

    /// An event that was delivered before. Mostly one of an entry that there still is: of the
    /// others one sees enough.
    pub fn echo(&mut self, known: &[EntryId], chance: &mut Chance) -> Option<PoolInput> {
        if chance.percent(20)
            && let Some(input) = self.late_answer(known, chance)
        {
            return Some(input);
        }
        let is_known =
            |echo: &PoolInput| connection_of(echo).is_some_and(|of| known.contains(&of.entry));
        let places: Vec<usize> =
            (0..self.echoes.len()).filter(|place| is_known(&self.echoes[*place])).collect();
        // Rare answers would hardly ever meet a state that passes quickly.
        let is_scarce = |place: &&usize| {
            matches!(
                self.echoes[**place],
                PoolInput::CatalogListed { .. } | PoolInput::ConnectFailed { .. }
            )
        };
        let scarce: Vec<usize> = places.iter().filter(is_scarce).copied().collect();
        let few = !scarce.is_empty() && chance.percent(50);
        let place = chance.pick_some(if few { &scarce } else { &places });
        let place = place.filter(|_| chance.percent(80));
        let place = place.or_else(|| self.echoes.len().checked_sub(1))?;
        Some(self.echoes.swap_remove(place))
    }
}

impl Reality {
    fn say(&mut self, input: PoolInput) {
        self.unheard.push_back(input);
    }

    /// A listing may have read every page before the last change, or after it.
    fn answer_listing(&mut self, connection: ConnectionId, fails: bool, chance: &mut Chance) {
        let Some((number, began)) = self.listing.take() else { return };
        let read = if chance.percent(50) { began } else { self.version };
        self.listing_failed = fails && !self.announced;
        let result = if fails { Err(failure(chance)) } else { Ok(catalog(read)) };
        self.say(PoolInput::CatalogListed { connection, number, result });
    }

    fn reap(&mut self, connection: ConnectionId, chance: &mut Chance) {
        self.stage = Stage::Gone;
        let exit = if chance.percent(30) { CloseExit::Forced } else { CloseExit::Clean };
        self.say(PoolInput::Closed { connection, exit });
    }

    /// A cancelled attempt ends in one of the ways that are allowed: it may still come up or fail
    /// first.
    fn end_attempt(&mut self, connection: ConnectionId, chance: &mut Chance) {
        match chance.below(4) {
            _ if self.forgone && chance.percent(50) => {
                self.stage = Stage::Gone;
                self.say(PoolInput::Closed { connection, exit: CloseExit::Unbegun });
            }
            0 => {
                self.stage = Stage::Up;
                let catalog = catalog(self.version);
                self.say(PoolInput::Connected { connection, catalog });
            }
            1 => {
                self.stage = Stage::Gone;
                self.say(PoolInput::ConnectFailed { connection, error: failure(chance) });
            }
            2 => {
                self.say(PoolInput::ConnectFailed { connection, error: failure(chance) });
                self.reap(connection, chance);
            }
            _ => self.reap(connection, chance),
        }
    }
}

fn failure(chance: &mut Chance) -> Error {
    let codes = [ErrorCode::Exited, ErrorCode::Exited, ErrorCode::Timeout, ErrorCode::AuthRequired];
    Error::new(chance.pick(&codes), format!("failure {}", chance.below(1000)))
}

/// Whether the pool itself ended what was lost for that.
pub fn is_ours(reason: LossReason) -> bool {
    matches!(reason, LossReason::Restart | LossReason::Gate | LossReason::Shutdown)
}
