//! Options from JSON.

mod bounds;
mod configure;

use serde_json::{Value, json};

use super::*;
use crate::base::random::Random;
use crate::error::{Error, ErrorCode};
use crate::gates::GateLists;
use crate::interface::{OptionKind, OptionRow, OptionScope, SCOPES, options};

fn refused(result: std::result::Result<impl std::fmt::Debug, Error>) -> (ErrorCode, Value) {
    let error = result.unwrap_err();
    (error.code(), Value::Object(error.detail().clone()))
}

fn parse(scope: OptionScope, text: &str) -> std::result::Result<String, Error> {
    match scope {
        OptionScope::Pool => PoolOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Session => {
            SessionOptions::from_json(text).map(|options| format!("{options:?}"))
        }
        OptionScope::Configure => {
            ConfigureOptions::from_json(text).map(|options| format!("{options:?}"))
        }
        OptionScope::Call => CallOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Acquire => {
            AcquireOptions::from_json(text).map(|options| format!("{options:?}"))
        }
        OptionScope::SignIn => SignInOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Drain => DrainOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Gates => GateLists::from_json(text).map(|lists| format!("{lists:?}")),
        OptionScope::Load => LoadOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Reload => ReloadOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Status => StatusOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Serve => ServeOptions::from_json(text).map(|options| format!("{options:?}")),
        OptionScope::Server => unreachable!("servers have a parser of their own"),
    }
}

/// The scopes whose options are parsed here.
fn scopes() -> impl Iterator<Item = OptionScope> {
    let others = SCOPES.iter().copied().filter(|scope| *scope != OptionScope::Server);
    others.chain([OptionScope::Serve])
}

/// SPEC 16.5: no text and no members mean the defaults. SPEC 8.1: by default the first attempt is
/// made at once, and what was given up is tried again for ever.
#[test]
fn a_lost_server_is_tried_at_once_and_never_given_up_for_good() {
    let Reconnect { local_delays, remote_delays, revive, .. } = Reconnect::default();
    assert_eq!((local_delays[0], remote_delays[0]), (Duration::ZERO, Duration::ZERO));
    assert_eq!(revive, [60, 120, 240, 300].map(Duration::from_secs));
}

#[test]
fn nothing_given_is_all_defaults() {
    for text in ["", "  \n", "{}", r#"{"drain_delay_ms":null,"budget":null,"limits":null}"#] {
        assert_eq!(PoolOptions::from_json(text).unwrap(), PoolOptions::default());
    }
    assert_eq!(CallOptions::from_json("").unwrap(), CallOptions::default());
    assert_eq!(AcquireOptions::from_json("").unwrap(), AcquireOptions::default());
    assert_eq!(DrainOptions::from_json("").unwrap(), DrainOptions::default());
}

