//! A reading as JSON, for the files beside the settings.

use serde_json::{Map, Value, json};
use trunkline_pool::settings::{
    Approved, Input, InputKind, Place, Secrecy, Server, Source, Template,
};

pub(crate) fn shown(source: &Source) -> Value {
    let servers = source.servers.iter().map(|one| (one.name.clone(), server(one)));
    let mut out = json!({
        "format": source.format.name(),
        "servers": Value::Object(servers.collect::<Map<_, _>>()),
    });
    let skipped = source
        .skipped
        .iter()
        .map(|one| json!(format!("{} {}: {}", at(one.place), one.name, one.what)));
    let approvals = source.approvals.iter().map(|one| {
        let server = one.server.as_deref().unwrap_or("(file)");
        let what = match &one.what {
            Approved::Everything => "everything".to_owned(),
            Approved::Names(names) => names.join(", "),
            _ => String::new(),
        };
        json!(format!("{} {server}: {}: {what}", at(one.place), one.path))
    });
    let findings = source.findings.iter().map(|one| {
        let server = one.server.as_deref().unwrap_or("(file)");
        json!(format!("{} {server}: {}: {}", at(one.place), one.path, one.kind.as_str()))
    });
    let parts = [
        ("skipped", skipped.collect::<Vec<_>>()),
        ("inputs", source.inputs.iter().map(input).collect()),
        ("approvals", approvals.collect()),
        ("findings", findings.collect()),
    ];
    for (name, part) in parts {
        if !part.is_empty() {
            out[name] = part.into();
        }
    }
    if let Some(allowed) = &source.lists.allowed {
        out["allowed"] = json!(allowed);
    }
    if !source.lists.excluded.is_empty() {
        out["excluded"] = json!(source.lists.excluded);
    }
    out
}

fn server(server: &Server) -> Value {
    match &server.template {
        Ok(template) => {
            let mut out = json!({
                "at": at(server.place),
                "transport": template.unexpanded().transport_name(),
                "configuration": template.configuration(),
            });
            if let Some(file) = template.env_file() {
                out["env_file"] = json!(file);
            }
            let provenance = provenance(template);
            if !provenance.is_empty() {
                out["provenance"] = json!(provenance);
            }
            out
        }
        Err(error) => {
            json!({ "at": at(server.place), "error": error.message(), "detail": error.detail() })
        }
    }
}

fn provenance(template: &Template) -> Vec<String> {
    let rows = template.provenance().iter();
    rows.map(|row| format!("{} {} = {}: {}", at(row.place), row.field, row.path, row.rule.as_str()))
        .collect()
}

fn input(input: &Input) -> Value {
    let kind = match &input.kind {
        InputKind::Text => json!("text"),
        InputKind::Choice(choices) => json!(choices),
        InputKind::Command(command) => json!({ "command": command }),
        _ => Value::Null,
    };
    json!({
        "at": at(input.place),
        "id": input.id,
        "kind": kind,
        "description": input.description,
        "default": input.default,
        "secret": input.secrecy == Secrecy::Secret,
    })
}

fn at(place: Place) -> String {
    format!("{}:{}", place.line, place.column)
}
