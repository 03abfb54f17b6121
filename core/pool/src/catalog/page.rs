//! One page of a list, and the end of the last one.

use std::fmt;
use std::time::Duration;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{CacheScope, Catalog, Item, ListKind, PageEnd, SkippedItem};
use crate::base::text::escaped;
use crate::error::{Error, ErrorCode, Result};
use crate::lenient::{ValueKind, lenient};

/// The most items of one list; what comes after is left out and reported. Far more than a model can
/// be shown.
const ITEMS_MAX: usize = 10_000;

/// The most reports of one catalog: as many as a list has items. What is beyond is counted.
const SKIPPED_MAX: usize = ITEMS_MAX;

impl Catalog {
    /// Adds one page of a list: the JSON text of a result.
    ///
    /// The definitions are kept as they are written, byte for byte.
    ///
    /// # Errors
    /// `protocol` when the result has no array of the list's name. A malformed item is skipped, not
    /// an error.
    pub fn add_page(&mut self, list: ListKind, result: &str) -> Result<PageEnd> {
        self.add_pages([list], result)
    }

    /// The same for a text that is a page of several lists.
    pub(crate) fn add_pages<const LISTS: usize>(
        &mut self,
        lists: [ListKind; LISTS],
        result: &str,
    ) -> Result<PageEnd> {
        let mut deserializer = serde_json::Deserializer::from_str(result);
        let page = PageOf(lists).deserialize(&mut deserializer);
        let page = page.and_then(|page| deserializer.end().map(|()| page)).map_err(|error| {
            let message = format!("the result of the {} list cannot be read", lists[0].noun());
            protocol(lists[0], &message).with_detail("column", error.column())
        })?;
        for (list, items) in lists.into_iter().zip(page.items) {
            self.add_items(list, items)?;
        }
        Ok(page.end)
    }

    fn add_items(&mut self, list: ListKind, items: Option<Vec<&RawValue>>) -> Result<()> {
        let Some(items) = items else {
            return Err(protocol(list, &format!("the result has no array `{}`", list.member())));
        };
        let mut left = items.len();
        for definition in items {
            if self.list(list).len() >= ITEMS_MAX {
                let reason = format!("the server lists more than {ITEMS_MAX}");
                self.skip(SkippedItem { list, name: None, reason });
                self.unreported += left - 1;
                break;
            }
            left -= 1;
            match Item::parse(list, definition.get()) {
                Ok(item) => self.list_mut(list).push(item),
                Err(skipped) => self.skip(skipped),
            }
        }
        Ok(())
    }

    /// Sorts the lists by name, and of two items with one name keeps the first. Call it after the
    /// last page.
    ///
    /// A second item is reported.
    pub fn finish(&mut self) {
        for list in ListKind::ALL {
            let items = self.list_mut(list);
            // The sort is stable, so that of two with one name the first stays the first.
            items.sort_by(|a, b| a.name.cmp(&b.name));
            let mut surplus = Vec::new();
            items.dedup_by(|later, first| {
                let is_same_name = later.name == first.name;
                if is_same_name {
                    surplus.push((later.name.clone(), later.digest == first.digest));
                }
                is_same_name
            });
            // They stay for as long as the connection does.
            items.shrink_to_fit();
            for (name, is_same) in surplus {
                let reason = match is_same {
                    true => format!("the server lists this {} twice", list.noun()),
                    false => format!("another {} has this name", list.noun()),
                };
                self.skip(SkippedItem { list, name: Some(escaped(&name)), reason });
            }
        }
    }

    /// Takes over one list of another catalog, and what was left out of it.
    pub fn take_over(&mut self, list: ListKind, mut from: Catalog) {
        *self.list_mut(list) = std::mem::take(from.list_mut(list));
        from.skipped.into_iter().for_each(|skipped| self.skip(skipped));
        self.unreported += from.unreported;
    }

    fn skip(&mut self, skipped: SkippedItem) {
        match self.skipped.len() < SKIPPED_MAX {
            true => self.skipped.push(skipped),
            false => self.unreported += 1,
        }
    }
}

/// A hint must not spoil the list that it stands beside, so that what is no number says nothing.
fn milliseconds(value: &RawValue) -> Option<Duration> {
    let milliseconds = serde_json::from_str::<f64>(value.get()).ok()?;
    // The conversion keeps within the bounds of the type.
    Some(Duration::from_millis(milliseconds as u64))
}

/// The cursor of the next page. One that is a number goes back as its text; anything else is none.
fn cursor(value: &RawValue) -> Option<String> {
    serde_json::from_str(&lenient(value.get(), &ValueKind::Text)).ok()
}

/// Of what is said and not understood the narrower is meant.
fn scope(value: &RawValue) -> CacheScope {
    match value.get() {
        r#""public""# | "null" => CacheScope::Shared,
        _ => CacheScope::Private,
    }
}

fn protocol(list: ListKind, message: &str) -> Error {
    Error::new(ErrorCode::Protocol, message).with_detail("list", list.member())
}

/// What a page holds: the items of each list as written, and what is said beside them.
struct ParsedPage<'a, const LISTS: usize> {
    items: [Option<Vec<&'a RawValue>>; LISTS],
    end: PageEnd,
}

/// Reads a page of these kinds of lists; the names of the members depend on them.
struct PageOf<const LISTS: usize>([ListKind; LISTS]);

impl<'de, const LISTS: usize> DeserializeSeed<'de> for PageOf<LISTS> {
    type Value = ParsedPage<'de, LISTS>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, const LISTS: usize> Visitor<'de> for PageOf<LISTS> {
    type Value = ParsedPage<'de, LISTS>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut page = ParsedPage { items: [const { None }; LISTS], end: PageEnd::default() };
        while let Some(member) = map.next_key::<String>()? {
            if let Some(place) = self.0.iter().position(|list| member == list.member()) {
                // What is `null` in a list of some languages is one with nothing in it.
                page.items[place] =
                    Some(map.next_value::<Option<Vec<&RawValue>>>()?.unwrap_or_default());
            } else if member == "nextCursor" {
                page.end.next = cursor(map.next_value()?);
            } else if member == "ttlMs" {
                page.end.fresh_for = milliseconds(map.next_value()?);
            } else if member == "cacheScope" {
                page.end.scope = page.end.scope.max(scope(map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(page)
    }
}
