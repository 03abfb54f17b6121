//! Processes that share a file, and those that end while they write it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rig::person::{CANARIES, options, sign_in, visit};
use rig::{acquire, host, until, until_it_holds};
use serde_json::json;
use trunkline::AcquireOptions;

use super::{Home, call, mode, of_child, refusal};

/// How many configurations each of the processes signs in to that write at one time.
const SIGN_INS: usize = 8;

/// SPEC 15.3, I-24: processes that write at one time lose nothing of each other.
#[test]
fn processes_that_save_at_one_time_lose_nothing() {
    let test = rig::this_test!();
    if let Some((rig, mut config)) = of_child(test) {
        return host(async {
            for number in 0..SIGN_INS {
                let account = format!("{}-{number}", std::process::id());
                config["headers"] = json!({ "x-account": account });
                rig.configure(json!({ "s": config })).await;
                assert_eq!(sign_in(&rig, "s").await.unwrap()["stored"], true);
            }
        });
    }
    let home = Home::new(json!({}));
    let children = [(); 3].map(|()| home.child(test, "").stdout(Stdio::null()).spawn().unwrap());
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut tokens: Vec<String> =
        home.grants().iter().map(|grant| grant["token"]["access_token"].to_string()).collect();
    tokens.sort();
    tokens.dedup();
    assert_eq!((tokens.len(), mode(&home.tokens)), (3 * SIGN_INS, 0o600));
}

/// SPEC 15.3: a token that one process renewed is what another sends from then on; nobody asks for
/// one more.
#[test]
fn a_process_uses_the_token_that_another_renewed() {
    let test = rig::this_test!();
    if let Some((rig, config)) = of_child(test) {
        return host(async {
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            let lease = acquire(&session, "s").await;
            for _ in 0..30 {
                call(&lease).await.unwrap();
            }
        });
    }
    let home = Home::new(json!({ "uses": [20, 100_000] }));
    let rig = home.pool();
    host(async {
        let session = home.session(&rig).await;
        refusal(&session).await;
        sign_in(&rig, "s").await.unwrap();
        let lease = acquire(&session, "s").await;
        let before = lease.generation();
        let output = home.child(test, "").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(home.issued(), 2, "the child renewed it");
        call(&lease).await.unwrap();
        assert_eq!((home.issued(), home.grants().len()), (2, 1));
        assert_eq!((lease.generation(), mode(&home.tokens)), (before, 0o600));
    });
}

/// SPEC 15.3: of one grant one renewal at a time, of two connections in a process and of two
/// processes.
#[test]
fn processes_that_renew_at_one_time_renew_once() {
    let test = rig::this_test!();
    if let Some((rig, config)) = of_child(test) {
        return host(async {
            rig.configure(json!({ "s": config, "t": config })).await;
            let session = rig.session("a");
            let (s, t) = tokio::join!(acquire(&session, "s"), acquire(&session, "t"));
            call(&s).await.unwrap();
            call(&t).await.unwrap();
        });
    }
    let home = Home::new(json!({ "uses": [0, 100_000], "renewal_ms": 500 }));
    sign_in_for_later(&home);
    let children = [(); 2].map(|()| home.child(test, "").stdout(Stdio::null()).spawn().unwrap());
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!((home.issued(), home.grants().len()), (2, 1));
}

/// SPEC 15.3: what a renewal was issued is kept though the last pool of the process goes meanwhile:
/// what it was issued for is used up.
#[test]
fn a_pool_that_goes_while_it_renews_keeps_what_it_is_issued() {
    let test = rig::this_test!();
    if let Some((rig, config)) = of_child(test) {
        let folder = std::env::temp_dir();
        let tokens = || std::fs::read(folder.join("tokens/tokens.json")).unwrap();
        let before = tokens();
        host(async {
            rig.configure(json!({ "s": config })).await;
            let session = rig.session("a");
            let options = AcquireOptions::default();
            let asked = until_it_holds(|| folder.join("asked").exists());
            tokio::select! {
                _ = session.acquire("s", None, &options) => panic!("it was renewed already"),
                () = asked => {}
            }
        });
        drop(rig);
        return until(|| tokens() != before);
    }
    let home = Home::new(json!({ "uses": [0, 100_000], "renewal_ms": 3_000 }));
    sign_in_for_later(&home);
    let mut child = home.child(test, "").stdout(Stdio::null()).spawn().unwrap();
    until(|| home.issued() == 2);
    std::fs::write(home.rig.path("asked"), "").unwrap();
    assert!(child.wait().unwrap().success());
    let next = home.pool();
    host(async {
        let session = home.session(&next).await;
        call(&acquire(&session, "s").await).await.unwrap();
    });
    assert_eq!(home.issued(), 2);
}

