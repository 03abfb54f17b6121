//! What comes and goes thousands of times leaves neither a descriptor nor memory (I-25, SECURITY
//! row 21).

use rig::{Rig, host, score, text};
use serde_json::json;
use trunkline::{AcquireOptions, ErrorCode};

use crate::base::{Base, NO_SPARES, at_rest, rig};
use crate::rounds;

/// What tables and lists may grow by, however long it goes on.
const GROWTH_BYTES_MAX: usize = 16 << 10;

/// Runs the cycles, which are that part of row 21; the first third warms up.
fn back_to_base(part: &str, rig: &Rig, base: &Base, mut cycle: impl FnMut(usize)) {
    let cycles = rounds(300, 10_000);
    (0..cycles / 3).for_each(&mut cycle);
    base.returns(rig);
    let before = at_rest();
    (cycles / 3..cycles).for_each(&mut cycle);
    base.returns(rig);
    let grown = at_rest().saturating_sub(before);
    println!("{cycles} cycles: {grown} bytes more in the last two thirds");
    assert!(grown < GROWTH_BYTES_MAX, "{grown} bytes");
    score::done(&format!("soak/{part}"), cycles as u64);
}

/// I-25, SPEC 4.6: programs that are not there, and servers that end at once.
#[test]
fn failed_spawns_leave_neither_descriptors_nor_memory() {
    rig::alone!(NO_SPARES);
    let rig = rig();
    let options = AcquireOptions::default();
    host(rig.configure(json!({
        "s": rig.server(&[]),
        "missing": { "command": "no-such-program" },
        "early": { "command": "/bin/false" },
    })));
    let base = host(Base::new(&rig, "s"));
    let session = rig.session("a");
    back_to_base("failures", &rig, &base, |i| {
        let (server, code) =
            [("missing", ErrorCode::SpawnFailed), ("early", ErrorCode::Exited)][i % 2];
        let answer = host(session.acquire(server, None, &options));
        assert_eq!(answer.err().unwrap().code(), code);
    });
}

/// I-25, SPEC 3.4: connects that are dropped, in every second cycle before the server can have
/// answered.
#[test]
fn dropped_connects_leave_neither_descriptors_nor_memory() {
    rig::alone!(NO_SPARES);
    let rig = rig();
    host(rig.configure(json!({ "s": rig.server(&[]) })));
    let base = host(Base::new(&rig, "s"));
    let session = rig.session("a");
    let options = AcquireOptions::default();
    back_to_base("connects", &rig, &base, |i| {
        host(async {
            let acquiring = session.acquire("s", None, &options);
            tokio::select! {
                biased;
                lease = acquiring => drop(text(&lease.unwrap(), "pid", json!({})).await),
                () = soon(i) => {}
            }
        });
    });
}

/// Another moment in each cycle.
async fn soon(cycle: usize) {
    if cycle % 2 == 1 {
        let micros = (cycle % 64) as u64 * 100;
        tokio::time::sleep(std::time::Duration::from_micros(micros)).await;
    }
}
