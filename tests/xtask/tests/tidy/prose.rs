//! Pages in plain words: short sentences, short pages, and no turns that readers stumble over.

use super::source::Source;
use super::{Finding, finding};

/// Pages that are written from tables and measurements, or say what was measured.
const MADE: [&str; 2] = ["docs/evidence/", "docs/reference/"];

/// Pages of those folders that a person writes.
const WRITTEN: [&str; 2] = ["docs/evidence/index.md", "docs/reference/index.md"];

/// The specification has a page for each section, and the history grows: neither has a bound.
const LONG: [&str; 2] = ["docs/spec/", "CHANGELOG.md"];

/// Turns that hide who does what.
const BANNED: [&str; 7] =
    ["what is of", "whoever", "of whom", "by whom", "is told of", "none of", "of which"];

/// Files with comments, or with texts that a person reads.
const CODE: [&str; 13] =
    ["rs", "py", "pyi", "mjs", "cjs", "ts", "mts", "c", "h", "hpp", "cpp", "json", "toml"];

/// These name the turns, or hold inputs of others.
const NAMES_THEM: [&str; 3] =
    ["tests/fuzz/corpus/", "tests/xtask/tests/tidy/prose.rs", "tests/xtask/tests/tidy/planted.rs"];

/// Words of a page, its programs left out.
const PAGE_WORDS_MAX: usize = 1_500;

/// Words of a sentence, or of a cell of a table.
const SENTENCE_WORDS_MAX: usize = 25;

/// The median over the sentences of a page.
const MEDIAN_WORDS_MAX: usize = 16;

pub fn hard_to_read(source: &Source) -> Vec<Finding> {
    let path = source.path.as_str();
    if !path.ends_with(".md") || source.is_under(&MADE) && !WRITTEN.contains(&path) {
        return Vec::new();
    }
    let sentences = sentences(&source.text);
    let mut found = Vec::new();
    for (line, words) in &sentences {
        if words.len() > SENTENCE_WORDS_MAX {
            let begins = words[..6].join(" ");
            found.push(finding(*line, format!("{} words: {begins} …", words.len())));
        }
        let text = words.join(" ").to_lowercase();
        let turns = BANNED.iter().filter(|turn| format!(" {text} ").contains(&format!(" {turn} ")));
        found.extend(turns.map(|turn| finding(*line, format!("the turn `{turn}`"))));
    }
    let mut lengths: Vec<usize> = sentences.iter().map(|(_, words)| words.len()).collect();
    let all: usize = lengths.iter().sum();
    if all > PAGE_WORDS_MAX && !source.is_under(&LONG) {
        found.push(finding(1, format!("{all} words, {PAGE_WORDS_MAX} at most")));
    }
    lengths.sort_unstable();
    if lengths.get(lengths.len() / 2).is_some_and(|median| *median > MEDIAN_WORDS_MAX) {
        found.push(finding(1, "half of the sentences are longer than 16 words"));
    }
    found
}

/// The turns in comments, texts and tables of code.
pub fn hidden_subjects(source: &Source) -> Vec<Finding> {
    let extension = source.path.rsplit('.').next().unwrap_or_default();
    if !CODE.contains(&extension) || source.is_under(&NAMES_THEM) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (line, text) in source.text.lines().enumerate() {
        let text = text.to_lowercase();
        let turns = BANNED.iter().filter(|turn| has_turn(&text, turn));
        found.extend(turns.map(|turn| finding(line + 1, format!("the turn `{turn}`"))));
    }
    found
}

/// Whether the turn stands there as words of its own.
fn has_turn(text: &str, turn: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(turn).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + turn.len()..].starts_with(is_part)
    })
}

/// The sentences of a page, each with its line: those of paragraphs, items of lists and cells.
fn sentences(text: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let (mut paragraph, mut begins, mut is_code) = (String::new(), 1, false);
    let closing = text.lines().chain([""]).enumerate();
    for (at, line) in closing {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        let is_item = line.starts_with("- ") || line.starts_with("* ") || is_numbered(line);
        let ends = line.is_empty() || is_fence || is_item || line.starts_with(['#', '|', '<']);
        if ends && !paragraph.is_empty() {
            found.extend(split(&paragraph).into_iter().map(|words| (begins, words)));
            paragraph.clear();
        }
        if is_fence {
            is_code = !is_code;
        } else if line.starts_with('|') && !is_code {
            let cells = line.trim_matches('|').split('|');
            found.extend(cells.flat_map(split).map(|words| (at + 1, words)));
        } else if !is_code && !line.is_empty() && !line.starts_with(['#', '<']) {
            if paragraph.is_empty() {
                begins = at + 1;
            }
            paragraph.push_str(line);
            paragraph.push(' ');
        }
    }
    found
}

fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(". ")
}

/// The words of each sentence. Code is one word, of a link its words count.
fn split(text: &str) -> Vec<Vec<String>> {
    let (mut found, mut words) = (Vec::new(), Vec::new());
    let read = read(text);
    for word in read.split_whitespace() {
        if word.contains(char::is_alphanumeric) {
            words.push(word.trim_end_matches(['.', ',', ':', ';', '!', '?']).to_owned());
        }
        let word = word.trim_end_matches([')', '"', '”']);
        if word.ends_with(['.', ':', ';', '!', '?']) && !words.is_empty() {
            found.push(std::mem::take(&mut words));
        }
    }
    found.extend((!words.is_empty()).then_some(words));
    found
}

/// The text without marks: `code` for what stands in backticks, the words of links.
fn read(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let plain: String = parts.map(|(at, part)| if at % 2 == 0 { part } else { "code" }).collect();
    let mut read = String::new();
    let mut rest = plain.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        read.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    read.push_str(rest);
    read.replace(['[', '*'], "")
}

#[test]
fn sentences_are_those_that_a_reader_sees() {
    let text = "# A heading of words\n\nOne two. Three `x y z`\nfour [five six](a.md).\n\n- Seven: eight\n\n```c\nno words\n```\n| nine | ten. Eleven |\n|---|---|\n";
    let read: Vec<(usize, usize)> =
        sentences(text).iter().map(|(line, words)| (*line, words.len())).collect();
    assert_eq!(read, [(3, 2), (3, 5), (6, 1), (6, 1), (11, 1), (11, 1), (11, 1)]);
}
