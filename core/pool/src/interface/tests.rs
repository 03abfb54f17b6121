//! The registry's own rules.

use std::collections::BTreeSet;

use super::*;
use crate::error::{Error, ErrorCode, Outcome};

/// SPEC 5.12: numbers are dense from 1, names are unique, and every code finds its own row.
#[test]
fn errors_have_one_number_and_one_name_each() {
    let mut names = BTreeSet::new();
    for (index, row) in ERRORS.iter().enumerate() {
        let number = index as i32 + 1;
        assert_eq!(row.code as i32, number);
        assert_eq!(ErrorCode::from_number(number), Some(row.code));
        assert_eq!(ErrorCode::from_name(row.name), Some(row.code));
        assert_eq!(row.code.row(), row);
        assert_eq!(row.code.name(), row.name);
        assert_eq!(row.node_code, format!("TRUNKLINE_{}", row.name.to_uppercase()));
        assert!(row.python_class.ends_with("Error"));
        assert!(names.insert(row.name));
    }
    assert_eq!(ERRORS.len(), 29);
    for number in [0, -1, 30, i32::MAX, i32::MIN] {
        assert_eq!(ErrorCode::from_number(number), None);
    }
    assert_eq!(ErrorCode::from_name("Internal"), None);
}

/// SPEC 5.12: which failures may go away by themselves.
#[test]
fn retryable_codes_are_these() {
    let retryable: Vec<&str> =
        ErrorCode::ALL.iter().filter(|code| code.is_retryable()).map(|code| code.name()).collect();
    assert_eq!(
        retryable,
        [
            "timeout",
            "budget_exhausted",
            "limit",
            "spawn_failed",
            "connect_failed",
            "exited",
            "unavailable",
            "store",
            "unstable"
        ]
    );
}

/// SPEC 5.6, 5.12: an interrupted call may be repeated only when it was never written.
#[test]
fn an_interrupted_call_is_retryable_by_its_outcome() {
    let error = Error::new(ErrorCode::CallInterrupted, "the connection was lost");
    assert!(!error.is_retryable());
    assert!(error.clone().with_outcome(Outcome::NotSent).is_retryable());
    assert!(!error.with_outcome(Outcome::Unknown).is_retryable());
}

/// SPEC 5.6, 9.4: arguments go back to the caller and appear in no text of the error, nor does a
/// control character of a server's name act.
#[test]
fn arguments_are_never_printed() {
    let error = Error::new(ErrorCode::CallInterrupted, "the connection was lost")
        .with_arguments("{\"token\":\"CANARY\"}".into())
        .with_server("s");
    let wrapped = Error::new(ErrorCode::Internal, "outer").with_cause(error.clone());
    assert_eq!(error.arguments(), Some("{\"token\":\"CANARY\"}"));
    for text in [
        error.to_string(),
        format!("{error:?}"),
        error.to_json().to_string(),
        format!("{wrapped:?} {wrapped} {}", wrapped.to_json()),
    ] {
        assert!(!text.contains("CANARY"), "{text}");
    }
}

/// SPEC 16.6: bits and types are unique, each kind finds its own row, and the mask of all fits 64
/// bits.
#[test]
fn events_have_one_bit_and_one_type_each() {
    let mut mask = 0_u64;
    for row in EVENTS {
        assert_eq!(mask & row.kind.bit(), 0, "{}", row.name);
        mask |= row.kind.bit();
        assert_eq!(EventKind::from_name(row.name), Some(row.kind));
        assert_eq!(row.kind.row(), row);
        assert_eq!((row.kind.name(), row.kind.scope()), (row.name, row.scope));
    }
    assert_eq!(mask, ((1 << 22) - 1) | (1 << 63));
    assert_eq!(EventKind::from_name("nothing"), None);
    let envelope: Vec<&str> = events::ENVELOPE.iter().map(|field| field.name).collect();
    let expected = ["v", "seq", "type", "scope", "session", "server", "entry_index", "generation"];
    assert_eq!(envelope, expected);
}

fn each_row(rows: &'static [OptionRow], visit: &mut impl FnMut(&'static OptionRow)) {
    for row in rows {
        visit(row);
        if let OptionKind::Object(members) = row.kind {
            each_row(members, visit);
        }
    }
}

