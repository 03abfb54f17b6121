//! The groups of workloads, and the tables of what they gave.

use std::sync::LazyLock;

use serde_json::Value;

use super::TABLES;
use crate::tables::{list, word};

/// Workloads that are carried out together.
pub struct Group {
    pub name: &'static str,
    /// It is carried out in so many rounds at most: what is no matter of microseconds needs no
    /// more.
    pub rounds: usize,
    pub workloads: &'static [Workload],
}

/// One workload, and the figure of it that its table is about.
pub struct Workload {
    pub name: &'static str,
    pub title: &'static str,
    pub figure: &'static str,
    /// The heading of that figure.
    pub unit: &'static str,
}

/// The unit of what is better the more it is.
pub const RATE: &str = "calls/s";

/// The group that has a workload.
pub fn group_of(workload: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.workloads.iter().any(|one| one.name == workload))
}

/// In the order of the tables.
pub static GROUPS: LazyLock<Vec<Group>> =
    LazyLock::new(|| list(&TABLES, "groups").iter().map(group).collect());

fn group(row: &'static Value) -> Group {
    let workload = |row: &'static Value| Workload {
        name: word(row, "name"),
        title: word(row, "title"),
        figure: word(row, "figure"),
        unit: word(row, "unit"),
    };
    let workloads = list(row, "workloads").iter().map(workload);
    Group {
        name: word(row, "name"),
        rounds: row["rounds"].as_u64().map_or(usize::MAX, |rounds| rounds as usize),
        workloads: workloads.collect::<Vec<_>>().leak(),
    }
}
