//! Sources that are files: where they belong, reading them, reading them again (SPEC 10.1, 10.7,
//! 13.5, 13.7).

use std::path::{Path, PathBuf};

use super::*;
use rig::acquire;
use trunkline::{EventKind, EventMask, LoadOptions, ReloadOptions, Scope, WorkspaceTrust};

fn write(rig: &Rig, file: &str, servers: Value) -> PathBuf {
    let path = rig.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    save(&path, &json!({ "mcpServers": servers }).to_string());
    path
}

/// At once: nobody reads half of it.
fn save(path: &Path, text: &str) {
    let beside = path.with_extension("beside");
    std::fs::write(&beside, text).unwrap();
    std::fs::rename(&beside, path).unwrap();
}

async fn load(rig: &Rig, path: &PathBuf) -> Value {
    rig.pool.load(path, &LoadOptions::default()).await.unwrap()
}

fn watched() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.watch = true;
    options
}

/// SPEC 10.1, INTERFACE: a file is the source that its place implies, whatever link leads there.
#[test]
fn a_file_is_the_source_of_its_place() {
    let rig = trusted();
    host(async {
        let source = |report: Value| report["source"].as_str().unwrap().to_owned();
        for (file, scope) in [
            ("ws/.mcp.json", "project"),
            ("ws/sub/.mcp.json", "workspace"),
            ("ws/.vscode/settings.json", "workspace"),
            ("elsewhere.json", "user"),
        ] {
            let path = write(&rig, file, json!({ "s": rig.server(&[]) }));
            assert_eq!(source(load(&rig, &path).await), format!("{scope}:{}", path.display()));
        }
        let link = rig.path("link.json");
        std::os::unix::fs::symlink(rig.path("ws/.mcp.json"), &link).unwrap();
        assert!(source(load(&rig, &link).await).starts_with("workspace:"));
        let inside = rig.path("ws/link.json");
        std::os::unix::fs::symlink(rig.path("elsewhere.json"), &inside).unwrap();
        assert!(source(load(&rig, &inside).await).starts_with("workspace:"));
        // What waits for approval hides nothing (SPEC 12.11).
        assert_eq!(row(&rig.pool, "s")["origin"], "user");
        let highest = row(&rig.pool, "s")["waiting"][0].clone();
        assert_eq!(highest["source"], format!("workspace:{}", inside.display()));
        assert_eq!((&highest["line"], &highest["file"]), (&json!(1), &json!(inside)));
    });
}

