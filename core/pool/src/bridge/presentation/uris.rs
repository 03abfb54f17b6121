//! URIs of resources on the aggregate path: one rule, which leads back, and which the coming or
//! going of no other server changes.
//!
//! ```text
//! ui://<rest>      ui://<server>+<rest>
//! skill://<rest>   skill://<server>/<rest>
//! <any other>      trunkline://<server>/<any other>
//! ```
//!
//! The original stands there byte for byte: a client expands a template with one level of encoding,
//! which a second one would hide.

/// The scheme, what stands behind the server's name, and the scheme of the original.
const RULES: [(&str, &str, &str); 3] =
    [("ui://", "+", "ui://"), ("skill://", "/", "skill://"), ("trunkline://", "/", "")];

/// The URI or URI template of a server, as the aggregate shows it.
pub(in crate::bridge) fn exposed(server: &str, uri: &str) -> String {
    let rule = RULES.iter().find(|(_, _, original)| uri.starts_with(original));
    let (scheme, joint, original) = rule.copied().unwrap_or(RULES[2]);
    format!("{scheme}{}{joint}{}", host(server), &uri[original.len()..])
}

/// The server's own URI, where the exposed one is of this server.
pub(in crate::bridge) fn own(server: &str, exposed: &str) -> Option<String> {
    let host = host(server);
    RULES.iter().find_map(|(scheme, joint, original)| {
        let rest = exposed.strip_prefix(scheme)?.strip_prefix(&*host)?.strip_prefix(joint)?;
        // The exceptions have one form, not two.
        let is_plain =
            !original.is_empty() || !RULES[..2].iter().any(|rule| rest.starts_with(rule.0));
        is_plain.then(|| format!("{original}{rest}"))
    })
}

/// A server's name in the place of a host: other characters than those of an URI are encoded.
fn host(server: &str) -> String {
    let mut host = String::with_capacity(server.len());
    for byte in server.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                host.push(char::from(byte));
            }
            _ => host.push_str(&format!("%{byte:02X}")),
        }
    }
    host
}

/// Whether a URI can be an expansion of a template: its literal parts are there in their order.
pub(in crate::bridge) fn is_expansion(template: &str, uri: &str) -> bool {
    let mut rest = uri;
    let mut is_behind_variable = false;
    for part in template.split_inclusive('}') {
        let (literal, has_variable) = match part.split_once('{') {
            Some((literal, _)) => (literal, true),
            None => (part, false),
        };
        let at = match (is_behind_variable, has_variable) {
            (false, _) => rest.starts_with(literal).then_some(0),
            (true, true) => rest.find(literal),
            (true, false) => rest.ends_with(literal).then(|| rest.len() - literal.len()),
        };
        let Some(at) = at else { return false };
        rest = &rest[at + literal.len()..];
        is_behind_variable = has_variable;
    }
    is_behind_variable || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 19.3: the way back is to strip the prefix.
    #[test]
    fn every_uri_comes_back() {
        for (uri, shown) in [
            ("file:///a/b?c#d", "trunkline://s/file:///a/b?c#d"),
            ("https://h:80/x%2Fy", "trunkline://s/https://h:80/x%2Fy"),
            ("urn:a:b", "trunkline://s/urn:a:b"),
            ("test://template/{id}/data", "trunkline://s/test://template/{id}/data"),
            ("", "trunkline://s/"),
            ("ui://app/view.html", "ui://s+app/view.html"),
            ("skill://a/SKILL.md", "skill://s/a/SKILL.md"),
            ("trunkline://s/x:y", "trunkline://s/trunkline://s/x:y"),
        ] {
            assert_eq!(exposed("s", uri), shown);
            assert_eq!(own("s", shown).as_deref(), Some(uri));
            assert_eq!(own("t", shown), None);
            let odd = exposed("a/ b", uri);
            assert_eq!(own("a/ b", &odd).as_deref(), Some(uri), "{odd}");
            assert_eq!(own("a", &odd), None, "{odd}");
        }
        for none in ["trunkline://s", "file:///a", "ui://s", "trunkline://s/ui://x", "skill://s"] {
            assert_eq!(own("s", none), None, "{none}");
        }
    }

    #[test]
    fn a_template_finds_its_expansions() {
        for (template, uri, is_one) in [
            ("test://template/{id}/data", "test://template/1/data", true),
            ("test://template/{id}/data", "test://template/1/data/x", false),
            ("test://template/{id}/data", "test://other/1/data", false),
            ("file:///{+path}", "file:///a/b/c", true),
            ("a{x}b{y}c", "a1b2c", true),
            ("a{x}b{y}c", "a1c", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("{x}", "anything", true),
        ] {
            assert_eq!(is_expansion(template, uri), is_one, "{template} {uri}");
        }
    }
}
