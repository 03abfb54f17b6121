//! What was looked at is what is executed: a program, or the interpreter of a script, that is
//! another right before its start (SPEC 12.12).

use std::fs::{self, FileTimes, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::decisions::approve;
use super::*;

/// A server of one file or more, and how a part of it is swapped for something else.
struct Swap {
    is: &'static str,
    /// Makes the server below a folder, which runs the program: its command.
    made: fn(&Path, &str) -> PathBuf,
    /// Puts something else in its place that runs these lines.
    swap: fn(&Path, &str),
    /// What the request says of it: which file, and what is different.
    told: [&'static str; 2],
}

/// A line more is a case more.
const SWAPS: &[Swap] = &[
    Swap {
        is: "a binary that was replaced by a rename",
        made: |folder, _| {
            fs::copy(rig::testserver(), folder.join("tool")).unwrap();
            folder.join("tool")
        },
        swap: |folder, lines| renamed_over(&folder.join("tool"), lines),
        told: ["program", "other_file"],
    },
    Swap {
        is: "a script that was replaced by a rename",
        made: |folder, runs| script(&folder.join("tool"), "/bin/sh", runs),
        swap: |folder, lines| renamed_over(&folder.join("tool"), lines),
        told: ["program", "other_file"],
    },
    Swap {
        is: "a script that is longer",
        made: |folder, runs| script(&folder.join("tool"), "/bin/sh", runs),
        swap: |folder, lines| rewritten(&folder.join("tool"), lines, 1 << 12),
        told: ["program", "size"],
    },
    Swap {
        is: "a script that was rewritten with its size and its time",
        made: |folder, runs| script(&folder.join("tool"), "/bin/sh", runs),
        swap: |folder, lines| {
            let tool = folder.join("tool");
            let before = fs::metadata(&tool).unwrap();
            rewritten(&tool, lines, usize::try_from(before.len()).unwrap());
            let times = FileTimes::new().set_modified(before.modified().unwrap());
            fs::File::options().write(true).open(&tool).unwrap().set_times(times).unwrap();
        },
        told: ["program", "content"],
    },
    Swap {
        is: "a binary that was written to",
        made: |folder, _| {
            fs::copy(rig::testserver(), folder.join("tool")).unwrap();
            folder.join("tool")
        },
        swap: |folder, lines| {
            let tool = folder.join("tool");
            rewritten(&tool, lines, usize::try_from(fs::metadata(&tool).unwrap().len()).unwrap());
        },
        told: ["program", "time"],
    },
    Swap {
        is: "an interpreter that was replaced by a rename",
        made: |folder, runs| {
            let shell = folder.join("shell");
            fs::copy("/bin/sh", &shell).unwrap();
            script(&folder.join("tool"), shell.to_str().unwrap(), runs)
        },
        swap: |folder, lines| renamed_over(&folder.join("shell"), lines),
        told: ["interpreter", "other_file"],
    },
    Swap {
        is: "an interpreter whose link leads elsewhere",
        made: |folder, runs| {
            symlink("/bin/sh", folder.join("shell")).unwrap();
            script(&folder.join("tool"), folder.join("shell").to_str().unwrap(), runs)
        },
        swap: |folder, lines| {
            script(&folder.join("evil"), "/bin/sh", lines);
            fs::remove_file(folder.join("shell")).unwrap();
            symlink("evil", folder.join("shell")).unwrap();
        },
        told: ["interpreter", "other_file"],
    },
    Swap {
        is: "an interpreter that env finds",
        made: |folder, runs| {
            fs::copy("/bin/sh", folder.join("myshell")).unwrap();
            script(&folder.join("tool"), "/usr/bin/env myshell", runs)
        },
        swap: |folder, lines| renamed_over(&folder.join("myshell"), lines),
        told: ["interpreter", "other_file"],
    },
];

/// A file that runs these lines.
fn script(path: &Path, interpreter: &str, lines: &str) -> PathBuf {
    fs::write(path, format!("#!{interpreter}\n{lines}\n")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

fn renamed_over(path: &Path, lines: &str) {
    let other = path.with_extension("other");
    script(&other, "/bin/sh", lines);
    fs::rename(other, path).unwrap();
}

/// The same file with other bytes, this many.
fn rewritten(path: &Path, lines: &str, bytes: usize) {
    let mut text = format!("#!/bin/sh\n{lines}\nexit\n").into_bytes();
    text.resize(bytes, b' ');
    fs::write(path, text).unwrap();
}

/// When it is swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// Between the request and the approval.
    Asked,
    /// While it runs, and is started again.
    Running,
    /// While no source names it, and the decision is kept.
    Away,
}

/// SPEC 12.12, S-08: between the look and the first start.
#[test]
fn what_was_swapped_between_the_look_and_the_start_is_pending_again() {
    SWAPS.iter().for_each(|swap| swapped(swap, When::Asked));
}

/// SPEC 12.12, 12.4, S-08: the look is that of the decision, which a removal does not take away.
#[test]
fn what_was_swapped_while_no_source_named_it_is_pending_again() {
    SWAPS.iter().for_each(|swap| swapped(swap, When::Away));
}

/// SPEC 12.12, 11.5, S-08: between one start and the next.
#[test]
fn what_was_swapped_while_it_ran_is_pending_at_its_next_start() {
    // Nobody writes to a binary that runs.
    let swaps = SWAPS.iter().filter(|swap| swap.told != ["program", "time"]);
    swaps.for_each(|swap| swapped(swap, When::Running));
}

fn swapped(swap: &Swap, when: When) {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    let (place, ran) = (rig.path("place"), rig.path("ran"));
    let servers = json!({ "s": server_of(&rig, swap) });
    let is = format!("{}, {when:?}", swap.is);
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "project", servers.clone());
        let shown = rig.pool.approvals().await.unwrap()["requests"][0].clone();
        assert_eq!(shown["replaced"], Value::Null, "{is}");
        if when != When::Asked {
            approve(&rig.pool, "s").await;
            assert_eq!(settled(&rig).await["s"]["state"], "ready", "{is}");
        }
        if when == When::Away {
            set(&rig.pool, "project", json!({}));
            rig.wait_for_no_process();
        }
        let starts = rig.starts().len();
        (swap.swap)(&place, &format!(": > '{}'", ran.display()));
        let first = shown["hash"].as_str().unwrap();
        match when {
            When::Asked => drop(rig.pool.approve("s", first).await.unwrap()),
            When::Running => drop(rig.pool.restart("s", None).await.unwrap()),
            When::Away => drop(set(&rig.pool, "project", servers)),
        }
        until(|| row(&rig.pool, "s")["approval_state"] == "pending" || ran.exists());
        settled(&rig).await;
        assert!(!ran.exists() && rig.starts().len() == starts, "{is}: it ran");
        is_asked_about(&rig, swap.told, &is).await;
        let error = session.acquire("s", None, &Default::default()).await.err().unwrap();
        assert_eq!(error.detail()["reason"], "pending_approval", "{is}: {error}");
        assert_eq!(error.detail()["replaced"]["file"], swap.told[0], "{is}: {error}");
        assert!(error.message().starts_with(&format!("the {} ", swap.told[0])), "{is}: {error}");
        // Who was shown what it was before has not seen this.
        let stale = rig.pool.approve("s", first).await.unwrap_err();
        assert_eq!(stale.code(), ErrorCode::StaleApproval, "{is}");
        approve(&rig.pool, "s").await;
        until(|| ran.exists());
    });
}

