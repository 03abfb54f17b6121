//! The methods of the package of Python: of asyncio, of threads, and those that wait for nothing.

use std::fmt::Write as _;

use trunkline_pool::interface::OptionScope;
use trunkline_pool::interface::operations::{
    Gives, Language, Operation, Owner, Parameter, ParameterKind as Kind, Waits, rows,
};

use super::python_types::{camel, options_class};
use super::text::{paragraphs, wrapped};

/// For whom a method is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What waits, as a coroutine.
    Asyncio,
    /// What waits, on its thread.
    Threads,
    /// What waits for nothing, for both.
    Shared,
}

/// The methods of an owner.
pub fn methods(owner: Owner, form: Form) -> String {
    let rows = rows(owner).into_iter().filter(|row| row.is_written(Language::Python));
    let rows = rows.filter(|row| (row.waits == Waits::Now) == (form == Form::Shared));
    let methods: Vec<_> = rows.map(|row| method(row, form)).collect();
    methods.join("\n")
}

fn method(operation: &Operation, form: Form) -> String {
    // The acquire of asyncio is more than a coroutine.
    let is_coroutine = form == Form::Asyncio && operation.gives != Gives::Lease;
    let start = if is_coroutine { "    async def" } else { "    def" };
    let given = returned(operation, form);
    let inputs = ["self".to_owned()].into_iter().chain(inputs(operation)).collect::<Vec<_>>();
    let name = operation.name;
    let mut text = format!("{start} {name}({}) -> {given}:\n", inputs.join(", "));
    if text.len() > 101 {
        text = format!("{start} {name}(\n        {}\n    ) -> {given}:\n", inputs.join(", "));
    }
    push_docstring(&mut text, operation);
    for line in body(operation, form) {
        let _ = writeln!(text, "        {line}");
    }
    text
}

fn push_docstring(text: &mut String, operation: &Operation) {
    let said: Vec<_> = paragraphs(operation, Language::Python)
        .iter()
        .map(|text| text.replace('`', "``"))
        .collect();
    let said: Vec<_> = said.iter().map(|text| wrapped(text, "        ", 100)).collect();
    let said = said.join("\n");
    let said = said.trim();
    let end = if said.contains('\n') { "\n        \"\"\"" } else { "\"\"\"" };
    let _ = writeln!(text, "        \"\"\"{said}{end}");
}

/// The parameters, those of keywords alone last.
fn inputs(operation: &Operation) -> Vec<String> {
    let (named, keywords): (Vec<_>, Vec<_>) = operation
        .parameters
        .iter()
        .partition(|one| !matches!(one.kind, Kind::Timeout | Kind::SessionId));
    let mut all: Vec<_> = named.into_iter().map(input).collect();
    if !keywords.is_empty() {
        all.push("*".to_owned());
    }
    all.extend(keywords.into_iter().map(input));
    if let Some(scope) = operation.options {
        all.push(format!("**options: Unpack[{}]", options_class(scope)));
    }
    all
}

fn input(parameter: &Parameter) -> String {
    let name = parameter.name;
    let kind = match parameter.kind {
        Kind::OptionalText => "str | None = None",
        Kind::Path => "str | PathLike[str]",
        Kind::Config | Kind::Servers => "Mapping[str, Any] | str",
        Kind::OptionalConfig => "Mapping[str, Any] | str | None = None",
        Kind::Settings => "Mapping[str, Any] | str | None",
        Kind::Roots => "Sequence[str | PathLike[str]]",
        Kind::Gates => {
            return format!("**lists: Unpack[{}]", options_class(OptionScope::Gates));
        }
        Kind::Flag => "bool",
        Kind::Switch => "Literal[\"on\", \"off\"]",
        Kind::Index => "int | None = None",
        Kind::Timeout => "float | None = None",
        Kind::Arguments | Kind::TextArguments => "Any = None",
        Kind::OptionalParams => "Mapping[str, Any] | None = None",
        Kind::Params => "Mapping[str, Any]",
        _ => "str",
    };
    format!("{name}: {kind}")
}

