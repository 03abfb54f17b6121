//! Long texts, a block of 64 bytes at a time: what may follow what is asked of all bytes of a block
//! at once. A block leaves the next one a bit for each question. One by one are looked at brackets,
//! escapes, words and numbers with an exponent.
//!
//! Short texts are read byte by byte: there a block costs more than it saves. serde_json, simd-json
//! and sonic-rs take longer, since they build what nobody reads.

use super::byte_kinds::{BLOCK, Kinds};
use super::value::{Rest, Stop, escape, is_white, number};

/// Reads the object or array that the text begins with.
pub(super) fn value(text: &[u8]) -> Rest<'_> {
    let mut scan = Scan::new(text);
    let (blocks, rest) = text.as_chunks();
    for block in blocks {
        if let Some(end) = scan.take(block)? {
            return Ok(&text[end..]);
        }
        scan.at += BLOCK;
    }
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    scan.take(&last)?.map(|end| &text[end..]).ok_or(Stop::NoValue)
}

/// Where the scan stands, and what the bytes before this block leave to it: a bit is the lowest one
/// or none, a mask is all bits or none.
struct Scan<'a> {
    text: &'a [u8],
    /// Where the block begins.
    at: usize,
    /// A mask: a string is open.
    in_string: u64,
    /// A bit: the first byte is behind a backslash.
    escaped: u64,
    /// A bit for what the last byte but white space was.
    value_ended: u64,
    separated: u64,
    name_follows: u64,
    name_ended: u64,
    /// A bit: the open string is a name.
    in_name: u64,
    numbers: Numbers,
    /// A bit for each open bracket, the lowest for the innermost: whether it is that of an object.
    /// Around them all is a one.
    open: u64,
    /// A mask: the innermost one is that of an object.
    in_object: u64,
}

/// The same for numbers and words; a bit each.
#[derive(Default)]
struct Numbers {
    /// The last byte is part of one.
    open: u64,
    digit: u64,
    sign: u64,
    dot: u64,
    /// It is a zero that begins a number.
    zero: u64,
    /// The digits of a fraction are open.
    fraction: u64,
    /// Where the open one began.
    began: usize,
    /// Up to where they were looked at one by one.
    checked: usize,
}

/// The bytes of a block outside of strings.
struct Outside {
    kinds: Kinds,
    open: u64,
    close: u64,
    /// Bytes of numbers and words, and the first of each.
    plain: u64,
    begun: u64,
}

impl<'a> Scan<'a> {
    fn new(text: &'a [u8]) -> Self {
        Scan {
            text,
            at: 0,
            in_string: 0,
            escaped: 0,
            value_ended: 0,
            separated: 0,
            name_follows: 0,
            name_ended: 0,
            in_name: 0,
            numbers: Numbers::default(),
            open: 1,
            in_object: !0,
        }
    }

    /// Takes in a block; where the value ends, if it does.
    #[inline(always)]
    fn take(&mut self, block: &[u8; BLOCK]) -> Result<Option<usize>, Stop> {
        if self.in_string != 0 && self.escaped == 0 && !has_special(block) {
            return Ok(None);
        }
        let kinds = Kinds::of(block);
        let mut quote = kinds.quote;
        if kinds.backslash | self.escaped != 0 {
            quote &= !self.escaped(kinds.backslash)?;
        }
        let string = up_to_next(quote) ^ self.in_string;
        if string & kinds.control != 0 {
            return Err(Stop::NoValue);
        }
        self.in_string = all_or_none(string);
        let outside = !(string | quote);
        if outside == 0 && quote == 0 {
            return Ok(None);
        }
        // Texts without white space between values are the common ones, and need less.
        match kinds.white & outside {
            0 => self.order::<false>(kinds, quote, string, 0),
            white => self.order::<true>(kinds, quote, string, white),
        }
    }

