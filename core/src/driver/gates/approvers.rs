//! The approvals by which configurations run.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use trunkline_pool::state::Configuration;

use super::authority::Warrant;

/// Configurations with known approvals: more are of servers that run no longer, and are found again
/// when they do.
const CONFIGURATIONS_MAX: usize = 1_024;

/// The approvals by which configurations run. It is seldom more than one for each.
#[derive(Default)]
pub(in crate::driver) struct Approvers(BTreeMap<Configuration, Vec<Weak<dyn Warrant>>>);

impl Approvers {
    pub(in crate::driver) fn add(
        &mut self,
        configuration: Configuration,
        warrant: &Arc<dyn Warrant>,
    ) {
        if self.0.len() >= CONFIGURATIONS_MAX && !self.0.contains_key(&configuration) {
            self.0.retain(|_, warrants| warrants.iter().any(|one| one.strong_count() > 0));
        }
        let warrants = self.0.entry(configuration).or_default();
        warrants.retain(|one| one.strong_count() > 0);
        let warrant = Arc::downgrade(warrant);
        if !warrants.iter().any(|one| one.ptr_eq(&warrant)) {
            warrants.push(warrant);
        }
    }

    pub(in crate::driver) fn of(&self, configuration: &Configuration) -> Vec<Arc<dyn Warrant>> {
        let warrants = self.0.get(configuration).into_iter().flatten();
        warrants.filter_map(Weak::upgrade).collect()
    }
}
