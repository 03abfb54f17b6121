//! The texts of the rows, as a language spells them, in lines of its comments.

use trunkline_pool::interface::operations::{
    Gives, Language, Operation, Parameter, ParameterKind as Kind, Waits, operations,
};
use trunkline_pool::interface::{Dialect, ErrorCode, OptionKind, OptionRow, node_name, options};

/// The operation of that key.
pub fn row(key: &str) -> &'static Operation {
    let found = operations().into_iter().find(|row| row.key() == key);
    found.unwrap_or_else(|| panic!("no operation is called {key}"))
}

/// The text with what stands in braces called as a language does, and in the page without one.
fn linked(text: &str, language: Option<Language>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let key = after.split('}').next().unwrap_or_default();
        let is_key =
            key.contains('.') && key.chars().all(|c| c.is_ascii_lowercase() || "._".contains(c));
        if !is_key {
            out.push('{');
            rest = after;
            continue;
        }
        out.push_str(&called(key, language));
        rest = &after[key.len() + 1..];
    }
    out + rest
}

fn called(key: &str, language: Option<Language>) -> String {
    let operation = row(key);
    let Some(language) = language else {
        return format!("[`{key}`](#{})", key.replace('.', ""));
    };
    let name = operation.name_in(language);
    let name = name.unwrap_or_else(|| panic!("{key} is not there in {language:?}"));
    match language {
        Language::C => format!("`{name}`"),
        _ if operation.owner.class().is_empty() => format!("`{name}`"),
        _ => format!("`{}.{name}`", operation.owner.class()),
    }
}

/// The text in a language.
pub fn in_language(text: &str, language: Language) -> String {
    let text = match language {
        Language::C => text.to_owned(),
        Language::Python => Dialect::Python.text(text),
        _ => members_in_camel_case(&Dialect::Node.text(text)),
    };
    linked(&text, Some(language))
}

/// The text in the page.
pub fn in_page(text: &str) -> String {
    linked(text, None)
}

/// Members of documents are in camelCase in Node; the words that are values are not.
fn members_in_camel_case(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(place, part)| {
        let is_document = place % 2 == 1 && (part.starts_with('{') || part.starts_with("[{"));
        if is_document { words_in_camel_case(part) } else { part.to_owned() }
    });
    parts.collect::<Vec<_>>().join("`")
}

fn words_in_camel_case(document: &str) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    for character in document.chars().chain([' ']) {
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        out.push_str(&node_name(&word));
        word.clear();
        out.push(character);
    }
    out.pop();
    out
}

/// What the documentation of an operation says in a language, in paragraphs.
pub fn paragraphs(operation: &Operation, language: Language) -> Vec<String> {
    let mut first = operation.doc.to_owned();
    if language == Language::C && operation.waits != Waits::Now {
        first.push_str(" Blocks: `WRONG_THREAD` inside a callback.");
    }
    for note in operation.notes_in(language) {
        first.push(' ');
        first.push_str(note);
    }
    let mut second: Vec<String> =
        operation.parameters.iter().filter_map(|one| parameter(one, language)).collect();
    second.extend(scope_text(operation, language));
    second.extend(result(operation, language));
    let all = [first, second.join(" "), errors(operation, language)];
    let all = all.into_iter().filter(|text| !text.is_empty());
    all.map(|text| in_language(&text, language)).collect()
}

fn parameter(parameter: &Parameter, language: Language) -> Option<String> {
    let name = match language {
        Language::C => parameter.kind.c_name(parameter.name),
        Language::Python if parameter.kind == Kind::Gates => "**lists".to_owned(),
        Language::Python => parameter.name.to_owned(),
        _ => node_parameter(parameter),
    };
    let doc = match (language, parameter.kind) {
        (Language::C, Kind::Flag | Kind::Switch) => "0 or 1".to_owned(),
        (_, _) if parameter.doc.is_empty() => return None,
        (Language::C, Kind::Timeout) => {
            format!("in milliseconds; `TRUNKLINE_DEFAULT` for {}", parameter.doc)
        }
        (Language::C, Kind::Index) => {
            format!("{}; `TRUNKLINE_EVERY_ENTRY` for all of the server's", parameter.doc)
        }
        (Language::C, kind) if kind.c_name("x") == "x_json" => {
            format!("as JSON, {}", parameter.doc.replace("none ", "empty "))
        }
        (Language::C, Kind::OptionalText | Kind::Settings) => {
            parameter.doc.replace("none ", "empty ")
        }
        (_, Kind::Timeout) => format!("by default {}", parameter.doc),
        (_, Kind::Index) => format!("{}; all of the server's without one", parameter.doc),
        _ => parameter.doc.to_owned(),
    };
    Some(format!("`{name}`: {doc}."))
}

