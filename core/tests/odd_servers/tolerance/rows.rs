//! The rows of the tables, and what has to hold for each of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::tolerance::server::TRANSPORTS;

const GROUPS: [&str; 5] = ["members", "types", "framing", "statuses", "oauth"];
const COSTS: [&str; 7] = ["member", "item", "tool", "list", "call", "connection", "connect"];

#[derive(Clone)]
pub struct Row(Value);

pub fn understood() -> Vec<Row> {
    read(include_str!("understood.json"))
}

pub fn refused() -> Vec<Row> {
    read(include_str!("refused.json"))
}

fn read(text: &str) -> Vec<Row> {
    serde_json::from_str::<Vec<Value>>(text).unwrap().into_iter().map(Row).collect()
}

impl Row {
    pub fn value(&self) -> &Value {
        &self.0
    }

    pub fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    pub fn is_sign_in(&self) -> bool {
        self.0["group"] == "oauth"
    }

    pub fn era(&self) -> &str {
        self.0["era"].as_str().unwrap_or("legacy")
    }

    /// What each connection of its era begins with.
    pub fn opening(&self) -> &'static str {
        if self.era() == "modern" { "server/discover" } else { "initialize" }
    }

    /// The transports that it is met over.
    pub fn transports(&self) -> impl Iterator<Item = &'static str> {
        let row = self.0.clone();
        TRANSPORTS.into_iter().map(|(name, _)| name).filter(move |name| {
            match (&row["on"], &row["raw"]) {
                _ if row["group"] == "oauth" => *name == "http",
                (Value::Array(on), _) => on.iter().any(|it| it == name),
                // That transport is older than the era.
                _ if row["era"] == "modern" && *name == "sse" => false,
                (_, Value::Object(raw)) => raw.contains_key(*name),
                _ => true,
            }
        })
    }

    /// The options of its pool: what comes back comes back at once.
    pub fn pool_options(&self) -> Value {
        let delays = json!([1, 1, 1]);
        let mut options = json!({ "connect_timeout_ms": 60_000, "reconnect": { "delays_ms": { "local": delays, "remote": delays } } });
        for (name, option) in self.0["pool"].as_object().into_iter().flatten() {
            options[name] = option.clone();
        }
        options
    }

    /// What is expected, with what is ordinary and not said.
    pub fn expected(&self) -> Value {
        let text = |text: &str| json!({ "result": { "content": [{ "text": text }] } });
        let lost = u32::from(self.0["costs"] == "connection");
        let mut expected = if self.0["expects"].get("connect").is_some() {
            json!({ "met": true, "apart": text("apart") })
        } else if self.is_sign_in() {
            json!({ "met": true, "came": "signed in", "apart": text("apart") })
        } else {
            json!({
                "met": true, "tools": ["any", "plain"], "prompts": ["greet"], "resources": ["file:///a"],
                "templates": ["file:///{b}"], "call": text("any"), "next": text("plain"),
                "generation": 1 + lost, "connections": 1 + lost,
            })
        };
        for (name, pattern) in self.0["expects"].as_object().into_iter().flatten() {
            expected[name] = pattern.clone();
        }
        expected
    }
}

/// The same pattern with one thing changed, once for each thing in it.
pub fn spoiled(pattern: &Value) -> Vec<Value> {
    let in_member = |name: &String, member: &Value| {
        let with = |other| {
            let mut changed = pattern.clone();
            changed[name] = other;
            changed
        };
        spoiled(member).into_iter().map(with).collect::<Vec<_>>()
    };
    match pattern {
        Value::Object(members) if members.contains_key("$absent") => vec![json!({ "$any": true })],
        Value::Object(members) if members.contains_key("$any") => vec![json!({ "$absent": true })],
        Value::Object(members) if members.contains_key("$not") => vec![members["$not"].clone()],
        Value::Object(members) => {
            members.iter().flat_map(|(name, member)| in_member(name, member)).collect()
        }
        Value::Array(items) => {
            let mut longer = items.clone();
            longer.push("more".into());
            let others = items
                .iter()
                .enumerate()
                .flat_map(|(at, item)| spoiled(item).into_iter().map(move |other| (at, other)));
            let others = others.map(|(at, other)| {
                let mut changed = items.clone();
                changed[at] = other;
                Value::Array(changed)
            });
            others.chain([Value::Array(longer)]).collect()
        }
        Value::String(text) => vec![format!("{text}~").into()],
        Value::Number(number) => vec![json!(number.as_f64().unwrap() + 1.0)],
        Value::Bool(is) => vec![json!(!is)],
        Value::Null => vec![json!("null")],
    }
}

