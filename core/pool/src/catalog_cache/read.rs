//! The text of a kept catalog, as it is read.
//!
//! `kept` is read as one page of each list, by the rules for what a server sends: what is in a file
//! is no more to be believed than that.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::key::CacheKey;
use super::listing::Kept;
use super::write::{TEXT_BYTES_MAX, VERSION, digest};
use crate::base::text::digest_from_hex;
use crate::catalog::{CacheScope, Catalog, ListKind, PageEnd};

impl Kept {
    /// Reads a text that was written for this key. `None` for a text that is damaged, of another
    /// key or version, empty, `private`, out of date, or written otherwise than here.
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
}
