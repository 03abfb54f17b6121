//! Files of variables.

use crate::expand::parse_dotenv;

fn read(text: &str) -> Vec<(String, String)> {
    parse_dotenv(text).unwrap().into_iter().collect()
}

/// SPEC 10.6: what a file of variables says.
#[test]
fn each_line_is_a_variable() {
    let text = "\u{feff}# comment\n\n  \t\r\nA=1\r\n B = two words  # comment\nexport C='single $A \\n'\n\
                D=\"double \\\"quoted\\\" \\n\\t\\\\ \\$A # no comment\" # comment\nE=\nF=a#b=c\nA=2\nG.h-1=x\n\
                exported=1\nI='two\nlines' \nJ=it's\nK=${A} $A\nL=#\n\tM\t=\tx";
    let expected = [
        ("A", "2"),
        ("B", "two words"),
        ("C", "single $A \\n"),
        ("D", "double \"quoted\" \n\t\\ $A # no comment"),
        ("E", ""),
        ("F", "a#b=c"),
        ("G.h-1", "x"),
        ("I", "two\nlines"),
        ("J", "it's"),
        ("K", "${A} $A"),
        ("L", ""),
        ("M", "x"),
        ("exported", "1"),
    ];
    assert_eq!(read(text), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert!(read("").is_empty());
}

#[test]
fn a_line_that_is_none_is_named_and_not_shown() {
    let table = [
        ("A=1\nnothing", 2),
        ("A='x\ny\nz'\n=x", 4),
        ("1A=x", 1),
        ("A B=x", 1),
        ("\n\nA=\"x", 3),
        ("A='x' y", 1),
        ("A=\"x\\", 1),
        ("A=x\0", 1),
    ];
    for (text, line) in table {
        assert_eq!(parse_dotenv(text).unwrap_err().line, line, "{text:?}");
    }
}

/// The time is that of one pass, however many lines there are.
#[test]
fn a_long_file_is_read_in_one_pass() {
    let text = "A=1\n".repeat(200_000);
    assert_eq!(read(&text).len(), 1);
}
