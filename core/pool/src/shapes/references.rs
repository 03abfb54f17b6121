//! References within a schema: each that leads somewhere before a schema is fitted leads there
//! afterwards.
//!
//! 1. A reference to the whole document (`#`), to a place in it (`#/$defs/A`, percent-encoded or
//!    not) or to an anchor (`#node`) counts. So do those that begin with the document's own `$id`.
//! 2. What a reference leads to, and was taken out or renamed, is put beside the definitions under
//!    a name of its own.
//! 3. A part of the schema with an `$id` of its own is a document of its own: its references stay.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};

use super::keywords::{below, each_inner, inner};
use super::left_out::LeftOut;

/// How many parts are put beside the definitions for one tool. References beyond that are taken
/// out, which bounds what a hostile schema can grow to.
const MOVED_MAX: usize = 64;

/// The keywords that refer.
pub(super) const REFERRING: [&str; 2] = ["$ref", "$dynamicRef"];

/// What is in a schema that references can lead to.
pub(super) struct Targets<'a> {
    whole: &'a Value,
    id: Option<&'a str>,
    anchors: HashMap<&'a str, &'a Value>,
    documents: Vec<&'a str>,
}

impl<'a> Targets<'a> {
    pub(super) fn of(whole: &'a Value) -> Targets<'a> {
        let id = whole.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
        let id = id.filter(|id| !id.is_empty());
        let mut targets = Targets { whole, id, anchors: HashMap::new(), documents: Vec::new() };
        targets.walk(whole);
        targets
    }

    fn walk(&mut self, schema: &'a Value) {
        let Value::Object(members) = schema else { return };
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        for name in ["$anchor", "$dynamicAnchor"] {
            if let Some(anchor) = text(name) {
                self.anchors.entry(anchor).or_insert(schema);
            }
        }
        for id in ["$id", "id"].into_iter().filter_map(text) {
            match id.strip_prefix('#') {
                Some(anchor) => drop(self.anchors.entry(anchor).or_insert(schema)),
                None if !std::ptr::eq(schema, self.whole) => self.documents.push(id),
                None => {}
            }
        }
        inner(members).for_each(|inner| self.walk(inner));
    }

    /// What is behind the `#` of a reference within this document.
    fn fragment<'r>(&self, reference: &'r str) -> Option<&'r str> {
        let own = |id: &str| reference.strip_prefix(id).filter(|rest| rest.starts_with('#'));
        if self.id == Some(reference) {
            return Some("");
        }
        let local = Some(reference).filter(|reference| reference.starts_with('#'));
        local.or_else(|| self.id.and_then(own)).map(|found| &found[1..])
    }

    /// The schema that a reference leads to.
    pub(super) fn find(&self, reference: &str) -> Option<&'a Value> {
        let fragment = decoded(self.fragment(reference)?);
        let found = match &*fragment {
            place if place.is_empty() || place.starts_with('/') => self.whole.pointer(place),
            anchor => self.anchors.get(anchor).copied(),
        };
        found.filter(|found| found.is_object() || found.is_boolean())
    }

    /// Whether it leads to a document that stands within this one.
    fn is_of_another(&self, reference: &str) -> bool {
        let document = reference.split('#').next().unwrap_or_default();
        let is_it = |id: &&str| {
            let id = id.trim_end_matches('#');
            id == document || id.ends_with(&format!("/{document}"))
        };
        !document.is_empty() && self.documents.iter().any(is_it)
    }
}

/// Takes out the references that lead nowhere: a request with one of them is refused, with all its
/// tools.
pub(super) fn without_dangling(
    schema: &mut Map<String, Value>,
    left_out: &mut Vec<LeftOut>,
) -> bool {
    let whole = Value::Object(schema.clone());
    let targets = Targets::of(&whole);
    let mut changed = false;
    each_reference(schema, "", true, &mut |path, reference| {
        if targets.find(reference).is_some() || targets.is_of_another(reference) {
            return Reference::Stays;
        }
        changed = true;
        left_out.push(LeftOut::new(path.to_owned(), "refers to what is not in the schema"));
        Reference::Goes
    });
    changed
}

/// What becomes of a reference.
enum Reference {
    Stays,
    Goes,
    LeadsTo(String),
}

