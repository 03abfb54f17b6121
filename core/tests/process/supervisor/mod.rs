//! Nothing of a server survives: not a close, not the host's death, not the supervisor's (SPEC 9.8,
//! I-01, I-21).
//!
//! These tests are about the supervisor: they fail where `TRUNKLINE_SUPERVISION=group` keeps it
//! away.
#![cfg(target_os = "linux")]

mod behaviours;
mod faults;
mod terminated;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rig::{HANG, Rig, acquire, apart, host, runs, text, until};
use serde_json::{Value, json};
use trunkline::{DrainOptions, Lease, Session};

use behaviours::{BEHAVIOURS, Behaviour, faultserver, named};
use rig::traces::{self, Family, kill, parent};

/// Connects a server with this behaviour, and brings it to where its close is interesting.
async fn established(rig: &Rig, behaviour: &Behaviour, family: &Family) -> (Session, Lease, u32) {
    rig.configure(json!({ "s": behaviour.server(family) })).await;
    assert_eq!(rig.pool.status()["supervision"], "supervisor");
    let session = rig.session("a");
    let lease = acquire(&session, "s").await;
    let pid = text(&lease, "pid", json!({})).await.parse().unwrap();
    until(|| family.members().len() >= behaviour.members);
    behaviour.provoke(pid);
    (session, lease, pid)
}

/// Ends every server by its graces alone, without the deadline of a close; how long that took.
async fn ends_in_order(rig: &Rig) -> Duration {
    let begun = Instant::now();
    let timeout = json!({ "timeout_ms": HANG.as_millis() as u64 }).to_string();
    let timeout = DrainOptions::from_json(&timeout).unwrap();
    rig.pool.drain_all(&timeout).await.unwrap();
    rig.pool.close().await.unwrap();
    begun.elapsed()
}

/// I-01, SECURITY row 1: each of the behaviours, closed in order, and ended by what is to end it.
#[test]
fn nothing_survives_a_close() {
    for behaviour in BEHAVIOURS.iter() {
        let family = Family::new(&behaviour.name);
        let rig = Rig::new(behaviour.close.graces());
        let took = host(async {
            let _held = established(&rig, behaviour, &family).await;
            ends_in_order(&rig).await
        });
        assert_eq!(family.members(), [0; 0], "{} left processes after {took:?}", behaviour.name);
        println!("close       {:40} {took:?}", behaviour.name);
        let (name, close) = (&behaviour.name, behaviour.close);
        let takes = close.takes()..HANG;
        assert!(takes.contains(&took), "{name} took {took:?}, not {close:?}");
    }
}

/// I-21, SECURITY row 2: each of the behaviours, and the host killed amid it.
#[test]
fn nothing_survives_a_killed_host() {
    let test = rig::this_test!();
    if let Some(given) = apart::given(test) {
        live_until_killed(&given);
    }
    for behaviour in BEHAVIOURS.iter() {
        let family = Family::new(&behaviour.name);
        let mut killed = apart::Host::start(test, &json!([behaviour.name, family.mark()]));
        let ready = killed.read_line();
        let pid: u32 = ready.trim().parse().unwrap_or_else(|_| panic!("{ready}"));
        let holders = [parent(pid), parent(pid).and_then(parent)];
        killed.kill();
        let begun = Instant::now();
        until(|| family.members().is_empty());
        println!("host killed {:40} {:?}", behaviour.name, begun.elapsed());
        until(|| !holders.iter().flatten().any(|pid| rig::runs(*pid) && traces::is_ours(*pid)));
    }
}

/// The host that is killed: says the pid of its server, and waits for its end.
fn live_until_killed(given: &Value) -> ! {
    let (name, mark) = (given[0].as_str().unwrap(), given[1].as_str().unwrap());
    let behaviour = named(name);
    // What is left of a host that is gone has no grace of the host's.
    let rig = Rig::new(json!({ "exit_grace_ms": 600_000, "kill_grace_ms": 600_000 }));
    host(async {
        let held = established(&rig, behaviour, &Family::of(mark)).await;
        println!("\nready {}", held.2);
        std::future::pending::<()>().await;
    });
    unreachable!("it is killed");
}

/// I-21: a host that is killed while it connects.
#[test]
fn nothing_survives_a_host_that_is_killed_while_it_connects() {
    let test = rig::this_test!();
    if let Some(given) = apart::given(test) {
        let rig = Rig::new(json!({}));
        let family = Family::of(given.as_str().unwrap());
        host(async {
            let server = faultserver(&["--silent", "--ignore-eof", "--ignore-term"], &family);
            rig.configure(json!({ "s": server })).await;
            println!("\nready 0");
            acquire(&rig.session("a"), "s").await;
        });
    }
    let family = Family::new("connecting");
    let mut killed = apart::Host::start(test, &json!(family.mark()));
    killed.read_line();
    until(|| !family.members().is_empty());
    killed.kill();
    until(|| family.members().is_empty());
}

