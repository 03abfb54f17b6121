//! Every event has the members that the registry says, and no other (SPEC 16.6); what is told at
//! one time wakes once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Context, Waker};

use rig::{HANG, Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::interface::{EVENTS, EventKind, Presence};
use trunkline::{
    AcquireOptions, CallOptions, CompletionQueue, EventMask, Lease, Pool, PoolOptions, ServerSpec,
    Session, Subscription,
};

async fn call(lease: &Lease, tool: &str, arguments: Value) {
    let options = CallOptions::from_json(r#"{"progress":true}"#).unwrap();
    // Some of them end the server.
    let _ = lease.call_tool(tool, &arguments.to_string(), &options).await;
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "any" => true,
        "array of strings" => {
            value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
        }
        "array of objects" => {
            value.as_array().is_some_and(|items| items.iter().all(Value::is_object))
        }
        other => panic!("the registry has a type {other} that this test does not know"),
    }
}

const ENVELOPE: &[&str] =
    &["v", "seq", "type", "scope", "session", "server", "entry_index", "generation"];

fn check(event: &Value) {
    let name = event["type"].as_str().unwrap();
    let row = EVENTS.iter().find(|row| row.name == name).unwrap();
    assert_eq!(event["v"], 1, "{event}");
    assert!(event["seq"].is_u64(), "{event}");
    for field in row.payload {
        match event.get(field.name) {
            Some(value) => assert!(is_of_type(value, field.kind), "{}: {event}", field.name),
            None => assert_eq!(field.presence, Presence::Optional, "{}: {event}", field.name),
        }
    }
    let known = |member: &str| {
        ENVELOPE.contains(&member) || row.payload.iter().any(|field| field.name == member)
    };
    let unknown: Vec<_> = event.as_object().unwrap().keys().filter(|name| !known(name)).collect();
    assert_eq!(unknown, [""; 0], "{event}");
    let members = ["server", "entry_index", "generation"].map(|member| event.get(member).is_some());
    assert!(members[0], "{event}");
}

/// Reads until the kind comes; every event on the way is looked at.
async fn until_kind(events: &Subscription, kind: EventKind, seen: &mut BTreeSet<&'static str>) {
    let mut last = 0;
    loop {
        let event = tokio::time::timeout(HANG, events.next()).await.unwrap().unwrap();
        assert!(event.seq() > last);
        last = event.seq();
        check(&serde_json::from_str(event.json()).unwrap());
        seen.insert(event.kind().name());
        if event.kind() == kind {
            return;
        }
    }
}

/// SPEC 16.6, 8.5.
#[test]
fn every_event_that_occurs_is_as_the_registry_says() {
    let rig =
        Rig::new(json!({ "drain_delay_ms": 0, "reconnect": { "delays_ms": { "local": [0] } } }));
    host(async {
        let servers = json!({
            "s": rig.server(&["--list-changes"]),
            "t": rig.server(&["--exit-at-start", "3"]),
        });
        rig.configure(servers).await;
        let events = rig.pool.subscribe(EventMask::ALL).unwrap();
        let mut seen = BTreeSet::new();
        let session = rig.session_with(json!({ "id": "a" }));
        session.ready(None, Some(HANG)).await.unwrap();
        let lease = acquire(&session, "s").await;
        lease.subscribe_resource("test://one").await.unwrap();
        call(&lease, "touch_resource", json!({ "uri": "test://one" })).await;
        until_kind(&events, EventKind::ResourceUpdated, &mut seen).await;
        call(&lease, "log", json!({ "level": "info", "text": "x" })).await;
        call(&lease, "stderr", json!({ "text": "x" })).await;
        call(&lease, "progress", json!({ "steps": 1 })).await;
        for (list, kind) in [
            ("tools", EventKind::ToolsChanged),
            ("prompts", EventKind::PromptsChanged),
            ("resources", EventKind::ResourcesChanged),
        ] {
            call(&lease, "change_list", json!({ "list": list, "add": "new", "notify": true }))
                .await;
            until_kind(&events, kind, &mut seen).await;
        }
        call(&lease, "crash", json!({ "code": 3 })).await;
        until_kind(&events, EventKind::Reconnected, &mut seen).await;
        let other = acquire(&rig.session("b"), "s").await;
        text(&other, "pid", json!({})).await;
        drop((lease, other));
        session.close(None);
        rig.pool.close().await.unwrap();
        while let Some(event) = events.next().await {
            check(&serde_json::from_str(event.json()).unwrap());
            seen.insert(event.kind().name());
        }
        let occurring = [
            "disconnected",
            "failed",
            "log",
            "progress",
            "prompts_changed",
            "reconnected",
            "resource_updated",
            "resources_changed",
            "server_ready",
            "status_changed",
            "stderr",
            "tools_changed",
        ];
        assert_eq!(seen, BTreeSet::from(occurring));
    });
}

/// SPEC 7.4, 16.2, 16.6: a change is told to all who hold the server, each in its own words and
/// with a number of its own, and they are woken when all were told.
#[test]
fn a_change_wakes_when_all_were_told() {
    const SESSIONS: usize = 20;
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let ids: Vec<String> = (0..SESSIONS).map(|number| format!("é {number}")).collect();
        let hides = |number: usize| if number % 4 == 1 { json!(["hidden"]) } else { json!([]) };
        let mut sessions = Vec::new();
        for (number, id) in ids.iter().enumerate() {
            let options = json!({ "id": id, "servers": [], "exclude": { "s": hides(number) } });
            let session = rig.session_with(options);
            let lease = acquire(&session, "s").await;
            sessions.push((session, lease));
        }
        let mask = EventMask(EventKind::ToolsChanged.bit());
        let streams: Arc<Vec<Subscription>> =
            Arc::new(sessions.iter().map(|(it, _)| it.subscribe(mask).unwrap()).collect());
        let (sent, seen) = std::sync::mpsc::channel();
        for stream in streams.iter() {
            let (sent, streams) = (sent.clone(), Arc::downgrade(&streams));
            // The first to be woken finds the events of all.
            stream.set_wake(move || {
                let Some(streams) = streams.upgrade() else { return };
                let waiting: Vec<_> = streams.iter().map(Subscription::try_next).collect();
                let _ = sent.send(waiting);
            });
        }
        let arguments = json!({ "add": ["hidden", "q\"uoted\\"] });
        call(&sessions[0].1, "change_list", arguments).await;
        let told = seen.recv_timeout(HANG).unwrap();
        let mut last = 0;
        for (number, event) in told.into_iter().enumerate() {
            let event = event.unwrap_or_else(|| panic!("session {number} was not told before"));
            assert!(event.seq() > last, "{}", event.json());
            last = event.seq();
            let added = if number % 4 == 1 {
                json!(["q\"uoted\\"])
            } else {
                json!(["hidden", "q\"uoted\\"])
            };
            let expected = json!({
                "v": 1, "seq": last, "type": "tools_changed", "scope": "session", "session": ids[number],
                "server": "s", "entry_index": 0, "generation": 1,
                "added": added, "removed": [], "changed": [], "revision": 1,
            });
            assert_eq!(event.json(), expected.to_string());
        }
    });
}

