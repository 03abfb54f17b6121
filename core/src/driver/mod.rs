//! The driver: steps the reducer, and carries out what it wants, in order. It decides nothing.
//!
//! A command steps the reducer in the caller's own thread, under one short mutex. The effects go
//! into ONE ordered queue. A thread that finds nobody at work on it carries them out, one after
//! another and without the mutex, until it is empty. So the executor is a role and not a task: an
//! acquire that can be granted at once is granted before the call returns, and no answer waits for
//! another thread. Carrying out an effect never blocks and never awaits.

mod budget;
mod carry;
mod catalog_cache;
pub(crate) mod connection;
mod entry;
mod executor;
mod gates;
mod hold;
mod intern;
mod notices;
mod questions;
mod relist;
mod root_changes;
mod roots;
pub(crate) mod server_config;
mod tickets;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use trunkline_pool::config::ServerSpec;
use trunkline_pool::id_map::IdMap;
use trunkline_pool::interface::{EventKind, words};
use trunkline_pool::naming::Naming;
use trunkline_pool::options::{ClientInfo, PoolOptions, within_bounds};
use trunkline_pool::state::{
    Effect, EntryId, EntryStatus, Moment, PoolInput, PoolState, SessionId,
};
use trunkline_pool::view::Unmatched;

pub(crate) use self::connection::starts::StartPriority;
pub(crate) use self::entry::list_change::ListChange;
pub(crate) use self::entry::log_levels::TakenOver;
pub(crate) use self::entry::resources::{Asker, Asking};
pub(crate) use self::entry::session_port::{CloseFuture, SessionPort, SessionSet};
pub(crate) use self::gates::authority::{Authority, Candidate, Warrant, recheck};
pub(crate) use carry::carries_out;
pub(crate) use entry::{EntryCell, EntrySnapshot};
pub(crate) use hold::LeaseGuard;
pub(crate) use intern::{ConnectionKey, Interner, KeyRequest};
pub(crate) use notices::auth_need;
pub(crate) use tickets::{Acquired, TicketCallback, TicketReply, Wait, Wish};

use self::connection::eras::Eras;
use self::connection::starts::{StartPermit, Starts};
use self::entry::listing_end::ListingEnd;
use self::gates::approvers::Approvers;
use self::gates::gate_index::Gated;
pub(crate) use self::roots::{Roots, folders};
use self::tickets::Questions;
use crate::auth::{Context, Credentials, SignIns, Store};
use crate::base::usage::ServerUsage;
use crate::events::{EventSubject, Hub, Warned};
use crate::host_env::SearchCache;
use crate::otlp::Observer;
use crate::runtime::Runtime;
use crate::storage::catalogs::Catalogs;
use crate::{Error, ErrorCode, Result};

/// One pool at work.
pub(crate) struct Driver {
    /// The pool's options.
    pub options: PoolOptions,
    /// The process's runtime.
    pub runtime: Arc<Runtime>,
    /// The folder that servers start in.
    pub workspace: PathBuf,
    /// The folders that servers are told of.
    pub roots: Roots,
    /// How tools are named, beside the names that the host keeps for itself.
    pub naming: Arc<Naming>,
    /// The filters of the pool's servers that the host was warned of.
    pub warned: Warned<Unmatched>,
    /// Where events go.
    pub hub: Arc<Hub>,
    /// Who hears of requests and connections.
    pub observer: Observer,
    /// What servers turned out to speak.
    eras: Eras,
    /// How many servers connect at one time.
    starts: Arc<Starts>,
    /// The look-ups of programs that are to start, whatever they are to start for.
    pub lookups: Arc<SearchCache>,
    /// What remote servers are sent to be let in, unless a session brings its own.
    pub context: Arc<Context>,
    /// What servers listed last.
    pub catalogs: Arc<Catalogs>,
    /// Sign-ins under way.
    pub sign_ins: SignIns,
    /// All sessions, for what they do together.
    sessions: OnceLock<Weak<dyn SessionSet>>,
    started: Instant,
    core: Mutex<Core>,
    /// Wakes the timer when the next deadline came nearer.
    timer: Arc<Notify>,
}

/// How a configuration stands to the one that the pool has of the same server.
pub(crate) enum Age {
    /// It is another, or there is none.
    Outdated,
    /// It is the same.
    Current,
}

