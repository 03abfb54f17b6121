//! The shared connections that were not told of a session's own folders (SPEC 15.2): of each the session hears once.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Things that were noted, each for as long as it is there.
pub(super) struct Untold<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Untold<T> {
    fn default() -> Self {
        Untold(Mutex::default())
    }
}

impl<T> Untold<T> {
    /// Notes it; whether it was not noted before. What is gone is forgotten, so what is kept is bounded by what is there.
    pub(super) fn note(&self, thing: &Arc<T>) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.retain(|other| other.strong_count() > 0);
        let is_news = noted.iter().all(|other| other.as_ptr() != Arc::as_ptr(thing));
        if is_news {
            noted.push(Arc::downgrade(thing));
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 15.2: a session that outlives many connections keeps nothing of them.
    #[test]
    fn what_is_gone_is_forgotten() {
        let untold = Untold::default();
        let stays = Arc::new(0);
        assert!(untold.note(&stays) && !untold.note(&stays));
        for number in 1..100 {
            assert!(untold.note(&Arc::new(number)));
        }
        assert!(!untold.note(&stays));
        assert_eq!(untold.0.lock().unwrap().len(), 1);
    }
}
