//! OAuth and service-account fields in one form for all products (SPEC 1.2, 1.3).

use serde_json::{Map, Value};

use super::fields::Fields;
use crate::error::Result;
use crate::json::joined;

/// Takes every OAuth field of a server's configuration. Absent, null, `false`, `{}` and
/// `{"enabled": false}` are one value: the empty map.
pub(super) fn take(fields: &mut Fields<'_>) -> Result<Map<String, Value>> {
    let mut out = Map::new();
    // A bearer token or the word `oauth` may stand in `auth` too; only an object holds OAuth
    // fields.
    for spelling in ["oauth", "auth"] {
        let Some(members) = fields.take_object(spelling) else {
            if spelling == "oauth" && fields.has(spelling) && !fields.take_false(spelling) {
                return Err(fields.error(spelling, "`oauth` must be an object, or false"));
            }
            continue;
        };
        for (name, value) in members {
            let path = joined(spelling, &name);
            put(fields, &mut out, &path, plain(&name), value)?;
        }
    }
    if out.len() == 1 && out.get("enabled") == Some(&Value::Bool(false)) {
        out.clear();
    }
    if let Some(scopes) = fields.take("oauth_scopes")? {
        put(fields, &mut out, &scopes.name, "scopes".into(), scopes.value)?;
    }
    for name in ["provider_type", "target_audience", "target_service_account"] {
        if let Some(field) = fields.take(name)? {
            let text = fields.as_text(&field.name, &field.value)?;
            put(fields, &mut out, &field.name, name.into(), text.into())?;
        }
    }
    Ok(out)
}

fn put(
    fields: &Fields<'_>,
    out: &mut Map<String, Value>,
    path: &str,
    name: String,
    value: Value,
) -> Result<()> {
    if name == "proxy" && !value.is_null() && value != "direct" {
        return Err(fields.error(path, &format!("`{path}` is not `direct`")));
    }
    let value = match (name.as_str(), value) {
        (_, Value::Null) => return Ok(()),
        (set, value) if SETS.contains(&set) => sorted(fields, path, value)?,
        (text, value) if TEXTS.contains(&text) => fields.as_text(path, &value)?.into(),
        (_, value) => value,
    };
    if out.contains_key(&name) {
        return Err(fields.error(path, &format!("`{path}` is there twice, in two spellings")));
    }
    out.insert(name, value);
    Ok(())
}

/// Whether a member of that name says something here, however it is spelled.
pub(crate) fn is_known(name: &str) -> bool {
    let name = plain(name);
    name == "enabled" || [TEXTS, SETS].iter().any(|names| names.contains(&name.as_str()))
}

/// Whether a member of that name is an address that a sign-in may lead to, however it is spelled.
pub(crate) fn is_address(name: &str) -> bool {
    ADDRESSES.contains(&plain(name).as_str())
}

/// Whether a member of that name is a secret by itself, however it is spelled.
pub(crate) fn is_secret(name: &str) -> bool {
    plain(name) == "client_secret"
}

/// Its name here.
fn plain(name: &str) -> String {
    match snake_case(name) {
        // As OAuth itself calls them (RFC 6749 3.3).
        name if name == "scope" => "scopes".into(),
        name => name,
    }
}

/// Fields that are strings; what is in neither list is kept as it is, and hashed all the same.
const TEXTS: &[&str] = &[
    "client_id",
    "client_secret",
    "authorization_url",
    "token_url",
    "registration_url",
    "redirect_uri",
    "client_metadata_url",
    "client_name",
    "grant_type",
    "issuer",
    "proxy",
    "token_param_name",
];

/// Those of the strings that are addresses.
const ADDRESSES: &[&str] = &[
    "authorization_url",
    "token_url",
    "registration_url",
    "redirect_uri",
    "client_metadata_url",
    "issuer",
];

/// Fields that are sets.
const SETS: &[&str] = &["scopes", "audiences"];

/// A set is an array, or one string with spaces between, as OAuth itself writes them.
fn sorted(fields: &Fields<'_>, path: &str, value: Value) -> Result<Value> {
    let mut texts = match &value {
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        value => fields.as_texts(path, value)?,
    };
    texts.sort();
    texts.dedup();
    Ok(texts.into())
}

/// `clientId`, `client_id` and `CLIENT_ID` are one name.
fn snake_case(name: &str) -> String {
    let has_lower = name.chars().any(char::is_lowercase);
    let mut out = String::with_capacity(name.len() + 2);
    for character in name.chars() {
        if has_lower && character.is_ascii_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}
