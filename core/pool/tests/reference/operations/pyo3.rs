//! The glue of Python: the methods of the native classes.

use std::fmt::Write as _;

use trunkline_pool::interface::operations::{
    Gives, Operation, Owner, Parameter, ParameterKind as Kind, Waits, rows,
};

use super::python::is_native;
use super::rust::{arguments, begins_at_once, function, is_fallible, options_type};

/// The methods of an owner.
pub fn methods(owner: Owner) -> String {
    let rows = rows(owner).into_iter().filter(|row| is_native(row));
    let methods: Vec<_> = rows
        .map(|row| match row.waits {
            Waits::Now => now(row),
            Waits::Later => later(row),
            Waits::Sends => sends(row),
        })
        .collect();
    methods.join("\n")
}

/// A method with its head; `body` has the lines of its body.
fn method(operation: &Operation, doc: &str, inputs: &[String], given: &str, body: &str) -> String {
    let name = operation.name;
    let head = format!("    fn {name}(&self, {}) -> PyResult<{given}> {{\n", inputs.join(", "));
    let inputs: String = inputs.iter().map(|input| format!("        {input},\n")).collect();
    let head = if head.len() <= 101 {
        head
    } else {
        format!("    fn {name}(\n        &self,\n{inputs}    ) -> PyResult<{given}> {{\n")
    };
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!("    /// {doc}\n    #[rustfmt::skip]\n{head}{body}    }}\n")
}

/// The parameters of what has an end of its own: what goes into it is owned.
fn owned(parameter: &Parameter) -> String {
    let name = parameter.name;
    match parameter.kind {
        Kind::Config | Kind::Servers | Kind::Roots => format!("{name}: &str"),
        Kind::OptionalConfig => format!("{name}: Option<&str>"),
        Kind::OptionalText => format!("{name}: Option<String>"),
        Kind::Path => format!("{name}: PathBuf"),
        Kind::Flag => format!("{name}: bool"),
        Kind::Index => format!("{name}: Option<EntryIndex>"),
        Kind::Timeout => format!("{name}_ms: Option<u64>"),
        _ => format!("{name}: String"),
    }
}

fn later(operation: &Operation) -> String {
    let mut inputs = vec!["to: &Bound<'_, PyAny>".to_owned(), "token: u64".to_owned()];
    inputs.extend(operation.parameters.iter().map(owned));
    let mut parsed = String::new();
    for parameter in operation.parameters {
        let name = parameter.name;
        let made = match parameter.kind {
            Kind::Config => format!("ServerSpec::from_json(&server, {name}).or_raise(to.py())?"),
            Kind::OptionalConfig => format!(
                "{name}.map(|{name}| ServerSpec::from_json(&server, {name}));\nlet {name} = {name}.transpose().or_raise(to.py())?"
            ),
            Kind::Servers => format!("Servers::from_json({name}).or_raise(to.py())?"),
            Kind::Roots => format!("roots_from_json({name}).or_raise(to.py())?"),
            Kind::Flag => format!(
                "if {name} {{ WorkspaceTrust::Trusted }} else {{ WorkspaceTrust::Untrusted }}"
            ),
            Kind::Index => format!("{name}.map(|EntryIndex({name})| {name})"),
            Kind::Timeout => format!("{name}_ms.map(Duration::from_millis)"),
            _ => continue,
        };
        let _ = writeln!(parsed, "let {name} = {made};");
    }
    if let Some(scope) = operation.options {
        inputs.push("options: &str".to_owned());
        let kind = options_type(scope);
        let _ = writeln!(parsed, "let options = {kind}::from_json(options).or_raise(to.py())?;");
    }
    let body = format!("{parsed}{}", started(operation));
    let body = if body.contains("or_raise") {
        let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
        format!("guarded(|| {{\n{lines}}})\n")
    } else {
        body
    };
    let doc = format!("Starts `{}`.", operation.name);
    method(operation, &doc, &inputs, "Py<Operation>", &body)
}