/// SPEC 16.2: as many streams as a host reads by one queue, one wake-up for what all are told at
/// one time.
#[test]
fn many_streams_behind_one_queue_wake_it_once() {
    const SESSIONS: usize = 20;
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let (sent, woken) = std::sync::mpsc::channel();
        let queue = Arc::new_cyclic(|queue: &std::sync::Weak<CompletionQueue<usize>>| {
            let queue = queue.clone();
            CompletionQueue::new(move || {
                let _ = queue.upgrade().map(|queue| sent.send(queue.len()));
            })
        });
        let mut sessions: Vec<(Session, Lease, Subscription)> = Vec::new();
        for number in 0..SESSIONS {
            let session = rig.session(&number.to_string());
            let lease = acquire(&session, "s").await;
            let stream = session.subscribe(EventMask(EventKind::ToolsChanged.bit())).unwrap();
            let queue = Arc::downgrade(&queue);
            stream.set_wake(move || {
                let _ = queue.upgrade().map(|queue| queue.push(number));
            });
            sessions.push((session, lease, stream));
        }
        text(&sessions[0].1, "change_list", json!({ "add": ["new"] })).await;
        assert_eq!(woken.recv_timeout(HANG), Ok(SESSIONS), "when all streams were told");
        assert_eq!(queue.drain(SESSIONS), Vec::from_iter(0..SESSIONS));
        for (_, _, stream) in &sessions {
            assert!(stream.try_next().is_some());
        }
        assert!(woken.try_recv().is_err(), "and once");
    });
}

