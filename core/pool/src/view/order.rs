//! The order in which a session's tools are listed (SPEC 6.6), kept so that what a host put before
//! a model stays as it was.
//!
//! 1. What is listed for the first time comes after all that was listed before it; what comes at
//!    one time is by exposed name.
//! 2. What is listed again has the place that it had, whatever went and came in between.
//! 3. So two lists of a session never disagree about the order of two tools. A list to which only
//!    new tools came begins with the list before.
//!
//! Not by name alone: a server that comes late would move everything behind it, and a model's
//! prompt cache would be lost. A tool that returns gets its old place, so that a host that switches
//! a server off and on has the same list.

use std::collections::{BTreeMap, BTreeSet};

use crate::naming::ToolName;

/// How many tools that are gone have their places kept, beyond as many as are listed: a server that
/// is switched off and on, or is a while away, finds its places again. One that lists ever other
/// names cannot fill the memory.
const GONE_MAX: usize = 1000;

/// The places of a session's tools.
#[derive(Clone, Debug, Default)]
pub struct Order {
    places: BTreeMap<ToolName, u64>,
    last: u64,
}

impl Order {
    /// Puts tools that are listed, all or a part of them, which come sorted by exposed name, in the
    /// session's order.
    pub fn arrange<T>(&mut self, listed: Vec<T>, tool: impl Fn(&T) -> ToolName) -> Vec<T> {
        let mut placed: Vec<(u64, T)> =
            listed.into_iter().map(|row| (self.place(tool(&row)), row)).collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, row)| row).collect()
    }

    /// Forgets the places of what is gone, when they are too many. `listed` is all that is listed.
    pub fn forget_gone<T>(&mut self, listed: &[T], tool: impl Fn(&T) -> ToolName) {
        if self.places.len() > 2 * listed.len() + GONE_MAX {
            let stays: BTreeSet<ToolName> = listed.iter().map(tool).collect();
            self.places.retain(|tool, _| stays.contains(tool));
        }
    }

    fn place(&mut self, tool: ToolName) -> u64 {
        let Order { places, last } = self;
        *places.entry(tool).or_insert_with(|| {
            *last += 1;
            *last
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    /// A list of tools `server/tool`, as it comes from the names: sorted.
    fn arranged(order: &mut Order, tools: &[&str]) -> Vec<String> {
        let mut listed: Vec<String> = tools.iter().map(ToString::to_string).collect();
        listed.sort();
        let arranged = order.arrange(listed, |row| tool(row));
        order.forget_gone(&arranged, |row| tool(row));
        arranged
    }

    fn tool(row: &str) -> ToolName {
        let (server, tool) = row.split_once('/').unwrap();
        ToolName { server: server.into(), tool: tool.into() }
    }

    /// SPEC 6.6: a first list is by name, and what comes late comes last.
    #[test]
    fn a_first_list_is_by_name_and_late_ones_come_last() {
        let mut order = Order::default();
        assert_eq!(arranged(&mut order, &["c/y", "b/x"]), ["b/x", "c/y"]);
        let late = arranged(&mut order, &["a/z", "a/y", "c/y", "b/x", "c/a"]);
        assert_eq!(late, ["b/x", "c/y", "a/y", "a/z", "c/a"]);
    }

    /// SPEC 6.6, 6.7: what goes moves nobody, and is where it was when it is back.
    #[test]
    fn what_goes_moves_nobody_and_comes_back_to_its_place() {
        let mut order = Order::default();
        arranged(&mut order, &["b/x", "c/y"]);
        arranged(&mut order, &["a/z", "b/x", "c/y"]);
        assert_eq!(arranged(&mut order, &["a/z", "c/y"]), ["c/y", "a/z"]);
        assert_eq!(arranged(&mut order, &[]), [""; 0]);
        assert_eq!(arranged(&mut order, &["a/z", "b/x", "c/y"]), ["b/x", "c/y", "a/z"]);
    }

    /// SPEC 6.6: whatever comes and goes, two lists agree about all that both hold, and new ones
    /// are behind the rest.
    #[test]
    fn no_two_lists_disagree() {
        let mut random = Random::new(6);
        let names: Vec<String> =
            (0..60).map(|number| format!("s{}/t{number}", number % 7)).collect();
        let mut order = Order::default();
        let mut before: Vec<Vec<String>> = Vec::new();
        for _ in 0..60 {
            let some: Vec<&str> =
                names.iter().filter(|_| random.one_in(3)).map(|name| &**name).collect();
            let now = arranged(&mut order, &some);
            for old in &before {
                let in_both = |list: &[String], other: &[String]| -> Vec<String> {
                    list.iter().filter(|name| other.contains(name)).cloned().collect()
                };
                assert_eq!(in_both(old, &now), in_both(&now, old));
            }
            let known = |name: &String| before.iter().any(|old| old.contains(name));
            assert!(now.is_sorted_by_key(|name| !known(name)), "{now:?}");
            before.push(now);
        }
    }

    /// SPEC 6.6: a part of a list that is arranged alone has the order that it has in the whole,
    /// and no other loses its place.
    #[test]
    fn a_part_takes_no_place_from_the_rest() {
        let mut order = Order::default();
        let many: Vec<String> = (0..2 * GONE_MAX).map(|number| format!("a/{number:04}")).collect();
        let mut all: Vec<&str> = many.iter().map(|name| &**name).collect();
        arranged(&mut order, &["b/x", "b/y"]);
        all.extend(["b/x", "b/y"]);
        let before = arranged(&mut order, &all);
        let part = order.arrange(vec!["b/x"], |row| tool(row));
        assert_eq!(part, ["b/x"]);
        assert!(arranged(&mut order, &all) == before);
    }

    /// SPEC 6.6: a server that lists ever other names takes no more room than the bound.
    #[test]
    fn what_is_gone_is_forgotten_beyond_a_bound() {
        let mut order = Order::default();
        for round in 0..5000 {
            arranged(&mut order, &["a/stays", &format!("a/{round}")]);
            assert!(order.places.len() <= GONE_MAX + 5);
        }
        assert_eq!(arranged(&mut order, &["a/stays", "a/4999", "a/0"])[..2], ["a/stays", "a/4999"]);
    }
}
