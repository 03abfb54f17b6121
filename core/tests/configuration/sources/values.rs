//! Values that opencode takes from files (SPEC 18.9).

use std::path::PathBuf;

use super::*;
use trunkline::LoadOptions;

/// A settings file of opencode whose one server has this as `A` in its environment.
fn settings(rig: &Rig, file: &str, value: &str) -> PathBuf {
    let server = rig.server(&[]);
    let words =
        [&server["command"]].into_iter().chain(server["args"].as_array().into_iter().flatten());
    let command: Vec<_> = words.collect();
    let entry = json!({ "type": "local", "command": command, "environment": { "A": value } });
    let path = rig.path(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, json!({ "mcp": { "s": entry } }).to_string()).unwrap();
    path
}

/// Whether anybody opened a file.
#[cfg(target_os = "linux")]
struct Opened(std::fs::File);

#[cfg(target_os = "linux")]
impl Opened {
    fn of(file: &std::path::Path) -> Opened {
        use std::os::fd::FromRawFd;
        let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: the path ends with a zero, and the descriptor is nobody else's.
        let notices = unsafe {
            let notices = libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC);
            assert!(
                notices >= 0 && libc::inotify_add_watch(notices, path.as_ptr(), libc::IN_OPEN) >= 0
            );
            std::fs::File::from_raw_fd(notices)
        };
        Opened(notices)
    }

    /// Since this was asked last.
    fn now(&self) -> bool {
        use std::io::Read;
        (&self.0).read(&mut [0; 4096]).is_ok()
    }
}

async fn value(session: &Session) -> String {
    let lease = rig::acquire(session, "s").await;
    rig::text(&lease, "env", json!({ "name": "A" })).await
}

/// SPEC 18.9: the file is read at each connect. What stands in it is another value of the same
/// server.
#[test]
fn a_file_is_read_at_each_connect() {
    let rig = trusted();
    host(async {
        let path = settings(&rig, "user/opencode.json", "a-{file:./key}");
        let key = rig.path("user/key");
        std::fs::write(&key, "first\n").unwrap();
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        let session = wanting(&rig, "one");
        assert_eq!(value(&session).await, "a-first");
        std::fs::write(&key, "second\n").unwrap();
        let report = rig.pool.reload(&Default::default()).await.unwrap();
        assert!(!report.to_string().contains("second"), "{report}");
        assert_eq!(value(&session).await, "a-first", "another value restarts nothing");
        rig.pool.restart("s", None).await.unwrap();
        assert_eq!(value(&session).await, "a-second");
        assert_eq!(row(&rig.pool, "s")["entries"].as_array().unwrap().len(), 1);
    });
}

/// SPEC 18.9: what cannot be a value is an error of the server that names field and file; once it
/// can, the server comes.
#[test]
fn a_file_that_is_away_is_told_with_its_field() {
    let rig = trusted();
    host(async {
        let path = settings(&rig, "user/opencode.json", "{file:key}");
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        let session = wanting(&rig, "one");
        let error = session.acquire("s", None, &Default::default()).await.err().unwrap();
        assert_eq!(error.code(), ErrorCode::InvalidConfig, "{error}");
        assert_eq!(error.detail()["path"], "env.A");
        let key = rig.path("user/key");
        assert_eq!(error.detail()["file"], json!(key));
        assert_eq!(row(&rig.pool, "s")["entries"][0]["pid"], Value::Null);
        std::fs::write(&key, "there").unwrap();
        session.ready(Some("s"), Some(HANG)).await.unwrap();
        assert_eq!(value(&session).await, "there");
    });
}

