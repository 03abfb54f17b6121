//! The shared connections that were not told of a session's own folders (SPEC 15.2): of each the
//! session hears once, and again when its folders are others.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Connections, each for as long as it is there, and the folders that it was not told of.
pub(crate) struct Untold<T>(Mutex<Vec<Noted<T>>>);

type Noted<T> = (Weak<T>, Arc<Vec<PathBuf>>);

impl<T> Default for Untold<T> {
    fn default() -> Self {
        Untold(Mutex::default())
    }
}

impl<T> Untold<T> {
    /// Notes that it is not told of these folders; whether the session is to hear of that. What is
    /// gone is forgotten, so what is kept is bounded by what is there.
    pub(crate) fn note(&self, thing: &Arc<T>, folders: &Arc<Vec<PathBuf>>) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.retain(|(other, _)| other.strong_count() > 0);
        let before = noted.iter().position(|(other, _)| other.as_ptr() == Arc::as_ptr(thing));
        let before = before.map(|place| noted.swap_remove(place).1);
        if folders.is_empty() {
            return false;
        }
        noted.push((Arc::downgrade(thing), folders.clone()));
        before.is_none_or(|before| before != *folders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(names: &[&str]) -> Arc<Vec<PathBuf>> {
        Arc::new(names.iter().map(PathBuf::from).collect())
    }

    /// SPEC 15.2: a session that outlives many connections keeps nothing of them.
    #[test]
    fn what_is_gone_is_forgotten() {
        let (untold, some) = (Untold::default(), folders(&["a"]));
        let stays = Arc::new(0);
        assert!(untold.note(&stays, &some) && !untold.note(&stays, &some));
        for number in 1..100 {
            assert!(untold.note(&Arc::new(number), &some));
        }
        assert!(!untold.note(&stays, &folders(&["a"])));
        assert_eq!(untold.0.lock().unwrap().len(), 1);
        assert!(untold.note(&stays, &folders(&["a", "b"])));
        assert!(!untold.note(&stays, &folders(&[])));
        assert_eq!(untold.0.lock().unwrap().len(), 0);
        assert!(untold.note(&stays, &some));
    }
}