fn returned(operation: &Operation, form: Form) -> String {
    match (operation.gives, form) {
        (Gives::Report, _) => report_class(operation),
        (Gives::Lease, Form::Asyncio) => "Acquiring".to_owned(),
        (Gives::Lease, _) => "Lease".to_owned(),
        (Gives::Call, _) => operation.typescript.to_owned(),
        (Gives::Text, _) => "str".to_owned(),
        (Gives::Introduction, _) => "Introduction | None".to_owned(),
        (Gives::Listed, _) if operation.owner == Owner::Lease => {
            format!("list[{}]", item_class(operation))
        }
        (Gives::Listed, _) => format!("List[{}]", item_class(operation)),
        _ => "None".to_owned(),
    }
}

/// The class of a report: as Node calls it, or by the operation where that has no name for it.
fn report_class(operation: &Operation) -> String {
    let name = operation.typescript.split('<').next().unwrap_or_default();
    match name.chars().all(|character| character.is_ascii_alphabetic()) && name != "unknown" {
        true => name.to_owned(),
        false => camel(operation.name) + "Report",
    }
}

/// The class of what a list has: `Tool` of `tools`.
fn item_class(operation: &Operation) -> String {
    camel(operation.name.trim_end_matches('s'))
}

/// What the native half is given.
fn passed(operation: &Operation) -> Vec<String> {
    let named = operation.parameters.iter().map(|parameter| {
        let name = parameter.name;
        match parameter.kind {
            Kind::Path => format!("fspath({name})"),
            Kind::Config => format!("config_text({name})"),
            Kind::OptionalConfig => format!("None if {name} is None else config_text({name})"),
            Kind::Servers => format!("config_text({name}, \"{name}\")"),
            Kind::Settings => {
                format!("None if {name} is None else config_text({name}, \"{name}\")")
            }
            Kind::Roots => format!("roots_text({name})"),
            Kind::Gates => "encode(\"gates\", lists)".to_owned(),
            Kind::Switch => format!("is_on({name}, \"{name}\")"),
            Kind::Timeout => {
                format!("None if {name} is None else milliseconds({name}, \"{name}\")")
            }
            kind if is_object(kind) => format!("arguments_text({name})"),
            _ => name.to_owned(),
        }
    });
    let options = operation.options.map(|scope| format!("encode(\"{}\", options)", scope.name()));
    named.chain(options).collect()
}

fn body(operation: &Operation, form: Form) -> Vec<String> {
    let native = format!("self._native.{}", operation.name);
    let passed = passed(operation);
    let given = [native.clone()].into_iter().chain(passed.iter().cloned()).collect::<Vec<_>>();
    let given = given.join(", ");
    if operation.waits == Waits::Sends {
        return request(operation, form);
    }
    if operation.gives == Gives::Report {
        return report(operation, form, &passed);
    }
    let only = match (form, operation.gives) {
        (Form::Asyncio, Gives::Nothing) => format!("await submit({given})"),
        (Form::Asyncio, Gives::Lease) => format!("return Acquiring(_acquire(self, {given}))"),
        (Form::Threads, Gives::Nothing) => format!("block({given})"),
        (Form::Threads, Gives::Lease) => format!("return Lease(self, block({given}))"),
        (Form::Shared, Gives::Introduction) => {
            format!("return _said({native}({}))", passed.join(", "))
        }
        (Form::Shared, Gives::Listed) if operation.owner == Owner::Lease => {
            format!("return _items(\"{}\", {native}())", operation.name)
        }
        (Form::Shared, Gives::Listed) => {
            format!("return self._list(\"{}\")", operation.name)
        }
        (Form::Shared, Gives::Text) => format!("return {native}({})", passed.join(", ")),
        _ => format!("{native}({})", passed.join(", ")),
    };
    vec![only]
}