/// SPEC 16.5: what is told at one time is woken for sooner where a stream has no room for all of
/// it.
#[test]
fn a_stream_with_less_room_than_is_told_at_one_time_misses_nothing() {
    const SESSIONS: usize = 20;
    let rig = Rig::new(json!({ "limits": { "event_backlog": 4 } }));
    host(async {
        rig.configure(json!({ "s": rig.server(&["--list-changes"]) })).await;
        let mut sessions = Vec::new();
        for number in 0..SESSIONS {
            let session = rig.session(&number.to_string());
            let lease = acquire(&session, "s").await;
            sessions.push((session, lease));
        }
        let kinds = EventMask(EventKind::ToolsChanged.bit() | EventKind::Lagged.bit());
        let stream = Arc::new(rig.pool.subscribe(kinds).unwrap());
        let (sent, told) = std::sync::mpsc::channel();
        let read = Arc::downgrade(&stream);
        stream.set_wake(move || {
            let Some(stream) = read.upgrade() else { return };
            std::iter::from_fn(|| stream.try_next()).for_each(|event| _ = sent.send(event.kind()));
        });
        text(&sessions[0].1, "change_list", json!({ "add": ["new"] })).await;
        for number in 0..SESSIONS {
            let kind = told.recv_timeout(HANG);
            assert_eq!(kind, Ok(EventKind::ToolsChanged), "of session {number}");
        }
    });
}

/// SPEC 9.7, I-16: it begins when it is asked for, and goes on without the caller.
#[test]
fn a_close_that_nobody_waits_for_ends_the_streams() {
    for polls in [0, 1] {
        let rig = Rig::new(json!({}));
        let stream = rig.pool.subscribe(EventMask::ALL).unwrap();
        let mut closing = Box::pin(rig.pool.close());
        for _ in 0..polls {
            let _ = closing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        drop(closing);
        until(|| stream.try_next().is_none() && stream.is_ended());
    }
}

/// SPEC 9.7: a close that is under way is not hurried when the host lets go of all that it has, and
/// who listens hears it to its end.
#[test]
fn a_close_is_heard_to_its_end_though_the_last_handle_goes() {
    let rig = Rig::new(json!({}));
    let options = r#"{ "cache": "off", "exit_grace_ms": 500 }"#;
    let pool = Pool::new(PoolOptions::from_json(options).unwrap()).unwrap();
    let spec = ServerSpec::from_value("s", &rig.server(&["--ignore-eof"])).unwrap();
    host(async {
        let lease = pool.acquire("s", &spec, "a", &AcquireOptions::default()).await.unwrap();
        let stream = pool.subscribe(EventMask::ALL).unwrap();
        let closing = pool.close();
        drop((lease, pool));
        closing.await.unwrap();
        let events = std::iter::from_fn(|| stream.try_next());
        let events: Vec<Value> =
            events.map(|event| serde_json::from_str(event.json()).unwrap()).collect();
        let is_its_end = |event: &Value| event["server"] == "s" && event["to"] == "closed";
        assert!(events.iter().any(is_its_end), "{events:?}");
        assert!(stream.is_ended());
    });
    rig.wait_for_no_process();
}

/// SPEC 5.10, S-44: what a server sends and nobody asked for ends no call, tells nobody anything,
/// and is counted by its kind.
#[test]
fn what_nobody_asked_for_is_dropped_and_counted() {
    const REPLY: &str = r#"{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}"#;
    const NOTIFICATIONS: [&str; 5] = [
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":987654,"progress":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":987654}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"x","status":"completed"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/no/such"}"#,
    ];
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let (session, other) = (rig.session("a"), rig.session("b"));
        let (lease, _held) = (acquire(&session, "s").await, acquire(&other, "s").await);
        let events = [session.subscribe(EventMask::ALL), other.subscribe(EventMask::ALL)];
        let ignored = || rig.pool.status()["servers"]["s"]["entries"][0]["ignored"].take();
        let mut expected = json!({ "noise": 0, "replies": 0, "notifications": 0 });
        assert_eq!(ignored(), expected);
        let lines = NOTIFICATIONS.map(|line| ("notifications", line));
        for (kind, line) in lines.into_iter().chain([("replies", REPLY), ("noise", "noise")]) {
            // The line comes before the answer, which is this call's own.
            text(&lease, "write", json!({ "line": line })).await;
            expected[kind] = json!(expected[kind].as_u64().unwrap() + 1);
            assert_eq!(ignored(), expected, "{line}");
        }
        for events in events {
            let told = events.unwrap().try_next();
            assert!(told.is_none(), "{}", told.unwrap().json());
        }
    });
}