/// The name of a parameter in Node.
pub fn node_parameter(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Arguments | Kind::TextArguments => "args".to_owned(),
        Kind::Timeout => node_name(&format!("{}_ms", parameter.name)),
        Kind::Gates => "lists".to_owned(),
        _ => node_name(parameter.name),
    }
}

/// What is said of the options; Node has their types.
fn scope_text(operation: &Operation, language: Language) -> Option<String> {
    let rows = options(operation.options?);
    let names: Vec<_> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
    let (names, them) = match names.split_last() {
        Some((last, [])) => (last.clone(), "it"),
        Some((last, before)) => (format!("{} and {last}", before.join(", ")), "them"),
        None => return None,
    };
    let page = format!("as `docs/reference/options.md` has {them}");
    let is_time = |row: &OptionRow| {
        matches!(row.kind, OptionKind::Duration { .. } | OptionKind::Durations { .. })
    };
    match (language, operation.waits) {
        (Language::C, Waits::Sends) => Some("`options`: NULL for all defaults.".to_owned()),
        (Language::C, _) => Some(format!(
            "`options_json`: an object with any of {names}, {page}; empty for all defaults."
        )),
        (Language::Python, _) if rows.iter().any(is_time) => {
            Some(format!("Options: {names}, {page}; times are in seconds."))
        }
        (Language::Python, _) => Some(format!("Options: {names}, {page}.")),
        _ => None,
    }
}

fn result(operation: &Operation, language: Language) -> Option<String> {
    let said = operation.result;
    if said.is_empty() {
        return None;
    }
    let free = "Free it with `trunkline_buf_free`.";
    Some(match (language, operation.gives) {
        (Language::C, Gives::Lease | Gives::Object) => format!("`out`: {said}."),
        (Language::C, Gives::Introduction) => {
            format!("`out`: {said}; `null` stands for nothing. {free}")
        }
        (Language::C, _) => format!("`out`: {said}. {free}"),
        _ => format!("Gives {said}."),
    })
}

/// The errors: all of them in C, and elsewhere those that say when.
fn errors(operation: &Operation, language: Language) -> String {
    let mut all = Vec::new();
    if !operation.errors_of.is_empty() {
        all.push(format!("those of {{{}}}", operation.errors_of));
    }
    for failure in operation.errors {
        let code = match (language, failure.code) {
            (Language::C, code) => code.name().to_uppercase(),
            (_, ErrorCode::BadHandle) => continue,
            (_, _) if failure.when.is_empty() => continue,
            (Language::Python, code) => code.name().to_owned(),
            (_, code) => format!("TRUNKLINE_{}", code.name().to_uppercase()),
        };
        all.push(format!("`{code}` {}", failure.when).trim_end().to_owned());
    }
    if all.is_empty() { String::new() } else { format!("Errors: {}.", all.join(", ")) }
}

/// The text in lines of that width, each behind a prefix.
pub fn wrapped(text: &str, prefix: &str, width: usize) -> String {
    let (mut out, mut line) = (String::new(), prefix.to_owned());
    let mut is_empty = true;
    for word in text.split(' ') {
        let gap = usize::from(!is_empty);
        if !is_empty && line.chars().count() + gap + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = prefix.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// A text as the comment of a member in C++.
pub fn comment_of_cpp(text: &str) -> String {
    format!("    /**\n{}     */\n", wrapped(text, "     * ", 100))
}

/// Paragraphs as a comment of that prefix.
pub fn comment(paragraphs: &[String], prefix: &str) -> String {
    let blocks = paragraphs.iter().map(|text| wrapped(text, &format!("{prefix} "), 100));
    blocks.collect::<Vec<_>>().join(&format!("{prefix}\n"))
}
