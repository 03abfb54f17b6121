//! `sign-in`: a person signs in to a remote server. The address is shown, and the redirect is typed
//! in, or arrives at a port of this machine.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
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
    let listener = given.get_one::<u16>("listen").map(|port| listener(*port)).transpose()?;
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

fn listener(port: u16) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = listener.and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| Failure::usage(format!("port {port} cannot be listened at: {error}")))
}

fn own_address(listener: &TcpListener) -> Result<String, Failure> {
    let address = listener.local_addr().map_err(|error| lost(&error))?;
    Ok(format!("http://127.0.0.1:{}{CALLBACK}", address.port()))
}

/// The address that a browser is redirected to, once it asks for that.
fn arrived(listener: &TcpListener, opened: &Opened, begun: &Value) -> Result<String, Failure> {
    let time = Duration::from_millis(begun["expires_in_ms"].as_u64().unwrap_or_default());
    let end = Instant::now() + time;
    let own = own_address(listener)?;
    while Instant::now() < end {
        match listener.accept() {
            Ok((stream, _)) => {
                // One that speaks no HTTP, or asks for something else, changes nothing.
                if let Ok(Some(query)) = answered(stream) {
                    return Ok(format!("{own}?{query}"));
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => opened.pause(GLANCE)?,
            Err(error) => return Err(lost(&error)),
        }
    }
    Err(Failure::new(Exit::TimedOut, "nobody signed in while the sign-in could be finished"))
}

/// Answers one request; its query, where it is the redirect.
fn answered(mut stream: TcpStream) -> std::io::Result<Option<String>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(REQUEST_TIME))?;
    stream.set_write_timeout(Some(REQUEST_TIME))?;
    let mut head = BufReader::new((&stream).take(ADDRESS_BYTES_MAX));
    let mut first = Vec::new();
    head.by_ref().take(ADDRESS_BYTES_MAX).read_until(b'\n', &mut first)?;
    // The rest is read so that the browser gets the answer.
    let mut line = Vec::new();
    while head.by_ref().take(ADDRESS_BYTES_MAX).read_until(b'\n', &mut line)? > 2 {
        line.clear();
    }
    let first = String::from_utf8_lossy(&first);
    let target = first.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    let query = target.and_then(|target| target.strip_prefix(CALLBACK)?.strip_prefix('?'));
    let (status, text) = match query {
        Some(_) => ("200 OK", "You can close this page, and look at the terminal.\n"),
        None => ("404 Not Found", "There is nothing here.\n"),
    };
    let length = text.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}");
    stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n{text}").as_bytes())?;
    Ok(query.map(str::to_owned))
}

fn lost(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Internal, format!("the redirect cannot be waited for: {error}"))
}

const CALLBACK: &str = "/callback";

/// Where a browser ends that nobody listens for.
const PASTED: &str = "http://127.0.0.1:33418/callback";

/// More than an address has that browsers take, with its headers.
const ADDRESS_BYTES_MAX: u64 = 64 << 10;

/// How long one request may take to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(5);

/// How often it is looked for a browser.
const GLANCE: Duration = Duration::from_millis(20);