/// SPEC 18.10: a program of another project than the workspace starts in that project, as it does
/// in its product.
#[test]
fn a_program_starts_in_the_project_of_its_file() {
    for (file, cwd, expected) in [
        ("other/.mcp.json", None, "other"),
        ("other/.cursor/mcp.json", None, "other"),
        ("other/.vscode/mcp.json", Some("tools"), "other/tools"),
        ("other/.mcp.json", Some("$ROOT/ws"), "ws"),
        ("other/servers.json", None, "ws"),
        ("ws/.mcp.json", None, "ws"),
    ] {
        let rig = trusted();
        std::fs::create_dir_all(rig.path("other/tools")).unwrap();
        let program = rig.server(&[])["command"].clone();
        let says = ["-c", "pwd >\"$0\"; exec \"$1\""].map(Value::from);
        let args = [&says[..], &[json!(rig.path("folder")), program]].concat();
        let mut server = json!({ "command": "/bin/sh", "args": args });
        if let Some(cwd) = cwd {
            server["cwd"] = cwd.replace("$ROOT", rig.path("").to_str().unwrap()).into();
        }
        host(async {
            let path = rig.path(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let name = if file.contains("vscode") { "servers" } else { "mcpServers" };
            save(&path, &json!({ name: { "s": server } }).to_string());
            load(&rig, &path).await;
            if file.starts_with("ws/") {
                super::decisions::approve(&rig.pool, "s").await;
            }
            let session = rig.session("a");
            acquire(&session, "s").await;
            let folder = std::fs::read_to_string(rig.path("folder")).unwrap();
            let expected = std::fs::canonicalize(rig.path(expected)).unwrap();
            assert_eq!(folder.trim_end(), expected.to_str().unwrap(), "{file} {cwd:?}");
        });
    }
}

/// SPEC 11.3, S-03: a file inside of the workspace cannot be called the user's; one at launch can.
#[test]
fn a_file_of_the_workspace_is_not_passed_off_as_the_users() {
    let rig = trusted();
    host(async {
        let path = write(&rig, "ws/x.json", json!({ "s": rig.server(&[]) }));
        for (scope, is_refused) in [
            (Scope::User, true),
            (Scope::Managed, true),
            (Scope::Extension, true),
            (Scope::Session, true),
            (Scope::Runtime, true),
            (Scope::Project, false),
            (Scope::Launch, false),
        ] {
            let mut options = LoadOptions::default();
            options.source = Some(scope);
            let loaded = rig.pool.load(&path, &options).await;
            let code = loaded.err().map(|error| error.code());
            assert_eq!(code, is_refused.then_some(ErrorCode::InvalidArgument), "{scope}");
        }
    });
}

/// SPEC 10.1, 11.3: what is not there yet has its place as well, by whatever way: through a link to
/// the workspace, past a folder that is missing, at the end of a link that leads nowhere yet.
#[test]
fn a_file_that_is_not_there_yet_is_the_source_of_its_place() {
    let rig = trusted();
    host(async {
        std::os::unix::fs::symlink(rig.path("ws"), rig.path("link")).unwrap();
        std::os::unix::fs::symlink(rig.path("ws/none/x.json"), rig.path("dangles.json")).unwrap();
        for file in ["link/later/x.json", "ws/../ws/sub/mcp.json", "dangles.json"] {
            let report = rig.pool.load(rig.path(file), &watched()).await.unwrap();
            assert!(report["source"].as_str().unwrap().starts_with("workspace:"), "{report}");
            let mut options = watched();
            options.source = Some(Scope::User);
            let refused = rig.pool.load(rig.path(file), &options).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::InvalidArgument, "{file}");
        }
        write(&rig, "ws/later/x.json", json!({ "s": rig.server(&[]) }));
        rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        assert_eq!(row(&rig.pool, "s")["approval_state"], "pending");
        assert_eq!(rig.starts(), [0; 0]);
    });
}

/// SPEC 11.3, S-03: a file that came to lie inside of the workspace after it was loaded is not the
/// user's any more: what it says is not taken up, and it keeps what it said outside.
#[test]
fn a_file_that_a_link_moved_into_the_workspace_is_not_read_as_the_users() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let path = write(&rig, "own/one.json", json!({ "s": rig.server(&[]) }));
        let source = load(&rig, &path).await["source"].clone();
        settled(&rig).await;
        write(&rig, "ws/theirs/one.json", json!({ "t": rig.server(&[]) }));
        std::fs::rename(rig.path("own"), rig.path("away")).unwrap();
        std::os::unix::fs::symlink(rig.path("ws/theirs"), rig.path("own")).unwrap();
        let report = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        assert_eq!(report["servers"], json!({}));
        assert_eq!(report["errors"][0]["source"], source);
        let states = settled(&rig).await;
        assert_eq!((&states["s"]["state"], states.get("t")), (&json!("ready"), None));
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 10.7: a first load that fails changes nothing, and says where.
#[test]
fn a_file_that_cannot_be_read_is_an_error_of_the_load() {
    let rig = trusted();
    host(async {
        let none = rig.pool.load(rig.path("none.json"), &LoadOptions::default()).await;
        assert_eq!(none.unwrap_err().code(), ErrorCode::InvalidConfig);
        let path = rig.path("bad.json");
        std::fs::write(&path, "{\n  \"mcpServers\": {,}\n}").unwrap();
        let error = rig.pool.load(&path, &LoadOptions::default()).await.unwrap_err();
        assert_eq!(error.detail()["line"], 2);
        assert_eq!(error.detail()["source"], json!(path));
        let folder = rig.pool.load(rig.path("ws"), &LoadOptions::default()).await;
        assert_eq!(folder.unwrap_err().code(), ErrorCode::InvalidConfig);
        assert_eq!(rig.pool.status()["servers"], json!({}));
    });
}

