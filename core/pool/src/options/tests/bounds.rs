//! Where the limits of options end, and what their errors say.

use std::time::Duration;

use super::*;

fn pool(text: &str) -> std::result::Result<PoolOptions, Error> {
    PoolOptions::from_json(text)
}

fn message(result: std::result::Result<impl std::fmt::Debug, Error>) -> String {
    result.unwrap_err().message().to_owned()
}

/// S-24: a text of options has one MiB at most.
#[test]
fn the_longest_text_is_taken() {
    let padded = |bytes: usize| format!("{{{}}}", " ".repeat(bytes - 2));
    assert_eq!(pool(&padded(1 << 20)).unwrap(), PoolOptions::default());
    for more in [1, 2] {
        let text = padded((1 << 20) + more);
        assert_eq!(message(pool(&text)), "the options are longer than 1048576 bytes");
    }
}

/// S-24: arrays and objects of names have ten thousand items at most, and a hundred attempts are
/// enough for anybody.
#[test]
fn the_longest_lists_are_taken() {
    let inherited = |count: usize| pool(&json!({"inherit_env": vec!["A"; count]}).to_string());
    assert_eq!(inherited(10_000).unwrap().inherit_env.len(), 10_000);
    assert_eq!(message(inherited(10_001)), "option `inherit_env` has more than 10000 items");
    let filtered = |count: usize| {
        let members = (0..count).map(|index| (format!("s{index}"), json!([])));
        let filters = Value::Object(members.collect());
        SessionOptions::from_json(&json!({"id": "a", "include": filters}).to_string())
    };
    assert_eq!(filtered(10_000).unwrap().filters.len(), 10_000);
    assert_eq!(message(filtered(10_001)), "option `include` has more than 10000 members");
    let delays = |count: usize| {
        pool(&json!({"reconnect": {"delays_ms": {"local": vec![1; count]}}}).to_string())
    };
    assert_eq!(delays(100).unwrap().reconnect.local_delays.len(), 100);
    assert_eq!(message(delays(101)), "option `reconnect.delays_ms.local` has more than 100 items");
}

/// SPEC 3.13, S-24: the id of a session has 256 bytes at most.
#[test]
fn the_longest_id_is_taken() {
    let open =
        |bytes: usize| SessionOptions::from_json(&json!({"id": "a".repeat(bytes)}).to_string());
    assert_eq!(open(256).unwrap().id.len(), 256);
    for bytes in [257, 258] {
        assert_eq!(
            message(open(bytes)),
            "the `id` of a session has at most 256 bytes and no control characters"
        );
    }
}

