//! One entry of a file, brought into the pool's own terms field by field.

mod controls;
mod fault;
mod fields;
mod files;
mod headers;
mod times;

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Map, Value};

use self::fault::{EntryResult, fault};
use super::format::{FormatRow, NullEnv, Variables};
use super::notes::{Finding, FindingKind, Notes};
use super::origin::{TemplateOrigin, WrittenEntry};
use super::position::Place;
use super::syntax::{Content, SyntaxMember, SyntaxNode};
use super::template::{Provenance, Rule, Template};
use crate::config::check_name;
use crate::error::Result;
use crate::expand::length_of_name;
use crate::json::joined;

/// The word for what is part of the product itself, if the entry is.
pub(super) fn own_type(row: &FormatRow, node: &SyntaxNode) -> Option<String> {
    let stated = node.get("type").and_then(SyntaxNode::text);
    if let Some(stated) = stated.filter(|stated| row.own_types.contains(stated)) {
        return Some(stated.to_owned());
    }
    // What Zed says of the servers that its extensions bring.
    let is_extension = node.get("source").and_then(SyntaxNode::text) == Some("extension");
    let is_settings = node.get("settings").is_some() && node.get("source").is_none();
    let has_transport = ["command", "url"].iter().any(|name| node.get(name).is_some());
    // A block of Continue's hub has its server there.
    if row.name == "continue" && node.get("uses").is_some() {
        return Some("block".to_owned());
    }
    let brings_none = row.name == "zed" && (is_extension || is_settings) && !has_transport;
    brings_none.then(|| "extension".to_owned())
}

/// Reads the entry of a server.
pub(super) fn read(written: &WrittenEntry<'_>) -> Result<Template> {
    let WrittenEntry { format, file, project, server, node, depth } = *written;
    let mut origin = TemplateOrigin {
        format,
        file: file.to_owned(),
        project: project.map(str::to_owned),
        server: server.to_owned(),
        node: node.clone(),
        depth,
        moved: Vec::new(),
    };
    check_name(server).map_err(|error| origin.retold(&error))?;
    if let Some(flaw) = node.flaw(depth) {
        let what = if flaw.path.is_empty() { "it" } else { &format!("`{}`", flaw.path) };
        let message = format!("{what} {}", flaw.sentence);
        return Err(match flaw.is_of_escape() {
            true => origin.error_at(flaw.place, &flaw.path, &message),
            false => origin.error(&flaw.path, &message),
        });
    }
    let Some(members) = node.members() else {
        return Err(origin.error("", "the configuration of a server must be an object"));
    };
    let mut entry = EntryReader::of(format.row(), file);
    let read = entry.members(members, "").and_then(|()| entry.finish(node));
    read.map_err(|fault| origin.error(&fault.path, &fault.message))?;
    origin.moved = entry.moved;
    let EntryReader { mut out, env_file, provenance, mut notes, .. } = entry;
    if let Some(project) = project.filter(|_| out.contains_key("command")) {
        start_in(project, &mut out);
    }
    for path in controls::suspicious(&out) {
        let (path, place) = origin.told(&path);
        let kind = FindingKind::ControlCharacter;
        notes.findings.push(Finding { server: None, path, place, kind });
    }
    notes.approvals.iter_mut().for_each(|one| one.server = Some(server.to_owned()));
    notes.findings.iter_mut().for_each(|one| one.server = Some(server.to_owned()));
    Template::new(out, env_file, provenance, (origin, notes))
}

/// A program starts in the folder of its project, or where its own path leads from there.
fn start_in(project: &str, out: &mut Map<String, Value>) {
    let own = out.get("cwd").and_then(Value::as_str);
    // What a variable or the home folder begins is no path yet.
    let is_whole = |cwd: &&str| cwd.starts_with(['$', '~']) || Path::new(cwd).is_absolute();
    if own.is_none_or(|cwd| !is_whole(&cwd)) {
        let project = Path::new(project);
        let folder = own.map_or_else(|| project.to_owned(), |cwd| project.join(cwd));
        out.insert("cwd".into(), folder.to_string_lossy().into());
    }
}

