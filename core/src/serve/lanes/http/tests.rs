//! What a session keeps of its streams, and how a stream becomes events.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http_body::Body as _;
use tokio::time::Instant;
use trunkline_pool::bridge::McpHeaders;

use super::events::{self, Answering};
use super::reply_body::ReplyBody;
use super::sessions::{LegacySession, LegacySessions, ReplayBounds};
use crate::serve::lane::{Principal, PrincipalKind, Served, ServedPath};
use crate::serve::lanes::bounds::LaneBounds;
use crate::serve::lanes::quotas::{QuotaKind, Quotas};
use crate::serve::outlet::{FrameOutbox, Outlet, OutletBounds, OutletItem, StreamId};

const IDLE: Duration = Duration::from_secs(900);
const REPLAY: ReplayBounds = ReplayBounds { bytes_max: 1000, time: Duration::from_secs(60) };
const WAIT: Duration = Duration::from_secs(15);

/// A client that says whether it was closed.
#[derive(Default)]
struct Closes(AtomicBool);

impl Served for Closes {
    fn message(&self, _: &str, _: Option<&McpHeaders>, _: Outlet) {}
    fn stream(&self, _: Outlet) {}
    fn stream_closed(&self, _: StreamId) {}
    fn close(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn session(sessions: &LegacySessions) -> (Arc<LegacySession>, Arc<Closes>) {
    let who = Principal { kind: PrincipalKind::Token, name: "one".into(), profile: None };
    let seat = Quotas::new(&LaneBounds::default()).take(&who, QuotaKind::Sessions, 1).unwrap();
    let client = Arc::new(Closes::default());
    let session = sessions.add((who, ServedPath::default()), client.clone(), seat).unwrap();
    (session, client)
}

fn stream(number: u64, unsent_bytes_max: usize) -> (Outlet, FrameOutbox) {
    let bounds = OutletBounds { ends_with_last: true, unsent_bytes_max, replay_bytes_max: 1000 };
    Outlet::new(StreamId(number), bounds)
}

fn frame(text: &str, last: bool) -> OutletItem {
    OutletItem::Frame { text: text.into(), last, status: 200, droppable: false }
}

/// SPEC 19.8: a result that its client never read keeps no session.
#[tokio::test]
async fn a_session_whose_client_went_before_its_result_ends() {
    let sessions = LegacySessions::default();
    let (session, client) = session(&sessions);
    let in_use = session.in_use();
    let (outlet, outbox) = stream(1, 1000);
    session.keep(outlet.clone(), REPLAY);
    let later = Instant::now() + IDLE * 2;
    sessions.end_idle(later, IDLE, REPLAY);
    assert!(!client.0.load(Ordering::SeqCst), "a request is open");
    drop((in_use, outbox));
    outlet.send(frame("result", true));
    sessions.end_idle(later, IDLE, REPLAY);
    assert!(client.0.load(Ordering::SeqCst));
}

/// SERVING A3.5: what is kept for a client that comes back has a bound in bytes, and one in time.
#[tokio::test]
async fn streams_that_ended_are_kept_within_bounds() {
    let sessions = LegacySessions::default();
    let (session, _client) = session(&sessions);
    let all: Vec<Outlet> = (0..30)
        .map(|number| {
            let (outlet, _) = stream(number, 1000);
            session.keep(outlet.clone(), REPLAY);
            outlet.send(frame(&"x".repeat(100), true));
            outlet
        })
        .collect();
    let now = Instant::now();
    sessions.end_idle(now, IDLE, REPLAY);
    let kept = || all.iter().filter(|outlet| session.stream(outlet.stream()).is_some()).count();
    assert_eq!(kept(), 10);
    assert!(session.stream(StreamId(29)).is_some(), "the newest stays");
    sessions.end_idle(now + REPLAY.time, IDLE, REPLAY);
    assert_eq!(kept(), 0);
}

/// What a body gives now: its texts, and whether it ended or broke.
fn read(body: &mut ReplyBody) -> (String, &'static str) {
    let mut text = String::new();
    loop {
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut *body).poll_frame(&mut context) {
            Poll::Ready(Some(Ok(frame))) => {
                text += &String::from_utf8_lossy(&frame.into_data().unwrap());
            }
            Poll::Ready(Some(Err(_))) => return (text, "broken"),
            Poll::Ready(None) => return (text, "whole"),
            Poll::Pending => return (text, "open"),
        }
    }
}

/// Frames, the bytes that a client may leave unread, and what it gets.
#[tokio::test]
async fn frames_become_events_and_a_cut_stream_is_no_whole_one() {
    type Row = (&'static [(&'static str, bool)], usize, &'static str, &'static str);
    let rows: [Row; 4] = [
        (&[("one", false)], 100, "id: 1-0\ndata: one\n\n", "open"),
        (&[("one", true)], 100, "id: 1-0\ndata: one\n\n", "whole"),
        (&[("{\n1}", true)], 100, "id: 1-0\ndata: {\ndata: 1}\n\n", "whole"),
        (&[("1234567890", false), ("12", false)], 10, "", "broken"),
    ];
    for (frames, unsent_bytes_max, text, end) in rows {
        let (outlet, outbox) = stream(1, unsent_bytes_max);
        let mut body = ReplyBody::events(outbox, true, WAIT, Vec::new());
        for (text, last) in frames {
            outlet.send(frame(text, *last));
        }
        assert_eq!(read(&mut body), (text.to_owned(), end), "{frames:?}");
    }
}

/// SERVING A2.5: an answer that is long in coming is an event stream, whose comments keep it open.
#[tokio::test]
async fn a_long_wait_is_an_event_stream() {
    let how = |keep_alive| Answering { wants_events: false, has_ids: false, keep_alive };
    let (outlet, outbox) = stream(1, 1000);
    outlet.send(frame("{}", true));
    let mut soon = events::answer(outbox, &how(WAIT), Vec::new()).await;
    assert_eq!(soon.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(read(soon.body_mut()), ("{}".to_owned(), "whole"));
    let (outlet, outbox) = stream(2, 1000);
    // Nothing is sent before the stream is there.
    let mut late = events::answer(outbox, &how(Duration::from_millis(1)), Vec::new()).await;
    assert_eq!(late.headers()[CONTENT_TYPE], "text/event-stream");
    outlet.send(frame("{}", true));
    let (text, end) = read(late.body_mut());
    assert!(text.ends_with("data: {}\n\n"), "{text}");
    assert_eq!(end, "whole");
}
