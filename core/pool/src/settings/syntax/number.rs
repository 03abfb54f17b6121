//! Numbers as the three syntaxes write them.

use serde_json::Number;

use super::node::Content;

/// What is said of a number that a double does not hold exactly, or that is none.
const RANGE: &str = "is a number out of range";

/// Whole numbers from here on are not all doubles.
const EXACT_DOUBLE: f64 = 9_007_199_254_740_992.0;

/// A whole number of that base, with or without a sign.
pub(super) fn whole(digits: &str, radix: u32, written: &str) -> Content {
    let number = match digits.strip_prefix('-') {
        Some(_) => i64::from_str_radix(digits, radix).ok().map(Number::from),
        None => u64::from_str_radix(digits, radix).ok().map(Number::from),
    };
    match number {
        Some(number) => Content::Number(number, written.into()),
        None => Content::Flawed(RANGE),
    }
}

/// A number with a point, an exponent, or neither.
pub(super) fn decimal(written: &str) -> Content {
    let is_whole = !written.contains(['.', 'e', 'E']);
    if is_whole && written.trim_start_matches(['+', '-']).bytes().all(|b| b.is_ascii_digit()) {
        return whole(written, 10, written);
    }
    let number = written.parse::<f64>().ok().filter(|number| number.abs() < EXACT_DOUBLE);
    match number.and_then(Number::from_f64) {
        Some(number) => Content::Number(number, written.into()),
        None => Content::Flawed(RANGE),
    }
}

/// A number of JSON5: also with a sign, and in hexadecimal.
pub(super) fn loose(written: &str) -> Content {
    let (sign, digits) = match written.strip_prefix(['+', '-']) {
        Some(digits) => (&written[..1], digits),
        None => ("", written),
    };
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => whole(&format!("{}{digits}", sign.trim_start_matches('+')), 16, written),
        None => decimal(written),
    }
}
