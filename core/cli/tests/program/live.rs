//! `status --watch` on a terminal: the live view, and the terminal behind it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::rig::Home;
use crate::screen::Screen;

/// A server that runs and one that cannot.
fn home() -> Home {
    let home = Home::new();
    let servers = json!({ "demo": home.server(&["--stderr-text", "it is up"]),
        "gone": { "command": "no-such-program" } });
    home.settings(".cursor/mcp.json", &servers);
    home
}

fn watching(home: &Home) -> Screen<'_> {
    let line = format!("\"{}\" status --watch --interval 0.1", env!("CARGO_BIN_EXE_trunkline"));
    let mut screen = Screen::start(home, &line);
    screen.until(|screen| {
        let text = screen.text();
        text.contains("1 connected") && text.contains("1 failed") && text.contains("it is up")
    });
    screen
}

/// The file of a host that writes once in an hour.
fn host(home: &Home) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let status = json!({ "totals": { "servers": 0 }, "servers": {}, "sessions": ["chat-1"] });
    let written = json!({ "v": 1, "pid": 7, "written_at_ms": u64::try_from(now).unwrap(),
        "period_ms": 3_600_000, "left_out": [], "status": status });
    home.write("status.json", &written.to_string())
}

/// The live view of that file.
fn following<'a>(home: &'a Home, file: &Path, interval: &str) -> Screen<'a> {
    let line = format!(
        "\"{}\" status --host \"{}\" --watch --interval {interval}",
        env!("CARGO_BIN_EXE_trunkline"),
        file.display()
    );
    let mut screen = Screen::start(home, &line);
    screen.until(|screen| screen.text().contains("chat-1"));
    screen
}

/// Whether the terminal and the machine are as they were.
fn ended(mut screen: Screen<'_>, home: &Home, exit: i32) {
    assert_eq!(screen.end(), (Some(exit), true), "{:?} {}", screen.modes, screen.behind);
    home.has_no_process();
}

#[test]
fn a_person_sees_the_servers_chooses_one_and_quits() {
    let home = home();
    let mut screen = watching(&home);
    assert!(screen.modes.iter().any(|mode| mode == "?1049h"), "{:?}", screen.modes);
    screen.until(|screen| screen.row(30).contains("q quit"));
    assert!(screen.text().contains("stderr of demo"), "{}", screen.text());
    // The key for down.
    screen.press("\u{1b}[B");
    // A frame may come in pieces.
    screen.until(|screen| {
        let text = screen.text();
        text.contains("no-such-program is in no") && text.contains("stderr of gone")
    });
    screen.press("?");
    screen.until(|screen| screen.text().contains("quit as a signal does"));
    screen.press("?");
    screen.until(|screen| !screen.text().contains("quit as a signal does"));
    screen.press("q");
    ended(screen, &home, 1);
}

#[test]
fn the_view_follows_the_size_of_the_terminal() {
    let home = home();
    let mut screen = watching(&home);
    screen.resize(80, 20);
    screen.until(|screen| screen.row(20).contains("q quit") && screen.row(30).is_empty());
    screen.press("q");
    ended(screen, &home, 1);
}

/// A key that stops in its middle is waited for, and keeps nothing else waiting.
#[test]
fn half_of_a_key_holds_up_neither_the_view_nor_a_signal() {
    let home = Home::new();
    let file = host(&home);
    let mut screen = following(&home, &file, "0.1");
    screen.press("\u{1b}[");
    let text = std::fs::read_to_string(&file).unwrap().replace("chat-1", "chat-2");
    // Whole or not at all, as a host writes it.
    std::fs::rename(home.write("next.json", &text), &file).unwrap();
    screen.until(|screen| screen.text().contains("chat-2"));
    assert!(Command::new("kill").arg(screen.pid()).status().unwrap().success());
    ended(screen, &home, 143);
}

/// However quickly the views follow one another.
#[test]
fn a_key_is_heard_where_there_is_no_time_between_two_views() {
    let home = Home::new();
    let file = host(&home);
    let mut screen = following(&home, &file, "0.000001");
    screen.press("q");
    ended(screen, &home, 0);
}

