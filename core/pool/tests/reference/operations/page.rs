//! The page of operations.

use std::fmt::Write as _;

use trunkline_pool::interface::operations::{Language, Operation, Owner, Spelling, Waits, rows};

use super::super::push_row;
use super::text::in_page;

const HEAD: &str = "# Operations

What a host can ask, and how it is called in each language. Options are in [their table](options.md), errors in
[theirs](errors.md). An operation that waits has three forms in C: the plain one blocks, `_start` ends in a callback,
`_enqueue` in a queue; in Python it is a coroutine, and blocks in `trunkline.sync`; in Node it is a promise.
";

/// The page.
pub fn page(origin: &str) -> String {
    let mut page = format!("{origin}{HEAD}");
    for owner in Owner::ALL {
        let _ = write!(page, "\n## {}\n", title(owner));
        for operation in rows(owner) {
            push_operation(&mut page, operation);
        }
    }
    page
}

fn title(owner: Owner) -> &'static str {
    match owner {
        Owner::Library => "Of the library",
        Owner::Pool => "Of a pool",
        Owner::Session => "Of a session",
        _ => "Of a lease",
    }
}

fn push_operation(page: &mut String, operation: &Operation) {
    let _ = write!(page, "\n### {}\n\n{}\n\n", operation.key(), in_page(operation.doc));
    for (language, note) in operation.notes {
        let _ = write!(page, "In {}: {}\n\n", name(*language), in_page(note));
    }
    page.push_str("| C | Python | Node | Waits | Options | Since |\n|---|---|---|---|---|---|\n");
    let mut cells: Vec<String> =
        Language::ALL.iter().map(|language| cell(operation, *language)).collect();
    cells.push(if operation.waits == Waits::Now { "no" } else { "yes" }.to_owned());
    cells.push(operation.options.map_or_else(String::new, |scope| {
        format!("[`{}`](options.md#{})", scope.name(), scope.name())
    }));
    cells.push(operation.since.to_owned());
    push_row(page, &cells);
    if !operation.parameters.is_empty() {
        page.push_str("\n| Parameter | Kind | Meaning |\n|---|---|---|\n");
    }
    for parameter in operation.parameters {
        let kind = parameter.kind.name().to_owned();
        push_row(page, &[format!("`{}`", parameter.name), kind, in_page(parameter.doc)]);
    }
    if !operation.result.is_empty() {
        let _ = write!(page, "\nGives {}.\n", in_page(operation.result));
    }
    let errors = errors(operation);
    if !errors.is_empty() {
        let _ = write!(page, "\nErrors: {errors}.\n");
    }
}

fn name(language: Language) -> &'static str {
    match language {
        Language::C => "C",
        Language::Python => "Python",
        _ => "Node",
    }
}

fn cell(operation: &Operation, language: Language) -> String {
    let spelling = match language {
        Language::C => operation.c,
        Language::Python => operation.python,
        _ => operation.node,
    };
    match (operation.name_in(language), spelling) {
        (Some(name), _) => format!("`{name}`"),
        (None, Spelling::Absent(instead)) => format!("no: {instead}"),
        _ => String::new(),
    }
}

fn errors(operation: &Operation) -> String {
    let mut all = Vec::new();
    if !operation.errors_of.is_empty() {
        all.push(in_page(&format!("those of {{{}}}", operation.errors_of)));
    }
    for failure in operation.errors {
        let one = format!("`{}` {}", failure.code.name(), failure.when);
        all.push(one.trim_end().to_owned());
    }
    all.join(", ")
}
