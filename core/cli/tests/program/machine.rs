//! What `doctor` says of the machine: proxies, certificates, runners, folders, variables, and the
//! user's shell.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::{Home, Ran, ran};

/// A run with more in its environment.
fn doctor(home: &Home, words: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = home.command(&[&["doctor", "--json"], words].concat());
    ran(command.envs(variables.iter().copied()).output().unwrap())
}

/// The findings of a topic, as state, servers and message.
fn found(ran: &Ran, topic: &str) -> Vec<(String, String, String)> {
    let json = ran.json();
    let of_it = json["findings"].as_array().unwrap().iter().filter(|it| it["topic"] == topic);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let names =
        |value: &Value| value.as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(" ");
    of_it.map(|it| (text(&it["state"]), names(&it["servers"]), text(&it["message"]))).collect()
}

/// Whether one of the findings of a topic is in that state, of these servers, and has these words.
#[track_caller]
fn says(ran: &Ran, topic: &str, state: &str, servers: &str, words: &str) {
    let found = found(ran, topic);
    let is_it =
        |it: &(String, String, String)| it.0 == state && it.1 == servers && it.2.contains(words);
    assert!(found.iter().any(is_it), "{topic}, {state}, {servers:?}, {words:?}: {found:#?}");
}

fn program(home: &Home, name: &str, text: &str) -> String {
    let path = home.write(name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn each_remote_server_is_told_with_the_proxy_that_it_takes() {
    let home = Home::new();
    home.settings(
        ".cursor/mcp.json",
        &json!({
            "far": { "url": "https://far.example/mcp" },
            "further": { "url": "https://further.example/mcp" },
            "inner": { "url": "https://a.inner.example/mcp" },
            "here": { "url": "http://127.0.0.1:9/mcp" },
        }),
    );
    let none = doctor(&home, &[], &[]);
    let proxy = found(&none, "proxy");
    assert!(proxy.len() == 1 && proxy[0].2.starts_with("none, for sign-ins too"), "{proxy:?}");
    let variables = [
        ("HTTPS_PROXY", "http://canary-user:canary-word@proxy.example:3128"),
        ("NO_PROXY", "inner.example"),
    ];
    let proxied = doctor(&home, &[], &variables);
    says(&proxied, "proxy", "ok", "far further", "http://proxy.example:3128, with a user");
    says(&proxied, "proxy", "ok", "inner", "none for https://a.inner.example");
    says(&proxied, "proxy", "ok", "here", "none for http://127.0.0.1:9");
    says(&proxied, "proxy", "ok", "far further inner here", "for each of their addresses");
    let mut plain = home.command(&["doctor"]);
    let plain = ran(plain.envs(variables).output().unwrap());
    for text in [&proxied.stdout, &plain.stdout, &plain.stderr] {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[test]
fn a_proxy_that_cannot_be_taken_is_wrong() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "far": { "url": "https://far.example/mcp" } }));
    for (value, servers, words) in [
        ("socks5://proxy.example:1080", "far", "neither `http` nor `https`"),
        ("http://canary word", "", "`HTTPS_PROXY` is not the address of a proxy"),
    ] {
        let ran = doctor(&home, &[], &[("HTTPS_PROXY", value)]);
        says(&ran, "proxy", "wrong", servers, words);
        assert!(ran.exit == 1 && !ran.stdout.contains("canary"), "{ran:?}");
    }
}

#[test]
fn certificates_that_cannot_be_read_are_wrong() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    let pipe = home.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let no_pem = home.write("no.pem", "nothing");
    let pem = home.write("one.pem", "-----BEGIN CERTIFICATE-----\n");
    for (name, path, state, words) in [
        ("SSL_CERT_FILE", Path::new("/no/such.pem"), "wrong", "No such file"),
        ("SSL_CERT_FILE", &pipe, "wrong", "it is a pipe"),
        ("SSL_CERT_FILE", Path::new("/dev/zero"), "wrong", "it is a device"),
        ("SSL_CERT_FILE", Path::new(""), "wrong", "nothing, though it is set"),
        ("SSL_CERT_FILE", &no_pem, "wrong", "no certificate is in PEM form"),
        ("SSL_CERT_DIR", Path::new("/no/such"), "wrong", "No such file"),
        ("NODE_EXTRA_CA_CERTS", Path::new("/no/such.pem"), "wrong", "No such file"),
        ("NODE_EXTRA_CA_CERTS", &pem, "ok", "1 certificates; the library does not read it"),
    ] {
        let ran = doctor(&home, &[], &[(name, path.to_str().unwrap())]);
        says(&ran, "certificates", state, "", words);
        assert_eq!(ran.exit, i32::from(state == "wrong"), "{ran:?}");
        if !path.as_os_str().is_empty() {
            says(&ran, "certificates", "ok", "demo", &format!("`{name}` is not given to it"));
        }
    }
}

