//! The table of the gates, and that nothing widens the bound.

use std::collections::BTreeMap;

use super::*;
use crate::base::glob::matches_any;
use crate::error::ErrorCode;

/// Every kind of list, for a server of the name `files`: absent, none, its name, a pattern of it,
/// another name.
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

fn lists(allowed: Option<&[&str]>, excluded: &[&str], pending: &[&str]) -> GateLists {
    GateLists::new(allowed.map(strings), strings(excluded), strings(pending))
}

/// Whether a list of [`LISTS`] has a pattern of the name.
fn names_it(list: usize) -> bool {
    matches!(list, 2 | 3)
}

/// Whether a list of those that may run lets it.
fn admits_it(list: usize) -> bool {
    list == 0 || names_it(list)
}

/// Everything that can be known of a server beside its name.
fn every_fact() -> Vec<Facts<'static>> {
    let mut all = vec![Facts::of_name("files")];
    let mut vary = |change: &dyn Fn(Facts<'static>) -> Vec<Facts<'static>>| {
        all = all.iter().flat_map(|facts| change(*facts)).collect();
    };
    vary(&|facts| {
        [ServerPresence::Named, ServerPresence::Removed]
            .map(|presence| Facts { presence, ..facts })
            .into()
    });
    vary(&|facts| {
        [Validity::Valid, Validity::Invalid].map(|validity| Facts { validity, ..facts }).into()
    });
    vary(&|facts| {
        [Trust::NotNeeded, Trust::Given, Trust::Missing]
            .map(|trust| Facts { trust, ..facts })
            .into()
    });
    vary(&|facts| {
        [ServerSwitch::On, ServerSwitch::Off].map(|switch| Facts { switch, ..facts }).into()
    });
    vary(&|facts| {
        use ApprovalState::{Approved, NotNeeded, Pending, Rejected};
        [NotNeeded, Approved, Rejected, Pending].map(|approval| Facts { approval, ..facts }).into()
    });
    all
}

/// SPEC 11.1, 11.2, 11.6, 13.3: every list against every other and against all that can be known of
/// a server. Each has the first reason that applies, in the order of SPEC 11.6.
#[test]
fn the_first_reason_that_applies_is_given() {
    let facts = every_fact();
    let mut told = BTreeMap::<_, u32>::new();
    for (bound, allowed) in (0..5).flat_map(|bound| (0..5).map(move |allowed| (bound, allowed))) {
        for (excluded, pending) in (0..5).flat_map(|list| (0..5).map(move |other| (list, other))) {
            let list = |list: usize| LISTS[list].unwrap_or_default();
            let bound_of = LaunchBound::new(LISTS[bound].map(strings));
            let gates = Gates::new(bound_of, lists(LISTS[allowed], list(excluded), list(pending)));
            for facts in &facts {
                let applies = [
                    (GateReason::Removed, facts.presence == ServerPresence::Removed),
                    (GateReason::InvalidConfig, facts.validity == Validity::Invalid),
                    (GateReason::Untrusted, facts.trust == Trust::Missing),
                    (GateReason::Excluded, names_it(excluded)),
                    (GateReason::NotAllowed, !(admits_it(bound) && admits_it(allowed))),
                    (GateReason::Disabled, facts.switch == ServerSwitch::Off),
                    (GateReason::Rejected, facts.approval == ApprovalState::Rejected),
                    (
                        GateReason::PendingApproval,
                        facts.approval == ApprovalState::Pending || names_it(pending),
                    ),
                ];
                let first = applies.iter().find(|(_, applies)| *applies);
                let expected = first.map_or(Gate::Open, |(reason, _)| Gate::Shut(*reason));
                let case = (bound, allowed, excluded, pending, facts);
                assert_eq!(gates.decide(facts), expected, "{case:?}");
                *told.entry(format!("{expected:?}")).or_default() += 1;
            }
        }
    }
    assert_eq!(told.values().sum::<u32>(), 625 * 96);
    assert_eq!(told.len(), 9, "{told:?}");
}

/// What keeps a server out, in the order in which it applies.
const REASONS: [GateReason; 8] = [
    GateReason::Removed,
    GateReason::InvalidConfig,
    GateReason::Untrusted,
    GateReason::Excluded,
    GateReason::NotAllowed,
    GateReason::Disabled,
    GateReason::Rejected,
    GateReason::PendingApproval,
];

/// SPEC 11.6: what is known of a server that may not run is why it may not; of what is on a list
/// the lists alone decide.
#[test]
fn what_is_known_of_a_server_shuts_its_gate_for_that_reason() {
    let gates = Gates::default();
    for reason in REASONS {
        let facts = Facts::of_name("files").shut_by(reason);
        let expected = match reason {
            GateReason::Excluded | GateReason::NotAllowed => Gate::Open,
            reason => Gate::Shut(reason),
        };
        assert_eq!(gates.decide(&facts), expected, "{reason:?}");
    }
}

/// SPEC 11.6: an open gate refuses nobody, and the error of a shut one says why.
#[test]
fn a_shut_gate_refuses_with_its_reason() {
    assert!(Gate::Open.check().is_ok() && Gate::default().check().is_ok());
    for reason in REASONS {
        let error = Gate::Shut(reason).check().unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotAdmitted, "{reason:?}");
        assert_eq!(error.detail()["reason"], reason.as_str());
    }
}

