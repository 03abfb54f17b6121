//! What a child is given, and what failed attempts leave behind: nothing.

use super::*;

/// SPEC 10.6, S-20, S-21.
#[tokio::test]
async fn a_child_gets_its_arguments_folder_and_environment_as_configured() {
    let folder = Folder::new();
    let odd = ["a b", "$HOME", "", "\"'\\", "*", "é\u{1f600}", "-"];
    let look = scripted(r#"printf '%s\n' "$@" >&2; pwd >&2; env >&2; reply '{}'"#);
    let server =
        script(&look).member("cwd", folder.to_str().unwrap()).member("env", json!({ "OWN": "1" }));
    let mut args: Vec<Value> = vec!["-c".into(), look.clone().into(), "sh".into()];
    args.extend(odd.iter().map(|it| Value::from(*it)));
    let open = server.member("args", args).connect().await;
    open.call("any", json!({})).await.unwrap();
    open.recorder.wait_for("stderr OWN=1").await;
    let lines = open.connection.stderr_tail();
    let unescaped: Vec<_> = lines.iter().map(|line| line.replace("\\\\", "\\")).collect();
    assert_eq!(unescaped[..odd.len()], odd);
    assert_eq!(Path::new(&unescaped[odd.len()]), &*folder);
    let names: Vec<_> =
        unescaped[odd.len() + 1..].iter().map(|line| line.split('=').next().unwrap()).collect();
    let base = "PATH HOME USER LOGNAME SHELL TERM TZ LANG LANGUAGE TMPDIR XDG_RUNTIME_DIR";
    let base: Vec<_> = base.split(' ').collect();
    let shells_own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let strange: Vec<_> = names
        .into_iter()
        .filter(|name| {
            !base.contains(name) && !shells_own.contains(name) && !name.starts_with("LC_")
        })
        .collect();
    assert_eq!(strange, ["OWN"], "the host's own variables stay with the host");
    open.close().await;
}

/// S-22, S-23.
#[tokio::test]
async fn a_child_has_three_descriptors_a_session_of_its_own_and_plain_signals() {
    let look = r#"ls -1 /proc/self/fd | while read -r fd; do echo "fd $fd" >&2; done
        while read -r name value; do case $name in Sig*|NSsid:) echo "$name $value" >&2;; esac; done < /proc/$$/status
        read -r stat < /proc/$$/stat; echo "stat $$ ${stat##*) }" >&2; reply '{}'"#;
    let inherited = crate::platform::inheritable_descriptors(20);
    let open = script(&scripted(look)).connect().await;
    open.call("any", json!({})).await.unwrap();
    let stat = open.recorder.wait_for("stderr stat").await;
    drop(inherited);
    let lines = open.connection.stderr_tail();
    let fds: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("fd ")).collect();
    // The fourth is the folder that `ls` itself reads.
    assert_eq!(fds, ["0", "1", "2", "3"], "{lines:?}");
    let none = "0000000000000000";
    for set in ["SigBlk:", "SigIgn:"] {
        assert!(lines.contains(&format!("{set} {none}")), "{set} in {lines:?}");
    }
    // stat: state, parent, group, session, terminal.
    let fields: Vec<_> = stat.split(' ').skip(2).collect();
    assert_eq!([fields[3], fields[4], fields[5]], [fields[0], fields[0], "0"], "{stat}");
    open.close().await;
}

/// I-25, I-05, SPEC 4.6.
#[test]
fn two_hundred_failed_starts_and_two_hundred_dropped_attempts_leave_nothing() {
    crate::platform::alone_in_a_process(
        "client::tests::children::two_hundred_failed_starts_and_two_hundred_dropped_attempts_leave_nothing",
        || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(leave_nothing());
        },
    );
}

async fn leave_nothing() {
    let missing = Server::new(json!({ "command": "no-such-program" }));
    let silent = test_server(&["--silent"]);
    let settle = || async {
        // What was dropped is ended by the runtime.
        let begun = Instant::now();
        while crate::platform::children_of_this_process() > 0 {
            assert!(begun.elapsed() < HANG, "children are left");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let round = |count: u64| {
        let (missing, silent) = (&missing, &silent);
        async move {
            for i in 0..count {
                missing.refused().await;
                let spec = ServerSpec::from_value("s", &silent.value).unwrap();
                let (_wanted, cancel) = watch::channel(None);
                let events = Arc::<Recorder>::default();
                let attempt = Connection::connect(&spec, silent.options.clone(), events, cancel);
                // At another moment each time: before the fork, amid it, amid the handshake.
                let _ = tokio::time::timeout(Duration::from_micros(i * 50), attempt).await;
            }
        }
    };
    round(10).await;
    settle().await;
    let before = descriptors();
    round(200).await;
    settle().await;
    let begun = Instant::now();
    while descriptors() > before {
        assert!(begun.elapsed() < HANG, "{} descriptors, {before} before", descriptors());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
