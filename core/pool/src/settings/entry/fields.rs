//! What becomes of each field.

use serde_json::{Value, json};

use super::{EntryReader, EntryResult, fault};
use crate::base::text::escaped;
use crate::config::oauth;
use crate::interface::{OptionRow, OptionScope, options};
use crate::json::joined;
use crate::settings::format::{Format, Meaning};
use crate::settings::notes::{Approval, Approved, FindingKind};
use crate::settings::syntax::{Content, SyntaxMember, SyntaxNode};
use crate::settings::table::OAUTH_WITHOUT_EFFECT;
use crate::settings::template::Rule;

impl EntryReader {
    /// Reads one field.
    pub(super) fn member(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let name = &member.name;
        if let Some(meaning) = self.row.meaning(name) {
            return self.meant(meaning, member, path);
        }
        if let Some(known) = self.row.miswritten(name) {
            return fault(path, format!("`{}` must be written `{known}`", escaped(name)));
        }
        match ours(name) {
            Some("env") => self.environment(member, name, path),
            Some(field) => {
                self.look_into(field, member, path);
                if field == "call_timeout_ms" && name == "timeout" {
                    self.note(field, path, member.place, Rule::AssumedMilliseconds);
                }
                self.put(name, member.node.value(), path, member.place)
            }
            None => {
                self.find(path, member.place, FindingKind::Unknown);
                self.keep(member, path)
            }
        }
    }

    fn meant(&mut self, meaning: Meaning, member: &SyntaxMember, path: &str) -> EntryResult {
        let node = &member.node;
        match meaning {
            Meaning::As(field) => self.renamed(field, member, path),
            Meaning::Time(field, unit) => self.time(field, unit, member, path),
            Meaning::Times => self.times(member, path),
            Meaning::CommandLine => self.command_line(member, path),
            Meaning::Nested => match node.members() {
                Some(members) => self.nested(&member.name, members, path),
                None => self.put(&member.name, node.value(), path, member.place),
            },
            Meaning::RequestOptions => self.request_options(member, path),
            Meaning::Inherited => self.inherits(member, path),
            Meaning::SecretNames => self.secret_names(member, path),
            Meaning::SocketAddress => self.socket_address(member, path),
            Meaning::AlwaysLoad => match &node.content {
                Content::Bool(is_all) => {
                    self.note("always_load", path, member.place, Rule::Renamed);
                    let all: &[&str] = if *is_all { &["*"] } else { &[] };
                    self.put("always_load", json!(all), path, member.place)
                }
                _ => self.renamed("always_load", member, path),
            },
            Meaning::HeaderVariables => self.header_variables(member, path),
            Meaning::BearerVariable => {
                let name = self.name_of_variable(node, path)?;
                self.bearer(&format!("${{{name}}}"), member, path);
                Ok(())
            }
            Meaning::Bearer => self.token(member, path),
            Meaning::EnvFile => {
                let file = self.text(node, path)?;
                self.env_file = Some(file);
                self.moved.push(("env_file".into(), path.to_owned()));
                Ok(())
            }
            Meaning::ToolsUnlessEmpty => match node.items() {
                Some([]) => {
                    self.note("include", path, member.place, Rule::EmptyIsEverything);
                    Ok(())
                }
                _ => self.renamed("include", member, path),
            },
            Meaning::Approval => self.approval(member, path),
            Meaning::ToolModes => self.tool_modes(member, path),
            Meaning::Name => self.text(node, path).map(|_| ()),
            Meaning::Quarantine => self.quarantine(member, path),
            Meaning::NoEffect => {
                self.find(path, member.place, FindingKind::NoEffect);
                self.keep(member, path)
            }
            Meaning::Refused(sentence) => fault(path, format!("`{path}` {sentence}")),
        }
    }

    /// A field that is kept under its own name, unless the pool's own form would make something of
    /// that, be it a refusal. Names of its options do not come here.
    fn keep(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let own = Format::Trunkline.row();
        let is_ours = own.meaning(&member.name).is_some() || own.miswritten(&member.name).is_some();
        if !is_ours && !self.out.contains_key(&member.name) {
            self.out.insert(member.name.clone(), member.node.value());
            self.came.insert(member.name.clone(), (path.to_owned(), member.place));
            if member.name != path {
                self.moved.push((joined("", &member.name), path.to_owned()));
            }
        }
        Ok(())
    }

    fn renamed(&mut self, field: &'static str, member: &SyntaxMember, path: &str) -> EntryResult {
        // The product finds the transport out by itself.
        if field == "transport" && member.node.text() == Some("auto") {
            return Ok(());
        }
        self.note(field, path, member.place, Rule::Renamed);
        self.look_into(field, member, path);
        match field {
            "env" => self.environment(member, field, path),
            _ => self.put(field, member.node.value(), path, member.place),
        }
    }

    /// Tells of the members of `oauth` that say nothing here. They are kept, and part of the
    /// identity.
    fn look_into(&mut self, field: &str, member: &SyntaxMember, path: &str) {
        let members = member.node.members().filter(|_| field == "oauth").into_iter().flatten();
        for member in members.filter(|member| !member.node.is_null()) {
            let kind = match &*member.name {
                name if oauth::is_known(name) => continue,
                name if OAUTH_WITHOUT_EFFECT.contains(&name) => FindingKind::NoEffect,
                _ => FindingKind::Unknown,
            };
            self.find(&joined(path, &member.name), member.place, kind);
        }
    }

