//! Walks the members of a JSON object without building it.
//!
//! Requests are split into slices of the bytes that arrived, so that the quick tools allocate
//! nothing. Values are not validated beyond their brackets and quotes; the slow tools parse theirs.

/// The members of one JSON object: keys without their quotes, values as they stand.
pub struct Members<'a> {
    rest: &'a [u8],
    broken: bool,
}

/// Starts walking `object`, which must be one JSON object and nothing else.
pub fn members(object: &[u8]) -> Members<'_> {
    let object = object.trim_ascii();
    let inner = object.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
    Members { rest: inner.unwrap_or(b"").trim_ascii_start(), broken: inner.is_none() }
}

/// The value of the member `key` of `object`, when there is one.
pub fn member<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    members(object).find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value)
}

impl Members<'_> {
    /// Whether the walk met something that is no JSON object; known when it has ended.
    pub fn is_broken(&self) -> bool {
        self.broken
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.broken {
            return None;
        }
        let found = split_member(self.rest);
        self.broken = found.is_none();
        let (key, value, rest) = found?;
        self.rest = rest;
        Some((key, value))
    }
}

/// Splits `"key": value, rest` into its three parts.
fn split_member(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let key_end = string_end(bytes)?;
    let key = &bytes[1..key_end - 1];
    let after = bytes[key_end..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let value_end = value_end(after)?;
    let value = after[..value_end].trim_ascii_end();
    let rest = after[value_end..].trim_ascii_start();
    if rest.is_empty() {
        return Some((key, value, rest));
    }
    let rest = rest.strip_prefix(b",")?.trim_ascii_start();
    (!rest.is_empty()).then_some((key, value, rest))
}

/// The length of the string that `bytes` begins with, both quotes included.
fn string_end(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The length of the value that `bytes` begins with.
fn value_end(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => string_end(bytes),
        b'{' | b'[' => container_end(bytes),
        _ => {
            let end = bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b']'));
            Some(end.unwrap_or(bytes.len())).filter(|end| *end > 0)
        }
    }
}

fn container_end(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += string_end(&bytes[at..])?,
            byte => {
                depth += usize::from(matches!(byte, b'{' | b'['));
                depth -= usize::from(matches!(byte, b'}' | b']'));
                at += 1;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{member, members};

    fn walk(text: &str) -> Option<Vec<(String, String)>> {
        let mut walked = members(text.as_bytes());
        let pairs = walked
            .by_ref()
            .map(|(key, value)| {
                let own = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                (own(key), own(value))
            })
            .collect();
        (!walked.is_broken()).then_some(pairs)
    }

    #[test]
    fn nested_values_and_escaped_quotes_come_back_as_they_stood() {
        let text = r#" { "id" : 7, "a\"b":"x\\", "p": {"q":[1,"]}"]} } "#;
        let expected = [("id", "7"), ("a\\\"b", "\"x\\\\\""), ("p", "{\"q\":[1,\"]}\"]}")];
        let expected: Vec<_> =
            expected.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect();
        assert_eq!(walk(text), Some(expected));
        assert_eq!(walk("{}"), Some(vec![]));
        assert_eq!(member(text.as_bytes(), "id"), Some(&b"7"[..]));
    }

    #[test]
    fn what_is_no_object_is_broken() {
        for text in ["", "7", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":\"x}", "{\"a\":[1}"] {
            assert_eq!(walk(text), None, "{text:?}");
        }
    }
}