/// The configuration of a server of that kind, made in a folder of its own.
fn server_of(rig: &Rig, swap: &Swap) -> Value {
    let place = rig.path("place");
    fs::create_dir(&place).unwrap();
    let runs = format!("exec '{}' \"$@\" # {:>200}", rig::testserver().display(), "");
    let mut server = rig.server(&[]);
    server["command"] = json!((swap.made)(&place, &runs));
    server["env"] = json!({ "PATH": format!("{}:/usr/bin:/bin", place.display()) });
    server
}

/// SPEC 12.12, 12.3: what is back as it was looked at runs by its decision, and asks nobody.
#[test]
fn a_program_that_is_back_as_it_was_runs_again() {
    let rig = trusted();
    let (tool, aside) = (rig.path("tool"), rig.path("aside"));
    fs::copy(rig::testserver(), &tool).unwrap();
    let mut server = rig.server(&[]);
    server["command"] = json!(tool);
    host(async {
        let session = wanting(&rig, "a");
        set(&rig.pool, "project", json!({ "s": server }));
        approve(&rig.pool, "s").await;
        settled(&rig).await;
        fs::rename(&tool, &aside).unwrap();
        script(&tool, "/bin/sh", "exit");
        rig.pool.restart("s", None).await.unwrap();
        until(|| row(&rig.pool, "s")["approval_state"] == "pending");
        settled(&rig).await;
        fs::rename(&aside, &tool).unwrap();
        rig.pool.reload(&Default::default()).await.unwrap();
        assert_eq!(settled(&rig).await["s"]["state"], "ready");
        assert_eq!(rig.pool.approvals().await.unwrap()["requests"], json!([]));
        rig::acquire(&session, "s").await;
    });
}

