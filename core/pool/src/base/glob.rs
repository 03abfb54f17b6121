//! Patterns of names: `*` stands for any run of characters, `?` for exactly one, the rest for
//! itself.

/// Whether `name` is one of those that `pattern` describes. Case counts; the whole name must match.
///
/// It takes at most `pattern.len() * name.len()` steps, whatever the pattern.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut pattern_rest = pattern.chars();
    let mut name_rest = name.chars();
    // Where to go on after the last `*`, when what follows it did not fit here.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut pattern_next = pattern_rest.clone();
        let fits = match (pattern_next.next(), name_rest.clone().next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((pattern_next.clone(), name_rest.clone()));
                pattern_rest = pattern_next;
                continue;
            }
            (Some('?'), Some(_)) => true,
            (Some(wanted), Some(found)) => wanted == found,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if fits {
            pattern_rest = pattern_next;
            name_rest.next();
            continue;
        }
        let Some((pattern_after_star, name_at_star)) = &mut retry else {
            return false;
        };
        if name_at_star.next().is_none() {
            return false;
        }
        pattern_rest = pattern_after_star.clone();
        name_rest = name_at_star.clone();
    }
}

/// Whether any of the patterns describes `name`.
pub fn matches_any<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>, name: &str) -> bool {
    patterns.into_iter().any(|pattern| matches(pattern.as_ref(), name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain definition, exponential and obviously right.
    fn reference(pattern: &[char], name: &[char]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some('*'), _) => {
                reference(&pattern[1..], name)
                    || (!name.is_empty() && reference(pattern, &name[1..]))
            }
            (Some('?'), Some(_)) => reference(&pattern[1..], &name[1..]),
            (Some(wanted), Some(found)) if wanted == found => reference(&pattern[1..], &name[1..]),
            _ => false,
        }
    }

    fn words(alphabet: &[char], length: usize) -> Vec<Vec<char>> {
        let mut all = vec![vec![]];
        let mut last = all.clone();
        for _ in 0..length {
            last = last
                .iter()
                .flat_map(|word: &Vec<char>| {
                    alphabet.iter().map(move |letter| [word.as_slice(), &[*letter]].concat())
                })
                .collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    /// SPEC 6.1: `*` and `?`, against the plain definition, for every short pattern and name.
    #[test]
    fn agrees_with_the_definition_on_every_short_input() {
        for pattern in words(&['a', 'b', '*', '?'], 5) {
            for name in words(&['a', 'b', 'é'], 4) {
                let text = |word: &[char]| word.iter().collect::<String>();
                assert_eq!(
                    matches(&text(&pattern), &text(&name)),
                    reference(&pattern, &name),
                    "{pattern:?} {name:?}"
                );
            }
        }
    }

    /// SPEC 6.1: a hostile pattern costs no more than its length times the name's.
    #[test]
    fn many_stars_do_not_explode() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
        assert!(matches(&"*a".repeat(200), &"a".repeat(400)));
    }
}
