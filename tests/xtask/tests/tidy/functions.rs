//! Sizes of files and functions.

use super::source::Source;
use super::{Finding, finding};

/// Files that are written by a program and do not say so in their first line.
const GENERATED: [&str; 1] = ["include/trunkline.h"];

/// How the first line of another file begins that is written by a program.
const WRITTEN: &str = "//! Written from ";

const HAND_WRITTEN: [&str; 11] =
    ["rs", "py", "pyi", "c", "h", "hpp", "cpp", "mjs", "cjs", "js", "ts"];

const FILE_LINES_MAX: usize = 500;

const FUNCTION_LINES_MAX: usize = 70;

pub fn long_files(source: &Source) -> Vec<Finding> {
    let extension = source.path.rsplit('.').next().unwrap_or_default();
    let count = hand_written(&source.text);
    if GENERATED.contains(&source.path.as_str())
        || !HAND_WRITTEN.contains(&extension)
        || count <= FILE_LINES_MAX
    {
        return Vec::new();
    }
    vec![finding(count, format!("{count} lines"))]
}

/// How many lines of a file no program writes: all but those between the marks of the operations of
/// an owner.
fn hand_written(text: &str) -> usize {
    if text.starts_with(WRITTEN) {
        return 0;
    }
    let mut is_written = false;
    let lines = text.lines().filter(|line| {
        let mark = line.trim_start().trim_start_matches(['/', '#', ' ']);
        is_written |= mark.starts_with("<operations ");
        is_written &= !mark.starts_with("</operations ");
        !is_written
    });
    lines.count()
}

pub fn long_functions(source: &Source) -> Vec<Finding> {
    let lines: Vec<&str> = source.code.lines().collect();
    let extension = source.path.rsplit('.').next().unwrap_or_default();
    let function_end: fn(&[&str], usize) -> Option<usize> = match extension {
        "rs" => rust_function_end,
        "py" => python_function_end,
        "c" => c_function_end,
        "mjs" | "cjs" | "js" => script_function_end,
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for start in 0..lines.len() {
        let Some(end) = function_end(&lines, start) else { continue };
        let count = end - start + 1;
        if count > FUNCTION_LINES_MAX {
            found.push(finding(start + 1, format!("a function of {count} lines")));
        }
    }
    found
}

/// The last line of the item that begins in line `start`: where its braces close, or where it ends
/// with a semicolon.
pub fn item_end(lines: &[&str], start: usize) -> usize {
    let mut depth = 0usize;
    for (line, text) in lines.iter().enumerate().skip(start) {
        for byte in text.bytes() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 1 => return line,
                b'}' => depth = depth.saturating_sub(1),
                b';' if depth == 0 => return line,
                _ => {}
            }
        }
    }
    lines.len() - 1
}

fn rust_function_end(lines: &[&str], start: usize) -> Option<usize> {
    let mut words = lines[start].split_whitespace().skip_while(|word| {
        word.starts_with("pub")
            || matches!(*word, "const" | "async" | "unsafe" | "extern" | "in")
            || word.ends_with(')')
    });
    (words.next() == Some("fn")).then(|| item_end(lines, start))
}

fn python_function_end(lines: &[&str], start: usize) -> Option<usize> {
    let text = lines[start];
    let body = text.trim_start();
    if !body.starts_with("def ") && !body.starts_with("async def ") {
        return None;
    }
    let indent = text.len() - body.len();
    let is_inside = |line: &str| {
        line.trim().is_empty()
            || line.len() - line.trim_start().len() > indent
            || line.trim_start().starts_with(')')
    };
    let after = lines[start + 1..].iter().take_while(|line| is_inside(line)).count();
    let block = &lines[start..=start + after];
    let blank = block.iter().rev().take_while(|line| line.trim().is_empty()).count();
    Some(start + after - blank)
}

/// In C a function's brace opens a line or ends the one that begins at the margin.
fn c_function_end(lines: &[&str], start: usize) -> Option<usize> {
    let text = lines[start];
    let at_margin = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    (at_margin && text.contains('(') && !text.trim_end().ends_with(';'))
        .then(|| item_end(lines, start))
}

fn script_function_end(lines: &[&str], start: usize) -> Option<usize> {
    let text = lines[start].trim_start();
    let text = text.strip_prefix("export ").unwrap_or(text);
    let text = text.strip_prefix("async ").unwrap_or(text);
    text.starts_with("function").then(|| item_end(lines, start))
}
