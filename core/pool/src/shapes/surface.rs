//! The top of a schema as an object whose arguments can be seen there, wherever the schema says
//! what they are.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde_json::{Map, Value, json};

use super::left_out::LeftOut;
use super::references::{REFERRING, Targets};

/// In how many ways branches may say what a property is. In more than that they say nothing, which
/// bounds the work on a hostile schema.
const WAYS_MAX: usize = 16;

/// Branches of a schema.
const BRANCHES: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// Schemas that hold under a condition.
const CONDITIONAL: [&str; 2] = ["then", "else"];

/// The same, one for each argument that may be there.
const DEPENDENT: [&str; 2] = ["dependentSchemas", "dependencies"];

/// What becomes of branches at the top.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Branches {
    /// They stay beside the arguments that they name.
    Stay,
    /// The target refuses them.
    Go,
}

/// Puts what a reference and branches at the top say of arguments beside the schema's own, which go
/// first: what several say in several ways, as one of these. What each way through them requires is
/// required.
pub(super) fn surface(
    schema: &mut Map<String, Value>,
    branches: Branches,
    left_out: &mut Vec<LeftOut>,
) -> bool {
    let mut speaking = REFERRING.into_iter().chain(BRANCHES).chain(CONDITIONAL).chain(DEPENDENT);
    if !speaking.any(|keyword| schema.contains_key(keyword)) {
        return false;
    }
    let whole = Value::Object(schema.clone());
    let targets = Targets::of(&whole);
    let mut said = Said::default();
    let mut changed = false;
    for keyword in REFERRING {
        let Some(Value::String(reference)) = schema.shift_remove(keyword) else { continue };
        changed = true;
        let mut walked = HashSet::new();
        let mut next = targets.find(&reference).and_then(Value::as_object);
        while let Some(found) = next.filter(|found| walked.insert(std::ptr::from_ref(*found))) {
            inlined(schema, found, branches, left_out);
            said.untold.push_back((found, Force::Always));
            let reference = found.get("$ref").and_then(Value::as_str);
            next = reference.and_then(|it| targets.find(it)).and_then(Value::as_object);
        }
    }
    for keyword in BRANCHES {
        let Some(all) = whole.get(keyword).and_then(Value::as_array) else { continue };
        let force = if keyword == "allOf" { Force::Always } else { Force::Perhaps };
        said.branches(all, force, &targets);
        if force == Force::Perhaps {
            said.required.extend(required_by_each(all, &targets));
        }
        if branches == Branches::Go {
            schema.shift_remove(keyword);
            changed = true;
            left_out.push(LeftOut::new(format!("/{keyword}"), REFUSED_AT_THE_TOP));
        }
    }
    if let Some(whole) = whole.as_object() {
        said.conditions(whole, &targets);
    }
    said.read(&targets);
    let properties = put_beside(schema, said.ways);
    let required = require(schema, &said.required);
    changed || properties || required
}

