//! The event stream format, with a bound on each event.
//!
//! Written here, and not taken from a crate, because the bound must hold while an event grows
//! (S-24).

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::header::HeaderValue;

/// An id longer than this is not given back: it goes into a header.
const ID_BYTES_MAX: usize = 4 << 10;

/// What a longer line took is given back: a stream may stand for days after it.
const LINE_KEPT_BYTES: usize = 512 << 10;

/// How much of an event above the limit is shown, to find whose it is.
const OVERSIZED_HEAD_BYTES: usize = 4 << 10;

/// What a stream said.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::transport::http) enum SseEvent {
    /// An event with data, of the type `message` or without one.
    Message(Vec<u8>),
    /// Where messages are to be posted: an event of the type `endpoint`.
    Endpoint(Vec<u8>),
    /// An event with data, of any other type.
    Other(Vec<u8>),
    /// An event above the limit: the beginning of its data. The rest is passed over.
    Oversized(Vec<u8>),
    /// From here on the stream can be resumed, after this id; empty: it cannot.
    Id(HeaderValue),
    /// How long to wait before the next attempt.
    Retry(Duration),
}

/// The types of events, as far as anybody here wants to know.
#[derive(Clone, Copy, Debug, Default)]
enum SseEventType {
    #[default]
    Message,
    Endpoint,
    Other,
}

/// An event above the limit does not end.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::transport::http) struct TooLong;

/// Cuts a stream into events, at line feeds, carriage returns or both.
#[derive(Debug)]
pub(in crate::transport::http) struct EventReader {
    limit: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    has_text: bool,
    kind: SseEventType,
    id: Option<HeaderValue>,
    /// An event above the limit is being passed over: so many bytes of it at most.
    passing: Option<usize>,
    after_return: bool,
    at_stream_start: bool,
    ready: VecDeque<SseEvent>,
}

impl EventReader {
    /// A reader of events of at most `limit` bytes.
    pub(in crate::transport::http) fn new(limit: usize) -> Self {
        EventReader {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            has_text: false,
            kind: SseEventType::Message,
            id: None,
            passing: None,
            after_return: false,
            at_stream_start: true,
            ready: VecDeque::new(),
        }
    }

