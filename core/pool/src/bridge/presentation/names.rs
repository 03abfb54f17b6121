//! Which server a name or URI of a client leads to, and how a server's own is shown.

use serde_json::json;

use super::uris::{exposed, is_expansion, own};
use crate::bridge::facts::ServedPath;
use crate::bridge::offers::Offers;
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::catalog::ListKind;
use crate::naming::Naming;

/// A server, and its own name for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::bridge) struct Target {
    /// The server.
    pub server: String,
    /// Its own name or URI.
    pub own: String,
}

/// What a client of this path calls something of a server.
pub(in crate::bridge) fn shown(
    path: &ServedPath,
    server: &str,
    kind: ListKind,
    own: &str,
) -> String {
    match (&path.server, kind) {
        (Some(_), _) => own.to_owned(),
        (None, ListKind::Tools | ListKind::Prompts) => Naming::served().of_pair(server, own),
        (None, ListKind::Resources | ListKind::ResourceTemplates) => exposed(server, own),
    }
}

/// What a name of a tool or prompt leads to.
pub(in crate::bridge) fn named(
    path: &ServedPath,
    offers: &dyn Offers,
    kind: ListKind,
    name: &str,
) -> Result<Target, Denial> {
    if let Some(server) = &path.server {
        return Ok(Target { server: server.clone(), own: name.to_owned() });
    }
    let naming = Naming::served();
    let servers = offers.servers();
    // Nearly all names are plain, and say their pair.
    let plain = servers.iter().find_map(|server| {
        let own = name.strip_prefix(server.name)?.strip_prefix("__")?;
        let is_it = naming.of_pair(server.name, own) == name;
        is_it.then(|| offers.item(server.name, kind, own)).flatten().map(|_| (server.name, own))
    });
    if let Some((server, own)) = plain {
        return Ok(Target { server: server.to_owned(), own: own.to_owned() });
    }
    for server in &servers {
        let items = offers.items(server.name, kind);
        if let Some(item) = items.iter().find(|item| naming.of_pair(server.name, item.name) == name)
        {
            return Ok(Target { server: server.name.to_owned(), own: item.name.to_owned() });
        }
    }
    let what = if kind == ListKind::Prompts { "prompt" } else { "tool" };
    let message = format!("unknown {what}: no server here has one of that name");
    Err(Denial::new(DenialKind::BadParams, message).with(json!({ "name": name })))
}

/// What the URI of a resource, or a URI template, leads to. One that came out of the text of a
/// result is the server's own: it leads to the one server that has it.
pub(in crate::bridge) fn located(
    path: &ServedPath,
    offers: &dyn Offers,
    uri: &str,
) -> Result<Target, Denial> {
    if let Some(server) = &path.server {
        return Ok(Target { server: server.clone(), own: uri.to_owned() });
    }
    let servers = offers.servers();
    let of = |server: &str| Some(Target { server: server.to_owned(), own: own(server, uri)? });
    if let Some(target) = servers.iter().find_map(|server| of(server.name)) {
        return Ok(target);
    }
    let has = |server: &str| {
        offers.item(server, ListKind::Resources, uri).is_some()
            || offers
                .items(server, ListKind::ResourceTemplates)
                .iter()
                .any(|template| template.name == uri || is_expansion(template.name, uri))
    };
    let owners: Vec<&str> =
        servers.iter().map(|server| server.name).filter(|server| has(server)).collect();
    match owners[..] {
        [server] => Ok(Target { server: server.to_owned(), own: uri.to_owned() }),
        [] => {
            let message = "unknown resource: no server here has one of that URI";
            Err(Denial::new(DenialKind::UnknownResource, message).with(json!({ "uri": uri })))
        }
        _ => {
            let candidates: Vec<String> =
                owners.iter().map(|server| exposed(server, uri)).collect();
            let message = "several servers have a resource of that URI";
            let attached = json!({ "uri": uri, "candidates": candidates });
            Err(Denial::new(DenialKind::BadParams, message).with(attached))
        }
    }
}
