//! Secrets taken out of what a server says beside its answers (S-48): what it prints, its errors,
//! log messages and reports of progress, and what it calls itself. The result of a call is the
//! caller's, and so are the lists; both pass unchanged.
//!
//! Values under eight characters pass: they are words like `true` and ports, and every log would
//! become unreadable. All overlapping finds are taken, since a secret that begins inside another
//! one would show its end.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use arc_swap::{ArcSwap, ArcSwapOption};
use serde_json::Value;

/// Characters from which on a value counts as a secret: shorter ones are words and numbers, found
/// everywhere.
const SECRET_CHARS_MIN: usize = 8;

/// What stands for a secret.
const REDACTED: &[u8] = b"[redacted]";

/// Secrets of one source that are remembered when they came while a connection ran; of more the
/// oldest are forgotten.
const LEARNED_MAX: usize = 32;

/// Finds the values that must not be shown.
pub(crate) struct Redactor {
    /// Those of the configuration.
    configured: Values,
    /// Those that came later: the connection's own, and those that it shares with others.
    learned: Vec<Arc<Learned>>,
    /// Bytes of a secret from which on it is known.
    compared_max: usize,
    /// What was looked for last.
    current: ArcSwapOption<Secrets>,
}

type Values = Vec<Arc<[u8]>>;

/// Secrets that come to be known while connections run: tokens, and what names a session.
#[derive(Default)]
pub(crate) struct Learned(ArcSwap<Values>);

impl Learned {
    /// From here on, this is not shown.
    pub(crate) fn learn(&self, secret: &str) {
        let secret = secret.trim();
        if secret.chars().count() < SECRET_CHARS_MIN {
            return;
        }
        if self.0.load().last().is_some_and(|last| **last == *secret.as_bytes()) {
            return;
        }
        self.0.rcu(|known| {
            let others = known.iter().filter(|other| ***other != *secret.as_bytes());
            let mut known: Values = others.cloned().collect();
            known.drain(..(known.len() + 1).saturating_sub(LEARNED_MAX));
            known.push(secret.as_bytes().into());
            known
        });
    }
}

impl Learned {
    /// From here on, these are not shown, and what was known before is forgotten.
    pub(crate) fn hold<'a>(&self, secrets: impl Iterator<Item = &'a str>) {
        let secrets = secrets.map(str::trim);
        let secrets = secrets.filter(|secret| secret.chars().count() >= SECRET_CHARS_MIN);
        let secrets: Values = secrets.map(|secret| secret.as_bytes().into()).collect();
        // Another list, though it says the same, has the search made anew.
        if **self.0.load() != secrets {
            self.0.store(Arc::new(secrets));
        }
    }
}

/// Without the secrets.
impl std::fmt::Debug for Learned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Learned([redacted])")
    }
}

/// Secrets that are looked for together.
struct Secrets {
    /// What had been learned.
    learned: Vec<Arc<Values>>,
    values: Values,
    /// Finds the beginnings of the values, by which they are known. None where there are no values.
    search: Option<AhoCorasick>,
    /// The length of the longest beginning.
    longest: usize,
}

impl Secrets {
    fn new(values: Values, learned: Vec<Arc<Values>>, compared_max: usize) -> Secrets {
        let beginnings = values.iter().map(|secret| &secret[..secret.len().min(compared_max)]);
        let longest = beginnings.clone().map(<[u8]>::len).max().unwrap_or(0);
        // A table for each byte would be faster, and takes megabytes of some configurations.
        let made = || {
            let mut builder = AhoCorasick::builder();
            builder.kind(Some(AhoCorasickKind::ContiguousNFA));
            builder.build(beginnings).expect("the secrets are far below two gigabytes")
        };
        let search = (longest > 0).then(made);
        Secrets { learned, values, search, longest }
    }