/// A sign-in whose token the server takes no more.
fn sign_in_for_later(home: &Home) {
    let rig = home.pool();
    host(async {
        let _session = home.session(&rig).await;
        let url = rig.pool.sign_in("s", &options()).await.unwrap();
        let _ = rig.pool.finish_sign_in(&visit(url["url"].as_str().unwrap())).await;
    });
}

/// SPEC 15.3, I-23: a disk that takes no more leaves the file as it was, and nothing beside it.
#[test]
fn a_full_disk_leaves_the_file_as_it_was() {
    let test = rig::this_test!();
    if let Some((rig, config)) = of_child(test) {
        return host(async {
            rig.configure(json!({ "s": config })).await;
            let finished = sign_in(&rig, "s").await.unwrap();
            assert_eq!(finished["stored"], false);
            assert_eq!(finished["error"]["detail"]["errno"], 27, "{finished}");
            call(&acquire(&rig.session("a"), "s").await).await.unwrap();
            println!("it was told");
        });
    }
    let home = Home::new(json!({}));
    let rig = home.pool();
    host(async {
        let _session = home.session(&rig).await;
        sign_in(&rig, "s").await.unwrap();
    });
    let before = std::fs::read(&home.tokens).unwrap();
    // A file may have no byte: what the disk refuses is the same write.
    let mut child = home.child(test, "trap '' XFSZ; ulimit -f 0;");
    let output = child.output().unwrap();
    let said = format!("{output:?}");
    assert!(output.status.success() && said.contains("it was told"), "{said}");
    CANARIES.iter().for_each(|canary| assert!(!said.contains(canary), "{said}"));
    assert_eq!(std::fs::read(&home.tokens).unwrap(), before);
    let names = std::fs::read_dir(home.folder()).unwrap();
    assert!(
        names
            .map(|name| name.unwrap().file_name())
            .all(|name| !name.to_string_lossy().ends_with(".new"))
    );
}

/// SPEC 15.3, I-23: a process that is killed at any point of a save leaves the old file or the new
/// one.
#[test]
fn a_process_that_is_killed_while_it_saves_leaves_a_whole_file() {
    let test = rig::this_test!();
    if let Some((rig, config)) = of_child(test) {
        return host(async {
            rig.configure(json!({ "s": config })).await;
            loop {
                assert_eq!(sign_in(&rig, "s").await.unwrap()["stored"], true);
            }
        });
    }
    let home = Home::new(json!({}));
    let mut saved = 0;
    for round in 0_u64..12 {
        let before = home.issued();
        let mut child = home.child(test, "");
        let mut child = child.stdout(Stdio::null()).spawn().unwrap();
        until(|| home.issued() >= before + 3);
        // Another point of a save in each round.
        let later = Instant::now() + Duration::from_micros(round * 1_700);
        until(|| Instant::now() >= later);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((home.grants().len(), mode(&home.tokens)), (1, 0o600));
        saved += home.issued() - before;
    }
    assert!(saved >= 36);
    let names = std::fs::read_dir(home.folder()).unwrap();
    let names: Vec<_> = names.map(|name| name.unwrap().file_name()).collect();
    assert!(names.len() <= 3, "the file, its lock and one that was not finished: {names:?}");
    let next = home.pool();
    host(async {
        let session = home.session(&next).await;
        call(&acquire(&session, "s").await).await.unwrap();
    });
}