/// SPEC 18.9: what never ends and what may never come is refused in words, when it is loaded and
/// while it is watched, and costs nothing that was there.
#[test]
fn a_file_without_an_end_is_refused_and_what_it_said_stays() {
    let rig = trusted();
    host(async {
        let path = write(&rig, "ws/.mcp.json", json!({ "s": rig.server(&[]) }));
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        let pipe = rig.path("ws/pipe.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (target, words) in [
            (Path::new("/proc/self/pagemap"), "it is longer than 16 MiB"),
            (pipe.as_path(), "it is a pipe, and no regular file"),
            (Path::new("/dev/zero"), "it is a device, and no regular file"),
            (Path::new("/"), "it is a folder, and no regular file"),
        ] {
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
            let refused = rig.pool.load(&path, &LoadOptions::default()).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::InvalidConfig);
            assert!(refused.message().ends_with(words), "{refused}");
            let report = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
            assert_eq!(report["errors"][0]["error"]["message"], refused.message());
            assert_eq!(row(&rig.pool, "s")["origin"], "project");
        }
    });
}

/// SPEC 10.7, 13.7, 13.2: a reload takes up what files say now; one that broke keeps its last good
/// state, says where, and says when that is over.
#[test]
fn a_reload_takes_up_what_changed_and_keeps_what_broke() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let (s, t) = (rig.server(&[]), rig.server(&[]));
        let one = write(&rig, "one.json", json!({ "s": s, "t": t }));
        let two = write(&rig, "two.json", json!({ "u": rig.server(&[]) }));
        load(&rig, &one).await;
        load(&rig, &two).await;
        settled(&rig).await;
        let kept = row(&rig.pool, "t")["entries"][0]["pid"].clone();
        let mask = EventKind::SourceError.bit() | EventKind::SourceChanged.bit();
        let events = rig.pool.subscribe(EventMask(mask)).unwrap();
        write(&rig, "one.json", json!({ "s": rig.server(&["--tools", "2"]), "t": t }));
        std::fs::write(&two, "{").unwrap();
        let report = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        assert_eq!(actions(&report["servers"]), json!({ "s": "replaced" }));
        assert_eq!(report["errors"][0]["source"], format!("user:{}", two.display()));
        let event = || {
            let event = events.try_next();
            event.map(|event| serde_json::from_str::<Value>(event.json()).unwrap())
        };
        let mut told: Vec<Value> = std::iter::from_fn(event).collect();
        // The two are read at once.
        told.sort_by_key(|event| event["source"].to_string());
        let seen: Vec<_> = told.iter().map(|event| (&event["line"], &event["accepted"])).collect();
        let (none, line) = (Value::Null, json!(1));
        assert_eq!(seen, [(&none, &json!(true)), (&line, &none), (&none, &json!(false))]);
        // Mended to what it said before, it is no news but that.
        write(&rig, "two.json", json!({ "u": rig.server(&[]) }));
        for accepted in [json!(true), Value::Null] {
            rig.pool.reload(&ReloadOptions::default()).await.unwrap();
            let told = event().map(|event| event["accepted"].clone());
            assert_eq!(told.unwrap_or_default(), accepted);
        }
        assert!(events.try_next().is_none());
        let states = settled(&rig).await;
        assert_eq!([&states["s"]["state"], &states["u"]["state"]], ["ready", "ready"]);
        assert_eq!(row(&rig.pool, "t")["entries"][0]["pid"], kept);
        std::fs::remove_file(&one).unwrap();
        let report = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        assert_eq!(actions(&report["servers"]), json!({ "s": "removed", "t": "removed" }));
        drop(session);
    });
}

