//! One server, as a product writes it.

use serde_json::{Map, Value, json};
use trunkline::settings::{Format, Template, Unit, Variables};
use trunkline_pool::config::{RemoteKind, RemoteSpec, ServerSpec, Transport};
use trunkline_pool::expand::PREDEFINED;

use super::dialect::{Dialect, Spelling, dialect};

/// What becomes of one server.
pub(in crate::commands) struct ImportedEntry {
    /// Nothing where the product cannot have the server.
    pub members: Option<Map<String, Value>>,
    /// What the product has no field for, or why it cannot have the server.
    pub lost: Vec<String>,
    /// What is kept as written, since the product does not expand it.
    pub literal: Vec<String>,
}

/// The entry of a server. One that is switched off, or shut out by its file, is never written as
/// one that is on.
pub(in crate::commands) fn entry(
    template: &Template,
    format: Format,
    is_shut: bool,
) -> ImportedEntry {
    let Some(dialect) = dialect(format) else { return own(template, is_shut) };
    let spec = template.unexpanded();
    let mut written = Written { format, dialect, out: Map::new(), lost: Vec::new() };
    if !written.transport(spec) {
        return ImportedEntry { members: None, lost: written.lost, literal: Vec::new() };
    }
    written.rest(spec, template.env_file());
    if spec.disabled || is_shut {
        let Some((field, value)) = dialect.off else {
            let why = format!("it is switched off, which {} has no field for", format.name());
            return ImportedEntry { members: None, lost: vec![why], literal: Vec::new() };
        };
        written.put(Some(field), "disabled", json!(value));
    }
    let Written { mut out, lost, .. } = written;
    let mut literal = Vec::new();
    for (name, value) in &mut out {
        let mut told = |variable: &str| literal.push(format!("{name}: {variable}"));
        spelled(value, (format, dialect.variables), &mut told);
    }
    ImportedEntry { members: Some(out), lost, literal }
}

/// The entry of a program with its arguments, and nothing else.
pub(in crate::commands) fn program(
    format: Format,
    command: &str,
    args: &[&str],
) -> Map<String, Value> {
    let mut out = Map::new();
    let dialect = dialect(format);
    if let Some((field, [Some(word), ..])) = dialect.and_then(|dialect| dialect.kind) {
        out.insert(field.to_owned(), json!(word));
    }
    match dialect {
        Some(dialect) if dialect.is_line => {
            let line: Vec<&str> = std::iter::once(command).chain(args.iter().copied()).collect();
            out.insert(dialect.command.to_owned(), json!(line));
        }
        dialect => {
            let field = dialect.map_or("command", |dialect| dialect.command);
            out.insert(field.to_owned(), json!(command));
            out.insert("args".to_owned(), json!(args));
        }
    }
    out
}

/// In the pool's own form nothing is lost.
fn own(template: &Template, is_shut: bool) -> ImportedEntry {
    let mut out = template.configuration().clone();
    if is_shut {
        out.shift_remove("enabled");
        out.insert("disabled".to_owned(), true.into());
    }
    out.extend(template.env_file().map(|file| ("env_file".to_owned(), file.into())));
    ImportedEntry { members: Some(out), lost: Vec::new(), literal: Vec::new() }
}

struct Written {
    format: Format,
    dialect: Dialect,
    out: Map<String, Value>,
    lost: Vec<String>,
}

impl Written {
    /// Writes the value into the field, or says that there is none.
    fn put(&mut self, field: Option<&str>, name: &str, value: Value) {
        match field {
            Some(field) => drop(self.out.insert(field.to_owned(), value)),
            None => self.lost.push(name.to_owned()),
        }
    }

