//! The table of the gates, and that nothing widens the bound.

use super::*;
use crate::pattern::matches_any;

/// Every kind of list, for a server of the name `files`: absent, none, its name, a pattern of it, another name.
const LISTS: [Option<&[&str]>; 5] = [
    None,
    Some(&[]),
    Some(&["files"]),
    Some(&["other", "f?l*"]),
    Some(&["other", "Files", "file"]),
];

fn strings(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(ToString::to_string).collect()
}

fn gates(
    bound: Option<&[&str]>,
    allowed: Option<&[&str]>,
    excluded: &[&str],
    pending: &[&str],
) -> Gates {
    let lists = GateLists::new(allowed.map(strings), strings(excluded), strings(pending));
    Gates::new(LaunchBound::new(bound.map(strings)), lists)
}

/// SPEC 11.1, 11.2, 11.6: every list against every other, each with the first reason that applies.
#[test]
fn the_first_reason_that_applies_is_given() {
    let names_it = |list: usize| matches!(list, 2 | 3);
    let admits_it = |list: usize| list == 0 || names_it(list);
    let mut told = std::collections::BTreeMap::<_, u32>::new();
    for (bound, allowed) in (0..5).flat_map(|bound| (0..5).map(move |allowed| (bound, allowed))) {
        for (excluded, pending) in (0..5).flat_map(|list| (0..5).map(move |other| (list, other))) {
            let list = |list: usize| LISTS[list].unwrap_or_default();
            let gates = gates(LISTS[bound], LISTS[allowed], list(excluded), list(pending));
            let expected = if names_it(excluded) {
                Gate::Shut(GateReason::Excluded)
            } else if !(admits_it(bound) && admits_it(allowed)) {
                Gate::Shut(GateReason::NotAllowed)
            } else if names_it(pending) {
                Gate::Shut(GateReason::PendingApproval)
            } else {
                Gate::Open
            };
            let case = (bound, allowed, excluded, pending);
            assert_eq!(gates.decide("files"), expected, "{case:?}");
            *told.entry(format!("{expected:?}")).or_default() += 1;
        }
    }
    assert_eq!(told.values().sum::<u32>(), 625);
    assert_eq!(told.len(), 4, "{told:?}");
}

/// SPEC 13.3: as sets; an absent list of the allowed and an empty one are different.
#[test]
fn equal_lists_are_no_change() {
    let mut gates = gates(None, Some(&["a", "b"]), &["c", "c"], &[]);
    let lists = |allowed: Option<&[&str]>, excluded: &[&str]| {
        GateLists::new(allowed.map(strings), strings(excluded), Vec::new())
    };
    assert!(!gates.replace(lists(Some(&["b", "a", "a"]), &["c"])));
    assert!(gates.replace(lists(Some(&[]), &["c"])));
    assert!(gates.replace(lists(None, &["c"])));
    assert!(!gates.replace(lists(None, &["c"])));
}

/// S-06: what is in force is what the bound and the lists both admit, after 10,000 changes in any order.
#[test]
fn no_order_of_changes_widens_the_bound() {
    let patterns = ["*", "a*", "ab", "?b", "b*", "abc", "c", "**", "?"];
    let names = ["a", "ab", "abc", "b", "bb", "c", "zz"];
    let mut random = 0x5eed_u64;
    let mut next = move |below: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % below
    };
    for _ in 0..20 {
        let some = |next: &mut dyn FnMut(usize) -> usize| -> Option<Vec<String>> {
            let count = next(4);
            (count < 3).then(|| (0..count).map(|_| patterns[next(patterns.len())].into()).collect())
        };
        let bound = some(&mut next);
        let mut gates = Gates::new(LaunchBound::new(bound.clone()), GateLists::default());
        for _ in 0..500 {
            let allowed = some(&mut next);
            let excluded = some(&mut next).unwrap_or_default();
            gates.replace(GateLists::new(allowed.clone(), excluded.clone(), Vec::new()));
            for name in names {
                let within = |list: &Option<Vec<String>>| {
                    list.as_ref().is_none_or(|list| matches_any(list, name))
                };
                let admitted = within(&bound) && within(&allowed) && !matches_any(&excluded, name);
                assert_eq!(
                    gates.decide(name) == Gate::Open,
                    admitted,
                    "{name} {bound:?} {allowed:?}"
                );
            }
        }
    }
}
