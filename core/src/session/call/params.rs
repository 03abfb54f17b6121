//! The params of a call: the text of a JSON object, which nothing of ours takes apart.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use trunkline_pool::json::{is_value, members};
use trunkline_pool::trace_context;

use super::log_level;
use crate::{Error, ErrorCode, Result};

/// The params of a tool's call, and where in them the arguments are.
pub(crate) fn tool_params(tool: &str, arguments: &str) -> (String, Range<usize>) {
    const AROUND: usize = r#"{"name":"","arguments":}"#.len();
    let mut params = String::with_capacity(tool.len() + arguments.len() + AROUND);
    params.push_str(r#"{"name":"#);
    if tool.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\')) {
        params.push('"');
        params.push_str(tool);
        params.push('"');
    } else {
        params.push_str(&serde_json::Value::from(tool).to_string());
    }
    params.push_str(r#","arguments":"#);
    let from = params.len();
    params.push_str(arguments);
    params.push('}');
    let place = from..from + arguments.len();
    (params, place)
}

/// The params of a tool's call as they were given, and where in them the arguments are.
pub(crate) fn whole_params(params: String) -> Result<(String, Range<usize>)> {
    check_members(&params)?;
    let found = members(&params).ok().and_then(|members| {
        let (_, arguments) = members.into_iter().find(|(name, _)| name == "arguments")?;
        Some(arguments.get().to_owned())
    });
    let place = found.and_then(|arguments| {
        let from = params.find(&arguments)?;
        Some(from..from + arguments.len())
    });
    let place = place.unwrap_or(0..0);
    Ok((params, place))
}

/// Whether params have a `_meta` of their own.
pub(crate) fn has_meta(params: &str) -> bool {
    members(params).is_ok_and(|members| members.iter().any(|(name, _)| name == "_meta"))
}

/// The text of a JSON object on one line: a frame must not hold a line break.
pub(crate) fn object<'a>(path: &str, text: &'a str) -> Result<Cow<'a, str>> {
    let text = if text.is_empty() { "{}" } else { text };
    let wrong = |message: String| {
        Err(Error::new(ErrorCode::InvalidArgument, message).with_detail("path", path))
    };
    if !is_value(text)
        && let Err(error) = serde_json::from_str::<IgnoredAny>(text)
    {
        return wrong(format!("{path} is no JSON: {error}"));
    }
    let value = trimmed(text);
    if !value.starts_with('{') {
        return wrong(format!("{path} is no JSON object"));
    }
    if memchr::memchr2(b'\n', b'\r', value.as_bytes()).is_some() {
        // Valid JSON has line breaks only between tokens.
        return Ok(value.replace(['\n', '\r'], " ").into());
    }
    Ok(value.into())
}

/// Without the white space of JSON around it, which nearly nobody writes.
fn trimmed(text: &str) -> &str {
    let is_bare = text.starts_with('{') && text.ends_with('}');
    if is_bare { text } else { text.trim_matches([' ', '\t', '\r', '\n']) }
}

/// Refuses params whose members cannot be told: of two with one name the server could take another
/// than what stands in the headers of the request.
pub(crate) fn check_members(params: &str) -> Result<()> {
    let wrong = |why: &str| {
        let message = format!("the params cannot be told: {why}");
        Error::new(ErrorCode::InvalidArgument, message).with_detail("path", "params")
    };
    let members = members(params).map_err(|error| wrong(&error.to_string()))?;
    let mut names = HashSet::new();
    match members.iter().all(|(name, _)| names.insert(name)) {
        true => Ok(()),
        false => Err(wrong("a member is there twice")),
    }
}

/// Refuses a `_meta` that no request may have.
pub(crate) fn check_meta(given: Option<&str>) -> Result<()> {
    given.map_or(Ok(()), |meta| meta_object(meta).map(drop))
}

fn meta_object(text: &str) -> Result<Cow<'_, str>> {
    let meta = object("meta", text)?;
    trace_context::check(&meta)?;
    Ok(meta)
}

/// The params with the host's `_meta`, and what it says of the log. A `_meta` that stands in the
/// params already stays as it is.
pub(crate) fn with_meta(
    params: String,
    given: Option<&str>,
    level: Option<&str>,
) -> Result<String> {
    let meta = given.map(meta_object).transpose()?;
    let Some(meta) = log_level::joined(meta, level) else { return Ok(params) };
    // Raw values: what is in them need not fit any type of ours.
    let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(&params)
        .map_err(|error| Error::new(ErrorCode::InvalidArgument, format!("no JSON: {error}")))?;
    if members.contains_key("_meta") {
        if given.is_none() {
            return Ok(params);
        }
        let error = Error::new(ErrorCode::InvalidArgument, "`_meta` is given twice");
        return Err(error.with_detail("path", "meta"));
    }
    let separator = if members.is_empty() { "" } else { "," };
    let open = params.trim_end().strip_suffix('}').unwrap_or(&params);
    Ok(format!(r#"{open}{separator}"_meta":{meta}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 5.6.
    #[test]
    fn the_arguments_of_a_call_are_found_in_its_params() {
        for tool in ["echo", "a b", "\"\\\u{1}\u{e9}"] {
            let (params, place) = tool_params(tool, r#"{"a":1}"#);
            assert_eq!(&params[place], r#"{"a":1}"#);
            let parsed: serde_json::Value = serde_json::from_str(&params).unwrap();
            assert_eq!(parsed, serde_json::json!({"name": tool, "arguments": {"a": 1}}));
        }
    }

    /// SPEC 5.3.
    #[test]
    fn an_object_is_taken_without_the_white_space_around_it() {
        for (text, taken) in [
            ("", Some("{}")),
            ("{}", Some("{}")),
            (" {\"a\":1}", Some("{\"a\":1}")),
            ("{\"a\":1}\n", Some("{\"a\":1}")),
            ("\t{\r\n} ", Some("{  }")),
            ("\u{a0}{}", None),
            ("{", None),
            ("{}{}", None),
            ("[{}]", None),
        ] {
            assert_eq!(object("arguments", text).ok().as_deref(), taken, "{text:?}");
        }
    }

    /// SPEC 5.6: a server, and what stands before it, must not take two of what is one here.
    #[test]
    fn params_whose_members_cannot_be_told_are_refused() {
        for good in ["{}", r#"{"a":1e999,"b":{"a":1,"a":"\ud800"}}"#] {
            check_members(good).unwrap();
        }
        for bad in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":2}"#, r#"{"\ud800":1}"#] {
            let error = check_members(bad).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{bad}");
            assert_eq!(error.detail()["path"], "params");
        }
    }

    /// SPEC 5.1: what is valid JSON but fits no number of ours is the server's to judge, not ours
    /// to spoil.
    #[test]
    fn meta_is_added_to_params_that_hold_numbers_of_any_size() {
        let params = r#"{"name":"t","arguments":{"a":1e999}}"#.to_owned();
        let with = with_meta(params, Some(r#"{"k":1}"#), None).unwrap();
        assert_eq!(with, r#"{"name":"t","arguments":{"a":1e999},"_meta":{"k":1}}"#);
        assert_eq!(with_meta("{}".to_owned(), Some("{}"), None).unwrap(), r#"{"_meta":{}}"#);
        assert_eq!(with_meta(with.clone(), None, Some("info")).unwrap(), with);
        assert!(with_meta(with, Some("{}"), None).is_err());
    }
}