/// Which of a row's expectations show that it costs what it says.
fn shows(row: &Row) -> bool {
    let expects = &row.0["expects"];
    let has = |names: &[&str]| names.iter().any(|name| expects.get(*name).is_some());
    match row.0["costs"].as_str().unwrap() {
        "call" => expects["call"].get("error").is_some() || expects["came"]["at"] == "call",
        "connection" => expects["call"].get("error").is_some(),
        "connect" => has(&["connect"]) || expects["came"].is_object(),
        "tool" => has(&["tools"]),
        "item" | "list" => has(&["tools", "prompts", "resources", "templates"]),
        _ => has(&["tool", "call", "raw", "status", "events", "tools", "came"]),
    }
}

fn check(rows: &[Row], least: usize) {
    assert!(rows.len() >= least, "{} rows", rows.len());
    let mut names = BTreeSet::new();
    for row in rows {
        let name = row.name();
        assert!(names.insert(name.to_owned()), "{name} is there twice");
        assert!(GROUPS.iter().any(|group| row.0["group"] == *group), "{name} has a group");
        let cited = row.0["spec"].as_array().filter(|cited| !cited.is_empty());
        let is_cited = |it: &Value| it.as_str().is_some_and(|it| it.contains(['.', '-']));
        assert!(cited.is_some_and(|cited| cited.iter().all(is_cited)), "{name} cites SPEC");
        assert!(row.transports().count() > 0, "{name} has a transport");
        let named = row.0.get("ways").is_some() == row.is_sign_in()
            && row.0.get("at").is_some() != row.is_sign_in();
        assert!(named, "{name} says what is sent, and when");
    }
}

/// Every line of a table is one row, so that the next is another line.
#[test]
fn there_are_enough_rows_and_each_says_what_it_is() {
    let (understood, refused) = (understood(), refused());
    check(&understood, 120);
    check(&refused, 80);
    for row in &refused {
        assert!(COSTS.iter().any(|cost| row.0["costs"] == *cost), "{} costs something", row.name());
        assert!(shows(row), "{} shows what it costs", row.name());
    }
    for rows in [&understood, &refused] {
        let mut groups = BTreeMap::new();
        rows.iter().for_each(|row| *groups.entry(row.0["group"].to_string()).or_insert(0) += 1);
        println!("{} rows: {groups:?}", rows.len());
        assert!(
            groups.len() == GROUPS.len() && groups.values().all(|rows| *rows >= 15),
            "{groups:?}"
        );
    }
    for (text, rows) in
        [(include_str!("understood.json"), &understood), (include_str!("refused.json"), &refused)]
    {
        assert_eq!(text.lines().filter(|line| line.starts_with("  {")).count(), rows.len());
    }
}

/// A changed expectation is another one: what holds for a row cannot hold for that as well.
#[test]
fn every_expectation_of_a_row_can_be_changed() {
    for row in understood().iter().chain(&refused()) {
        let expected = row.expected();
        let leaves = spoiled(&expected);
        assert!(leaves.iter().all(|other| *other != expected), "{}", row.name());
        for (name, pattern) in expected.as_object().unwrap() {
            assert!(!spoiled(pattern).is_empty(), "{}: {name} expects nothing", row.name());
        }
    }
}
