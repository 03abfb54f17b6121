//! A request as text for a person (SPEC 12.9): every member of it but the hash, one a line, so that
//! who shows it shows everything.

use super::Request;
use super::origin::{HiddenEntry, RequestOrigin};
use crate::approvals::candidate::CandidateLaunch;
use crate::approvals::declared::DeclaredInput;
use crate::approvals::line::{escaped_line, escaped_text};
use crate::approvals::replaced::Replaced;
use crate::approvals::sign_in::{Address, SignIn};

/// The text, of printable ASCII and ends of lines alone.
pub(super) fn of(request: &Request) -> String {
    let mut lines = vec![escaped_text(&request.server)];
    let replaced = request.replaced.as_ref().map(Replaced::clause).unwrap_or_default();
    add(&mut lines, "replaced", &replaced);
    shown(&request.shown, &mut lines);
    let RequestOrigin { scope: _, file, line } = &request.origin;
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = file.as_deref().map(escaped_text).unwrap_or_default();
    add(&mut lines, "from", &format!("{file}{line}"));
    let hides = request.hides.as_ref().map(HiddenEntry::escaped).unwrap_or_default();
    add(&mut lines, "hides", &hides);
    for (title, names) in [
        ("env", &request.env),
        ("unset_env", &request.unset_env),
        ("inherit_env", &request.inherit_env),
        ("headers", &request.headers),
    ] {
        add(&mut lines, title, &names.join(" "));
    }
    add(&mut lines, "env_file", request.env_file.as_deref().unwrap_or_default());
    for taken in &request.takes {
        let text = format!("{} {}, in {}", taken.kind.as_str(), taken.name, taken.fields.join(" "));
        add(&mut lines, "takes", &text);
    }
    request.inputs.iter().for_each(|input| add(&mut lines, "input", &declared(input)));
    if let Some(oauth) = &request.oauth {
        sign_in(oauth, &mut lines);
    }
    for risk in &request.risks {
        let text = format!("{} {}", risk.kind.as_str(), risk.subject);
        add(&mut lines, "risk", text.trim_end());
    }
    for changed in request.changes.iter().flat_map(|changes| &changes.fields) {
        add(&mut lines, "change", &format!("{} {}", changed.change.as_str(), changed.field));
    }
    lines.join("\n")
}

fn add(lines: &mut Vec<String>, title: &str, value: &str) {
    if !value.is_empty() {
        lines.push(format!("  {title:<9}{value}"));
    }
}

fn shown(shown: &CandidateLaunch, lines: &mut Vec<String>) {
    match shown {
        CandidateLaunch::Process { program, args, cwd, in_workspace, .. } => {
            add(lines, "runs", &escaped_line(shown.argv()));
            add(lines, "program", &program.as_deref().map(escaped_text).unwrap_or_default());
            add(lines, "folder", &cwd.as_deref().map(escaped_text).unwrap_or_default());
            for argument in in_workspace.iter().filter_map(|place| args.get(place.checked_sub(1)?))
            {
                add(
                    lines,
                    "relative",
                    &format!("{}, which the workspace has", escaped_text(argument)),
                );
            }
        }
        CandidateLaunch::Remote { url, socket_path, oauth: _ } => {
            add(lines, "runs", &escaped_text(url));
            add(lines, "socket", &socket_path.as_deref().map(escaped_text).unwrap_or_default());
        }
    }
}

fn declared(input: &DeclaredInput) -> String {
    let mut text = format!("{} {}", input.kind, input.id);
    let secret = if input.is_secret { ", a secret" } else { "" };
    text.push_str(secret);
    let choices = input.choices.join(" | ");
    for (title, value) in [
        ("command", input.command.as_deref().unwrap_or_default()),
        ("choices", &choices),
        ("default", input.default.as_deref().unwrap_or_default()),
        ("asks", input.description.as_deref().unwrap_or_default()),
    ] {
        if !value.is_empty() {
            text.push_str(&format!(", {title} {value}"));
        }
    }
    text
}

fn sign_in(oauth: &SignIn, lines: &mut Vec<String>) {
    for Address { field, address, is_other_origin } in &oauth.addresses {
        let other = if *is_other_origin { ", another origin" } else { "" };
        add(lines, "oauth", &format!("{field} {address}{other}"));
    }
    for (title, value) in [
        ("grant", oauth.grant.clone().unwrap_or_default()),
        ("client_id", oauth.client_id.clone().unwrap_or_default()),
        ("scopes", oauth.scopes.join(" ")),
        ("audiences", oauth.audiences.join(" ")),
        ("besides", oauth.others.join(" ")),
    ] {
        if !value.is_empty() {
            add(lines, "oauth", &format!("{title} {value}"));
        }
    }
}
