//! The text of a kept catalog, as it is written: one file of the catalog cache.
//!
//! `{"v":1,"digest":"…","kept":{…}}`, where `digest` covers the key and `kept` byte for byte.

use sha2::{Digest, Sha256};

use super::key::CacheKey;
use super::listing::{Kept, tasks};
use crate::base::text::hex;
use crate::catalog::ListKind;

/// The version of the form.
pub(super) const VERSION: u32 = 1;

/// The most bytes of a text, which is the most that is read of any file (S-12).
pub const TEXT_BYTES_MAX: usize = 1 << 20;

impl Kept {
    /// Its text for this key; none when that is longer than any that is read.
    pub fn to_text(&self, key: &CacheKey) -> Option<String> {
        let kept = self.lists_text()?;
        let digest = hex(&digest(key, &kept));
        let text = format!("{{\"v\":{VERSION},\"digest\":\"{digest}\",\"kept\":{kept}}}\n");
        (text.len() <= TEXT_BYTES_MAX).then_some(text)
    }

    fn lists_text(&self) -> Option<String> {
        let version = serde_json::to_string(&self.server_version).ok()?;
        let tasks: Vec<&str> = tasks(&self.catalog).collect();
        let tasks = serde_json::to_string(&tasks).ok()?;
        let mut text = format!(
            "{{\"listed_at_ms\":{},\"server_version\":{version},\"tasks\":{tasks}",
            self.listed_at_ms
        );
        if let Some(fresh_for) = self.fresh_for {
            text += &format!(",\"ttlMs\":{}", fresh_for.as_millis());
        }
        for list in ListKind::ALL {
            let items = self.catalog.list(list).iter().map(|item| &*item.definition);
            let items: Vec<&str> = items.collect();
            text += &format!(",\n\"{}\":[{}]", list.member(), items.join(",\n"));
        }
        Some(text + "}")
    }
}

/// What tells that nothing of a text is other than it was written, and that it was written for this
/// key.
pub(super) fn digest(key: &CacheKey, kept: &str) -> [u8; 32] {
    Sha256::new().chain_update(key.bytes()).chain_update(kept).finalize().into()
}

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing {
    use super::*;

    /// The text of lists as if it had been written for this key.
    pub fn sealed(key: &CacheKey, kept: &str) -> String {
        let digest = hex(&digest(key, kept));
        format!("{{\"v\":{VERSION},\"digest\":\"{digest}\",\"kept\":{kept}}}\n")
    }
}
