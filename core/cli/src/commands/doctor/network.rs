//! Proxies and certificates.

use std::path::{Path, PathBuf};

use trunkline::{
    Way, bounded, certificate_variables, misread_proxies, proxy_variables, root_variables,
    trusted_roots,
};
use trunkline_pool::text::escaped;

use super::entries::DoctorEntry;
use super::finding::{Finding, State, Topic, Words, push_shared};

/// The most bytes of a file of certificates that are looked at.
const CERTIFICATES_BYTES_MAX: usize = 16 << 20;

/// The most files of a folder of certificates that are counted.
const FILES_MAX: usize = 10_000;

/// The line that every certificate in PEM form begins with.
const PEM: &str = "-----BEGIN CERTIFICATE-----";

pub(super) fn look(entries: &[DoctorEntry<'_>], findings: &mut Vec<Finding>) {
    proxies(entries, findings);
    certificates(entries, findings);
}

fn proxies(entries: &[DoctorEntry<'_>], findings: &mut Vec<Finding>) {
    for name in misread_proxies() {
        let message =
            format!("`{name}` is not the address of a proxy: requests that need a proxy fail");
        let hint = "write it as `http://host:port`";
        findings.push(Finding::general(State::Wrong, Topic::Proxy, message).with_hint(hint));
    }
    let set = set_variables(proxy_variables());
    let set: Vec<&String> = set.iter().filter(|name| is_of_library(name)).collect();
    let ways: Vec<(&str, &Way)> =
        entries.iter().filter_map(|entry| Some((entry.name, entry.way.as_ref()?))).collect();
    for (name, way) in &ways {
        if let Some(found) = of_way(way, !set.is_empty()) {
            push_shared(findings, name, found);
        }
    }
    if set.is_empty() {
        let message = "none, for sign-ins too: no variable of the environment names one";
        findings.push(Finding::general(State::Good, Topic::Proxy, message));
    } else if ways.is_empty() {
        let message =
            Words::with(|most| format!("{} is set, and no server is remote", most.of(&set)));
        findings.push(Finding::general(State::Good, Topic::Proxy, message));
    }
    if !set.is_empty() {
        sign_ins(&ways, findings);
    }
}

/// Whether the library reads that variable, and not package managers alone.
fn is_of_library(name: &str) -> bool {
    let name = name.to_uppercase();
    name.ends_with("_PROXY") && !name.starts_with("NPM_") && name != "NO_PROXY"
}

/// How one server is reached; nothing where that needs no word.
fn of_way(way: &Way, is_any_set: bool) -> Option<Finding> {
    let found = |state, message: String| Some(Finding::general(state, Topic::Proxy, message));
    let user = if way.has_user { ", with a user or password that is not shown" } else { "" };
    match (&way.socket, &way.proxy) {
        (Some(socket), _) => {
            found(State::Good, format!("none, but the Unix socket {}", escaped(socket)))
        }
        (None, Some(proxy)) if !way.is_usable => {
            let message = format!("{}, which is neither `http` nor `https`", escaped(proxy));
            let hint = "name a proxy of `http` or `https`: the library can take no other";
            Some(found(State::Wrong, message)?.with_hint(hint))
        }
        (None, Some(proxy)) => found(State::Good, format!("{}{user}", escaped(proxy))),
        (None, None) if is_any_set => found(
            State::Good,
            format!(
                "none for {}, by `NO_PROXY`, its scheme, or since it is this machine",
                way.origin
            ),
        ),
        (None, None) => None,
    }
}

fn sign_ins(ways: &[(&str, &Way)], findings: &mut Vec<Finding>) {
    for (name, way) in ways.iter().filter(|(_, way)| way.socket.is_none()) {
        let message = match way.signs_in_straight {
            true => "none, since `oauth.proxy` is `direct`",
            false => "the proxy that the environment names for each of their addresses",
        };
        let found = Finding::new(State::Good, Topic::Proxy, "proxy for sign-ins", message);
        push_shared(findings, name, found);
    }
}

/// The variables of these names, in any case, that the environment has.
pub(super) fn set_variables(names: &[&str]) -> Vec<String> {
    let mut set: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| names.contains(&&*name.to_uppercase()))
        .collect();
    set.sort();
    set
}

fn certificates(entries: &[DoctorEntry<'_>], findings: &mut Vec<Finding>) {
    let named = set_variables(certificate_variables());
    let (of_library, of_others): (Vec<String>, Vec<String>) =
        named.into_iter().partition(|name| root_variables().contains(&&**name));
    let mut is_readable = true;
    for name in of_library.iter().chain(&of_others) {
        let is_read = of_library.contains(name);
        let checked = check(name);
        is_readable &= checked.is_ok() || !is_read;
        findings.push(of_variable(name, is_read, checked));
        findings.extend(without(name, entries));
    }
    // Skip the roots if a named file is unusable: reading a pipe would block.
    if is_readable {
        findings.push(roots(&of_library, entries));
    }
}

fn roots(of_library: &[String], entries: &[DoctorEntry<'_>]) -> Finding {
    let needed = entries.iter().filter_map(|entry| entry.way.as_ref());
    let is_needed = needed.into_iter().any(|way| way.origin.starts_with("https:"));
    match trusted_roots() {
        Ok(()) if of_library.is_empty() => {
            Finding::general(State::Good, Topic::Certificates, "the system's are trusted")
        }
        Ok(()) => {
            let message = Words::with(|most| {
                format!("those of {} are trusted in place of the system's", most.of(of_library))
            });
            Finding::general(State::Good, Topic::Certificates, message)
        }
        Err(reason) => {
            let state = if is_needed { State::Wrong } else { State::Note };
            let message =
                format!("none are trusted, so that no `https` is reached: {}", escaped(&reason));
            let hint = "install the certificates of the system (ca-certificates), or name a file of them in `SSL_CERT_FILE`";
            Finding::general(state, Topic::Certificates, message).with_hint(hint)
        }
    }
}

/// The servers that do not get a variable, if there are any.
fn without(name: &str, entries: &[DoctorEntry<'_>]) -> Option<Finding> {
    let starts = entries.iter().filter_map(|entry| Some((entry.name, entry.start.as_ref()?)));
    let without = starts.filter(|(_, start)| start.withheld.iter().any(|one| one == name));
    let servers: Vec<String> = without.map(|(server, _)| server.to_owned()).collect();
    let whom = match servers.len() {
        0 => return None,
        1 => "it",
        _ => "them",
    };
    let message = format!("`{}` is not given to {whom}", escaped(name));
    let found = Finding::general(State::Good, Topic::Certificates, message);
    Some(Finding { servers, ..found })
}

fn of_variable(name: &str, is_read: bool, checked: Result<Vec<String>, String>) -> Finding {
    let reader = if is_read { "" } else { "; the library does not read it" };
    let about = escaped(name);
    match checked {
        Ok(found) => {
            let message = Words::with(|most| {
                let found = if found.is_empty() { "no folder".into() } else { most.of(&found) };
                format!("`{about}` names {found}{reader}")
            });
            Finding::general(State::Good, Topic::Certificates, message)
        }
        Err(why) => {
            let message = format!("`{about}` names {why}{reader}");
            let hint = "correct the path, or take the variable out of the environment";
            Finding::general(State::Wrong, Topic::Certificates, message).with_hint(hint)
        }
    }
}

/// What a variable names, or what is wrong with it, in words.
fn check(variable: &str) -> Result<Vec<String>, String> {
    let value = std::env::var_os(variable).unwrap_or_default();
    let paths: Vec<PathBuf> = match variable.to_uppercase().ends_with("_DIR") {
        true => std::env::split_paths(&value).filter(|it| !it.as_os_str().is_empty()).collect(),
        false => vec![value.into()],
    };
    paths.iter().map(|path| check_path(path)).collect()
}

fn check_path(path: &Path) -> Result<String, String> {
    let shown = match path.as_os_str().is_empty() {
        true => return Err("nothing, though it is set".into()),
        false => escaped(&path.to_string_lossy()),
    };
    let wrong = |error: std::io::Error| format!("{shown}, which cannot be read: {error}");
    if path.is_dir() {
        let count = std::fs::read_dir(path).map_err(wrong)?.take(FILES_MAX).count();
        return Ok(format!("the folder {shown} with {count} files"));
    }
    let bytes = bounded::file(path, CERTIFICATES_BYTES_MAX).map_err(wrong)?;
    match String::from_utf8_lossy(&bytes).matches(PEM).count() {
        0 => Err(format!("{shown}, in which no certificate is in PEM form")),
        count => Ok(format!("{shown} with {count} certificates")),
    }
}
