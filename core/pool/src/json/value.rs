//! Whether a text is one JSON value: the answer of serde_json at a lower price, for what is only
//! passed on.
//!
//! Short texts are read byte by byte: each step hands the rest to the next one, and what is open is
//! two numbers. So all of it stays in registers. Long ones are read in blocks.

use serde::de::IgnoredAny;

use super::blocks;

/// The deepest nesting that is followed here; of deeper texts serde_json is asked, which needs no
/// stack for it.
const DEPTH_MAX: u32 = 64;

/// From here on a text is looked at in blocks, which pay off for longer ones.
const LONG_BYTES: usize = 512;

/// Bytes of a string that are looked at one by one before blocks are: most names end within them.
const NAME_BYTES: usize = 8;

/// Whether the text is one JSON value with nothing but white space around it.
pub fn is_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let read = match bytes.trim_ascii_start() {
        [b'{' | b'[', ..] if bytes.len() >= LONG_BYTES => blocks::value(bytes),
        _ => value(bytes),
    };
    is_all(text, read)
}

/// Whether a value was read, and nothing else is in the text.
fn is_all(text: &str, read: Rest<'_>) -> bool {
    match read {
        Ok(rest) => rest.iter().copied().all(is_white),
        Err(Stop::NoValue) => false,
        Err(Stop::TooDeep) => serde_json::from_str::<IgnoredAny>(text).is_ok(),
    }
}

/// What is left of a text behind what was read.
pub(super) type Rest<'a> = Result<&'a [u8], Stop>;

/// A byte that is no white space, and what is behind it.
type Token<'a> = Result<(u8, &'a [u8]), Stop>;

/// Why a text is not followed to its end.
pub(super) enum Stop {
    NoValue,
    TooDeep,
}

/// The brackets around what is read.
struct OpenBrackets {
    depth: u32,
    /// A bit for each, the lowest for the innermost: whether it is that of an object.
    objects: u64,
}

impl OpenBrackets {
    fn push(&mut self, is_object: bool) -> Result<(), Stop> {
        if self.depth == DEPTH_MAX {
            return Err(Stop::TooDeep);
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u64::from(is_object);
        Ok(())
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn is_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

/// Reads the value that the text begins with.
fn value(text: &[u8]) -> Rest<'_> {
    let mut open = OpenBrackets { depth: 0, objects: 0 };
    let (mut byte, mut rest) = token(text)?;
    loop {
        match byte {
            b'"' => rest = string(rest)?,
            b'{' => {
                open.push(true)?;
                (byte, rest) = token(rest)?;
                if byte != b'}' {
                    (byte, rest) = name(byte, rest)?;
                    continue;
                }
                open.pop();
            }
            b'[' => {
                open.push(false)?;
                (byte, rest) = token(rest)?;
                if byte != b']' {
                    continue;
                }
                open.pop();
            }
            b'-' | b'0'..=b'9' => rest = number(byte, rest)?,
            b't' => rest = word(rest, b"rue")?,
            b'f' => rest = word(rest, b"alse")?,
            b'n' => rest = word(rest, b"ull")?,
            _ => return Err(Stop::NoValue),
        }
        // Behind a value.
        loop {
            if open.depth == 0 {
                return Ok(rest);
            }
            (byte, rest) = token(rest)?;
            match byte {
                b',' => break,
                b'}' if open.is_object() => open.pop(),
                b']' if !open.is_object() => open.pop(),
                _ => return Err(Stop::NoValue),
            }
        }
        (byte, rest) = token(rest)?;
        if open.is_object() {
            (byte, rest) = name(byte, rest)?;
        }
    }
}

/// Reads a name and its colon, up to the first byte of its value.
#[inline(always)]
fn name(quote: u8, rest: &[u8]) -> Token<'_> {
    if quote != b'"' {
        return Err(Stop::NoValue);
    }
    match token(string(rest)?)? {
        (b':', rest) => token(rest),
        _ => Err(Stop::NoValue),
    }
}

#[inline(always)]
fn token(mut rest: &[u8]) -> Token<'_> {
    loop {
        let Some((&byte, behind)) = rest.split_first() else {
            return Err(Stop::NoValue);
        };
        if byte > b' ' {
            return Ok((byte, behind));
        }
        if !is_white(byte) {
            return Err(Stop::NoValue);
        }
        rest = behind;
    }
}

/// Reads the rest of a string, with its closing quote.
#[inline(always)]
fn string(rest: &[u8]) -> Rest<'_> {
    let Some((block, behind)) = rest.split_first_chunk::<NAME_BYTES>() else {
        return long_string(rest);
    };
    for (at, byte) in block.iter().enumerate() {
        if SPECIAL[usize::from(*byte)] {
            return if *byte == b'"' { Ok(&rest[at + 1..]) } else { long_string(&rest[at..]) };
        }
    }
    long_string(behind)
}

