//! The catalogs that are kept in memory. Those that were looked at longest ago make room.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use trunkline_pool::catalog::{Catalog, ListKind};
use trunkline_pool::catalog_cache::CacheKey;

use super::catalog_lookup::CatalogLookup;

/// Keys with something known: several for each of the most servers that a pool is made for.
const KEYS_MAX: usize = 8192;

/// Bytes of all kept definitions together. Most of them are those of connected servers, and so in
/// memory anyway.
const BYTES_MAX: usize = 64 << 20;

/// What an item takes beside its texts, in bytes.
const ITEM_BYTES: usize = 96;

#[derive(Default)]
pub(super) struct Memory {
    kept: HashMap<CacheKey, MemoryEntry>,
    bytes: usize,
    /// How often one was looked at or put in.
    turns: u64,
}

struct MemoryEntry {
    /// None when nothing was listed.
    catalog: Option<Arc<Catalog>>,
    bytes: usize,
    /// When it was looked at last.
    turn: u64,
    /// When it is to be looked for again.
    counts_until: Option<Instant>,
}

impl Memory {
    pub(super) fn known(&mut self, key: &CacheKey) -> CatalogLookup {
        self.turns += 1;
        let Some(kept) = self.kept.get_mut(key) else { return CatalogLookup::Unknown };
        if kept.counts_until.is_some_and(|until| until <= Instant::now()) {
            self.bytes -= kept.bytes;
            self.kept.remove(key);
            return CatalogLookup::Unknown;
        }
        kept.turn = self.turns;
        kept.catalog.clone().map_or(CatalogLookup::Nothing, CatalogLookup::Catalog)
    }

    /// What was listed takes the place of what was known.
    pub(super) fn put(&mut self, key: &CacheKey, catalog: Option<&Arc<Catalog>>) {
        self.put_until(key, catalog, None);
    }

    fn put_until(
        &mut self,
        key: &CacheKey,
        catalog: Option<&Arc<Catalog>>,
        counts_until: Option<Instant>,
    ) {
        let catalog = catalog.filter(|catalog| catalog.has_items());
        let bytes = catalog.map_or(0, |catalog| bytes_of(catalog));
        // One that would leave no room for any other is not kept.
        let catalog = catalog.filter(|_| bytes <= BYTES_MAX / 2).cloned();
        let bytes = if catalog.is_some() { bytes } else { 0 };
        self.turns += 1;
        let kept = MemoryEntry { catalog, bytes, turn: self.turns, counts_until };
        self.bytes += bytes;
        if let Some(before) = self.kept.insert(key.clone(), kept) {
            self.bytes -= before.bytes;
        }
        if self.kept.len() > KEYS_MAX || self.bytes > BYTES_MAX {
            self.make_room();
        }
    }

    /// What was looked for and found, and how long that counts if it does not for ever. What was
    /// listed meanwhile is newer.
    pub(super) fn found(
        &mut self,
        key: &CacheKey,
        catalog: &Arc<Catalog>,
        counts_until: Option<Instant>,
    ) {
        if !self.kept.contains_key(key) {
            self.put_until(key, Some(catalog), counts_until);
        }
    }

    /// Forgets a quarter at the least, so that it is not done again with the next.
    fn make_room(&mut self) {
        let mut by_age: Vec<(u64, CacheKey)> =
            self.kept.iter().map(|(key, kept)| (kept.turn, key.clone())).collect();
        by_age.sort_unstable_by_key(|(turn, _)| *turn);
        for (_, key) in by_age {
            if self.kept.len() <= KEYS_MAX / 4 * 3 && self.bytes <= BYTES_MAX / 4 * 3 {
                return;
            }
            self.bytes -= self.kept.remove(&key).map_or(0, |kept| kept.bytes);
        }
    }
}

