//! The flows: the functions that a value goes through, and the files that a reader opens to follow
//! it. `flows.json` lists them; each step is there, and is reached from an earlier one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::CRATES;
use crate::source::{self, Source};

const FLOWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tidy/flows.json");

/// More is no picture.
const STAGES_MAX: usize = 15;

/// `flows.json`.
pub struct Flows {
    /// By what a step may come that no code says.
    outside: Vec<String>,
    pub flows: Vec<Flow>,
}

/// One way through the code, of a value that the premise names.
pub struct Flow {
    pub name: String,
    pub premise: String,
    /// How many files its steps are in. The number only shrinks.
    pub files: usize,
    pub goal: Option<usize>,
    pub stages: Vec<Stage>,
}

/// Steps that together do one thing.
pub struct Stage {
    pub what: String,
    pub steps: Vec<Step>,
}

/// One function.
pub struct Step {
    pub file: String,
    pub function: String,
    does: String,
    /// What crosses to it, where no earlier step calls it.
    by: Option<String>,
}

impl Flows {
    pub fn read() -> Flows {
        Flows::of(&serde_json::from_str(&fs::read_to_string(FLOWS).unwrap()).unwrap())
    }

    pub fn of(value: &Value) -> Flows {
        let outside = list(value, "outside").map(|word| word.as_str().unwrap().to_string());
        let flow = |flow: &Value| Flow {
            name: text(flow, "name"),
            premise: text(flow, "premise"),
            files: number(flow, "files").expect("a flow says its number of files"),
            goal: number(flow, "goal"),
            stages: list(flow, "stages").map(stage).collect(),
        };
        Flows { outside: outside.collect(), flows: list(value, "flows").map(flow).collect() }
    }

    /// Every file that is a part of some flow.
    pub fn files(&self) -> BTreeSet<&str> {
        self.flows.iter().flat_map(Flow::steps).map(|step| step.file.as_str()).collect()
    }

    /// What of the flows the code does not say.
    fn wrong(&self, sources: &[Source]) -> Vec<String> {
        let sources: BTreeMap<_, _> =
            sources.iter().map(|file| (file.path.as_str(), file)).collect();
        self.flows.iter().flat_map(|flow| flow.wrong(&sources, &self.outside)).collect()
    }
}

impl Flow {
    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.stages.iter().flat_map(|stage| &stage.steps)
    }

    fn wrong(&self, sources: &BTreeMap<&str, &Source>, outside: &[String]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut say = |what: String| wrong.push(format!("{}: {what}", self.name));
        if self.stages.len() > STAGES_MAX {
            say(format!("{} stages where {STAGES_MAX} fit a picture", self.stages.len()));
        }
        let mut earlier: Vec<(&Source, String)> = Vec::new();
        for step in self.steps() {
            let Step { file, function, does, by } = step;
            let Some(source) = sources.get(file.as_str()) else {
                say(format!("there is no file {file}"));
                continue;
            };
            let body = body(source, function);
            if body.is_empty() {
                say(format!("{file} defines no function {function}"));
            } else if !earlier.is_empty() && !reaches(&earlier, (source, &body), step, outside) {
                let by = by.as_deref().unwrap_or("a call");
                say(format!("no earlier step reaches {function} of {file} by {by}"));
            }
            if !does.ends_with('.') {
                say(format!("what {function} does is no sentence: {does}"));
            }
            earlier.push((source, body));
        }
        let files = self.steps().map(|step| &step.file).collect::<BTreeSet<_>>().len();
        if files > self.files {
            say(format!("{files} files where {} are listed: the number only shrinks", self.files));
        } else if files < self.files {
            say(format!("{files} files are left; lower `files` from {}", self.files));
        }
        wrong
    }
}

/// Whether an earlier step calls the function, or what the step comes `by` stands on both sides: a
/// path such as `Effect::Connect` in the functions, a single word in their files.
fn reaches(
    earlier: &[(&Source, String)],
    (source, body): (&Source, &str),
    step: &Step,
    outside: &[String],
) -> bool {
    match &step.by {
        None => earlier.iter().any(|(_, earlier)| calls(earlier, &step.function)),
        Some(by) if outside.contains(by) => true,
        Some(by) if by.contains("::") => {
            has_word(body, by) && earlier.iter().any(|(_, earlier)| has_word(earlier, by))
        }
        Some(by) => {
            has_word(&source.code, by) && earlier.iter().any(|(file, _)| has_word(&file.code, by))
        }
    }
}

/// The bodies of the functions of that name outside tests.
fn body(source: &Source, function: &str) -> String {
    let code = source.code.as_str();
    let is_defined = |at: &usize| {
        let line = code[..*at].matches('\n').count();
        code[..*at].ends_with("fn ") && !source.is_test_line(line)
    };
    let found = words(code, function).filter(is_defined);
    found.filter_map(|at| block(&code[at..])).collect::<Vec<_>>().join("\n")
}

