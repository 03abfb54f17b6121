//! The glue of Node: `bindings/node/src/objects/operations.rs`.

use std::fmt::Write as _;

use trunkline_pool::interface::operations::{
    Gives, Language, Operation, Owner, Parameter, ParameterKind as Kind, Waits, rows,
};

use super::node::is_kept;
use super::rust::{
    ORIGIN, arguments, begins_at_once, function, imports, is_fallible, options_type,
};

/// The types of the core that the methods name.
const CORE: &[&str] = &[
    "AcquireOptions",
    "ConfigureOptions",
    "DrainOptions",
    "GateLists",
    "LoadOptions",
    "ReloadOptions",
    "ServerSpec",
    "Servers",
    "SignInOptions",
    "SourceName",
    "StatusOptions",
    "Switch",
    "WorkspaceTrust",
    "roots_from_json",
];

/// The whole file.
pub fn file() -> String {
    let mut text = String::new();
    for owner in [Owner::Pool, Owner::Session, Owner::Lease] {
        let rows = rows(owner).into_iter().filter(|row| row.is_written(Language::Node));
        let methods: Vec<_> = rows.map(method).collect();
        let _ =
            write!(text, "\n#[napi]\nimpl Native{} {{\n{}}}\n", owner.class(), methods.join("\n"));
    }
    format!(
        "{ORIGIN}\nuse napi_derive::napi;\n{}\nuse crate::runtime::environment::Promise;\nuse crate::runtime::failure::{{Result, thrown}};\nuse crate::runtime::json_text::{{JsonText, duration, list_text, numbered}};\nuse crate::objects::lease::{{NativeLease, ended}};\nuse crate::objects::pool::NativePool;\nuse crate::runtime::reply::Settled;\nuse crate::objects::session::NativeSession;\n{text}",
        imports("trunkline", CORE, &text)
    )
}

fn method(operation: &Operation) -> String {
    let mut inputs: Vec<_> = operation.parameters.iter().map(input).collect();
    match (operation.options, operation.waits) {
        (Some(_), Waits::Sends) => inputs.push("options: Option<String>".to_owned()),
        (Some(_), _) => inputs.push("options: String".to_owned()),
        (None, _) => {}
    }
    if is_kept(operation) {
        inputs.push("known: Option<String>".to_owned());
    }
    if operation.waits != Waits::Now {
        inputs.push("number: Option<f64>".to_owned());
    }
    let given = match (operation.waits, operation.gives) {
        (Waits::Now, Gives::Nothing) => "()",
        (Waits::Now, Gives::Introduction) => "Option<JsonText>",
        (Waits::Now, Gives::Listed) if is_kept(operation) => "Option<JsonText>",
        (Waits::Now, Gives::Listed) => "JsonText",
        (Waits::Now, _) => "String",
        _ => "Promise",
    };
    let body = match operation.waits {
        Waits::Now => now(operation),
        Waits::Later => later(operation),
        Waits::Sends => sends(operation),
    };
    let name = operation.name;
    let head = inputs.iter().map(|input| format!(", {input}")).collect::<String>();
    let head = format!("    pub fn {name}(&self{head}) -> Result<{given}> {{\n");
    let inputs: String = inputs.iter().map(|input| format!("        {input},\n")).collect();
    let head = if head.len() <= 101 {
        head
    } else {
        format!("    pub fn {name}(\n        &self,\n{inputs}    ) -> Result<{given}> {{\n")
    };
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "    /// `{name}`, with texts for what is more than a number.\n    #[napi(catch_unwind)]\n{head}{body}    }}\n"
    )
}

fn input(parameter: &Parameter) -> String {
    let name = parameter.name;
    match parameter.kind {
        Kind::OptionalText | Kind::OptionalConfig | Kind::Settings => {
            format!("{name}: Option<String>")
        }
        Kind::Flag => format!("{name}: bool"),
        Kind::Switch => "on: bool".to_owned(),
        Kind::Index => format!("{name}: Option<u32>"),
        Kind::Timeout => format!("{name}_ms: Option<f64>"),
        _ => format!("{name}: String"),
    }
}

