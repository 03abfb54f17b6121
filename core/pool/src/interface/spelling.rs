//! The texts and errors of the library, with the names in them as each language spells them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::operations::operations;
use super::{
    ErrorCode, Names, OptionKind, OptionRow, OptionScope, SCOPES, node_name, options, python_name,
};
use crate::options::HandlerKind;

/// A language that spells names of the library in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Options without their unit, which is always seconds.
    Python,
    /// All names in camelCase.
    Node,
}

impl Dialect {
    /// The text, such as a hint, with the options that it names in backticks as they are spelled.
    ///
    /// Of `include.my_server` the first part alone is an option. What is none stays as it is, since
    /// a host or a server may be called so; and the fields of servers do, whose configuration is
    /// the same text in every language.
    pub fn text(self, text: &str) -> String {
        spelled(text, |path| self.path(path))
    }

    /// The path of an option, as in `detail.path`: the same of one name that [`text`](Self::text)
    /// does of those in a text.
    pub fn path(self, path: &str) -> String {
        let mut parts = path.split('.');
        let first = parts.next().unwrap_or_default();
        let Some(mut row) = option(first) else {
            return match self {
                Dialect::Node if is_other_name(path) => node_name(path),
                _ => path.to_owned(),
            };
        };
        let mut out = self.name(first);
        let mut is_ours = true;
        for part in parts {
            out.push('.');
            let member = match row.kind {
                OptionKind::Object(rows) if is_ours => named(rows, part),
                _ => None,
            };
            is_ours = member.is_some();
            row = member.unwrap_or(row);
            out.push_str(&member.map_or_else(|| part.to_owned(), |_| self.name(part)));
        }
        out
    }

    /// The message of an error of that code.
    pub fn message(self, code: ErrorCode, message: &str) -> Cow<'_, str> {
        self.part(code, message, code.names() == Names::Options)
    }

    /// The hint of an error with these particulars. What is nearest to no option is the name of a
    /// server or a tool.
    pub fn hint<'a>(
        self,
        code: ErrorCode,
        hint: &'a str,
        detail: &Map<String, Value>,
    ) -> Cow<'a, str> {
        let is_near = detail.contains_key("nearest") && code != ErrorCode::UnknownOption;
        self.part(code, hint, code.names() != Names::Files && !is_near)
    }

    /// The particulars of an error, with the option that they name.
    pub fn spell_detail(self, code: ErrorCode, detail: &mut Map<String, Value>) {
        if code.names() == Names::Files {
            return;
        }
        let is_of_option = code == ErrorCode::UnknownOption;
        for member in ["option", "path", "nearest"] {
            if let Some(Value::String(path)) = detail.get_mut(member)
                && (is_of_option || member != "nearest")
            {
                *path = self.path_in(code, path);
            }
        }
    }

    /// An error in its JSON form, with its causes.
    pub fn spell_error(self, error: &mut Value) {
        let code = error["code"].as_str().and_then(ErrorCode::from_name);
        let (Some(code), Some(error)) = (code, error.as_object_mut()) else { return };
        if let Some(Value::String(message)) = error.get_mut("message") {
            *message = self.message(code, message).into_owned();
        }
        let mut detail = match error.remove("detail") {
            Some(Value::Object(detail)) => detail,
            _ => Map::new(),
        };
        if let Some(Value::String(hint)) = error.get_mut("hint") {
            *hint = self.hint(code, hint, &detail).into_owned();
        }
        self.spell_detail(code, &mut detail);
        error.insert("detail".to_owned(), Value::Object(detail));
        if let Some(cause) = error.get_mut("cause") {
            self.spell_error(cause);
        }
    }

    /// A text of an error.
    fn part(self, code: ErrorCode, text: &str, has_names: bool) -> Cow<'_, str> {
        let mark = match self {
            Dialect::Python => "_ms",
            Dialect::Node => "_",
        };
        match has_names && text.contains(mark) {
            true => spelled(text, |path| self.path_in(code, path)).into(),
            false => text.into(),
        }
    }

    /// A path that an error names. An option that does not exist is in no table.
    fn path_in(self, code: ErrorCode, path: &str) -> String {
        match (self, code) {
            (Dialect::Node, ErrorCode::UnknownOption) => node_name(path),
            _ => self.path(path),
        }
    }

    /// One name of ours, behind which an index may stand.
    fn name(self, name: &str) -> String {
        let (name, index) = name.split_at(name.find('[').unwrap_or(name.len()));
        match self {
            Dialect::Python => format!("{}{index}", python_name(name)),
            Dialect::Node => format!("{}{index}", node_name(name)),
        }
    }
}

