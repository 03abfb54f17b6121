//! A small map by servers' names: those of one session, which are few and lie side by side.

use std::sync::Arc;

use smallvec::SmallVec;

/// By server, in the order of their names. The first lies in the map itself: most sessions have
/// one. A list change reads thousands of these maps, which are not in the processor's cache.
pub(crate) struct ByServer<T>(SmallVec<[(Arc<str>, T); 1]>);

impl<T> Default for ByServer<T> {
    fn default() -> Self {
        ByServer(SmallVec::new())
    }
}

impl<T> ByServer<T> {
    pub(crate) fn get(&self, server: &str) -> Option<&T> {
        self.place(server).ok().map(|place| &self.0[place].1)
    }

    pub(crate) fn get_mut(&mut self, server: &str) -> Option<&mut T> {
        self.place(server).ok().map(|place| &mut self.0[place].1)
    }

    pub(crate) fn contains(&self, server: &str) -> bool {
        self.place(server).is_ok()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().map(|(server, _)| server)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts one in; what was there of that server.
    pub(crate) fn insert(&mut self, server: Arc<str>, value: T) -> Option<T> {
        match self.place(&server) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                if self.0.len() < FEW {
                    self.0.reserve_exact(1);
                }
                self.0.insert(place, (server, value));
                None
            }
        }
    }

    pub(crate) fn remove(&mut self, server: &str) -> Option<T> {
        let place = self.place(server).ok()?;
        Some(self.0.remove(place).1)
    }

    /// Keeps those whose value is so.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        self.0.retain(|(_, value)| is_kept(value));
    }

    fn place(&self, server: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (**other).cmp(server))
    }
}

/// Up to so many there is room for those only that are there: most sessions have one server or two,
/// and there are many sessions.
const FEW: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_found_by_name_and_listed_in_its_order() {
        let mut map = ByServer::default();
        for name in ["d", "b", "e", "a", "c", "f"] {
            assert_eq!(map.insert(name.into(), name), None);
        }
        assert_eq!(map.insert("c".into(), "again"), Some("c"));
        assert_eq!(map.remove("b"), Some("b"));
        assert_eq!(map.remove("b"), None);
        *map.get_mut("a").unwrap() = "other";
        let found = ["a", "b", "c", "f", "g"].map(|name| map.get(name).copied());
        assert_eq!(found, [Some("other"), None, Some("again"), Some("f"), None]);
        let names: Vec<&str> = map.names().map(|name| &**name).collect();
        assert_eq!(names, ["a", "c", "d", "e", "f"]);
        assert!(map.contains("d") && !map.contains("b"));
        map.retain(|value| *value > "c");
        assert_eq!((map.len(), map.values().copied().collect()), (4, vec!["other", "d", "e", "f"]));
    }
}