    /// Whether the product can have a server that is reached so.
    fn transport(&mut self, spec: &ServerSpec) -> bool {
        let dialect = self.dialect;
        match &spec.transport {
            Transport::Stdio(stdio) => {
                self.kind(0);
                let args = || stdio.args.iter().map(|argument| json!(argument));
                if dialect.is_line {
                    let line = std::iter::once(json!(stdio.command)).chain(args());
                    self.put(Some(dialect.command), "", line.collect());
                } else {
                    self.put(Some(dialect.command), "", json!(stdio.command));
                    if !stdio.args.is_empty() {
                        self.put(Some("args"), "", args().collect());
                    }
                }
                if !stdio.env.is_empty() {
                    self.put(Some(dialect.env), "", json!(stdio.env));
                }
                if let Some(cwd) = &stdio.cwd {
                    self.put(dialect.cwd, "cwd", json!(cwd));
                }
                if !stdio.inherit_env.is_empty() {
                    let is_name = |text: &String| !text.contains(['*', '?', '$']);
                    let field = dialect.inherited.filter(|_| stdio.inherit_env.iter().all(is_name));
                    self.put(field, "inherit_env", json!(stdio.inherit_env));
                }
                if !stdio.unset_env.is_empty() {
                    self.lost.push("variables that are unset".to_owned());
                }
                true
            }
            Transport::Remote(remote) => {
                let (place, name) = match remote.kind {
                    RemoteKind::Http => (0, "http"),
                    RemoteKind::Sse => (1, "sse"),
                    RemoteKind::Websocket => (2, "websocket"),
                    _ => (3, "http"),
                };
                let Some(url) = dialect.urls[place] else {
                    self.lost.push(format!("the server: its transport is {name}"));
                    return false;
                };
                // One that is to be found out is most often the first.
                if !self.kind([1, 2, 3, 1][place]) {
                    self.lost.push(format!("the server: its transport is {name}"));
                    return false;
                }
                let is_stated = dialect.kind.is_some() || Some(url) != dialect.urls[3];
                let is_kept = match (is_stated, self.format.row().bare_url) {
                    (true, _) => place != 3,
                    (false, None) => place == 3,
                    (false, Some(word)) => place != 3 && word == name,
                };
                if !is_kept {
                    self.lost.push(format!("transport: {name}, which it takes otherwise"));
                }
                let socket = self.socket_address(remote);
                let is_lost = remote.socket_path.is_some() && socket.is_none();
                self.put(Some(url), "", json!(socket.as_ref().unwrap_or(&remote.url)));
                if !remote.headers.is_empty() {
                    self.put(dialect.headers, "headers", json!(remote.headers));
                }
                if is_lost {
                    self.lost.push("socket_path".to_owned());
                }
                true
            }
            _ => false,
        }
    }

    /// A socket as VS Code writes it, where the address says no more than a path.
    fn socket_address(&self, remote: &RemoteSpec) -> Option<String> {
        let socket = remote.socket_path.as_ref().filter(|path| path.starts_with('/'))?;
        let below = remote.url.strip_prefix("http://localhost/")?;
        let fragment = if below.is_empty() { String::new() } else { format!("#/{below}") };
        (self.format == Format::VsCode).then(|| format!("unix://{socket}{fragment}"))
    }

    /// Writes the word of the transport, where the product always has one; whether it has that
    /// transport.
    fn kind(&mut self, place: usize) -> bool {
        let Some((field, words)) = self.dialect.kind else { return true };
        let Some(word) = words[place] else { return false };
        self.put(Some(field), "", json!(word));
        true
    }

    fn rest(&mut self, spec: &ServerSpec, env_file: Option<&str>) {
        let dialect = self.dialect;
        let times = [
            (spec.call_timeout, dialect.call_time, "call_timeout_ms"),
            (spec.connect_timeout, dialect.connect_time, "connect_timeout_ms"),
        ];
        for (time, field, name) in times {
            if let Some(time) = time {
                let (field, unit) = field.unzip();
                self.put(field, name, in_unit(time, unit.unwrap_or(Unit::Milliseconds)));
            }
        }
        for (name, patterns) in
            [("include", spec.filter.include.as_ref()), ("exclude", Some(&spec.filter.exclude))]
        {
            // Not all products know that one name stands for several, and one knows all of them
            // alone.
            let knows_all = name == "include" && self.format == Format::Copilot;
            let patterns = patterns.into_iter().flatten();
            let patterns = patterns.filter(|one| one.contains(['*', '?']));
            let patterns = patterns.filter(|one| !(knows_all && *one == "*"));
            self.lost.extend(patterns.map(|pattern| format!("{name}: {pattern}")));
        }
        if let Some(include) = &spec.filter.include {
            // An empty list is everything there.
            let is_everything = include.is_empty() && self.format == Format::Goose;
            let field = dialect.include.filter(|_| !is_everything);
            self.put(field, "include", json!(include));
        }
        if !spec.filter.exclude.is_empty() {
            self.put(dialect.exclude, "exclude", json!(spec.filter.exclude));
        }
        if let Some(file) = env_file {
            self.put(dialect.env_file, "env_file", json!(file));
        }
        let lost = [
            (!spec.oauth.is_empty(), "oauth"),
            (spec.call_idle_timeout.is_some(), "call_idle_timeout_ms"),
            (spec.share.is_some(), "share"),
            (spec.start.is_some(), "start"),
            (spec.era.is_some(), "era"),
            (spec.reconnect.is_some(), "reconnect"),
            (spec.trust, "trust"),
            (!spec.always_load.is_empty(), "always_load"),
            (spec.description.is_some(), "description"),
        ];
        self.lost
            .extend(lost.iter().filter(|(is_there, _)| *is_there).map(|(_, name)| (*name).into()));
        self.lost.extend(spec.unknown.keys().cloned());
    }
}