/// JSON output lists every server. A line of text names a few, and counts the others.
#[test]
fn lists_are_whole_in_json_and_bounded_in_text() {
    let home = Home::new();
    let names: Vec<String> = (10..30).map(|number| format!("s{number}")).collect();
    let server = json!({ "command": "sh", "env": { "PATH": "/usr/bin:/bin" } });
    let servers = names.iter().map(|name| (name.clone(), server.clone())).collect();
    home.settings(".cursor/mcp.json", &Value::Object(servers));
    let pem = home.write("one.pem", "-----BEGIN CERTIFICATE-----\n");
    let folders: Vec<String> =
        names.iter().map(|name| home.path(name).display().to_string()).collect();
    let path = format!("/usr/bin:/bin:{}", folders.join(":"));
    let variables = [("PATH", &*path), ("NODE_EXTRA_CA_CERTS", pem.to_str().unwrap())];
    let all = names.join(" ");
    let whole = doctor(&home, &[], &variables);
    says(&whole, "variables", "note", &all, &format!("without {}", folders.join(", ")));
    says(&whole, "certificates", "ok", &all, "`NODE_EXTRA_CA_CERTS` is not given to them");
    let mut plain = home.command(&["doctor"]);
    let plain = ran(plain.envs(variables).output().unwrap());
    assert!(plain.stdout.contains("s17 and 12 more: PATH differs"), "{plain:?}");
    assert!(plain.stdout.contains(&format!("{} and 12 more\n", folders[7])), "{plain:?}");
}

#[test]
fn a_runner_is_told_with_what_executes_it() {
    let home = Home::new();
    let node = program(&home, ".nvm/versions/node/v22/bin/node", "");
    let npx = program(&home, ".nvm/lib/npx-cli.js", "#!/usr/bin/env -S node --no-warnings\n");
    symlink(&npx, home.path(".nvm/versions/node/v22/bin/npx")).unwrap();
    let lost = program(&home, "lost", "#!/usr/bin/env no-such-program\n");
    let path = home.path(".nvm/versions/node/v22/bin");
    let servers = json!({
        "run": { "command": "npx", "env": { "PATH": path } },
        "lost": { "command": lost },
        "demo": home.server(&[]),
    });
    home.settings(".cursor/mcp.json", &servers);
    let ran = doctor(&home, &[], &[("NVM_DIR", "/canary"), ("NPM_CONFIG_REGISTRY", "canary")]);
    let link = format!("a link to {npx}, of the version manager nvm, run by {node}");
    says(&ran, "runner", "ok", "run", &link);
    says(&ran, "runner", "wrong", "lost", "asks for `no-such-program`");
    assert_eq!(found(&ran, "runner").len(), 2);
    says(&ran, "variables", "note", "run", "has NPM_CONFIG_REGISTRY, NVM_DIR, and the server");
    says(&ran, "variables", "note", "run", "PATH differs");
    says(&ran, "variables", "note", "run", "without /usr/local/bin, /usr/bin, /bin");
    assert!(!ran.stdout.contains("canary"), "{ran:?}");
}

#[test]
fn folders_are_told_with_whether_they_can_be_used() {
    let home = Home::new();
    let servers = json!({
        "demo": home.server(&[]),
        "gone": { "command": "sh", "cwd": home.path("no-such") },
    });
    home.settings(".cursor/mcp.json", &servers);
    home.settings("ws/.mcp.json", &json!({ "run": { "command": "npx", "args": ["-y", "x"] } }));
    home.write(".local/state/trunkline", "this is not a folder");
    let ran = doctor(&home, &[], &[]);
    says(&ran, "folder", "ok", "demo", home.path("ws").to_str().unwrap());
    says(&ran, "folder", "wrong", "gone", "cannot be entered");
    says(&ran, "folder", "ok", "run", ".local/state/trunkline/runners, where package runners");
    says(&ran, "folder", "wrong", "", ".local/state/trunkline cannot be written");
    says(&ran, "folder", "ok", "", ".cache/trunkline, not there yet, can be made");
    let named = doctor(&home, &[], &[("TRUNKLINE_HOME", "relative")]);
    says(&named, "folder", "wrong", "", "TRUNKLINE_HOME is not a whole path");
}

