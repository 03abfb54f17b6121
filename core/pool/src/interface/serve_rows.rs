//! The options of an endpoint that serves the pool.

use super::option_rows::DAY;
use super::options::OptionKind::{AnyObject, Bool, Object, Text, Texts, Word};
use super::options::{OptionRow, duration, integer, row};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const MIB: u64 = 1 << 20;

pub(super) const SERVE: &[OptionRow] = &[
    row(
        "http",
        Text,
        "127.0.0.1:0",
        "the address for HTTP, with the port 0 for any that is free; `off` is none",
    ),
    row(
        "tls_in_front",
        Bool,
        "false",
        "whether a proxy in front of the endpoint has TLS; without one `http` takes loopback addresses alone",
    ),
    row("socket", Text, "none", "the whole path of a Unix socket"),
    row(
        "token_file",
        Text,
        "a token of its own for each endpoint",
        "the whole path of a file of tokens, one a line after its name; each name is a principal",
    ),
    row("allowed_hosts", Texts, "[]", "values of `Host` beside those of loopback"),
    row("allowed_origins", Texts, "[]", "values of `Origin` that may come"),
    row(
        "profiles",
        AnyObject,
        "{}",
        "options of sessions by the name of their profile, which is served at `/profiles/<name>/mcp`",
    ),
    row(
        "parking",
        Word(&["park", "refuse"]),
        "park",
        "what becomes of a call of a modern client while a legacy server waits for an answer",
    ),
    row(
        "parked_for_ms",
        duration(SECOND, DAY),
        "300000",
        "how long a parked call waits for the answer of its client",
    ),
    row(
        "state_key_file",
        Text,
        "a key of its own for each endpoint",
        "the whole path of a file of 32 bytes at least, the key of what clients bring back; endpoints that share it take each other's",
    ),
    row("limits", Object(LIMITS), "", "bounds for each principal"),
    row(
        "idle_ms",
        duration(SECOND, DAY),
        "900000",
        "how long a client that asks nothing keeps its session",
    ),
    row(
        "drain_ms",
        duration(0, 60 * MINUTE),
        "10000",
        "how long calls may go on after a close of the endpoint",
    ),
];

const LIMITS: &[OptionRow] = &[
    row("connections", integer(1, 65_536, ""), "64", "connections at one time"),
    row("sessions", integer(1, 65_536, ""), "256", "legacy sessions at one time"),
    row("listens", integer(1, 65_536, ""), "16", "streams of changes at one time"),
    row("calls", integer(1, 65_536, ""), "128", "calls in flight"),
    row("parked", integer(0, 65_536, ""), "16", "parked calls"),
    row("body_bytes", integer(1024, 64 * MIB, "bytes"), "4194304", "bytes of one message"),
    row("header_bytes", integer(1024, MIB, "bytes"), "16384", "bytes of the headers of a request"),
];
