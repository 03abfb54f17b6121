//! The reference pages of `docs/reference` are written from the registry and the tables of settings
//! files, and are current.
//!
//! `UPDATE_REFERENCE=1 cargo test -p trunkline-pool --test reference` writes them anew.

mod operations;
mod settings;

use std::fmt::Write as _;
use std::path::Path;

use trunkline_pool::explain::Reason;
use trunkline_pool::interface::words::{Of, WORDS};
use trunkline_pool::interface::{
    ERRORS, EVENTS, EventRow, OptionKind, OptionRow, OptionScope, Presence, SCOPES, options,
};

/// SPEC 5.12, 10.3, 16.5, 16.6: what is documented is what is built.
#[test]
fn reference_pages_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let mut stale = Vec::new();
    for (name, page) in [
        ("errors", errors()),
        ("events", events()),
        ("operations", operations::page::page(ORIGIN)),
        ("options", all_options()),
        ("settings", settings::page()),
    ] {
        let path = folder.join(format!("{name}.md"));
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &page).unwrap();
        }
        if std::fs::read_to_string(&path).ok() != Some(page) {
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "write the pages anew with UPDATE_REFERENCE=1: {stale:?}");
}

const ORIGIN: &str =
    "<!-- Written from the registry in core/pool/src/interface; do not edit. -->\n\n";

fn errors() -> String {
    let mut page = format!(
        "{ORIGIN}# Errors\n\nOne error type per language. The number is the C status; 0 is success. \
         Numbers and names are never reused. What to do stands in the error's `hint` too, where it has none that is more \
         exact; the reasons of `not_admitted` and `tool_not_found` have [remedies](#remedies) of their own.\n\n\
         | No. | Code | When | What to do | Retryable | Python | Node |\n|---|---|---|---|---|---|---|\n"
    );
    for row in ERRORS {
        let base = row.python_base.map(|base| format!(" ({base})")).unwrap_or_default();
        let cells = [
            (row.code as i32).to_string(),
            format!("`{}`", row.name),
            row.doc.into(),
            row.advice.into(),
            row.retry.as_str().into(),
            format!("`{}`{base}", row.python_class),
            format!("`{}`", row.node_code),
        ];
        push_row(&mut page, &cells);
    }
    let lists = WORDS.iter().filter_map(|list| match list.of {
        Of::Error(code) => {
            Some((format!("`{}`: `detail.{}`", code.name(), list.member), list.words))
        }
        _ => None,
    });
    push_words(
        &mut page,
        "Each error of a code that has such a member has one of its words.",
        lists,
    );
    let _ = writeln!(
        page,
        "\n## Remedies\n\nWhat `explain` says of a reason, and the `hint` of an error that has it in `detail.reason`.\n\n\
         | Reason | A server with it | What to do |\n|---|---|---|"
    );
    for reason in Reason::all() {
        let cells =
            [format!("`{}`", reason.as_str()), reason.sentence().into(), reason.remedy().into()];
        push_row(&mut page, &cells);
    }
    page
}

fn events() -> String {
    let mut page = format!(
        "{ORIGIN}# Events\n\nEvery event has the envelope `{{v, seq, type, scope, session?, server?, entry_index?, \
         generation?}}` and what its row names. The bit is that of a C mask. Events of scope `workspace` are told to \
         every session: summing over sessions counts them as often as there are sessions.\n\n\
         | Bit | Type | Scope | Payload | When |\n|---|---|---|---|---|\n"
    );
    for row in EVENTS {
        let cells = [
            (row.kind as u8).to_string(),
            format!("`{}`", row.name),
            row.scope.as_str().into(),
            payload(row),
            row.doc.into(),
        ];
        push_row(&mut page, &cells);
    }
    let lists = WORDS.iter().filter_map(|list| match list.of {
        Of::Event(kind) => Some((format!("`{}`: `{}`", kind.name(), list.member), list.words)),
        _ => None,
    });
    push_words(&mut page, "These members are one of a few words.", lists);
    page
}

