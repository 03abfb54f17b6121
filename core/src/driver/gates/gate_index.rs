//! The gates in force, and how often they shut names and warrants out.

use std::collections::BTreeMap;
use std::sync::Arc;

use trunkline_pool::gates::{GateLists, Gates, LaunchBound, Shuts, WarrantId};
use trunkline_pool::options::PoolOptions;

/// The gates, and what they were for the names that the reducer has them of.
pub(in crate::driver) struct Gated {
    pub(in crate::driver) gates: Arc<Gates>,
    /// By the number of the name.
    pub(in crate::driver) shuts: Vec<ShutName>,
}

/// How often servers of one name were shut out.
#[derive(Clone, Debug, Default)]
pub(in crate::driver) struct ShutName {
    pub(in crate::driver) times: u64,
    /// By which warrants it was, at most [`WARRANTS_MAX`].
    warrants: BTreeMap<WarrantId, u64>,
}

/// Warrants of a name whose shuts are counted apart. With one more, all of the name counts as shut
/// out once, and what is admitted of it is asked for again.
const WARRANTS_MAX: usize = 64;

impl ShutName {
    pub(in crate::driver) fn count(&mut self, warrant: WarrantId) {
        *self.warrants.entry(warrant).or_default() += 1;
        if self.warrants.len() > WARRANTS_MAX {
            self.warrants.clear();
            self.times += 1;
        }
    }

    pub(in crate::driver) fn shuts(&self, warrant: Option<WarrantId>) -> Shuts {
        let times = warrant.and_then(|one| self.warrants.get(&one));
        Shuts { name: self.times, warrant: times.copied().unwrap_or_default() }
    }
}

impl Gated {
    pub(in crate::driver) fn new(options: &PoolOptions) -> Gated {
        let bound = LaunchBound::new(options.launch_allowed.clone());
        let (allowed, excluded) = (options.allowed.clone(), options.excluded.clone());
        let lists = GateLists::new(allowed, excluded, Vec::new());
        Gated { gates: Arc::new(Gates::new(bound, lists)), shuts: Vec::new() }
    }
}
