//! The outer members of a text that is no JSON, as far as it can be followed.

/// What is known of such a text.
#[derive(Debug, Default)]
pub(super) struct Outer {
    /// The first `id` that can be one of ours.
    pub id: Option<u64>,
    /// Whether `jsonrpc` stands among the members.
    pub has_version: bool,
    /// Whether its first name is that of no member of a message.
    pub begins_as_another: bool,
}

/// Follows a text that begins with a brace.
pub(super) fn members(text: &[u8]) -> Outer {
    const OF_MESSAGES: [&[u8]; 6] = [b"jsonrpc", b"id", b"method", b"params", b"result", b"error"];
    let mut outer = Outer::default();
    let (mut depth, mut at, mut is_first) = (0_usize, 0, true);
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some(length) = string_length(&text[at + 1..]) else { break };
                let (name, rest) = (&text[at + 1..at + 1 + length], &text[at + 2 + length..]);
                if std::mem::take(&mut is_first) {
                    outer.begins_as_another = !(depth == 1 && OF_MESSAGES.contains(&name));
                }
                outer.has_version |= depth == 1 && name == b"jsonrpc";
                if depth == 1 && name == b"id" && outer.id.is_none() {
                    outer.id = id_after(rest);
                }
                at += 1 + length;
            }
            _ => {}
        }
        at += 1;
    }
    outer
}

/// The bytes of a string up to its closing quote.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let found = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[found] == b'"' {
            return Some(found);
        }
        from = found + 2;
    }
}

/// The id behind a colon, when the whole of it is one of ours: what only begins as one is
/// another's, or cut.
fn id_after(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let quoted = text.strip_prefix(b"\"");
    let text = quoted.unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    let is_whole = match (quoted, rest) {
        (Some(_), [b'"', ..]) => true,
        (None, [byte, ..]) => matches!(byte, b',' | b'}') || byte.is_ascii_whitespace(),
        _ => false,
    };
    is_whole.then(|| own_id(std::str::from_utf8(number).ok()?))?
}

/// The number of an id that one of ours can be: some servers give it back as a string.
pub(super) fn own_id(text: &str) -> Option<u64> {
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit())
        && !(text.len() > 1 && text.starts_with('0'));
    is_plain.then(|| text.parse().ok())?
}
