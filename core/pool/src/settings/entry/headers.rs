//! Headers, and what products have instead of one.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::{EntryReader, EntryResult, fault, replaced};
use crate::expand::length_of_name;
use crate::json::joined;
use crate::settings::notes::FindingKind;
use crate::settings::position::Place;
use crate::settings::syntax::SyntaxMember;
use crate::settings::template::Rule;

const AUTHORIZATION: &str = "Authorization";

/// As many headers as a configuration may have; said here, the error names the field that the file
/// has.
const HEADERS_MAX: usize = 10_000;

impl EntryReader {
    /// A bearer token, or the word for a sign-in, which happens without a word too when the server
    /// asks for it.
    pub(super) fn token(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        if member.node.members().is_some() {
            return self.put(&member.name, member.node.value(), path, member.place);
        }
        let token = self.text(&member.node, path)?;
        if token == "oauth" {
            self.find(path, member.place, FindingKind::NoEffect);
            return Ok(());
        }
        self.bearer(&token, member, path);
        Ok(())
    }

    pub(super) fn bearer(&mut self, token: &str, member: &SyntaxMember, path: &str) {
        self.header(AUTHORIZATION, format!("Bearer {token}"), member, path);
    }

    /// Headers whose values are names of variables.
    pub(super) fn header_variables(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let Some(members) = member.node.members() else {
            return fault(path, format!("`{path}` must be an object of strings"));
        };
        if members.len() > HEADERS_MAX {
            return fault(path, format!("`{path}` has more than {HEADERS_MAX} items"));
        }
        for header in members {
            let path = joined(path, &header.name);
            let variable = self.name_of_variable(&header.node, &path)?;
            self.header(&header.name, format!("${{{variable}}}"), header, &path);
        }
        Ok(())
    }

    /// Of the options of requests, the headers; what else there is has no effect.
    pub(super) fn request_options(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let Some(options) = member.node.members() else {
            return fault(path, format!("`{path}` must be an object"));
        };
        for option in options.iter().filter(|option| !option.node.is_null()) {
            let path = joined(path, &option.name);
            if option.name == "headers" {
                self.note("headers", &path, option.place, Rule::Renamed);
                self.put("headers", option.node.value(), &path, option.place)?;
            } else {
                self.find(&path, option.place, FindingKind::NoEffect);
            }
        }
        Ok(())
    }

    /// What Goose keeps for a remote server goes into its headers, where these name it; nothing
    /// else is asked for.
    pub(super) fn fill_headers(&mut self, secrets: Vec<(String, String, Place)>) {
        let env = match self.out.shift_remove("env") {
            Some(Value::Object(env)) => env,
            _ => Map::new(),
        };
        let mut used = BTreeSet::new();
        if let Some(Value::Object(headers)) = self.out.get_mut("headers") {
            let mut value_of = |name: &str| {
                let literal = || env.get(name).and_then(Value::as_str).map(str::to_owned);
                let is_secret = secrets.iter().any(|(known, ..)| known == name);
                let value =
                    literal().or_else(|| is_secret.then(|| format!("${{secret:{name}}}")))?;
                used.insert(name.to_owned());
                Some(value)
            };
            for header in headers.values_mut() {
                if let Value::String(text) = header {
                    *text = filled(text, &mut value_of);
                }
            }
        }
        for (name, path, place) in &secrets {
            match used.contains(name) && !env.contains_key(name) {
                true => self.note("headers", path, *place, Rule::SecretName),
                false => self.find(path, *place, FindingKind::NoEffect),
            }
        }
        if let Some((path, place)) = self.came.get("env").cloned() {
            for name in env.keys().filter(|name| !used.contains(*name)) {
                self.find(&joined(&path, name), place, FindingKind::NoEffect);
            }
        }
    }

    fn header(&mut self, name: &str, value: String, member: &SyntaxMember, path: &str) {
        self.note(&joined("headers", name), path, member.place, Rule::Header);
        self.headers.push((name.to_owned(), value, path.to_owned(), member.place));
    }

    /// Puts those headers beside the ones that are written as such.
    pub(super) fn join_headers(&mut self) -> EntryResult {
        let joining = std::mem::take(&mut self.headers);
        if joining.is_empty() {
            return Ok(());
        }
        let headers = self.out.entry("headers").or_insert_with(|| Value::Object(Map::new()));
        // What is no object is told when it is parsed.
        let Value::Object(headers) = headers else { return Ok(()) };
        let mut names: HashSet<String> =
            headers.keys().map(|name| name.to_ascii_lowercase()).collect();
        for (name, value, path, place) in joining {
            self.came.entry("headers".into()).or_insert_with(|| (path.clone(), place));
            if !names.insert(name.to_ascii_lowercase()) {
                return fault(&path, format!("`{path}` gives a header that is there twice"));
            }
            self.moved.push((joined("headers", &name), path));
            headers.insert(name, value.into());
        }
        Ok(())
    }
}

/// A text in which `$NAME`, `${NAME}` and `${ NAME }` are what they stand for, where that is known.
fn filled(text: &str, value_of: &mut dyn FnMut(&str) -> Option<String>) -> String {
    replaced(text, &mut |after| {
        let braces = after.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let (name, behind) = match braces {
            Some((name, behind)) => (name.trim(), behind),
            None => after.split_at(length_of_name(after)),
        };
        value_of(name).map(|value| (value, behind))
    })
}