/// SPEC 16.5: names are snake_case, unique within their object, and end in `_ms` exactly when they
/// are durations.
#[test]
fn option_names_follow_the_rules() {
    for scope in SCOPES {
        each_row(options(*scope), &mut |row| {
            let is_snake = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(row.name.chars().all(is_snake), "{}", row.name);
            let is_duration = matches!(
                row.kind,
                OptionKind::Duration { .. }
                    | OptionKind::DurationLists(_)
                    | OptionKind::Durations { .. }
            );
            assert_eq!(row.name.ends_with("_ms"), is_duration, "{}", row.name);
            assert!(!row.doc.is_empty(), "{}", row.name);
            if let OptionKind::Object(members) = row.kind {
                let names: BTreeSet<&str> = members.iter().map(|row| row.name).collect();
                assert_eq!(names.len(), members.len(), "{}", row.name);
            }
        });
        let mut spellings = BTreeSet::new();
        for row in options(*scope) {
            assert!(spellings.insert(row.name), "{}", row.name);
            for alias in row.aliases {
                assert!(spellings.insert(alias), "{alias}");
            }
        }
    }
}

/// SPEC 16.5: the names of other languages follow from the one table, and are unique in theirs.
#[test]
fn names_of_other_languages_are_mechanical() {
    assert_eq!(python_name("drain_delay_ms"), "drain_delay");
    assert_eq!(python_name("workers"), "workers");
    assert_eq!(node_name("drain_delay_ms"), "drainDelayMs");
    assert_eq!(node_name("id"), "id");
    for scope in SCOPES {
        let rows = options(*scope);
        let python: BTreeSet<&str> = rows.iter().map(OptionRow::python_name).collect();
        let node: BTreeSet<String> = rows.iter().map(OptionRow::node_name).collect();
        assert_eq!((python.len(), node.len()), (rows.len(), rows.len()));
    }
}

/// SPEC 16.5: the registry as JSON holds every row, so that a binding needs nothing else.
#[test]
fn the_registry_as_json_is_whole() {
    let json = to_json();
    assert_eq!(json["v"], 1);
    assert_eq!(json["errors"][0]["name"], "invalid_argument");
    assert_eq!(json["errors"].as_array().unwrap().len(), ERRORS.len());
    assert_eq!(json["events"].as_array().unwrap().len(), EVENTS.len());
    let lagged = &json["events"][EVENTS.len() - 1];
    assert_eq!((&lagged["bit"], &lagged["type"]), (&63.into(), &"lagged".into()));
    for scope in SCOPES {
        let rows = json["options"][scope.name()].as_array().unwrap();
        assert_eq!(rows.len(), options(*scope).len());
    }
    let limits = json["options"]["pool"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "limits")
        .unwrap();
    assert_eq!(limits["members"][4]["node"], "frameBytes");
}

