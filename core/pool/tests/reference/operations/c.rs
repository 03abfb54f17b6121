//! The functions of C: `ffi/src/ops/{pool,session,lease}_ops.rs`.

use std::fmt::Write as _;

use trunkline_pool::interface::OptionScope;
use trunkline_pool::interface::operations::{
    Gives, Language, Operation, Owner, Parameter, ParameterKind as Kind, Waits, rows,
};

use super::rust::{
    ORIGIN, arguments, begins_at_once, function, imports, is_fallible, options_type,
};
use super::text::{comment, paragraphs};

const SAFETY: &str = "// SAFETY: the caller keeps the header's promises about pointers.";

/// The types of the core that the functions name.
const CORE: &[&str] = &[
    "AcquireOptions",
    "CallResult",
    "ConfigureOptions",
    "DrainOptions",
    "GateLists",
    "LoadOptions",
    "Operation",
    "Pool",
    "ReloadOptions",
    "Result",
    "ServerSpec",
    "Servers",
    "ToolFormat",
    "SignInOptions",
    "SourceName",
    "StatusOptions",
    "Switch",
    "WorkspaceTrust",
    "roots_from_json",
];

const TYPES: &[&str] = &[
    "CallOptionsStruct",
    "DestroyFn",
    "LeaseHandle",
    "OpHandle",
    "SessionHandle",
    "Status",
    "Str",
    "TRUNKLINE_EVERY_ENTRY",
];

/// The file of an owner.
pub fn file(owner: Owner) -> String {
    let all = rows(owner);
    let rows = || all.iter().filter(|row| row.is_written(Language::C));
    let mut text = String::new();
    for operation in rows() {
        match operation.waits {
            Waits::Now => push_now(&mut text, operation),
            _ => push_forms(&mut text, operation),
        }
    }
    for operation in rows().filter(|row| row.waits != Waits::Now) {
        push_preparation(&mut text, operation);
    }
    let used = |krate, names: &[&str]| imports(krate, names, &text);
    let forms =
        imports("crate::ops::forms", &["self", "StartOuts", "Sends"], &format!("self {text}"));
    let imports = [
        used("trunkline", CORE),
        "\nuse crate::abi::buf::Buf;\n".to_owned(),
        used("crate::ops::call_options", &["call_options"]),
        used("crate::delivery::completion", &["Completion", "later"]),
        used("crate::abi::error", &["ErrorObject"]),
        forms,
        used("crate::abi::item", &["DoneFn"]),
        used("crate::delivery::handle_registry", &["PoolObject"]),
        used("crate::delivery::outcome", &["Value"]),
        used("crate::delivery::queue", &["QueueObject"]),
        "use crate::abi::raw;\n".to_owned(),
        used("crate::abi::types", TYPES),
    ];
    format!("{ORIGIN}\nuse std::ffi::c_void;\n\n{}\n{}\n", imports.concat(), text.trim_end())
}

/// What says which object it is about.
fn handle(owner: Owner) -> Option<&'static str> {
    match owner {
        Owner::Session => Some("session"),
        Owner::Lease => Some("lease"),
        _ => None,
    }
}

/// Name and type of each parameter of C, without those of the form.
fn inputs(operation: &Operation) -> Vec<(String, &'static str)> {
    let handle = handle(operation.owner).map(|handle| {
        let kind = if operation.owner == Owner::Lease { "LeaseHandle" } else { "SessionHandle" };
        (handle.to_owned(), kind)
    });
    let named = operation.parameters.iter().map(|parameter| {
        let kind = match parameter.kind {
            Kind::Timeout => "u64",
            Kind::Index | Kind::Flag | Kind::Switch => "u32",
            _ => "Str",
        };
        (parameter.kind.c_name(parameter.name), kind)
    });
    let options = match operation.options {
        Some(OptionScope::Call) => Some(("options".to_owned(), "*const CallOptionsStruct")),
        Some(_) => Some(("options_json".to_owned(), "Str")),
        None => None,
    };
    handle.into_iter().chain(named).chain(options).collect()
}