/// The members that are one of a few words; lists that are the same stand once.
fn push_words(
    page: &mut String,
    intro: &str,
    lists: impl Iterator<Item = (String, &'static [(&'static str, &'static str)])>,
) {
    let mut merged: Vec<(String, &[(&str, &str)])> = Vec::new();
    for (of, words) in lists {
        match merged.iter_mut().find(|(_, known)| *known == words) {
            Some((all, _)) => all.push_str(&format!(", {of}")),
            None => merged.push((of, words)),
        }
    }
    let _ = writeln!(page, "\n## Words\n\n{intro} A later version may have more.");
    for (of, words) in merged {
        let _ = writeln!(page, "\n### {of}\n\n| Word | Meaning |\n|---|---|");
        for (word, meaning) in words {
            push_row(page, &[format!("`{word}`"), (*meaning).to_owned()]);
        }
    }
}

fn payload(row: &EventRow) -> String {
    let fields = row.payload.iter().map(|field| {
        let mark = if field.presence == Presence::Optional { "?" } else { "" };
        format!("`{}{mark}`: {}", field.name, field.kind)
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn all_options() -> String {
    let mut page = format!(
        "{ORIGIN}# Options\n\nNames are those of C and JSON, where durations are whole milliseconds. Python has the \
         same names without `_ms` and takes float seconds; Node has them in camelCase, in milliseconds. An unknown \
         option is refused with the nearest name.\n"
    );
    for scope in SCOPES {
        let _ = write!(page, "\n## {}\n\n{}", scope.name(), intro(*scope));
        let names = if *scope == OptionScope::Server { "Also written" } else { "Python | Node" };
        let _ = writeln!(page, "| Option | {names} | Type | Default | Meaning |");
        let rule = "---|".repeat(names.split('|').count() + 4);
        let _ = writeln!(page, "|{rule}");
        push_options(&mut page, options(*scope), "", *scope);
    }
    page
}

fn intro(scope: OptionScope) -> &'static str {
    match scope {
        OptionScope::Server => {
            "Members that are not in this table are kept and reported. Durations are milliseconds in every language.\n\n"
        }
        OptionScope::Configure => {
            "What is given replaces what the session had; what is absent stays, and so the defaults count only once a member \
             is given as `{}`.\n\n"
        }
        _ => "",
    }
}

fn push_options(page: &mut String, rows: &[OptionRow], path: &str, scope: OptionScope) {
    for row in rows {
        let default = if row.default.is_empty() { "" } else { &format!("`{}`", row.default) };
        let names = match scope {
            OptionScope::Server => ticked(&row.spellings()[1..]),
            _ => format!("`{}` | `{}`", row.python_name(), row.node_name()),
        };
        let _ = writeln!(
            page,
            "| `{path}{}` | {names} | {} | {default} | {} |",
            row.name,
            type_of(&row.kind),
            row.doc
        );
        if let OptionKind::Object(members) = row.kind {
            push_options(page, members, &format!("{path}{}.", row.name), scope);
        }
    }
}

fn type_of(kind: &OptionKind) -> String {
    match kind {
        OptionKind::Integer { min, max, unit } => {
            format!("integer, {min} to {max} {unit}").trim_end().to_owned()
        }
        OptionKind::Duration { min, max } => format!("duration, {min} to {max} ms"),
        OptionKind::DurationLists(names) => format!("lists of durations: {}", ticked(names)),
        OptionKind::Word(choices) => format!("one of {}", ticked(choices)),
        OptionKind::Words(choices) => format!("array of {}", ticked(choices)),
        kind => kind.name().to_owned(),
    }
}

fn ticked<S: AsRef<str>>(words: &[S]) -> String {
    let words = words.iter().map(|word| format!("`{}`", word.as_ref()));
    words.collect::<Vec<_>>().join(", ")
}

fn push_row(page: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}