/// SPEC 4.2: the time without progress may be all the time there is.
#[test]
fn two_times_may_be_equal() {
    let options = pool(r#"{"call_timeout_ms":5,"call_idle_timeout_ms":5}"#).unwrap();
    assert_eq!(options.call_idle_timeout, options.call_timeout);
    let expected =
        "option `call_idle_timeout_ms`: the time without progress is longer than the time in all";
    assert_eq!(message(pool(r#"{"call_timeout_ms":5,"call_idle_timeout_ms":6}"#)), expected);
}

/// SPEC 16.2: a time that a host of Rust writes itself has the bound that it has in JSON.
#[test]
fn longer_times_count_as_the_longest() {
    /// The options that are times, each with its longest.
    fn times(rows: &[OptionRow]) -> Value {
        let longest = |kind: &OptionKind| match kind {
            OptionKind::Duration { max, .. } => Some(json!(max)),
            OptionKind::DurationLists(names) => {
                Some(names.iter().map(|name| (*name, json!([3_600_000]))).collect())
            }
            OptionKind::Durations { .. } => Some(json!([3_600_000])),
            OptionKind::Object(members) => Some(times(members)).filter(|times| *times != json!({})),
            _ => None,
        };
        let times = rows.iter().filter_map(|row| Some((row.name, longest(&row.kind)?)));
        times.collect()
    }
    let longest = pool(&times(options(OptionScope::Pool)).to_string()).unwrap();
    let mut longer = PoolOptions::default();
    for time in [
        &mut longer.drain_delay,
        &mut longer.idle_cap,
        &mut longer.exit_grace,
        &mut longer.kill_grace,
        &mut longer.call_timeout,
        &mut longer.call_idle_timeout,
        &mut longer.handler_timeout,
        &mut longer.keepalive,
        &mut longer.start_gate,
        &mut longer.close_timeout,
        &mut longer.reconnect.breaker_window,
        &mut longer.reconnect.healthy_after,
    ] {
        *time = Duration::MAX;
    }
    longer.connect_timeout = Some(Duration::MAX);
    longer.reconnect.local_delays = vec![Duration::MAX];
    longer.reconnect.remote_delays = vec![Duration::MAX];
    longer.reconnect.revive = vec![Duration::MAX];
    assert_eq!(within_bounds(longer), longest);
    assert_eq!(within_bounds(longest.clone()), longest);
    assert_eq!(within_bounds(PoolOptions::default()), PoolOptions::default());
}

/// SPEC 16.5: an error says what the option takes.
#[test]
fn errors_say_what_is_taken() {
    for (text, expected) in [
        ("[]", "the pool options are no JSON object"),
        ("{", "the pool options are no JSON"),
        (r#"{"workers":65}"#, "option `workers` must be a whole number from 1 to 64"),
        (
            r#"{"exit_grace_ms":-1}"#,
            "option `exit_grace_ms` must be a whole number of milliseconds from 0 to 600000",
        ),
        (r#"{"workspace":1}"#, "option `workspace` must be a string"),
        (r#"{"workspace":"a\u0000"}"#, "option `workspace` must not hold a NUL character"),
        (r#"{"inherit_env":"A"}"#, "option `inherit_env` must be an array"),
        (r#"{"limits":[]}"#, "option `limits` must be an object"),
        (r#"{"workers":1,"workers":1}"#, "option `workers` is there twice"),
    ] {
        assert_eq!(message(pool(text)), expected, "{text}");
    }
    assert_eq!(
        message(CallOptions::from_json(r#"{"retry":"often"}"#)),
        "option `retry` must be one of `never`, `not_sent`, `safe`"
    );
    assert_eq!(
        message(SessionOptions::from_json(r#"{"id":"a","servers":"some"}"#)),
        "option `servers` must be \"all\" or an array of server names"
    );
}

/// SPEC 16.5: the hint names what was probably meant, in Python's spelling too, which no count of
/// letters would find.
#[test]
fn hints_name_what_was_meant() {
    let error = CallOptions::from_json(r#"{"timeout":5}"#).unwrap_err();
    assert_eq!(error.detail()["nearest"], "timeout_ms");
    assert_eq!(error.hint(), Some("did you mean `timeout_ms`?"));
    let error = pool(r#"{"reconnect":{"delays_ms":{"lokal":[]}}}"#).unwrap_err();
    assert_eq!(error.hint(), Some("the lists are `local`, `remote`"));
    let advice = ErrorCode::UnknownOption.row().advice;
    assert_eq!(pool(r#"{"qqqq":1}"#).unwrap_err().hint(), Some(advice));
}

/// SPEC 16.5, S-15: numbers of `meta` are the server's to judge, members that are there twice are
/// not.
#[test]
fn meta_may_hold_any_number() {
    let text = r#"{"meta":{"a":[18446744073709551616,1e300]}}"#;
    let options = CallOptions::from_json(text).unwrap();
    assert_eq!(options.meta.as_deref(), Some(r#"{"a":[18446744073709551616,1e300]}"#));
    let twice = CallOptions::from_json(r#"{"meta":{"a":1,"a":2}}"#);
    assert_eq!(message(twice), "option `meta.a` is there twice");
}
