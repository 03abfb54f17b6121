//! Rows by id: looked up by hash, walked in the order of their places, so that nothing depends on a
//! hasher.

use std::hash::Hash;

use crate::base::id_map::IdMap;

/// A map whose walk depends only on what was inserted and removed before.
///
/// Places of removed rows are used again, so that it never holds more places than it once held
/// rows.
#[derive(Clone, Debug)]
pub(crate) struct StableTable<K, V> {
    places: IdMap<K, u32>,
    rows: Vec<Option<(K, V)>>,
    free: Vec<u32>,
}

impl<K: Copy + Eq + Hash, V> StableTable<K, V> {
    pub(crate) fn new() -> Self {
        StableTable { places: IdMap::default(), rows: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn get(&self, key: K) -> Option<&V> {
        let place = *self.places.get(&key)?;
        self.rows[place as usize].as_ref().map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let place = *self.places.get(&key)?;
        self.rows[place as usize].as_mut().map(|(_, value)| value)
    }

    pub(crate) fn contains(&self, key: K) -> bool {
        self.places.contains_key(&key)
    }

    /// Puts a row in; one of the same key is replaced.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if let Some(row) = self.get_mut(key) {
            *row = value;
            return;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.rows.push(None);
            // More rows than that have no room in any memory.
            (self.rows.len() - 1) as u32
        });
        self.rows[place as usize] = Some((key, value));
        self.places.insert(key, place);
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        let place = self.places.remove(&key)?;
        self.free.push(place);
        self.rows[place as usize].take().map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.rows.iter().flatten().map(|(key, value)| (*key, value))
    }
}

/// Two tables are equal when they hold the same rows, wherever those lie.
impl<K: Copy + Eq + Hash, V: PartialEq> PartialEq for StableTable<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_row_is_gone_and_its_place_is_used_again() {
        let mut table = StableTable::new();
        table.insert(1u32, "a");
        table.insert(2u32, "b");
        assert_eq!(table.remove(1), Some("a"));
        assert_eq!(table.remove(1), None);
        assert!(!table.contains(1));
        table.insert(3u32, "c");
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.iter().collect::<Vec<_>>(), [(3, &"c"), (2, &"b")]);
    }

    #[test]
    fn equality_does_not_depend_on_where_rows_lie() {
        let (mut one, mut other) = (StableTable::new(), StableTable::new());
        one.insert(1u32, 'a');
        one.insert(2u32, 'b');
        other.insert(2u32, 'b');
        other.insert(1u32, 'a');
        assert_eq!(one, other);
        other.insert(1u32, 'c');
        assert_ne!(one, other);
        other.remove(1);
        assert_ne!(one, other);
        assert_eq!((other.len(), other.is_empty()), (1, false));
    }
}