    /// Where secrets are that begin in the first `shown` bytes, in order. What overlaps or touches
    /// is one.
    fn found(&self, text: &[u8], shown: usize) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let Some(search) = &self.search else { return found };
        let text = &text[..text.len().min(shown + self.longest)];
        for begun in search.find_overlapping_iter(text).filter(|begun| begun.start() < shown) {
            let rest = self.values[begun.pattern()][begun.len()..].iter();
            let more = rest.zip(&text[begun.end()..]).take_while(|(one, other)| one == other);
            let (mut start, mut end) = (begun.start(), begun.end() + more.count());
            // They come by their ends, so that each overlaps all that end after its start.
            while let Some(last) = found.pop_if(|last| last.end >= start) {
                (start, end) = (start.min(last.start), end.max(last.end));
            }
            found.push(start..end);
        }
        found
    }
}

impl Redactor {
    /// Knows these values; of one of several lines, each line. `shown_max` is the most that is ever
    /// shown of one text, in bytes.
    pub(crate) fn new<'a>(values: impl Iterator<Item = &'a String>, shown_max: usize) -> Self {
        let lines = values.flat_map(|value| value.lines()).map(str::trim);
        let secrets = lines.filter(|line| line.chars().count() >= SECRET_CHARS_MIN);
        let configured = secrets.map(|line| line.as_bytes().into()).collect();
        let (learned, current) = (vec![Arc::default()], ArcSwapOption::empty());
        Redactor { configured, learned, compared_max: shown_max, current }
    }

    /// Knows what is learned there as well.
    pub(crate) fn with(mut self, learned: Arc<Learned>) -> Self {
        self.learned.push(learned);
        self
    }

    /// From here on, this is not shown.
    pub(crate) fn learn(&self, secret: &str) {
        self.learned[0].learn(secret);
    }

    /// What is known now: made anew only after something was learned.
    fn secrets(&self) -> Arc<Secrets> {
        if let Some(current) = &*self.current.load() {
            let learned = self.learned.iter().map(|learned| Arc::as_ptr(&learned.0.load()));
            if learned.eq(current.learned.iter().map(Arc::as_ptr)) {
                return current.clone();
            }
        }
        let learned: Vec<_> = self.learned.iter().map(|learned| learned.0.load_full()).collect();
        let values = learned.iter().flat_map(|learned| learned.iter());
        let values = self.configured.iter().chain(values).cloned().collect();
        let secrets = Arc::new(Secrets::new(values, learned, self.compared_max));
        self.current.store(Some(secrets.clone()));
        secrets
    }

    /// Bytes of a text that have to be known beyond those that are shown, so that none is shown of
    /// a secret at the cut.
    pub(crate) fn margin(&self) -> usize {
        self.secrets().longest
    }

    /// A whole text without the secrets.
    pub(crate) fn text(&self, text: &str) -> String {
        text_without(&self.secrets(), text)
    }

    /// A JSON text without the secrets, names of members included; the same text when there are
    /// none in it.
    ///
    /// It goes from string to string, so that nothing else, such as a number that fits nowhere or
    /// any depth, has to be understood. A string that cannot be read goes whole: what would be
    /// found in it is not known.
    pub(crate) fn json<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let secrets = self.secrets();
        if secrets.search.is_none() {
            return text.into();
        }
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        while let Some(quote) = memchr::memchr(b'"', &text.as_bytes()[at..]) {
            let begin = at + quote;
            let end = end_of_string(text.as_bytes(), begin);
            at = end;
            let shown = match serde_json::from_str::<String>(&text[begin..end]) {
                Ok(string) => {
                    Some(text_without(&secrets, &string)).filter(|shown| *shown != string)
                }
                Err(_) => Some(String::from_utf8_lossy(REDACTED).into_owned()),
            };
            if let Some(shown) = shown {
                out.push_str(&text[copied..begin]);
                out.push_str(&Value::from(shown).to_string());
                copied = end;
            }
        }
        if copied == 0 {
            return text.into();
        }
        out.push_str(&text[copied..]);
        out.into()
    }

    /// The first `shown` bytes of the text, without the secrets that begin in them. Secrets that
    /// overlap or touch become one.
    pub(crate) fn redact(&self, text: &[u8], shown: usize) -> Vec<u8> {
        redact_from(&self.secrets(), text, shown)
    }
}

fn text_without(secrets: &Secrets, text: &str) -> String {
    let shown = redact_from(secrets, text.as_bytes(), text.len());
    String::from_utf8_lossy(&shown).into_owned()
}

