//! Whose metadata a document is (RFC 9728 3.3).

use url::Url;

/// Whether a document that calls its resource so may be that of an entry: by the entry's address,
/// that with or without one final slash, or a parent path of the same origin. A query or a fragment
/// names something else, and so does every other place.
pub fn is_resource_of(entry: &Url, written: &str) -> bool {
    // What a parser would silently drop is not what was meant.
    if written.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return false;
    }
    let Ok(resource) = Url::parse(written) else { return false };
    let is_plain = resource.query().is_none()
        && resource.fragment().is_none()
        && resource.username().is_empty()
        && resource.password().is_none();
    let is_same_place = resource.has_host() && resource.origin() == entry.origin();
    is_plain && is_same_place && is_at_or_above(resource.path(), entry.path())
}

/// Whether a path is another or a parent of it, where one final slash of either counts for nothing.
fn is_at_or_above(path: &str, entry: &str) -> bool {
    let cut = |path: &str| path.strip_suffix('/').unwrap_or(path).to_owned();
    let (path, entry) = (cut(path), cut(entry));
    entry.strip_prefix(&*path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
