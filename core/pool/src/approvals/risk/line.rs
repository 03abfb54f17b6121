//! The words of an argument that may be a command line of its own, as `env -S` reads one (S-09).

use std::borrow::Cow;

/// What may be a word of an argument: all of it, and each of its pieces; of a piece also what is
/// between its quotes and what it is without them, and of a flag what may be its value.
pub(super) fn words(argument: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let pieces = argument.split_whitespace().flat_map(|piece| {
        std::iter::once(piece).chain(escaped(piece).filter(|part| part.len() < piece.len()))
    });
    let pieces = pieces.filter(move |piece| *piece != argument);
    let pieces = std::iter::once(argument).chain(pieces);
    pieces.flat_map(|piece| unquoted(piece).into_iter().flat_map(with_value))
}

/// The pieces between signs that stand for white space.
fn escaped(piece: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(piece);
    std::iter::from_fn(move || {
        let text = rest?;
        let is_gap = |(place, _): &(usize, &str)| text[place + 1..].starts_with(ESCAPES);
        let gap = text.match_indices('\\').find(is_gap).map(|(place, _)| place);
        let (part, after) = gap.map_or((text, None), |at| (&text[..at], Some(&text[at + 2..])));
        rest = after;
        Some(part)
    })
}

/// A piece without its quotes, and what is between them.
fn unquoted(piece: &str) -> Vec<Cow<'_, str>> {
    if !piece.contains(QUOTES) {
        return vec![piece.into()];
    }
    let between = piece.split(QUOTES).filter(|part| !part.is_empty());
    let without = Cow::from(piece.replace(QUOTES, ""));
    std::iter::once(without).chain(between.map(Cow::from)).collect()
}

/// A word, and of a flag what follows its sign `=`, its first letter and its first `S`.
fn with_value(word: Cow<'_, str>) -> Vec<Cow<'_, str>> {
    let mut all = vec![word];
    let word = &*all[0];
    if !word.starts_with('-') {
        return all;
    }
    let letters = word[1..].chars().next().filter(char::is_ascii_alphanumeric);
    let places = [word.find('='), letters.map(|_| 1), letters.and_then(|_| word.find('S'))];
    let values = places.into_iter().flatten().map(|place| word[place + 1..].to_owned());
    let values: Vec<Cow<'_, str>> =
        values.filter(|value| !value.is_empty()).map(Cow::from).collect();
    all.extend(values);
    all
}

const QUOTES: [char; 2] = ['"', '\''];

/// What `env -S` takes for white space after a backslash.
const ESCAPES: [char; 6] = ['_', 't', 'n', 'r', 'f', 'v'];