/// SPEC 13.7: a reload can have named servers reconnected.
#[test]
fn a_reload_reconnects_the_servers_that_it_is_told_to() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        set(&rig.pool, "user", json!({ "s": rig.server(&[]), "t": rig.server(&[]) }));
        settled(&rig).await;
        let pid = |name: &str| row(&rig.pool, name)["entries"][0]["pid"].clone();
        let before = (pid("s"), pid("t"));
        let options = ReloadOptions::from_json(r#"{"reconnect":["s"]}"#).unwrap();
        rig.pool.reload(&options).await.unwrap();
        settled(&rig).await;
        assert_ne!(pid("s"), before.0);
        assert_eq!(pid("t"), before.1);
    });
}

/// SPEC 13.6, 13.7: reconnects that a reload was told to make are made at once, and one that fails
/// is in its report.
#[test]
fn a_reload_reports_the_reconnects_that_fail() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let gate = rig.path("gate");
        let server = rig.server(&[]);
        let line = format!("[ ! -e {} ] || exit 3; exec \"$0\" \"$@\"", gate.display());
        let mut args = vec![json!("-c"), json!(line), server["command"].clone()];
        args.extend(server["args"].as_array().unwrap().iter().cloned());
        let fails = json!({ "command": "/bin/sh", "args": args });
        set(&rig.pool, "user", json!({ "s": fails, "t": rig.server(&[]) }));
        settled(&rig).await;
        std::fs::write(&gate, "").unwrap();
        let options = ReloadOptions::from_json(r#"{"reconnect":["s","t","none"]}"#).unwrap();
        let report = rig.pool.reload(&options).await.unwrap();
        let made = &report["reconnected"];
        assert_eq!(made["s"][0]["reason"], "failed", "{report}");
        assert_eq!(made["s"][0]["error"]["code"].as_str(), Some("exited"), "{report}");
        assert_eq!(made["t"][0]["restarted"], true, "{report}");
        assert_eq!(made["none"], json!([]));
        let quiet = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        assert_eq!(quiet.get("reconnected"), None);
    });
}

/// SPEC 13.5: a file that is loaded again without `watch` is followed no more; the other of its
/// folder is.
#[test]
fn a_file_that_is_loaded_again_without_watching_is_followed_no_more() {
    let rig = trusted();
    host(async {
        let one = write(&rig, "one.json", json!({ "s": rig.server(&[]) }));
        let two = write(&rig, "two.json", json!({ "t": rig.server(&[]) }));
        rig.pool.load(&one, &watched()).await.unwrap();
        rig.pool.load(&two, &watched()).await.unwrap();
        load(&rig, &one).await;
        write(&rig, "one.json", json!({ "gone": rig.server(&[]) }));
        write(&rig, "two.json", json!({ "come": rig.server(&[]) }));
        until(|| row(&rig.pool, "come") != Value::Null);
        settled(&rig).await;
        assert_eq!([&row(&rig.pool, "gone"), &row(&rig.pool, "t")], [&Value::Null; 2]);
        assert_ne!(row(&rig.pool, "s"), Value::Null);
    });
}

/// SPEC 11.4: in a workspace that is not trusted a reload does nothing; what it missed is read when
/// trust comes.
#[test]
fn a_reload_without_trust_reads_nothing_of_the_workspace() {
    let rig = rig(json!({}));
    host(async {
        let _session = wanting(&rig, "a");
        let path = write(&rig, "ws/.mcp.json", json!({ "s": rig.server(&[]) }));
        load(&rig, &path).await;
        write(&rig, "ws/.mcp.json", json!({ "t": rig.server(&[]) }));
        let report = rig.pool.reload(&ReloadOptions::default()).await.unwrap();
        assert_eq!(report["servers"], json!({}));
        assert_eq!(row(&rig.pool, "s")["reason"], "untrusted");
        rig.pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap();
        until(|| row(&rig.pool, "t")["reason"] == "pending_approval");
        assert_eq!(rig.starts(), [0; 0]);
    });
}

