//! Whether a text is one JSON value: the answer of serde_json at a lower price, for what is only passed on.

use serde::de::IgnoredAny;

/// The deepest nesting that is followed here; of deeper texts serde_json is asked, which needs no stack for it.
const DEPTH_MAX: u32 = 64;

/// Bytes of a string that are looked at one by one before blocks are: most names end within them.
const NAME_BYTES: usize = 8;

/// Whether the text is one JSON value with nothing but white space around it.
pub fn is_value(text: &str) -> bool {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, is_deep: false };
    let found = scanner.value(0);
    if scanner.is_deep {
        return serde_json::from_str::<IgnoredAny>(text).is_ok();
    }
    found && scanner.token().is_none()
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// It is nested too deep.
    is_deep: bool,
}

impl Scanner<'_> {
    fn value(&mut self, depth: u32) -> bool {
        match self.token() {
            Some(b'"') => self.string(),
            Some(b'{') => self.list(depth, b'}', Scanner::member),
            Some(b'[') => self.list(depth, b']', |scanner, depth| scanner.value(depth)),
            Some(b't') => self.word(b"rue"),
            Some(b'f') => self.word(b"alse"),
            Some(b'n') => self.word(b"ull"),
            Some(b'-') => matches!(self.byte(), Some(digit @ b'0'..=b'9') if self.number(digit)),
            Some(digit @ b'0'..=b'9') => self.number(digit),
            _ => false,
        }
    }

    /// What is between brackets, with the closing one.
    fn list(&mut self, depth: u32, close: u8, item: impl Fn(&mut Self, u32) -> bool) -> bool {
        if depth == DEPTH_MAX {
            self.is_deep = true;
            return false;
        }
        let begun = self.at;
        if self.token() == Some(close) {
            return true;
        }
        self.at = begun;
        loop {
            if !item(self, depth + 1) {
                return false;
            }
            match self.token() {
                Some(b',') => {}
                Some(byte) => return byte == close,
                None => return false,
            }
        }
    }

    fn member(&mut self, depth: u32) -> bool {
        self.token() == Some(b'"')
            && self.string()
            && self.token() == Some(b':')
            && self.value(depth)
    }

    /// The rest of a string, with its closing quote.
    fn string(&mut self) -> bool {
        loop {
            self.pass_plain();
            match self.byte() {
                Some(b'"') => return true,
                Some(b'\\') if self.escape() => {}
                _ => return false,
            }
        }
    }

    /// Goes to the next byte that is not a plain part of a string.
    fn pass_plain(&mut self) {
        if self.pass_bytes(NAME_BYTES) {
            return;
        }
        self.pass_blocks::<64>();
        self.pass_blocks::<16>();
        self.pass_bytes(usize::MAX);
    }

    /// Passes plain bytes, at most so many; whether it came to one that is not.
    fn pass_bytes(&mut self, most: usize) -> bool {
        let rest = self.bytes[self.at..].iter().take(most);
        let plain = rest.take_while(|byte| !SPECIAL[usize::from(**byte)]).count();
        self.at += plain;
        plain < most
    }

    /// Passes blocks of plain bytes, without a branch for each byte: several are looked at with one instruction.
    fn pass_blocks<const BYTES: usize>(&mut self) {
        let has_special =
            |block: &[u8; BYTES]| block.iter().fold(false, |any, byte| any | is_special(*byte));
        while let Some(block) = self.bytes[self.at..].first_chunk()
            && !has_special(block)
        {
            self.at += BYTES;
        }
    }

    fn escape(&mut self) -> bool {
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
            Some(b'u') => (0..4).all(|_| self.byte().is_some_and(|byte| byte.is_ascii_hexdigit())),
            _ => false,
        }
    }

    /// The rest of a number that begins with this digit.
    fn number(&mut self, first: u8) -> bool {
        let more = self.pass_digits();
        if first == b'0' && more > 0 {
            return false;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.pass_digits() == 0 {
                return false;
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            return self.pass_digits() > 0;
        }
        true
    }

    fn pass_digits(&mut self) -> usize {
        let rest = &self.bytes[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn word(&mut self, rest: &[u8]) -> bool {
        let found = self.bytes[self.at..].starts_with(rest);
        self.at += rest.len();
        found
    }

    /// The next byte that is no white space.
    fn token(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => {}
                byte => return byte,
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.at += usize::from(byte.is_some());
        byte
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// The same as a table, for bytes that are looked at one by one.
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
const fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serde_says(text: &str) -> bool {
        serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    #[test]
    fn every_kind_of_value_is_one_and_what_is_nearly_one_is_not() {
        let long = "x".repeat(200);
        let values = [
            "{}",
            "[]",
            " [ ] ",
            "\"\"",
            "0",
            "-0",
            "10",
            "-1.5e+10",
            "1E5",
            "true",
            "false",
            "null",
            r#"{"a":[1,{"b":null}],"":"\u00e9\"\\\/\b\f\n\r\t"}"#,
            "\"\u{e9}\u{1f600}\"",
            "\t{\r\n}",
            &format!("\"{long}\\n{long}\""),
            r#""\ud800""#,
        ];
        for text in values {
            assert!(is_value(text) && serde_says(text), "{text}");
        }
        let others = [
            "",
            " ",
            "{",
            "}",
            "[1",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "tru",
            "nulL",
            "\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u12\"",
            "{} {}",
            "1 2",
            "\"a\tb\"",
            "[1}",
            "{\"a\":1]",
            "\u{feff}1",
            &format!("\"{long}\n{long}\""),
            "nul",
            "[1 2]",
        ];
        for text in others {
            assert!(!is_value(text) && !serde_says(text), "{text}");
        }
    }

    #[test]
    fn nesting_of_any_depth_is_judged() {
        for depth in [63, 64, 65, 66, 5_000] {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            assert!(is_value(&format!("{open}{close}")), "{depth}");
            assert!(!is_value(&format!("{open}{}", &close[1..])), "{depth}");
        }
    }

    /// Texts that are nearly JSON: one answer, whoever is asked.
    #[test]
    fn no_text_is_judged_otherwise_than_by_serde_json() {
        let seeds = [
            r#"{"content":[{"type":"text","text":"a \"b\" \u00e9 \\ c and more than sixteen bytes"}],"isError":false}"#,
            r#"[0,-1,1.25,3e8,-4E-2,true,false,null,"",{},[],{"a":{"b":[[]]}}]"#,
        ];
        let alphabet = br#"{}[]:,"\/u0123456789eE+-. abtfnrl"#;
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) as usize % below
        };
        let mut values = 0;
        for round in 0..100_000 {
            let mut text = seeds[round % seeds.len()].as_bytes().to_vec();
            for _ in 0..=next(3) {
                let at = next(text.len());
                match next(3) {
                    0 => text[at] = alphabet[next(alphabet.len())],
                    1 => drop(text.remove(at)),
                    _ => text.insert(at, alphabet[next(alphabet.len())]),
                }
            }
            let text = String::from_utf8(text).unwrap();
            assert_eq!(is_value(&text), serde_says(&text), "{text}");
            values += usize::from(is_value(&text));
        }
        assert!((10_000..90_000).contains(&values), "{values} were values");
    }
}
