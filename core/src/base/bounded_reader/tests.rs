//! What is refused, in which words, and that nothing waits or grows meanwhile.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::folder::Folder;

const BOUND: usize = 1 << 10;

fn refused(path: impl Into<PathBuf>) -> String {
    text(&path.into(), BOUND).unwrap_err().to_string()
}

/// SPEC 18.9: what has no end, what may never come and what is no text is refused in words, at
/// once.
#[test]
fn what_is_no_file_with_a_text_is_refused_in_words() {
    let folder = Folder::new();
    let made = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let (pipe, socket) = (folder.join("pipe"), folder.join("socket"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _listener = UnixListener::bind(&socket).unwrap();
    let link = folder.join("link");
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    for (path, words) in [
        (pipe, "it is a pipe, and no regular file"),
        (link, "it is a pipe, and no regular file"),
        (socket, "it is a socket, and no regular file"),
        (folder.join("."), "it is a folder, and no regular file"),
        ("/dev/zero".into(), "it is a device, and no regular file"),
        ("/dev/tty".into(), "it is a device, and no regular file"),
        (made("long", &[b'a'; BOUND + 1]), "it is longer than 1 KiB"),
        (made("bytes", b"\xff"), "it is not UTF-8"),
    ] {
        assert_eq!(refused(path), words);
    }
    assert!(refused(folder.join("none")).starts_with("No such file"));
    let full = made("full", &[b'a'; BOUND]);
    assert_eq!(text(&full, BOUND).unwrap().len(), BOUND);
}

/// SPEC 18.9: a regular file that says that it is empty and never ends.
#[cfg(target_os = "linux")]
#[test]
fn a_file_without_an_end_is_read_up_to_the_bound() {
    let endless = Path::new("/proc/self/pagemap");
    assert_eq!(file(endless, BOUND).unwrap_err().to_string(), "it is longer than 1 KiB");
    assert_eq!(endless.metadata().unwrap().len(), 0);
}

/// SPEC 18.9: a stream is left soon behind the bound, and one that ends there is whole.
#[test]
fn a_stream_is_left_where_the_bound_is() {
    let mut endless = std::io::repeat(b'a');
    assert_eq!(up_to(&mut endless, 1 << 20).unwrap(), None);
    let five = || std::io::repeat(b'a').take(5);
    assert_eq!(up_to(five(), 4).unwrap(), None);
    assert_eq!(up_to(five(), 5).unwrap(), Some(vec![b'a'; 5]));
}

#[test]
fn a_bound_is_told_in_the_largest_unit_that_fits() {
    assert_eq!([1 << 24, 3 << 10, 1000].map(amount), ["16 MiB", "3 KiB", "1000 bytes"]);
}