/// A report gets its class by name: the classes are imported with the first of them.
fn report(operation: &Operation, form: Form, passed: &[String]) -> Vec<String> {
    let class = report_class(operation);
    let native = format!("self._native.{}", operation.name);
    let named = [format!("\"{class}\""), native];
    let given = named.iter().chain(passed).cloned().collect::<Vec<_>>().join(", ");
    let call = match form {
        Form::Asyncio => format!("await _reported({given})"),
        Form::Threads => format!("_reported({given})"),
        Form::Shared => format!("report_of({given})"),
    };
    vec![format!("report: {class} = {call}"), "return report".to_owned()]
}

fn is_object(kind: Kind) -> bool {
    matches!(kind, Kind::Arguments | Kind::TextArguments | Kind::OptionalParams | Kind::Params)
}

/// A request gives its arguments up before it waits: the traceback of an error keeps its frame.
fn request(operation: &Operation, form: Form) -> Vec<String> {
    let native = format!("self._native.{}", operation.name);
    let is_held = |one: &&Parameter| is_object(one.kind);
    let held = operation.parameters.iter().find(is_held).map(|one| one.name);
    let named: Vec<_> =
        operation.parameters.iter().filter(|one| !is_held(one)).map(|one| one.name).collect();
    let with = |first: &[&str], rest: &[&str]| [first, rest].concat().join(", ");
    let class = operation.typescript;
    match (held, form) {
        (None, Form::Asyncio) => {
            let given = with(&[&native, "options"], &named);
            vec![format!("return {class}(await submit_call({given}))")]
        }
        (None, _) => {
            let given = with(&[&native, "options"], &named);
            vec![format!("return {class}(block_call({given}))")]
        }
        (Some(held), Form::Asyncio) => {
            let given = with(&[&native, "options"], &named);
            vec![
                format!("call = submit_call({given}, arguments_text({held}))"),
                format!("del {held}  # The traceback of an error keeps this frame."),
                format!("return {class}(await call)"),
            ]
        }
        (Some(held), _) => {
            let given = with(&[class, &native, "options", "held"], &named);
            vec![
                format!("held = [arguments_text({held})]"),
                format!("del {held}"),
                format!("return _called({given})"),
            ]
        }
    }
}

/// The stub of the native half.
pub fn stub(owner: Owner) -> String {
    let rows = rows(owner).into_iter().filter(|row| is_native(row));
    let mut text = String::new();
    for operation in rows {
        let mut all = vec!["self".to_owned()];
        if operation.waits != Waits::Now {
            all.extend(["to: _To".to_owned(), "token: int".to_owned()]);
        }
        all.extend(operation.parameters.iter().map(native_input));
        match operation.waits {
            Waits::Sends => all.push("options: _CallText".to_owned()),
            _ if operation.options.is_some() => all.push("options: str".to_owned()),
            _ => {}
        }
        let given = match (operation.waits, operation.gives) {
            (Waits::Now, Gives::Nothing) => "None",
            (Waits::Now, _) => "str",
            _ => "Operation",
        };
        let (name, inputs) = (operation.name, all.join(", "));
        let line = format!("    def {name}({inputs}) -> {given}: ...\n");
        if line.len() <= 101 {
            text.push_str(&line);
        } else {
            let _ = write!(text, "    def {name}(\n        {inputs}\n    ) -> {given}: ...\n");
        }
    }
    text
}

/// Whether the native half of an operation is written: lists and what servers say of themselves
/// have forms of their own there.
pub fn is_native(operation: &Operation) -> bool {
    operation.is_written(Language::Python)
        && !matches!(operation.gives, Gives::Listed | Gives::Introduction)
}

fn native_input(parameter: &Parameter) -> String {
    let name = parameter.name;
    match parameter.kind {
        Kind::OptionalText | Kind::OptionalConfig | Kind::Settings => format!("{name}: str | None"),
        Kind::Path => format!("{name}: str | PathLike[str]"),
        Kind::Flag => format!("{name}: bool"),
        Kind::Switch => "on: bool".to_owned(),
        Kind::Index => format!("{name}: int | None"),
        Kind::Timeout => format!("{name}_ms: int | None"),
        _ => format!("{name}: str"),
    }
}