/// SPEC 12.12, 12.3: what was rejected is not taken by the next host for what was approved before.
#[test]
fn a_replaced_program_that_was_rejected_stays_rejected_for_the_next_host() {
    let store = Folder::new();
    let options = json!({ "trusted": true, "approvals": store.join("approvals.json") });
    let one = Rig::in_workspace(options.clone());
    let tool = one.path("tool");
    fs::copy(rig::testserver(), &tool).unwrap();
    let mut server = one.server(&[]);
    server["command"] = json!(tool);
    let servers = json!({ "s": server });
    let mut options = options;
    options["workspace"] = json!(one.path("ws"));
    host(async {
        let _session = wanting(&one, "a");
        set(&one.pool, "project", servers.clone());
        approve(&one.pool, "s").await;
        settled(&one).await;
        renamed_over(&tool, &format!(": > '{}'", one.path("ran").display()));
        one.pool.restart("s", None).await.unwrap();
        until(|| row(&one.pool, "s")["approval_state"] == "pending");
        settled(&one).await;
        let hash = one.pool.approvals().await.unwrap()["requests"][0]["hash"].clone();
        one.pool.reject("s", hash.as_str().unwrap()).await.unwrap();
        assert_eq!(row(&one.pool, "s")["approval_state"], "rejected");
    });
    let other = Rig::new(options);
    host(async {
        let session = wanting(&other, "a");
        set(&other.pool, "project", servers);
        settled(&other).await;
        assert_eq!(refused(&session, "s").await.1, "rejected");
        assert!(!one.path("ran").exists());
    });
}

/// SPEC 12.12, 2.2: of two sessions' own servers of one name each is told what of its own is
/// another.
#[test]
fn each_session_is_told_of_its_own_program() {
    let rig = rig(json!({ "trusted": true, "drain_delay_ms": 0 }));
    let places = ["first", "second"].map(|place| rig.path(place));
    let (mut options, sessions) =
        (trunkline::AcquireOptions::default(), ["a", "b"].map(|id| rig.session(id)));
    options.origin = Some(trunkline::Scope::Project);
    let spec = |tool: &PathBuf| {
        let mut server = rig.server(&[]);
        server["command"] = json!(tool);
        trunkline::ServerSpec::from_value("s", &server).unwrap()
    };
    let tools = places.map(|place| {
        fs::create_dir(&place).unwrap();
        script(
            &place.join("tool"),
            "/bin/sh",
            &format!("exec '{}' \"$@\"", rig::testserver().display()),
        )
    });
    host(async {
        for (session, tool) in sessions.iter().zip(&tools) {
            session.acquire("s", Some(&spec(tool)), &options).await.err().unwrap();
        }
        for asked in rig.pool.approvals().await.unwrap()["requests"].as_array().unwrap() {
            rig.pool.approve("s", asked["hash"].as_str().unwrap()).await.unwrap();
        }
        tools.iter().for_each(|tool| renamed_over(tool, "exit"));
        for (session, tool) in sessions.iter().zip(&tools) {
            let refused = session.acquire("s", Some(&spec(tool)), &options).await.err().unwrap();
            assert_eq!(refused.detail()["reason"], "pending_approval", "{refused}");
        }
        for (session, tool) in sessions.iter().zip(&tools) {
            let told = session.acquire("s", None, &options).await.err().unwrap();
            assert_eq!(told.detail()["replaced"]["path"], json!(tool), "{told}");
        }
        for (session, tool) in sessions.iter().zip(&tools) {
            let why = session.explain("s").unwrap();
            let (message, path) = (why["message"].as_str().unwrap(), tool.to_str().unwrap());
            assert!(message.contains(path), "{why}");
        }
    });
}

/// The request says first what is another, and so does who explains.
async fn is_asked_about(rig: &Rig, told: [&str; 2], is: &str) {
    let asked = rig.pool.approvals().await.unwrap()["requests"][0].clone();
    let replaced = &asked["replaced"];
    assert_eq!([&replaced["file"], &replaced["difference"]], told, "{is}: {asked}");
    let text = asked["escaped"]["text"].as_str().unwrap();
    let first = text.lines().nth(1).unwrap();
    assert!(first.contains("replaced") && first.contains(told[0]), "{is}: {text}");
    let why = rig.pool.explain("s").unwrap();
    assert!(why["message"].as_str().unwrap().contains("looked at"), "{is}: {why}");
}
