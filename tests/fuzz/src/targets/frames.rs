//! Lines of a server: the same by pieces as by the rule, and never more kept than is allowed.

use std::collections::BTreeSet;

use trunkline::fuzzing::{HEAD_BYTES, Line, lines};

use crate::input::{Input, pieces};

/// The rule: what one line without its newline is, where its length is no question.
fn read(line: &[u8], limit: usize) -> Option<Line> {
    let line = line.trim_ascii();
    line.first()?;
    Some(match line.len() > limit {
        false => Line::Whole(line.to_vec()),
        true => Line::Oversized(line[..line.len().min(HEAD_BYTES)].to_vec()),
    })
}

/// Whether the first is what is shown of a line that is longer than it may be: a beginning, or
/// nothing, since all of it was blank.
fn is_beginning(given: &Line, line: &[u8]) -> bool {
    let Line::Oversized(head) = given else { return false };
    head.len() <= HEAD_BYTES && line.trim_ascii_start().starts_with(head)
}

/// SPEC 5.10.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let limit = [8, 64, 1 << 20][input.below(3)];
    let seed = input.byte();
    let stream = input.rest();
    for given in [lines([stream], limit), lines(pieces(stream, seed), limit)] {
        // Up to where the lines given can be those of the stream: of a line that is too long it
        // depends on the pieces what is shown.
        let mut reached = BTreeSet::from([0]);
        for (number, line) in stream.split(|byte| *byte == b'\n').enumerate() {
            let text = match number {
                0 => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
                _ => line,
            };
            let mark = line.len() - text.len();
            let expected = read(text, limit);
            let is_next = |at: &&usize| match given.get(**at) {
                Some(given) if line.len() > limit => {
                    Some(given) == expected.as_ref() || is_beginning(given, text)
                }
                given => given == expected.as_ref(),
            };
            let taken = reached.iter().filter(is_next).map(|at| at + 1).collect();
            match (&expected, line.len() > limit) {
                // Nothing is shown of one that has not begun where it is too long, its byte order
                // mark included.
                (_, true) if text.iter().take(limit - mark).all(u8::is_ascii_whitespace) => {
                    reached.extend::<BTreeSet<_>>(taken);
                }
                (_, true) => reached = taken,
                (Some(_), false) => reached = taken,
                (None, false) => {}
            }
        }
        assert!(reached.contains(&given.len()), "{given:?}");
    }
}
