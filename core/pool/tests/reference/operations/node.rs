//! The declarations and the methods of the package of Node.

use std::fmt::Write as _;

use trunkline_pool::interface::OptionScope;
use trunkline_pool::interface::operations::{
    Gives, Language, Operation, Owner, Parameter, ParameterKind as Kind, Waits, rows,
};

use super::text::{node_parameter, paragraphs, wrapped};

fn written(owner: Owner) -> impl Iterator<Item = &'static Operation> {
    rows(owner).into_iter().filter(|row| row.is_written(Language::Node))
}

fn name(operation: &Operation) -> String {
    operation.name_in(Language::Node).expect("only rows of Node are written")
}

/// The parameters that have a place of their own; the others are among the options.
fn placed(operation: &Operation) -> impl Iterator<Item = &'static Parameter> {
    let is_placed = |one: &&Parameter| !matches!(one.kind, Kind::Timeout | Kind::SessionId);
    operation.parameters.iter().filter(is_placed)
}

fn has(operation: &Operation, kind: Kind) -> bool {
    operation.parameters.iter().any(|parameter| parameter.kind == kind)
}

/// The declarations of the methods, with their words.
pub fn declarations(owner: Owner) -> String {
    let mut text = String::new();
    for operation in written(owner) {
        push_words(&mut text, operation);
        let mut inputs: Vec<_> = placed(operation).map(declared).collect();
        inputs.extend(options(operation));
        let given = match operation.waits {
            Waits::Now => operation.typescript.to_owned(),
            _ => format!("Promise<{}>", operation.typescript),
        };
        let name = name(operation);
        let line = format!("  {name}({}): {given};\n", inputs.join(", "));
        if line.len() <= 121 {
            text.push_str(&line);
        } else {
            let inputs: String = inputs.iter().map(|input| format!("    {input},\n")).collect();
            let _ = write!(text, "  {name}(\n{inputs}  ): {given};\n");
        }
    }
    text
}

fn push_words(text: &mut String, operation: &Operation) {
    let said = paragraphs(operation, Language::Node);
    if let [only] = said.as_slice()
        && only.len() <= 90
    {
        let _ = writeln!(text, "  /** {only} */");
        return;
    }
    let said: Vec<_> = said.iter().map(|text| wrapped(text, "   * ", 100)).collect();
    let _ = write!(text, "  /**\n{}   */\n", said.join("   *\n"));
}

fn declared(parameter: &Parameter) -> String {
    let name = node_parameter(parameter);
    let kind = match parameter.kind {
        Kind::OptionalText => return format!("{name}?: string | null"),
        Kind::Address | Kind::Path => "string | URL",
        Kind::Config => "ServerConfig",
        Kind::OptionalConfig => return format!("{name}?: ServerConfig | null"),
        Kind::Servers => "Servers",
        Kind::Settings => "string | JsonObject | null",
        Kind::Roots => "string[]",
        Kind::Gates => "GateLists",
        Kind::Flag => "boolean",
        Kind::Switch => "'on' | 'off'",
        Kind::Index => return format!("{name}?: number | null"),
        Kind::Arguments | Kind::OptionalParams => return format!("{name}?: JsonObject | null"),
        Kind::TextArguments => return format!("{name}?: Record<string, string> | null"),
        Kind::Params => "JsonObject",
        Kind::Shape => "ToolFormat",
        _ => "string",
    };
    format!("{name}: {kind}")
}

