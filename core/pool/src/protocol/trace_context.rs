//! The trace that a call belongs to, as W3C writes it in the `_meta` of a request.
//!
//! Nothing is made up here: what the host gives is looked at, and goes out as it came.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use crate::{Error, ErrorCode, Result};

/// The name of a member, and whether a text may be its value.
type MemberRule = (&'static str, fn(&str) -> bool);

const RULES: [MemberRule; 3] =
    [("traceparent", is_parent), ("tracestate", is_state), ("baggage", is_baggage)];

/// The most members of a `tracestate`.
const STATES_MAX: usize = 32;

/// The most bytes of one member. A bound of ours: W3C has none, only 8,192 bytes of a `baggage`
/// that everybody passes on at least.
const BYTES_MAX: usize = 64 << 10;

/// Looks at the members of a `_meta` that carry a trace; there need not be any.
///
/// # Errors
/// `invalid_argument` that names the member. What it holds is not in the error: a baggage is the
/// host's own affair.
pub fn check(meta: &str) -> Result<()> {
    // What cannot be read is refused where it is put into the request.
    let Ok(members) = serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(meta) else {
        return Ok(());
    };
    for (name, is_valid) in RULES {
        let Some(value) = members.get(name) else { continue };
        let message = match serde_json::from_str::<Cow<'_, str>>(value.get()) {
            Ok(text) if text.len() > BYTES_MAX => {
                format!("meta.{name} is longer than the {BYTES_MAX} bytes that are taken here")
            }
            Ok(text) if is_valid(&text) => continue,
            Ok(_) | Err(_) => format!("meta.{name} is no {name} as W3C defines it"),
        };
        let error = Error::new(ErrorCode::InvalidArgument, message);
        return Err(error.with_detail("path", format!("meta.{name}")));
    }
    Ok(())
}

/// `version-trace-parent-flags`; a later version may say more behind these.
fn is_parent(text: &str) -> bool {
    let mut parts = text.splitn(5, '-');
    let mut next = |digits: usize| {
        let part = parts.next()?;
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (part.len() == digits && part.bytes().all(is_hex)).then_some(part)
    };
    let (Some(version), Some(trace), Some(parent), Some(_flags)) =
        (next(2), next(32), next(16), next(2))
    else {
        return false;
    };
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    let ends = parts.next().is_none();
    version != "ff" && (version != "00" || ends) && !is_zero(trace) && !is_zero(parent)
}

/// `key=value,…`, the newest first; a key once.
fn is_state(text: &str) -> bool {
    let members: Vec<&str> = text.split(',').map(trimmed).filter(|one| !one.is_empty()).collect();
    let mut keys = HashSet::new();
    let is_valid = |member: &&str| {
        member.split_once('=').is_some_and(|(key, value)| {
            is_state_key(key) && is_state_value(value) && keys.insert(key.to_owned())
        })
    };
    members.len() <= STATES_MAX && members.iter().all(is_valid)
}

fn is_state_key(key: &str) -> bool {
    let is_start = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_rest = |byte| is_start(byte) || matches!(byte, b'_' | b'-' | b'*' | b'/' | b'@');
    key.len() <= 256 && key.bytes().next().is_some_and(is_start) && key.bytes().all(is_rest)
}

fn is_state_value(value: &str) -> bool {
    let is_allowed = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'=');
    value.len() <= 256
        && !value.is_empty()
        && !value.ends_with(' ')
        && value.bytes().all(is_allowed)
}

/// `key=value;property,…`, values percent-encoded.
fn is_baggage(text: &str) -> bool {
    text.split(',').all(is_baggage_member)
}

fn is_baggage_member(member: &str) -> bool {
    let mut parts = member.split(';').map(trimmed);
    let pair = |part: &str| {
        part.split_once('=').is_some_and(|(key, value)| {
            is_token(trimmed(key)) && trimmed(value).bytes().all(is_baggage_byte)
        })
    };
    parts.next().is_some_and(pair) && parts.all(|property| is_token(property) || pair(property))
}

fn is_baggage_byte(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~') && !matches!(byte, b'"' | b',' | b';' | b'\\')
}

/// A name as HTTP has them.
fn is_token(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_allowed)
}

fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    /// The member that is refused.
    fn refused(meta: &serde_json::Value) -> Option<String> {
        let error = check(&meta.to_string()).err()?;
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
        assert!(!error.to_json().to_string().contains("secret"), "{error:?}");
        Some(error.detail()["path"].as_str().unwrap().to_owned())
    }

    fn baggage_of(bytes: usize) -> String {
        format!("k={}", "v".repeat(bytes - 2))
    }

    #[test]
    fn a_trace_as_w3c_writes_it_may_go_out() {
        for meta in [
            json!({}),
            json!({ "traceparent": PARENT }),
            json!({ "traceparent": PARENT.replacen("00", "cc", 1) + "-what-will-be" }),
            json!({ "traceparent": PARENT, "tracestate": "rojo=00f067aa0ba902b7, congo=t61 rc,,t@s=1" }),
            json!({ "tracestate": "" }),
            json!({ "baggage": "user=al%20ice ; ttl=1;hot, node=DF=28,empty=" }),
            json!({ "baggage": baggage_of(8192 + 1) }),
            json!({ "baggage": baggage_of(BYTES_MAX) }),
            json!({ "k": [1], "trace_parent": 1 }),
        ] {
            assert_eq!(refused(&meta), None, "{meta}");
        }
        assert!(check("no object").is_ok());
    }

    #[test]
    fn a_member_that_is_no_trace_is_refused_by_its_name_and_not_shown() {
        let zero = "0".repeat(32);
        for parent in [
            json!("secret"),
            json!(""),
            json!(null),
            json!(["secret"]),
            json!(PARENT.to_uppercase()),
            json!(format!("{PARENT}-secret")),
            json!(PARENT.replacen("00", "ff", 1)),
            json!(PARENT.replacen("4bf92f3577b34da6a3ce929d0e0e4736", &zero, 1)),
            json!(PARENT.replacen("00f067aa0ba902b7", &zero[..16], 1)),
            json!(PARENT[..54]),
        ] {
            let meta = json!({ "traceparent": parent });
            assert_eq!(refused(&meta).as_deref(), Some("meta.traceparent"), "{meta}");
        }
        let many = (0..=STATES_MAX).map(|key| format!("k{key}=v")).collect::<Vec<_>>().join(",");
        for state in ["secret", "A=1", "a=", "=1", "a=b=c", "a=1,a=2", "a=\u{e9}", "a=1\n", &many] {
            let meta = json!({ "traceparent": PARENT, "tracestate": state });
            assert_eq!(refused(&meta).as_deref(), Some("meta.tracestate"), "{meta}");
        }
        let long = baggage_of(BYTES_MAX + 1);
        for baggage in ["secret", "", "k=a b", "k=\"v\"", "k=1,,l=2", "k\u{e9}=1", "k=1;", &long] {
            let meta = json!({ "baggage": baggage });
            assert_eq!(refused(&meta).as_deref(), Some("meta.baggage"), "{meta}");
        }
        // However its name is written.
        assert!(check(r#"{"\u0074raceparent": "secret"}"#).is_err());
    }
}