/// The text with what stands in backticks as `spell` spells it.
fn spelled(text: &str, spell: impl Fn(&str) -> String) -> String {
    let is_name = |part: &str| {
        let is_of_names = |it: char| matches!(it, 'a'..='z' | '0'..='9' | '_' | '.' | '[' | ']');
        !part.is_empty() && part.chars().all(is_of_names)
    };
    let parts = text.split('`').enumerate().map(|(place, part)| match place % 2 {
        1 if is_name(part) => spell(part),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// The option of that name. Of those that are called alike one may have members, and counts.
fn option(name: &str) -> Option<&'static OptionRow> {
    let scopes = SCOPES.iter().filter(|scope| **scope != OptionScope::Server);
    let rows = scopes.filter_map(|scope| named(options(*scope), name));
    rows.min_by_key(|row| !matches!(row.kind, OptionKind::Object(_)))
}

/// The row of a name, behind which an index may stand.
fn named(rows: &'static [OptionRow], name: &str) -> Option<&'static OptionRow> {
    let name = name.split('[').next().unwrap_or_default();
    rows.iter().find(|row| row.name == name)
}

/// Whether an operation, a parameter, a handler or what stands in an answer is called so.
fn is_other_name(name: &str) -> bool {
    let mut operations = operations().into_iter();
    let is_of_operation = operations.any(|operation| {
        operation.name == name || operation.parameters.iter().any(|one| one.name == name)
    });
    let mut handlers = HandlerKind::ALL.iter();
    is_of_operation || handlers.any(|kind| kind.name() == name) || IN_ANSWERS.contains(&name)
}

/// Members of a status and of the answers of handlers.
const IN_ANSWERS: [&str; 2] = ["expires_in_ms", "last_error"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Dialect::{Node, Python};

    /// SPEC 16.5: a person reads the names that the host's language has.
    #[test]
    fn a_text_names_options_as_a_language_spells_them() {
        let (python, node) = (|text: &str| Python.text(text), |text: &str| Node.text(text));
        let text = "raise `timeout_ms` of the call, or call_timeout_ms in the configuration";
        assert_eq!(python(text), text.replace("`timeout_ms`", "`timeout`"));
        assert_eq!(node(text), text.replace("`timeout_ms`", "`timeoutMs`"));
        assert_eq!(node("`limits.frame_bytes`"), "`limits.frameBytes`");
        assert_eq!(python("`reconnect.delays_ms.local_ms`"), "`reconnect.delays.local_ms`");
        assert_eq!(
            node("`include.drain_delay_ms.drain_delay_ms`, `"),
            "`include.drain_delay_ms.drain_delay_ms`, `"
        );
        let path = "reconnect.delays_ms.local_ms[0]";
        assert_eq!(Python.path(path), "reconnect.delays.local_ms[0]");
        for foreign in
            ["no prompt `my_prompt`", "`_meta` is given twice", "drain_delay_ms", "``", ""]
        {
            assert_eq!((python(foreign), node(foreign)), (foreign.to_owned(), foreign.to_owned()));
        }
    }

    /// SPEC 16.5: functions and what answers have are called otherwise in Node alone.
    #[test]
    fn a_text_names_operations_as_a_language_spells_them() {
        let text = "`restart` it, or `set_gates`; `last_error` says why";
        assert_eq!(Python.text(text), text);
        assert_eq!(Node.text(text), "`restart` it, or `setGates`; `lastError` says why");
    }

    /// SPEC 16.5: what a host, a server or a file calls something stays as it is, in an error and
    /// in its causes.
    #[test]
    fn an_error_names_options_where_its_code_does() {
        let error = |code: &str, nearest: &str| {
            json!({
                "code": code,
                "message": "`idle_cap_ms` is wrong",
                "hint": "did you mean `idle_cap_ms`?",
                "detail": {"path": "idle_cap_ms", "nearest": nearest},
            })
        };
        let spelled = |code: &str| {
            let mut outer = json!({"code": "internal", "message": "", "detail": {}});
            outer["cause"] = error(code, "idle_cap_ms");
            Node.spell_error(&mut outer);
            let cause = &outer["cause"];
            let texts = [&cause["message"], &cause["hint"], &cause["detail"]["nearest"]];
            texts.map(|text| text.as_str().is_some_and(|text| text.contains("idleCapMs")))
        };
        assert_eq!(spelled("unknown_option"), [true, true, true]);
        assert_eq!(spelled("invalid_argument"), [true, false, false]);
        assert_eq!(spelled("invalid_config"), [false, false, false]);
        assert_eq!(spelled("tool_not_found"), [false, false, false]);
    }
}
