//! How one snake_case name is spelled in each language; mechanical, so that nobody has to remember
//! it.

/// The name in Python: the same without `_ms`, since durations there are float seconds.
pub fn python_name(name: &str) -> &str {
    name.strip_suffix("_ms").unwrap_or(name)
}

/// The name in Node: camelCase, suffix and all (`timeout_ms` is `timeoutMs`). What begins with
/// underscores is no name of ours, and begins with them there too.
pub fn node_name(name: &str) -> String {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        out.push(character);
        let underscores = rest.clone().take_while(|it| *it == '_').count();
        let next = rest.clone().nth(underscores).filter(|it| is_part(*it));
        if let Some(next) = next.filter(|_| is_part(character) && underscores > 0) {
            out.push(next.to_ascii_uppercase());
            rest.nth(underscores);
        }
    }
    out
}