fn out(gives: Gives) -> Option<(String, &'static str)> {
    match gives {
        Gives::Nothing => None,
        Gives::Lease => Some(("out".to_owned(), "*mut LeaseHandle")),
        _ => Some(("out".to_owned(), "*mut *mut Buf")),
    }
}

/// One exported function.
fn push_function(
    text: &mut String,
    (name, doc): (&str, &[String]),
    inputs: &[(String, &'static str)],
    body: &str,
) {
    let _ = write!(
        text,
        "{}#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {name}(\n    pool: *mut PoolObject,\n",
        comment(doc, "///")
    );
    for (name, kind) in inputs {
        let _ = writeln!(text, "    {name}: {kind},");
    }
    let _ = write!(text, "    err: *mut *mut ErrorObject,\n) -> Status {{\n{body}}}\n\n");
}

/// The three forms.
fn push_forms(text: &mut String, operation: &Operation) {
    let name = operation.name_in(Language::C).expect("only rows of C are written");
    let inputs = inputs(operation);
    let passed: Vec<_> = inputs.iter().map(|(name, _)| name.as_str()).collect();
    let prepared = format!(
        "{}({})",
        operation.name,
        ["pool"].iter().chain(&passed).copied().collect::<Vec<_>>().join(", ")
    );
    let out = out(operation.gives);
    let (form, given) = match operation.gives {
        Gives::Nothing => ("wait_for_end", "pool, err"),
        Gives::Lease => ("wait_for_lease", "pool, out, err"),
        _ => ("wait_for_text", "pool, out, err"),
    };
    let call = |form: &str, given: &str| {
        format!(
            "    {SAFETY}\n    unsafe {{\n        forms::{form}({given}, |pool| {prepared})\n    }}\n"
        )
    };
    let all = || inputs.iter().cloned();
    let plain: Vec<_> = all().chain(out).collect();
    let doc = paragraphs(operation, Language::C);
    push_function(text, (&name, &doc), &plain, &call(form, given));
    let parts = [("done", "DoneFn"), ("user_data", "*mut c_void"), ("destroy", "DestroyFn")];
    let parts = parts.into_iter().chain([("out_op", "*mut OpHandle")]);
    let started: Vec<_> = all().chain(parts.map(|(name, kind)| (name.to_owned(), kind))).collect();
    let doc = [format!("`{name}` whose end `done` is called with.")];
    let before =
        "    let (callback, outs) = ((done, user_data, destroy), StartOuts { op: out_op, err });\n";
    let body = format!("{before}{}", call("start", "pool, callback, outs"));
    push_function(text, (&format!("{name}_start"), &doc), &started, &body);
    let parts = [("queue", "*mut QueueObject"), ("tag", "u64"), ("out_op", "*mut OpHandle")];
    let queued: Vec<_> = all().chain(parts.map(|(name, kind)| (name.to_owned(), kind))).collect();
    let doc = [format!("`{name}` whose end comes out of `queue`, with `tag`.")];
    let before = "    let outs = StartOuts { op: out_op, err };\n";
    let body = format!("{before}{}", call("enqueue", "pool, (queue, tag), outs"));
    push_function(text, (&format!("{name}_enqueue"), &doc), &queued, &body);
}

/// What returns at once.
fn push_now(text: &mut String, operation: &Operation) {
    let name = operation.name_in(Language::C).expect("only rows of C are written");
    let mut body = String::new();
    if let Some(handle) = handle(operation.owner) {
        let _ = writeln!(body, "let {handle} = pool.objects.{handle}s.find({handle})?;");
    }
    for parameter in operation.parameters.iter().filter(|one| is_text(one)) {
        let _ = writeln!(body, "let {} = {}?;", parameter.name, read(parameter));
    }
    push_parsed(&mut body, operation);
    let object = if operation.owner == Owner::Pool { "pool.core" } else { operation.owner.word() };
    let arguments = arguments(operation).replace(".as_deref()", "").replace("&server", "server");
    let arguments = arguments.replace("&name", "name");
    let call = format!("{object}.{}({arguments})", function(operation));
    let call = if is_fallible(operation) { format!("{call}?") } else { call };
    body.push_str(&match (operation.gives, operation.owner) {
        (Gives::Nothing, _) => call.trim_end_matches('?').to_owned(),
        (Gives::Report, _) => format!("Ok(Buf::from({call}.to_string()))"),
        (Gives::Listed, Owner::Lease) => format!("Ok(Buf::from(&*{call}))"),
        _ => format!("Ok(Buf::from({call}))"),
    });
    let form = match operation.gives {
        Gives::Nothing => "forms::change(pool, err",
        _ => "forms::give(pool, out, err",
    };
    let body = indented(&body, 3);
    let body = format!(
        "    {SAFETY}\n    unsafe {{\n        {form}, |pool| {{\n{body}        }})\n    }}\n"
    );
    let inputs: Vec<_> = inputs(operation).into_iter().chain(out(operation.gives)).collect();
    push_function(text, (&name, &paragraphs(operation, Language::C)), &inputs, &body);
}

fn indented(text: &str, levels: usize) -> String {
    text.lines().map(|line| format!("{}{line}\n", "    ".repeat(levels))).collect()
}

/// Whether a parameter comes as a text.
fn is_text(parameter: &Parameter) -> bool {
    !matches!(parameter.kind, Kind::Timeout | Kind::Index | Kind::Flag | Kind::Switch)
}

/// How a text of the host is read.
fn read(parameter: &Parameter) -> String {
    let name = parameter.kind.c_name(parameter.name);
    let reader = match parameter.kind {
        Kind::OptionalText | Kind::Settings => "optional_text",
        _ => "text",
    };
    format!("raw::{reader}({name}, \"{name}\")")
}

/// The statements that make of texts and numbers what the core takes.
fn push_parsed(body: &mut String, operation: &Operation) {
    for parameter in operation.parameters {
        let name = parameter.name;
        let c_name = parameter.kind.c_name(name);
        let parsed = match parameter.kind {
            Kind::Config => "ServerSpec::from_json(server, config)?".to_owned(),
            Kind::OptionalConfig => {
                "match config {\n    \"\" => None,\n    config => Some(ServerSpec::from_json(server, config)?),\n}".to_owned()
            }
            Kind::Servers => format!("Servers::from_json({name})?"),
            Kind::Roots => format!("roots_from_json({name})?"),
            Kind::Gates => format!("GateLists::from_json({name})?"),
            Kind::Source => format!("{name}.parse::<SourceName>()?"),
            Kind::Shape => format!("ToolFormat::from_word({name})?"),
            Kind::Timeout => format!("raw::optional_time({c_name})"),
            Kind::Index => format!("({c_name} != TRUNKLINE_EVERY_ENTRY).then_some({c_name})"),
            Kind::Flag => format!(
                "match raw::switch({c_name}, \"{c_name}\")? {{\n    true => WorkspaceTrust::Trusted,\n    false => WorkspaceTrust::Untrusted,\n}}"
            ),
            Kind::Switch => {
                format!("if raw::switch({c_name}, \"{c_name}\")? {{ Switch::On }} else {{ Switch::Off }}")
            }
            _ => continue,
        };
        let _ = writeln!(body, "let {name} = {parsed};");
    }
    if let Some(scope) = operation.options
        && scope != OptionScope::Call
    {
        let text = match operation.waits {
            Waits::Now => "raw::text(options_json, \"options_json\")?",
            _ => "options",
        };
        let _ = writeln!(body, "let options = {}::from_json({text})?;", options_type(scope));
    }
}

/// The function that checks the arguments and gives what launches the operation.
fn push_preparation(text: &mut String, operation: &Operation) {
    let inputs = inputs(operation);
    let sends = operation.waits == Waits::Sends;
    let given = "impl FnOnce(Completion) -> Operation + use<>";
    let given = if sends { format!("Sends<{given}>") } else { given.to_owned() };
    let parameters: String =
        inputs.iter().map(|(name, kind)| format!("    {name}: {kind},\n")).collect();
    let _ = write!(
        text,
        "/// Checks the arguments of `{name}`; what it gives starts the operation.\n///\n/// # Safety\n/// The pointers are as the header says.\nunsafe fn {name}(\n    pool: &PoolObject,\n{parameters}) -> Result<{given}> {{\n{}}}\n\n",
        indented(&if sends { sent(operation) } else { waited(operation) }, 1),
        name = operation.name
    );
}

/// Reads the texts of the host, all in one block.
fn push_texts(body: &mut String, operation: &Operation) {
    let mut texts: Vec<_> = operation
        .parameters
        .iter()
        .filter(|parameter| is_text(parameter))
        .map(|parameter| (parameter.name, format!("{}?", read(parameter))))
        .collect();
    match operation.options {
        Some(OptionScope::Call) => texts.push(("settings", "call_options(options)?".to_owned())),
        Some(_) => {
            texts.push(("options", "raw::text(options_json, \"options_json\")?".to_owned()));
        }
        None => {}
    }
    if texts.is_empty() {
        return;
    }
    body.push_str("// SAFETY: as the function's own.\n");
    if let [(name, read)] = texts.as_slice() {
        let _ = writeln!(body, "let {name} = unsafe {{ {} }}?;", read.trim_end_matches('?'));
        return;
    }
    let names: Vec<_> = texts.iter().map(|(name, _)| *name).collect();
    let reads: String = texts.iter().map(|(_, read)| format!("        {read},\n")).collect();
    let _ = write!(body, "let ({}) = unsafe {{\n    (\n{reads}    )\n}};\n", names.join(", "));
}

/// The texts that go into the operation are its own from here on.
fn push_owned(body: &mut String, operation: &Operation) {
    for parameter in operation.parameters {
        let name = parameter.name;
        let owned = match parameter.kind {
            Kind::OptionalText => format!("{name}.map(str::to_owned)"),
            Kind::Text | Kind::Address | Kind::Path | Kind::SessionId => {
                format!("{name}.to_owned()")
            }
            Kind::Arguments | Kind::TextArguments | Kind::OptionalParams | Kind::Params => {
                format!("{name}.to_owned()")
            }
            _ => continue,
        };
        let _ = writeln!(body, "let {name} = {owned};");
    }
}

fn push_object(body: &mut String, operation: &Operation) {
    if let Some(handle) = handle(operation.owner) {
        let _ = writeln!(body, "let {handle} = pool.objects.{handle}s.find({handle})?;");
    }
}

fn waited(operation: &Operation) -> String {
    let mut body = String::new();
    push_texts(&mut body, operation);
    push_object(&mut body, operation);
    push_parsed(&mut body, operation);
    push_owned(&mut body, operation);
    let call =
        format!("{}.{}({})", operation.owner.word(), function(operation), arguments(operation));
    let ends = match operation.gives {
        Gives::Nothing => "|()| Value::Nothing",
        Gives::Lease => "Value::Lease",
        _ => "Value::report",
    };
    let argument = if operation.owner == Owner::Pool { "pool: Pool" } else { "_" };
    let work = if begins_at_once(operation) {
        format!("    let ends = {call};\n    async move {{ ends.await.map({ends}) }}\n")
    } else {
        format!("    async move {{ {call}.await.map({ends}) }}\n")
    };
    let _ = write!(body, "Ok(later(pool, move |{argument}| {{\n{work}}}))\n");
    body
}

fn sent(operation: &Operation) -> String {
    let mut body = String::new();
    push_texts(&mut body, operation);
    push_object(&mut body, operation);
    push_owned(&mut body, operation);
    let _ = write!(
        body,
        "Ok(Sends(move |completion: Completion| {{
    let options = settings.options(&completion);
    let done = |outcome: Result<CallResult>| {{
        completion.finish(outcome.map(|result| Value::Text(Buf::from(result))));
    }};
    let operation = {}.start_{}({}, done);
    // SAFETY: the host's function that passed the options has not returned yet.
    unsafe {{ settings.tell_number(operation) }}
}}))
",
        operation.owner.word(),
        operation.name,
        arguments(operation)
    );
    body
}
