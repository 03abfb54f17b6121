//! What a gate that shuts puts an end to (SPEC 4.1, 11.5).

use crate::base::ids::{EntryId, KeyId, ServerId, Ticket};
use crate::gates::{Gate, GateReason};
use crate::state::PoolState;
use crate::state::effect::Effect;
use crate::state::report::messages::reason;
use crate::state::session::ask::{End, NOW};

impl PoolState {
    /// Sets gates of names and of keys. What is no longer admitted ends at once, and nobody waits
    /// for it any more.
    pub(in crate::state) fn set_gates(
        &mut self,
        names: Vec<(ServerId, Gate)>,
        keys: Vec<(KeyId, Gate)>,
        out: &mut Vec<Effect>,
    ) {
        let mut shut: Vec<EntryId> = Vec::new();
        for (server, gate) in names {
            let Some(name) = self.name_mut(server) else { continue };
            name.gate = gate;
            if gate != Gate::Open {
                shut.extend(name.entries.values());
            }
        }
        for (key, gate) in keys {
            match gate {
                Gate::Open => drop(self.shut_keys.remove(key)),
                Gate::Shut(why) => {
                    self.shut_keys.insert(key, why);
                    shut.extend(self.keys.get(&key));
                }
            }
        }
        for id in shut {
            self.shut_out(id, out);
        }
        self.refuse_shut_wishes(out);
    }

    /// Nobody keeps these keys any more: their gates go with them, and their numbers may stand for
    /// others.
    pub(in crate::state) fn forget_keys(&mut self, keys: &[KeyId]) {
        for &key in keys {
            debug_assert!(
                !self.keys.contains_key(&key),
                "a key is forgotten that leads to an entry"
            );
            self.shut_keys.remove(key);
        }
    }

    /// Ends an entry that is not admitted.
    fn shut_out(&mut self, id: EntryId, out: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(id) else { return };
        if let Err(why) = self.admit(entry.server, entry.key) {
            let error = Some(why.error());
            self.end(id, End { reason: reason::GATE, error, how: NOW }, out);
        }
    }

    /// Answers the wishes that wait for what is not admitted.
    fn refuse_shut_wishes(&mut self, out: &mut Vec<Effect>) {
        let names = self.queue.names.values().filter_map(|server| self.names.get(*server));
        let asks = names.filter_map(|name| name.wishes.as_ref()).flat_map(|all| all.asks.values());
        let refused: Vec<(Ticket, GateReason)> = asks
            .filter_map(|ask| Some((ask.ticket, self.admit(ask.server, ask.key).err()?)))
            .collect();
        for (ticket, why) in refused {
            self.withdraw(ticket, why.error(), out);
        }
    }
}
