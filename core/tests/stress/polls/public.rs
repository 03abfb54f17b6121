//! No public function that waits is left out.

use std::collections::BTreeSet;
use std::path::Path;

/// A future of each public function of the crate that gives one is dropped at every poll, by a test
/// here that names it.
#[test]
fn every_public_future_is_dropped_at_every_poll() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let given = functions(&sources(&root.join("src")));
    assert!(given.len() > 25, "{given:?}");
    let dropped = dropped(&sources(&root.join("tests/stress/polls")));
    assert_eq!(given, dropped);
}

/// The texts of a folder and what is in it, without tests.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            texts.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
    texts
}

/// The public functions that give futures, each with its type.
fn functions(texts: &[String]) -> BTreeSet<String> {
    texts.iter().flat_map(|text| functions_of(text)).collect()
}

fn functions_of(text: &str) -> Vec<String> {
    let mut owner = "";
    let mut found = Vec::new();
    for (at, line) in text.lines().map(|line| (offset(text, line), line)) {
        if line.starts_with("impl") {
            owner = line.rsplit(" for ").next().unwrap().trim_start_matches("impl ");
        }
        let signature = &text[at..];
        let signature = &signature[..signature.find(['{', ';']).unwrap_or(signature.len())];
        let is_future = line.trim_start().starts_with("pub async fn ")
            || line.trim_start().starts_with("pub fn ") && signature.contains("-> impl Future");
        if is_future {
            let name = line.split("fn ").nth(1).unwrap();
            found.push(format!("{}::{}", word(owner), word(name)));
        }
    }
    found
}

/// The functions whose futures the tests drop: each is named where that begins, and called inside
/// of the cut.
fn dropped(texts: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for section in texts.iter().flat_map(|text| text.split(BEGINNING).skip(1)) {
        let (name, rest) = section.split_once('"').unwrap();
        let (owner, last) = name.split_once("::").unwrap();
        let called = if owner.is_empty() { format!("::{last}(") } else { format!(".{last}(") };
        assert!(rest.contains("cut.of(") && rest.contains(&called), "{name} is not what is cut");
        names.insert(name.to_owned());
    }
    names
}

/// The identifier at the beginning of a text.
fn word(text: &str) -> &str {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap()
}

fn offset(text: &str, line: &str) -> usize {
    line.as_ptr() as usize - text.as_ptr() as usize
}

/// What begins to drop a future, up to the name of its function.
const BEGINNING: &str = concat!("at_every_poll", "(\"");

/// It finds what is there, and no more.
#[test]
fn public_functions_that_give_futures_are_found() {
    let text = "impl Pool {\n    pub async fn a(&self) {}\n    pub fn b() -> u8 { 0 }\n    pub fn c(\n    ) -> impl \
                Future<Output = ()> {}\n    pub(crate) async fn d() {}\n    async fn e() {}\n}\nimpl Drop for X {}\npub async fn f() {}\n";
    assert_eq!(functions_of(text), ["Pool::a", "Pool::c", "X::f"]);
}
