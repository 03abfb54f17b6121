//! Pages of lists. All pages come from one snapshot, sorted by the names that the client sees.
//!
//! A cursor says the kind and the last name of its page. So it survives servers that come and go.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use super::contents::shown_uri;
use super::introductions::Introducing;
use super::names::shown;
use super::schemas::wrapped;
use crate::bridge::offers::ServerOffer;
use crate::bridge::wire::codes::{Denial, DenialKind};
use crate::bridge::wire::edit::{Edit, edited, put};
use crate::bridge::wire::frames::text;
use crate::catalog::ListKind;
use crate::config::Era;

/// Items of one page.
const PAGE_ITEMS_MAX: usize = 1000;

/// The member of `_meta` that names the servers whose part of a list is missing.
const MISSING: &str = "trunkline/missing_servers";

/// One page, as the result is before it gets the members of every result.
pub(in crate::bridge) fn page(
    introducing: Introducing<'_>,
    kind: ListKind,
    cursor: Option<&str>,
) -> Result<String, Denial> {
    let after = cursor.map(|cursor| key_of(cursor, kind)).transpose()?;
    let Introducing { path, offers, .. } = introducing;
    let servers = offers.servers();
    let mut items = Vec::new();
    for (place, server) in servers.iter().enumerate() {
        for item in offers.items(server.name, kind) {
            let name = shown(path, server.name, kind, item.name);
            if after.as_ref().is_none_or(|after| name > *after) {
                items.push((name, place, item));
            }
        }
    }
    items.sort_by(|one, other| one.0.cmp(&other.0));
    let next =
        (items.len() > PAGE_ITEMS_MAX).then(|| cursor_of(&items[PAGE_ITEMS_MAX - 1].0, kind));
    let definitions: Vec<String> = items
        .iter()
        .take(PAGE_ITEMS_MAX)
        .map(|(name, place, item)| {
            definition(introducing, &servers[*place], kind, name, item.definition)
        })
        .collect();
    let mut page = format!(r#"{{"{}":[{}]"#, member(kind), definitions.join(","));
    if let Some(next) = next {
        page.push_str(&format!(r#","nextCursor":{}"#, text(&next)));
    }
    let missing: Vec<&str> =
        servers.iter().filter(|server| !server.is_listed).map(|server| server.name).collect();
    if !missing.is_empty() {
        page.push_str(&format!(r#","_meta":{}"#, json!({ MISSING: missing })));
    }
    if introducing.era == Era::Modern {
        let (ttl, scope) = introducing.freshness();
        page.push_str(&format!(r#","ttlMs":{ttl},"cacheScope":"{scope}""#));
    }
    page.push('}');
    Ok(page)
}

/// The member that a list stands in.
fn member(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Tools => "tools",
        ListKind::Prompts => "prompts",
        ListKind::Resources => "resources",
        ListKind::ResourceTemplates => "resourceTemplates",
    }
}

fn cursor_of(last: &str, kind: ListKind) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(json!([member(kind), last]).to_string())
}

fn key_of(cursor: &str, kind: ListKind) -> Result<String, Denial> {
    let read = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
    let read = read.and_then(|bytes| serde_json::from_slice::<(String, String)>(&bytes).ok());
    let key = read.filter(|(of, _)| of == member(kind)).map(|(_, key)| key);
    key.ok_or_else(|| Denial::new(DenialKind::BadParams, "`params.cursor` is not of this list"))
}

/// The definition of an item, as this client is shown it: byte for byte on a transparent path, but
/// for what its era does not know.
fn definition(
    introducing: Introducing<'_>,
    server: &ServerOffer<'_>,
    kind: ListKind,
    name: &str,
    definition: &str,
) -> String {
    let is_aggregate = introducing.path.server.is_none();
    let eras = (introducing.era, server.era);
    let schema = match (kind, eras) {
        (ListKind::Tools, (Era::Legacy, Era::Modern)) => wrapped(definition),
        _ => None,
    };
    let drops_execution = eras == (Era::Modern, Era::Legacy) && kind == ListKind::Tools;
    if !is_aggregate && schema.is_none() && !drops_execution {
        return definition.to_owned();
    }
    let names: &[&str] = match kind {
        ListKind::Tools | ListKind::Prompts => &["name"],
        ListKind::Resources => &["uri"],
        ListKind::ResourceTemplates => &["uriTemplate"],
    };
    let edit = |member: &str, value: &str| match member {
        "execution" if drops_execution => Edit::Drop,
        "outputSchema" => put(schema.clone()),
        "_meta" if is_aggregate => put(with_view(value, server.name)),
        member if is_aggregate && names.contains(&member) => Edit::Put(text(name)),
        _ => Edit::Keep,
    };
    edited(definition, edit, &[]).unwrap_or_else(|| definition.to_owned())
}

/// A `_meta` whose view of an app is one of the aggregate's resources.
fn with_view(meta: &str, server: &str) -> Option<String> {
    let of_ui = |name: &str, value: &str| match name {
        "resourceUri" => put(shown_uri(value, server)),
        _ => Edit::Keep,
    };
    let edit = |name: &str, value: &str| match name {
        "ui" => put(edited(value, of_ui, &[])),
        "ui/resourceUri" => put(shown_uri(value, server)),
        _ => Edit::Keep,
    };
    edited(meta, edit, &[])
}