    /// An object that stands for a part of the entry: what is in it means what it means beside it,
    /// but for the object's own name, which is the plain field here.
    fn nested(&mut self, container: &str, members: &[SyntaxMember], path: &str) -> EntryResult {
        for member in members.iter().filter(|member| !member.node.is_null()) {
            let path = joined(path, &member.name);
            match member.name.as_str() {
                "path" => self.renamed("command", member, &path)?,
                name if name == container => {
                    self.put(name, member.node.value(), &path, member.place)?
                }
                _ => self.member(member, &path)?,
            }
        }
        Ok(())
    }

    /// The program and its arguments in one list.
    fn command_line(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let Some(items) = member.node.items() else {
            return self.put("command", member.node.value(), path, member.place);
        };
        let Some((command, args)) = items.split_first() else {
            return fault(path, format!("`{path}` must not be empty"));
        };
        self.note("command", path, member.place, Rule::CommandLine);
        self.put("command", command.value(), &format!("{path}[0]"), command.place)?;
        if args.is_empty() {
            return Ok(());
        }
        let values: Vec<Value> = args.iter().map(SyntaxNode::value).collect();
        for index in 0..values.len() {
            // Errors name an item by its place in the list that the file has.
            self.moved.push((format!("args[{index}]"), format!("{path}[{}]", index + 1)));
        }
        self.put("args", values.into(), path, member.place)
    }

    /// Host variables that the server inherits.
    fn inherits(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let Some(items) = member.node.items() else {
            return fault(path, format!("`{path}` must be an array"));
        };
        self.note("inherit_env", path, member.place, Rule::Renamed);
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let name = self.name_of_variable(item.get("name").unwrap_or(item), &path)?;
            self.inherited.push(name);
        }
        Ok(())
    }

    /// Variables that the host keeps: they are looked up like any other, or asked from the host.
    fn secret_names(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let Some(items) = member.node.items() else {
            return fault(path, format!("`{path}` must be an array of strings"));
        };
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let name = self.name_of_variable(item, &path)?;
            self.secrets.push((name, path, item.place));
        }
        Ok(())
    }

    /// The path of a socket is no part of an address here.
    fn socket_address(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let Some(rest) = member.node.text().and_then(|text| text.strip_prefix("unix://")) else {
            return self.put("url", member.node.value(), path, member.place);
        };
        let (socket, below) = rest.split_once('#').unwrap_or((rest, ""));
        if !socket.starts_with('/') {
            return fault(path, format!("`{path}` must be `unix://` and an absolute path"));
        }
        self.note("socket_path", path, member.place, Rule::Renamed);
        self.put("socket_path", socket.into(), path, member.place)?;
        let url = format!("http://localhost/{}", below.trim_start_matches('/'));
        self.put("url", url.into(), path, member.place)
    }

    /// Recorded, and not part of the configuration: a file never grants itself anything (SPEC
    /// 11.7).
    fn approval(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        let what = match &member.node.content {
            Content::Bool(true) => Approved::Everything,
            Content::Bool(false) => return Ok(()),
            Content::Text(text) if text == "*" => Approved::Everything,
            Content::Text(text) if matches!(text.as_str(), "prompt" | "") => return Ok(()),
            Content::Text(text) if matches!(text.as_str(), "auto" | "approve") => {
                Approved::Everything
            }
            Content::List(items) => {
                match items.iter().map(|item| item.text().map(str::to_owned)).collect() {
                    Some(names) => Approved::Names(names),
                    None => return fault(path, format!("`{path}` must be an array of strings")),
                }
            }
            _ => {
                self.find(path, member.place, FindingKind::Unreadable);
                return Ok(());
            }
        };
        if what != Approved::Names(Vec::new()) {
            let (path, place) = (path.to_owned(), member.place);
            self.notes.approvals.push(Approval { server: None, path, place, what });
        }
        Ok(())
    }

    fn tool_modes(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        for tool in member.node.members().unwrap_or_default() {
            let mode = tool.node.get("approval_mode").and_then(SyntaxNode::text);
            if mode.is_some_and(|mode| mode != "prompt") {
                let path = joined(&joined(path, &tool.name), "approval_mode");
                let what = Approved::Names(vec![tool.name.clone()]);
                self.notes.approvals.push(Approval { server: None, path, place: tool.place, what });
            }
        }
        Ok(())
    }

    fn quarantine(&mut self, member: &SyntaxMember, path: &str) -> EntryResult {
        match &member.node.content {
            Content::Bool(is_quarantined) => {
                if *is_quarantined {
                    self.is_quarantined = true;
                    self.find(path, member.place, FindingKind::Quarantined);
                }
                Ok(())
            }
            _ => fault(path, format!("`{path}` must be true or false")),
        }
    }

    /// A text that is not empty.
    pub(super) fn text(&self, node: &SyntaxNode, path: &str) -> EntryResult<String> {
        match node.text() {
            Some(text) if !text.is_empty() && !text.contains('\0') => Ok(text.to_owned()),
            Some(_) => fault(path, format!("`{path}` must not be empty or hold a NUL character")),
            None => fault(path, format!("`{path}` must be a string")),
        }
    }

    /// The name of a variable that can stand in `${…}`.
    pub(super) fn name_of_variable(&self, node: &SyntaxNode, path: &str) -> EntryResult<String> {
        let name = self.text(node, path)?;
        let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
        match name.chars().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit()) {
            true => Ok(name),
            false => fault(path, format!("`{path}` is not the name of a variable")),
        }
    }
}

/// The field of the pool's own configuration that has this spelling.
fn ours(spelling: &str) -> Option<&'static str> {
    let is_one = |row: &&OptionRow| {
        row.name == spelling || row.aliases.contains(&spelling) || row.node_name() == spelling
    };
    options(OptionScope::Server).iter().find(is_one).map(|row| row.name)
}
