//! From a configuration to a connection: start, greet, list. What fails leaves nothing (SPEC 4.6).
//!
//! A failed connect keeps the graces of a close: a kill at once hits package runners amid an
//! install. The attempt is a future of its own, since a task keeps the size of the largest thing
//! that it waits for.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::time::Instant;
use trunkline_pool::config::{Era, RemoteKind, RemoteSpec, ServerSpec, StdioSpec, Transport};
use trunkline_pool::interface::words;
use trunkline_pool::state::{CloseExit, LossReason};

use super::timer;
use crate::client::connection::{Life, Link};
use crate::client::era::{GreetingFailure, Opening};
use crate::client::errors;
use crate::client::lists::list_all::{ServerListing, When};
use crate::client::types::{
    ConnectOptions, ConnectionEvents, GivenUp, Kill, Provided, Unconnected,
};
use crate::host_env::{self, Environment};
use crate::net::redact::Redactor;
use crate::platform::Launched;
use crate::transport::http::{self, HttpWire, SocketWire};
use crate::transport::stdio::{self, StdioLimits, StdioWire};
use crate::transport::{Child, HostWire, Wire};
use crate::{Error, ErrorCode, Result};

/// Hosts filter by it, wherever the file stands.
const LOG_TARGET: &str = "trunkline::client::connect";

/// See [`Connection::connect`].
pub(in crate::client) async fn connect(
    spec: &ServerSpec,
    options: ConnectOptions,
    events: Arc<dyn ConnectionEvents>,
    mut given_up: GivenUp,
) -> std::result::Result<(Arc<Link>, ServerListing), Unconnected> {
    let now = Instant::now();
    let begun = now.checked_sub(options.spent).unwrap_or(now);
    let opening = options.opening;
    let mut attempt = attempt(spec, &options, &events, begun, opening, &mut given_up).await;
    if let Err(Unopened { anew: Some(anew), failed }) = attempt {
        // Nothing is left of the first one. One that nobody wants any more is given up by the
        // second at once.
        tracing::debug!(target: LOG_TARGET, server = %options.server, error = %failed.error, ?anew, "connecting anew");
        attempt = self::attempt(spec, &options, &events, begun, anew, &mut given_up).await;
    }
    let server = &options.server;
    match attempt {
        Ok((link, listed)) => {
            let era = link.facts.get().and_then(|facts| facts.era).map(Era::as_str);
            let pid = link.wire.child().map(Child::pid);
            let elapsed_ms = begun.elapsed().as_millis();
            tracing::info!(target: LOG_TARGET, %server, pid, era, elapsed_ms, "connected");
            Ok((link, listed))
        }
        Err(Unopened { mut failed, .. }) => {
            tracing::warn!(target: LOG_TARGET, %server, error = %failed.error, "connecting failed");
            failed.error = errors::kept(match &spec.transport {
                Transport::Stdio(program) => {
                    host_env::with_withheld(failed.error, program, &options.inherit_env)
                }
                _ => failed.error,
            });
            Err(failed)
        }
    }
}

impl Link {
    /// Takes over a wire, and starts the tasks that serve it. `begun` is when the
    /// connect began.
    pub(in crate::client) fn open(
        wire: Arc<dyn Wire>,
        redactor: Arc<Redactor>,
        options: ConnectOptions,
        events: Arc<dyn ConnectionEvents>,
        begun: Instant,
    ) -> Arc<Link> {
        let link = Link::new(wire, redactor, options, events, begun);
        link.wire.clone().run(link.clone());
        tokio::spawn(timer::watch_deadlines(link.clone()));
        link
    }
}

/// One process or way that came to nothing and has nothing left.
struct Unopened {
    failed: Unconnected,
    /// How another one may do better.
    anew: Option<Opening>,
}

impl From<Unconnected> for Unopened {
    fn from(failed: Unconnected) -> Unopened {
        Unopened { failed, anew: None }
    }
}