#[inline(never)]
fn long_string(mut rest: &[u8]) -> Rest<'_> {
    loop {
        match pass_plain(rest) {
            [b'"', rest @ ..] => return Ok(rest),
            [b'\\', escaped @ ..] => rest = escape(escaped)?,
            _ => return Err(Stop::NoValue),
        }
    }
}

/// Goes to the next byte that is not a plain part of a string.
fn pass_plain(mut rest: &[u8]) -> &[u8] {
    rest = pass_blocks::<64>(rest);
    rest = pass_blocks::<16>(rest);
    while let Some((block, behind)) = rest.split_first_chunk() {
        let specials = specials(*block);
        if specials != 0 {
            return &rest[first(specials)..];
        }
        rest = behind;
    }
    let plain = rest.iter().take_while(|byte| !SPECIAL[usize::from(**byte)]).count();
    &rest[plain..]
}

/// Passes blocks of plain bytes, without a branch for each byte: several are looked at with one
/// instruction.
fn pass_blocks<const BYTES: usize>(mut rest: &[u8]) -> &[u8] {
    let has_special =
        |block: &[u8; BYTES]| block.iter().fold(false, |any, byte| any | is_special(*byte));
    while let Some((block, behind)) = rest.split_first_chunk()
        && !has_special(block)
    {
        rest = behind;
    }
    rest
}

pub(super) fn escape(rest: &[u8]) -> Rest<'_> {
    match rest {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest @ ..] => Ok(rest),
        [b'u', digits @ ..] => match digits.split_first_chunk::<4>() {
            Some((digits, rest)) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(rest),
            _ => Err(Stop::NoValue),
        },
        _ => Err(Stop::NoValue),
    }
}

/// Reads the rest of a number that begins with this byte.
pub(super) fn number(first: u8, mut rest: &[u8]) -> Rest<'_> {
    rest = match (first, rest) {
        (b'0', [b'0'..=b'9', ..]) | (b'-', [b'0', b'0'..=b'9', ..]) => return Err(Stop::NoValue),
        (b'-', rest) => some_digits(rest)?,
        (_, rest) => pass_digits(rest),
    };
    if let [b'.', fraction @ ..] = rest {
        rest = some_digits(fraction)?;
    }
    match rest {
        [b'e' | b'E', b'+' | b'-', exponent @ ..] | [b'e' | b'E', exponent @ ..] => {
            some_digits(exponent)
        }
        rest => Ok(rest),
    }
}

fn some_digits(rest: &[u8]) -> Rest<'_> {
    let behind = pass_digits(rest);
    if behind.len() < rest.len() { Ok(behind) } else { Err(Stop::NoValue) }
}

fn pass_digits(mut rest: &[u8]) -> &[u8] {
    while let Some((block, behind)) = rest.split_first_chunk() {
        let others = no_digits(*block);
        if others != 0 {
            return &rest[first(others)..];
        }
        rest = behind;
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    &rest[digits..]
}

fn word<'a>(rest: &'a [u8], word: &[u8]) -> Rest<'a> {
    rest.strip_prefix(word).ok_or(Stop::NoValue)
}

/// A one in each of eight bytes.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Which bytes a string cannot hold as they are: the highest bit of each, as far as the first;
/// behind that it may be wrong.
fn specials(block: [u8; 8]) -> u64 {
    let block = u64::from_le_bytes(block);
    let below = |block: u64, bound: u8| block.wrapping_sub(ONES * u64::from(bound)) & !block;
    let equal = |byte: u8| below(block ^ (ONES * u64::from(byte)), 1);
    (below(block, 0x20) | equal(b'"') | equal(b'\\')) & (ONES << 7)
}

/// Which bytes are no digits: the highest bit of each.
fn no_digits(block: [u8; 8]) -> u64 {
    // Of a digit that leaves 0 to 9, and of nothing else.
    let block = u64::from_le_bytes(block) ^ (ONES * u64::from(b'0'));
    (((block & (ONES * 0x7f)) + ONES * 0x76) | block) & (ONES << 7)
}

/// The place of the first byte that has its highest bit.
fn first(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

/// Which bytes a string cannot hold as they are, for bytes that are looked at one by one.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = is_special(byte as u8);
        byte += 1;
    }
    table
};

/// Whether a string cannot hold the byte as it is.
pub(super) const fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r')
}

#[cfg(test)]
mod tests;
