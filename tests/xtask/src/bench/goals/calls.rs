//! Calls: against the bare pipe, and against the SDKs of the protocol.

use super::{Goal, Measured, above, below, cpu, p50, rate};

pub const GOALS: &[Goal] = &[
    below("rust-100", "Rust, 100 B v the pipe", p50("rust", "seq-100"), PIPE_SMALL, 1.5)
        .beside("a task, a table and a deadline", beside_the_pipe("task")),
    below("rust-100k", "Rust, 100 KB v the pipe", p50("rust", "seq-100k"), PIPE_LARGE, 2.2),
    below(
        "rust-100k-structured",
        "Rust, 100 KB structured v the pipe",
        p50("rust", "seq-100k-structured"),
        p50("pipe", "seq-100k-structured"),
        2.2,
    )
    .beside(
        "a pipe and serde_json's word",
        Measured::Ratio(p50("checked", "seq-100k-structured"), p50("pipe", "seq-100k-structured")),
    ),
    below(
        "rust-cpu",
        "Rust, CPU of a call of 100 B v rmcp",
        cpu("rust", "seq-100"),
        cpu("rmcp", "seq-100"),
        0.45,
    ),
    above(
        "rust-wide-100",
        "Rust, 64 in flight, 100 B v rmcp",
        rate("rust", "wide-100"),
        rate("rmcp", "wide-100"),
        5.5,
    ),
    above(
        "rust-wide-100k",
        "Rust, 64 in flight, 100 KB v rmcp",
        rate("rust", "wide-100k"),
        rate("rmcp", "wide-100k"),
        2.2,
    ),
    below("c-100", "C, blocking call of 100 B v the pipe", p50("c", "seq-100"), PIPE_SMALL, 1.6)
        .beside("a thread that reads, a lock and a deadline", beside_the_pipe("thread")),
    above(
        "c-wide-100",
        "C, a queue and one descriptor, 64 in flight v rmcp",
        rate("c", "wide-100"),
        rate("rmcp", "wide-100"),
        4.0,
    ),
    below(
        "python-100",
        "Python, 100 B decoded v mcp",
        p50("python", "seq-100"),
        p50("mcp", "seq-100"),
        1.0 / 7.0,
    ),
    below(
        "python-cpu",
        "Python, CPU of a call of 100 B v mcp",
        cpu("python", "seq-100"),
        cpu("mcp", "seq-100"),
        1.0 / 8.0,
    ),
    above(
        "python-wide-100",
        "Python, 64 in flight decoded v mcp",
        rate("python", "wide-100"),
        rate("mcp", "wide-100"),
        11.0,
    ),
    below(
        "python-100k",
        "Python, 100 KB decoded v mcp",
        p50("python", "seq-100k"),
        p50("mcp", "seq-100k"),
        0.35,
    ),
    below(
        "python-100k-bytes",
        "Python, 100 KB as bytes v mcp",
        p50("python", "seq-100k-bytes"),
        p50("mcp", "seq-100k"),
        0.18,
    ),
    above(
        "python-wide-100k",
        "Python, 64 in flight, 100 KB decoded v mcp",
        rate("python", "wide-100k"),
        rate("mcp", "wide-100k"),
        2.0,
    ),
    below(
        "node-100",
        "Node, 100 B decoded v the SDK",
        p50("node", "seq-100"),
        p50("sdk", "seq-100"),
        0.6,
    ),
    above(
        "node-wide-100",
        "Node, 64 in flight decoded v the SDK",
        rate("node", "wide-100"),
        rate("sdk", "wide-100"),
        3.6,
    ),
    below(
        "node-cpu",
        "Node, CPU of a call of 100 B v the SDK",
        cpu("node", "seq-100"),
        cpu("sdk", "seq-100"),
        0.35,
    ),
    below(
        "node-100k",
        "Node, 100 KB decoded v the SDK",
        p50("node", "seq-100k"),
        p50("sdk", "seq-100k"),
        0.6,
    ),
    below(
        "node-100k-plain",
        "Node, 100 KB decoded v a plain JSON.parse client",
        p50("node", "seq-100k"),
        p50("plain", "seq-100k"),
        1.0,
    ),
    above(
        "node-wide-100k",
        "Node, 64 in flight, 100 KB decoded v the SDK",
        rate("node", "wide-100k"),
        rate("sdk", "wide-100k"),
        2.0,
    ),
];

pub const OVER_HTTP: &[Goal] = &[
    below(
        "rust-http",
        "Rust over HTTP, 100 B v rmcp",
        p50("rust", "http-100"),
        p50("rmcp", "http-100"),
        0.4,
    ),
    below(
        "python-http-cpu",
        "Python over HTTP, CPU of a call v mcp",
        cpu("python", "http-100"),
        cpu("mcp", "http-100"),
        1.0 / 8.0,
    ),
    below(
        "node-http-cpu",
        "Node over HTTP, CPU of a call v the SDK",
        cpu("node", "http-100"),
        cpu("sdk", "http-100"),
        1.0 / 6.0,
    ),
];

const PIPE_SMALL: super::Key = p50("pipe", "seq-100");
const PIPE_LARGE: super::Key = p50("pipe", "seq-100k");

/// A call of 100 B by one of the programs that do nothing else.
const fn beside_the_pipe(client: &'static str) -> Measured {
    Measured::Ratio(p50(client, "seq-100"), PIPE_SMALL)
}