/// SPEC 9.8: all servers in parallel.
#[test]
fn ten_deaf_servers_close_in_the_time_of_one() {
    const GRACE_MS: u64 = 3_000;
    let deaf = named("deaf to EOF and SIGTERM");
    let family = Family::new("ten");
    let rig = Rig::new(json!({ "exit_grace_ms": GRACE_MS, "kill_grace_ms": GRACE_MS }));
    let took = host(async {
        let servers: Value = (0..10).map(|i| (format!("s{i}"), deaf.server(&family))).collect();
        rig.configure(servers).await;
        let session = rig.session("a");
        let mut leases = Vec::new();
        for i in 0..10 {
            leases.push(acquire(&session, &format!("s{i}")).await);
        }
        let begun = Instant::now();
        rig.pool.close().await.unwrap();
        begun.elapsed()
    });
    assert_eq!(family.members(), [0; 0]);
    println!("ten deaf servers {took:?}");
    // Not even two of them one after the other.
    assert!(took < Duration::from_millis(4 * GRACE_MS), "{took:?}");
}

/// I-25: starts and ends leave neither a process nor a descriptor, here or in the supervisor.
#[test]
fn two_hundred_starts_and_ends_leave_no_descriptor() {
    rig::alone!();
    let rig = Rig::new(json!({ "drain_delay_ms": 0 }));
    let supervisor = host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let session = rig.session("a");
        let lease = acquire(&session, "s").await;
        let pid = text(&lease, "pid", json!({})).await.parse().unwrap();
        parent(pid).and_then(parent).unwrap()
    });
    rig.wait_for_no_process();
    let open = || (traces::descriptors(std::process::id()), traces::descriptors(supervisor));
    until(|| traces::children(supervisor) == 0);
    let before = open();
    host(async {
        let session = rig.session("b");
        for _ in 0..200 {
            drop(acquire(&session, "s").await);
        }
    });
    rig.wait_for_no_process();
    until(|| traces::children(supervisor) == 0);
    until(|| open() <= before);
}

/// SECURITY 6: the fallback, chosen or not, is told.
#[test]
fn a_host_may_choose_the_groups() {
    rig::alone!(("TRUNKLINE_SUPERVISION", "group"));
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        assert_eq!(rig.pool.status()["supervision"], "group");
        let pid = text(&lease, "pid", json!({})).await.parse().unwrap();
        assert_eq!(parent(pid), Some(std::process::id()));
    });
}

/// SPEC 16.3, 16.4: where the groups are, the servers of a fork end with it, and those of its
/// parent do not.
#[test]
fn a_fork_answers_for_its_own_servers_alone() {
    rig::alone!(("TRUNKLINE_SUPERVISION", "group"));
    let rig = Rig::new(json!({}));
    let pid_of = |rig: &Rig, flags: &[&str]| -> u32 {
        host(async {
            rig.configure(json!({ "s": rig.server(flags) })).await;
            let lease = acquire(&rig.session("a"), "s").await;
            let pid = text(&lease, "pid", json!({})).await.parse().unwrap();
            std::mem::forget(lease);
            pid
        })
    };
    let parents = pid_of(&rig, &[]);
    let (mut told, mut tell) = std::io::pipe().unwrap();
    // SAFETY: this process has no other thread that could hold a lock which the child needs: the
    // library has its own for that.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let own = Rig::new(json!({}));
        let pid = pid_of(&own, &["--ignore-eof", "--ignore-term"]);
        tell.write_all(&pid.to_le_bytes()).unwrap();
        // Nothing is dropped here.
        std::fs::remove_dir_all(own.path("starts").parent().unwrap()).unwrap();
        // SAFETY: ends the process as `main` would, and drops nothing.
        unsafe { libc::exit(0) };
    }
    drop(tell);
    let mut pid = [0; 4];
    told.read_exact(&mut pid).unwrap();
    let mut status = 0;
    // SAFETY: the child is ours, and `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    until(|| !runs(u32::from_le_bytes(pid)));
    assert!(runs(parents));
}

/// The supervisor and the keepers have nothing of the host: neither its environment nor its
/// terminal nor its folder.
#[test]
fn the_supervisor_carries_nothing_of_the_host() {
    let rig = Rig::new(json!({}));
    host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        let server = text(&lease, "pid", json!({})).await.parse().unwrap();
        let keeper = parent(server).unwrap();
        for holder in [keeper, parent(keeper).unwrap()] {
            assert!(traces::is_ours(holder));
            let read = |name: &str| std::fs::read(format!("/proc/{holder}/{name}")).unwrap();
            assert_eq!(read("environ"), b"");
            let folder = std::fs::read_link(format!("/proc/{holder}/cwd")).unwrap();
            assert_eq!(folder.to_str(), Some("/"));
            let stat = String::from_utf8(read("stat")).unwrap();
            let terminal = stat.rsplit(')').next().unwrap().split_whitespace().nth(4).unwrap();
            assert_eq!(terminal, "0");
            // A terminal's or a stranger's signal changes nothing.
            kill("TERM", holder);
            kill("INT", holder);
        }
        assert_eq!(text(&lease, "pid", json!({})).await, server.to_string());
    });
}
