//! A file as the rules see it: its text, and its code without comments and strings.

use std::path::Path;
use std::process::Command;

/// One file of the tree.
pub struct Source {
    /// Its path in the repository, with `/`.
    pub path: String,
    pub text: String,
    /// The text with comments and the insides of strings blanked out; lines stay where they are.
    pub code: String,
    /// For each line, whether it is a test's.
    in_tests: Vec<bool>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let code = if path.ends_with(".py") || path.ends_with(".pyi") {
            blank_python(text)
        } else {
            blank_c_like(text, path.ends_with(".rs"))
        };
        let in_tests = test_lines(path, &code);
        Source { path: path.to_string(), text: text.to_string(), code, in_tests }
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub fn is_under(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    /// Whether the line, counted from 0, belongs to a test.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.in_tests.get(line).copied().unwrap_or(false)
    }

    /// The code's lines outside tests, counted from 1.
    pub fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.code.lines().enumerate();
        lines.filter(|(line, _)| !self.is_test_line(*line)).map(|(line, text)| (line + 1, text))
    }
}

/// Every text file that git knows or would know.
pub fn tracked() -> Vec<Source> {
    tracked_in(&["."])
}

/// Those in the folders.
pub fn tracked_in(folders: &[&str]) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let args = ["ls-files", "--cached", "--others", "--exclude-standard", "--"];
    let listed = Command::new("git").args(args).args(folders).current_dir(root).output().unwrap();
    assert!(listed.status.success(), "git ls-files failed");
    let paths = String::from_utf8(listed.stdout).unwrap();
    let read =
        |path: &str| Some(Source::new(path, &std::fs::read_to_string(root.join(path)).ok()?));
    paths.lines().filter_map(read).collect()
}

/// Blanks comments and strings of Rust, C and JavaScript. In Rust `'` begins a string only when it
/// is a character and no lifetime.
fn blank_c_like(text: &str, is_rust: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest.starts_with(b"//") {
            at + line_length(rest)
        } else if rest.starts_with(b"/*") {
            at + find(rest, b"*/").map_or(rest.len(), |end| end + 2)
        } else if is_rust && is_raw_string(bytes, at) {
            at + raw_string_length(rest)
        } else if rest[0] == b'"' || rest[0] == b'`' {
            at + quoted_length(rest, rest[0])
        } else if rest[0] == b'\'' && (!is_rust || is_character(rest)) {
            at + quoted_length(rest, b'\'')
        } else {
            at += 1;
            continue;
        };
        blank(&mut out[at..end]);
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn blank_python(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest[0] == b'#' {
            at + line_length(rest)
        } else if rest.starts_with(b"\"\"\"") || rest.starts_with(b"'''") {
            at + find(&rest[3..], &rest[..3]).map_or(rest.len(), |end| end + 6)
        } else if rest[0] == b'"' || rest[0] == b'\'' {
            at + quoted_length(rest, rest[0])
        } else {
            at += 1;
            continue;
        };
        blank(&mut out[at..end]);
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

fn line_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn quoted_length(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_raw_string(bytes: &[u8], at: usize) -> bool {
    let follows_a_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    let is_byte_string = follows_a_word && bytes[at - 1] == b'b';
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let is_raw = bytes[at] == b'r' && bytes.get(at + 1 + hashes) == Some(&b'"');
    is_raw && (!follows_a_word || is_byte_string)
}

fn raw_string_length(bytes: &[u8]) -> usize {
    let hashes = bytes[1..].iter().take_while(|byte| **byte == b'#').count();
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let inner = 2 + hashes;
    find(&bytes[inner..], &close).map_or(bytes.len(), |end| inner + end + close.len())
}

fn is_character(bytes: &[u8]) -> bool {
    bytes.get(1) == Some(&b'\\')
        || bytes.get(2) == Some(&b'\'')
        || bytes.get(1).is_some_and(|byte| !byte.is_ascii())
}

/// Marks the lines of tests: all of a file in a folder of tests, else each item behind
/// `#[cfg(test)]` or `#[cfg(all(test, ..))]`, from the attribute to its closing brace.
fn test_lines(path: &str, code: &str) -> Vec<bool> {
    let count = code.lines().count();
    let names = ["tests.rs", "schedules.rs", "scripted.rs", "test", "benches"];
    let is_test_file = path.split('/').any(|part| names.contains(&part))
        || path.contains("/tests/")
            && !path.contains("tests/servers/src")
            && !path.contains("tests/xtask/src")
        || path.starts_with("tests/") && !path.contains("/src/");
    if is_test_file {
        return vec![true; count];
    }
    let mut marks = vec![false; count];
    let lines: Vec<&str> = code.lines().collect();
    let mut line = 0;
    while line < lines.len() {
        let text = lines[line].trim_start();
        if !text.starts_with("#[cfg(test)]") && !text.starts_with("#[cfg(all(test,") {
            line += 1;
            continue;
        }
        let end = super::functions::item_end(&lines, line);
        marks[line..=end].fill(true);
        line = end + 1;
    }
    marks
}
