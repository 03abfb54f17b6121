//! Texts that somebody means ill with, or that a crash left behind.

use trunkline_pool::ErrorCode;
use trunkline_pool::settings::{ReadOptions, Source, read};
use trunkline_pool::text::is_hidden;

use crate::golden::files;

/// Texts of each golden file that are tried.
const MUTANTS: u64 = 300;

/// A stream of numbers that depends on its seed alone.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit.max(1) as u64) as usize
    }
}

/// What is put into texts.
const PIECES: &[&str] = &[
    "\u{0}",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\n",
    "\r",
    "\t",
    "\\",
    "\\ud800",
    "\\u0000",
    "#",
    "//",
    "/*",
    "- ",
    "? ",
    "! ",
    "&a ",
    "*a",
    "<<: ",
    "--- ",
    "...",
    "%",
    "|",
    ">",
    "=",
    "[[x]]",
    "[a.b]",
    "'''",
    "\"\"\"",
    "null",
    "true",
    "-1",
    "1e999",
    "0x",
    "9999999999999999999999",
    "-0",
    ".5",
    "__proto__",
    "\"constructor\": 1,",
    "\"command\": \"x\",",
    "\"COMMAND\": \"x\",",
    "\"mcpServers\": {},",
    "${",
    "$",
    "${{",
    "{env:",
    "é漢🦀",
];

pub(crate) fn mutant(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(characters.len() + 1);
        let end = (at + random.below(40)).min(characters.len());
        match random.below(5) {
            0 => drop(characters.drain(at..end)),
            1 => {
                let copy: Vec<char> = characters[at..end].to_vec();
                let to = random.below(characters.len() + 1);
                characters.splice(to..to, copy);
            }
            2 => characters.truncate(at.max(1)),
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                characters.splice(at..at, piece.chars());
            }
        }
    }
    characters.into_iter().collect()
}

fn is_telling(error: &trunkline_pool::Error, name: &str, text: &str) {
    let number = |member: &str| error.detail().get(member).and_then(|value| value.as_u64());
    let lines = text.split(['\n', '\r']).count() as u64;
    assert_eq!(error.code(), ErrorCode::InvalidConfig);
    assert_eq!(error.detail().get("source").and_then(|source| source.as_str()), Some(name));
    assert!(number("line").is_some_and(|line| (1..=lines + 1).contains(&line)), "{error}: {text}");
    assert!(number("column").is_some_and(|column| column >= 1), "{error}");
    assert!(error.detail().contains_key("path"));
    assert!(!error.message().chars().any(is_hidden), "{error}");
    assert!(!error.message().starts_with(char::is_uppercase), "{error}");
}

/// What must hold of any text at all.
pub(crate) fn judge(text: &str, name: &str) -> trunkline_pool::Result<Source> {
    let options = ReadOptions { workspace: Some("/srv/project".into()), ..ReadOptions::default() };
    let read_once = read(text, name, &options);
    // One verdict, whatever a hasher makes of it.
    assert_eq!(format!("{read_once:?}"), format!("{:?}", read(text, name, &options)));
    match &read_once {
        Err(error) => is_telling(error, name, text),
        Ok(source) => {
            for server in &source.servers {
                match &server.template {
                    Err(error) => is_telling(error, name, text),
                    Ok(template) => {
                        assert!(!server.name.chars().any(is_hidden));
                        // Nothing that a file says makes its tools trusted.
                        assert!(!template.unexpanded().trust);
                    }
                }
            }
        }
    }
    read_once
}

/// S-15, SPEC 10.7, 10.9, 16.2: whatever is done to a file, reading it gives one verdict that names
/// the place, and no panic.
#[test]
fn mutated_files_are_read_or_refused_in_one_way() {
    let mut refused = 0;
    for (number, (name, text)) in files().iter().enumerate() {
        for seed in 0..MUTANTS {
            let mut random = Random(number as u64 * MUTANTS + seed);
            let read = judge(&mutant(text, &mut random), name);
            refused += usize::from(read.is_err());
        }
    }
    assert!(refused > 1_000, "only {refused} were refused: the mutants are too tame");
}

/// S-48: no error of a file that was tampered with shows a value of it.
#[test]
fn errors_show_no_values() {
    let canary = "canary.0123456789";
    for (number, (name, text)) in files().iter().enumerate() {
        // Every text that follows a colon is a value, and all but names and words may be a secret.
        let mut text = text.replace("\": \"", &format!("\": \"{canary}"));
        for name in ["name", "type", "transport", "transportType", "protocol"] {
            text = text.replace(&format!("\"{name}\": \"{canary}"), &format!("\"{name}\": \""));
        }
        let text = text.replace("= \"", &format!("= \"{canary}"));
        for seed in 0..100 {
            let mutant = mutant(&text, &mut Random(number as u64 * 1_000 + seed));
            let read = read(&mutant, name, &ReadOptions::default());
            let errors: Vec<String> = match &read {
                Err(error) => vec![error.to_string()],
                Ok(source) => {
                    let errors =
                        source.servers.iter().filter_map(|one| one.template.as_ref().err());
                    errors.map(|error| format!("{error} {:?}", error.detail())).collect()
                }
            };
            for error in errors {
                assert!(!error.contains(canary), "{name}: {error}");
            }
        }
    }
}

