//! The files of kept lists: what counts is what was written for its key, and it is written again as
//! it was.

use trunkline_pool::catalog_cache::{Asker, CacheKey, KEPT_FOR, Kept, WrittenHash};
use trunkline_pool::config::ServerSpec;
use trunkline_pool::fuzzing::sealed;

pub const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"listed_at_ms\":5",
    "\"server_version\":\"1\"",
    "\"tasks\":[]",
    "\"tasks\":[\"a\"]",
    "\"tools\":[]",
    "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}",
    "\"prompts\":[{\"name\":\"p\"}]",
    "\"resources\":[{\"uri\":\"x:y\",\"name\":\"r\"}]",
    "\"resourceTemplates\":[{\"uriTemplate\":\"x:{y}\",\"name\":\"t\"}]",
    "\"ttlMs\":1000",
    "\"cacheScope\":\"private\"",
    "\"nextCursor\":\"2\"",
    "\n",
    "null",
    "-1",
];

/// In milliseconds since 1970.
const NOW: u64 = 1_000_000;

fn key(server: &str) -> CacheKey {
    let spec = ServerSpec::from_value(server, &serde_json::json!({ "command": "program" }));
    let written = WrittenHash::literal(&spec.expect("it is a configuration"));
    CacheKey::new(server, &written, Asker { workspace: b"/w", context: "", capabilities: &[] })
}

/// SPEC 14.2, S-12.
pub fn run(bytes: &[u8]) {
    let key = key("s");
    assert_eq!(Kept::parse(&key, bytes, NOW), None, "nobody sealed it");
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let text = sealed(&key, text);
    let Some(kept) = Kept::parse(&key, text.as_bytes(), NOW) else { return };
    assert!(kept.catalog().has_items());
    assert_eq!(Kept::parse(&self::key("t"), text.as_bytes(), NOW), None, "it is another's");
    let late = NOW + KEPT_FOR.as_millis() as u64;
    assert_eq!(Kept::parse(&key, text.as_bytes(), late), None, "it is out of date");
    let written = kept.to_text(&key).expect("it is not longer than what was read");
    assert_eq!(Kept::parse(&key, written.as_bytes(), NOW).as_ref(), Some(&kept), "{written}");
    for at in [written.len() / 3, written.len() / 2, written.len() - 2] {
        let mut damaged = written.clone().into_bytes();
        damaged[at] ^= 1;
        assert_eq!(Kept::parse(&key, &damaged, NOW), None, "byte {at} is another");
    }
}