    /// Which bytes a backslash escapes, and whether they may be; of several backslashes in a row
    /// every second one does.
    #[inline(always)]
    fn escaped(&mut self, backslash: u64) -> Result<u64, Stop> {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let escaped = self.escaped;
        let begins = backslash & !escaped;
        // Taken away from odd places, a run of ones turns over those of them that are behind its
        // first one; so each second of the run differs from what it began with.
        let turned = (begins << 1 | ODD).wrapping_sub(begins) ^ ODD;
        let all = turned ^ (backslash | escaped);
        self.escaped = (turned & backslash) >> 63;
        let mut left = all;
        while left != 0 {
            let rest =
                self.text.get(self.at + left.trailing_zeros() as usize..).unwrap_or_default();
            if !matches!(rest, [b'"' | b'\\' | b'n', ..]) {
                escape(rest)?;
            }
            left &= left - 1;
        }
        Ok(all)
    }

    /// Whether everything outside of strings stands where it may; where the value ends, if it does.
    #[inline(always)]
    fn order<const WHITE: bool>(
        &mut self,
        kinds: Kinds,
        quote: u64,
        string: u64,
        white: u64,
    ) -> Result<Option<usize>, Stop> {
        let behind = |what, open: &mut u64| {
            if WHITE { behind_white(what, white, open) } else { next(what, open) }
        };
        let outside = !(string | quote);
        let (open, close) = (kinds.open & outside, kinds.close & outside);
        let (comma, colon) = (kinds.comma & outside, kinds.colon & outside);
        let plain = outside & !(open | close | comma | colon | white);
        let begun = plain & !(plain << 1 | self.numbers.open);
        let outside = Outside { kinds, open, close, plain, begun };
        let mut wrong = self.numbers(&outside)?;
        let (in_object, unmatched, end) = self.brackets(&outside)?;
        wrong |= unmatched;

        // A value has no value before it, a comma has one, and after what separates there is a
        // value.
        let (opening, closing) = (quote & string, quote & !string);
        let behind_value = behind(closing | close | plain, &mut self.value_ended);
        let behind_separator = behind(comma | colon, &mut self.separated);
        wrong |= behind_value & (open | opening | begun);
        wrong |= comma & !behind_value;
        wrong |= behind_separator & (comma | close);
        // Names are where they are to be, and have a colon behind them; nothing else has one.
        let keyed = open & outside.kinds.object | comma & in_object;
        let name_place = behind(keyed, &mut self.name_follows);
        wrong |= name_place & (open | begun);
        let names = through(opening & name_place, string, &mut self.in_name);
        wrong |= behind(names & closing, &mut self.name_ended) ^ colon;
        if wrong == 0 { Ok(end) } else { Err(Stop::NoValue) }
    }

