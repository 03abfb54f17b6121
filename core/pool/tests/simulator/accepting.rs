//! What the host accepts of changed tools, and what was accepted before the pool saw it.

use std::sync::{Arc, LazyLock};

use trunkline_pool::acceptance::Recalled;
use trunkline_pool::approvals::{Book, ProjectRoot, Standing};
use trunkline_pool::catalog::Item;
use trunkline_pool::state::{
    Configuration, EntryStatus, PoolInput, PoolState, ServerId, Slot, Ticket,
};

use crate::chance::Chance;
use crate::model::Model;
use crate::world::catalog;

/// The host accepts a tool that it was shown, or one that it was not; also of a server that is not
/// connected.
pub fn draw(
    ticket: Ticket,
    pool: &PoolState,
    model: &Model,
    chance: &mut Chance,
) -> Option<PoolInput> {
    let (server, item) = match chance.percent(20) {
        true => remembered(pool, chance)?,
        false => listed(pool, model, chance)?,
    };
    let tool = if chance.percent(5) { "unheard-of".into() } else { item.name };
    let digest = if chance.percent(10) { [9; 32] } else { item.digest };
    Some(PoolInput::AcceptTool { ticket, server, tool, digest })
}

/// By an approval that may be another than the last, or by what was shown.
pub fn recall(configuration: Configuration, chance: &mut Chance) -> PoolInput {
    let catalog = catalog(chance.below(12) as u32);
    let recalled = match chance.percent(50) {
        true => Recalled::Shown(catalog),
        false => {
            let by = APPROVALS[chance.below(APPROVALS.len() as u64) as usize];
            let tools = catalog.tools.iter().map(|item| (item.name.clone(), item.digest));
            Recalled::Approved { by, tools: Arc::new(tools.collect()) }
        }
    };
    PoolInput::Recall { configuration, recalled }
}

/// What is held back somewhere.
fn remembered(pool: &PoolState, chance: &mut Chance) -> Option<(ServerId, Item)> {
    let server = ServerId(chance.below(3) as u32);
    let held = pool.held_of(server);
    let items: Vec<&Item> = held.tools().iter().map(|tool| &tool.item).collect();
    Some((server, chance.pick_some(&items)?.clone()))
}

/// What an entry was told to list or to hold back.
fn listed(pool: &PoolState, model: &Model, chance: &mut Chance) -> Option<(ServerId, Item)> {
    let told = |row: &EntryStatus| model.entries.get(&row.entry)?.slot.clone();
    let slots: Vec<(EntryStatus, Slot)> =
        pool.entries().filter_map(|row| Some((row.clone(), told(&row)?))).collect();
    let held = slots.iter().filter(|(_, slot)| !slot.held.tools().is_empty());
    let places: Vec<&(EntryStatus, Slot)> =
        if chance.percent(90) { held.collect() } else { slots.iter().collect() };
    let (row, slot) = chance.pick_some(&places)?;
    let of_held = slot.held.tools().iter().map(|tool| &tool.item);
    let items: Vec<&Item> = match chance.percent(80) {
        true => of_held.collect(),
        false => slot.catalog.tools.iter().collect(),
    };
    Some((row.server, chance.pick_some(&items)?.clone()))
}

/// Two decisions, one after the other.
static APPROVALS: LazyLock<Vec<Standing>> = LazyLock::new(|| {
    let record = |serial: u64| {
        serde_json::json!({ "root": "/", "server": serial.to_string(), "hash": format!("v1:{}", "0".repeat(64)),
            "decision": "approved", "at_ms": serial, "serial": serial })
    };
    let book = serde_json::json!({ "v": 1, "serial": 2, "decisions": [record(1), record(2)] });
    let book = Book::parse(book.to_string().as_bytes()).expect("it is a book");
    let root = ProjectRoot::of_canonical("/".to_owned());
    book.of_root(&root).map(|record| record.standing).collect()
});