fn options(operation: &Operation) -> Option<String> {
    let kind = match operation.options {
        Some(OptionScope::Acquire) if has(operation, Kind::SessionId) => {
            return Some("options: AcquireOptions & { session: string }".to_owned());
        }
        Some(OptionScope::Configure) => return Some("options: ConfigureOptions".to_owned()),
        Some(OptionScope::Acquire) => "AcquireOptions",
        Some(OptionScope::Call) => "CallOptions",
        Some(OptionScope::Drain) => "DrainOptions",
        Some(OptionScope::SignIn) => "SignInOptions",
        Some(OptionScope::Load) => "LoadOptions",
        Some(OptionScope::Reload) => "ReloadOptions",
        Some(OptionScope::Status) => "StatusOptions",
        Some(other) => panic!("{} has no type", other.name()),
        None if has(operation, Kind::Timeout) => "WaitOptions",
        None if operation.waits == Waits::Now => return None,
        None => "Abortable",
    };
    Some(format!("options?: {kind}"))
}

/// The declarations of the native half.
pub fn natives(owner: Owner) -> String {
    let mut text = String::new();
    for operation in written(owner) {
        let mut inputs: Vec<_> = operation.parameters.iter().map(native).collect();
        match (operation.options, operation.waits) {
            (Some(_), Waits::Sends) => inputs.push("options?: string".to_owned()),
            (Some(_), _) => inputs.push("options: string".to_owned()),
            (None, _) => {}
        }
        if is_kept(operation) {
            inputs.push("known?: string".to_owned());
        }
        let given = match operation.gives {
            Gives::Nothing => "void",
            Gives::Lease => "NativeLease",
            Gives::Introduction => "string | null",
            // Nothing where JavaScript has the list.
            Gives::Listed if is_kept(operation) => "string | null",
            _ => "string",
        };
        let given = match operation.waits {
            Waits::Now => given.to_owned(),
            _ => {
                inputs.push("number?: number".to_owned());
                format!("Promise<{given}>")
            }
        };
        let _ = writeln!(text, "  {}({}): {given};", name(operation), inputs.join(", "));
    }
    text
}

/// Whether JavaScript keeps the list that it gives, and passes the mark of the one that it has.
pub fn is_kept(operation: &Operation) -> bool {
    matches!(operation.gives, Gives::Listed) && operation.owner != Owner::Lease
}

fn native(parameter: &Parameter) -> String {
    let name = node_parameter(parameter);
    match parameter.kind {
        Kind::OptionalText => format!("{name}?: string | null"),
        Kind::OptionalConfig | Kind::Settings => format!("{name}: string | undefined"),
        Kind::Gates => "gates: string".to_owned(),
        Kind::Flag => format!("{name}: boolean"),
        Kind::Switch => "on: boolean".to_owned(),
        Kind::Index => format!("{name}?: number | null"),
        Kind::Timeout => format!("{name}?: number"),
        _ => format!("{name}: string"),
    }
}

/// The methods.
pub fn methods(owner: Owner) -> String {
    let methods: Vec<_> = written(owner).map(method).collect();
    methods.join("\n")
}

fn method(operation: &Operation) -> String {
    let mut inputs: Vec<_> = placed(operation).map(node_parameter).collect();
    if options(operation).is_some() {
        inputs.push("options".to_owned());
    }
    // Calls have a way of their own, which is asynchronous by itself.
    let is_call = operation.name == "call_tool";
    let start = if operation.waits == Waits::Now || is_call { "" } else { "async " };
    let body = match operation.waits {
        _ if is_call => {
            "    return callTool(this.#native, tool, args, options, this);\n".to_owned()
        }
        Waits::Now => now(operation),
        Waits::Sends => format!(
            "    return send({}, options, (json, number) => {});\n",
            operation.typescript,
            call(operation, &["json", "number"])
        ),
        Waits::Later => later(operation),
    };
    format!("  {start}{}({}) {{\n{body}  }}\n", name(operation), inputs.join(", "))
}

