//! The types of Python for options and events: `types.py` and `events.py` of the package.

use std::fmt::Write as _;

use trunkline_pool::interface::words::{Of, WORDS};
use trunkline_pool::interface::{
    Dialect, EVENTS, EventRow, OptionKind, OptionRow, OptionScope, PayloadField, Presence, SCOPES,
    options, python_name,
};
use trunkline_pool::options::HandlerKind;
use trunkline_pool::shapes::ToolFormat;

use super::text::wrapped;

/// The first lines of the file of options.
const OPTIONS_HEAD: &str = r#""""The types of options, for annotations. Written from core/pool/src/interface; do not edit.

A function that passes options on takes them as ``**options: Unpack[CallOptions]``. Times are seconds; None stands for
the default of an option.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

from ._handlers import ServerRequest
from .events import Log, Progress

#: Names or patterns; one text alone is none.
Names = list[str] | tuple[str, ...] | set[str] | frozenset[str]


class _Described(TypedDict, total=False):
    description: str


class OpenAIFunction(_Described):
    """The function of an ``OpenAITool``."""

    name: str
    parameters: dict[str, Any]


class OpenAITool(TypedDict):
    """A tool as ``tools_for("openai")`` gives it."""

    type: Literal["function"]
    function: OpenAIFunction


class OpenAIResponsesTool(_Described):
    """A tool as ``tools_for("openai_responses")`` gives it."""

    type: Literal["function"]
    name: str
    parameters: dict[str, Any]
    strict: bool


class AnthropicTool(_Described):
    """A tool as ``tools_for("anthropic")`` gives it."""

    name: str
    input_schema: dict[str, Any]


class GeminiTool(_Described):
    """A tool as ``tools_for("gemini")`` gives it."""

    name: str
    parametersJsonSchema: dict[str, Any]


"#;

/// The first lines of the file of events.
const EVENTS_HEAD: &str = r#""""A class for each kind of event. Written from core/pool/src/interface; do not edit.

