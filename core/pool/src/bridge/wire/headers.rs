//! The headers of the protocol on an HTTP request, and whether they say what its body says.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::codes::{Denial, DenialKind};

/// The headers of one request whose names begin with `Mcp-`, as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpHeaders {
    /// Names in lower case, and values without white space around them.
    all: Vec<(String, String)>,
}

impl McpHeaders {
    /// Of all headers of a request; others than the protocol's are left out.
    pub fn new<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> McpHeaders {
        let read = |(name, value): (&str, &str)| {
            let value = value.trim_matches([' ', '\t']).to_owned();
            (name.to_ascii_lowercase(), value)
        };
        let ours = |(name, _): &(String, String)| name.starts_with("mcp-");
        McpHeaders { all: all.into_iter().map(read).filter(ours).collect() }
    }

    /// The value of a header.
    ///
    /// # Errors
    /// When the header is there twice, with different values.
    pub fn get(&self, name: &str) -> Result<Option<&str>, DifferingHeaders> {
        let is_same = |(had, _): &&(String, String)| had.eq_ignore_ascii_case(name);
        let mut values = self.all.iter().filter(is_same).map(|(_, value)| value.as_str());
        let first = values.next();
        match values.all(|value| Some(value) == first) {
            true => Ok(first),
            false => Err(DifferingHeaders),
        }
    }

    /// The value of a header, whose text may stand there in base64.
    pub(super) fn decoded(&self, name: &str) -> Result<Option<String>, Denial> {
        let twice = |_| mismatch(name, "is there twice, with different values");
        let Some(value) = self.get(name).map_err(twice)? else { return Ok(None) };
        if !value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
            return Err(mismatch(name, "has characters that no header may have"));
        }
        let sentinel = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
        let Some(sentinel) = sentinel else { return Ok(Some(value.to_owned())) };
        let decoded = BASE64_STANDARD.decode(sentinel).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        decoded.map(Some).ok_or_else(|| mismatch(name, "is not valid base64"))
    }
}

/// A header is there twice, with different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferingHeaders;

/// The header that repeats the revision.
pub(super) const VERSION_HEADER: &str = "MCP-Protocol-Version";

/// Checks that the headers of a modern request name what its body names.
pub(in crate::bridge) fn check(
    headers: &McpHeaders,
    version: &str,
    method: &str,
    name: Option<&str>,
) -> Result<(), Denial> {
    let wanted =
        [(VERSION_HEADER, Some(version)), ("Mcp-Method", Some(method)), ("Mcp-Name", name)];
    for (header, body) in wanted {
        let Some(body) = body else { continue };
        check_one(headers, header, body)?;
    }
    Ok(())
}

/// Checks that one header names what the body names.
pub(super) fn check_one(headers: &McpHeaders, header: &str, body: &str) -> Result<(), Denial> {
    match headers.decoded(header)? {
        None => Err(mismatch(header, "is missing")),
        Some(value) if value != body => Err(mismatch(header, "is not what the body says")),
        Some(_) => Ok(()),
    }
}

/// The denial of a header.
pub(super) fn mismatch(header: &str, how: &str) -> Denial {
    Denial::new(DenialKind::HeaderMismatch, format!("the header `{header}` {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&str, &str); 3] = [
        ("mcp-protocol-version", "2026-07-28"),
        ("MCP-METHOD", "tools/call"),
        ("Mcp-Name", " echo\t"),
    ];

    fn denial(headers: &[(&str, &str)], name: Option<&str>) -> Option<String> {
        let headers = McpHeaders::new(headers.iter().copied());
        check(&headers, "2026-07-28", "tools/call", name).err().map(|denial| {
            assert_eq!(denial.kind, DenialKind::HeaderMismatch);
            denial.message
        })
    }

    fn with(name: &'static str, value: &'static str) -> Vec<(&'static str, &'static str)> {
        let others = ALL.into_iter().filter(|(had, _)| !had.eq_ignore_ascii_case(name));
        others.chain([(name, value)]).collect()
    }

    #[test]
    fn headers_say_what_the_body_says() {
        assert_eq!(denial(&ALL, Some("echo")), None);
        assert_eq!(denial(&ALL[..2], None), None);
        assert_eq!(denial(&with("Mcp-Name", "=?base64?w6k=?="), Some("\u{e9}")), None);
        // The same value twice is one.
        assert_eq!(denial(&[&ALL[..], &ALL[..]].concat(), Some("echo")), None);
        for (headers, header) in [
            (with("Mcp-Name", "Echo"), "Mcp-Name"),
            (with("Mcp-Name", "=?base64?*?="), "Mcp-Name"),
            (with("Mcp-Name", "\u{e9}"), "Mcp-Name"),
            (with("Mcp-Method", "TOOLS/CALL"), "Mcp-Method"),
            (with("MCP-Protocol-Version", "2025-11-25"), "MCP-Protocol-Version"),
            (ALL[..2].to_vec(), "Mcp-Name"),
            (ALL[1..].to_vec(), "MCP-Protocol-Version"),
            ([&ALL[..], &[("mcp-name", "other")]].concat(), "Mcp-Name"),
        ] {
            let denied = denial(&headers, Some("echo")).unwrap_or_default();
            assert!(denied.contains(header), "{headers:?}: {denied}");
        }
    }
}