/// The block behind the head of a function, whose patterns may have braces. One that is only
/// declared has no block.
fn block(code: &str) -> Option<&str> {
    let (mut depth, mut begin) = (0_usize, None);
    for (at, byte) in code.bytes().enumerate() {
        match (byte, begin) {
            (b'(' | b'[', None) => depth += 1,
            (b')' | b']', None) => depth = depth.saturating_sub(1),
            (b';', None) if depth == 0 => return None,
            (b'{', None) if depth == 0 => (begin, depth) = (Some(at), 1),
            (b'{', Some(_)) => depth += 1,
            (b'}', Some(begin)) if depth == 1 => return Some(&code[begin..=at]),
            (b'}', Some(_)) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether the code calls the function, or passes it on by its path.
fn calls(code: &str, function: &str) -> bool {
    words(code, function).any(|at| {
        let (before, after) = (&code[..at], &code[at + function.len()..]);
        after.starts_with('(') || after.starts_with("::<") || before.ends_with("::")
    })
}

fn has_word(code: &str, word: &str) -> bool {
    words(code, word).next().is_some()
}

/// Where the word stands alone.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let found = code.match_indices(word).map(|(at, _)| at);
    found.filter(move |at| {
        let (before, after) = (&code[..*at], &code[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

fn stage(value: &Value) -> Stage {
    let step = |step: &Value| Step {
        file: text(step, "file"),
        function: text(step, "function"),
        does: text(step, "does"),
        by: step.get("by").map(|by| by.as_str().unwrap().to_string()),
    };
    Stage { what: text(value, "what"), steps: list(value, "steps").map(step).collect() }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().unwrap_or_else(|| panic!("`{name}` is a list")).iter()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("`{name}` is a text")).to_string()
}

fn number(value: &Value, name: &str) -> Option<usize> {
    value.get(name).map(|number| usize::try_from(number.as_u64().unwrap()).unwrap())
}

#[test]
fn each_step_of_a_flow_is_there_and_is_reached_from_an_earlier_one() {
    let wrong = Flows::read().wrong(&source::tracked_in(&CRATES));
    assert!(wrong.is_empty(), "{} of flows.json:\n{}", wrong.len(), wrong.join("\n"));
}

/// Planted: files for a flow from `first` to `second` of others.
fn planted_files() -> [Source; 4] {
    let first = "pub trait Way { fn first(&self); }
        impl Way for A {
            fn first(&self) { self.second(x); queue.push(Effect::Go); inner.map(deep::second) }
        }
        // third()
        struct Bell;";
    let second = "fn second<T>(X { x, .. }: X<T>) { fourth(x) }
        fn third() { match e { Effect::Go => {} } }";
    let fourth = "fn fourth() { \"fifth()\" }
        fn fifth(bell: Bell) {}";
    let sixth = "#[cfg(test)]
        mod tests { fn sixth() {} }";
    let files = [("a.rs", first), ("b.rs", second), ("c.rs", fourth), ("d.rs", sixth)];
    files.map(|(path, text)| Source::new(path, text))
}

/// Planted: that flow, with more steps: the file, the function and what it comes by.
fn planted_flow(more: &str) -> Flows {
    let more: Vec<Vec<String>> = serde_json::from_str(more).unwrap();
    let first = ["a.rs first", "b.rs second"];
    let first = first.map(|step| step.split(' ').map(str::to_string).collect());
    let step = |step: Vec<String>| {
        let mut made = json!({ "file": step[0], "function": step[1], "does": "It does." });
        if let Some(by) = step.get(2) {
            made["by"] = json!(by);
        }
        made
    };
    let steps: Vec<Value> = first.into_iter().chain(more).map(step).collect();
    let stages = json!([{ "what": "All", "steps": steps }]);
    let flow = json!({ "name": "F", "premise": "P.", "files": 3, "stages": stages });
    Flows::of(&json!({ "outside": ["the server"], "flows": [flow] }))
}

#[test]
fn a_flow_that_the_code_does_not_say_is_found() {
    let unreached = "F: no earlier step reaches";
    let rows = [
        (r#"[["c.rs", "fourth"]]"#, String::new()),
        (r#"[["c.rs", "fourth"], ["b.rs", "third", "Effect::Go"]]"#, String::new()),
        (r#"[["c.rs", "fifth", "Bell"]]"#, String::new()),
        (r#"[["c.rs", "fifth", "the server"]]"#, String::new()),
        (r#"[["c.rs", "fourth"], ["b.rs", "second"]]"#, String::new()),
        (r#"[["c.rs", "fifth"]]"#, format!("{unreached} fifth of c.rs by a call")),
        (
            r#"[["c.rs", "fourth", "Effect::Go"]]"#,
            format!("{unreached} fourth of c.rs by Effect::Go"),
        ),
        (
            r#"[["c.rs", "fourth"], ["b.rs", "third"]]"#,
            format!("{unreached} third of b.rs by a call"),
        ),
        (r#"[["c.rs", "four"]]"#, "F: c.rs defines no function four".to_string()),
        (r#"[["d.rs", "sixth", "the server"]]"#, "F: d.rs defines no function sixth".to_string()),
        (r#"[["e.rs", "first"]]"#, "F: there is no file e.rs".to_string()),
        ("[]", "F: 2 files are left; lower `files` from 3".to_string()),
        (
            r#"[["c.rs", "fourth"], ["e.rs", "first"]]"#,
            "F: there is no file e.rs\nF: 4 files where 3 are listed: the number only shrinks"
                .to_string(),
        ),
    ];
    for (more, wrong) in rows {
        let found = planted_flow(more).wrong(&planted_files());
        assert_eq!(found.join("\n"), wrong, "{more}");
    }
}
