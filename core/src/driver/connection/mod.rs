//! The one task of a connection's incarnation: connects, waits, cleans up.

pub(crate) mod asks;
pub(crate) mod eras;
mod events;
mod recheck;
pub(crate) mod starts;
#[cfg(test)]
mod tests;
mod values;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use trunkline_pool::config::{ServerSpec, Transport};
use trunkline_pool::interface::OptionScope;
use trunkline_pool::options::{PoolOptions, longest};
use trunkline_pool::reader_role::Lending;
use trunkline_pool::state::{CloseExit, CloseMode, ConnectionId, Moment, PoolInput};

use self::events::EventRelay;
use self::starts::StartPermit;
use super::entry::{Control, EntryCell};
use super::{Driver, Warrant};
use crate::client::{ConnectOptions, Connection, Kill, ServerListing, Unconnected};
use crate::otlp::Connected;

/// Starts the task of an incarnation. It ends with `ConnectFailed` or with `Closed`, whatever
/// happens.
pub(in crate::driver) fn start(driver: Arc<Driver>, cell: Arc<EntryCell>, id: ConnectionId) {
    let (control, orders) = mpsc::channel(ORDERS_MAX);
    cell.begin(id.generation, control);
    driver.begin_roots(&cell);
    let asks_first = driver.warrant(cell.key).is_some_and(|warrant| warrant.rechecks().is_some());
    let place = match asks_first {
        true => PermitNeed::OnceAdmitted,
        // What the host provides takes none: nothing is started for it, and its code may itself
        // wait for a server.
        false if cell.host.is_some() => PermitNeed::None,
        false => PermitNeed::Now(driver.place(&cell)),
    };
    let runtime = driver.runtime.clone();
    let ended = EndReport { driver, cell, id, connection: None, last: None };
    #[cfg(test)]
    let cell = ended.cell.clone();
    let _task = runtime.handle().spawn(run(ended, place, orders));
    #[cfg(test)]
    cell.note_task(_task.abort_handle());
}

/// Whether an incarnation wants a place among those that connect at one time.
enum PermitNeed {
    None,
    Now(StartPermit),
    /// It has to wait for files to hear whether it is admitted still, and keeps nobody out
    /// meanwhile.
    OnceAdmitted,
}

/// Reports the end of the incarnation when it is dropped, so that even a task that dies leaves an
/// answer, and no server.
struct EndReport {
    driver: Arc<Driver>,
    cell: Arc<EntryCell>,
    id: ConnectionId,
    /// What the task has to close.
    connection: Option<Connection>,
    last: Option<PoolInput>,
}

impl EndReport {
    /// Closes what a task that died left open: the report comes when nothing of it is left.
    fn clean_up(&self, connection: Connection) {
        let EndReport { driver, cell, id, .. } = self;
        let (driver, cell, id) = (driver.clone(), cell.clone(), *id);
        tracing::error!(connection = %id, "the task of a connection died");
        let runtime = driver.runtime.clone();
        let ended = EndReport { driver, cell, id, connection: None, last: None };
        runtime.handle().spawn(async move {
            // The whole of it, so that it reports even if this task ends before it has begun.
            let mut ended = ended;
            let exit = connection.close(Kill::Now).await;
            ended.last = Some(PoolInput::Closed { connection: id, exit });
        });
    }
}

impl Drop for EndReport {
    fn drop(&mut self) {
        let is_forked = self.driver.runtime.is_forked();
        match (self.last.take(), self.connection.take()) {
            (None, Some(connection)) if !is_forked => self.clean_up(connection),
            (last, _) => {
                self.cell.ended(self.id.generation);
                let died = || PoolInput::Closed { connection: self.id, exit: CloseExit::Forced };
                if !is_forked {
                    self.driver.step(last.unwrap_or_else(died));
                }
            }
        }
    }
}

