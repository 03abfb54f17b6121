//! Names of arguments that a target refuses: others in their place, and the way back.
//!
//! 1. A name in place of another depends on that other alone, but for a clash of hashes: it stays
//!    the same when the schema changes, and never comes to mean another argument.
//! 2. Only the names at the top are looked at by any target: those within arguments stay.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::left_out::LeftOut;
use crate::base::text::escaped;
use crate::error::{Error, ErrorCode, Result};
use crate::json::members;

/// The longest name of an argument that Anthropic takes, in characters.
const NAME_MAX: usize = 64;

/// Characters of the hash, five bits each.
const HASH_CHARS: usize = 8;

/// Thirty-two letters and digits, without those that look like one another.
const HASH_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// What a schema at the top says of arguments without naming them where they could be renamed.
const SAYING: [&str; 7] =
    ["propertyNames", "if", "then", "else", "not", "dependentSchemas", "dependencies"];

/// The arguments of a tool that have other names in a shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentNames(BTreeMap<String, String>);

impl ArgumentNames {
    /// Whether each argument has its own name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names in the shape, each with the server's own.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(shaped, own)| (&**shaped, &**own))
    }

    /// Arguments as the server names them, of the text of an object. Values stay byte for byte; a
    /// name that is the server's own, or nobody's, stays too.
    ///
    /// # Errors
    /// `invalid_argument` with the path `arguments` when one argument is there under both of its
    /// names.
    pub fn back<'a>(&self, arguments: &'a str) -> Result<Cow<'a, str>> {
        if self.0.is_empty() {
            return Ok(Cow::Borrowed(arguments));
        }
        // What is no object is refused where calls are checked.
        let Ok(given) = members(arguments) else { return Ok(Cow::Borrowed(arguments)) };
        if !given.iter().any(|(name, _)| self.0.contains_key(name)) {
            return Ok(Cow::Borrowed(arguments));
        }
        let mut out = Vec::with_capacity(given.len());
        for (name, value) in &given {
            let own = self.0.get(name);
            if own.is_some_and(|own| given.iter().any(|(other, _)| other == own)) {
                let message = format!("argument \"{}\" is given under two names", escaped(name));
                return Err(Error::new(ErrorCode::InvalidArgument, message)
                    .with_detail("path", "arguments"));
            }
            out.push(format!("{}:{}", quoted(own.unwrap_or(name)), value.get()));
        }
        Ok(Cow::Owned(format!("{{{}}}", out.join(","))))
    }
}

/// Whether one of these arguments has a name as they are given in place of others. Nearly none has,
/// which spares a call the look at the schema.
pub(super) fn may_be_renamed(arguments: &str) -> bool {
    let ends_with_hash = |name: &str| {
        let end = name.as_bytes().rsplit(|byte| *byte == b'_').next().unwrap_or_default();
        end.len() == HASH_CHARS
            && end.len() < name.len()
            && end.iter().all(|byte| HASH_ALPHABET.contains(byte))
    };
    members(arguments).is_ok_and(|given| given.iter().any(|(name, _)| ends_with_hash(name)))
}

/// Gives the arguments whose names Anthropic refuses others. Each says by its title what it is
/// called, unless it has one.
pub(super) fn renamed(
    schema: &mut Map<String, Value>,
    left_out: &mut Vec<LeftOut>,
) -> ArgumentNames {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return ArgumentNames::default();
    };
    if properties.keys().all(|name| is_taken(name)) {
        return ArgumentNames::default();
    }
    let mut by_own: BTreeMap<String, String> = BTreeMap::new();
    for name in properties.keys().filter(|name| !is_taken(name)) {
        let is_free = |new: &String| {
            !properties.contains_key(new) && !by_own.values().any(|other| other == new)
        };
        let mut rounds = (0..).map(|round| in_place_of(name, round));
        let new = rounds.find(is_free).expect("a schema has an end");
        by_own.insert(name.clone(), new);
    }
    let before = std::mem::take(properties);
    properties.extend(before.into_iter().map(|(name, schema)| match by_own.get(&name) {
        Some(new) => (new.clone(), titled(schema, &name)),
        None => (name, schema),
    }));
    rename_mentions(schema, &by_own);
    leave_out_what_mentions(schema, &by_own, left_out);
    ArgumentNames(by_own.into_iter().map(|(own, new)| (new, own)).collect())
}

/// Whether Anthropic takes a name.
fn is_taken(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_plain)
}

/// A name that Anthropic takes; another one for each round.
fn in_place_of(name: &str, round: u32) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' }
    };
    let clean: String = name.chars().map(plain).take(NAME_MAX - 1 - HASH_CHARS).collect();
    let mut hasher = Sha256::new();
    hasher.update(round.to_be_bytes());
    hasher.update(name);
    let digest = hasher.finalize();
    let letter = |byte: &u8| char::from(HASH_ALPHABET[usize::from(byte % 32)]);
    let hash: String = digest.iter().take(HASH_CHARS).map(letter).collect();
    format!("{clean}_{hash}")
}

/// A schema that says what its argument is called.
fn titled(schema: Value, name: &str) -> Value {
    match schema {
        Value::Object(mut members) => {
            members.entry("title").or_insert_with(|| name.into());
            Value::Object(members)
        }
        Value::Bool(true) => json!({ "title": name }),
        other => other,
    }
}

/// Where arguments are named beside their schemas.
fn rename_mentions(schema: &mut Map<String, Value>, by_own: &BTreeMap<String, String>) {
    let rename = |names: &mut Value| {
        for name in names.as_array_mut().into_iter().flatten() {
            if let Some(new) = name.as_str().and_then(|name| by_own.get(name)) {
                *name = new.as_str().into();
            }
        }
    };
    if let Some(names) = schema.get_mut("required") {
        rename(names);
    }
    if let Some(Value::Object(by_name)) = schema.get_mut("dependentRequired") {
        let before = std::mem::take(by_name);
        by_name.extend(before.into_iter().map(|(name, mut names)| {
            rename(&mut names);
            (by_own.get(&name).cloned().unwrap_or(name), names)
        }));
    }
}

/// What says something of a renamed argument in another way says it of nothing any more, and may
/// refuse the new name.
fn leave_out_what_mentions(
    schema: &mut Map<String, Value>,
    by_own: &BTreeMap<String, String>,
    left_out: &mut Vec<LeftOut>,
) {
    let mentions = |keyword: &&str| {
        schema.get(*keyword).is_some_and(|value| *keyword == "propertyNames" || says(value, by_own))
    };
    let mut going: Vec<&str> = SAYING.into_iter().filter(mentions).collect();
    // These three are one.
    if ["if", "then", "else"].iter().any(|part| going.contains(part)) {
        going.extend(["if", "then", "else"]);
    }
    for keyword in going {
        if schema.shift_remove(keyword).is_some() {
            let reason = "speaks of an argument that has another name";
            left_out.push(LeftOut::new(format!("/{keyword}"), reason));
        }
    }
}

fn says(value: &Value, by_own: &BTreeMap<String, String>) -> bool {
    match value {
        Value::String(text) => by_own.contains_key(text),
        Value::Array(all) => all.iter().any(|value| says(value, by_own)),
        Value::Object(members) => members.iter().any(|(name, value)| {
            matches!(&**name, "$ref" | "$dynamicRef")
                || by_own.contains_key(name)
                || says(value, by_own)
        }),
        _ => false,
    }
}

pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
