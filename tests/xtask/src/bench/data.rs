//! The tables of the benchmark, as `tests/xtask/bench.json` has them: the clients, the groups of
//! workloads, and the goals.

use std::sync::LazyLock;

use serde_json::Value;

/// The rows of one table.
pub fn rows(table: &str) -> &'static [Value] {
    static TABLES: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../../bench.json")).expect("a test reads the file")
    });
    TABLES[table].as_array().unwrap_or_else(|| panic!("no table {table}"))
}

/// A text that a row has.
pub fn word(row: &'static Value, member: &str) -> &'static str {
    row[member].as_str().unwrap_or_else(|| panic!("no {member} in {row}"))
}
