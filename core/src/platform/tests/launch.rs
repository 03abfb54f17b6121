//! What a started program has of its host: three streams, its arguments, its environment, and
//! nothing else (S-20 to S-23).
//!
//! Each test runs in a process of its own, once for each way to hold a server, since both differ
//! only with the first one.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use trunkline_pool::config::{ServerSpec, Transport};

use super::{ignore_and_block_signals, inheritable_descriptors};
use crate::host_env::{Environment, SearchCache};
use crate::platform::*;
use crate::transport::stdio;

/// Names the test that a process was started for; `TRUNKLINE_SUPERVISION` says which way it is
/// about.
const CHOSEN: &str = "TRUNKLINE_TEST_LAUNCH";
const WAY: &str = "TRUNKLINE_SUPERVISION";

/// The systems with these tests need no thread that may wait.
const ON_NO_THREAD: OnBlockingThread = |_| {};

/// A test of this file, by its name alone.
fn in_each_way(test: &str, variables: &[(&str, &str)], run: impl AsyncFnOnce()) {
    in_each_way_of(&format!("launch::{test}"), variables, run);
}

/// A test of a file beside this one, by that and its name.
pub(super) fn in_each_way_of(test: &str, variables: &[(&str, &str)], run: impl AsyncFnOnce()) {
    if std::env::var_os(CHOSEN).is_some() {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            run().await;
            assert_eq!(std::env::var(WAY).unwrap(), supervision());
        });
        return;
    }
    for way in ["supervisor", "group"] {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", &format!("platform::tests::{test}"), "--nocapture"]);
        again.env(CHOSEN, test).env(WAY, way).envs(variables.iter().copied());
        assert!(again.status().unwrap().success(), "{test} under a {way}");
    }
}

