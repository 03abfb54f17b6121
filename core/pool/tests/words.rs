//! The words of events and errors are those of the registry: each list is of a member that is there, and no code writes a word out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use trunkline_pool::interface::words::{Of, WORDS};

/// Where events and errors are made.
const SOURCES: [&str; 5] =
    ["core/src", "core/pool/src", "ffi/src", "bindings/python/src", "bindings/node/src"];

/// What is handed on where an error is made, by file: a word that the registry gave somewhere else.
const HANDED_ON: [(&str, &str); 13] = [
    ("core/src/auth/fetch.rs", "name"),
    ("core/src/api/call.rs", "slot.state.as_str()"),
    ("core/src/api/call.rs", "reason"),
    ("core/src/api/no_tool.rs", "reason"),
    ("core/src/api/held.rs", "reason"),
    ("core/src/api/sources/running.rs", "reason"),
    ("core/src/transport/http/network.rs", "kind"),
    ("core/src/transport/http/failure.rs", "missing"),
    ("core/src/auth/source.rs", "self.word()"),
    ("core/src/client/failure.rs", "which"),
    ("core/src/client/failure.rs", "limit"),
    ("core/pool/src/state/effects.rs", "limit"),
    ("core/pool/src/gates/gate.rs", "reason"),
];

/// What a server or a handler said, and what another error has: members of that name which are no words of ours.
const NO_WORDS: [(&str, &str); 1] = [("core/src/client/era/rounds.rs", "message")];

/// What hands words on to where an error is made: they come as constants too.
const HANDS_ON: [&str; 6] =
    ["failure::limit(", "limit_reached(", "failure::slow(", " slow(", " limit(", "tool_not_found("];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources, by their paths from the root, each without its tests.
fn sources() -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match path.is_dir() {
                true => collect(&path, found),
                false => found.push(path),
            }
        }
    }
    let mut paths = Vec::new();
    SOURCES.iter().for_each(|folder| collect(&root().join(folder), &mut paths));
    let named = paths.into_iter().filter_map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_str()?.to_owned();
        let is_source = name.ends_with(".rs") && !name.contains("test");
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
        is_source.then_some((name, code))
    });
    named.collect()
}

/// What stands after each `call` in the text, up to the end of its arguments.
fn arguments<'a>(text: &'a str, call: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(call).map(move |(place, _)| {
        let rest = &text[place + call.len()..];
        let mut depth = 0_i32;
        let end = rest.find(|character| {
            depth += i32::from(character == '(') - i32::from(character == ')');
            depth < 0
        });
        rest[..end.unwrap_or(rest.len())].trim().trim_end_matches(',').trim_end()
    })
}

fn is_constant(argument: &str) -> bool {
    let last = argument.rsplit("::").next().unwrap_or_default();
    !last.is_empty()
        && last.chars().all(|character| character.is_ascii_uppercase() || character == '_')
}

/// SPEC 5.12, 16.6: what a host may match on is written in one table, from which the pages are made.
#[test]
fn no_error_or_warning_has_a_word_that_is_not_in_the_table() {
    let members: BTreeSet<&str> = WORDS
        .iter()
        .filter(|list| matches!(list.of, Of::Error(_)))
        .map(|list| list.member)
        .collect();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (name, code) in sources() {
        for member in &members {
            for said in arguments(&code, &format!(".with_detail(\"{member}\", ")) {
                let known = [&HANDED_ON[..], &NO_WORDS].concat().contains(&(name.as_str(), said));
                seen += 1;
                if !is_constant(said) && !known {
                    wrong.push(format!("{name}: {member}: {said}"));
                }
            }
        }
        if name.contains("/interface/") {
            continue;
        }
        let codes = code.match_indices("(\"code\", \"").map(|(place, _)| &code[place..place + 40]);
        wrong.extend(codes.map(|said| format!("{name}: {said}")));
        for call in HANDS_ON {
            let literal = arguments(&code, call)
                .filter(|said| said.contains(['"']) && !said.contains("format!"));
            wrong.extend(literal.map(|said| format!("{name}: {call}{said}")));
        }
    }
    assert!(wrong.is_empty(), "words that the registry does not have: {wrong:#?}");
    assert!(seen > 40, "{seen}: the table looks for what is not there");
}

/// SPEC 16.6: a list is of a text that its event has, and each of its words is there once, in the form of all words.
#[test]
fn each_list_is_of_a_member_that_is_there() {
    for list in WORDS {
        if let Of::Event(kind) = list.of {
            let mut fields = kind.row().payload.iter();
            let field = fields.find(|field| field.name == list.member);
            assert_eq!(field.map(|field| field.kind), Some("string"), "{list:?}");
        }
        let words: BTreeSet<&str> = list.words.iter().map(|(word, _)| *word).collect();
        assert_eq!(words.len(), list.words.len(), "{list:?}");
        for (word, meaning) in list.words {
            assert!(word.chars().all(|it| it.is_ascii_lowercase() || it == '_'), "{word}");
            assert!(!meaning.is_empty() && !meaning.ends_with('.'), "{word}: {meaning}");
        }
    }
    let places: BTreeSet<String> =
        WORDS.iter().map(|list| format!("{:?} {}", list.of, list.member)).collect();
    assert_eq!(places.len(), WORDS.len());
}