/// The statements that make of texts and numbers what the core takes.
fn parsed(operation: &Operation) -> String {
    let mut body = String::new();
    for parameter in operation.parameters {
        let name = parameter.name;
        let made = match parameter.kind {
            Kind::Config => format!("ServerSpec::from_json(&server, &{name}).map_err(thrown)?"),
            Kind::OptionalConfig => format!(
                "{name}.map(|{name}| ServerSpec::from_json(&server, &{name}));\nlet {name} = {name}.transpose().map_err(thrown)?"
            ),
            Kind::Servers => format!("Servers::from_json(&{name}).map_err(thrown)?"),
            Kind::Roots => format!("roots_from_json(&{name}).map_err(thrown)?"),
            Kind::Gates => format!("GateLists::from_json(&{name}).map_err(thrown)?"),
            Kind::Source => format!("{name}.parse::<SourceName>().map_err(thrown)?"),
            Kind::Flag => format!(
                "if {name} {{ WorkspaceTrust::Trusted }} else {{ WorkspaceTrust::Untrusted }}"
            ),
            Kind::Switch => "if on { Switch::On } else { Switch::Off }".to_owned(),
            Kind::Timeout => format!("{name}_ms.map(duration)"),
            _ => continue,
        };
        let _ = writeln!(body, "let {name} = {made};");
    }
    if let Some(scope) = operation.options {
        let kind = options_type(scope);
        let _ = writeln!(body, "let options = {kind}::from_json(&options).map_err(thrown)?;");
    }
    body
}

/// What the function of the core is called on, in its future.
fn object(owner: Owner) -> &'static str {
    match owner {
        Owner::Lease => "held.lease",
        owner => owner.word(),
    }
}

fn later(operation: &Operation) -> String {
    let call =
        format!("{}.{}({})", object(operation.owner), function(operation), arguments(operation));
    let held = if operation.owner == Owner::Lease { "held" } else { operation.owner.word() };
    let work =
        if begins_at_once(operation) { call } else { format!("async move {{ {call}.await }}") };
    let ends = match operation.gives {
        Gives::Nothing => "|()| Settled::Nothing",
        Gives::Lease => "self.lent()",
        _ => "Settled::report",
    };
    format!("{}self.run(number, |{held}| {work}, {ends})\n", parsed(operation))
}

fn sends(operation: &Operation) -> String {
    let names: Vec<_> = operation.parameters.iter().map(|one| format!("&{}", one.name)).collect();
    let owner = operation.owner.word();
    format!(
        "self.send(options, number, |{owner}, options, reply| {{\n    {owner}.start_{}({}, options, ended(reply))\n}})\n",
        operation.name,
        names.join(", ")
    )
}

fn now(operation: &Operation) -> String {
    let call = format!(
        "self.{}().{}({})",
        operation.owner.word(),
        function(operation),
        arguments(operation)
    );
    let is_fallible = is_fallible(operation);
    let ends = match (operation.gives, operation.owner) {
        (Gives::Nothing | Gives::Text, _) => "",
        (Gives::Introduction, _) if is_fallible => ".map(|said| said.map(JsonText::said))",
        (Gives::Introduction, _) => ".map(JsonText::said)",
        (Gives::Listed, Owner::Lease) => ".map(|listed| list_text(&listed))",
        (Gives::Listed, _) => ".map(|list| numbered(&list, known.as_deref()))",
        _ if is_fallible => ".map(|report| report.to_string())",
        _ => ".to_string()",
    };
    let call = format!("{call}{ends}");
    let call = if is_fallible { format!("{call}.map_err(thrown)") } else { format!("Ok({call})") };
    format!("{}{call}\n", parsed(operation))
}