/// Goes through the references of a schema and of what is in it.
fn each_reference(
    schema: &mut Map<String, Value>,
    path: &str,
    is_document: bool,
    judge: &mut dyn FnMut(&str, &str) -> Reference,
) {
    let id = schema.get("$id").and_then(Value::as_str);
    if !is_document && id.is_some_and(|id| !id.starts_with('#')) {
        return;
    }
    for keyword in REFERRING {
        let Some(Value::String(reference)) = schema.get(keyword) else { continue };
        match judge(&below(path, keyword), reference) {
            Reference::Stays => {}
            Reference::Goes => drop(schema.shift_remove(keyword)),
            Reference::LeadsTo(place) => {
                // In its place, so that nothing else moves.
                if let Some(reference) = schema.get_mut(keyword) {
                    *reference = place.into();
                }
            }
        }
    }
    each_inner(schema, path, &mut |path, inner| {
        if let Value::Object(inner) = inner {
            each_reference(inner, path, false, judge);
        }
    });
}

/// Lets what led somewhere in `whole` lead there in `schema`, which was made of it. `is_other` says
/// that the schema as a whole takes other arguments than it did.
pub(super) fn kept(
    schema: &mut Map<String, Value>,
    whole: &Value,
    is_other: bool,
    left_out: &mut Vec<LeftOut>,
) -> bool {
    let fitted = Value::Object(schema.clone());
    let mut moving = Moving {
        before: Targets::of(whole),
        after: Targets::of(&fitted),
        is_other,
        names: HashMap::new(),
        unread: VecDeque::new(),
    };
    let mut changed = false;
    each_reference(schema, "", true, &mut |path, reference| {
        let became = moving.judge(path, reference, left_out);
        changed |= !matches!(became, Reference::Stays);
        became
    });
    let mut definitions = Map::new();
    while let Some((name, found)) = moving.unread.pop_front() {
        let mut part = found.clone();
        if let Value::Object(members) = &mut part {
            if std::ptr::eq(found, whole) {
                // It is no document of its own, and its definitions stand beside it.
                for keyword in ["$id", "$schema", "$defs", "definitions"] {
                    members.shift_remove(keyword);
                }
            }
            let path = format!("/$defs/{name}");
            each_reference(members, &path, true, &mut |path, reference| {
                moving.judge(path, reference, left_out)
            });
        }
        definitions.insert(name, part);
    }
    if let Value::Object(by_name) = schema.entry("$defs").or_insert_with(|| json!({})) {
        by_name.extend(definitions);
        if by_name.is_empty() && fitted.get("$defs").is_none() {
            schema.shift_remove("$defs");
        }
    }
    changed
}

/// What is being put beside the definitions.
struct Moving<'a> {
    before: Targets<'a>,
    after: Targets<'a>,
    is_other: bool,
    /// The name of each part, by where it stands.
    names: HashMap<*const Value, String>,
    /// Parts whose own references were not looked at yet.
    unread: VecDeque<(String, &'a Value)>,
}

impl<'a> Moving<'a> {
    fn judge(&mut self, path: &str, reference: &str, left_out: &mut Vec<LeftOut>) -> Reference {
        let Some(found) = self.before.find(reference) else { return Reference::Stays };
        let is_changed = self.is_other && std::ptr::eq(found, self.before.whole);
        if !is_changed && self.after.find(reference).is_some() {
            return Reference::Stays;
        }
        if let Some(name) = self.names.get(&std::ptr::from_ref(found)) {
            return Reference::LeadsTo(format!("#/$defs/{name}"));
        }
        if self.names.len() == MOVED_MAX {
            left_out.push(LeftOut::new(path.to_owned(), "is one reference too many"));
            return Reference::Goes;
        }
        let definitions = self.before.whole.get("$defs");
        let is_free = |name: &String| {
            let is_known = definitions.is_some_and(|by_name| by_name.get(name).is_some());
            !is_known && !self.names.values().any(|other| other == name)
        };
        let mut names = (1..).map(|number| format!("kept_{number}"));
        let name = names.find(is_free).expect("a schema has an end");
        self.names.insert(std::ptr::from_ref(found), name.clone());
        self.unread.push_back((name.clone(), found));
        Reference::LeadsTo(format!("#/$defs/{name}"))
    }
}

/// A fragment without percent-encoding; what is badly encoded stays as it is.
fn decoded(fragment: &str) -> String {
    let mut out = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = match (first, after) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        out.push(digits.unwrap_or(*first));
        rest = if digits.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(out).unwrap_or_else(|_| fragment.to_owned())
}
