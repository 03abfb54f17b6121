//! The text of a kept catalog: one file of the catalog cache.
//!
//! `{"v":1,"digest":"…","kept":{…}}`, where `digest` covers the key and `kept` byte for byte.
//! `kept` is read as one page of each list, by the rules for what a server sends: what is in a file
//! is no more to be believed than that.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::CacheKey;
use crate::base::text::{digest_from_hex, hex};
use crate::catalog::{CacheScope, Catalog, ListKind, PageEnd};

/// The version of the form.
const VERSION: u32 = 1;

/// How long a kept catalog counts (SPEC 14.2).
pub const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// The most bytes of a text, which is the most that is read of any file (S-12).
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// The longest version of a server that is written down, in characters. It is the server's own
/// word.
const SERVER_VERSION_MAX: usize = 128;

/// What a server says of a listing, beside the lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingTerms {
    /// Whom it is for.
    pub scope: CacheScope,
    /// How long it is fresh, where the server says so.
    pub fresh_for: Option<Duration>,
    /// The server's own version, as it gave it.
    pub server_version: String,
}

/// A listing that may be kept beyond its process.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    catalog: Arc<Catalog>,
    /// In milliseconds since 1970.
    listed_at_ms: u64,
    /// How long it is fresh, where the server says so: no longer than anything is kept.
    fresh_for: Option<Duration>,
    /// For people who look into the file.
    server_version: String,
}

impl Kept {
    /// What was listed at that time, in milliseconds since 1970. None of what is not kept: an empty
    /// catalog, one that is `private`, and one that is not fresh even when it comes.
    pub fn of(catalog: &Arc<Catalog>, listing: &ListingTerms, listed_at_ms: u64) -> Option<Kept> {
        let ListingTerms { scope, fresh_for, server_version } = listing;
        let fresh_for = fresh_for.map(|time| time.min(KEPT_FOR));
        let server_version = server_version.chars().take(SERVER_VERSION_MAX).collect();
        let kept = Kept { catalog: catalog.clone(), listed_at_ms, fresh_for, server_version };
        let is_kept = *scope == CacheScope::Shared && catalog.has_items();
        (is_kept && kept.counts_at(listed_at_ms)).then_some(kept)
    }

    /// The lists.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Its text for this key; none when that is longer than any that is read.
    pub fn to_text(&self, key: &CacheKey) -> Option<String> {
        let kept = self.lists_text()?;
        let digest = hex(&digest(key, &kept));
        let text = format!("{{\"v\":{VERSION},\"digest\":\"{digest}\",\"kept\":{kept}}}\n");
        (text.len() <= TEXT_BYTES_MAX).then_some(text)
    }

    /// Reads a text that was written for this key. None of what is damaged, of another key, of
    /// another version, empty, `private`, out of date, or not as it is written here in any other
    /// way.
    pub fn parse(key: &CacheKey, text: &[u8], now_ms: u64) -> Option<Kept> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Text<'a> {
            v: u32,
            digest: String,
            #[serde(borrow)]
            kept: &'a RawValue,
        }
        #[derive(Deserialize)]
        struct Beside {
            listed_at_ms: u64,
            server_version: String,
            tasks: Vec<String>,
        }
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let Text { v, digest: told, kept } = serde_json::from_slice(text).ok()?;
        let kept = kept.get();
        if v != VERSION || digest_from_hex(&told)? != digest(key, kept) {
            return None;
        }
        let Beside { listed_at_ms, server_version, tasks } = serde_json::from_str(kept).ok()?;
        let mut catalog = Catalog::default();
        let PageEnd { next, fresh_for, scope } = catalog.add_pages(ListKind::ALL, kept).ok()?;
        if scope != CacheScope::Shared || next.is_some() {
            return None;
        }
        catalog.finish();
        let is_listed = tasks.iter().all(|name| catalog.tool(name).is_some());
        if !catalog.has_items() || !catalog.skipped.is_empty() || !is_listed {
            return None;
        }
        catalog.tasks = tasks.into_iter().map(Arc::from).collect();
        let kept = Kept { catalog: Arc::new(catalog), listed_at_ms, fresh_for, server_version };
        kept.counts_at(now_ms).then_some(kept)
    }

    /// Whether it still counts at that time; never before it was listed, since then one of the two
    /// times is wrong.
    fn counts_at(&self, now_ms: u64) -> bool {
        let limit = self.fresh_for.unwrap_or(KEPT_FOR).min(KEPT_FOR);
        let age = now_ms.checked_sub(self.listed_at_ms).map(Duration::from_millis);
        age.is_some_and(|age| age < limit)
    }

    /// Whether this one, which was listed later, is to take the place of what is kept: it is
    /// another, or the older one counts for only half of its time any more. Whatever a server lists
    /// again and again is not written again and again.
    pub fn is_worth_writing_over(&self, older: &Kept) -> bool {
        let Some(age) = self.listed_at_ms.checked_sub(older.listed_at_ms) else {
            // Another process listed later.
            return false;
        };
        let half = self.fresh_for.unwrap_or(KEPT_FOR).min(KEPT_FOR) / 2;
        self.fresh_for != older.fresh_for
            || Duration::from_millis(age) >= half
            || !has_same_lists(&self.catalog, &older.catalog)
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

/// Those of the listed tools that run only as tasks: of one that is held back nothing is kept.
fn tasks(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.tasks.iter().map(|name| &**name).filter(|name| catalog.tool(name).is_some())
}

/// Whether both have the same lists, whatever was left out of them.
fn has_same_lists(one: &Catalog, other: &Catalog) -> bool {
    tasks(one).eq(tasks(other))
        && ListKind::ALL.iter().all(|list| one.list(*list) == other.list(*list))
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
