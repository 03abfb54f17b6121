//! The name that somebody probably meant.

/// The candidate that is nearest to `wanted`, if one is near enough to be worth saying: at most a
/// third of the letters away. Of two that are equally near, the first. Only the first 1,000
/// candidates are looked at.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A name that is absurdly long is near to nothing, and not worth the time.
    if wanted.len() > NAME_BYTES_MAX {
        return None;
    }
    let allowed = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .take(CANDIDATES_MAX)
        .filter(|candidate| candidate.len().abs_diff(wanted.len()) <= NAME_BYTES_MAX)
        .map(|candidate| (distance(wanted, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Longer than every option's name, and than most of other things.
const NAME_BYTES_MAX: usize = 64;

/// What is looked at of very long lists.
const CANDIDATES_MAX: usize = 1_000;

/// How many letters have to be put in, taken out, replaced or swapped with their neighbour,
/// whatever their case.
fn distance(one: &str, other: &str) -> usize {
    strsim::osa_distance(&lowered(one), &lowered(other))
}

/// Letter by letter: the standard library's own looks at the end of a word too.
fn lowered(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 16.5: the number of slips of the hand between two words.
    #[test]
    fn slips_of_the_hand_are_counted() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("abc", "acb"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("Workers", "workers"), 0);
        assert_eq!(distance("abc", "ab"), 1);
        assert_eq!(distance("abcd", "acd"), 1);
        assert_eq!(distance("abcdef", ""), 6);
    }

    /// SPEC 16.5: a name that resembles nothing gets no suggestion.
    #[test]
    fn only_near_names_are_suggested() {
        assert_eq!(
            nearest("drain_dealy_ms", ["idle_cap_ms", "drain_delay_ms"]),
            Some("drain_delay_ms")
        );
        assert_eq!(nearest("zzzzzz", ["workers", "roots"]), None);
        assert_eq!(nearest(&"workers".repeat(100), ["workers"]), None);
    }

    /// SPEC 16.5: a third of the letters may be wrong, and of a short name one; longer names than
    /// any are near to none.
    #[test]
    fn near_ends_at_a_third_of_the_letters() {
        assert_eq!(nearest("abcdefxyz", ["abcdefghi"]), Some("abcdefghi"));
        assert_eq!(nearest("abcdewxyz", ["abcdefghi"]), None);
        assert_eq!(nearest("ix", ["id"]), Some("id"));
        assert_eq!(nearest("xy", ["id"]), None);
        let long = "a".repeat(65);
        assert_eq!(nearest(&long[..64], [&*long]), Some(&*long));
        assert_eq!(nearest(&long, [&*long]), None);
    }
}
