//! Which secrets arrived at a server, by what that notes of itself.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::Mutex;

use crate::canaries::canary;
use rig::Rig;

/// The places whose secrets have to arrive.
static EXPECTED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The heads of all requests.
static HEADS: Mutex<String> = Mutex::new(String::new());

/// The file in which processes note what they were given.
const NOTED: &str = "noted";

pub fn expect(place: &'static str) {
    EXPECTED.lock().unwrap().insert(place);
}

/// What a shell script notes its variables and its argument with.
pub fn noting(rig: &Rig) -> String {
    format!(r#"{{ env; echo "$1"; }} >> '{}'"#, rig.path(NOTED).display())
}

/// Reads the head of a request, and keeps it.
pub fn read_head(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|bytes| bytes > 2) {}
    HEADS.lock().unwrap().push_str(&head);
    head
}

/// Serves every comer by hanging up, for as long as the process lives.
pub fn hangs_up() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            read_head(&mut BufReader::new(stream));
        }
    });
    port
}

/// The places whose secrets no server was given.
pub fn missing(rig: &Rig) -> Vec<&'static str> {
    let mut arrived = std::fs::read_to_string(rig.path(NOTED)).unwrap();
    arrived += &HEADS.lock().unwrap();
    let expected = EXPECTED.lock().unwrap();
    println!("{} of them have to arrive", expected.len());
    assert!(expected.len() >= EXPECTED_MIN, "{expected:?}");
    expected.iter().copied().filter(|place| !arrived.contains(&canary(place))).collect()
}

/// As many places as there are servers that get something, or more.
const EXPECTED_MIN: usize = 28;
