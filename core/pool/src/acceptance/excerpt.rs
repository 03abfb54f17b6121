//! Excerpts of two texts that show where they differ.

use crate::base::text::escaped;

/// Characters that an excerpt shows, before they are escaped.
const SHOWN_MAX: usize = 600;

/// Characters before the first difference that it shows.
const LEAD: usize = 60;

/// What to show of two texts, so that a difference is seen wherever it begins. Text that is left
/// out is marked with `…`.
pub(super) fn excerpts(
    old: Option<String>,
    new: Option<String>,
) -> (Option<String>, Option<String>) {
    let common = match (&old, &new) {
        (Some(old), Some(new)) => old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count(),
        _ => 0,
    };
    let first = common.saturating_sub(LEAD);
    (old.map(|old| excerpt(&old, first)), new.map(|new| excerpt(&new, first)))
}

fn excerpt(text: &str, first: usize) -> String {
    let mut rest = text.chars().skip(first);
    let shown: String = rest.by_ref().take(SHOWN_MAX).collect();
    let before = if first > 0 { "…" } else { "" };
    let after = if rest.next().is_some() { "…" } else { "" };
    format!("{before}{}{after}", escaped(&shown))
}