/// S-15: nesting is bounded in every syntax, at the server that has it as long as the parser gets
/// there.
#[test]
fn deep_nesting_is_refused_where_it_is() {
    let json = |depth: usize| {
        format!(
            "{{\"mcpServers\": {{\"a\": {{\"command\": \"x\", \"deep\": {}{}}}, \"b\": {{\"command\": \"x\"}}}}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    let verdicts = |text: &str, name: &str| {
        let source = judge(text, name).ok()?;
        Some(source.servers.iter().map(|one| one.template.is_ok()).collect::<Vec<_>>())
    };
    assert_eq!(verdicts(&json(61), "x.json"), Some(vec![true, true]));
    assert_eq!(verdicts(&json(62), "x.json"), Some(vec![false, true]));
    assert_eq!(verdicts(&json(100), "x.json"), Some(vec![false, true]));
    for depth in [1_000, 100_000, 1_000_000] {
        assert_eq!(verdicts(&json(depth), "x.json"), None);
        assert_eq!(verdicts(&json(depth), "x.yaml"), None);
        let toml = format!(
            "[mcp_servers.a]\ncommand = 'x'\ndeep = {}{}",
            "[".repeat(depth),
            "]".repeat(depth)
        );
        assert_eq!(verdicts(&toml, "x.toml"), None);
        let dotted = format!("[mcp_servers.a]\ncommand = 'x'\n{}z = 1", "d.".repeat(depth));
        assert_eq!(verdicts(&dotted, "x.toml"), None);
        let indented =
            format!("mcpServers:\n- name: a\n  command: x\n  deep: {}", "- ".repeat(depth));
        assert_eq!(verdicts(&indented, "x.yaml"), None);
    }
}

/// S-15, I-28: what is nested in parts, each as deep as a parser allows, is as deep as all of them
/// together. It is refused, and needs no stack that a small thread does not have.
#[test]
fn nesting_in_parts_counts_as_a_whole() {
    let nested = |inside: &str| format!("{}{inside}{}", "[".repeat(126), "]".repeat(126));
    let mut yaml = format!("a1: &a1 {}\n", nested("x"));
    for level in 2..=127 {
        yaml.push_str(&format!("a{level}: &a{level} {}\n", nested(&format!("*a{}", level - 1))));
    }
    let toml = |key: &str, inside: &str| {
        let table = (0..79).fold(inside.to_owned(), |inside, _| format!("{{{key} = {inside}}}"));
        format!("[mcp_servers.a]\ncommand = 'x'\nx = {table}")
    };
    let key = vec!["a"; 80].join(".");
    // What is no TOML has a tree too, until the parser is done.
    let broken = toml(&format!("{key} ,"), "1");
    let tables = |header: &str| format!("{header}\nx = {}1{}", "{a = ".repeat(70), "}".repeat(70));
    let [header, list] = ["[", "[["].map(|open| {
        let close = open.replace('[', "]");
        tables(&format!("{open}mcp_servers.{}{close}", vec!["a"; 70].join(".")))
    });
    let last = format!("[mcp_servers.a]\nx = {}{key} = 1{}", "{a = ".repeat(70), "}".repeat(70));
    let texts = [
        ("x.yaml", yaml),
        ("x.toml", toml(&key, "1")),
        ("x.toml", broken),
        ("x.toml", header),
        ("x.toml", list),
        ("x.toml", last),
    ];
    for (name, text) in texts {
        let small = std::thread::Builder::new().stack_size(512 << 10);
        let reading = small.spawn(move || judge(&text, name).map(|_| ()));
        let error = reading.unwrap().join().unwrap().unwrap_err();
        assert!(error.message().contains("nested too deep"), "{error}");
    }
    let brackets = "{[.".repeat(1_000);
    let plain = format!(
        "[mcp_servers.a]\ncommand = 'x'\nx = [\n'{brackets}', \"\\\"{brackets}\", # {brackets}\n]\ny = 1.5"
    );
    assert!(judge(&plain, "x.toml").unwrap().servers[0].template.is_ok());
}

/// S-14: names that other languages trip over are names like any other.
#[test]
fn reserved_names_survive() {
    for name in [
        "__proto__",
        "constructor",
        "prototype",
        "toString",
        "hasOwnProperty",
        "valueOf",
        "__defineGetter__",
        "isPrototypeOf",
    ] {
        let json = format!(
            "{{\"mcpServers\": {{\"{name}\": {{\"command\": \"x\", \"env\": {{\"{name}\": \"v\"}}, \"{name}\": 1}}}}}}"
        );
        let toml =
            format!("[mcp_servers.{name}]\ncommand = 'x'\nenv = {{ {name} = 'v' }}\n{name} = 1");
        let yaml = format!(
            "mcpServers:\n- name: {name}\n  command: x\n  env: {{ {name}: v }}\n  {name}: 1"
        );
        for (file, text) in [("x.json", json), ("x.toml", toml), ("x.yaml", yaml)] {
            let source = judge(&text, file).unwrap();
            assert_eq!(source.servers[0].name, name, "{file}");
            let configuration = source.servers[0].template.as_ref().unwrap().configuration();
            assert_eq!(configuration["env"][name], "v", "{file}");
            assert_eq!(configuration[name], 1, "{file}");
        }
    }
}