#[test]
fn variables_are_told_by_their_names_alone() {
    let home = Home::new();
    let servers = json!({
        "a": { "command": "sh", "env": { "KEY": "${env:SECRET}" } },
        "b": { "command": "sh", "env": { "SECRET": "${env:SECRET}" } },
    });
    home.settings(".cursor/mcp.json", &servers);
    let variables =
        [("SECRET", "canary-1"), ("HTTP_PROXY", "http://canary-2"), ("OWN_X", "canary-3")];
    let options = ["--options", r#"{"inherit_env": ["OWN_*"]}"#];
    let ran = doctor(&home, &options, &variables);
    let takes = "by `inherit_env` OWN_X; by its `env` KEY; the entry takes SECRET, which";
    says(&ran, "variables", "ok", "a", takes);
    says(&ran, "variables", "ok", "b", "HOME, PATH; by `inherit_env` OWN_X; by its `env` SECRET");
    says(&ran, "variables", "note", "a b", "has HTTP_PROXY, and the server does not");
    assert!(!ran.stdout.contains("canary-1") && !ran.stdout.contains("canary-3"), "{ran:?}");
}

#[test]
fn the_shell_is_run_for_who_asks_alone() {
    let home = Home::new();
    program(&home, "tools/npx", "");
    home.settings(".cursor/mcp.json", &json!({ "run": { "command": "only-there" } }));
    program(&home, "tools/only-there", "");
    let begun = home.path("begun");
    let profile = format!(
        "echo noise; echo >> {}; export ONLY_THERE=canary PATH=$HOME/tools:$PATH",
        begun.display()
    );
    home.write(".profile", &profile);
    let unasked = doctor(&home, &[], &[("SHELL", "/bin/sh")]);
    says(&unasked, "shell", "note", "", "was not looked at");
    assert!(!begun.exists());
    let asked = doctor(&home, &["--shell"], &[("SHELL", "/bin/sh"), ("ONLY_HERE", "canary")]);
    assert!(begun.exists());
    let tools = home.path("").display().to_string() + "/tools";
    let tools = format!("PATH of your shell has, and this process has not: {tools}");
    says(&asked, "shell", "note", "", "this process has not: ONLY_THERE");
    says(&asked, "shell", "note", "", "your shell does not set: ONLY_HERE");
    says(&asked, "shell", "note", "", &tools);
    says(&asked, "runner", "note", "run", "this process does not");
    assert!(!asked.stdout.contains("canary"), "{asked:?}");
    let path = format!("{}:/usr/bin:/bin", home.path("tools").display());
    let found = doctor(&home, &["--shell"], &[("SHELL", "/bin/sh"), ("PATH", &path)]);
    says(&found, "runner", "note", "run", "a host started from the desktop does not");
}

#[test]
fn a_shell_that_does_not_answer_is_told_and_left_behind_by_nothing() {
    let home = Home::new();
    home.settings(".cursor/mcp.json", &json!({ "demo": home.server(&[]) }));
    let pid = home.path("pid");
    let hangs = format!("#!/bin/sh\nsleep 1000 &\necho $! > {}\nwait\n", pid.display());
    for (name, text, words) in [
        ("hangs", hangs.as_str(), "has not ended after 10 seconds"),
        ("prints", "#!/bin/sh\nexec head -c 9000000 /dev/zero\n", "prints more than 64 KiB"),
        ("asks", "#!/bin/sh\nread answer || exit 3\n", "failed"),
        ("silent", "#!/bin/sh\n", "printed no environment"),
    ] {
        let shell = program(&home, name, text);
        let began = Instant::now();
        let ran = doctor(&home, &["--shell"], &[("SHELL", &shell)]);
        says(&ran, "shell", "note", "", words);
        assert!(began.elapsed() < Duration::from_secs(60) && ran.exit == 0, "{ran:?}");
    }
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "{pid}");
    for (shell, words) in
        [("/no/such", "cannot be started"), ("sh", "not an absolute path"), ("", "names none")]
    {
        let ran = doctor(&home, &["--shell"], &[("SHELL", shell)]);
        says(&ran, "shell", "note", "", words);
    }
}

/// What is wrong with an entry is told once, with what its own error says, and a name of several
/// files with each.
#[test]
fn an_entry_is_told_once_and_a_name_of_two_files_with_both() {
    let home = Home::new();
    let servers = json!({ "two": home.server(&[]), "unset": { "command": "${env:NOPE}/x" } });
    let first = home.settings(".cursor/mcp.json", &servers);
    let second = home.settings(".gemini/settings.json", &json!({ "two": home.server(&[]) }));
    let ran = doctor(&home, &[], &[]);
    for file in [first, second] {
        says(&ran, "program", "ok", "", &format!("({})", file.display()));
    }
    let json = ran.json();
    let unset = json["findings"].as_array().unwrap().iter();
    let unset: Vec<&Value> = unset.filter(|it| it["about"] == "unset").collect();
    assert_eq!(unset.len(), 1, "{unset:?}");
    assert!(unset[0]["hint"].as_str().unwrap().starts_with("set it in the environment"));
}
