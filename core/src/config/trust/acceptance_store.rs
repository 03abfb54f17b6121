//! Which tools are accepted by approvals: kept with those, on a thread that may wait for the disk
//! (SPEC 7.6).
//!
//! One thread of a pool at most is on the disk for it, and of what waits for one approval the
//! newest counts. So a disk that is away holds up nobody, and the approvals bound what waits. A
//! save that fails is told, and is in force in this pool all the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use trunkline_pool::approvals::{ApprovalHash, Standing, ToolDigests};

use super::unsaved_tools::Save;
use crate::config::Config;
use crate::runtime::blocking_pool;

impl Config {
    /// The approval of a configuration, and the tools that were accepted by it, as far as is known.
    /// The disk is not touched.
    pub(crate) fn accepted_by(
        &self,
        name: &str,
        hash: ApprovalHash,
    ) -> Option<(Standing, Arc<ToolDigests>)> {
        self.approvals.known()?.accepted_tools(&self.root, name, hash)
    }

    /// Has kept what is accepted by the approval of a configuration.
    pub(crate) fn keep_accepted(
        self: &Arc<Self>,
        (name, hash): (&str, ApprovalHash),
        tools: &Arc<ToolDigests>,
        tool: Option<&Arc<str>>,
    ) {
        let Some((by, known)) = self.accepted_by(name, hash) else { return };
        if known == *tools {
            return;
        }
        let mut unsaved = self.accepted.unsaved();
        let save = || Save { by, tools: tools.clone(), said: BTreeSet::new() };
        let waits = unsaved.by_approval.entry((name.into(), hash)).or_insert_with(save);
        if waits.by != by {
            *waits = save();
        }
        waits.tools = tools.clone();
        waits.said.extend(tool.cloned());
        if !std::mem::replace(&mut unsaved.is_at_work, true) {
            let config = self.clone();
            blocking_pool::begin(move || config.save_accepted());
        }
    }

    fn save_accepted(self: &Arc<Self>) {
        while let Some(((name, hash), Save { by, tools, said })) = self.accepted.next() {
            let of = (&self.root, &*name, hash);
            if let Err(error) = self.approvals.keep_tools(of, by, &tools, &said) {
                let message = error.message();
                self.warn_of_approvals(&format!(
                    "which tools of `{name}` are accepted could not be kept: {message}"
                ));
            }
        }
    }

    /// Waits until what is accepted is kept, but no longer than that.
    pub(crate) async fn accepted_is_kept(&self, patience: Duration) {
        let kept = async {
            loop {
                let idle = self.accepted.idle.notified();
                let mut idle = std::pin::pin!(idle);
                // Registered before the look, so that nothing is missed between the look and the
                // wait.
                idle.as_mut().enable();
                if !self.accepted.unsaved().is_at_work {
                    return;
                }
                idle.await;
            }
        };
        let until = tokio::time::Instant::now() + patience;
        tokio::select! {
            () = kept => {}
            () = self.driver.runtime.sleep_until(until) => {}
        }
    }
}
