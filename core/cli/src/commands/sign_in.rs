//! `sign-in`: a person signs in to a remote server. The address is shown, and the redirect is typed
//! in, or arrives at a port of this machine.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde_json::Value;
use trunkline::{ErrorCode, SignInOptions};
use trunkline_pool::text::escaped;

use crate::console::arguments::{Common, text};
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;
use crate::console::typed::{addressed, shown};

pub(super) fn run(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let (server, _) = addressed(given, common.typed.as_ref(), &["server"]);
    let server = server.unwrap_or_default();
    let listener =
        given.get_one::<Option<u16>>("listen").map(|port| listener(*port)).transpose()?;
    with_pool(common, terminal, |opened, terminal| {
        let redirect = match &listener {
            Some(listener) => Some(own_address(listener)?),
            None => text(given, "redirect").map(str::to_owned),
        };
        if opened.pool.status()["servers"][&server].is_null() {
            let message = format!("no server `{server}` is configured");
            let failure = Failure::new(Exit::NotFound, message);
            return Err(failure.with_hint("`trunkline list` shows those that are"));
        }
        let begun = begun(opened, &server, redirect)?;
        let url = format::text(&begun, "url");
        match common.json {
            true => format::json(terminal, &begun),
            false => terminal.line(&format!("visit {}", escaped(url))),
        }
        terminal.flush();
        let redirected = match listener {
            Some(listener) => arrived(&listener, opened, &begun)?,
            None => {
                let question = "the address that the browser ends at:";
                opened.interrupt.asking(|| terminal.ask_for(question, ADDRESS_BYTES_MAX))
            }
        };
        if redirected.is_empty() {
            return Err(Failure::unconfirmed());
        }
        let pool = opened.pool.clone();
        let report = opened.wait(async move { pool.finish_sign_in(&redirected).await })??;
        let is_kept = report["stored"] == true;
        match common.json {
            true => format::json(terminal, &report),
            false => {
                let server = shown(common.typed.as_ref(), &server);
                terminal.line(&format!("signed in to {}", escaped(&server)));
            }
        }
        match is_kept {
            true => Ok(Exit::Success),
            false => Err(unkept(&report)),
        }
    })
}

/// Begins a sign-in. Without a redirect it is that of the server's configuration, else one at which
/// nobody listens: the person copies it out of the browser.
fn begun(opened: &Opened, server: &str, redirect: Option<String>) -> Result<Value, Failure> {
    let begin = |redirect: Option<String>| {
        let mut options = SignInOptions::default();
        options.redirect_uri = redirect;
        let (pool, server) = (opened.pool.clone(), server.to_owned());
        opened.wait(async move { pool.sign_in(&server, &options).await })
    };
    let is_asked_for = redirect.is_some();
    let begun = begin(redirect)?;
    let lacks_redirect = begun.as_ref().is_err_and(|error| {
        error.code() == ErrorCode::InvalidArgument
            && error.detail().get("path").is_some_and(|path| path == "redirect_uri")
    });
    match lacks_redirect && !is_asked_for {
        true => Ok(begin(Some(PASTED.to_owned()))??),
        false => Ok(begun?),
    }
}

/// Why a sign-in is over with the command.
fn unkept(report: &Value) -> Failure {
    let message = match report["error"]["message"].as_str() {
        Some(message) => format!("the sign-in is not kept: {message}"),
        None => "the sign-in is not kept: no folder for it is known".to_owned(),
    };
    let failure = Failure::new(Exit::Internal, message);
    failure.with_hint(r#"`--options '{"tokens": "/PATH"}'` names a file for it"#)
}

/// At that port, or without one at that of [`PASTED`]: a redirect that stays the same needs no
/// further registration. Where that is taken it is any.
fn listener(port: Option<u16>) -> Result<TcpListener, Failure> {
    let at = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = match port {
        Some(port) => at(port),
        None => at(PORT).or_else(|_| at(0)),
    };
    let listener = listener.and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| {
        let port = port.unwrap_or(PORT);
        Failure::usage(format!("port {port} cannot be listened at: {error}"))
    })
}

fn own_address(listener: &TcpListener) -> Result<String, Failure> {
    let address = listener.local_addr().map_err(|error| lost(&error))?;
    Ok(format!("http://127.0.0.1:{}{CALLBACK}", address.port()))
}

