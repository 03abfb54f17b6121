//! Which definitions of tools are accepted by an approval, for as long as it stands (SPEC 7.6).
//!
//! They stay with the decision: another configuration does not have them, and what is forgotten or
//! decided anew leaves none. They are less than decisions: where there is no room for both, the
//! digests of the oldest decisions go.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::book::Book;
use super::form;
use super::hash::ApprovalHash;
use super::record::{Decision, Standing, ToolDigests};
use super::root::ProjectRoot;

/// What the digests of one decision take at most as text, in bytes: those of about 1,500 tools, and
/// an eighth of the file.
pub(super) const TOOLS_BYTES_MAX: usize = 128 << 10;

/// What did not fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unkept {
    /// Tools of this server whose digests are not kept.
    pub tools: usize,
    /// Other servers whose digests made room.
    pub servers: usize,
}

impl Book {
    /// The approval of a configuration, and what is accepted by it; nothing of one that is not
    /// approved.
    pub fn accepted_tools(
        &self,
        root: &ProjectRoot,
        server: &str,
        hash: ApprovalHash,
    ) -> Option<(Standing, Arc<ToolDigests>)> {
        let record = &self.records[self.position(root, server, hash)?];
        let is_approved = record.standing.decision == Decision::Approved;
        is_approved.then(|| (record.standing, record.tools.clone()))
    }

    /// Keeps what is accepted by that approval, if it still stands. What another host has kept of a
    /// name stays, unless the host accepted another definition since: those names are `accepted`.
    pub fn keep_tools(
        &mut self,
        (root, server, hash): (&ProjectRoot, &str, ApprovalHash),
        by: Standing,
        tools: &ToolDigests,
        accepted: &BTreeSet<Arc<str>>,
    ) -> Unkept {
        let position = self.position(root, server, hash);
        let Some(index) = position.filter(|index| self.records[*index].standing == by) else {
            return Unkept::default();
        };
        let mut next = ToolDigests::clone(&self.records[index].tools);
        let mut bytes: usize = next.keys().map(|name| form::length_of_tool(name)).sum();
        let mut unkept = Unkept::default();
        for (name, digest) in tools {
            if let Some(known) = next.get_mut(name) {
                if accepted.contains(name) {
                    *known = *digest;
                }
                continue;
            }
            let length = form::length_of_tool(name);
            if bytes + length > TOOLS_BYTES_MAX {
                unkept.tools += 1;
                continue;
            }
            bytes += length;
            next.insert(name.clone(), *digest);
        }
        if *self.records[index].tools == next {
            return Unkept::default();
        }
        self.records[index].tools = Arc::new(next);
        unkept.servers = self.drop_tools_for_room(Some(index));
        if self.length_at_most() > Book::BYTES_MAX {
            unkept.tools = tools.len();
            self.records[index].tools = Arc::default();
        }
        unkept
    }

    /// Drops the digests of the oldest decisions, but for that one, until the book fits into its
    /// file or has no others; of how many.
    pub(super) fn drop_tools_for_room(&mut self, but: Option<usize>) -> usize {
        let mut dropped = 0;
        while self.length_at_most() > Book::BYTES_MAX {
            let mut records = self.records.iter_mut().enumerate();
            let oldest = records.find(|(index, one)| Some(*index) != but && !one.tools.is_empty());
            let Some((_, oldest)) = oldest else { break };
            oldest.tools = Arc::default();
            dropped += 1;
        }
        dropped
    }
}