fn redact_from(secrets: &Secrets, text: &[u8], shown: usize) -> Vec<u8> {
    let shown = text.len().min(shown);
    let (mut out, mut at) = (Vec::with_capacity(shown), 0);
    for hidden in secrets.found(text, shown) {
        out.extend_from_slice(&text[at..hidden.start]);
        out.extend_from_slice(REDACTED);
        at = hidden.end.min(shown);
    }
    out.extend_from_slice(&text[at..shown]);
    out
}

/// Where the string that begins with the quote at `begin` ends, behind its closing quote.
fn end_of_string(text: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += found + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        // What is escaped is passed over.
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(values: &[&str], text: &str, shown: usize) -> String {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let redactor = Redactor::new(values.iter(), 40);
        String::from_utf8(redactor.redact(text.as_bytes(), shown)).unwrap()
    }

    /// S-48.
    #[test]
    fn values_of_eight_characters_are_secrets_and_shorter_ones_are_not() {
        let values = ["password", "seven77", "\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}"];
        let text = "a password, seven77, \u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}!passwor";
        assert_eq!(redacted(&values, text, 99), "a [redacted], seven77, [redacted]!passwor");
        assert_eq!(redacted(&[], text, 3), "a p");
    }

    /// S-48, S-35: what came while a connection ran, from there on; of much the newest.
    #[test]
    fn what_is_learned_later_is_a_secret_too() {
        let (values, shared) = (["configured".to_owned()], Arc::<Learned>::default());
        let redactor = Redactor::new(values.iter(), 40).with(shared.clone());
        assert_eq!(
            redactor.text("configured token-abc session-abc"),
            "[redacted] token-abc session-abc"
        );
        shared.learn("token-abc");
        redactor.learn("session-abc");
        redactor.learn("short");
        assert_eq!(redactor.text("token-abc session-abc short"), "[redacted] [redacted] short");
        assert_eq!(
            redactor.json(r#"{"a":"Bearer tok\u0065n-abc"}"#),
            r#"{"a":"Bearer [redacted]"}"#
        );
        assert_eq!((redactor.margin(), format!("{shared:?}").contains("abc")), (11, false));
        (0..LEARNED_MAX).for_each(|number| shared.learn(&format!("token-{number:03}")));
        let text = format!("token-abc token-000 token-{:03}", LEARNED_MAX - 1);
        assert_eq!(redactor.text(&text), "token-abc [redacted] [redacted]");
    }

    /// S-48: as if every secret were compared at every place.
    #[test]
    fn what_is_found_in_one_pass_is_what_comparing_finds() {
        let mut seed = 7_u64;
        let mut letters = |count: u64| -> String {
            let mut letter = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if seed >> 61 == 0 { 'b' } else { 'a' }
            };
            (0..count).map(|_| letter()).collect()
        };
        for round in 0..400 {
            let values: Vec<String> = (0..round % 4).map(|n| letters(8 + n * 5)).collect();
            let (text, shown) = (letters(60), 50);
            let mut hidden = [false; 61];
            for (at, secret) in (0..shown).flat_map(|at| values.iter().map(move |it| (at, it))) {
                let equal = secret.bytes().zip(text[at..].bytes());
                let equal = equal.take_while(|(one, other)| one == other).count();
                if equal >= secret.len().min(15) {
                    hidden[at..at + equal].fill(true);
                }
            }
            let mut expected = String::new();
            for (at, letter) in text[..shown].char_indices() {
                match hidden[at] {
                    true if at > 0 && hidden[at - 1] => {}
                    true => expected.push_str("[redacted]"),
                    false => expected.push(letter),
                }
            }
            let found = Redactor::new(values.iter(), 15).redact(text.as_bytes(), shown);
            assert_eq!(String::from_utf8(found).unwrap(), expected, "{text} {values:?}");
        }
    }

    /// S-48: the search is made once for all texts, however many secrets there are.
    #[test]
    fn the_search_is_made_anew_only_after_something_was_learned() {
        let values: Vec<String> = (0..1_000).map(|number| format!("secret-{number:04}")).collect();
        let redactor = Redactor::new(values.iter(), 40);
        assert_eq!(redactor.text("a secret-0007!"), "a [redacted]!");
        let first = redactor.secrets();
        assert!(Arc::ptr_eq(&first, &redactor.secrets()));
        redactor.learn("token-abc");
        assert!(!Arc::ptr_eq(&first, &redactor.secrets()));
        let second = redactor.secrets();
        redactor.learn("token-abc");
        assert!(Arc::ptr_eq(&second, &redactor.secrets()), "it was known");
        let jar = Arc::<Learned>::default();
        let redactor = redactor.with(jar.clone());
        jar.hold(["cookie-123"].into_iter());
        let third = redactor.secrets();
        jar.hold(["cookie-123"].into_iter());
        assert!(Arc::ptr_eq(&third, &redactor.secrets()), "they were held");
        assert_eq!(redactor.text("a cookie-123!"), "a [redacted]!");
    }

    /// S-48: each line of a key is one.
    #[test]
    fn every_line_of_a_long_value_is_a_secret() {
        let key = "-----BEGIN\nabcdefghijkl\n  mnopqrstuvwx  \nend";
        assert_eq!(redacted(&[key], "<abcdefghijkl|mnopqrstuvwx>", 99), "<[redacted]|[redacted]>");
    }

    /// S-48.
    #[test]
    fn secrets_that_overlap_or_touch_leave_nothing_between_them() {
        let values = ["abcdefgh12", "gh12345678", "abcdefgh"];
        assert_eq!(redacted(&values, ".abcdefgh12345678.", 99), ".[redacted].");
        assert_eq!(redacted(&values, "abcdefghabcdefgh", 99), "[redacted]");
        assert_eq!(redacted(&values, "abcdefg", 99), "abcdefg");
    }

    /// S-48: in JSON a secret is found as it is meant, not as it is spelled.
    #[test]
    fn a_secret_is_found_in_every_string_of_a_document() {
        let values = ["with \"quotes\"".to_owned(), "l".repeat(100)];
        let redactor = Redactor::new(values.iter(), 40);
        let long = &values[1];
        let text =
            format!(r#"{{"a":["with \"quotes\"",1.50],"with \u0022quotes\"":{{"b":"x{long}y"}}}}"#);
        let shown: Value = serde_json::from_str(&redactor.json(&text)).unwrap();
        let expected = r#"{"[redacted]":{"b":"x[redacted]y"},"a":["[redacted]",1.5]}"#;
        assert_eq!(shown, serde_json::from_str::<Value>(expected).unwrap());
        let clean = r#"{"n":9007199254740993123, "a":1.50}"#;
        assert!(matches!(redactor.json(clean), Cow::Borrowed(text) if text == clean));
        assert_eq!(redactor.json("no JSON"), "no JSON");
    }

    /// S-48: also where a document holds what no value can: a number out of range, any depth, a
    /// string that is none.
    #[test]
    fn a_secret_is_found_in_a_document_that_cannot_be_kept_as_a_value() {
        let values = ["se\"cret\\word".to_owned()];
        let redactor = Redactor::new(values.iter(), 40);
        let number = r#"{"message":"a se\"cr\u0065t\\word","x":1e999}"#;
        assert_eq!(redactor.json(number), r#"{"message":"a [redacted]","x":1e999}"#);
        let deep = format!(r#"{}"se\"cret\\word",""{}"#, "[".repeat(500), "]".repeat(500));
        let expected = format!(r#"{}"[redacted]",""{}"#, "[".repeat(500), "]".repeat(500));
        assert_eq!(redactor.json(&deep), expected);
        let lone = r#"["\ud800 se\"cret\\word", "\\"]"#;
        assert_eq!(redactor.json(lone), r#"["[redacted]", "\\"]"#);
        assert_eq!(redactor.json(r#"["se\"cret\\word"#), r#"["[redacted]""#);
    }

    /// S-48: a secret that the cut goes through is not shown in part, however long it is.
    #[test]
    fn nothing_of_a_secret_is_shown_at_the_cut() {
        let long = "s".repeat(39) + &"t".repeat(100);
        assert_eq!(redacted(&[&long], &format!("0123456789{long}"), 20), "0123456789[redacted]");
        assert_eq!(redacted(&[&long], &long, 40), "[redacted]");
    }
}
