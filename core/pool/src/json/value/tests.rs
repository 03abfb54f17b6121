//! Every answer is that of serde_json, whichever way a text is read.

use super::*;

fn serde_says(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// What is said of a text, by bytes and, of objects and arrays, by blocks.
#[track_caller]
fn judged(text: &str) -> bool {
    let by_bytes = is_all(text, value(text.as_bytes()));
    if text.trim_ascii_start().starts_with(['{', '[']) {
        assert_eq!(is_all(text, blocks::value(text.as_bytes())), by_bytes, "{text}");
    }
    assert_eq!(is_value(text), by_bytes, "{text}");
    by_bytes
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
        assert!(judged(text) && serde_says(text), "{text}");
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
        assert!(!judged(text) && !serde_says(text), "{text}");
    }
}

#[test]
fn nesting_of_any_depth_is_judged() {
    for depth in [63, 64, 65, 66, 5_000] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        assert!(judged(&format!("{open}{close}")), "{depth}");
        assert!(!judged(&format!("{open}{}", &close[1..])), "{depth}");
    }
}

/// Bytes are looked at in blocks of several sizes: what ends a run is seen at every place in every
/// one of them.
#[test]
fn what_ends_a_string_or_a_number_is_seen_wherever_it_stands() {
    let endings =
        ["\"", "\\", "\\n", "\n", "\u{1f}", "\u{7f}", "\u{e9}", "!", "/", ":", ".", "e", "0"];
    for length in 0..150 {
        for ending in endings {
            for behind in ["", "\"", "1", "x\"", "                \""] {
                for run in ["\"x", "1", "-2", "0.3", "4e"] {
                    let repeated = &run[run.len() - 1..];
                    let text = format!("[{run}{}{ending}{behind}]", repeated.repeat(length));
                    assert_eq!(judged(&text), serde_says(&text), "{text}");
                }
            }
        }
    }
}

/// Texts that are nearly JSON: every reader gives the same answer.
#[test]
fn no_text_is_judged_otherwise_than_by_serde_json() {
    let seeds = [
        r#"{"content":[{"type":"text","text":"a \"b\" \u00e9 \\ c and more than sixteen bytes"}],"isError":false}"#,
        r#"[0,-1,1.25,3e8,-4E-2,true,false,null,"",{},[],{"a":{"b":[[]]}}]"#,
        r#"{"rows":[{"id":9007199254740993,"name":"row","ratio":-0.000000125,"ok":true},{"id":-12345678}]}"#,
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
        assert_eq!(judged(&text), serde_says(&text), "{text}");
        values += usize::from(judged(&text));
    }
    assert!((10_000..90_000).contains(&values), "{values} were values");
}

/// Numbers that are random enough, and the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn white(&mut self, text: &mut String) {
        text.push_str(self.one_of(&["", "", "", " ", "  ", "\t", "\r\n"]));
    }

    fn string(&mut self, text: &mut String) {
        let parts =
            ["a", "key", "\\\"", "\\\\", "\\n", "\\u00e9", "\\/", "\u{e9}", "{", "]", ",:", "  "];
        text.push('"');
        for _ in 0..self.below(9) {
            text.push_str(self.one_of(&parts));
        }
        text.push('"');
    }

    fn value(&mut self, depth: usize, text: &mut String) {
        let scalars = [
            "0",
            "-0",
            "17",
            "-3.25",
            "6e5",
            "1.5E-07",
            "true",
            "false",
            "null",
            "12345678901234567890",
        ];
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 => text.push_str(self.one_of(&scalars)),
            1 | 2 => self.string(text),
            kind => {
                let is_object = kind == 3;
                text.push(if is_object { '{' } else { '[' });
                for at in 0..self.below(4) {
                    text.push_str(if at > 0 { "," } else { "" });
                    self.white(text);
                    if is_object {
                        self.string(text);
                        self.white(text);
                        text.push(':');
                        self.white(text);
                    }
                    self.value(depth - 1, text);
                    self.white(text);
                }
                text.push(if is_object { '}' } else { ']' });
            }
        }
    }
}

#[test]
fn random_values_are_values_and_each_with_another_byte_is_what_serde_json_says() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let others = b"{}[]:,\"\\/0159eE+-. \n\ttrufalsn\x00\x1f\x7f";
    let mut values = [0; 2];
    for _ in 0..120 {
        let mut text = String::from("[");
        while text.len() < 150 {
            random.value(4, &mut text);
            text.push(',');
        }
        text.push_str("{}]");
        assert!(judged(&text) && serde_says(&text), "{text}");
        for at in (0..text.len()).filter(|at| text.as_bytes()[*at].is_ascii()) {
            for other in others {
                let mut changed = text.clone().into_bytes();
                changed[at] = *other;
                let changed = String::from_utf8(changed).unwrap();
                let says = serde_says(&changed);
                assert_eq!(judged(&changed), says, "{changed}");
                values[usize::from(says)] += 1;
            }
        }
    }
    assert!(values.iter().all(|count| *count > 50_000), "{values:?}");
}