/// SPEC 11.1: the list that keeps a server out is named, for the reason that is the list's and no
/// other.
#[test]
fn the_list_that_keeps_a_server_out_is_named() {
    for (list, allowed) in (0..5).flat_map(|list| (0..5).map(move |allowed| (list, allowed))) {
        let on = LISTS[list].unwrap_or_default();
        let lists = [lists(LISTS[allowed], on, &[]), lists(LISTS[allowed], &[], on)];
        for (lists, [excluded, pending]) in lists.iter().zip([[true, false], [false, true]]) {
            for reason in REASONS {
                let expected = match reason {
                    GateReason::Excluded => (excluded && names_it(list)).then_some("excluded"),
                    GateReason::NotAllowed => (!admits_it(allowed)).then_some("allowed"),
                    GateReason::PendingApproval => (pending && names_it(list)).then_some("pending"),
                    _ => None,
                };
                assert_eq!(lists.list_of(reason, "files"), expected, "{reason:?} {lists:?}");
            }
        }
    }
}

/// SPEC 11.6: the order in which the reasons are declared is the one in which they apply, so that
/// of two the first is the lesser.
#[test]
fn reasons_are_in_order() {
    assert!(REASONS.is_sorted());
}

/// SPEC 11.1: of two sources, each list of the excluded adds, and each of the allowed narrows, in
/// either order.
#[test]
fn several_lists_exclude_together_and_allow_in_common() {
    for (one, other) in (0..5).flat_map(|one| (0..5).map(move |other| (one, other))) {
        for (out, also_out) in (0..5).flat_map(|one| (0..5).map(move |other| (one, other))) {
            let list = |list: usize| LISTS[list].unwrap_or_default();
            let sources = [
                lists(LISTS[one], list(out), &[]),
                lists(LISTS[other], list(also_out), &[]),
                GateLists::default(),
            ];
            let gates = |sources: Vec<GateLists>| {
                Gates::new(LaunchBound::default(), JoinedLists::from_iter(sources))
            };
            let expected = if names_it(out) || names_it(also_out) {
                Gate::Shut(GateReason::Excluded)
            } else if !(admits_it(one) && admits_it(other)) {
                Gate::Shut(GateReason::NotAllowed)
            } else {
                Gate::Open
            };
            let facts = Facts::of_name("files");
            let case = (one, other, out, also_out);
            assert_eq!(gates(sources.to_vec()).decide(&facts), expected, "{case:?}");
            let turned = sources.into_iter().rev().collect();
            assert_eq!(gates(turned).decide(&facts), expected, "{case:?}");
        }
    }
    let pends = JoinedLists::from_iter([lists(None, &[], &["x"]), lists(None, &[], &["fi*"])]);
    let gates = Gates::new(LaunchBound::default(), pends);
    let facts = Facts::of_name("files");
    assert_eq!(gates.decide(&facts), Gate::Shut(GateReason::PendingApproval));
}

/// SPEC 13.3: as sets, of several sources too; an absent list of the allowed and an empty one are
/// different.
#[test]
fn equal_lists_are_no_change() {
    let mut gates = Gates::new(LaunchBound::default(), lists(Some(&["a", "b"]), &["c", "c"], &[]));
    assert!(!gates.replace(lists(Some(&["b", "a", "a"]), &["c"], &[])));
    assert!(gates.replace(lists(Some(&[]), &["c"], &[])));
    assert!(gates.replace(lists(None, &["c"], &[])));
    assert!(!gates.replace(lists(None, &["c"], &[])));

    let one = || lists(Some(&["a"]), &["c"], &[]);
    let other = || lists(None, &["d"], &[]);
    assert!(gates.replace(JoinedLists::from_iter([one(), other()])));
    assert!(!gates.replace(JoinedLists::from_iter([other(), one(), one()])));
    assert!(gates.replace(JoinedLists::from_iter([other(), one(), lists(Some(&[]), &[], &[])])));
    assert!(gates.replace(JoinedLists::from_iter([other(), one(), lists(Some(&["b"]), &[], &[])])));
}

/// S-06: what is in force is what the bound and every list admit, after 10,000 changes of up to
/// three sources in any order.
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
    let mut admitted_ever = 0;
    for _ in 0..20 {
        let some = |next: &mut dyn FnMut(usize) -> usize| -> Option<Vec<String>> {
            let count = next(4);
            (count < 3).then(|| (0..count).map(|_| patterns[next(patterns.len())].into()).collect())
        };
        let bound = some(&mut next);
        let mut gates = Gates::new(LaunchBound::new(bound.clone()), GateLists::default());
        for _ in 0..500 {
            let count = next(4);
            let sources: Vec<_> = (0..count)
                .map(|_| (some(&mut next), some(&mut next).unwrap_or_default()))
                .collect();
            let joined = sources.iter().map(|(allowed, excluded)| {
                GateLists::new(allowed.clone(), excluded.clone(), Vec::new())
            });
            gates.replace(joined.collect::<JoinedLists>());
            for name in names {
                let within = |list: &Option<Vec<String>>| {
                    list.as_ref().is_none_or(|list| matches_any(list, name))
                };
                let admitted = within(&bound)
                    && sources.iter().all(|(allowed, _)| within(allowed))
                    && !sources.iter().any(|(_, excluded)| matches_any(excluded, name));
                let is_open = gates.decide(&Facts::of_name(name)) == Gate::Open;
                assert_eq!(is_open, admitted, "{name} {bound:?} {sources:?}");
                admitted_ever += u32::from(admitted);
            }
        }
    }
    assert!(admitted_ever > 1000, "{admitted_ever}");
}