/// An entry while it is read.
struct EntryReader {
    row: &'static FormatRow,
    /// The path of the settings file.
    file: String,
    /// The pool's own configuration.
    out: Map<String, Value>,
    /// Where each field of it came from: the path in the file, and its place.
    came: HashMap<String, (String, Place)>,
    /// Its paths, and what they are in the file.
    moved: Vec<(String, String)>,
    env_file: Option<String>,
    /// Host variables that it inherits.
    inherited: Vec<String>,
    /// Variables that the host keeps, each with its path in the file and its place.
    secrets: Vec<(String, String, Place)>,
    /// Headers that other fields than `headers` give: name, value, and the path and the place of
    /// the field.
    headers: Vec<(String, String, String, Place)>,
    provenance: Vec<Provenance>,
    notes: Notes,
    is_quarantined: bool,
}

impl EntryReader {
    fn of(row: &'static FormatRow, file: &str) -> EntryReader {
        EntryReader {
            row,
            file: file.to_owned(),
            out: Map::new(),
            came: HashMap::new(),
            moved: Vec::new(),
            env_file: None,
            inherited: Vec::new(),
            secrets: Vec::new(),
            headers: Vec::new(),
            provenance: Vec::new(),
            notes: Notes::default(),
            is_quarantined: false,
        }
    }

    /// Reads members of the entry, or of an object in it that stands for a part of the entry.
    fn members(&mut self, members: &[SyntaxMember], prefix: &str) -> EntryResult {
        members.iter().filter(|member| !member.node.is_null()).try_for_each(|member| {
            let path = joined(prefix, &member.name);
            self.member(member, &path)
        })
    }

    /// What no single field decides.
    fn finish(&mut self, node: &SyntaxNode) -> EntryResult {
        self.join()?;
        self.address(node);
        if self.is_quarantined {
            self.out.shift_remove("enabled");
            self.out.insert("disabled".into(), true.into());
        }
        let mut out = std::mem::take(&mut self.out);
        for (field, value) in &mut out {
            if self.row.variables == Variables::Braces {
                let path = self.written(field, node).0;
                files::settle(value, (field, &path), &self.file)?;
            }
            if rewrite(value, self.row.variables) {
                let (path, place) = self.written(field, node);
                self.note(field, &path, place, Rule::Variables);
            }
        }
        self.out = out;
        Ok(())
    }

    /// A bare address is tried, unless the product has one protocol for it.
    fn address(&mut self, node: &SyntaxNode) {
        let is_stated =
            ["transport", "type", "transportType"].iter().any(|name| self.out.contains_key(*name));
        let Some(name) = ["url", "serverUrl"].into_iter().find(|name| self.out.contains_key(*name))
        else {
            return;
        };
        if is_stated {
            return;
        }
        let (path, place) = self.written(name, node);
        let rule = match self.row.bare_url {
            Some(transport) => {
                self.out.insert("transport".into(), transport.into());
                Rule::ProductsAddress
            }
            None => Rule::BareAddress,
        };
        self.provenance.push(Provenance { field: name.to_owned(), path, place, rule });
    }

    /// What a field of the configuration, or the first part of it, is in the file, and where. What
    /// no part of the entry gave stands where the entry does.
    fn written(&self, field: &str, node: &SyntaxNode) -> (String, Place) {
        self.came.get(field).cloned().unwrap_or_else(|| (field.to_owned(), node.place))
    }

    /// Puts a field under its name in the pool's own configuration.
    fn put(&mut self, field: &str, value: Value, path: &str, place: Place) -> EntryResult {
        if self.out.contains_key(field) {
            let first = self.came.get(field).map_or(field, |(first, _)| first);
            return fault(path, format!("`{first}` and `{path}` are the same field"));
        }
        if field != path {
            self.moved.push((field.to_owned(), path.to_owned()));
        }
        self.came.insert(field.to_owned(), (path.to_owned(), place));
        self.out.insert(field.to_owned(), value);
        Ok(())
    }

    fn note(&mut self, field: &str, path: &str, place: Place, rule: Rule) {
        let (field, path) = (field.to_owned(), path.to_owned());
        self.provenance.push(Provenance { field, path, place, rule });
    }

    fn find(&mut self, path: &str, place: Place, kind: FindingKind) {
        self.notes.findings.push(Finding { server: None, path: path.to_owned(), place, kind });
    }