/// One process, or one way to a remote server, greeted in one manner.
async fn attempt(
    spec: &ServerSpec,
    options: &ConnectOptions,
    events: &Arc<dyn ConnectionEvents>,
    begun: Instant,
    mut opening: Opening,
    given_up: &mut GivenUp,
) -> std::result::Result<(Arc<Link>, ServerListing), Unopened> {
    let server = &options.server;
    let (wire, redactor) = match &spec.transport {
        Transport::Stdio(program) => spawn(program, options, begun, given_up).await?,
        Transport::Remote(remote) => {
            if remote.kind == RemoteKind::Sse {
                // The transport is older than the other era.
                opening = Opening::Only(Era::Legacy);
            }
            reach(remote, options).map_err(|error| Unconnected { error, exit: CloseExit::Clean })?
        }
        Transport::Host(_) => provided(options)?,
        _ => return Err(unsupported(server, spec.transport_name()).into()),
    };
    let link = Link::open(wire, redactor, options.clone(), events.clone(), begun);
    if let Some(child) = link.wire.child() {
        link.tell(|events| events.started(child.pid()));
    }
    let attempt = ConnectAttempt { link: Some(link.clone()) };
    let negotiated = tokio::select! {
        biased;
        _ = given_up.wait_for(Option::is_some) => Err(GreetingFailure::for_good(cancelled(server))),
        negotiated = negotiate(&link, opening) => negotiated,
    };
    match negotiated {
        Ok(catalog) => {
            attempt.over();
            Ok((link, catalog))
        }
        Err(GreetingFailure { error, anew }) => {
            let failed = failed(&link, error, given_up.clone()).await;
            attempt.over();
            Err(Unopened { failed, anew })
        }
    }
}

/// A wire, and what must not be shown of what comes over it.
type RedactedWire = (Arc<dyn Wire>, Arc<Redactor>);

/// The pipes of a program that was started.
async fn spawn(
    program: &StdioSpec,
    options: &ConnectOptions,
    begun: Instant,
    given_up: &mut GivenUp,
) -> std::result::Result<RedactedWire, Unconnected> {
    let environment = Environment::of_child(program, &options.inherit_env);
    let redactor = Arc::new(Redactor::new(environment.secrets(), stdio::LINE_BYTES_MAX));
    let launched = start(program, environment, options, begun, given_up).await?;
    let limits = StdioLimits {
        frame: options.frame_bytes,
        stderr: options.stderr_bytes,
        lending: options.lending,
    };
    let wire = StdioWire::new(options.server.clone(), launched, redactor.clone(), limits);
    Ok((Arc::new(wire), redactor))
}

/// The way to a remote server; nothing is sent yet.
///
/// # Errors
/// For a configuration that cannot be sent, and for a protocol that is not spoken here.
fn reach(remote: &RemoteSpec, options: &ConnectOptions) -> Result<RedactedWire> {
    match remote.kind {
        RemoteKind::Auto | RemoteKind::Http | RemoteKind::Sse | RemoteKind::Websocket => {}
        _ => return Err(unsupported(&options.server, "unknown").error),
    }
    let secrets = http::secrets(remote);
    let (credentials, cookies) = (options.credentials.clone(), options.cookies.clone());
    let redactor = Redactor::new(secrets.iter(), stdio::LINE_BYTES_MAX);
    let redactor = redactor.with(cookies.learned.clone());
    let redactor = Arc::new(match &credentials {
        Some(credentials) => redactor.with(credentials.learned.clone()),
        None => redactor,
    });
    let (server, bytes) = (&options.server, options.frame_bytes);
    let (hidden, patience) = (redactor.clone(), options.timeout);
    let brought = (credentials, cookies);
    let wire: Arc<dyn Wire> = match remote.kind {
        RemoteKind::Websocket => {
            Arc::new(SocketWire::new(server, remote, hidden, bytes, patience, brought)?)
        }
        _ => Arc::new(HttpWire::new(server, remote, hidden, bytes, patience, brought)?),
    };
    Ok((wire, redactor))
}