/// All that is more than one byte, right and wrong.
const PIECES: &[&str] = &[
    "123",
    "-12",
    "-0",
    "00",
    "-01",
    "0.5",
    "1.25",
    "1..5",
    "1.2.3",
    "1.",
    "-",
    "-.5",
    "1e5",
    "1.5e-10",
    "1e",
    "1e5.5",
    "12e3e4",
    "1-2",
    "true",
    "tru",
    "truex",
    "false",
    "fals",
    "falsey",
    "null",
    "nul",
    "nullnull",
    "\"a\"",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"\\\\\\\"\"",
    "\"\\u00e9\"",
    "\"\\u00g9\"",
    "\"\\u00\"",
    "\"\\x\"",
    "\"a\tb\"",
    "\"a\"\"b\"",
    "\"a\" \"b\"",
    "1 2",
    "[]",
    "{}",
    "[ ]",
    "{ }",
    "[}",
    "{]",
    "{\"a\":1}",
    "{\"a\" :  1 ,\"b\": 2}",
    "{\"a\"}",
    "{\"a\",1}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,}",
    "{1:2}",
    "{\"a\":\"b\":1}",
    "{\"a\":[1,\"b\"],\"c\":1}",
    "[\"a\":1]",
    "[{\"a\":1},\"b\":1]",
    "{\"a\":[1],2}",
    "[1,]",
    "[,1]",
    "1,,2",
    "1:2",
    ":",
    "\\",
    "\\\"",
    "\u{e9}",
    "\"\u{e9}\"",
    "+1",
    "{\"\\\"\":1}",
    "{\"a\\\\\":1}",
    "[1]]",
    "]",
    "1]  [2",
];

/// A block ends anywhere in all that is more than one byte, or looks back.
#[test]
fn what_lies_across_the_border_of_two_blocks_is_read_as_anything_else() {
    for piece in PIECES {
        for offset in 0..=64 {
            let (white, run) = (" ".repeat(offset), "x".repeat(offset));
            for text in [
                format!("{white}[{piece}]"),
                format!("[{piece}{white}]"),
                format!("[{piece},{white}{piece}{white},\"{run}\",{piece}]{white}"),
                format!("[\"{run}\",{piece}]"),
                format!("{{\"{run}\":{piece},\"{run}\":{piece}}}"),
                format!("{{{piece}{white}:1,{white}{piece}:2}}"),
                format!("[1{},{piece}]", "0".repeat(offset)),
                format!("[0.1{}{piece}]", "0".repeat(offset)),
            ] {
                assert_eq!(judged(&text), serde_says(&text), "{text}");
            }
        }
    }
}

#[test]
fn escapes_are_told_from_backslashes_wherever_a_block_ends() {
    for offset in 0..=64 {
        for backslashes in (0..=9).chain([63, 64, 65, 127, 128, 129]) {
            let long = ["n", "x", "\"", ""].map(|first| format!("{first}{}\"", "y".repeat(150)));
            let short = ["\"", "n\"", "u00e9\"", "u00e\"", "x\"", "\"\"", "\",\"y\"", ""];
            for end in short.into_iter().chain(long.iter().map(String::as_str)) {
                let run = format!("{}{}{end}", "x".repeat(offset), "\\".repeat(backslashes));
                for text in [format!("[\"{run}]"), format!("{{\"{run}:\"{run}}}")] {
                    assert_eq!(judged(&text), serde_says(&text), "{text}");
                }
            }
        }
    }
}

#[test]
fn mixed_nesting_of_any_depth_is_judged() {
    for depth in [1, 31, 32, 62, 63, 64, 65, 126, 127, 128, 129, 500] {
        for nested in ["[{\"a\":", "[", "{\"a\":"] {
            let open = nested.repeat(depth);
            let close: String = open
                .bytes()
                .rev()
                .filter_map(|byte| match byte {
                    b'[' => Some(']'),
                    b'{' => Some('}'),
                    _ => None,
                })
                .collect();
            let other = if close.starts_with(']') { '}' } else { ']' };
            for text in [
                format!("{open}1{close}"),
                format!("{open}1{close}]"),
                format!("{open}1{}", &close[1..]),
                format!("{open}1{other}{}", &close[1..]),
                format!("[{open}1{close},2,{{\"b\":3}}]"),
                format!("[{open}1{close},\"b\":3]"),
            ] {
                assert_eq!(judged(&text), serde_says(&text), "{text}");
            }
        }
    }
}

/// What a number leaves open for the next block is closed by it, whatever the blocks between hold.
#[test]
fn rows_of_numbers_are_judged() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let kinds =
        ["7", "12", "300", "4567", "0", "-8", "0.25", "-1.5", "10.125", "2e9", "\"s\"", "true"];
    for round in 0..20_000 {
        let common = random.below(kinds.len());
        let mut text = String::from("[");
        while text.len() < 260 {
            let rare = random.below(12) == 0;
            text.push_str(if rare { random.one_of(&kinds) } else { kinds[common] });
            text.push(',');
        }
        text.push_str("0]");
        assert!(judged(&text) && serde_says(&text), "{text}");
        if round % 4 == 0 {
            let at = 1 + random.below(text.len() - 1);
            text.insert(at, ['.', '-', '0', 'e', ' '][random.below(5)]);
            assert_eq!(judged(&text), serde_says(&text), "{text}");
        }
    }
}
