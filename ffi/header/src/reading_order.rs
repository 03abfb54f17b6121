//! Puts the functions of a generated header into the sections of a reading order.

use std::fmt::Write as _;

use crate::sections::{MAY_BE_IGNORED, SECTIONS, Section};

/// One function: its name without `trunkline_`, and its comment and declaration.
struct Function {
    name: String,
    text: String,
}

/// The header with its functions in sections, and the list of them where the header has
/// `@CONTENTS@`.
///
/// # Errors
/// A function without a section, or a section that names one that is not there.
pub fn in_reading_order(header: &str) -> Result<String, String> {
    let (types, rest) = header.split_once(FIRST).ok_or("the header has no functions")?;
    let (functions, end) = rest.split_once(LAST).ok_or("the functions have no end")?;
    let blocks = functions.split("\n\n").filter(|block| !block.trim().is_empty());
    let mut left = blocks.map(function).collect::<Result<Vec<_>, _>>()?;
    let mut sections = Vec::new();
    // The forms that do not wait are named first, so that no other section takes one; they come
    // last.
    for section in SECTIONS {
        sections.push((section, taken(section, &mut left)?));
    }
    if !left.is_empty() {
        let names: Vec<_> = left.iter().map(|function| function.name.as_str()).collect();
        return Err(format!("functions without a section: {names:?}"));
    }
    sections.rotate_left(1);
    if let Some(((_, forms), before)) = sections.split_last_mut() {
        let names: Vec<&str> =
            before.iter().flat_map(|(_, functions)| functions).map(|one| &*one.name).collect();
        forms.sort_by_key(|form| {
            let name = form.name.trim_end_matches("_start").trim_end_matches("_enqueue");
            names.iter().position(|one| *one == name)
        });
    }
    let (mut body, mut contents) = (String::new(), String::new());
    for (place, (section, functions)) in sections.iter().enumerate() {
        push_section(&mut body, place + 1, section, functions);
        push_contents(&mut contents, place + 1, section, functions);
    }
    let types = types.replace(CONTENTS, contents.trim_end());
    Ok(format!("{types}{FIRST}{body}{LAST}{end}"))
}

fn function(block: &str) -> Result<Function, String> {
    let declaration = block.split_once("*/\n").map_or(block, |(_, declaration)| declaration);
    let name = declaration.split_once('(').and_then(|(head, _)| head.rsplit([' ', '*']).next());
    let name = name.and_then(|name| name.strip_prefix("trunkline_"));
    let name = name.ok_or_else(|| format!("no function: {block}"))?.to_owned();
    let can_fail = declaration.starts_with("trunkline_status ") && declaration.contains(" **err");
    let text = if can_fail && !MAY_BE_IGNORED.contains(&name.as_str()) {
        block.replace("*/\ntrunkline_status ", "*/\nTRUNKLINE_MUST_USE\ntrunkline_status ")
    } else {
        block.to_owned()
    };
    Ok(Function { name, text: text.trim().to_owned() })
}

/// Takes out the functions of a section, in its order.
fn taken(section: &Section, left: &mut Vec<Function>) -> Result<Vec<Function>, String> {
    let mut taken = Vec::new();
    for pattern in section.functions {
        let (ours, others): (Vec<_>, Vec<_>) =
            left.drain(..).partition(|function| fits(pattern, &function.name));
        *left = others;
        if ours.is_empty() && !pattern.ends_with('*') {
            return Err(format!("{}: no function {pattern}", section.title));
        }
        taken.extend(ours);
    }
    Ok(taken)
}

fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == pattern,
    }
}

fn push_section(body: &mut String, place: usize, section: &Section, functions: &[Function]) {
    let _ = writeln!(body, "/*\n * {place}. {}", section.title);
    for paragraph in section.intro.split("\n\n").filter(|text| !text.is_empty()) {
        body.push_str(" *\n");
        push_wrapped(body, paragraph.split(' '), " * ");
    }
    body.push_str(" */\n\n");
    for function in functions {
        let _ = write!(body, "{}\n\n", function.text);
    }
}

fn push_contents(contents: &mut String, place: usize, section: &Section, functions: &[Function]) {
    let _ = writeln!(contents, " *   {place}. {}", section.title);
    let named = functions.iter().map(|function| function.name.as_str());
    let named = named.filter(|name| !name.ends_with("_start") && !name.ends_with("_enqueue"));
    push_wrapped(contents, named, " *      ");
}

/// Words in lines of the header's width.
fn push_wrapped<'a>(text: &mut String, words: impl Iterator<Item = &'a str>, prefix: &str) {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{line}");
            line.clear();
        }
        line.push_str(if line.is_empty() { prefix } else { " " });
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}

/// Between the types and the first function.
const FIRST: &str = "extern \"C\" {\n#endif // __cplusplus\n\n";

/// Behind the last function.
const LAST: &str = "#ifdef __cplusplus\n}  // extern \"C\"";

/// Where the list goes.
const CONTENTS: &str = " * @CONTENTS@";

/// Columns of a line.
const WIDTH: usize = 100;

#[cfg(test)]
mod tests {
    use super::{LAST, in_reading_order};
    use crate::unordered;

    #[test]
    fn a_function_without_a_section_and_a_section_without_its_function_are_found() {
        let header = unordered().unwrap();
        let odd = format!("/** It. */\nvoid trunkline_odd(void);\n\n{LAST}");
        let why = in_reading_order(&header.replace(LAST, &odd)).unwrap_err();
        assert_eq!(why, "functions without a section: [\"odd\"]");
        let why =
            in_reading_order(&header.replace("trunkline_queue_wait(", "trunkline_queue_odd("));
        assert_eq!(why.unwrap_err(), "Queues: no function queue_wait");
    }

    #[test]
    fn what_gives_a_status_must_be_used_unless_it_ends_something() {
        let header = in_reading_order(&unordered().unwrap()).unwrap();
        assert!(header.contains("TRUNKLINE_MUST_USE\ntrunkline_status trunkline_pool_new("));
        assert!(header.contains("*/\ntrunkline_status trunkline_pool_close("));
    }
}
