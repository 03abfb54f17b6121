//! What a person reads of a command line.

use std::collections::BTreeMap;

use crate::approvals::{escaped_line, escaped_text};
use crate::base::random::Random;

/// Texts that hide, reorder, imitate or break: each character of these classes in each of these
/// places.
fn corpus() -> Vec<Vec<String>> {
    let classes: [&[u32]; 9] = [
        &[0x1b, 0x07, 0x08, 0x0d, 0x0a, 0x09, 0x00, 0x7f],
        &[0x80, 0x85, 0x9b, 0x9c, 0x9d, 0x9f],
        &[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x61c, 0x200e],
        &[0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xad, 0x180e, 0x34f, 0x3164, 0x115f],
        &[0xe0001, 0xe0041, 0xe007f, 0xfe0f, 0xe0100, 0xfff9],
        &[0xa0, 0x2003, 0x202f, 0x205f, 0x3000, 0x2028, 0x2029],
        &[0x430, 0x435, 0x3bf, 0xff41, 0x1d44e, 0x2010, 0x2013, 0x2212, 0x2215, 0x29f8],
        &[0x301, 0x338, 0x20d2, 0xe9, 0x65],
        &[0x22, 0x27, 0x5c, 0x20, 0x24, 0x60, 0x7b, 0x7d],
    ];
    let characters = classes.into_iter().flatten().filter_map(|code| char::from_u32(*code));
    let places = |c: char| {
        [
            vec!["npx".to_owned(), format!("a{c}b")],
            vec![format!("{c}npx"), "ab".to_owned()],
            vec!["npx".to_owned(), "a".to_owned(), c.to_string(), "b".to_owned()],
            vec!["npx".to_owned(), format!("ab{c}{c}")],
            vec!["npx".to_owned(), format!("a\\u{{{:x}}}b", u32::from(c))],
            vec!["npx".to_owned(), format!("\"a{c}\" b")],
            vec!["npx".to_owned(), format!("\x1b]8;;{c}\x07x")],
            vec![format!("npx a{c}b")],
        ]
    };
    characters.flat_map(places).collect()
}

/// SPEC 12.5, S-10: over 500 command lines: visible ASCII alone, nothing cut, and no two of them
/// alike.
#[test]
fn no_two_command_lines_look_alike() {
    let corpus = corpus();
    assert!(corpus.len() >= 500, "{}", corpus.len());
    let mut seen: BTreeMap<String, &Vec<String>> = BTreeMap::new();
    for argv in &corpus {
        let line = escaped_line(argv.iter().map(String::as_str));
        assert!(line.chars().all(|c| matches!(c, ' '..='~')), "{line:?}");
        if let Some(other) = seen.insert(line.clone(), argv) {
            assert_eq!(other, argv, "{line}");
        }
        assert_eq!(&read_back(&line), argv, "{line}");
    }
}

/// SPEC 12.5, S-10: the same for 20,000 generated ones, and for one of a megabyte.
#[test]
fn every_command_line_can_be_read_back() {
    let mut random = Random::new(12);
    let letters: Vec<char> = "ab \\\"u{}1\n\u{202e}\u{e9}-".chars().collect();
    for _ in 0..20_000 {
        let argv: Vec<String> = (0..=random.below(4)).map(|_| random.word(&letters, 6)).collect();
        assert_eq!(read_back(&escaped_line(argv.iter().map(String::as_str))), argv);
    }
    let long = "\u{202e}x".repeat(1 << 18);
    assert_eq!(read_back(&escaped_line([long.as_str()])), [long]);
}

/// S-10, S-49: what is plain stays readable, and an empty argument is seen.
#[test]
fn a_plain_command_line_stands_as_it_is() {
    assert_eq!(escaped_line(["npx", "-y", "@scope/pkg@1.2.3"]), "npx -y @scope/pkg@1.2.3");
    assert_eq!(escaped_line(["sh", "-c", "echo hi", ""]), r#"sh -c "echo hi" """#);
    assert_eq!(escaped_text("/a b/\u{fc}\n"), r"/a b/\u{fc}\n");
    assert_eq!(escaped_line([]), "");
}

/// What a line says, by the rules of `docs/guide/approvals.md`.
fn read_back(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (argument, left) = match rest.strip_prefix('"') {
            Some(quoted) => read_quoted(quoted),
            None => {
                let (plain, left) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
                (plain.to_owned(), left)
            }
        };
        out.push(argument);
        rest = left.strip_prefix(' ').unwrap_or(left);
    }
    out
}

fn read_quoted(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return (out, &text[index + 1..]),
            '\\' => match characters.next().unwrap().1 {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'u' => {
                    let digits: String = characters
                        .by_ref()
                        .map(|(_, c)| c)
                        .skip_while(|c| *c == '{')
                        .take_while(|c| *c != '}')
                        .collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
                }
                plain => out.push(plain),
            },
            plain => out.push(plain),
        }
    }
    panic!("no end: {text}")
}