/// SPEC 18.9, 12.9: a person sees which file goes into which member, and whether it leads out of
/// the workspace; never what it says.
#[test]
fn a_request_shows_the_file_and_whether_it_leads_out() {
    let rig = trusted();
    host(async {
        std::fs::create_dir_all(rig.path("ws")).unwrap();
        for file in ["ws/key", "key"] {
            std::fs::write(rig.path(file), "sesame").unwrap();
        }
        std::os::unix::fs::symlink(rig.path("key"), rig.path("ws/link")).unwrap();
        std::os::unix::fs::symlink(rig.path("gone"), rig.path("ws/nowhere")).unwrap();
        for (written, file, leads_out) in [
            ("{file:key}", "ws/key", false),
            ("{file:./missing}", "ws/./missing", false),
            ("{file:link}", "ws/link", true),
            ("{file:../key}", "ws/../key", true),
            ("{file:../missing/key}", "ws/../missing/key", true),
            ("{file:nowhere}", "ws/nowhere", true),
        ] {
            let path = settings(&rig, "ws/opencode.json", written);
            rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
            let request = rig.pool.approvals().await.unwrap()["requests"][0].clone();
            assert!(!request.to_string().contains("sesame"), "{request}");
            let file = rig.path(file);
            assert_eq!(
                request["takes"],
                json!([{ "kind": "file", "name": file, "fields": ["env.A"] }]),
                "{written}"
            );
            let risks = request["risks"].as_array().unwrap().iter();
            let marks: Vec<_> = risks.filter(|risk| risk["kind"] == "secret_file").collect();
            assert_eq!(!marks.is_empty(), leads_out, "{written}: {marks:?}");
            assert!(marks.iter().all(|mark| mark["subject"] == json!(file)), "{marks:?}");
        }
    });
}

/// SPEC 18.9: nothing is read of a server that waits, and what was approved gets the value.
#[cfg(target_os = "linux")]
#[test]
fn a_file_is_read_only_after_the_approval() {
    let rig = trusted();
    host(async {
        let path = settings(&rig, "ws/opencode.json", "{file:key}");
        let key = rig.path("ws/key");
        std::fs::write(&key, "sesame\n").unwrap();
        let opened = Opened::of(&key);
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        let session = wanting(&rig, "one");
        assert_eq!(refused(&session, "s").await.1, "pending_approval");
        let request = rig.pool.approvals().await.unwrap()["requests"][0].clone();
        assert!(!opened.now(), "it was opened before anybody approved it");
        rig.pool.approve("s", request["hash"].as_str().unwrap()).await.unwrap();
        assert_eq!(value(&session).await, "sesame");
        assert!(opened.now(), "nobody opened it");
    });
}

/// SPEC 18.9, 12.9: a file that led nowhere else when it was approved is not sent once it does, and
/// asks again.
#[test]
fn a_file_that_comes_to_lead_out_is_not_read_and_asks_again() {
    let rig = trusted();
    host(async {
        let path = settings(&rig, "ws/opencode.json", "{file:key}");
        let key = rig.path("ws/key");
        std::fs::write(&key, "own").unwrap();
        std::fs::write(rig.path("secret"), "sesame").unwrap();
        rig.pool.load(&path, &LoadOptions::default()).await.unwrap();
        let session = wanting(&rig, "one");
        let request = async || rig.pool.approvals().await.unwrap()["requests"][0].clone();
        let approved = request().await;
        rig.pool.approve("s", approved["hash"].as_str().unwrap()).await.unwrap();
        assert_eq!(value(&session).await, "own");
        std::fs::remove_file(&key).unwrap();
        std::os::unix::fs::symlink(rig.path("secret"), &key).unwrap();
        let report = rig.pool.restart("s", None).await.unwrap();
        assert_eq!(report["entries"][0]["error"]["code"], "invalid_config", "{report}");
        assert!(report.to_string().contains("leads out"), "{report}");
        rig.pool.reload(&Default::default()).await.unwrap();
        assert_eq!(refused(&session, "s").await.1, "pending_approval");
        let asked = request().await;
        assert_ne!(asked["hash"], approved["hash"]);
        assert!(asked["risks"].to_string().contains("secret_file"), "{asked}");
        rig.pool.approve("s", asked["hash"].as_str().unwrap()).await.unwrap();
        assert_eq!(value(&session).await, "sesame");
    });
}
