//! What a server says in the place of an answer: its status, its content type and the first words,
//! for who reads the error.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use trunkline_pool::json::{lossy_members, readable, readable_members};
use trunkline_pool::lenient::{kinds, lenient};

use super::error_context::{ErrorContext, SHOWN_CHARS_MAX, shown};
use crate::Error;
use crate::net::headers::coding;

/// What came in the place of an answer, as far as it is told.
pub(in crate::transport::http) struct AnswerExcerpt<'a> {
    pub status: StatusCode,
    pub headers: &'a HeaderMap,
    /// Its beginning.
    pub body: &'a [u8],
}

impl AnswerExcerpt<'_> {
    /// The error with all three. The words stand in its message too where the caller put them
    /// there.
    pub(in crate::transport::http) fn told(
        &self,
        context: &dyn ErrorContext,
        error: Error,
    ) -> Error {
        let error = error.with_detail("status", self.status.as_u16());
        let error = match self.media_type() {
            Some(found) => {
                error.with_detail("content_type", shown(context, &found, SHOWN_CHARS_MAX))
            }
            None => error,
        };
        match self.words(context) {
            Some(words) => error.with_detail("words", words),
            None => error,
        }
    }

    /// Whether it is a page for a person, as firewalls and proxies have them.
    pub(in crate::transport::http) fn is_page(&self) -> bool {
        let media_type = self.media_type();
        matches!(media_type.as_deref(), Some("text/html" | "application/xhtml+xml"))
    }

    /// The type of its content, without parameters.
    pub(in crate::transport::http) fn media_type(&self) -> Option<String> {
        media_type(self.headers)
    }

    /// The message of an error in it, whatever else there cannot be read; else its first words.
    pub(in crate::transport::http) fn words(&self, context: &dyn ErrorContext) -> Option<String> {
        if coding(self.headers).is_some() {
            return None;
        }
        let body = String::from_utf8_lossy(self.body);
        let words = message(&body).or_else(|| match self.is_page() {
            true => Some(visible(&body)),
            false => Some(joined(&body)),
        })?;
        let words = shown(context, &words, SHOWN_CHARS_MAX);
        (!words.is_empty()).then_some(words)
    }
}

/// The type of a content, without its parameters.
pub(in crate::transport::http) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next().unwrap_or_default().trim();
    Some(essence.to_ascii_lowercase())
}

/// The message of an error body.
fn message(body: &str) -> Option<String> {
    let members = lossy_members(body).ok()?;
    let (_, error) = members.iter().rev().find(|(name, _)| name == "error")?;
    let message = readable_members(&lenient(error.get(), &kinds::ERROR)).remove("message");
    // Some give the words alone.
    let message = message.or_else(|| readable(error.get()))?;
    message.as_str().map(str::to_owned)
}

/// The text with one blank in the place of each run of blanks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a person sees of a page, as far as its first words go: without tags, comments, scripts and
/// styles.
fn visible(page: &str) -> String {
    let mut seen = String::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        seen.push_str(&rest[..at]);
        seen.push(' ');
        rest = after_tag(&rest[at..]);
    }
    seen.push_str(rest);
    joined(&seen)
}

/// What follows the tag that this begins with, and all that is not seen of its element.
fn after_tag(text: &str) -> &str {
    const UNSEEN: [(&str, &str); 3] =
        [("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>")];
    let lower = text.to_ascii_lowercase();
    let unseen = UNSEEN.iter().find(|(begins, _)| lower.starts_with(begins));
    let end = unseen.map_or(">", |(_, ends)| ends);
    lower.find(end).map_or("", |at| &text[at + end.len()..])
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::transport::http::http_session::tests::channel;

    fn words(content_type: &'static str, body: &[u8]) -> Option<String> {
        let headers = [(CONTENT_TYPE, HeaderValue::from_static(content_type))];
        let headers = headers.into_iter().collect();
        AnswerExcerpt { status: StatusCode::OK, headers: &headers, body }.words(&channel())
    }

    /// SPEC 5.12: what a server says is repeated, whatever stands beside it that cannot be read.
    #[test]
    fn the_words_of_a_refusal_are_read_as_far_as_they_can_be() {
        let odd = &b"{\"error\":{\"message\":\"too \xff many\"}}"[..];
        for (body, expected) in [
            (&br#"{"error":{"code":1,"message":"too many"}}"#[..], Some("too many")),
            (br#"{"error":{"message":"too many","data":{"x":1e400}},"y":1e400}"#, Some("too many")),
            (br#"{"error":{"message":"too \ud800 many"}}"#, Some("too \u{fffd} many")),
            (odd, Some("too \u{fffd} many")),
            (br#"{"error":"no \ud800"}"#, Some("no \u{fffd}")),
            (br#"{"error":"no","error":{"message":"too many"}}"#, Some("too many")),
            (br#"{"error":{"message":1}}"#, Some("1")),
            (br#"{"detail":"no"}"#, Some(r#"{"detail":"no"}"#)),
            (br#"{"error":{"message":"too"#, Some(r#"{"error":{"message":"too"#)),
            (b" error code:\r\n\t1020 \x1b[2J", Some("error code: 1020 \\u{1b}[2J")),
            (b" \n", None),
            (b"", None),
        ] {
            assert_eq!(words("application/json", body).as_deref(), expected);
        }
    }

    /// SPEC 18.6: of a page what a person would see of it, with a bound, and nothing that moves a
    /// terminal.
    #[test]
    fn the_first_words_of_a_page_are_those_that_a_person_sees() {
        for (page, expected) in [
            (
                "<!DOCTYPE html>\n<HTML><head><title>Denied</title><style>p { x: y }</style>\
                 <script>if (a < b) { c() }</script></head><!-- <p>ray</p> -->\
                 <body><h1>Access\ndenied</h1><p class=\"a\">Ray 7</body>",
                Some("Denied Access denied Ray 7"),
            ),
            ("Denied <", Some("Denied")),
            ("<script>never ends", None),
            ("<p>\u{1b}[2Jx", Some("\\u{1b}[2Jx")),
            ("<html>", None),
        ] {
            assert_eq!(words("text/html; charset=utf-8", page.as_bytes()).as_deref(), expected);
        }
        let long = words("text/html", "é".repeat(10_000).as_bytes()).unwrap();
        assert_eq!(long.chars().count(), SHOWN_CHARS_MAX);
    }
}