fn bytes_of(catalog: &Catalog) -> usize {
    let items = ListKind::ALL.into_iter().flat_map(|list| catalog.list(list));
    items.map(|item| item.name.len() + item.definition.len() + ITEM_BYTES).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trunkline_pool::catalog_cache::{Asker, WrittenHash};
    use trunkline_pool::config::ServerSpec;

    use super::*;

    fn key(name: &str) -> CacheKey {
        let spec = ServerSpec::from_value("s", &serde_json::json!({ "command": "c" })).unwrap();
        let asker = Asker { workspace: b"/", context: "pool", capabilities: &[] };
        CacheKey::new(name, &WrittenHash::literal(&spec), asker)
    }

    /// A catalog of one tool that takes so many bytes.
    fn catalog(bytes: usize) -> Arc<Catalog> {
        let schema = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(bytes));
        let mut catalog = Catalog::default();
        let page = format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#);
        catalog.add_page(ListKind::Tools, &page).unwrap();
        catalog.finish();
        Arc::new(catalog)
    }

    /// SPEC 14.2: an empty list is not kept; it is what was listed last all the same.
    #[test]
    fn an_empty_catalog_is_nothing() {
        let mut memory = Memory::default();
        assert_eq!(memory.known(&key("a")), CatalogLookup::Unknown);
        memory.put(&key("a"), Some(&catalog(1)));
        assert_eq!(memory.known(&key("a")), CatalogLookup::Catalog(catalog(1)));
        memory.put(&key("a"), Some(&Arc::default()));
        assert_eq!(memory.known(&key("a")), CatalogLookup::Nothing);
        assert_eq!(memory.bytes, 0);
    }

    /// SPEC 14.2: what is found on the disk is older than what was listed meanwhile.
    #[test]
    fn what_is_found_takes_no_place_from_what_was_listed() {
        let mut memory = Memory::default();
        memory.put(&key("a"), Some(&catalog(1)));
        memory.put(&key("empty"), None);
        for of in ["a", "empty", "b"] {
            memory.found(&key(of), &catalog(2), None);
        }
        assert_eq!(memory.known(&key("a")), CatalogLookup::Catalog(catalog(1)));
        assert_eq!(memory.known(&key("empty")), CatalogLookup::Nothing);
        assert_eq!(memory.known(&key("b")), CatalogLookup::Catalog(catalog(2)));
    }

    /// SPEC 14.2: what was found before anybody asked is looked for again by who asks late; what
    /// was listed is not.
    #[test]
    fn what_was_found_ahead_counts_for_a_while() {
        let mut memory = Memory::default();
        let (over, later) = (Instant::now(), Instant::now() + Duration::from_secs(3600));
        memory.found(&key("a"), &catalog(1), Some(later));
        assert_eq!(memory.known(&key("a")), CatalogLookup::Catalog(catalog(1)));
        memory.found(&key("b"), &catalog(1), Some(over));
        assert_eq!(memory.known(&key("b")), CatalogLookup::Unknown);
        memory.found(&key("b"), &catalog(2), None);
        assert_eq!(memory.known(&key("b")), CatalogLookup::Catalog(catalog(2)));
        memory.found(&key("c"), &catalog(1), Some(over));
        memory.put(&key("c"), Some(&catalog(2)));
        assert_eq!(memory.known(&key("c")), CatalogLookup::Catalog(catalog(2)));
        let sum: usize = memory.kept.values().map(|kept| kept.bytes).sum();
        assert_eq!(memory.bytes, sum);
    }

    /// SPEC 14.2: the memory is bounded by keys and by bytes; what was looked at last stays.
    #[test]
    fn what_was_looked_at_longest_ago_makes_room() {
        let mut memory = Memory::default();
        for number in 0..=KEYS_MAX {
            memory.put(&key(&number.to_string()), None);
            memory.known(&key("0"));
        }
        assert_eq!(memory.kept.len(), KEYS_MAX / 4 * 3);
        assert_eq!(memory.known(&key("0")), CatalogLookup::Nothing);
        assert_eq!(memory.known(&key("1")), CatalogLookup::Unknown);
        // The largest definition that there is.
        let large = catalog((1 << 20) - 100);
        for number in 0..200 {
            memory.put(&key(&format!("large {number}")), Some(&large));
            assert!(memory.bytes <= BYTES_MAX);
        }
        assert_eq!(memory.known(&key("large 199")), CatalogLookup::Catalog(large));
        let sum: usize = memory.kept.values().map(|kept| kept.bytes).sum();
        assert_eq!(memory.bytes, sum);
    }
}