``isinstance(event, ToolsChanged)`` tells a kind, and so does ``event.kind == "tools_changed"``; type checkers know its
members from there on. A member that is absent is None. Times are seconds; the mapping has them as ``..._ms``.
"""

from __future__ import annotations

from ._results import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from .reports import ApprovalRequest, ErrorReport, Finding, RefusedServer, ServerReport, ToolDifference

"#;

/// The options of a pool that are paths.
const PATHS: [&str; 5] = ["workspace", "cache", "approvals", "tokens", "status_file"];

/// Handlers that no session has: settings are the pool's.
const OF_POOL_ALONE: [HandlerKind; 3] =
    [HandlerKind::Inputs, HandlerKind::Secrets, HandlerKind::Entries];

/// Members of events that are objects with a class of their own.
const CLASSES: [(&str, &str, &str); 7] = [
    ("approval_needed", "requests", "list[ApprovalRequest]"),
    ("disconnected", "error", "ErrorReport"),
    ("failed", "error", "ErrorReport"),
    ("reconciled", "servers", "dict[str, ServerReport]"),
    ("refused_batch", "refused", "list[RefusedServer]"),
    ("source_changed", "findings", "list[Finding]"),
    ("tool_quarantined", "difference", "ToolDifference"),
];

/// What Python calls the options of a scope.
pub fn options_class(scope: OptionScope) -> String {
    camel(scope.name()) + "Options"
}

/// `types.py`.
pub fn options_file() -> String {
    let mut text = OPTIONS_HEAD.to_owned();
    let shapes: Vec<_> = ToolFormat::ALL.iter().map(|shape| shape.as_str()).collect();
    let _ = writeln!(text, "#: The shapes of model APIs.\nToolShape = {}\n", literal(&shapes));
    let kinds: Vec<_> = EVENTS.iter().map(|row| row.name).collect();
    let _ = writeln!(text, "#: The kinds of events.\nEventKind = {}\n", literal(&kinds));
    let levels = options(OptionScope::Acquire).iter().find(|row| row.name == "log_level");
    let Some(OptionKind::Word(levels)) = levels.map(|row| row.kind) else {
        panic!("an acquire has no level");
    };
    let _ = writeln!(text, "#: How grave log messages are.\nLogLevel = {}\n", literal(levels));
    for (class, who, are_offered) in [
        ("SessionHandlers", "a session's servers", |kind| !OF_POOL_ALONE.contains(kind)),
        ("PoolHandlers", "servers, and questions of settings", |_: &HandlerKind| true),
    ] as [(&str, &str, fn(&HandlerKind) -> bool); 2]
    {
        let _ = write!(
            text,
            "\nclass {class}(TypedDict, total=False):\n    \"\"\"Functions that answer {who}, plain or ``async``.\"\"\"\n\n"
        );
        for kind in HandlerKind::ALL.iter().filter(|kind| are_offered(kind)) {
            let _ = writeln!(text, "    {}: Callable[[ServerRequest], Any]", kind.name());
        }
        text.push_str("    logging: Callable[[Log], object]\n\n");
    }
    for scope in SCOPES.iter().filter(|scope| **scope != OptionScope::Server) {
        let rows: Vec<_> = options(*scope).iter().filter(|row| row.name != "id").collect();
        push_class(&mut text, &options_class(*scope), &title(*scope), &rows, *scope);
    }
    text.trim_end().to_owned() + "\n"
}

fn title(scope: OptionScope) -> String {
    let of = match scope {
        OptionScope::Pool => "of a pool",
        OptionScope::Session => "of a session",
        OptionScope::Configure => "of ``configure``; what is absent stays",
        OptionScope::Call => "of one call",
        OptionScope::Acquire => "of an ``acquire``",
        OptionScope::Drain => "of ``drain_all``, ``close`` and ``aclose``",
        OptionScope::SignIn => "of ``sign_in``",
        OptionScope::Gates => "of ``set_gates``; what is absent is not kept",
        OptionScope::Load => "of ``load``",
        OptionScope::Reload => "of ``reload``",
        OptionScope::Status => "of ``status`` and ``metrics``",
        other => panic!("{} has no title", other.name()),
    };
    format!("Options {of}.")
}

/// One class, after those of its members that are objects.
fn push_class(
    text: &mut String,
    class: &str,
    title: &str,
    rows: &[&'static OptionRow],
    scope: OptionScope,
) {
    for row in rows {
        let name = format!("{}Options", camel(row.python_name()));
        match row.kind {
            OptionKind::Object(members) => {
                let members: Vec<_> = members.iter().collect();
                push_class(text, &name, &format!("Members of ``{}``.", row.name), &members, scope);
            }
            OptionKind::DurationLists(names) => {
                let _ = write!(
                    text,
                    "\nclass {name}(TypedDict, total=False):\n    \"\"\"Members of ``{}``.\"\"\"\n\n",
                    row.python_name()
                );
                names.iter().for_each(|name| {
                    text.push_str(&format!("    {name}: Sequence[float] | None\n"))
                });
                text.push('\n');
            }
            _ => {}
        }
    }
    let _ = write!(text, "\nclass {class}(TypedDict, total=False):\n    \"\"\"{title}\"\"\"\n\n");
    for row in rows {
        let kind = option_type(row, scope);
        let _ = writeln!(text, "    {}: {kind} | None", row.python_name());
        let said = format!("\"\"\"{}\"\"\"", meaning(row));
        text.push_str(&wrapped(&said, "    ", 100));
    }
    text.push('\n');
}

fn option_type(row: &OptionRow, scope: OptionScope) -> String {
    let plain = match row.kind {
        _ if row.name == "progress" => "bool | Callable[[Progress], object]",
        OptionKind::Text if PATHS.contains(&row.name) => "str | PathLike[str]",
        OptionKind::Texts if row.name == "roots" => "Sequence[str | PathLike[str]]",
        OptionKind::Bool => "bool",
        OptionKind::Integer { .. } => "int",
        OptionKind::Duration { .. } => "float",
        OptionKind::Durations { .. } => "Sequence[float]",
        OptionKind::Text => "str",
        OptionKind::Texts => "Names",
        OptionKind::AllOrNames => "Literal[\"all\"] | Names",
        OptionKind::BoolByServer => "Mapping[str, bool]",
        OptionKind::PatternsByServer => "Mapping[str, Names]",
        OptionKind::AnyObject => "Mapping[str, Any]",
        OptionKind::TextMap => "Mapping[str, str]",
        OptionKind::Icons => "Sequence[Mapping[str, Any]]",
        OptionKind::Handlers if scope == OptionScope::Pool => "PoolHandlers | SessionHandlers",
        OptionKind::Handlers => "SessionHandlers",
        OptionKind::Word(words) => return literal(words),
        OptionKind::Words(words) => return format!("Collection[{}]", literal(words)),
        OptionKind::Object(_) | OptionKind::DurationLists(_) => {
            return format!("{}Options", camel(row.python_name()));
        }
        _ => panic!("no type of Python for {}", row.kind.name()),
    };
    plain.to_owned()
}

/// The meaning and the default, as Python spells options and times.
fn meaning(row: &OptionRow) -> String {
    let is_time = matches!(
        row.kind,
        OptionKind::Duration { .. } | OptionKind::Durations { .. } | OptionKind::DurationLists(_)
    );
    let default = if is_time { in_seconds(row.default) } else { row.default.to_owned() };
    let default = match &*default {
        "" => String::new(),
        "true" => " By default True.".to_owned(),
        "false" => " By default False.".to_owned(),
        default => format!(" By default {}.", default.replace('"', "'")),
    };
    let mut doc = row.doc.to_owned();
    if let Some(first) = doc.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Dialect::Python.text(&format!("{doc}.{default}")).replace('`', "``")
}

/// The text with each whole number of milliseconds as seconds.
fn in_seconds(text: &str) -> String {
    let (mut out, mut number) = (String::new(), String::new());
    for character in text.chars().chain([' ']) {
        if character.is_ascii_digit() {
            number.push(character);
            continue;
        }
        if let Ok(milliseconds) = number.parse::<u32>() {
            let _ = write!(out, "{}", f64::from(milliseconds) / 1000.0);
        }
        number.clear();
        out.push(character);
    }
    out.pop();
    out
}

#[test]
fn times_are_told_in_seconds() {
    assert_eq!(in_seconds("30000 for stdio, 250 for remote"), "30 for stdio, 0.25 for remote");
    assert_eq!(in_seconds("[0,5000]"), "[0,5]");
}

/// `events.py`.
pub fn events_file() -> String {
    let mut text = EVENTS_HEAD.to_owned();
    for row in EVENTS {
        push_event(&mut text, row);
    }
    let classes: Vec<_> = EVENTS.iter().map(|row| camel(row.name)).collect();
    let _ = write!(text, "\n#: Any event.\nAnyEvent = (\n    ");
    text.push_str(&classes.join("\n    | "));
    text.push_str("\n)\n\n#: The class of each kind.\nKINDS: dict[str, type[Event]] = {\n");
    for (row, class) in EVENTS.iter().zip(&classes) {
        let _ = writeln!(text, "    \"{}\": {class},", row.name);
    }
    text + "}\n"
}

fn push_event(text: &mut String, row: &EventRow) {
    let mut doc = row.doc.replace('`', "``");
    if let Some(first) = doc.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let doc = wrapped(&format!("\"\"\"{doc}.\"\"\""), "    ", 100);
    let _ = write!(text, "\nclass {}(Event):\n{doc}\n    __slots__ = ()\n", camel(row.name));
    // The envelope's own members are those of the base.
    let own = row.payload.iter().filter(|field| field.name != "scope");
    for field in own {
        let name = python_name(field.name);
        let name = if name == "from" { "from_" } else { name };
        let absent = if field.presence == Presence::Optional { " | None" } else { "" };
        let _ = writeln!(text, "    {name}: {}{absent}", member_type(row, field));
    }
    let kind = row.name;
    let _ = write!(text, "\n    if TYPE_CHECKING:\n");
    for name in ["type", "kind"] {
        let _ = write!(
            text,
            "\n        @property\n        def {name}(self) -> Literal[\"{kind}\"]: ...\n"
        );
    }
    text.push('\n');
}

fn member_type(row: &EventRow, field: &PayloadField) -> String {
    let class = CLASSES.iter().find(|(kind, member, _)| (*kind, *member) == (row.name, field.name));
    if let Some((_, _, class)) = class {
        return (*class).to_owned();
    }
    let is_of = |of: Of| matches!(of, Of::Event(kind) if kind == row.kind);
    if let Some(list) = WORDS.iter().find(|list| is_of(list.of) && list.member == field.name) {
        return literal(&list.words.iter().map(|(word, _)| *word).collect::<Vec<_>>());
    }
    let plain = match field.kind {
        "integer" if field.name.ends_with("_ms") => "float",
        "string" => "str",
        "integer" => "int",
        "number" => "float",
        "boolean" => "bool",
        "any" => "Any",
        "array of strings" => "list[str]",
        "array of objects" => "list[dict[str, Any]]",
        "object" => "dict[str, Any]",
        other => panic!("no type of Python for {other}"),
    };
    plain.to_owned()
}

fn literal(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("Literal[{}]", words.join(", "))
}

/// The name of a class: `SignIn` of `sign_in`.
pub fn camel(name: &str) -> String {
    let parts = name.split('_').map(|part| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    parts.collect()
}