/// The call of the native half.
fn call(operation: &Operation, more: &[&str]) -> String {
    let named = operation.parameters.iter().map(|parameter| {
        let name = node_parameter(parameter);
        match parameter.kind {
            Kind::Text | Kind::Source | Kind::Shape => format!("readText({name}, '{name}')"),
            Kind::Arguments | Kind::TextArguments | Kind::OptionalParams => {
                format!("encodeArguments({name})")
            }
            Kind::Params => format!("encodeJson({name}, '{name}')"),
            Kind::Address => format!("String({name})"),
            Kind::Flag => format!("readFlag({name}, '{name}')"),
            Kind::Gates => "json".to_owned(),
            Kind::SessionId => "own.session".to_owned(),
            Kind::Timeout => name,
            _ => format!("{name}Given"),
        }
    });
    let all: Vec<_> = named.chain(more.iter().map(|&more| more.to_owned())).collect();
    format!("this.#native.{}({})", name(operation), all.join(", "))
}

/// What is made of arguments before anything is begun.
fn push_given(body: &mut String, operation: &Operation) {
    for parameter in operation.parameters {
        let name = node_parameter(parameter);
        let made = match parameter.kind {
            Kind::OptionalText => format!("readOptionalText({name}, '{name}')"),
            Kind::Path => format!("fileOf({name})"),
            Kind::Config | Kind::Servers | Kind::Roots => format!("encodeJson({name}, '{name}')"),
            Kind::OptionalConfig => format!("encodeOptionalJson({name}, '{name}')"),
            Kind::Settings => format!("settingsText({name})"),
            Kind::Switch => format!("readSwitch({name}, '{name}')"),
            Kind::Index => format!("readIndex({name})"),
            Kind::SessionId => {
                body.push_str("    checkSession(own.session);\n");
                continue;
            }
            Kind::Gates => {
                let _ = writeln!(body, "    const json = encodeOptions('gates', {name});");
                continue;
            }
            _ => continue,
        };
        let _ = writeln!(body, "    const {name}Given = {made};");
    }
}

fn later(operation: &Operation) -> String {
    let mut body = String::new();
    let mut signal = "signal";
    match operation.options {
        Some(scope) => {
            let scope = scope.name();
            let session = if has(operation, Kind::SessionId) { ", 'session'" } else { "" };
            signal = "own.signal";
            let _ = writeln!(
                body,
                "    const {{ own, rest }} = split(options, ['signal'{session}], '{scope}');"
            );
            push_given(&mut body, operation);
            let _ = writeln!(body, "    const json = encodeOptions('{scope}', rest);");
        }
        None => {
            body.push_str(match has(operation, Kind::Timeout) {
                true => "    const { signal, timeoutMs } = readTimes(options);\n",
                false => "    const { signal } = split(options, ['signal']).own;\n",
            });
            push_given(&mut body, operation);
        }
    }
    let more: &[&str] = if operation.options.is_some() { &["json", "number"] } else { &["number"] };
    let settled = format!("settle({signal}, (number) => {})", call(operation, more));
    let _ = writeln!(
        body,
        "    return {};",
        match operation.gives {
            Gives::Nothing => settled,
            Gives::Lease => format!("new Lease(await {settled}, this)"),
            _ => format!("report(await {settled})"),
        }
    );
    body
}

fn now(operation: &Operation) -> String {
    let mut body = String::new();
    push_given(&mut body, operation);
    let mut more: &[&str] = &[];
    if let Some(scope) = operation.options {
        let _ = writeln!(body, "    const json = encodeOptions('{}', options);", scope.name());
        more = &["json"];
    } else if is_kept(operation) {
        more = &["known"];
    }
    let guarded = format!("guarded(() => {})", call(operation, more));
    let _ = writeln!(
        body,
        "    {};",
        match (operation.gives, operation.owner) {
            (Gives::Nothing, _) => guarded,
            (Gives::Text, _) => format!("return {guarded}"),
            (Gives::Introduction, _) => format!("return decodeIntroduction({guarded})"),
            (Gives::Listed, Owner::Lease) => format!("return decodeList({guarded})"),
            (Gives::Listed, _) =>
                format!("return this.#lists.listed('{}', (known) => {guarded})", operation.name),
            _ => format!("return report({guarded})"),
        }
    );
    body
}
