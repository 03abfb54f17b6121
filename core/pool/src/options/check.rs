//! Checks an object of options against the registry; what passed can be read without another error.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::base::did_you_mean::nearest;
use crate::base::text::escaped;
use crate::error::{Error, ErrorCode, Result};
use crate::interface::{OptionKind, OptionRow, OptionScope, RETRY_DELAY_MS_MAX, options};
use crate::json::{self, DefectKind, PathStep, dotted, joined, whole};

/// More than any sensible set of options, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The most items of an array, and the most members of an object whose names are not ours.
const ITEMS_MAX: usize = 10_000;

/// Options that passed the check. A member that is null counts as absent.
#[derive(Debug, Default)]
pub(super) struct Given(Map<String, Value>);

/// Reads the text of an options object. An empty text is an empty object.
pub(super) fn read(scope: OptionScope, text: &str) -> Result<Given> {
    if text.trim().is_empty() {
        return Ok(Given::default());
    }
    if text.len() > TEXT_BYTES_MAX {
        return Err(wrong("", &format!("the options are longer than {TEXT_BYTES_MAX} bytes")));
    }
    let (value, defects) = json::parse(text).map_err(|error| {
        wrong("", &format!("the {} options are no JSON", scope.name()))
            .with_detail("line", error.line())
            .with_detail("column", error.column())
    })?;
    // `_meta` goes to the server as it is written, so its numbers are not ours to judge.
    let is_meta = |path: &[PathStep]| path.first() == Some(&PathStep::Member("meta".into()));
    let defect = defects
        .iter()
        .find(|defect| defect.kind != DefectKind::NumberRange || !is_meta(&defect.path));
    if let Some(defect) = defect {
        let path = dotted(&defect.path);
        return Err(wrong(&path, &format!("option `{path}` {}", defect.kind.sentence())));
    }
    let Value::Object(mut given) = value else {
        return Err(wrong("", &format!("the {} options are no JSON object", scope.name())));
    };
    given.retain(|_, value| !value.is_null());
    check_object(options(scope), &given, "")?;
    Ok(Given(given))
}

/// An error about the option at `path`; the empty path is the whole.
pub(super) fn wrong(path: &str, message: &str) -> Error {
    Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path)
}

fn check_object(rows: &[OptionRow], given: &Map<String, Value>, path: &str) -> Result<()> {
    for (name, value) in given {
        let path = joined(path, name);
        let Some(row) = rows.iter().find(|row| row.name == name) else {
            return Err(unknown(rows, name, &path));
        };
        if value.is_null() {
            continue;
        }
        check_value(&row.kind, value, &path)?;
    }
    Ok(())
}

/// Checks the value of one option of a scope.
pub(super) fn check_one(scope: OptionScope, name: &str, value: &Value) -> Result<()> {
    match options(scope).iter().find(|row| row.name == name) {
        Some(row) => check_value(&row.kind, value, name),
        None => Err(unknown(options(scope), name, name)),
    }
}

/// Says that there is no option of that name, for callers with options beside those of the
/// registry.
pub fn unknown_option(path: &str) -> Error {
    Error::new(ErrorCode::UnknownOption, format!("there is no option `{path}`"))
        .with_detail("option", path)
}

fn unknown(rows: &[OptionRow], name: &str, path: &str) -> Error {
    let mut error = unknown_option(path);
    // Somebody who writes the name as in another language finds it too.
    let spelled = rows.iter().find(|row| row.python_name() == name || row.node_name() == name);
    let near =
        spelled.map(|row| row.name).or_else(|| nearest(name, rows.iter().map(|row| row.name)));
    if let Some(near) = near {
        let parent = path.strip_suffix(name).unwrap_or("");
        let near = format!("{parent}{near}");
        error = error.with_hint(format!("did you mean `{near}`?")).with_detail("nearest", near);
    }
    error
}

fn check_value(kind: &OptionKind, value: &Value, path: &str) -> Result<()> {
    let must = |what: &str| Err(wrong(path, &format!("option `{path}` must be {what}")));
    match kind {
        OptionKind::Bool if value.is_boolean() => Ok(()),
        OptionKind::Bool => must("true or false"),
        OptionKind::Integer { min, max, .. } => match whole(value) {
            Some(number) if (*min..=*max).contains(&number) => Ok(()),
            _ => must(&format!("a whole number from {min} to {max}")),
        },
        OptionKind::Duration { min, max } => match whole(value) {
            Some(number) if (*min..=*max).contains(&number) => Ok(()),
            _ => must(&format!("a whole number of milliseconds from {min} to {max}")),
        },
        OptionKind::DurationLists(names) => check_duration_lists(names, value, path),
        OptionKind::Durations { min } => check_durations(*min, value, path),
        OptionKind::Text => check_text(value, path),
        OptionKind::Word(words) => match value.as_str() {
            Some(word) if words.contains(&word) => Ok(()),
            _ => must(&format!("one of {}", quoted(words))),
        },
        OptionKind::Texts => each(value, path, check_text),
        OptionKind::Words(words) => {
            each(value, path, |item, path| check_value(&OptionKind::Word(words), item, path))
        }
        OptionKind::AllOrNames if value.as_str() == Some("all") => Ok(()),
        OptionKind::AllOrNames if value.is_array() => each(value, path, check_text),
        OptionKind::AllOrNames => must("\"all\" or an array of server names"),
        OptionKind::BoolByServer => {
            by_name(value, path, |value, path| check_value(&OptionKind::Bool, value, path))
        }
        OptionKind::PatternsByServer => {
            by_name(value, path, |value, path| check_value(&OptionKind::Texts, value, path))
        }
        OptionKind::TextMap => by_name(value, path, check_text),
        OptionKind::Object(rows) => match value.as_object() {
            Some(members) => check_object(rows, members, path),
            None => must("an object"),
        },
        OptionKind::AnyObject if value.is_object() => Ok(()),
        OptionKind::AnyObject => must("an object"),
        OptionKind::Icons => each(value, path, check_icon),
        OptionKind::Handlers => must("given as functions; it has no JSON form"),
    }
}