async fn run(mut ended: EndReport, place: PermitNeed, mut orders: mpsc::Receiver<Control>) {
    let id = ended.id;
    // On its own: what an attempt needs goes with its end, and a task keeps its size.
    let begun = Box::pin(begin(&ended, place, &mut orders)).await;
    let Attempted { outcome, given_up, warrant, events } = match begun {
        Ok(attempted) => attempted,
        Err(refused) => {
            ended.last = Some(refused);
            return;
        }
    };
    ended.connection = outcome.as_ref().ok().map(|(connection, _)| connection.clone());
    let (eras, fingerprint) = (&ended.driver.eras, &ended.cell.fingerprint);
    match &outcome {
        Ok((connection, _)) => {
            if let Some(era) = connection.server_facts().era {
                eras.remember(*fingerprint, era);
            }
        }
        Err(_) if given_up.is_none() => eras.forget(fingerprint),
        Err(_) => {}
    }
    ended.last = Some(match outcome {
        Err(failed) if given_up.is_some() => {
            PoolInput::Closed { connection: id, exit: failed.exit }
        }
        Err(failed)
            if recheck::is_refused(&ended, warrant.as_ref(), &failed, &mut orders).await =>
        {
            PoolInput::Closed { connection: id, exit: failed.exit }
        }
        Err(failed) => PoolInput::ConnectFailed { connection: id, error: failed.error },
        Ok((connection, _)) if given_up == Some(Kill::Now) => {
            let exit = connection.close(Kill::Now).await;
            PoolInput::Closed { connection: id, exit }
        }
        Ok((connection, _)) if given_up.is_some() => {
            let exit = close(&connection, &mut orders).await;
            PoolInput::Closed { connection: id, exit }
        }
        Ok((connection, mut listed)) => {
            // What the connection before it listed stands until it is listed again (SPEC 7.3).
            listed.catalog.keep_unlisted(&ended.cell.load().slot.catalog);
            let catalog = ended.driver.keep_listed(&ended.cell, &connection, listed);
            ended.cell.connected(id.generation, connection.clone());
            ended.driver.core().interner.mark_connected(ended.cell.key);
            // Who subscribes once it is granted tells the server themselves, and has missed
            // nothing.
            let wanted = ended.cell.resources.uris();
            ended.driver.step(PoolInput::Connected { connection: id, catalog: catalog.clone() });
            ended.driver.renew_demand(&ended.cell, wanted);
            ended.driver.renew_roots(&ended.cell);
            events.announce();
            ended.driver.on_connected(&ended.cell);
            ended.driver.warn_of_lists(&ended.cell, None, &catalog);
            let version = || connection.server_facts().protocol_version;
            let mut lasts = ended.driver.observer.connected(&ended.cell.spec, version);
            let exit = until_closed(&ended, &connection, (&mut orders, &mut lasts)).await;
            PoolInput::Closed { connection: id, exit }
        }
    });
}

/// Its turn, and its attempt.
///
/// # Errors
/// How it ends before it has begun.
async fn begin(
    ended: &EndReport,
    place: PermitNeed,
    orders: &mut mpsc::Receiver<Control>,
) -> Result<Attempted, PoolInput> {
    if ended.cell.host.is_none() {
        ended.driver.catalogs.shown().await;
        // A caller that lists it now goes on first where there is no other core.
        std::thread::yield_now();
    }
    let (place, asked) = turn(ended, place, orders).await?;
    let attempt = attempt(ended, asked, orders);
    match place {
        Some(place) => place.during(attempt).await,
        None => attempt.await,
    }
}

/// Its place, and the warrant by which it may begin where that was asked about at this moment.
///
/// # Errors
/// How it ends before it has begun.
async fn turn(
    ended: &EndReport,
    wants: PermitNeed,
    orders: &mut mpsc::Receiver<Control>,
) -> Result<(Option<StartPermit>, Option<Arc<dyn Warrant>>), PoolInput> {
    let mut place = match wants {
        PermitNeed::None => return Ok((None, None)),
        PermitNeed::Now(place) => place,
        PermitNeed::OnceAdmitted => {
            let warrant = recheck::before_connecting(ended, orders, Instant::now()).await?;
            let place = ended.driver.place(&ended.cell);
            if place.is_given() {
                return Ok((Some(place), warrant));
            }
            place
        }
    };
    tokio::select! {
        biased;
        order = orders.recv() => Err(recheck::over(ended, order)),
        () = place.given() => Ok((Some(place), None)),
    }
}

/// An attempt that is over.
struct Attempted {
    outcome: Result<(Connection, ServerListing), Unconnected>,
    /// How it was told to end meanwhile.
    given_up: Option<Kill>,
    warrant: Option<Arc<dyn Warrant>>,
    events: Arc<EventRelay>,
}

/// Connects and lists, by the warrant that was `asked` about just now, or else is asked about now.
///
/// # Errors
/// How it ends before it has begun.
async fn attempt(
    ended: &EndReport,
    asked: Option<Arc<dyn Warrant>>,
    orders: &mut mpsc::Receiver<Control>,
) -> Result<Attempted, PoolInput> {
    let begun = Instant::now();
    let warrant = match asked {
        Some(warrant) => Some(warrant),
        None => recheck::before_connecting(ended, orders, begun).await?,
    };
    let events = Arc::new(EventRelay::new(ended));
    let spec = values::in_place(ended, orders, begun).await?;
    let mut options = connect_options(&ended.driver, &ended.cell);
    options.spent = begun.elapsed();
    options.program_check = warrant.as_ref().map(recheck::of_program);
    let (give_up, given_up) = watch::channel(None);
    let attempt = Connection::connect(&spec, options, events.clone(), given_up);
    let mut attempt = std::pin::pin!(attempt);
    let outcome = loop {
        tokio::select! {
            outcome = &mut attempt => break outcome,
            // The attempt ends by itself once it is told, and only when nothing of it is left.
            Some(order) = orders.recv() => {
                if let Some(patience) = order.patience() {
                    give_up.send_replace(Some(patience));
                }
            }
        }
    };
    let given_up = *give_up.borrow();
    Ok(Attempted { outcome, given_up, warrant, events })
}