/// A shell that runs `script`, in which `$@` are these arguments.
fn shell(script: &str, args: Vec<OsString>) -> Launch {
    let first = ["-c", script, "sh"].map(OsString::from);
    Launch {
        program: "/bin/sh".into(),
        expected: Expected::default(),
        name: "sh".into(),
        args: first.into_iter().chain(args).collect(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
    }
}

/// What it prints until its end.
pub(super) async fn printed(launched: Launched) -> Vec<u8> {
    drop(launched.stdin);
    let mut bytes = Vec::with_capacity(1 << 20);
    while launched.stdout.read(&mut bytes).await.unwrap() > 0 {
        bytes.reserve(1 << 16);
    }
    launched.process.gone().await;
    bytes
}

async fn printed_by(script: &str) -> String {
    String::from_utf8(printed(launch(shell(script, Vec::new()), ON_NO_THREAD).await.unwrap()).await)
        .unwrap()
}

/// S-20: whatever bytes an argument has but a zero.
#[test]
fn two_hundred_arguments_arrive_byte_by_byte() {
    in_each_way("two_hundred_arguments_arrive_byte_by_byte", &[], async || {
        let parts: [&[u8]; 14] = [
            b"",
            b" ",
            b"\"",
            b"'",
            b"\\",
            b"$HOME",
            b"`id`",
            b"*",
            b"\n",
            b"%PATH%",
            b"&|;<>",
            b"--",
            "\u{e9}\u{202e}\u{1f600}".as_bytes(),
            b"\xff\xfe\x01",
        ];
        let pairs = parts.iter().flat_map(|one| parts.iter().map(|two| [*one, *two].concat()));
        let long = [vec![b'x'; 100_000], vec![b'"'; 1000], b"-".to_vec(), b"~".to_vec()];
        let corpus: Vec<Vec<u8>> = pairs.chain(long).collect();
        assert_eq!(corpus.len(), 200);
        let args = corpus.iter().cloned().map(OsString::from_vec).collect();
        let script = "cat /proc/$$/cmdline";
        let seen = printed(launch(shell(script, args), ON_NO_THREAD).await.unwrap()).await;
        let own = ["sh", "-c", script, "sh"].map(|it| it.as_bytes().to_vec());
        let given: Vec<u8> =
            own.into_iter().chain(corpus).flat_map(|it| [it, vec![0]].concat()).collect();
        assert!(seen == given, "the arguments were changed on their way");
    });
}

/// S-21, SPEC 10.6: what the host has in its environment is not for its servers.
#[test]
fn of_fifty_canaries_in_the_environment_none_reaches_a_server() {
    const NAMES: [&str; 10] = [
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "BASH_ENV",
        "ENV",
        "SSH_AUTH_SOCK",
        "PATH_OF_MINE",
        "XPATH",
        "BASH_FUNC_ls%%",
    ];
    let names = NAMES.iter().map(|it| it.to_string());
    let names: Vec<String> = names.chain((0..40).map(|at| format!("SECRET_{at}"))).collect();
    let mut variables: Vec<_> = names.iter().map(|it| (&**it, "/canary")).collect();
    // A base name does not save a function, nor does a pattern.
    variables.extend([("LC_TIME", "() { canary; }"), ("WANTED_ONE", "()canary"), ("LANG", "C")]);
    variables.push(("WANTED_TWO", "fine"));
    const TEST: &str = "of_fifty_canaries_in_the_environment_none_reaches_a_server";
    in_each_way(TEST, &variables, async || {
        let server = json!({ "command": "sh", "args": ["-c", "cat /proc/$$/environ"] });
        let Transport::Stdio(spec) = ServerSpec::from_value("s", &server).unwrap().transport else {
            panic!("it has a command");
        };
        let (name, patterns) = (Arc::from("s"), ["WANTED_*".to_owned()]);
        let given = Environment::of_child(&spec, &patterns);
        let (root, lookups) = (std::path::Path::new("/"), SearchCache::default());
        let launch = stdio::find(&name, &spec, root, given, None, &lookups).await.unwrap();
        let started = stdio::start(&name, &spec.command, launch);
        let seen = String::from_utf8(printed(started.await.unwrap()).await).unwrap();
        assert!(!seen.contains("canary"), "{seen:?}");
        assert!(seen.contains("WANTED_TWO=fine\0") && seen.contains("LANG=C\0"), "{seen:?}");
    });
}

/// S-22: nothing but 0, 1 and 2, whatever the host holds open, and the same for what holds the
/// server.
#[test]
fn of_two_hundred_inheritable_descriptors_none_reaches_a_server() {
    const TEST: &str = "of_two_hundred_inheritable_descriptors_none_reaches_a_server";
    in_each_way(TEST, &[], async || {
        let held = inheritable_descriptors(200);
        assert_eq!(printed_by("ls /proc/$$/fd").await, "0\n1\n2\n");
        assert_eq!(printed_by("ls /proc/$$/fd").await, "0\n1\n2\n", "the second server");
        // 1 and 2 of the supervisor lead nowhere too.
        if let Some(supervisor) = supervised::pid() {
            let open = fs::read_dir(format!("/proc/{supervisor}/fd")).unwrap();
            let leads = open.flatten().filter_map(|it| fs::read_link(it.path()).ok());
            assert_eq!(leads.filter(|it| it.as_os_str() == "/dev/null").count(), 2);
        }
        drop(held);
    });
}

/// S-23, I-22: a host's signals are its own, and a server begins with plain ones.
#[test]
fn what_a_host_does_with_its_signals_neither_reaches_a_server_nor_changes() {
    const TEST: &str = "what_a_host_does_with_its_signals_neither_reaches_a_server_nor_changes";
    in_each_way(TEST, &[], async || {
        ignore_and_block_signals();
        let own = || signal_lines(&fs::read_to_string("/proc/thread-self/status").unwrap());
        let before = own();
        assert!(before.iter().any(|line| line.starts_with("SigIgn:") && !line.ends_with("0000")));
        let seen = printed_by("cat /proc/self/status; cat /proc/$$/stat").await;
        let plain = ["SigBlk:", "SigIgn:", "SigCgt:"].map(|it| format!("{it}\t0000000000000000"));
        assert_eq!(signal_lines(&seen), plain);
        // The shell: pid; state, parent, group, session, terminal.
        let (pid, rest) = seen.lines().last().unwrap().split_once(" (").unwrap();
        let fields: Vec<_> = rest.rsplit(") ").next().unwrap().split(' ').collect();
        assert_eq!([fields[2], fields[3], fields[4]], [pid, pid, "0"], "{seen}");
        assert_eq!(own(), before);
    });
}

fn signal_lines(status: &str) -> Vec<String> {
    let kinds = ["SigBlk:", "SigIgn:", "SigCgt:"];
    let lines = status.lines().filter(|line| kinds.iter().any(|kind| line.starts_with(kind)));
    lines.map(str::to_owned).collect()
}

/// SPEC 9.8: what the kernel ties to the thread that forks must not end with a thread of the host.
#[test]
fn a_server_outlives_the_thread_that_asked_for_it() {
    in_each_way("a_server_outlives_the_thread_that_asked_for_it", &[], async || {
        let runtime = tokio::runtime::Handle::current();
        let asks =
            move || runtime.block_on(launch(shell("cat", Vec::new()), ON_NO_THREAD)).unwrap();
        let launched = tokio::task::spawn_blocking(|| std::thread::spawn(asks).join().unwrap());
        let Launched { process, stdin, stdout, stderr: _ } = launched.await.unwrap();
        if supervision() == "group" {
            assert_eq!(thread_of_child(process.pid()).as_deref(), Some("trunkline-spawn\n"));
        }
        for _ in 0..3 {
            assert_eq!(stdin.write_now(b"still here").unwrap(), 10);
            let mut echo = Vec::with_capacity(64);
            stdout.read(&mut echo).await.unwrap();
            assert_eq!(echo, b"still here");
        }
        drop(stdin);
        assert_eq!(process.exited().await, Exit::Status(0));
        process.gone().await;
    });
}

/// The name of the thread of this process that forked a child.
fn thread_of_child(pid: u32) -> Option<String> {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let mut paths = threads.map(|thread| thread.path());
    let has_it = |path: &PathBuf| {
        let children = fs::read_to_string(path.join("children")).unwrap_or_default();
        children.split_whitespace().any(|it| it == pid.to_string())
    };
    paths.find(has_it).and_then(|path| fs::read_to_string(path.join("comm")).ok())
}

/// SPEC 9.8: an argument with a zero cannot be passed on, and is not cut short.
#[test]
fn an_argument_with_a_zero_is_refused() {
    in_each_way("an_argument_with_a_zero_is_refused", &[], async || {
        let refused = launch(shell("true", vec!["a\0b".into()]), ON_NO_THREAD).await.err().unwrap();
        assert_eq!(refused.error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(refused.step, "pass its arguments and environment");
    });
}