/// SPEC 11.4, 13.7: what a file no longer says does not start when trust comes, however briefly,
/// and what it says now is known once all has settled.
#[test]
fn trust_starts_nothing_that_the_file_no_longer_says() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let path = write(&rig, "ws/.mcp.json", json!({ "s": rig.server(&[]) }));
        load(&rig, &path).await;
        let requests = rig.pool.approvals().await.unwrap()["requests"].clone();
        rig.pool.approve("s", requests[0]["hash"].as_str().unwrap()).await.unwrap();
        settled(&rig).await;
        rig.pool.set_trusted(WorkspaceTrust::Untrusted).await.unwrap();
        rig.wait_for_no_process();
        write(&rig, "ws/.mcp.json", json!({ "t": rig.server(&[]) }));
        let rows = rig.pool.set_trusted(WorkspaceTrust::Trusted).await.unwrap()["servers"].clone();
        assert_eq!(actions(&rows)["s"], "removed", "{rows}");
        let states = settled(&rig).await;
        assert_eq!((states.get("s"), &states["t"]["reason"]), (None, &json!("pending_approval")));
        assert_eq!(rig.starts().len(), 1);
    });
}

/// SPEC 13.5: a watched file is read again when it changes, comes or goes; its meaning counts, not
/// its bytes.
#[test]
fn a_watched_file_is_followed() {
    let rig = trusted();
    host(async {
        let session = wanting(&rig, "a");
        let path = rig.path("later/one.json");
        let report = rig.pool.load(&path, &watched()).await.unwrap();
        assert_eq!(report["servers"], json!({}));
        let (s, t) = (rig.server(&[]), rig.server(&["--tools", "3"]));
        write(&rig, "later/one.json", json!({ "s": s }));
        until(|| row(&rig.pool, "s")["state"] == "connected");
        let pid = row(&rig.pool, "s")["entries"][0]["pid"].clone();
        let events = rig.pool.subscribe(EventMask(EventKind::SourceChanged.bit())).unwrap();
        // Other bytes of one meaning, and then something that can be waited for.
        let text = format!("// a comment\n{}", json!({ "mcpServers": { "s": s } }));
        save(&path, &text);
        write(&rig, "later/one.json", json!({ "s": s, "t": t }));
        until(|| row(&rig.pool, "t")["state"] == "connected");
        assert!(events.try_next().is_some());
        assert!(events.try_next().is_none());
        assert_eq!(row(&rig.pool, "s")["entries"][0]["pid"], pid);
        std::fs::remove_file(&path).unwrap();
        until(|| tools(&session) == 0);
        rig.pool.set_source(&name(&format!("user:{}", path.display())), None).unwrap();
    });
}

/// SPEC 10.7, 13.5: a watched file that breaks keeps its last good state and says where.
#[test]
fn a_watched_file_that_breaks_keeps_its_last_good_state() {
    let rig = trusted();
    host(async {
        let _session = wanting(&rig, "a");
        let path = write(&rig, "one.json", json!({ "s": rig.server(&[]) }));
        rig.pool.load(&path, &watched()).await.unwrap();
        settled(&rig).await;
        let events = rig.pool.subscribe(EventMask(EventKind::SourceError.bit())).unwrap();
        save(&path, "{\n  \"mcpServers\": {,}\n}");
        let event = tokio::time::timeout(HANG, events.next()).await.unwrap().unwrap();
        let event: Value = serde_json::from_str(event.json()).unwrap();
        assert_eq!(event["line"], 2);
        assert_eq!(row(&rig.pool, "s")["state"], "connected");
        assert_eq!(rig.starts().len(), 1);
    });
}
