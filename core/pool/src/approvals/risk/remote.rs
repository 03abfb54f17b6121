//! Marks of what is reached by an address.

use url::{Host, Url};

use super::kind::{Risk, RiskKind};
use crate::approvals::candidate::{Candidate, CandidateLaunch};

/// The marks of every address of a candidate.
pub(super) fn marks(candidate: &Candidate<'_>) -> Vec<Risk> {
    let mut marks = Vec::new();
    if let CandidateLaunch::Remote { url, .. } = candidate.shown() {
        of_address(url, &mut marks);
    }
    let Some(sign_in) = candidate.sign_in() else { return marks };
    for address in &sign_in.addresses {
        if address.is_other_origin {
            let subject = format!("{} {}", address.field, address.address);
            marks.push(Risk::escaped(RiskKind::OtherOrigin, subject));
        }
        of_address(&address.address, &mut marks);
    }
    marks
}

fn of_address(address: &str, marks: &mut Vec<Risk>) {
    let mut mark = |kind| marks.push(Risk::new(kind, address));
    // Some read what no rule allows as the name of a user.
    let authority = address.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains(['@', '\\']) {
        mark(RiskKind::UserInfo);
    }
    let Ok(url) = Url::parse(address) else { return };
    if matches!(url.scheme(), "http" | "ws") && !is_this_machine(&url) {
        mark(RiskKind::ClearText);
    }
    let is_foreign = |label: &str| label.starts_with("xn--");
    if url.domain().is_some_and(|domain| domain.split('.').any(is_foreign)) {
        mark(RiskKind::Punycode);
    }
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost") || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => true,
    }
}
