//! Sessions that share one connection never see each other's results, progress or cancellations
//! (S-45).

use std::collections::{HashMap, HashSet};
use std::sync::mpsc;
use std::time::Duration;

use rig::{HANG, Rig, acquire, host, score, text};
use serde_json::{Value, json};
use trunkline::{CallOptions, ErrorCode, EventMask, Lease, Operation, Outcome, Subscription};

use crate::rounds;

const SESSIONS: usize = 64;
const STEPS: u64 = 2;

/// What a call is, and so how it may end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// It reports and answers at once.
    Quick,
    /// It reports while it works, and answers.
    Slow,
    /// Cancelled at some moment: it may have answered before.
    Raced,
    /// It never answers, and is cancelled.
    Endless,
}

impl Kind {
    fn of(place: usize) -> Kind {
        match place % 50 {
            7 => Kind::Slow,
            23 => Kind::Endless,
            n if n % 10 == 1 => Kind::Raced,
            _ => Kind::Quick,
        }
    }

    fn arguments(self, canary: &str) -> String {
        let (steps, interval) = match self {
            Kind::Quick | Kind::Raced => (STEPS, 0),
            Kind::Slow => (STEPS, 5),
            Kind::Endless => (1, 600_000),
        };
        json!({ "steps": steps, "interval_ms": interval, "canary": canary }).to_string()
    }
}

/// One conversation with its calls.
struct Conversation {
    number: usize,
    calls: usize,
    lease: Lease,
    events: Subscription,
    /// The canary of each call by its number, whatever became of it.
    canaries: HashMap<u64, String>,
    /// Of the calls that had to succeed, what they were.
    whole: HashSet<String>,
    refused: usize,
}

type Ended = (usize, trunkline::Result<String>);

impl Conversation {
    fn canary(&self, place: usize) -> String {
        format!("canary-{}-{place}", self.number)
    }

    /// Has all its calls, so many at a time.
    fn talk(&mut self, at_once: usize) {
        for first in (0..self.calls).step_by(at_once) {
            self.talk_at_once((first..self.calls.min(first + at_once)).collect());
        }
    }

    /// Starts these calls, cancels some, and waits for the end of each. What was refused for want
    /// of room is started again.
    fn talk_at_once(&mut self, mut open: Vec<usize>) {
        let (send, ended) = mpsc::channel();
        let mut refused = Vec::new();
        let mut left = open.len();
        while left > 0 {
            let endless: Vec<_> =
                open.drain(..).filter_map(|place| self.start(place, &send)).collect();
            endless.iter().for_each(Operation::cancel);
            let (place, end) = ended.recv_timeout(HANG * 10).expect("each call ends");
            if self.is_over(place, end) {
                left -= 1;
            } else {
                self.refused += 1;
                refused.push(place);
                // Room comes when another call ends, of this session or, when it has none, of the
                // others.
                if refused.len() < left {
                    continue;
                }
                std::thread::park_timeout(Duration::from_millis(5));
            }
            open.append(&mut refused);
        }
        drop(send);
        assert!(ended.recv().is_err(), "a call ended twice");
    }

    /// Starts a call; those that are to be cancelled later are given back.
    fn start(&mut self, place: usize, send: &mpsc::Sender<Ended>) -> Option<Operation> {
        let (kind, canary, send) = (Kind::of(place), self.canary(place), send.clone());
        let options = CallOptions::from_json(r#"{"progress":true}"#).unwrap();
        let done = move |end: trunkline::Result<trunkline::CallResult>| {
            let text = |result: trunkline::CallResult| {
                let result: Value = serde_json::from_str(result.json()).unwrap();
                result["content"][0]["text"].as_str().unwrap().to_owned()
            };
            send.send((place, end.map(text))).unwrap();
        };
        let arguments = kind.arguments(&canary);
        let operation = self.lease.start_call_tool("progress", &arguments, &options, done);
        if let Some(number) = operation.call_number() {
            self.canaries.insert(number, canary);
        }
        match kind {
            Kind::Raced => operation.cancel(),
            Kind::Endless => return Some(operation),
            Kind::Quick | Kind::Slow => {}
        }
        None
    }

    /// Whether the call is over; otherwise it could not be sent.
    fn is_over(&mut self, place: usize, end: trunkline::Result<String>) -> bool {
        let (kind, canary) = (Kind::of(place), self.canary(place));
        match end {
            Ok(text) => {
                assert_eq!(text, canary, "a crossed result");
                assert_ne!(kind, Kind::Endless, "{canary}: a lost cancellation");
                if kind != Kind::Raced {
                    self.whole.insert(canary);
                }
                true
            }
            Err(error) if error.code() == ErrorCode::Limit => {
                assert_eq!(error.outcome(), Some(Outcome::NotSent));
                false
            }
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::Cancelled, "{canary}: {error}");
                assert!(matches!(kind, Kind::Raced | Kind::Endless), "{canary}: a crossed cancel");
                true
            }
        }
    }

    /// Everything that was told: its own, in order, and of the calls that succeeded all.
    fn check_progress(&self) {
        let mut steps: HashMap<String, Vec<u64>> = HashMap::new();
        while let Some(event) = self.events.try_next() {
            let event: Value = serde_json::from_str(event.json()).unwrap();
            assert_eq!(event["type"], "progress");
            assert_eq!(event["session"], format!("session-{}", self.number), "crossed progress");
            let canary = &self.canaries[&event["call"].as_u64().unwrap()];
            assert_eq!(event["message"], canary.as_str(), "crossed progress");
            steps.entry(canary.clone()).or_default().push(event["progress"].as_u64().unwrap());
        }
        assert!(steps.values().all(|steps| steps.is_sorted()));
        for canary in &self.whole {
            assert_eq!(steps[canary], (1..=STEPS).collect::<Vec<_>>(), "{canary}");
        }
    }
}

/// S-45, I-17, SPEC 5.5, 5.9: over one connection, all at once in the long form.
#[test]
fn sessions_on_one_connection_never_get_what_is_another_s() {
    let (calls, at_once) = (rounds(500, 10_000), rounds(200, 10_000));
    let rig = Rig::new(json!({ "limits": {
        "event_backlog": 1 << 20, "in_flight_per_session": 1 << 20, "in_flight_per_entry": 1 << 20,
    } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let mut conversations = Vec::new();
        for number in 0..SESSIONS {
            let session = rig.session(&format!("session-{number}"));
            // Progress alone.
            let events = session.subscribe(EventMask::ALL).unwrap();
            let lease = acquire(&session, "s").await;
            conversations.push(Conversation {
                number,
                calls,
                lease,
                events,
                canaries: HashMap::new(),
                whole: HashSet::new(),
                refused: 0,
            });
        }
        std::thread::scope(|scope| {
            for conversation in &mut conversations {
                scope.spawn(|| conversation.talk(at_once));
            }
        });
        conversations.iter().for_each(Conversation::check_progress);
        let refused: usize = conversations.iter().map(|one| one.refused).sum();
        println!("{} calls, {refused} of them refused at first", SESSIONS * calls);
        assert_eq!(rig.starts().len(), 1);
        let lease = &conversations[0].lease;
        assert_eq!(rig.pool.status()["servers"]["s"]["entries"][0]["in_flight"], 0);
        assert_eq!(text(lease, "under_way", json!({})).await, "0");
        score::done("bleed", (SESSIONS * calls) as u64);
    });
}