    /// Goes through the brackets. Which bytes are directly in an object, what has the wrong
    /// bracket, and where the value ends.
    #[inline(always)]
    fn brackets(&mut self, outside: &Outside) -> Result<(u64, u64, Option<usize>), Stop> {
        let (mut in_object, mut unmatched, mut too_deep, mut end) = (self.in_object, 0, 0, None);
        let mut left = outside.open | outside.close;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            let is_object = outside.kinds.object >> at & 1;
            let opens = outside.open >> at & 1;
            let open = if opens == 1 { self.open << 1 | is_object } else { self.open >> 1 };
            unmatched |= (opens ^ 1) & (self.open ^ is_object);
            too_deep |= opens & self.open >> 63;
            in_object ^= ((self.open ^ open) & 1).wrapping_neg() << at;
            self.open = open;
            if open == 1 {
                end = Some(self.at + at as usize + 1);
                break;
            }
        }
        self.in_object = all_or_none(in_object);
        if too_deep == 0 { Ok((in_object, unmatched, end)) } else { Err(Stop::TooDeep) }
    }

    /// Whether numbers and words are such: bits for what is wrong.
    #[inline(always)]
    fn numbers(&mut self, outside: &Outside) -> Result<u64, Stop> {
        let Outside { ref kinds, plain, begun, .. } = *outside;
        let before = &mut self.numbers;
        let digit = kinds.digit & plain;
        let sign = kinds.minus & begun;
        let zero = (begun & !sign | sign << 1 | before.sign) & kinds.zero;
        let mut wrong = next(zero, &mut before.zero) & digit;
        let behind_digit = next(digit, &mut before.digit);
        let other = plain & !digit;
        if other | before.sign | before.dot | before.fraction != 0 {
            let dot = kinds.dot & other;
            // Behind a dot there are digits, and behind those no second one.
            let behind_dot = next(dot, &mut before.dot);
            let digits_due = behind_dot | next(sign, &mut before.sign);
            let fraction = through(behind_dot, digit, &mut before.fraction);
            wrong |= dot & !behind_digit | digits_due & !digit | fraction & dot;
            self.words(other & !dot & !sign, begun)?;
        }
        let before = &mut self.numbers;
        before.open = plain >> 63;
        if before.open != 0 && begun != 0 {
            before.began = self.at + begun.ilog2() as usize;
        }
        Ok(wrong)
    }

    /// Looks at what has other bytes than numbers mostly have: words, exponents and what is
    /// neither.
    #[inline(always)]
    fn words(&mut self, mut other: u64, begun: u64) -> Result<(), Stop> {
        while other != 0 {
            let at = other.trailing_zeros();
            if self.at + (at as usize) < self.numbers.checked {
                other &= other - 1;
                continue;
            }
            let from = match begun & (u64::MAX >> (63 - at)) {
                0 => self.numbers.began,
                begun => self.at + begun.ilog2() as usize,
            };
            let rest = word(&self.text[from..])?;
            self.numbers.checked = self.text.len() - rest.len();
        }
        Ok(())
    }
}

/// Reads a word or number that nothing of that kind follows.
#[inline(always)]
fn word(text: &[u8]) -> Rest<'_> {
    let rest = match text {
        [b't', b'r', b'u', b'e', rest @ ..] => rest,
        [b'n', b'u', b'l', b'l', rest @ ..] => rest,
        [b'f', b'a', b'l', b's', b'e', rest @ ..] => rest,
        [first, rest @ ..] if matches!(first, b'-' | b'0'..=b'9') => number(*first, rest)?,
        _ => return Err(Stop::NoValue),
    };
    match rest {
        [b',' | b']' | b'}', ..] => Ok(rest),
        [byte, ..] if is_white(*byte) => Ok(rest),
        _ => Err(Stop::NoValue),
    }
}

/// Whether a string has to be looked at closely.
#[inline(always)]
fn has_special(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(false, |any, byte| any | super::value::is_special(*byte))
}

/// From each bit to before the next: those from the first to the second, from the third to the
/// fourth, and so on.
#[inline(always)]
fn up_to_next(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// The byte behind each.
#[inline(always)]
fn next(bits: u64, open: &mut u64) -> u64 {
    let behind = bits << 1 | *open;
    *open = bits >> 63;
    behind
}

/// The first byte behind each that is not white space.
#[inline(always)]
fn behind_white(bits: u64, white: u64, open: &mut u64) -> u64 {
    let last = bits >> 63;
    // Added to a run of ones, a bit at its beginning comes out behind its end.
    let (behind, over) = (bits << 1 | *open).overflowing_add(white);
    *open = last | u64::from(over);
    behind & !white
}

/// What is behind the runs that begin with these bits, beside what is left of other runs.
#[inline(always)]
fn through(begins: u64, runs: u64, open: &mut u64) -> u64 {
    let (behind, over) = (begins | *open).overflowing_add(runs);
    *open = u64::from(over);
    behind
}

/// The last bit, for all.
#[inline(always)]
fn all_or_none(bits: u64) -> u64 {
    (bits >> 63).wrapping_neg()
}