    /// Takes in what came; what is complete waits for [`EventReader::next`].
    ///
    /// # Errors
    /// When an event above the limit does not end. The stream cannot be followed any more then.
    pub(in crate::transport::http) fn feed(&mut self, mut chunk: &[u8]) -> Result<(), TooLong> {
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_return) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', chunk);
            let text = &chunk[..end.unwrap_or(chunk.len())];
            self.take_text(text)?;
            let Some(end) = end else { return Ok(()) };
            self.after_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.take_line(&line);
            self.line = line;
            self.line.clear();
            if self.line.capacity() > LINE_KEPT_BYTES {
                self.line = Vec::new();
            }
        }
        Ok(())
    }

    /// The next thing that the stream said.
    pub(in crate::transport::http) fn next(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    /// The data of the event that the stream ended in. The format drops it, since nobody knows
    /// whether it is whole.
    pub(in crate::transport::http) fn unended(&mut self) -> Option<Vec<u8>> {
        if self.passing.is_some() {
            return None;
        }
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line);
        }
        let data = std::mem::take(&mut self.data);
        Some(data).filter(|data| !data.is_empty() && !matches!(self.kind, SseEventType::Endpoint))
    }

    /// Bounds what is kept of an event that has not ended yet.
    fn take_text(&mut self, text: &[u8]) -> Result<(), TooLong> {
        if let Some(left) = self.passing {
            self.passing = Some(left.checked_sub(text.len()).ok_or(TooLong)?);
            // Whether the line is blank is all that is asked of it.
            if self.line.is_empty() {
                self.line.extend_from_slice(&text[..text.len().min(1)]);
            }
            return Ok(());
        }
        self.line.extend_from_slice(text);
        if self.line.len() + self.data.len() <= self.limit {
            return Ok(());
        }
        let line = self.line.strip_prefix(b"data:").unwrap_or(&self.line);
        let shown = if self.data.is_empty() { line } else { &self.data };
        let head = shown[..shown.len().min(OVERSIZED_HEAD_BYTES)].trim_ascii_start().to_vec();
        self.ready.push_back(SseEvent::Oversized(head));
        self.passing = Some(self.limit);
        self.data = Vec::new();
        self.line = b"-".to_vec();
        Ok(())
    }

    fn take_line(&mut self, mut line: &[u8]) {
        const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
        if std::mem::take(&mut self.at_stream_start) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.finish();
        }
        if self.passing.is_some() {
            return;
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_text, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.kind = match value {
                    b"" | b"message" => SseEventType::Message,
                    b"endpoint" => SseEventType::Endpoint,
                    _ => SseEventType::Other,
                };
            }
            b"id" if value.len() <= ID_BYTES_MAX => {
                // Given back byte for byte. What no header can hold is passed over, as the format
                // has it for a NUL: the stream can be resumed where it could before.
                self.id = HeaderValue::from_bytes(value).ok().or_else(|| self.id.take());
            }
            b"retry" => {
                let digits = value.iter().all(u8::is_ascii_digit).then_some(value);
                let number =
                    digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
                let retry = number.map(|number| SseEvent::Retry(Duration::from_millis(number)));
                self.ready.extend(retry);
            }
            // A comment, or a field that nobody knows.
            _ => {}
        }
    }

    /// A blank line: the event is whole. Its id holds only once its data was taken.
    fn finish(&mut self) {
        if self.passing.take().is_some() {
            self.has_text = false;
            self.kind = SseEventType::Message;
            self.id = None;
            return;
        }
        let data = std::mem::take(&mut self.data);
        let is_whole = std::mem::take(&mut self.has_text) && !data.is_empty();
        match std::mem::take(&mut self.kind) {
            SseEventType::Message if is_whole => self.ready.push_back(SseEvent::Message(data)),
            SseEventType::Endpoint if is_whole => self.ready.push_back(SseEvent::Endpoint(data)),
            SseEventType::Other if is_whole => self.ready.push_back(SseEvent::Other(data)),
            SseEventType::Message | SseEventType::Endpoint | SseEventType::Other => {}
        }
        self.ready.extend(self.id.take().map(SseEvent::Id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-24: what one large event took is not kept for as long as its stream stands.
    #[test]
    fn the_room_of_a_long_line_is_given_back() {
        let mut reader = EventReader::new(4 * LINE_KEPT_BYTES);
        let text = format!("data: {}\n\n", "x".repeat(2 * LINE_KEPT_BYTES));
        reader.feed(text.as_bytes()).unwrap();
        assert!(
            matches!(reader.next(), Some(SseEvent::Message(data)) if data.len() == 2 * LINE_KEPT_BYTES)
        );
        assert!(reader.line.capacity() <= LINE_KEPT_BYTES, "{}", reader.line.capacity());
    }

    fn read(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut reader = EventReader::new(64);
        let mut events = Vec::new();
        for chunk in chunks {
            reader.feed(chunk).unwrap();
            events.extend(std::iter::from_fn(|| reader.next()));
        }
        events
    }

    fn message(text: &str) -> SseEvent {
        SseEvent::Message(text.into())
    }

    fn id(id: &str) -> SseEvent {
        SseEvent::Id(HeaderValue::from_bytes(id.as_bytes()).unwrap())
    }

    /// SPEC 5.10.
    #[test]
    fn an_event_is_the_same_however_its_lines_end_and_its_bytes_arrive() {
        let expected = [message("{\"a\":\n1}"), id("7")];
        for end in ["\n", "\r", "\r\n"] {
            let text = ["\u{feff}: hi", "id: 7", "data: {\"a\":", "data:1}", "", ""].join(end);
            assert_eq!(read(&[text.as_bytes()]), expected, "{end:?}");
            let single: Vec<_> = text.as_bytes().chunks(1).collect();
            assert_eq!(read(&single), expected, "{end:?}");
        }
    }

    /// PROTOCOL 1.1: an event with an id alone prepares for resuming, and `retry` is obeyed.
    #[test]
    fn ids_and_waits_are_told_apart_from_messages() {
        let events = read(&[b"id: 1\ndata:\n\nretry: 250\nretry: soon\nevent: ping\ndata: x\n\n"]);
        let ping = SseEvent::Other("x".into());
        assert_eq!(events, [id("1"), SseEvent::Retry(Duration::from_millis(250)), ping]);
        let endpoint = SseEvent::Endpoint("/post?s=1".into());
        assert_eq!(read(&[b"event: endpoint\ndata: /post?s=1\n\n"]), [endpoint]);
        assert_eq!(read(&[b"data: {} and then the end\n"]), []);
    }

    /// SPEC 18.1: what an event says that the stream ended in is there for who can tell whether it
    /// is whole.
    #[test]
    fn what_a_stream_ended_in_is_told_once() {
        let cases = [
            ("data: {}", Some("{}")),
            ("data: {}\n", Some("{}")),
            ("event: error\ndata: {\ndata: }", Some("{\n}")),
            ("data: {}\n\n", None),
            ("data: {}\n\nretry: 2", None),
            ("event: endpoint\ndata: /post", None),
            ("data:", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let mut reader = EventReader::new(64);
            reader.feed(text.as_bytes()).unwrap();
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!((reader.unended(), reader.unended()), (expected, None), "{text:?}");
        }
        let mut reader = EventReader::new(4);
        reader.feed(b"data: 12345").unwrap();
        assert_eq!(reader.unended(), None);
    }

    /// The format: digits alone are a time.
    #[test]
    fn a_wait_is_written_in_digits() {
        for wait in ["+250", "-250", " 250", "2.5", "", "250 ", "99999999999999999999"] {
            assert_eq!(read(&[format!("retry: {wait}\n\n").as_bytes()]), [], "{wait:?}");
        }
    }

    /// PROTOCOL 1.1: an id goes back as it came, and one that cannot is none.
    #[test]
    fn an_id_that_no_header_can_hold_is_passed_over() {
        assert_eq!(read(&["id: ü-7 ✓\ndata: {}\n\n".as_bytes()]), [message("{}"), id("ü-7 ✓")]);
        for bad in ["a\0b", "\u{1}", "a\u{7f}"] {
            let event = format!("id: {bad}\ndata: {{}}\n\n");
            assert_eq!(read(&[event.as_bytes()]), [message("{}")], "{bad:?}");
            let event = format!("id: 7\nid: {bad}\ndata: {{}}\n\n");
            assert_eq!(read(&[event.as_bytes()]), [message("{}"), id("7")], "{bad:?}");
        }
        assert_eq!(read(&[b"id: 7\nid\n\n"]), [id("")]);
    }

    /// S-24.
    #[test]
    fn an_endless_event_is_refused_at_the_limit() {
        for text in [&b"data: 0123456789\n"[..], b"x"] {
            let mut reader = EventReader::new(64);
            let mut fed = 0;
            while reader.feed(text).is_ok() {
                fed += text.len();
                assert!(fed <= 4 * 64);
                assert!(reader.line.len() + reader.data.len() <= 64);
            }
            assert!(matches!(reader.next(), Some(SseEvent::Oversized(_))));
            assert_eq!(reader.next(), None);
        }
    }

    /// SPEC 5.10: what comes after it is not touched.
    #[test]
    fn an_event_above_the_limit_is_passed_over() {
        let long = format!("event: other\ndata: {{\"id\":7,\"a\":\"{}\"}}\n\n", "x".repeat(70));
        let [SseEvent::Oversized(head), next] = &read(&[long.as_bytes(), b"data: {}\n\n"])[..]
        else {
            panic!("two events")
        };
        assert!(head.starts_with(b"{\"id\":7,"));
        assert_eq!(*next, message("{}"));
    }
}