/// The way to a server of the host's own.
fn provided(options: &ConnectOptions) -> std::result::Result<RedactedWire, Unconnected> {
    let Some(Provided(host)) = options.host.clone() else {
        return Err(unsupported(&options.server, "host"));
    };
    let wire = HostWire::new(options.server.clone(), host, options.frame_bytes);
    Ok((Arc::new(wire), Arc::new(Redactor::new(std::iter::empty(), stdio::LINE_BYTES_MAX))))
}

fn unsupported(server: &Arc<str>, transport: &str) -> Unconnected {
    let message = format!("the transport {transport} is not supported");
    let error = Error::new(ErrorCode::ConnectFailed, message).with_server(server.as_ref());
    Unconnected { error, exit: CloseExit::Clean }
}

/// Starts the program. An attempt that is given up, or has no time left, returns when nothing of it
/// is left.
async fn start(
    program: &StdioSpec,
    environment: Environment,
    options: &ConnectOptions,
    begun: Instant,
    given_up: &mut GivenUp,
) -> std::result::Result<Launched, Unconnected> {
    let (server, limit) = (&options.server, options.timeout);
    let untouched = |error| Unconnected { error, exit: CloseExit::Clean };
    let (workspace, check) = (&options.workspace, options.program_check.as_ref());
    let again = check.map(|_| environment.clone());
    let found = stdio::find(server, program, workspace, environment, check, &options.lookups);
    let launch = tokio::select! {
        biased;
        // Told, or dropped by the caller that wanted the connection. A look-up that goes on starts
        // nothing.
        _ = given_up.wait_for(Option::is_some) => return Err(untouched(cancelled(server))),
        found = found => found.map_err(untouched)?,
        () = tokio::time::sleep_until(begun + limit) => {
            return Err(untouched(errors::out_of_reach(server, limit)));
        }
    };
    let started = stdio::start(server, &program.command, launch);
    tokio::pin!(started);
    let launched = tokio::select! {
        biased;
        _ = given_up.wait_for(Option::is_some) => Err(cancelled(server)),
        launched = &mut started => Ok(launched),
        () = tokio::time::sleep_until(begun + limit) => Err(errors::slow(server, words::deadline::CONNECT, limit)),
    };
    let refusal = match (launched, again) {
        (Ok(Err(error)), Some(environment)) if stdio::is_replaced(&error) => {
            // Who decides about it is asked what it is by now.
            let found =
                stdio::find(server, program, workspace, environment, check, &options.lookups);
            return Err(untouched(tokio::select! {
                biased;
                _ = given_up.wait_for(Option::is_some) => cancelled(server),
                found = found => found.err().unwrap_or(error),
                () = tokio::time::sleep_until(begun + limit) => error,
            }));
        }
        (Ok(launched), _) => return launched.map_err(untouched),
        (Err(refusal), _) => refusal,
    };
    // It may run already, without our having heard of it.
    stdio::abandon(server, started).await;
    Err(Unconnected { error: refusal, exit: CloseExit::Forced })
}

/// Greeting and lists, each within what is left of the time; an end of the connection ends it with
/// the reason.
async fn negotiate(
    link: &Arc<Link>,
    opening: Opening,
) -> std::result::Result<ServerListing, GreetingFailure> {
    let (limit, deadline) = (link.options.timeout, link.given_up_at);
    let patience = deadline - limit / 2;
    let slow = |which| move |_| errors::slow(&link.server, which, limit);
    let greeted = tokio::time::timeout_at(deadline, link.greet(opening, patience)).await;
    let greeted = greeted.unwrap_or_else(|late| {
        Err(GreetingFailure::for_good(slow(words::deadline::CONNECT)(late)))
    });
    if let Err(GreetingFailure { error, anew }) = greeted {
        let error = explained(link, error).await;
        let anew = anew.or_else(|| link.ended_by_question(opening).filter(|_| is_lost(link)));
        return Err(GreetingFailure { error, anew });
    }
    let listed = async {
        link.listen_to_lists().await;
        let listed = link.list(When::First).await?;
        match link.advance(Life::Open, |life| life == Life::Connecting) {
            Life::Connecting => Ok(listed),
            Life::Open | Life::Lost | Life::Closing => Err(lost(link)),
        }
    };
    match listed.await {
        Ok(listed) => Ok(listed),
        Err(error) => Err(GreetingFailure::for_good(explained(link, error).await)),
    }
}

