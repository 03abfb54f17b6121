//! Inputs made of others at random: a number makes the same one in each run.

/// Random enough, and the same for the same number.
pub struct Dice(u64);

impl Dice {
    /// The dice of that number.
    pub fn new(number: u64) -> Self {
        // Near numbers are to have nothing in common.
        let mixed = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Dice((mixed ^ mixed >> 29) | 1)
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

/// One of the inputs, with one to eight things about it changed: bytes, pieces that mean something,
/// parts of itself and of others.
pub fn mutated(inputs: &[Vec<u8>], words: &[&str], number: u64) -> Vec<u8> {
    let mut dice = Dice::new(number);
    let mut bytes = inputs[dice.roll(inputs.len())].clone();
    for _ in 0..=dice.roll(8) {
        change(&mut bytes, inputs, words, &mut dice);
    }
    bytes.truncate(INPUT_BYTES_MAX);
    bytes
}

/// Longer inputs say nothing new, and take their time.
pub const INPUT_BYTES_MAX: usize = 4 << 10;

fn change(bytes: &mut Vec<u8>, inputs: &[Vec<u8>], words: &[&str], dice: &mut Dice) {
    let at = dice.roll(bytes.len() + 1);
    let longest = if dice.roll(4) == 0 { 256 } else { 12 };
    let length = 1 + dice.roll(longest);
    let end = (at + length).min(bytes.len());
    match dice.roll(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << dice.roll(8),
        1 if at < bytes.len() => bytes[at] = dice.roll(256) as u8,
        2 => bytes.insert(at, dice.roll(256) as u8),
        3 => drop(bytes.drain(at..end)),
        4 => bytes.truncate(at.max(1)),
        5 => {
            let again = bytes[at..end].repeat(1 + dice.roll(3));
            bytes.splice(at..at, again);
        }
        6 => {
            let other = &inputs[dice.roll(inputs.len())];
            let from = dice.roll(other.len() + 1);
            let part = other[from..(from + length).min(other.len())].to_vec();
            bytes.splice(at..if dice.roll(2) == 0 { at } else { end }, part);
        }
        _ if words.is_empty() => bytes.reverse(),
        _ => {
            let word = words[dice.roll(words.len())].bytes();
            bytes.splice(at..if dice.roll(2) == 0 { at } else { end }, word);
        }
    }
}
