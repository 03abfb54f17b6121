//! Websockets: the same by pieces as whole, and never more kept than is allowed.

use trunkline::fuzzing::socket;

use crate::input::{Input, pieces};

/// SPEC 5.11, S-24: a byte says how the stream comes; each part after it is a frame of the server,
/// or bytes of its own.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let seed = input.byte();
    let mut stream = Vec::new();
    while !input.is_empty() {
        let opening = input.byte();
        let text = input.bytes();
        match opening & 0x30 {
            // A frame whose length is told truly.
            0 => match text.len() {
                0..126 => stream.extend([opening & 0x8f, text.len() as u8]),
                length => stream.extend([opening & 0x8f, 126, 0, length as u8]),
            },
            _ => stream.push(opening),
        }
        stream.extend(text);
    }
    let whole = socket(&[&stream], LIMIT);
    assert_eq!(socket(&pieces(&stream, seed), LIMIT), whole);
    for text in &whole.texts {
        assert!(!text.trim_ascii().is_empty() && text.len() <= LIMIT);
    }
    assert!(
        whole.answered <= stream.len() * ANSWER_FACTOR + FAREWELL_BYTES,
        "{} answered",
        whole.answered
    );
    // Without a bound that is met, what comes before the end is the same.
    let wide = socket(&[&stream], stream.len().max(LIMIT));
    assert!(wide.texts.starts_with(&whole.texts));
}

const LIMIT: usize = 200;

/// An answer has a mask more than what it answers: four bytes at least two.
const ANSWER_FACTOR: usize = 3;

/// What is said once of a stream that breaks the rules.
const FAREWELL_BYTES: usize = 131;