/// SPEC 16.5: a row as JSON says all that a binding needs to translate it: ranges, units, names,
/// spellings.
#[test]
fn rows_as_json_say_everything() {
    let json = to_json();
    let row = |scope: &str, name: &str| {
        let rows = json["options"][scope].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let workers = serde_json::json!({
        "name": "workers", "python": "workers", "node": "workers", "type": "integer", "min": 1, "max": 64,
        "unit": "threads", "default": "1",
        "doc": "threads of the internal runtime; one setting per process",
    });
    assert_eq!(row("pool", "workers"), workers);
    assert!(row("pool", "keepalive_misses").get("unit").is_none());
    assert_eq!(row("call", "retry")["words"], serde_json::json!(["never", "not_sent", "safe"]));
    let include = row("server", "include");
    assert_eq!(include["spellings"], serde_json::json!(["include", "includeTools"]));
    assert!(["python", "node", "aliases"].iter().all(|name| include.get(name).is_none()));
    let include = options(OptionScope::Server).iter().find(|row| row.name == "include").unwrap();
    assert_eq!(include.to_json()["aliases"], serde_json::json!(["includeTools"]));
    let payload = &json["events"][EVENTS.len() - 1]["payload"];
    let missed = serde_json::json!([{"name": "missed", "type": "integer", "required": true}]);
    assert_eq!(*payload, missed);
    let envelope = json["envelope"].as_array().unwrap();
    let session = envelope.iter().find(|field| field["name"] == "session").unwrap();
    assert_eq!((&session["type"], &session["required"]), (&"string".into(), &false.into()));
}

/// SPEC 16.5: a default that is a JSON value is one that its own option takes.
#[test]
fn documented_defaults_are_the_real_ones() {
    use crate::options::{CallOptions, DrainOptions, PoolOptions, SessionOptions};
    let mut pool = serde_json::Map::new();
    for row in options(OptionScope::Pool) {
        if let OptionKind::Object(members) = row.kind {
            pool.insert(row.name.into(), stated_defaults(members).into());
        }
    }
    pool.append(&mut stated_defaults(options(OptionScope::Pool)));
    // `name` and `version` have no default: a `client_info` needs both.
    pool.remove("client_info");
    let text = serde_json::Value::Object(pool).to_string();
    assert_eq!(PoolOptions::from_json(&text).unwrap(), PoolOptions::default());
    let mut session = stated_defaults(options(OptionScope::Session));
    session.insert("id".into(), "a".into());
    let text = serde_json::Value::Object(session).to_string();
    assert_eq!(SessionOptions::from_json(&text).unwrap(), SessionOptions::new("a"));
    let text = |scope| serde_json::Value::Object(stated_defaults(options(scope))).to_string();
    assert_eq!(CallOptions::from_json(&text(OptionScope::Call)).unwrap(), CallOptions::default());
    assert_eq!(
        DrainOptions::from_json(&text(OptionScope::Drain)).unwrap(),
        DrainOptions::default()
    );
}

/// The defaults of options that are given as JSON, nested objects included.
fn stated_defaults(rows: &'static [OptionRow]) -> serde_json::Map<String, serde_json::Value> {
    let mut out = serde_json::Map::new();
    for row in rows {
        if let OptionKind::Object(members) = row.kind {
            out.insert(row.name.into(), stated_defaults(members).into());
        } else if let Ok(value) = serde_json::from_str(row.default) {
            out.insert(row.name.into(), value);
        }
    }
    out
}

/// SPEC 4.2, 9.6, 16.5: ranges, in the units of the registry: the ends are in, what is beyond them
/// is not.
#[test]
fn ranges_are_these() {
    let second = 1_000_u64;
    let (minute, hour, day) = (60 * second, 3_600 * second, 86_400 * second);
    for (path, min, max) in [
        ("workers", 1, 64),
        ("drain_delay_ms", 0, day),
        ("idle_cap_ms", 0, day),
        ("exit_grace_ms", 0, 10 * minute),
        ("kill_grace_ms", 0, 10 * minute),
        ("connect_timeout_ms", 100, 300 * second),
        ("call_timeout_ms", 1, 7 * day),
        ("keepalive_ms", 0, day),
        ("keepalive_misses", 1, 100),
        ("reconnect.breaker.losses", 1, 1_000),
        ("reconnect.breaker.window_ms", 1, day),
        ("reconnect.healthy_after_ms", 0, day),
        ("budget.limit", 0, 65_536),
        ("limits.processes", 1, 65_536),
        ("limits.in_flight_per_entry", 1, 1_048_576),
        ("limits.frame_bytes", 1_024, 1_073_741_824),
        ("limits.stderr_bytes", 0, 67_108_864),
        ("limits.event_backlog", 1, 1_048_576),
        ("start_gate_ms", 0, 10 * minute),
    ] {
        assert_eq!(range(options(OptionScope::Pool), path), (min, max), "{path}");
    }
    assert_eq!(range(options(OptionScope::Drain), "timeout_ms"), (0, hour));
    assert_eq!(range(options(OptionScope::Call), "idle_timeout_ms"), (1, 7 * day));
    assert_eq!(range(options(OptionScope::Session), "keep_for_ms"), (0, day));
}

fn range(rows: &'static [OptionRow], path: &str) -> (u64, u64) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match rows.iter().find(|row| row.name == name).unwrap().kind {
        OptionKind::Integer { min, max, .. } | OptionKind::Duration { min, max } => (min, max),
        OptionKind::Object(members) => range(members, rest),
        kind => panic!("{path} is {kind:?}"),
    }
}

/// SPEC 10.3: the words for formats are those of the formats.
#[test]
fn load_knows_every_format() {
    let format = options(OptionScope::Load).iter().find(|row| row.name == "format").unwrap();
    let names: Vec<&str> = crate::settings::FORMATS.iter().map(|format| format.name()).collect();
    assert!(matches!(format.kind, OptionKind::Word(words) if *words == *names));
}

/// SPEC 16.7: what Python and Node read of telemetry is what Rust tells.
#[test]
fn telemetry_has_one_row_for_each_operation_that_is_a_span() {
    let json = to_json();
    let rows = json["telemetry"]["requests"].as_array().unwrap();
    let node: Vec<&str> = rows.iter().map(|row| row["node"].as_str().unwrap()).collect();
    assert_eq!(node, ["callTool", "getPrompt", "readResource", "complete", "request"]);
    for row in telemetry::REQUESTS {
        assert!(row.attribute.is_some() || !row.is_named, "{row:?}");
        let counted = telemetry::counted_method(row.method.unwrap_or(row.name));
        assert_eq!(counted, row.method.unwrap_or("_OTHER"));
    }
    assert_eq!(json["telemetry"]["duration"]["name"], "mcp.client.operation.duration");
}
