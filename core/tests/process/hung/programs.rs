//! Programs on a file system that is away, however often and by whomever they are wanted.

use super::*;

/// SPEC 16.2, 3.3: an attempt that was given up leaves its look-up behind, and those of its server
/// that come later leave no other.
#[test]
fn a_program_that_is_away_is_waited_for_once_whoever_wants_it() {
    rig::alone!();
    let (rig, share) = rig_with(json!({
        "trusted": true, "approvals": "memory", "start_parallel": THREADS,
        "reconnect": { "delays_ms": { "local": [] } },
    }));
    let server = on_share(&share);
    set(&rig.pool, "launch:a", json!({ "a": server }));
    let away = Away::new(&share);
    // Each session has a connection of its own, and asks for it twice: what failed is not kept.
    let asked: Vec<_> = (0..THREADS).map(|number| asked_twice(&rig, number)).collect();
    away.until_asked();
    for asked in &asked {
        assert_eq!(done(asked), [Some(ErrorCode::Timeout); 2]);
    }
    calls_go_on(&rig);
    others_go_on(&rig);
    closes(&rig);
    drop(away);
}

/// SPEC 16.2: who configures it to be elsewhere need not wait until it is back.
#[test]
fn a_server_whose_program_is_away_starts_from_elsewhere() {
    rig::alone!();
    let (rig, share) = rig();
    set(&rig.pool, "launch:a", json!({ "a": on_share(&share) }));
    let away = Away::new(&share);
    let asked = ask(&rig);
    away.until_asked();
    assert_eq!(done(&asked), Some(ErrorCode::Timeout));
    set(&rig.pool, "launch:a", json!({ "a": rig.server(&[]) }));
    assert_eq!(done(&ask(&rig)), None);
    closes(&rig);
    drop(away);
}

/// A server of each session's own whose program is there, and given up soon when it is not.
fn on_share(share: &Path) -> Value {
    std::fs::write(share.join("program"), "").unwrap();
    json!({ "command": share.join("program"), "connect_timeout_ms": 100, "share": "session" })
}

/// Asks for the server `a` by a session of its own, and again once that has failed.
fn asked_twice(rig: &Rig, number: usize) -> Receiver<[Option<ErrorCode>; 2]> {
    let session = rig.session(&format!("asks {number}"));
    apart(move || {
        host(async move {
            let mut codes = [None, None];
            for code in &mut codes {
                let asked = session.acquire("a", None, &AcquireOptions::default()).await;
                *code = asked.err().map(|error| error.code());
            }
            codes
        })
    })
}
