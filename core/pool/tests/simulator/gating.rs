//! What a run does to the gates: of names, of keys, or of both at once; and keys that nobody keeps
//! any more.

use trunkline_pool::state::{Gate, GateReason, KeyId, PoolInput, PoolState};

use crate::chance::Chance;
use crate::model::Model;
use crate::setup::Setup;

/// Some gates are set, or some keys are forgotten.
pub fn draw(
    setup: &Setup,
    pool: &PoolState,
    model: &Model,
    chance: &mut Chance,
) -> Option<PoolInput> {
    match chance.percent(80) {
        true => Some(gates(setup, chance)),
        false => forgotten(setup, pool, model, chance),
    }
}

fn gates(setup: &Setup, chance: &mut Chance) -> PoolInput {
    let (mut names, mut keys) = (Vec::new(), Vec::new());
    for _ in 0..1 + chance.below(3) {
        let key = KeyId(chance.below(u64::from(setup.keys)) as u32);
        let why = chance.pick(&[GateReason::Untrusted, GateReason::Excluded, GateReason::Rejected]);
        let gate = if chance.percent(50) { Gate::Shut(why) } else { Gate::Open };
        match chance.percent(50) {
            true => names.push((setup.server_of(key), gate)),
            false => keys.push((key, gate)),
        }
    }
    PoolInput::SetGates { names, keys }
}

/// Keys that have nothing left and no waiter. Some have only their gate.
fn forgotten(
    setup: &Setup,
    pool: &PoolState,
    model: &Model,
    chance: &mut Chance,
) -> Option<PoolInput> {
    let kept = |key: &KeyId| {
        pool.entries().any(|row| row.key == *key)
            || model.acquires.values().any(|asked| asked.key == *key)
    };
    let mut keys: Vec<KeyId> = (0..setup.keys).map(KeyId).filter(|key| !kept(key)).collect();
    keys.retain(|_| chance.percent(70));
    (!keys.is_empty()).then_some(PoolInput::ForgetKeys { keys })
}