    /// The variables of an environment, by the product's rules.
    fn environment(&mut self, member: &SyntaxMember, field: &str, path: &str) -> EntryResult {
        let Some(members) = member.node.members() else {
            return self.put(field, member.node.value(), path, member.place);
        };
        let mut variables = Map::new();
        for variable in members {
            let path = joined(path, &variable.name);
            let field = joined(field, &variable.name);
            let value = match &variable.node.content {
                Content::Null if self.row.null_env == NullEnv::Inherits => {
                    self.note("inherit_env", &path, variable.place, Rule::NullInherits);
                    self.inherited.push(variable.name.clone());
                    continue;
                }
                Content::Null => {
                    self.note(&field, &path, variable.place, Rule::NullUnsets);
                    Value::Null
                }
                Content::Number(_, written) if self.row.number_env => {
                    self.note(&field, &path, variable.place, Rule::NumberAsText);
                    Value::from(&**written)
                }
                _ => variable.node.value(),
            };
            variables.insert(variable.name.clone(), value);
        }
        self.put(field, variables.into(), path, member.place)
    }

    /// What several fields give together.
    fn join(&mut self) -> EntryResult {
        let inherited = std::mem::take(&mut self.inherited);
        if !inherited.is_empty() {
            let name =
                if self.out.contains_key("inheritEnv") { "inheritEnv" } else { "inherit_env" };
            let list = self.out.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.extend(inherited.into_iter().map(Value::from));
            }
        }
        let secrets = std::mem::take(&mut self.secrets);
        if self.row.name == "goose" && self.out.contains_key("url") {
            self.fill_headers(secrets);
        } else if !secrets.is_empty() {
            for (name, path, place) in &secrets {
                self.note(&joined("env", name), path, *place, Rule::SecretName);
                self.moved.push((joined("env", name), path.clone()));
            }
            let env = self.out.entry("env").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(env) = env {
                for (name, path, place) in secrets {
                    self.came.entry("env".into()).or_insert((path, place));
                    let variable = format!("${{secret:{name}}}");
                    env.entry(name).or_insert_with(|| variable.into());
                }
            }
        }
        self.join_headers()
    }
}

/// Writes the variables of a product as everybody else does. Whether there were any.
fn rewrite(value: &mut Value, variables: Variables) -> bool {
    match value {
        Value::String(text) => {
            let written = match variables {
                Variables::Dollar => return false,
                Variables::Braces => with_dollars(text),
                Variables::Secrets => without_secrets(text),
                Variables::EnvWord => with_braces(text),
            };
            let is_other = written != *text;
            *text = written;
            is_other
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |any, item| rewrite(item, variables) | any)
        }
        Value::Object(members) => {
            members.values_mut().fold(false, |any, item| rewrite(item, variables) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `$env:NAME` as `${env:NAME}`.
fn with_braces(text: &str) -> String {
    replaced(text, &mut |after| {
        let name = after.strip_prefix("env:")?;
        let (name, behind) = name.split_at(length_of_name(name));
        (!name.is_empty()).then(|| (format!("${{env:{name}}}"), behind))
    })
}

/// A text in which each dollar sign is replaced with what begins there, where `at` knows that: it
/// gets what stands behind the sign, and gives the text for it and the rest. Two signs are one that
/// stands for itself, and stay.
fn replaced(text: &str, at: &mut dyn FnMut(&str) -> Option<(String, &str)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(behind) = after.strip_prefix('$') {
            out.push_str("$$");
            rest = behind;
        } else if let Some((known, behind)) = at(after) {
            out.push_str(&known);
            rest = behind;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// `{env:NAME}` as `${env:NAME}`.
fn with_dollars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split("{env:").enumerate() {
        if index > 0 {
            out.push_str(if out.ends_with('$') { "{env:" } else { "${env:" });
        }
        out.push_str(part);
    }
    out
}

/// `${{ secrets.NAME }}` as `${secret:NAME}`.
fn without_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let Some((inside, behind)) = after.split_once("}}") else { break };
        out.push_str(before);
        match inside.trim().strip_prefix("secrets.") {
            Some(name) => out.push_str(&format!("${{secret:{name}}}")),
            None => out.push_str(&format!("${{{{{inside}}}}}")),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}
