//! How one snake_case name is spelled in each language; mechanical, so that nobody has to remember
//! it.

/// The name in Python: the same without `_ms`, since durations there are float seconds.
pub fn python_name(name: &str) -> &str {
    name.strip_suffix("_ms").unwrap_or(name)
}

/// The name in Node: camelCase, suffix and all (`timeout_ms` is `timeoutMs`).
pub fn node_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for character in name.chars() {
        if character == '_' && !out.is_empty() {
            upper = true;
        } else if upper {
            out.push(character.to_ascii_uppercase());
            upper = false;
        } else {
            out.push(character);
        }
    }
    out
}
