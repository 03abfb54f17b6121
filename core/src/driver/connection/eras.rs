//! What servers turned out to speak, so that the next connect of the same configuration need not
//! ask (SPEC 4.8).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use trunkline_pool::config::{Era, Fingerprint};

use crate::client::Opening;

/// Configurations that are remembered. Of one that is not, its server is asked again, which costs a
/// round trip.
const REMEMBERED_MAX: usize = 1024;

/// The eras of one pool's configurations.
#[derive(Default)]
pub(crate) struct Eras(Mutex<HashMap<Fingerprint, Era>>);

impl Eras {
    /// How a server of that configuration is greeted. What the configuration says itself goes
    /// first.
    pub(in crate::driver) fn opening(
        &self,
        fingerprint: &Fingerprint,
        pinned: Option<Era>,
    ) -> Opening {
        match (pinned, self.known().get(fingerprint)) {
            (Some(era), _) => Opening::Only(era),
            (None, Some(era)) => Opening::Known(*era),
            (None, None) => Opening::Probe,
        }
    }

    /// A server of that configuration spoke this.
    pub(in crate::driver) fn remember(&self, fingerprint: Fingerprint, era: Era) {
        let mut known = self.known();
        if known.len() >= REMEMBERED_MAX && !known.contains_key(&fingerprint) {
            let any = known.keys().next().copied();
            any.map(|any| known.remove(&any));
        }
        known.insert(fingerprint, era);
    }

    /// A greeting by what was known failed.
    pub(in crate::driver) fn forget(&self, fingerprint: &Fingerprint) {
        self.known().remove(fingerprint);
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Fingerprint, Era>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use trunkline_pool::config::ServerSpec;

    fn fingerprint(command: &str) -> Fingerprint {
        let spec = ServerSpec::from_value("s", &json!({ "command": command })).unwrap();
        spec.fingerprint("pool", &[])
    }

    /// SPEC 4.8.
    #[test]
    fn what_a_server_spoke_is_tried_first_the_next_time_and_asked_again_after_a_failure() {
        let (eras, a) = (Eras::default(), fingerprint("a"));
        assert_eq!(eras.opening(&a, None), Opening::Probe);
        eras.remember(a, Era::Modern);
        assert_eq!(eras.opening(&a, None), Opening::Known(Era::Modern));
        assert_eq!(eras.opening(&a, Some(Era::Legacy)), Opening::Only(Era::Legacy));
        assert_eq!(eras.opening(&fingerprint("b"), None), Opening::Probe);
        eras.forget(&a);
        assert_eq!(eras.opening(&a, None), Opening::Probe);
    }

    /// SPEC 4.8: bounded, whatever comes and goes.
    #[test]
    fn not_more_than_so_many_are_remembered() {
        let eras = Eras::default();
        for number in 0..REMEMBERED_MAX + 10 {
            eras.remember(fingerprint(&number.to_string()), Era::Legacy);
        }
        assert_eq!(eras.known().len(), REMEMBERED_MAX);
    }
}