/// What else a reference at the top leads to, and the schema does not say itself.
fn inlined(
    schema: &mut Map<String, Value>,
    found: &Map<String, Value>,
    branches: Branches,
    left_out: &mut Vec<LeftOut>,
) {
    for (name, value) in found.iter().filter(|(name, _)| !TOLD_APART.contains(&name.as_str())) {
        if branches == Branches::Go && BRANCHES.contains(&name.as_str()) {
            left_out.push(LeftOut::new(format!("/{name}"), REFUSED_AT_THE_TOP));
        } else {
            schema.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// Why something at the top is left out.
pub(super) const REFUSED_AT_THE_TOP: &str = "is refused at the top";

/// What of a referred schema is read by itself, or belongs to its place.
const TOLD_APART: [&str; 9] = [
    "properties",
    "required",
    "$ref",
    "$dynamicRef",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$defs",
    "definitions",
];

/// What each of several branches requires.
fn required_by_each<'a>(all: &'a [Value], targets: &Targets<'a>) -> Vec<&'a str> {
    let mut looked_at = HashSet::new();
    let found = all.iter().map(|branch| referred(branch, targets));
    let mut found = found.filter(|schema| looked_at.insert(std::ptr::from_ref(*schema)));
    let mut common: Vec<&str> = found.next().map(required).unwrap_or_default();
    for other in found {
        let other: HashSet<&str> = required(other).into_iter().collect();
        common.retain(|name| other.contains(name));
    }
    common
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A branch, or what it refers to within the whole schema.
fn referred<'a>(branch: &'a Value, targets: &Targets<'a>) -> &'a Value {
    let reference = branch.get("$ref").and_then(Value::as_str);
    reference.and_then(|reference| targets.find(reference)).unwrap_or(branch)
}

/// Whether all arguments have to fit a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Force {
    Always,
    Perhaps,
}

/// What is said of arguments.
#[derive(Default)]
struct Said<'a> {
    untold: VecDeque<(&'a Map<String, Value>, Force)>,
    ways: BTreeMap<&'a String, Vec<&'a Value>>,
    required: Vec<&'a str>,
}

impl<'a> Said<'a> {
    /// Reads what is to be read, and what that leads to.
    fn read(&mut self, targets: &Targets<'a>) {
        // Many may refer to one schema, which says the same each time.
        let mut read = HashSet::new();
        while let Some((schema, force)) = self.untold.pop_front() {
            if !read.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, property) in properties.into_iter().flatten() {
                let ways = self.ways.entry(name).or_default();
                if ways.len() <= WAYS_MAX && !ways.contains(&property) {
                    ways.push(property);
                }
            }
            if force == Force::Always {
                let names = schema.get("required").and_then(Value::as_array);
                self.required.extend(names.into_iter().flatten().filter_map(Value::as_str));
            }
            let reference = schema.get("$ref").and_then(Value::as_str);
            let found = reference.and_then(|reference| targets.find(reference));
            self.untold.extend(found.and_then(Value::as_object).map(|found| (found, force)));
            for keyword in BRANCHES {
                let Some(all) = schema.get(keyword).and_then(Value::as_array) else { continue };
                let force = if keyword == "allOf" { force } else { Force::Perhaps };
                self.branches(all, force, targets);
            }
            self.conditions(schema, targets);
        }
    }

    /// What a schema says of arguments that may be there, or not.
    fn conditions(&mut self, schema: &'a Map<String, Value>, targets: &Targets<'a>) {
        let conditional = CONDITIONAL.into_iter().filter_map(|keyword| schema.get(keyword));
        let dependent =
            DEPENDENT.into_iter().filter_map(|keyword| schema.get(keyword)?.as_object());
        for condition in conditional.chain(dependent.flat_map(Map::values)) {
            let found = referred(condition, targets).as_object();
            self.untold.extend(found.map(|found| (found, Force::Perhaps)));
        }
    }

    fn branches(&mut self, all: &'a [Value], force: Force, targets: &Targets<'a>) {
        for branch in all {
            let found = referred(branch, targets);
            self.untold.extend(found.as_object().map(|found| (found, force)));
        }
    }
}

fn put_beside(schema: &mut Map<String, Value>, said: BTreeMap<&String, Vec<&Value>>) -> bool {
    if said.is_empty() {
        return false;
    }
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else { return false };
    let before = properties.len();
    for (name, ways) in said {
        let property = match &ways[..] {
            [only] => (*only).clone(),
            several if several.len() <= WAYS_MAX => json!({ "anyOf": several }),
            _ => json!({}),
        };
        properties.entry(name.clone()).or_insert(property);
    }
    properties.len() > before
}

fn require(schema: &mut Map<String, Value>, names: &[&str]) -> bool {
    let mut known = match schema.get("required") {
        Some(Value::Array(known)) => known.clone(),
        _ => Vec::new(),
    };
    let before = known.len();
    let mut seen: HashSet<String> =
        known.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    known.extend(
        names.iter().filter(|name| seen.insert((**name).to_owned())).map(|name| (*name).into()),
    );
    let changed = known.len() > before;
    if changed {
        schema.insert("required".into(), known.into());
    }
    changed
}