fn started(operation: &Operation) -> String {
    let object = object(operation.owner);
    let call = format!("{object}.{}({})", function(operation), arguments(operation));
    let held = object.split('.').next().unwrap_or(object);
    let work = match operation.gives {
        Gives::Lease => {
            let pool = if held == "pool" { "pool" } else { "pool: open.pool" };
            format!(
                "|{held}| async move {{\n    let lease = {call}.await?;\n    Ok(HeldLease {{ lease, {pool} }}.lent())\n}}"
            )
        }
        gives => {
            let ends =
                if gives == Gives::Nothing { "|()| Payload::Nothing" } else { "Payload::report" };
            if begins_at_once(operation) {
                format!(
                    "|{held}| {{\n    let ends = {call};\n    async move {{ ends.await.map({ends}) }}\n}}"
                )
            } else {
                format!("|{held}| async move {{ {call}.await.map({ends}) }}")
            }
        }
    };
    format!("self.start(to, token, {work})\n")
}

/// What the function of the core is called on.
fn object(owner: Owner) -> &'static str {
    match owner {
        Owner::Session => "open.session",
        Owner::Lease => "held.lease",
        _ => "pool",
    }
}

fn sends(operation: &Operation) -> String {
    let mut inputs = vec!["to: &Bound<'_, PyAny>".to_owned(), "token: u64".to_owned()];
    inputs.extend(operation.parameters.iter().map(|one| format!("{}: &str", one.name)));
    inputs.push("options: CallText".to_owned());
    let names: Vec<_> = operation.parameters.iter().map(|one| one.name).collect();
    let owner = operation.owner.word();
    let body = format!(
        "self.send(to, token, options, |{owner}, options, sink| {{\n    {owner}.start_{}({}, options, ended(sink))\n}})\n",
        operation.name,
        names.join(", ")
    );
    let doc = format!("Starts `{}`.", operation.name);
    method(operation, &doc, &inputs, "Py<Operation>", &body)
}

fn now(operation: &Operation) -> String {
    let mut inputs = vec!["py: Python<'_>".to_owned()];
    let is_checked = operation.gives == Gives::Nothing;
    inputs.extend(operation.parameters.iter().map(|parameter| match parameter.kind {
        Kind::Settings => format!("{}: Option<&str>", parameter.name),
        Kind::Switch => "on: bool".to_owned(),
        Kind::Text if is_checked => {
            format!("#[pyo3(from_py_with = Text::{0})] {0}: Text", parameter.name)
        }
        _ => format!("{}: &str", parameter.name),
    }));
    let mut parsed = String::new();
    for parameter in operation.parameters {
        let name = parameter.name;
        let made = match parameter.kind {
            Kind::Config => format!("ServerSpec::from_json(server, {name})?"),
            Kind::Gates => format!("GateLists::from_json({name})?"),
            Kind::Source => format!("{name}.parse::<SourceName>()?"),
            Kind::Switch => "if on { Switch::On } else { Switch::Off }".to_owned(),
            _ => continue,
        };
        let _ = writeln!(parsed, "    let {name} = {made};");
    }
    if let Some(scope) = operation.options {
        inputs.push("options: &str".to_owned());
        let _ = writeln!(parsed, "    let options = {}::from_json(options)?;", options_type(scope));
    }
    let arguments = arguments(operation).replace(".as_deref()", "").replace("&name", "name");
    let arguments = if is_checked { arguments } else { arguments.replace("&server", "server") };
    let object = operation.owner.word();
    let call = format!("{object}.{}({arguments})", function(operation));
    let call = if is_fallible(operation) { call } else { format!("Ok({call})") };
    let (form, given) = match operation.gives {
        Gives::Nothing => ("changed", "()"),
        _ => ("reported", "String"),
    };
    let body = if parsed.is_empty() {
        format!("self.{form}(py, |{object}| {call})\n")
    } else {
        format!("self.{form}(py, |{object}| {{\n{parsed}    {call}\n}})\n")
    };
    let doc = match operation.gives {
        Gives::Nothing => format!("Does `{}`.", operation.name),
        _ => format!("What `{}` gives, as a text.", operation.name),
    };
    method(operation, &doc, &inputs, given, &body)
}
