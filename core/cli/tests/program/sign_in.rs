//! `sign-in`, with the authorization server of the reference server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::json;

use crate::rig::{Home, Remote, ran};

/// Asks for an address of this machine, as a browser does; what is answered.
fn get(url: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Where the authorization server sends the person back to.
fn redirect(url: &str) -> String {
    let answer = get(url);
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
    location.unwrap_or_else(|| panic!("no redirect: {answer}")).to_owned()
}

fn home() -> (Home, Remote) {
    let (home, remote) = (Home::new(), Remote::start(&["--http-auth", "{}"]));
    home.settings(".cursor/mcp.json", &json!({ "far": { "url": remote.url } }));
    (home, remote)
}

/// Begins a sign-in; the program, and the address that it shows.
fn begun(home: &Home, words: &[&str]) -> (std::process::Child, String, impl std::io::Read + use<>) {
    let mut child = home.command(words).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("visit ").unwrap_or_else(|| panic!("{line}")).to_owned();
    (child, url, stdout)
}

#[test]
fn the_redirect_is_typed_in_and_the_sign_in_lasts() {
    let (home, remote) = home();
    let refused = home.run(&["call", "far", "echo", "message=hi"]);
    assert_eq!(refused.exit, 6, "{refused:?}");
    assert!(refused.stderr.contains("`trunkline sign-in far`"), "{refused:?}");
    let (mut child, url, mut stdout) = begun(&home, &["sign-in", "far"]);
    let pasted = format!("{}\n", redirect(&url));
    child.stdin.take().unwrap().write_all(pasted.as_bytes()).unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!((ended.exit, &*rest), (0, "signed in to far\n"), "{ended:?}");
    assert_eq!(home.run(&["call", "far", "echo", "message=hi"]).stdout, "hi\n");
    drop(remote);
}

#[test]
fn the_redirect_arrives_at_a_port_of_this_machine() {
    let (home, remote) = home();
    let refused = home.run(&["call", &remote.url, "echo"]).stderr;
    assert!(refused.contains(&format!("`trunkline sign-in {}`", remote.url)), "{refused}");
    let (child, url, mut stdout) = begun(&home, &["sign-in", &remote.url, "--listen"]);
    let back = redirect(&url);
    // What a browser asks for besides, and what speaks no HTTP, changes nothing.
    let origin = back.split("/callback").next().unwrap();
    assert!(get(&format!("{origin}/favicon.ico")).starts_with("HTTP/1.1 404"));
    drop(TcpStream::connect(origin.strip_prefix("http://").unwrap()).unwrap());
    // Nor does a redirect of another sign-in, or one that a page of another name asks for.
    let foreign = get(&format!("{origin}/callback?code=a&state=b"));
    assert!(foreign.starts_with("HTTP/1.1 400"), "{foreign}");
    assert!(get(&back).starts_with("HTTP/1.1 200"));
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!((ended.exit, rest), (0, format!("signed in to {}\n", remote.url)), "{ended:?}");
    let called = home.run(&["call", &remote.url, "echo", "message=hi"]);
    assert_eq!((&*called.stdout, called.exit), ("hi\n", 0), "{called:?}");
}

#[test]
fn what_is_no_redirect_signs_nobody_in() {
    let (home, _remote) = home();
    let unanswered = home.run(&["sign-in", "far"]);
    assert_eq!(unanswered.exit, 1, "{unanswered:?}");
    let wrong = home.run_with(&["sign-in", "far"], "http://127.0.0.1:1/callback?code=a&state=b\n");
    assert_eq!(wrong.exit, 2, "{wrong:?}");
    assert_eq!(home.run(&["sign-in", "nobody"]).exit, 8);
    assert_eq!(home.run(&["call", "far", "echo", "message=hi"]).exit, 6);
}

#[test]
fn nobody_is_waited_for_longer_than_was_asked_for() {
    let (home, _remote) = home();
    let late = home.run(&["sign-in", "far", "--listen=0", "--timeout", "2"]);
    assert_eq!(late.exit, 7, "{late:?}");
    assert_eq!(home.run(&["sign-in", "far", "--listen=many"]).exit, 2);
}

/// A path that is no Unicode would be that of another file as an option.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_no_unicode_keeps_no_sign_in() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    let state = home.path("").join(std::ffi::OsStr::from_bytes(b"state-\xff"));
    std::fs::create_dir(&state).unwrap();
    let refused =
        ran(home.command(&["sign-in", "far"]).env("XDG_STATE_HOME", &state).output().unwrap());
    assert_eq!(refused.exit, 2, "{refused:?}");
    assert!(refused.stderr.contains("kept sign-ins is no Unicode"), "{refused:?}");
}