#[test]
fn a_key_that_interrupts_and_a_signal_give_the_terminal_back() {
    let home = home();
    let mut screen = watching(&home);
    screen.press("\u{3}");
    ended(screen, &home, 130);
    let screen = watching(&home);
    assert!(Command::new("kill").arg(screen.pid()).status().unwrap().success());
    ended(screen, &home, 143);
}

/// As where a program that runs the command and the terminal send one each. It is stopped
/// meanwhile, so that neither is alone.
#[test]
fn two_signals_at_once_give_the_terminal_back() {
    let home = home();
    for _ in 0..5 {
        let mut screen = watching(&home);
        let pid = screen.pid().to_string();
        let signals = "for signal in STOP TERM INT CONT; do kill -$signal $0 || exit; done";
        let both = Command::new("sh").args(["-c", signals, &pid]).status();
        assert!(both.unwrap().success());
        let (exit, is_as_before) = screen.end();
        assert!(matches!(exit, Some(130 | 143)), "{exit:?}");
        assert!(is_as_before, "{:?} {}", screen.modes, screen.behind);
        home.has_no_process();
    }
}

#[test]
fn a_host_is_watched_until_it_goes() {
    let home = Home::new();
    let file = host(&home);
    let mut screen = following(&home, &file, "0.1");
    screen.until(|screen| screen.text().contains("process 7, "));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(screen.end(), (Some(8), true), "{:?}", screen.modes);
    assert!(screen.behind.contains("no running host writes"), "{}", screen.behind);
    host(&home);
    let screen = following(&home, &file, "0.1");
    assert!(Command::new("kill").arg(screen.pid()).status().unwrap().success());
    ended(screen, &home, 143);
}

#[test]
fn a_terminal_that_can_do_nothing_gets_the_views_one_after_the_other() {
    let home = Home::new();
    let file = host(&home);
    let line = format!(
        "env TERM=dumb \"{}\" status --host \"{}\" --watch --count 2 --interval 0.1",
        env!("CARGO_BIN_EXE_trunkline"),
        file.display()
    );
    let mut screen = Screen::start(&home, &line);
    let (exit, _) = screen.end();
    assert_eq!(exit, Some(0));
    assert!(screen.modes.is_empty() && !screen.was_cleared, "{:?}", screen.modes);
    assert!(screen.text().contains("servers 0"), "{}", screen.text());
}

/// This test is both: who looks at the terminal, and, started by itself there, the program that
/// panics.
#[test]
fn a_panic_gives_the_terminal_back_and_is_told_behind_it() {
    if std::env::args().any(|argument| argument == "--nocapture")
        && std::env::var_os("TERM").is_some_and(|term| term == "panics")
    {
        return panics();
    }
    let home = Home::new();
    host(&home);
    let line = format!(
        "env TERM=panics \"{}\" --exact live::a_panic_gives_the_terminal_back_and_is_told_behind_it \
         --nocapture --test-threads=1",
        std::env::current_exe().unwrap().display()
    );
    let mut screen = Screen::start(&home, &line);
    assert_eq!(screen.end(), (Some(101), true), "{:?}", screen.modes);
    assert!(screen.behind.contains("the output is cursed"), "{}", screen.behind);
}

fn panics() {
    /// Panics at the first frame.
    struct Cursed {
        has_panicked: bool,
    }
    impl Write for Cursed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let is_frame = bytes.windows(7).any(|part| part == b"servers");
            if is_frame && !self.has_panicked {
                self.has_panicked = true;
                panic!("the output is cursed");
            }
            io::stdout().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            io::stdout().flush()
        }
    }
    let (mut stdin, mut stdout) = (io::stdin().lock(), Cursed { has_panicked: false });
    let mut stderr = io::stderr();
    let terminal = trunkline_cli::Terminal::of_process(&mut stdin, &mut stdout, &mut stderr);
    let words = ["trunkline", "status", "--host", "../status.json", "--watch"];
    trunkline_cli::run(words.map(Into::into), terminal);
}
