//! Rules that hold for whatever text.

use serde_json::json;

use super::*;
use crate::base::random::Random;
use crate::config::Transport;

const PIECES: &[&str] = &[
    "$",
    "$$",
    "{",
    "}",
    "${",
    "${A}",
    "$A",
    "$B",
    "${B}",
    "${env:C}",
    "${A:-x}",
    "${NOPE:-y}",
    "${EMPTY:-",
    ":-",
    ":",
    "env:",
    "${input:i}",
    "input:",
    "secret:",
    "${secret:S}",
    "cmd:",
    "${cmd: A}",
    "!",
    "A",
    "_",
    "1",
    " ",
    "'",
    "\"",
    "\\",
    "ü",
    "漢",
    "\u{202e}",
    "\n",
    "workspaceFolder",
    "${workspaceFolder}",
    "${userHome}",
];

/// A host whose values are given.
struct Given(BTreeMap<&'static str, String>);

impl VariableLookup for Given {
    fn env(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn workspace_folder(&self) -> Option<String> {
        self.env("W")
    }

    fn user_home(&self) -> Option<String> {
        self.env("H")
    }
}

const NAMES: [&str; 7] = ["A", "B", "C", "W", "H", "i", "S"];

fn expanded(text: &str, values: &BTreeMap<&'static str, String>) -> Result<String> {
    let answers = Answers {
        inputs: [("i".to_owned(), values["i"].clone())].into(),
        secrets: [("S".to_owned(), values["S"].clone())].into(),
        ..Answers::default()
    };
    let template = template(&json!({ "command": "x", "env": { "V": text } }));
    let spec = expand(&template, &Given(values.clone()), Commands::Refused, &answers)?;
    let Transport::Stdio(stdio) = spec.transport else { panic!("it has a command") };
    Ok(stdio.env["V"].clone())
}

fn text(random: &mut Random) -> String {
    (0..random.below(8)).map(|_| *random.pick(PIECES)).collect()
}

/// SPEC 10.5, S-07: a text becomes the same whether a value is put in its place or stands there
/// from the start. So no value is read again.
#[test]
fn expansion_is_one_pass_over_the_text_alone() {
    let mut succeeded = 0;
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let written = text(&mut random);
        let values: BTreeMap<&str, String> =
            NAMES.map(|name| (name, format!("{}{name}", text(&mut random)))).into();
        let marks: BTreeMap<&str, String> =
            NAMES.map(|name| (name, format!("\u{1}{name}\u{2}"))).into();
        let marked = expanded(&written, &marks);
        let direct = expanded(&written, &values);
        let Ok(marked) = marked else {
            assert_eq!(direct.unwrap_err(), marked.unwrap_err(), "seed {seed}: {written:?}");
            continue;
        };
        let mut parts = marked.split('\u{1}');
        let mut expected = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('\u{2}').unwrap();
            expected.push_str(&values[name]);
            expected.push_str(rest);
        }
        assert_eq!(direct.unwrap(), expected, "seed {seed}: {written:?}");
        succeeded += 1;
    }
    assert!(succeeded > 1000, "only {succeeded} texts could be read");
}

/// SPEC 10.5: a text without a dollar sign is itself, and any text is itself once its dollar signs
/// are doubled.
#[test]
fn text_without_variables_is_unchanged() {
    let values: BTreeMap<&str, String> = NAMES.map(|name| (name, "value".to_owned())).into();
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let written = text(&mut random);
        let (plain, doubled) = (written.replace('$', ""), written.replace('$', "$$"));
        assert_eq!(expanded(&plain, &values).unwrap(), plain, "seed {seed}");
        assert_eq!(expanded(&doubled, &values).unwrap(), written, "seed {seed}");
    }
}

/// Texts of a mebibyte are read in one pass, whatever they are made of: in any other way this test
/// would take hours.
#[test]
fn long_texts_are_read_once() {
    let values: BTreeMap<&str, String> = NAMES.map(|name| (name, "v".to_owned())).into();
    for piece in ["$", "${", "${A}", "$A", "${A:-", "${A:-{", "${input:", "${cmd:'", "$A}"] {
        let written = piece.repeat((1 << 20) / piece.len());
        let nested = format!("{written}{}", "}".repeat(1 << 19));
        for text in [written, nested] {
            let template = template(&json!({ "command": "x", "args": [text] }));
            let host = Given(values.clone());
            let looked_up = look_up(&template, &host, Commands::Asked).is_ok();
            let expanded = expand(&template, &host, Commands::Asked, &Answers::default()).is_ok();
            assert!(looked_up || !expanded, "{piece}");
        }
    }
}
