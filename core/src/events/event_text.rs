//! Events on their way, and their text, which is written member by member.

use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

use trunkline_pool::interface::EventKind;

use super::event::Event;
use super::json_members::{Members, is_plain};
use super::recipient::Recipient;
use super::subject::EventSubject;

/// What an event says to all who are told of it.
pub(crate) struct EventBody {
    kind: EventKind,
    /// What it is about, then the fields.
    members: Members,
}

impl EventBody {
    pub(crate) fn new(
        kind: EventKind,
        about: &EventSubject,
        fields: impl FnOnce(&mut Members),
    ) -> Arc<EventBody> {
        let mut members = Members::default();
        if let Some(named) = &about.named {
            members.add_written(named);
        }
        if let Some(generation) = about.generation {
            members.add_number("generation", generation.0.into());
        }
        fields(&mut members);
        Arc::new(EventBody { kind, members })
    }
}

/// An event that nobody has taken. Its text is written when somebody does: what waits for thousands
/// is small.
#[derive(Clone)]
pub(super) struct QueuedEvent {
    pub(super) seq: u64,
    pub(super) session: Option<Arc<str>>,
    pub(super) said: Arc<EventBody>,
    /// The number of the list that is another, where one is.
    pub(super) revision: Option<NonZeroU64>,
}

impl QueuedEvent {
    pub(super) fn new(seq: u64, session: Option<&Recipient>, said: Arc<EventBody>) -> QueuedEvent {
        let session = session.map(|session| session.id.clone());
        QueuedEvent { seq, session, said, revision: None }
    }

    /// How long the text is that it keeps, which others may keep too.
    pub(super) fn bytes(&self) -> usize {
        self.said.members.0.len()
    }

    /// The event, with its JSON: the envelope of SPEC 16.6, then the fields.
    pub(super) fn take(self) -> Event {
        let QueuedEvent { seq, session, said, revision } = self;
        let session = session.as_deref();
        let room = ENVELOPE_MAX + session.map_or(0, str::len) + said.members.0.len();
        let mut json = Members(String::with_capacity(room));
        json.0.push_str(r#"{"v":1"#);
        json.add_number("seq", seq);
        json.add_written(head(said.kind));
        if let Some(session) = session {
            json.add_str("session", session);
        }
        json.0.push_str(&said.members.0);
        if let Some(revision) = revision {
            json.add_number("revision", revision.get());
        }
        json.0.push('}');
        Event::new(said.kind, seq, json.0)
    }
}

/// The room for all of an event's text but the session's id and what it says, in bytes.
const ENVELOPE_MAX: usize = 192;

/// The members that every event of a kind has.
fn head(kind: EventKind) -> &'static str {
    HEADS[kind as usize].get_or_init(|| {
        let (name, scope) = (kind.name(), kind.scope().as_str());
        debug_assert!(name.bytes().chain(scope.bytes()).all(is_plain), "{name} {scope}");
        format!(r#""type":"{name}","scope":"{scope}""#).into()
    })
}

/// By the number of the kind, which is a bit of [`EventMask`](crate::EventMask).
static HEADS: [OnceLock<Box<str>>; u64::BITS as usize] =
    [const { OnceLock::new() }; u64::BITS as usize];

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trunkline_pool::state::Generation;

    use super::*;
    use crate::events::json_members::members_of;
    use crate::events::subject::named;

    /// SPEC 16.6: every text is written as JSON has it, whatever is in it.
    #[test]
    fn texts_are_json() {
        let hostile = ["", "plain", "a\"b", "back\\slash", "\u{0}\n\u{1f}", "\u{7f}é\u{2028}😀"];
        for value in hostile {
            let about = EventSubject {
                named: Some(named(value, Some(7))),
                generation: Some(Generation(3)),
            };
            let kind = EventKind::ToolsChanged;
            let said = EventBody::new(kind, &about, |json| {
                json.add_written(r#""list":[],"more":{}"#);
                members_of(&[("value", value.into())])(json);
            });
            let session = Some(value.into());
            let event = QueuedEvent { seq: u64::MAX, session, said, revision: NonZeroU64::new(5) };
            let event = event.take();
            let expected = json!({
                "v": 1, "seq": u64::MAX, "type": "tools_changed", "scope": "session", "session": value,
                "server": value, "entry_index": 7, "generation": 3,
                "list": [], "more": {}, "value": value, "revision": 5,
            });
            assert_eq!(event.json(), expected.to_string());
            assert_eq!((event.kind(), event.seq()), (kind, u64::MAX));
        }
    }

    /// The rest of the text is written once, and what each has for itself beside it.
    #[test]
    fn an_event_says_no_more_than_there_is() {
        let about = EventSubject::server("s");
        let server =
            QueuedEvent::new(1, None, EventBody::new(EventKind::Lagged, &about, |_| ())).take();
        let nothing = EventBody::new(EventKind::Lagged, &EventSubject::default(), |_| ());
        let nothing = QueuedEvent::new(2, None, nothing).take();
        let [mut one, two] = [1, 2]
            .map(|seq| json!({ "v": 1, "seq": seq, "type": "lagged", "scope": "subscriber" }));
        one["server"] = "s".into();
        assert_eq!([server.json(), nothing.json()], [one, two].map(|json| json.to_string()));
    }
}