/// Waits for the order to close or for the loss, and ends the connection.
async fn until_closed(
    ended: &EndReport,
    connection: &Connection,
    (orders, lasts): (&mut mpsc::Receiver<Control>, &mut Connected),
) -> CloseExit {
    let mut patience = None;
    loop {
        let finished = async {
            match patience {
                Some(until) => tokio::select! {
                    () = connection.quiet() => {}
                    () = tokio::time::sleep_until(ended.driver.instant(until)) => {}
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = finished => return close(connection, orders).await,
            order = orders.recv() => match order {
                Some(Control::Close(CloseMode::Graceful { until })) => {
                    patience = Some(patience.map_or(until, |before: Moment| before.min(until)));
                }
                Some(Control::Close(CloseMode::Kill)) => return connection.close(Kill::Now).await,
                Some(Control::Lost(reason)) => {
                    lasts.lost(reason);
                    return close(connection, orders).await;
                }
                Some(Control::Close(CloseMode::Now)) | None => {
                    return close(connection, orders).await;
                }
                Some(Control::Forgo) => {}
            },
        }
    }
}

/// The ordered shutdown, cut short by an order to kill.
async fn close(connection: &Connection, orders: &mut mpsc::Receiver<Control>) -> CloseExit {
    let mut closing = std::pin::pin!(connection.close(Kill::AfterGraces));
    loop {
        tokio::select! {
            exit = &mut closing => return exit,
            Some(order) = orders.recv() => {
                if matches!(order, Control::Close(CloseMode::Kill)) {
                    return connection.close(Kill::Now).await;
                }
            }
        }
    }
}

fn connect_options(driver: &Driver, cell: &EntryCell) -> ConnectOptions {
    let (options, spec) = (&driver.options, &*cell.spec);
    ConnectOptions {
        server: cell.server.clone(),
        opening: driver.eras.opening(&cell.fingerprint, spec.era),
        workspace: driver.workspace.clone(),
        timeout: connect_timeout(driver, cell),
        spent: Duration::ZERO,
        exit_grace: options.exit_grace,
        kill_grace: options.kill_grace,
        frame_bytes: options.limits.frame_bytes,
        stderr_bytes: options.limits.stderr_bytes,
        lending: Lending::default(),
        in_flight: options.limits.in_flight_per_entry,
        client_info: options.client_info.clone(),
        nothing_listed: options.nothing_listed,
        quiet_waits: quiet_waits(spec, options),
        keepalive: options.keepalive,
        keepalive_misses: options.keepalive_misses,
        offered: cell.offered,
        handler_timeout: options.handler_timeout,
        call_idle_timeout: spec.call_idle_timeout.unwrap_or(options.call_idle_timeout),
        inherit_env: options.inherit_env.clone(),
        credentials: cell.context.of(&cell.server, spec, cell.author),
        cookies: cell.cookies.clone(),
        host: cell.host.clone(),
        program_check: None,
        lookups: driver.lookups.clone(),
    }
}

/// The waits before quiet attempts, of the server's configuration or else of the pool.
fn quiet_waits(spec: &ServerSpec, options: &PoolOptions) -> Vec<Duration> {
    let own = spec.reconnect.as_ref().and_then(|own| own.revive.as_ref());
    own.unwrap_or(&options.reconnect.revive).clone()
}

/// How long an attempt of a server may take, by its newest configuration.
fn connect_timeout(driver: &Driver, cell: &EntryCell) -> Duration {
    let configured = driver.core().interner.keyed(cell.key).map(|key| key.spec.connect_timeout);
    let configured = configured.unwrap_or(cell.spec.connect_timeout);
    let timeout = configured.or(driver.options.connect_timeout);
    let timeout = timeout.unwrap_or(match cell.spec.transport {
        Transport::Remote(_) => CONNECT_TIMEOUT_REMOTE,
        _ => CONNECT_TIMEOUT,
    });
    // A host of Rust may have written it into the configuration itself.
    timeout.min(longest(OptionScope::Server, "connect_timeout_ms"))
}

/// Orders that wait for the task. The reducer gives one incarnation five at most: to end it for a
/// restart, or with its entry; to hurry, once something is to take its place, and once the pool
/// drains by force; and to kill. Its own loss makes six, and that nobody wants it seven.
const ORDERS_MAX: usize = 8;

/// Connect and list together, for a process on this machine (SPEC 4.2).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The same for a server that is reached over a network.
const CONNECT_TIMEOUT_REMOTE: Duration = Duration::from_secs(5);
