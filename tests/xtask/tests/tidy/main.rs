//! The tidy test: what the style guide asks for and a machine can see.
//!
//! Each rule reads one file and says what it finds. `planted` shows for every rule that it finds
//! what it is there for, and leaves alone what is allowed.

mod calls;
mod citations;
mod functions;
mod map;
mod messages;
mod names;
mod planted;
mod promises;
mod prose;
mod records;
mod rooms;
mod source;
mod words;

use source::Source;

/// Something that a rule has found.
#[derive(Debug, PartialEq)]
struct Finding {
    line: usize,
    what: String,
}

fn finding(line: usize, what: impl Into<String>) -> Finding {
    Finding { line, what: what.into() }
}

/// One rule: its name and what it finds in a file.
struct Rule {
    name: &'static str,
    find: fn(&Source) -> Vec<Finding>,
}

const RULES: [Rule; 20] = [
    Rule { name: "file size", find: functions::long_files },
    Rule { name: "function size", find: functions::long_functions },
    Rule { name: "module doc", find: words::missing_module_doc },
    Rule { name: "names", find: names::banned_names },
    Rule { name: "test names", find: names::prefixed_tests },
    Rule { name: "pure crate", find: calls::impure_calls },
    Rule { name: "unsafe", find: calls::misplaced_unsafe },
    Rule { name: "safety comments", find: calls::undocumented_unsafe },
    Rule { name: "unwrap", find: calls::unwraps },
    Rule { name: "unfinished code", find: calls::unfinished },
    Rule { name: "bounded reads", find: calls::unbounded_reads },
    Rule { name: "napi guard", find: calls::unguarded_napi },
    Rule { name: "export guard", find: calls::unguarded_exports },
    Rule { name: "skipped tests", find: words::skipped_tests },
    Rule { name: "messages", find: messages::weak_messages },
    Rule { name: "machine paths", find: words::machine_paths },
    Rule { name: "history", find: words::history },
    Rule { name: "prose", find: prose::hard_to_read },
    Rule { name: "turns", find: prose::hidden_subjects },
    Rule { name: "citations", find: citations::unresolved },
];

#[test]
fn the_tree_is_tidy() {
    let files = source::tracked();
    assert!(files.len() > 30, "only {} files were found", files.len());
    let mut found = Vec::new();
    for file in &files {
        for rule in &RULES {
            for finding in (rule.find)(file) {
                found.push(format!(
                    "{}:{}: {} ({})",
                    file.path, finding.line, finding.what, rule.name
                ));
            }
        }
    }
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
}
