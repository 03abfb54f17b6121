//! Holds in the order in which they came, side by side: a session may have very many.

use super::ids::HoldId;

/// Rows by numbers that are given here and only grow. A row that goes leaves its place empty; the
/// last place is never empty, and of more than a few at most half are.
pub(crate) struct Rows<T> {
    last: u64,
    places: Vec<(HoldId, Option<T>)>,
    empty: usize,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows { last: 0, places: Vec::new(), empty: 0 }
    }
}

impl<T> Rows<T> {
    /// Adds one after all others.
    pub(crate) fn add(&mut self, row: T) -> HoldId {
        self.last += 1;
        let id = HoldId(self.last);
        if self.places.len() == self.places.capacity() {
            // From one on: most sessions hold one server or two.
            self.places.reserve_exact(self.places.len().max(1));
        }
        self.places.push((id, Some(row)));
        id
    }

    pub(crate) fn get(&self, id: HoldId) -> Option<&T> {
        self.place(id).and_then(|place| self.places[place].1.as_ref())
    }

    pub(crate) fn get_mut(&mut self, id: HoldId) -> Option<&mut T> {
        self.place(id).and_then(|place| self.places[place].1.as_mut())
    }

    pub(crate) fn remove(&mut self, id: HoldId) -> Option<T> {
        let place = self.place(id)?;
        let row = self.places[place].1.take()?;
        self.empty += 1;
        self.tidy();
        Some(row)
    }

    /// Takes those out that this is true for, in their order.
    pub(crate) fn take(&mut self, is_it: impl Fn(&T) -> bool) -> Vec<T> {
        let taken = self.places.iter_mut().filter_map(|(_, row)| row.take_if(|row| is_it(row)));
        let taken: Vec<T> = taken.collect();
        self.empty += taken.len();
        self.tidy();
        taken
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = HoldId> {
        self.places.iter().filter(|(_, row)| row.is_some()).map(|(id, _)| *id)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.places.iter().filter_map(|(_, row)| row.as_ref())
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = T> {
        self.places.into_iter().filter_map(|(_, row)| row)
    }

    fn place(&self, id: HoldId) -> Option<usize> {
        self.places.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    fn tidy(&mut self) {
        while self.places.pop_if(|(_, row)| row.is_none()).is_some() {
            self.empty -= 1;
        }
        if self.empty > EMPTY && self.empty > self.places.len() / 2 {
            self.places.retain(|(_, row)| row.is_some());
            self.empty = 0;
        }
        if self.places.capacity() > EMPTY && self.places.len() < self.places.capacity() / 4 {
            self.places.shrink_to(self.places.len() * 2);
        }
    }
}

/// So many empty places are never worth a move.
const EMPTY: usize = 8;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Whatever comes and goes, the rows are those of an ordered map, and what is gone takes no
    /// more room than what is there.
    #[test]
    fn rows_are_those_of_an_ordered_map() {
        let (mut rows, mut expected) = (Rows::default(), BTreeMap::new());
        let mut seed = 7_u64;
        for turn in 0..20_000_u64 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let chosen = seed >> 33;
            // It grows and shrinks by turns.
            if chosen % 8 < 3 + 2 * (turn / 2_500 % 2) {
                expected.insert(rows.add(chosen), chosen);
            } else if chosen.is_multiple_of(97) {
                let gone = rows.take(|row| row % 3 == 0);
                let (is_gone, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
                    expected.into_iter().partition(|(_, row)| row % 3 == 0);
                assert_eq!(gone, is_gone.into_values().collect::<Vec<_>>());
                expected = left;
            } else {
                let nth = chosen as usize % expected.len().max(1);
                let id = expected.keys().nth(nth).copied().unwrap_or(HoldId(chosen));
                assert_eq!(rows.get(id), expected.get(&id));
                assert_eq!(rows.get_mut(id).copied(), expected.get(&id).copied());
                assert_eq!(rows.remove(id), expected.remove(&id));
                assert_eq!((rows.remove(id), rows.get(id)), (None, None));
            }
            assert!(rows.places.len() <= 2 * expected.len() + 2 * EMPTY);
            assert!(rows.places.capacity() <= 8 * expected.len() + 8 * EMPTY);
            if turn.is_multiple_of(100) {
                assert!(rows.ids().eq(expected.keys().copied()));
                assert!(rows.values().rev().eq(expected.values().rev()));
            }
        }
        assert!(rows.into_values().eq(expected.into_values()));
    }
}
