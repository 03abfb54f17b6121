//! The texts of configurations: of a whole map of servers, and of one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::invalid;
use super::{ServerSpec, check_name};
use crate::error::{Error, ErrorCode, Result};
use crate::json::{self, Defect, PathStep, dotted};

/// More than any configuration written by a person, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// The member that holds the servers, unless they stand in the outermost object.
const CONTAINER: &str = "mcpServers";

/// Parses a map of servers: `{"name": {…}}`, with or without a `mcpServers` around it. A bad entry
/// spoils itself alone.
///
/// A byte order mark at the start is dropped. Within an entry, a member that is there twice,
/// nesting deeper than 64 and a number out of range are errors of that entry (S-15).
///
/// # Errors
/// `invalid_config` when the text is no JSON object, with `detail.line` and `detail.column`.
pub fn parse_servers(text: &str) -> Result<BTreeMap<String, Result<ServerSpec>>> {
    let (value, defects) = read(text)?;
    let Value::Object(root) = &value else {
        return Err(whole("the configuration is no JSON object"));
    };
    let (servers, prefix) = servers_of(root)?;
    let mut out: BTreeMap<String, Result<ServerSpec>> = servers
        .iter()
        .map(|(name, value)| (name.clone(), ServerSpec::from_value(name, value)))
        .collect();
    for defect in defects {
        let (server, error) = attribute(&defect, prefix)?;
        // A container may hold members besides the servers, in which a defect does no harm here.
        if let Some(entry) = server.and_then(|name| out.get_mut(&name)) {
            *entry = Err(error);
        }
    }
    Ok(out)
}

impl ServerSpec {
    /// Reads the JSON text of one server, as [`from_value`](Self::from_value) reads its value.
    /// `name` is for the errors.
    ///
    /// A byte order mark at the start is dropped. A member that is there twice, nesting deeper than
    /// 64 and a number out of range are errors (S-15). Every member is itself, whatever its name
    /// means to a reader of JSON.
    ///
    /// # Errors
    /// `invalid_config` with `detail.path`, and with `detail.line` and `detail.column` where it is
    /// no JSON. It never shows a value, since any of them may be a secret.
    pub fn from_json(name: &str, text: &str) -> Result<ServerSpec> {
        check_name(name)?;
        let (value, defects) = read(text).map_err(|error| error.with_server(name))?;
        match defects.first() {
            Some(Defect { path, kind }) => {
                let path = dotted(path);
                Err(invalid(name, &path, &format!("`{path}` {}", kind.sentence())))
            }
            None => ServerSpec::from_value(name, &value),
        }
    }
}

/// The value of a text, with what in it is not to be trusted.
fn read(text: &str) -> Result<(Value, Vec<Defect>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > TEXT_BYTES_MAX {
        return Err(whole(&format!("the configuration is longer than {TEXT_BYTES_MAX} bytes")));
    }
    json::parse(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        whole(&format!("the configuration is no JSON: line {line}, column {column}"))
            .with_detail("line", line)
            .with_detail("column", column)
    })
}

fn whole(message: &str) -> Error {
    Error::new(ErrorCode::InvalidConfig, message).with_detail("path", "")
}

/// The servers, and how many steps lead to them.
fn servers_of(root: &Map<String, Value>) -> Result<(&Map<String, Value>, usize)> {
    if let Some(name) = root.keys().find(|name| is_miswritten(name)) {
        let message = format!("`{name}` must be written `{CONTAINER}`");
        return Err(whole(&message).with_detail("path", name.as_str()));
    }
    match root.get(CONTAINER) {
        Some(Value::Object(servers)) => Ok((servers, 1)),
        Some(_) => Err(whole("`mcpServers` must be an object").with_detail("path", CONTAINER)),
        None => Ok((root, 0)),
    }
}

fn is_miswritten(name: &str) -> bool {
    name != CONTAINER && name.eq_ignore_ascii_case(CONTAINER)
}

/// Which server a defect spoils, and how it is told. A defect of the container itself spoils
/// everything.
fn attribute(defect: &Defect, prefix: usize) -> Result<(Option<String>, Error)> {
    let sentence = |path: &str| format!("`{path}` {}", defect.kind.sentence());
    if defect.path.len() <= prefix {
        let is_container =
            matches!(&defect.path[..], [PathStep::Member(name)] if name == CONTAINER);
        let is_root = defect.path.is_empty();
        let path = dotted(&defect.path);
        let error = whole(&sentence(&path)).with_detail("path", path);
        return if is_container || is_root { Err(error) } else { Ok((None, error)) };
    }
    let inside = prefix == 0 || defect.path.first() == Some(&PathStep::Member(CONTAINER.into()));
    let (PathStep::Member(server), true) = (&defect.path[prefix], inside) else {
        return Ok((None, whole("")));
    };
    let path = dotted(&defect.path[prefix + 1..]);
    let message = if path.is_empty() { sentence(server) } else { sentence(&path) };
    Ok((Some(server.clone()), invalid(server, &path, &message)))
}
