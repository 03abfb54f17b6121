//! Where a configuration's sign-in leads to, and what it asks for there (SPEC 12.9).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use url::Url;

use super::line::escaped_text;
use crate::config::oauth::is_address;

/// What a configuration says of signing in, escaped. No secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignIn {
    /// Each address of it.
    pub addresses: Vec<Address>,
    /// How a token is got: its `grant_type`, or the kind of provider that gives it.
    pub grant: Option<String>,
    /// The client that it signs in as.
    pub client_id: Option<String>,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// For whom tokens are asked.
    pub audiences: Vec<String>,
    /// Names of what else it says; values of these may be secrets.
    pub others: Vec<String>,
}

/// One address of a sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// The path of the field that has it, such as `oauth.token_url`, escaped.
    pub field: String,
    /// It, escaped.
    pub address: String,
    /// Whether its origin is another than the server's own.
    pub is_other_origin: bool,
}

impl SignIn {
    /// The sign-in of a server at that address; nothing where nothing is said of one. Of
    /// `looked_up` are the addresses whose variables are in place.
    pub(super) fn of(
        oauth: &Map<String, Value>,
        looked_up: &BTreeMap<String, String>,
        url: Option<&str>,
    ) -> Option<SignIn> {
        if oauth.is_empty() {
            return None;
        }
        let text = |name: &str| oauth.get(name).and_then(Value::as_str).map(escaped_text);
        let texts = |name: &str| {
            let texts = oauth.get(name).and_then(Value::as_array).into_iter().flatten();
            texts.filter_map(Value::as_str).map(escaped_text).collect()
        };
        let mut found = Vec::new();
        for (name, value) in oauth {
            let path = format!("oauth.{name}");
            match (looked_up.get(name), value) {
                (Some(address), _) => found.push((path, address.as_str())),
                (None, Value::String(address)) if is_address(name) => {
                    found.push((path, address));
                }
                (None, _) if SHOWN_OR_SECRET.contains(&name.as_str()) => {}
                (None, value) => addresses_in(&path, value, &mut found),
            }
        }
        let origin = url.and_then(origin_of);
        let addresses = found.into_iter().map(|(field, address)| Address {
            field: escaped_text(&field),
            address: escaped_text(address),
            is_other_origin: origin.is_none() || origin_of(address) != origin,
        });
        let is_other =
            |name: &&String| !is_address(name) && !SHOWN_OR_SECRET[1..].contains(&name.as_str());
        Some(SignIn {
            addresses: addresses.collect(),
            grant: text("grant_type").or_else(|| text("provider_type")),
            client_id: text("client_id"),
            scopes: texts("scopes"),
            audiences: texts("audiences"),
            others: oauth.keys().filter(is_other).map(|name| escaped_text(name)).collect(),
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let SignIn { addresses, grant, client_id, scopes, audiences, others } = self;
        let addresses = addresses.iter().map(|Address { field, address, is_other_origin }| {
            json!({ "field": field, "address": address, "other_origin": is_other_origin })
        });
        json!({
            "addresses": addresses.collect::<Vec<_>>(),
            "grant": grant,
            "client_id": client_id,
            "scopes": scopes,
            "audiences": audiences,
            "others": others,
        })
    }
}

/// Members that are shown in a place of their own, and first the one that must not be shown.
const SHOWN_OR_SECRET: [&str; 6] =
    ["client_secret", "grant_type", "provider_type", "client_id", "scopes", "audiences"];

/// Texts that look like addresses in what no rule knows: somebody may go there.
fn addresses_in<'a>(path: &str, value: &'a Value, found: &mut Vec<(String, &'a str)>) {
    match value {
        Value::String(text) if text.contains("://") => found.push((path.to_owned(), text)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                addresses_in(&format!("{path}[{index}]"), item, found);
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                addresses_in(&format!("{path}.{name}"), item, found);
            }
        }
        _ => {}
    }
}

/// Scheme, host and port of an address; nothing of what is none.
fn origin_of(address: &str) -> Option<(String, String, Option<u16>)> {
    let url = Url::parse(address).ok()?;
    let host = url.host_str()?.to_owned();
    // A websocket is at the origin of the request that it begins as.
    let scheme = match url.scheme() {
        "ws" => "http",
        "wss" => "https",
        other => other,
    };
    Some((scheme.to_owned(), host, url.port_or_known_default()))
}