/// What the mutex guards.
struct Core {
    state: PoolState,
    interner: Interner,
    gated: Gated,
    approvers: Approvers,
    work: VecDeque<DriverWork>,
    /// Nothing, with room for what the next step wants.
    effects: Vec<Effect>,
    /// Whether somebody is at work on `work`.
    executing: bool,
    deadline: Option<Moment>,
    entries: IdMap<EntryId, Arc<EntryCell>>,
    questions: Questions,
    sessions: IdMap<SessionId, Weak<dyn SessionPort>>,
    last_session: u64,
}

impl Driver {
    /// An empty pool at work.
    pub(crate) fn new(options: PoolOptions, observer: Observer) -> Result<Arc<Driver>> {
        let options = within_bounds(options);
        options.client_info.as_ref().map_or(Ok(()), ClientInfo::check)?;
        let workspace = workspace(&options)?;
        let roots = Roots::new(&workspace, options.roots.as_deref())?;
        let store = options.tokens.as_deref().map(Store::open).transpose()?;
        let runtime = Runtime::shared(options.workers, crate::transport::take_turns)?;
        let catalogs = Catalogs::open(&options.cache, runtime.clone())?;
        let seed = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0_u8);
        let driver = Arc::new(Driver {
            hub: Hub::new(options.limits.event_backlog).into(),
            observer,
            eras: Eras::default(),
            starts: Starts::new(options.start_parallel),
            lookups: Arc::default(),
            context: Context::of_pool(&options.handlers, options.handler_timeout, store.clone()),
            catalogs,
            sign_ins: SignIns::default(),
            sessions: OnceLock::new(),
            naming: Naming::new(options.name_style, options.reserved_names.iter().cloned()).into(),
            warned: Warned::default(),
            core: Mutex::new(Core {
                state: PoolState::new(options.clone(), seed),
                interner: Interner::default(),
                gated: Gated::new(&options),
                approvers: Approvers::default(),
                work: VecDeque::new(),
                effects: Vec::new(),
                executing: false,
                deadline: None,
                entries: IdMap::default(),
                questions: Questions::default(),
                sessions: IdMap::default(),
                last_session: 0,
            }),
            options,
            workspace,
            roots,
            runtime,
            started: Instant::now(),
            timer: Arc::new(Notify::new()),
        });
        let warning = |code: &'static str| {
            let weak = Arc::downgrade(&driver);
            move |message: &str| {
                let Some(driver) = weak.upgrade() else { return };
                let fields = [("code", code.into()), ("message", message.into())];
                driver.hub.publish(EventKind::Warning, None, &EventSubject::default(), &fields);
            }
        };
        driver.catalogs.on_warning(warning(words::warning_code::CACHE));
        let of_tokens = warning(words::warning_code::TOKEN_TYPE);
        driver.context.warnings().on_warning(of_tokens);
        if let Some(store) = store {
            store.on_warning(warning(words::warning_code::TOKENS));
        }
        driver.spawn(keep_time(Arc::downgrade(&driver), driver.timer.clone()));
        Ok(driver)
    }

    /// Tells the driver which sessions the pool has: once, before any is opened.
    pub(crate) fn set_sessions(&self, sessions: Weak<dyn SessionSet>) {
        let is_first = self.sessions.set(sessions).is_ok();
        debug_assert!(is_first, "a driver serves one pool");
    }

    /// The pool's sessions, while the pool is there.
    pub(crate) fn session_set(&self) -> Option<Arc<dyn SessionSet>> {
        self.sessions.get()?.upgrade()
    }

    /// Fails in a forked child; every public function begins with it.
    pub(crate) fn check_process(&self) -> Result<()> {
        if !self.runtime.is_forked() {
            return Ok(());
        }
        let message = "this process is a fork of the one that made the pool";
        Err(Error::new(ErrorCode::Forked, message).with_hint("make a new pool in the child"))
    }

    /// Fails once the pool drains, or was closed.
    pub(crate) fn check_open(&self) -> Result<()> {
        if !self.core().state.is_closing() {
            return Ok(());
        }
        match self.hub.check_open() {
            Ok(()) => Err(Error::new(ErrorCode::Closing, "the pool is draining")),
            closed => closed,
        }
    }

    /// Takes one input to its end, and carries out what follows from it.
    pub(crate) fn step(self: &Arc<Self>, input: PoolInput) {
        self.step_with(|_| input);
    }

    /// [`step`](Self::step), with an input that is made under the mutex.
    fn step_with(self: &Arc<Self>, input: impl FnOnce(&mut Core) -> PoolInput) {
        let mut core = self.core();
        let input = input(&mut core);
        self.run(core, input);
    }

    /// [`step`](Self::step), for what a listing came to; its end is told when everything that
    /// follows was carried out.
    fn step_listed(self: &Arc<Self>, input: PoolInput, end: ListingEnd) {
        let mut core = self.core();
        self.run_only(&mut core, input);
        core.work.push_back(DriverWork::Listed(end));
        self.carry_out(core);
    }

    fn run<'a>(self: &'a Arc<Self>, mut core: MutexGuard<'a, Core>, input: PoolInput) {
        self.run_only(&mut core, input);
        self.carry_out(core);
    }

    fn run_only(&self, core: &mut Core, input: PoolInput) {
        tracing::debug!(?input, "input");
        let now = self.now();
        core.judge_what_is_new(now);
        core.interner.take_hastened().into_iter().for_each(|key| self.starts.hasten(key));
        core.run(|state, effects| state.step(now, input, effects));
    }

    /// Gives a new session its number, or the closed session's that it resumes; whether what that
    /// held is there still.
    ///
    /// Nothing follows from it, so that nothing is carried out here: the caller may hold a lock.
    pub(crate) fn open_session(
        &self,
        resumed: Option<SessionId>,
        session: impl FnOnce(SessionId) -> Weak<dyn SessionPort>,
    ) -> bool {
        let mut core = self.core();
        let is_kept = resumed.is_some_and(|number| core.state.keeps(number));
        let number = resumed.unwrap_or_else(|| {
            core.last_session += 1;
            SessionId(core.last_session)
        });
        core.sessions.insert(number, session(number));
        let input = match resumed {
            None => PoolInput::OpenSession { session: number },
            Some(_) => PoolInput::ResumeSession { session: number },
        };
        self.run_only(&mut core, input);
        is_kept
    }

    /// Ends a session; what it holds goes after `keep_for`.
    pub(crate) fn close_session(self: &Arc<Self>, session: SessionId, keep_for: Duration) {
        self.step_with(|core| {
            core.sessions.remove(&session);
            PoolInput::CloseSession { session, keep_for }
        });
    }

    /// The number of a server's name, if the pool ever saw it.
    pub(crate) fn known_server(&self, name: &str) -> Option<trunkline_pool::state::ServerId> {
        self.core().interner.known_server(name)
    }

    /// There are others in these credentials than before. What is made with them hears of it,
    /// whatever its server is called; an entry that comes meanwhile begins with the new ones.
    pub(crate) fn credentials_changed(self: &Arc<Self>, changed: &Arc<Credentials>) {
        let entries = self.entries().into_iter();
        let made_with = entries.filter(|(_, cell)| cell.has(changed));
        let entries: Vec<EntryId> = made_with.map(|(status, _)| status.entry).collect();
        self.step(PoolInput::CredentialsChanged { entries });
    }

    /// The connections that there are have this of what is no part of their identity; `newer` says
    /// it of a key, under the mutex.
    pub(crate) fn heed(&self, newer: impl Fn(&ConnectionKey) -> Option<Arc<ServerSpec>>) {
        self.core().interner.renew(newer);
    }

    /// Tells the reducer which entries are of a configuration that is now old, and which of one
    /// that is current. `judge` says it of a key, under the mutex, and nothing of one that it does
    /// not know.
    pub(crate) fn reconfigure(self: &Arc<Self>, judge: impl Fn(&ConnectionKey) -> Option<Age>) {
        self.step_with(|core| {
            let (mut outdated, mut current) = (Vec::new(), Vec::new());
            for row in core.state.entries() {
                match core.interner.keyed(row.key).and_then(&judge) {
                    Some(Age::Outdated) => outdated.push(row.entry),
                    Some(Age::Current) => current.push(row.entry),
                    None => {}
                }
            }
            PoolInput::Reconfigure { outdated, current }
        });
    }

    /// A place among those that connect at one time, or a turn to get one.
    fn place(&self, cell: &EntryCell) -> StartPermit {
        // Nobody can hasten it between the look and the queue.
        let core = self.core();
        let turn = match cell.is_held() {
            true => StartPriority::Early,
            false => core.interner.keyed(cell.key).map(|keyed| keyed.turn).unwrap_or_default(),
        };
        self.starts.queue(turn, cell.key)
    }

    /// What is wrong with a server that has no entry.
    pub(crate) fn last_error(&self, name: &str) -> Option<Error> {
        let core = self.core();
        core.state.last_error(core.interner.known_server(name)?)
    }

    /// What the calls of a server's name came to, also of entries that are gone.
    pub(crate) fn usage_of(&self, name: &str) -> Option<Arc<ServerUsage>> {
        let core = self.core();
        Some(core.interner.usage(core.interner.known_server(name)?))
    }

    /// Where a call of that name is counted which came to no entry.
    pub(crate) fn usage_of_called(&self, name: &str) -> Arc<ServerUsage> {
        let mut core = self.core();
        let server = core.interner.server(name);
        core.interner.usage(server)
    }

    /// Whether the pool ever had an entry.
    pub(crate) fn has_started(&self) -> bool {
        self.core().state.has_started()
    }

    /// Every entry with what callers see of it, the newest last.
    pub(crate) fn entries(&self) -> Vec<(EntryStatus, Arc<EntryCell>)> {
        let core = self.core();
        let entries = core.state.entries().filter_map(|status| {
            let cell = core.entries.get(&status.entry)?.clone();
            Some((status, cell))
        });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_unstable_by_key(|(status, _)| status.entry);
        entries
    }

    /// Tasks, timers and everything else run here.
    pub(crate) fn spawn<F>(&self, future: F) -> tokio::task::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.runtime.handle().spawn(future)
    }

    /// The pool's clock.
    pub(crate) fn now(&self) -> Moment {
        Moment(u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The moment `duration` from now.
    pub(crate) fn moment_after(&self, duration: Duration) -> Moment {
        self.now().after(duration)
    }

    /// A moment of the pool's clock on tokio's.
    fn instant(&self, moment: Moment) -> Instant {
        self.started + Duration::from_nanos(moment.0)
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Does what fell due, and says when to come again.
    fn handle_timeout(self: &Arc<Self>) -> Option<Instant> {
        let mut core = self.core();
        let now = self.now();
        if core.deadline.is_some_and(|deadline| deadline <= now) {
            core.run(|state, effects| state.handle_timeout(now, effects));
            self.carry_out(core);
            core = self.core();
        }
        core.deadline.map(|deadline| self.instant(deadline))
    }
}

impl Core {
    /// Runs one step, and queues what it wants.
    fn run(&mut self, step: impl FnOnce(&mut PoolState, &mut Vec<Effect>)) {
        let mut effects = std::mem::take(&mut self.effects);
        step(&mut self.state, &mut effects);
        self.work.extend(effects.drain(..).map(DriverWork::Effect));
        if effects.capacity() <= EFFECTS_KEPT {
            self.effects = effects;
        }
    }
}

/// Room for so many effects is kept from one step to the next: more than a step has that concerns
/// one session.
const EFFECTS_KEPT: usize = 16;

/// What is to be done without the mutex, in order.
enum DriverWork {
    /// What a step wants.
    Effect(Effect),
    /// What came of a listing is carried out; this is its end.
    Listed(ListingEnd),
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Who waits for it in a forked child is the parent's.
        if !self.runtime.is_forked() {
            self.timer.notify_one();
        }
    }
}

/// The workspace as an absolute path.
fn workspace(options: &PoolOptions) -> Result<PathBuf> {
    let folder = options.workspace.as_deref().unwrap_or(".");
    let wrong = |why: String| {
        let error = Error::new(ErrorCode::InvalidArgument, format!("the workspace {why}"));
        error.with_detail("path", "workspace")
    };
    let folder =
        std::fs::canonicalize(folder).map_err(|error| wrong(format!("is not there: {error}")))?;
    if folder.is_dir() { Ok(folder) } else { Err(wrong("is not a folder".into())) }
}

/// Calls the reducer when its deadlines fall due; ends with the pool.
async fn keep_time(driver: Weak<Driver>, timer: Arc<Notify>) {
    loop {
        let next = match driver.upgrade() {
            Some(driver) => driver.handle_timeout(),
            None => return,
        };
        // A notification that comes between the look at the deadline and the wait is kept by
        // `Notify`.
        match next {
            Some(deadline) => tokio::select! {
                () = tokio::time::sleep_until(deadline) => {}
                () = timer.notified() => {}
            },
            None => timer.notified().await,
        }
    }
}
