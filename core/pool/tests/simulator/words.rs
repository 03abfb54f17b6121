//! How a run tells of itself.

/// The complaint with the check that makes it in front, unless one of the checks of a step said it.
pub fn said_by(check: &str, what: String) -> String {
    let named = ["reconcile", "panic", "invariants", "world", "model", "drain", "rules", "timer"];
    let is_named = what
        .split_once(": ")
        .is_some_and(|(first, _)| check == "at rest" && named.contains(&first));
    if is_named { what } else { format!("{check}: {what}") }
}

/// What a panic says.
pub fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words").to_owned()
}

/// The text without the inside of catalogs: of each, what tells it from others is the version of
/// its first tool.
pub fn brief(text: &str) -> String {
    let mut pieces = text.split("Catalog {");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find("skipped: [] }").map_or(piece.len(), |at| at + "skipped: [] }".len());
        let version = piece[..end]
            .find("digest: [")
            .map_or("nothing", |at| piece[at + 9..].split(',').next().unwrap_or_default());
        out += &format!("Catalog({version}){}", &piece[end..]);
    }
    out
}