fn is_lost(link: &Link) -> bool {
    link.stands() == Life::Lost
}

/// Why a step of an attempt failed. Whatever the step saw of a loss is a consequence; the loss
/// itself says more. A write that failed sees it first.
async fn explained(link: &Arc<Link>, error: Error) -> Error {
    let interrupted = error.code() == ErrorCode::CallInterrupted;
    let cut = interrupted && link.wire.child().is_some();
    if cut || is_lost(link) {
        let mut loss = link.ending.lost.subscribe();
        if let Ok(loss) = loss.wait_for(Option::is_some).await {
            return loss.as_ref().map_or_else(|| lost(link), |loss| loss.error.clone());
        }
    }
    // A question without its answer is no call of anybody: what counts is why.
    match (interrupted, error.cause()) {
        (true, Some(cause)) => cause.clone(),
        (true, None) => errors::unconnected(&link.server, error.message()),
        (false, _) => error,
    }
}

fn cancelled(server: &str) -> Error {
    let message = "the connection is no longer wanted";
    Error::new(ErrorCode::Cancelled, message).with_server(server)
}

fn lost(link: &Link) -> Error {
    errors::protocol(&link.server, "the connection ended while it was made")
}

/// Ends what an attempt started, and completes its error with what the end brought to light.
async fn failed(link: &Arc<Link>, error: Error, mut given_up: GivenUp) -> Unconnected {
    let closed_output = matches!(&*link.ending.lost.borrow(), Some(loss)
        if loss.reason == LossReason::TransportClosed && loss.error.code() == error.code());
    let killed = async {
        if given_up.wait_for(|how| *how == Some(Kill::Now)).await.is_err() {
            // Nobody is there to lose patience.
            std::future::pending::<()>().await;
        }
    };
    let exit = tokio::select! {
        biased;
        exit = link.close(Kill::AfterGraces) => exit,
        () = killed => link.close(Kill::Now).await,
    };
    let by_itself = exit == CloseExit::Clean;
    let stderr = link.stderr_lines();
    let error = match link.wire.child().and_then(Child::exit_now) {
        Some(exit) if closed_output && by_itself => errors::exited(&link.server, exit, &stderr),
        _ => errors::with_stderr(error, &stderr),
    };
    let noise = link.ignored.noise_lines();
    let error = match noise.first() {
        Some(first) => {
            let lines = link.ignored.noise.load(Ordering::Relaxed);
            error.with_detail("noise_lines", lines).with_detail("noise", first.as_str())
        }
        None => error,
    };
    let error = match (noise.is_empty(), error.code()) {
        (false, ErrorCode::Timeout) => error.with_hint(
            "the server printed something else to its standard output; logs belong to stderr",
        ),
        (true, ErrorCode::Timeout) => error.with_hint(match link.wire.child() {
            Some(_) => "raise `connect_timeout_ms` of the pool, or connect_timeout_ms in the server's configuration, if the server is only slow; check that it speaks MCP over stdio",
            None if link.wire.transport() == Some("host") => {
                "the host provides this server itself, and it did not answer"
            }
            None => "raise `connect_timeout_ms` of the pool, or connect_timeout_ms in the server's configuration, if the server is only slow; check that `url` is the address of an MCP endpoint",
        }),
        _ => error,
    };
    Unconnected { error, exit }
}

/// An attempt under way: dropped before its end, it leaves the ending to the runtime.
struct ConnectAttempt {
    link: Option<Arc<Link>>,
}

impl ConnectAttempt {
    /// Its result is known, and the holder of it ends the connection.
    fn over(mut self) {
        self.link = None;
    }
}

impl Drop for ConnectAttempt {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            link.advance(Life::Closing, |_| true);
            link.cut();
            link.begin_end();
        }
    }
}
