//! The words of events and errors are those of the registry: each list is of a member that is
//! there, and no code writes a word out. The names in texts are those of the registry too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use trunkline_pool::interface::words::{Of, WORDS};
use trunkline_pool::interface::{Dialect, EVENTS, OptionKind, OptionRow, SCOPES, options};

/// Where events and errors are made.
const SOURCES: [&str; 5] =
    ["core/src", "core/pool/src", "ffi/src", "bindings/python/src", "bindings/node/src"];

/// What is handed on where an error is made, by file: a word that the registry gave somewhere else.
const HANDED_ON: [(&str, &str); 15] = [
    ("core/src/auth/fetch/routes.rs", "kind"),
    ("core/src/session/view/no_tool.rs", "reason.as_str()"),
    ("core/src/auth/fetch/mod.rs", "name"),
    ("core/src/session/call/prepared.rs", "slot.state.as_str()"),
    ("core/src/session/view/no_tool.rs", "reason"),
    ("core/src/session/lease/lease_state.rs", "reason"),
    ("core/src/config/types.rs", "reason"),
    ("core/src/transport/http/errors/network_errors.rs", "kind"),
    ("core/src/transport/http/errors/mod.rs", "missing"),
    ("core/src/auth/host_credentials.rs", "self.word()"),
    ("core/src/client/errors.rs", "which"),
    ("core/src/client/errors.rs", "limit"),
    ("core/pool/src/state/report/messages.rs", "limit"),
    ("core/pool/src/gates/gate.rs", "reason"),
    ("ffi/src/handles/callback_tracker.rs", "word"),
];

/// What a server or a handler said, and what another error has: members of that name which are no
/// words of ours.
const NO_WORDS: [(&str, &str); 1] = [("core/src/client/era/input_rounds.rs", "message")];

/// What hands words on to where an error is made: they come as constants too.
const HANDS_ON: [&str; 7] = [
    "failure::limit(",
    "limit_reached(",
    "failure::slow(",
    " slow(",
    " limit(",
    "tool_not_found(",
    "enter_thread(",
];

/// Names that texts have in backticks and that are the same in every language, beside those of
/// events: the last are of a configuration.
const SAME_EVERYWHERE: [&str; 6] =
    ["_meta", "not_sent", "client_id", "client_secret", "token_type", "env_file"];

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

/// SPEC 5.12, 16.6: what a host may match on is written in one table, from which the pages are
/// made.
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

/// The names of more than one word that stand in backticks in the texts of the code; of a path each
/// of its parts.
fn names_in_texts(code: &str) -> impl Iterator<Item = &str> {
    let is_name = |part: &&str| {
        part.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || "_.".contains(it))
    };
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let quoted = lines.flat_map(|line| line.split('`').skip(1).step_by(2)).filter(is_name);
    quoted.flat_map(|path| path.split('.')).filter(|name| name.contains('_'))
}

fn add_names(rows: &'static [OptionRow], known: &mut BTreeSet<String>) {
    for row in rows {
        known.insert(row.name.to_owned());
        if let OptionKind::Object(members) = row.kind {
            add_names(members, known);
        }
    }
}

/// SPEC 16.5: a text that a host shows names nothing that the host's language spells in another
/// way.
#[test]
fn no_text_has_a_name_that_node_does_not_know() {
    let mut known = BTreeSet::new();
    SCOPES.iter().for_each(|scope| add_names(options(*scope), &mut known));
    known.extend(EVENTS.iter().map(|row| row.name).chain(SAME_EVERYWHERE).map(str::to_owned));
    let (mut unknown, mut seen) = (Vec::new(), 0);
    // What stands in files is spelled there as anywhere, and what the reference says of options and
    // operations goes into no error.
    let is_reference =
        |name: &str| name.ends_with("_rows.rs") || name.contains("/interface/operations/");
    let is_shown = |name: &str| !name.contains("/settings/") && !is_reference(name);
    for (file, code) in sources().iter().filter(|(file, _)| is_shown(file)) {
        for name in names_in_texts(code) {
            seen += 1;
            if !known.contains(name) && Dialect::Node.path(name) == name {
                unknown.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(unknown.is_empty(), "names that Node shows in snake_case: {unknown:#?}");
    assert!(seen > 30, "{seen}: the table looks for what is not there");
}

/// SPEC 16.6: a list is of a text that its event has, and each of its words is there once, in the
/// form of all words.
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
