//! The operations of C++ that do not wait: `include/trunkline_operations.hpp`.

use std::fmt::Write as _;

use trunkline_pool::interface::OptionScope;
use trunkline_pool::interface::operations::{
    Gives, Language, Operation, Owner, Parameter, ParameterKind as Kind, Waits, rows,
};

use super::text::{comment_of_cpp, in_language};

/// The whole file.
pub fn file() -> String {
    let mut text = String::new();
    for owner in [Owner::Lease, Owner::Session, Owner::Pool] {
        let rows = rows(owner).into_iter().filter(|row| has_forms(row));
        let methods: String = rows.map(method).collect();
        let class = format!("{}_operations", owner.word());
        let _ = write!(
            text,
            "/** The operations of a {} that take their time, in one of the forms that do not wait. */\n\
             template <class Form> class {class} {{\npublic:\n    /** In that form. */\n    explicit {class}(Form form) : form_(std::move(form)) {{}}\n\n\
             {methods}\nprivate:\n    Form form_;\n}};\n\n",
            owner.word()
        );
    }
    format!("{HEAD}{text}}} // namespace trunkline\n\n#endif\n")
}

fn has_forms(row: &Operation) -> bool {
    row.waits != Waits::Now && row.is_written(Language::C)
}

fn method(row: &Operation) -> String {
    let c = row.name_in(Language::C).expect("only rows of C are written");
    let first = row.doc.split_inclusive(". ").next().unwrap_or_default().trim_end();
    let first = in_language(first, Language::C);
    let value = match row.gives {
        Gives::Nothing => "void",
        Gives::Lease => "lease",
        _ => "std::string",
    };
    let number = (row.owner != Owner::Pool).then(|| "form_.of.number".to_owned());
    let mut takes: Vec<_> = row.parameters.iter().map(taken).collect();
    let mut gives: Vec<_> = number.into_iter().chain(row.parameters.iter().map(given)).collect();
    let mut before = "";
    match row.options {
        Some(OptionScope::Call) => {
            takes.push("const call_options &options = detail::default_options()".to_owned());
            gives.push("&raw".to_owned());
            before = "        const trunkline_call_options raw = options.raw();\n";
        }
        Some(_) => {
            takes.push("std::string_view options = {}".to_owned());
            gives.push("detail::view(options)".to_owned());
        }
        None => {}
    }
    let gives = if gives.is_empty() {
        String::new()
    } else {
        format!(",\n            {}", gives.join(", "))
    };
    format!(
        "{}    auto {}({}) {{\n{before}        return form_.template run<{value}>(\n            &{c}_start, &{c}_enqueue{gives});\n    }}\n",
        comment_of_cpp(&format!("{first} See `{c}`.")),
        row.name,
        takes.join(", ")
    )
}

/// A parameter of the method.
fn taken(parameter: &Parameter) -> String {
    let name = parameter.kind.c_name(parameter.name);
    let name = name.strip_suffix("_json").or(name.strip_suffix("_ms")).unwrap_or(&name);
    match parameter.kind {
        Kind::Timeout => format!("std::optional<std::chrono::milliseconds> {name} = {{}}"),
        Kind::Index => format!("std::uint32_t {name} = TRUNKLINE_EVERY_ENTRY"),
        Kind::Flag => format!("workspace_trust {name}"),
        Kind::OptionalText | Kind::OptionalConfig | Kind::Arguments | Kind::OptionalParams => {
            format!("std::string_view {name} = {{}}")
        }
        _ => format!("std::string_view {name}"),
    }
}

/// What the function of C gets of it.
fn given(parameter: &Parameter) -> String {
    let name = parameter.kind.c_name(parameter.name);
    let name = name.strip_suffix("_json").or(name.strip_suffix("_ms")).unwrap_or(&name);
    match parameter.kind {
        Kind::Timeout => format!("detail::milliseconds({name})"),
        Kind::Index => name.to_owned(),
        Kind::Flag => format!("static_cast<std::uint32_t>({name})"),
        _ => format!("detail::view({name})"),
    }
}

const HEAD: &str = "//! Written from core/pool/src/interface/operations; do not edit.
/*
 * The operations that take their time, in the forms of trunkline_forms.hpp. Include trunkline.hpp.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_OPERATIONS_HPP
#define TRUNKLINE_OPERATIONS_HPP

#include \"trunkline_forms.hpp\"

namespace trunkline {

class lease;

";