/// SPEC 15.2: the one option that has a call of its own is read as it is among the others.
#[test]
fn roots_alone_are_read_as_among_the_options() {
    assert_eq!(roots_from_json(r#" ["a", "/b"] "#).unwrap(), ["a", "/b"]);
    assert_eq!(roots_from_json("[]").unwrap(), [""; 0]);
    for (text, path) in [
        (r#"["a", 1]"#, "roots[1]"),
        (r#""a""#, "roots"),
        ("null", "roots"),
        ("", "roots"),
        (r#"[], "workers": 2"#, "roots"),
    ] {
        let (code, detail) = refused(roots_from_json(text));
        assert_eq!((code, &detail["path"]), (ErrorCode::InvalidArgument, &json!(path)), "{text}");
    }
}

fn every_option() -> Value {
    json!({
        "workspace": "/w", "workers": 3, "shared_transports": ["http"], "drain_delay_ms": 1, "idle_cap_ms": 2,
        "exit_grace_ms": 3, "kill_grace_ms": 4, "connect_timeout_ms": 100, "call_timeout_ms": 6,
        "call_idle_timeout_ms": 5, "keepalive_ms": 70, "keepalive_misses": 8, "handler_timeout_ms": 22,
        "reconnect": {"delays_ms": {"local": [9], "remote": []}, "breaker": {"losses": 10, "window_ms": 11}, "healthy_after_ms": 12, "revive_ms": [100]},
        "limits": {"processes": 13, "entries_per_name": 14, "in_flight_per_session": 15, "in_flight_per_entry": 16,
                   "frame_bytes": 1700, "stderr_bytes": 18, "event_backlog": 19},
        "budget": {"limit": 21, "mode": "enforce"},
        "start_gate_ms": 20, "close_timeout_ms": 24, "start": "lazy", "start_parallel": 23, "inherit_env": ["A*"], "roots": ["/r"], "reserved_names": ["mcp__a__b"], "name_style": "none", "on_tool_change": "quarantine", "nothing_listed": "error", "client_info": {"name":"h","version":"1"}, "tokens": "/t", "status_file": "/s",
        "allowed": ["a*"], "excluded": ["b"], "launch_allowed": [],
        "trusted": true, "untrusted_sources": ["user", "launch"], "approvals": "memory", "commands": true, "cache": "/c",
    })
}

/// SPEC 16.5: every option of a pool reaches its own field.
#[test]
fn every_pool_option_is_read() {
    let ms = Duration::from_millis;
    let expected = PoolOptions {
        workspace: Some("/w".into()),
        workers: 3,
        shared_transports: vec!["http".into()],
        drain_delay: ms(1),
        idle_cap: ms(2),
        exit_grace: ms(3),
        kill_grace: ms(4),
        connect_timeout: Some(ms(100)),
        call_timeout: ms(6),
        call_idle_timeout: ms(5),
        keepalive: ms(70),
        keepalive_misses: 8,
        handler_timeout: ms(22),
        reconnect: Reconnect {
            local_delays: vec![ms(9)],
            remote_delays: vec![],
            breaker_losses: 10,
            breaker_window: ms(11),
            healthy_after: ms(12),
            revive: vec![ms(100)],
        },
        budget: Some(Budget { limit: 21, mode: BudgetMode::Enforce }),
        limits: Limits {
            processes: 13,
            entries_per_name: 14,
            in_flight_per_session: 15,
            in_flight_per_entry: 16,
            frame_bytes: 1700,
            stderr_bytes: 18,
            event_backlog: 19,
        },
        close_timeout: ms(24),
        start_gate: ms(20),
        start: Start::Lazy,
        start_parallel: Some(23),
        inherit_env: vec!["A*".into()],
        roots: Some(vec!["/r".into()]),
        name_style: crate::naming::NameStyle::Bare,
        reserved_names: vec!["mcp__a__b".into()],
        allowed: Some(vec!["a*".into()]),
        excluded: vec!["b".into()],
        launch_allowed: Some(vec![]),
        on_tool_change: Some(OnToolChange::Quarantine),
        client_info: Some(ClientInfo::new("h", "1")),
        nothing_listed: NothingListed::Error,
        trusted: true,
        untrusted_sources: vec![crate::layers::Scope::User, crate::layers::Scope::Launch],
        cache: CatalogCache::Folder("/c".into()),
        approvals: Some("memory".into()),
        commands: true,
        tokens: Some("/t".into()),
        status_file: Some("/s".into()),
        handlers: Handlers::default(),
    };
    assert_eq!(PoolOptions::from_json(&every_option().to_string()).unwrap(), expected);
}

/// SPEC 14.2: whatever is no word is a folder.
#[test]
fn the_cache_is_on_or_off_or_a_folder() {
    let cache = |text: &str| PoolOptions::from_json(text).unwrap().cache;
    assert_eq!(cache("{}"), CatalogCache::On);
    assert_eq!(cache(r#"{"cache":"on"}"#), CatalogCache::On);
    assert_eq!(cache(r#"{"cache":"off"}"#), CatalogCache::Off);
    assert_eq!(cache(r#"{"cache":"Off"}"#), CatalogCache::Folder("Off".into()));
}

/// SPEC 9.5: a limit without a mode warns, and a mode that acts on a limit needs one.
#[test]
fn a_budget_is_a_limit_and_a_mode() {
    let budget =
        |text: &str| PoolOptions::from_json(&format!(r#"{{"budget":{text}}}"#)).map(|o| o.budget);
    let of = |limit, mode| Ok(Some(Budget { limit, mode }));
    assert_eq!(budget(r#"{"limit":2}"#), of(2, BudgetMode::Warn));
    assert_eq!(budget(r#"{"limit":0,"mode":"warn"}"#), of(0, BudgetMode::Warn));
    assert_eq!(budget(r#"{"limit":2,"mode":"off"}"#), of(2, BudgetMode::Off));
    assert_eq!(budget(r#"{"limit":2,"mode":"enforce"}"#), of(2, BudgetMode::Enforce));
    for none in ["{}", r#"{"mode":"off"}"#, r#"{"limit":null,"mode":null}"#] {
        assert_eq!(budget(none), Ok(None), "{none}");
    }
    for (wrong, path) in [
        (r#"{"mode":"enforce"}"#, "budget.limit"),
        (r#"{"mode":"warn"}"#, "budget.limit"),
        (r#"{"limit":-1}"#, "budget.limit"),
        (r#"{"limit":1,"mode":"strict"}"#, "budget.mode"),
        ("3", "budget"),
    ] {
        let error = budget(wrong).unwrap_err();
        assert_eq!(error.detail()["path"], path, "{wrong}: {error}");
    }
}

/// SPEC 6.1, 6.2, 3.13: every option of a session reaches its own field.
#[test]
fn every_session_option_is_read() {
    let text = json!({
        "id": "a", "servers": ["s"], "include": {"s": ["x"], "t": [], "u": null}, "exclude": {"s": ["y"], "__proto__": ["z"]},
        "trust": {"s": true}, "always_load": {"s": ["x*"]}, "keep_for_ms": 5, "follow": false,
    });
    let options = SessionOptions::from_json(&text.to_string()).unwrap();
    let filter = |include: Option<&[&str]>, exclude: &[&str]| Filter {
        include: include.map(|patterns| patterns.iter().map(|p| p.to_string()).collect()),
        exclude: exclude.iter().map(|p| p.to_string()).collect(),
    };
    assert_eq!(options.servers, ServerSelection::Names(vec!["s".into()]));
    assert_eq!(
        options.filters.into_iter().collect::<Vec<_>>(),
        [
            ("__proto__".into(), filter(None, &["z"])),
            ("s".into(), filter(Some(&["x"]), &["y"])),
            ("t".into(), filter(Some(&[]), &[])),
        ]
    );
    assert_eq!(options.trust.into_iter().collect::<Vec<_>>(), [("s".into(), true)]);
    assert_eq!(options.always_load["s"], ["x*"]);
    assert_eq!(options.keep_for, Duration::from_millis(5));
    assert_eq!(options.follow, Follow::Opened);
    let follows = SessionOptions::from_json(r#"{"id":"a","follow":true}"#).unwrap();
    assert_eq!(follows.follow, Follow::Newest);
    let all = SessionOptions::from_json(r#"{"id":"a","servers":"all"}"#).unwrap();
    assert_eq!(all, SessionOptions::new("a"));
    let none = SessionOptions::from_json(r#"{"id":"a","servers":[]}"#).unwrap();
    assert_eq!(none.servers, ServerSelection::Names(vec![]));
}

/// SPEC 3.13: a session without a usable id is no session.
#[test]
fn a_session_needs_an_id() {
    let long = "a".repeat(257);
    for id in [json!(null), json!(""), json!("a\nb"), json!("a\u{202e}"), json!(long), json!(1)] {
        let text = json!({ "id": id }).to_string();
        let (code, detail) = refused(SessionOptions::from_json(&text));
        assert_eq!((code, &detail["path"]), (ErrorCode::InvalidArgument, &json!("id")), "{text}");
    }
}

/// SPEC 5.4, 9.7: options of a call, an acquire and a drain; `meta` stays as it is written.
#[test]
fn options_of_operations_are_read() {
    let text = r#"{"timeout_ms":9, "idle_timeout_ms":9.0,"progress":true,"retry":"safe","wait":true,"meta":{ "b":1.50,"a":18446744073709551616}}"#;
    let options = CallOptions::from_json(text).unwrap();
    assert_eq!(options.timeout, Some(Duration::from_millis(9)));
    assert_eq!(options.idle_timeout, Some(Duration::from_millis(9)));
    assert_eq!((options.progress, options.retry, options.wait), (Progress::On, Retry::Safe, true));
    let not_sent = CallOptions::from_json(r#"{"retry":"not_sent","unlisted":true}"#).unwrap();
    assert_eq!((not_sent.retry, not_sent.wait), (Retry::NotSent, false));
    assert_eq!((options.unlisted, not_sent.unlisted), (false, true));
    assert_eq!(options.meta.as_deref(), Some(r#"{ "b":1.50,"a":18446744073709551616}"#));
    let drain = DrainOptions::from_json(r#"{"force":true,"timeout_ms":0}"#).unwrap();
    assert_eq!((drain.mode, drain.timeout), (DrainMode::Force, Some(Duration::ZERO)));
    let acquire = AcquireOptions::from_json(r#"{"timeout_ms":1}"#).unwrap();
    assert_eq!(acquire.timeout, Some(Duration::from_millis(1)));
}

/// SPEC 16.5: an unknown option is named, with the one that was probably meant, however it was
/// spelled.
#[test]
fn an_unknown_option_is_named_with_the_nearest() {
    let near = |text: &str| refused(PoolOptions::from_json(text));
    let expected = |option: &str, nearest: &str| {
        (ErrorCode::UnknownOption, json!({ "option": option, "nearest": nearest }))
    };
    assert_eq!(near(r#"{"drain_dealy_ms":1}"#), expected("drain_dealy_ms", "drain_delay_ms"));
    assert_eq!(near(r#"{"drain_delay":1}"#), expected("drain_delay", "drain_delay_ms"));
    assert_eq!(near(r#"{"drainDelayMs":1}"#), expected("drainDelayMs", "drain_delay_ms"));
    assert_eq!(
        near(r#"{"limits":{"frame_byte":1}}"#),
        expected("limits.frame_byte", "limits.frame_bytes")
    );
    assert_eq!(near(r#"{"qqqq":1}"#), (ErrorCode::UnknownOption, json!({ "option": "qqqq" })));
    assert_eq!(near(r#"{"__proto__":{}}"#).0, ErrorCode::UnknownOption);
    let (code, detail) = near(r#"{"reconnect":{"delays_ms":{"lokal":[]}}}"#);
    assert_eq!(
        (code, &detail["option"]),
        (ErrorCode::UnknownOption, &json!("reconnect.delays_ms.lokal"))
    );
}

/// SPEC 4.2: times that cannot nest are refused; a default is cut to fit.
#[test]
fn time_without_progress_fits_into_the_time_in_all() {
    let cut = PoolOptions::from_json(r#"{"call_timeout_ms":1000}"#).unwrap();
    assert_eq!(cut.call_idle_timeout, Duration::from_secs(1));
    let (code, detail) = refused(PoolOptions::from_json(r#"{"call_idle_timeout_ms":600001}"#));
    assert_eq!(
        (code, detail),
        (ErrorCode::InvalidArgument, json!({"path": "call_idle_timeout_ms"}))
    );
    let (code, _) = refused(CallOptions::from_json(r#"{"timeout_ms":5,"idle_timeout_ms":6}"#));
    assert_eq!(code, ErrorCode::InvalidArgument);
    assert!(CallOptions::from_json(r#"{"idle_timeout_ms":6}"#).is_ok());
}

/// SPEC 4.2: connecting and listing take 100 ms to 300 s.
#[test]
fn the_connect_timeout_has_its_range() {
    let connect = |ms: u64| PoolOptions::from_json(&format!("{{\"connect_timeout_ms\":{ms}}}"));
    assert!(connect(100).is_ok() && connect(300_000).is_ok());
    assert_eq!(refused(connect(99)).1, json!({"path": "connect_timeout_ms"}));
    assert_eq!(refused(connect(300_001)).1, json!({"path": "connect_timeout_ms"}));
}

/// SPEC 16.5, S-15: what is no JSON object, or could be read in two ways, is refused.
#[test]
fn texts_that_are_not_plain_objects_are_refused() {
    for text in [
        "[]",
        "1",
        "null",
        "{",
        "{}{}",
        "{\"workers\":1,}",
        "\u{feff}{}",
        "{\"workspace\":\"\\ud800\"}",
    ] {
        assert_eq!(refused(PoolOptions::from_json(text)).0, ErrorCode::InvalidArgument, "{text}");
    }
    let (code, detail) = refused(PoolOptions::from_json(r#"{"workers":1,"workers":1}"#));
    assert_eq!((code, detail), (ErrorCode::InvalidArgument, json!({"path": "workers"})));
    let deep = format!("{{\"meta\":{}1{}}}", "[".repeat(64), "]".repeat(64));
    assert_eq!(refused(CallOptions::from_json(&deep)).0, ErrorCode::InvalidArgument);
    let long = format!("{{\"workspace\":\"{}\"}}", "a".repeat(1 << 20));
    assert_eq!(refused(PoolOptions::from_json(&long)).0, ErrorCode::InvalidArgument);
}

/// A value that the kind takes, or one that it does not.
fn value_for(kind: &OptionKind, random: &mut Random, right: bool) -> Value {
    let wrong = |random: &mut Random, choices: &[Value]| random.pick(choices).clone();
    if !right {
        return match kind {
            OptionKind::Bool => wrong(random, &[json!(0), json!("true"), json!([])]),
            OptionKind::Integer { max, .. } | OptionKind::Duration { max, .. } => wrong(
                random,
                &[json!(-1), json!(max + 1), json!(1.5), json!("5"), json!(true), json!(1e15)],
            ),
            OptionKind::Text => wrong(random, &[json!(""), json!(1), json!("a\0b"), json!({})]),
            OptionKind::Word(_) => wrong(random, &[json!("nothing"), json!(1), json!(["a"])]),
            OptionKind::Texts => {
                wrong(random, &[json!("a"), json!([1]), json!([""]), json!([null])])
            }
            OptionKind::Words(_) => wrong(random, &[json!("stdio"), json!(["x"]), json!([null])]),
            OptionKind::AllOrNames => {
                wrong(random, &[json!("some"), json!([""]), json!({}), json!(1)])
            }
            OptionKind::BoolByServer => wrong(random, &[json!([]), json!({"s": 1})]),
            OptionKind::PatternsByServer => {
                wrong(random, &[json!([]), json!({"s": "x"}), json!({"s": [1]})])
            }
            OptionKind::DurationLists(_) => wrong(
                random,
                &[
                    json!([1]),
                    json!({"local": 1}),
                    json!({"local": [-1]}),
                    json!({"remote": vec![1; 101]}),
                ],
            ),
            OptionKind::Durations { min } => wrong(
                random,
                &[json!(1), json!([min - 1]), json!([3_600_001]), json!(vec![1_000; 101])],
            ),
            OptionKind::Object(_) | OptionKind::AnyObject => {
                wrong(random, &[json!([]), json!("{}"), json!(1)])
            }
            OptionKind::Icons => wrong(random, &[json!({}), json!(["a"]), json!([{"sizes": 1}])]),
            OptionKind::TextMap | OptionKind::Handlers => json!(1),
        };
    }
    match kind {
        OptionKind::Bool => json!(random.one_in(2)),
        OptionKind::Integer { min, max, .. } | OptionKind::Duration { min, max } => {
            json!(min + random.number() % (max - min + 1))
        }
        OptionKind::Word(words) => json!(random.pick(words)),
        OptionKind::Words(words) => json!([random.pick(words)]),
        OptionKind::Texts => json!(["a*", "b"]),
        OptionKind::AllOrNames => json!(["s"]),
        OptionKind::BoolByServer => json!({"s": true, "t": null}),
        OptionKind::PatternsByServer => json!({"s": [], "t": null}),
        OptionKind::DurationLists(names) => json!({random.pick(names).to_owned(): [0, 3_600_000]}),
        OptionKind::Durations { min } => json!([min, 3_600_000]),
        OptionKind::Object(rows) => object(rows, random, &mut None, ""),
        OptionKind::AnyObject => json!({"any": {}}),
        OptionKind::Icons => json!([{"src": "data:,a", "theme": null}]),
        OptionKind::Text | OptionKind::TextMap => json!("text"),
        // They have no JSON form.
        OptionKind::Handlers => Value::Null,
    }
}

/// Some options with right values. With `spoil`, one of them gets a wrong one, and its path is left
/// there.
fn object(
    rows: &[OptionRow],
    random: &mut Random,
    spoil: &mut Option<String>,
    path: &str,
) -> Value {
    let mut out = serde_json::Map::new();
    let spoiled = random.below(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let is_spoiled = spoil.is_some() && index == spoiled;
        if !is_spoiled && row.name != "id" && random.one_in(2) {
            continue;
        }
        let path =
            if path.is_empty() { row.name.to_owned() } else { format!("{path}.{}", row.name) };
        let value = match (&row.kind, is_spoiled) {
            (OptionKind::Object(rows), true) if random.one_in(2) => {
                object(rows, random, spoil, &path)
            }
            (kind, true) => {
                *spoil = Some(path);
                value_for(kind, random, false)
            }
            (kind, false) => value_for(kind, random, true),
        };
        out.insert(row.name.to_owned(), value);
    }
    Value::Object(out)
}

/// SPEC 16.5: 20,000 generated objects; right ones are taken, and of one wrong value the error
/// names the place.
#[test]
fn generated_options_are_taken_or_refused_by_path() {
    let mut random = Random::new(7);
    for _ in 0..2_000 {
        for scope in scopes() {
            let good = object(options(scope), &mut random, &mut None, "").to_string();
            match parse(scope, &good) {
                Ok(_) => {}
                // Options that are right by themselves and not together.
                Err(error) => {
                    let apart = ["longer than", "is missing", "must be an address", "a whole path"];
                    assert!(apart.iter().any(|w| error.message().contains(w)), "{good} {error}");
                }
            }
            let mut spoil = Some(String::new());
            let bad = object(options(scope), &mut random, &mut spoil, "").to_string();
            let path = spoil.unwrap();
            let error = parse(scope, &bad).unwrap_err();
            let said = error.detail()["path"].as_str().unwrap();
            assert!(said.starts_with(&path), "{bad}: {path} {said}");
        }
    }
}

/// SPEC 16.5, I-28: no text of any kind makes a parser panic.
#[test]
fn rubbish_never_panics() {
    let alphabet: Vec<char> = "{}[]\":,\\ud800 1e9-.null\u{0}\u{feff}workersid".chars().collect();
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let text = random.word(&alphabet, 24);
        for scope in scopes() {
            let _ = parse(scope, &text);
        }
    }
}