/// An icon has the members of the protocol; what they say is checked where it is read.
fn check_icon(value: &Value, path: &str) -> Result<()> {
    let Some(members) = value.as_object() else {
        return Err(wrong(path, &format!("option `{path}` must be an object")));
    };
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        let path = joined(path, name);
        match &**name {
            "src" | "mimeType" | "theme" => check_text(value, &path)?,
            "sizes" => each(value, &path, check_text)?,
            _ => return Err(unknown_option(&path)),
        }
    }
    Ok(())
}

fn check_duration_lists(names: &[&str], value: &Value, path: &str) -> Result<()> {
    by_name(value, path, |list, path| check_durations(0, list, path))?;
    let unknown = value
        .as_object()
        .and_then(|lists| lists.keys().find(|name| !names.contains(&name.as_str())));
    match unknown {
        Some(name) => {
            let path = joined(path, name);
            Err(Error::new(ErrorCode::UnknownOption, format!("there is no option `{path}`"))
                .with_detail("option", path)
                .with_hint(format!("the lists are {}", quoted(names))))
        }
        None => Ok(()),
    }
}

fn check_durations(min: u64, list: &Value, path: &str) -> Result<()> {
    let delay = OptionKind::Duration { min, max: RETRY_DELAY_MS_MAX };
    each(list, path, |item, path| check_value(&delay, item, path))?;
    match list.as_array() {
        Some(list) if list.len() > RETRIES_MAX => {
            Err(wrong(path, &format!("option `{path}` has more than {RETRIES_MAX} items")))
        }
        _ => Ok(()),
    }
}

/// Attempts in a row: more is a loop.
const RETRIES_MAX: usize = 100;

fn check_text(value: &Value, path: &str) -> Result<()> {
    match value.as_str() {
        Some("") => Err(wrong(path, &format!("option `{path}` must not be empty"))),
        Some(text) if text.contains('\0') => {
            Err(wrong(path, &format!("option `{path}` must not hold a NUL character")))
        }
        Some(_) => Ok(()),
        None => Err(wrong(path, &format!("option `{path}` must be a string"))),
    }
}

fn each(value: &Value, path: &str, check: impl Fn(&Value, &str) -> Result<()>) -> Result<()> {
    let Some(items) = value.as_array() else {
        return Err(wrong(path, &format!("option `{path}` must be an array")));
    };
    if items.len() > ITEMS_MAX {
        return Err(wrong(path, &format!("option `{path}` has more than {ITEMS_MAX} items")));
    }
    items.iter().enumerate().try_for_each(|(index, item)| check(item, &format!("{path}[{index}]")))
}

fn by_name(value: &Value, path: &str, check: impl Fn(&Value, &str) -> Result<()>) -> Result<()> {
    let Some(members) = value.as_object() else {
        return Err(wrong(path, &format!("option `{path}` must be an object")));
    };
    if members.len() > ITEMS_MAX {
        return Err(wrong(path, &format!("option `{path}` has more than {ITEMS_MAX} members")));
    }
    let set = members.iter().filter(|(_, value)| !value.is_null());
    set.into_iter().try_for_each(|(name, value)| check(value, &joined(path, name)))
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{}`", escaped(word))).collect::<Vec<_>>().join(", ")
}

impl Given {
    fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn bool(&self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name)?.as_str().map(str::to_owned)
    }

    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        self.value(name).map(strings)
    }

    pub(super) fn duration(&self, name: &str) -> Option<Duration> {
        self.value(name).and_then(whole).map(Duration::from_millis)
    }

    pub(super) fn count(&self, name: &str) -> Option<u32> {
        self.value(name).and_then(whole).and_then(|number| u32::try_from(number).ok())
    }

    pub(super) fn size(&self, name: &str) -> Option<usize> {
        self.value(name).and_then(whole).and_then(|number| usize::try_from(number).ok())
    }

    pub(super) fn durations(&self, name: &str, list: &str) -> Option<Vec<Duration>> {
        self.object(name).list_of_durations(list)
    }

    pub(super) fn list_of_durations(&self, name: &str) -> Option<Vec<Duration>> {
        let list = self.value(name)?.as_array()?;
        Some(list.iter().filter_map(whole).map(Duration::from_millis).collect())
    }

    /// The objects of an array.
    pub(super) fn items(&self, name: &str) -> impl Iterator<Item = &Map<String, Value>> {
        let items = self.value(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_object)
    }

    pub(super) fn object(&self, name: &str) -> Given {
        Given(self.value(name).and_then(Value::as_object).cloned().unwrap_or_default())
    }

    pub(super) fn patterns_by_server(&self, name: &str) -> Vec<(String, Vec<String>)> {
        self.members(name).map(|(name, value)| (name.clone(), strings(value))).collect()
    }

    pub(super) fn bool_by_server(&self, name: &str) -> Vec<(String, bool)> {
        self.members(name)
            .filter_map(|(name, value)| value.as_bool().map(|value| (name.clone(), value)))
            .collect()
    }

    fn members(&self, name: &str) -> impl Iterator<Item = (&String, &Value)> {
        let members = self.value(name).and_then(Value::as_object);
        members.into_iter().flatten().filter(|(_, value)| !value.is_null())
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