/// The address that a browser is redirected to, once it asks for that.
fn arrived(listener: &TcpListener, opened: &Opened, begun: &Value) -> Result<String, Failure> {
    let time = Duration::from_millis(begun["expires_in_ms"].as_u64().unwrap_or_default());
    let time = opened.deadline.left().map_or(time, |left| left.min(time));
    let end = Instant::now() + time;
    let own = own_address(listener)?;
    let Some(expected) = Expected::new(format::text(begun, "url"), &own) else {
        return Err(Failure::new(Exit::Internal, "the sign-in has no state to be known by"));
    };
    while Instant::now() < end {
        match listener.accept() {
            Ok((stream, _)) => {
                let look = || opened.pause(Duration::ZERO);
                if let Some(query) = answered(stream, &expected, end, look)? {
                    return Ok(format!("{own}?{query}"));
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => opened.pause(GLANCE)?,
            Err(error) => return Err(lost(&error)),
        }
    }
    Err(Failure::new(Exit::TimedOut, "nobody signed in while the sign-in could be finished"))
}

/// Answers one connection; its query, where it is the redirect of this sign-in. One that speaks no
/// HTTP, or asks for something else, changes nothing. `look` ends it early by an error.
fn answered<E>(
    mut stream: TcpStream,
    expected: &Expected,
    end: Instant,
    look: impl FnMut() -> Result<(), E>,
) -> Result<Option<String>, E> {
    let end = end.min(Instant::now() + REQUEST_TIME);
    let head = head(&mut stream, end, look)?;
    let Some(head) = head.filter(|head| !head.is_empty()) else { return Ok(None) };
    let head = String::from_utf8_lossy(&head);
    let (status, text, query) = expected.answer(&head);
    let length = text.len();
    let own = format!("HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}");
    let answer = format!("{own}\r\nconnection: close\r\n\r\n{text}");
    // A browser that does not read the answer has brought the redirect all the same.
    let _ = stream
        .set_write_timeout(Some(left(end)))
        .and_then(|()| stream.write_all(answer.as_bytes()));
    Ok(query.map(str::to_owned))
}

/// What a connection sends before the body: nothing where it is too long, or comes too late.
fn head<E>(
    stream: &mut TcpStream,
    end: Instant,
    mut look: impl FnMut() -> Result<(), E>,
) -> Result<Option<Vec<u8>>, E> {
    let (mut head, mut part) = (Vec::new(), [0; 4 << 10]);
    if stream.set_nonblocking(false).is_err() {
        return Ok(None);
    }
    while Instant::now() < end && head.len() < ADDRESS_BYTES_MAX as usize {
        look()?;
        if stream.set_read_timeout(Some(left(end).min(GLANCE))).is_err() {
            return Ok(None);
        }
        match stream.read(&mut part) {
            Ok(0) => return Ok(Some(head)),
            Ok(count) => head.extend_from_slice(&part[..count]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                _ => return Ok(None),
            },
        }
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// The time that is left, and never none: a socket takes that for no limit.
fn left(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// What the redirect of one sign-in is known by.
struct Expected {
    state: String,
    hosts: Vec<String>,
}

impl Expected {
    /// By the address that a person visits, and the one that the browser comes back to.
    fn new(url: &str, own: &str) -> Option<Expected> {
        let state = states(url.split_once('?')?.1).next().filter(|state| !state.is_empty())?;
        let host = own.strip_prefix("http://")?.strip_suffix(CALLBACK)?;
        let port = host.strip_prefix("127.0.0.1")?;
        let mut hosts = vec![host.to_owned(), format!("localhost{port}")];
        if port == ":80" {
            hosts.extend(["127.0.0.1".to_owned(), "localhost".to_owned()]);
        }
        Some(Expected { state: state.to_owned(), hosts })
    }

    /// What a request is answered, and its query where it is the redirect.
    fn answer<'h>(&self, head: &'h str) -> (&'static str, &'static str, Option<&'h str>) {
        let mut lines = head.lines();
        let target = lines.next().and_then(|first| first.strip_prefix("GET ")?.split(' ').next());
        let hosts = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then(|| value.trim())
        });
        let hosts: Vec<&str> = hosts.collect();
        let is_own = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        if !matches!(hosts[..], [host] if is_own(host)) {
            return ("400 Bad Request", "This is not the address of the sign-in.\n", None);
        }
        let query = target.and_then(|target| target.strip_prefix(CALLBACK)?.strip_prefix('?'));
        let Some(query) = query else { return ("404 Not Found", "There is nothing here.\n", None) };
        match states(query).collect::<Vec<_>>()[..] {
            [state] if state == self.state => {
                ("200 OK", "You can close this page, and look at the terminal.\n", Some(query))
            }
            _ => ("400 Bad Request", "This belongs to another sign-in.\n", None),
        }
    }
}

/// The states of a query, as they are written: a state has no character that is encoded there.
fn states(query: &str) -> impl Iterator<Item = &str> {
    let query = query.split('#').next().unwrap_or_default();
    query.split('&').filter_map(|part| part.strip_prefix("state="))
}

fn lost(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Internal, format!("the redirect cannot be waited for: {error}"))
}

const CALLBACK: &str = "/callback";

/// Where a browser ends that nobody listens for.
const PASTED: &str = "http://127.0.0.1:33418/callback";

/// The port of [`PASTED`].
const PORT: u16 = 33418;

/// More than an address has that browsers take, with its headers.
const ADDRESS_BYTES_MAX: u64 = 64 << 10;

/// How long one connection may last in all.
const REQUEST_TIME: Duration = Duration::from_secs(5);

/// How often it is looked for a browser.
const GLANCE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests;