fn in_unit(time: std::time::Duration, unit: Unit) -> Value {
    let millis = time.as_millis() as u64;
    match unit {
        Unit::Seconds if millis.is_multiple_of(1_000) => json!(millis / 1_000),
        Unit::Seconds => json!(time.as_secs_f64()),
        Unit::DurationText => json!(format!("{millis}ms")),
        _ => json!(millis),
    }
}

/// Spells the variables in a value as the product does; those that it cannot have are told, and
/// stay as they are.
fn spelled(value: &mut Value, to: (Format, Spelling), lost: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => *text = spelled_text(text, to, lost),
        Value::Array(items) => items.iter_mut().for_each(|item| spelled(item, to, lost)),
        Value::Object(map) => map.values_mut().for_each(|item| spelled(item, to, lost)),
        _ => {}
    }
}

fn spelled_text(text: &str, to: (Format, Spelling), lost: &mut dyn FnMut(&str)) -> String {
    let takes_any = matches!(to.1, Spelling::Any) && has_dollars(to.0);
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (written, behind) = at_dollar(after);
        rest = behind;
        match written {
            Dollar::Text => out.push('$'),
            Dollar::Escaped => {
                if !takes_any {
                    lost("$$");
                }
                out.push_str("$$");
            }
            Dollar::Variable(name) => {
                let as_it_was = &text[text.len() - after.len() - 1..text.len() - behind.len()];
                match variable(name, to) {
                    Some(_) if takes_any => out.push_str(as_it_was),
                    Some(written) => out.push_str(&written),
                    None => {
                        lost(as_it_was);
                        out.push_str(as_it_was);
                    }
                }
            }
        }
    }
    out.push_str(rest);
    out
}

/// What a dollar sign begins.
enum Dollar<'a> {
    /// Itself.
    Text,
    /// `$$`, which stands for one.
    Escaped,
    /// `${NAME}` or `$NAME`.
    Variable(&'a str),
}

/// What a dollar sign begins, and what stands behind that.
fn at_dollar(after: &str) -> (Dollar<'_>, &str) {
    if let Some(behind) = after.strip_prefix('$') {
        return (Dollar::Escaped, behind);
    }
    if let Some((name, behind)) = after.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        return (Dollar::Variable(name), behind);
    }
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let (name, behind) = after.split_at(after.find(|c| !is_part(c)).unwrap_or(after.len()));
    match name.starts_with(|c: char| !c.is_ascii_digit()) {
        true => (Dollar::Variable(name), behind),
        false => (Dollar::Text, after),
    }
}

/// Whether the product writes variables as the library's own form does.
fn has_dollars(format: Format) -> bool {
    matches!(format.row().variables, Variables::Dollar | Variables::EnvWord)
}

/// How the product writes a variable; `None` where it has no such kind.
fn variable(name: &str, (format, spelling): (Format, Spelling)) -> Option<String> {
    let of_env = name.strip_prefix("env:").unwrap_or(name);
    if let Some(secret) = name.strip_prefix("secret:") {
        let has_secrets = format.row().variables == Variables::Secrets;
        return has_secrets.then(|| format!("${{{{ secrets.{secret} }}}}"));
    }
    // An input is declared beside the servers, and what else has a word before it nobody knows.
    if of_env.split_once(':').is_some_and(|(_, rest)| !rest.starts_with('-')) {
        return None;
    }
    match format.row().variables {
        Variables::Braces => {
            let is_of_env = !of_env.contains(':') && !PREDEFINED.contains(&name);
            is_of_env.then(|| format!("{{env:{of_env}}}"))
        }
        _ if has_dollars(format) => spelling.of(name, of_env).map(|name| format!("${{{name}}}")),
        _ => None,
    }
}
