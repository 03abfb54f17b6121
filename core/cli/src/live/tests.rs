//! What is drawn, as files in `golden` (`UPDATE_GOLDEN` writes them), and what keys do.

use std::path::Path;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use serde_json::{Value, json};
use trunkline_pool::text::is_hidden;

use super::draw::draw;
use super::view::{Look, Pane, Turn, View};

fn status() -> Value {
    let entry = |index: u64, generation: u64, stderr: Value| {
        json!({ "entry_index": index, "refs": 1, "state": "active", "generation": generation,
            "uptime_ms": 3_723_000, "calls": 40 + index, "errors": index, "in_flight": 2,
            "losses": generation - 1, "pid": 4000 + index, "server_name": "demo-server",
            "server_version": "1.2", "stderr": stderr })
    };
    let lines: Vec<String> = (1..=30).map(|line| format!("line {line}\tof it")).collect();
    json!({
        "v": 1,
        "totals": { "servers": 4, "connected": 2, "connecting": 0, "failed": 1, "skipped": 1, "entries": 3 },
        "processes": 3, "supervision": "supervisor", "sessions": ["chat-1", "chat-2"],
        "budget": { "limit": 10, "live": 2 },
        "usage": [{ "session": "chat-2", "calls": 12, "in_flight": 3,
            "errors": [{ "code": "timeout", "count": 2 }, { "code": "limit", "count": 1 }] }],
        "servers": {
            "demo": { "state": "connected", "reason": null, "transport": "stdio", "origin": "user",
                "file": "~/.cursor/mcp.json", "line": 3, "counts": { "tools": 17 },
                "memory_bytes": 130 << 20, "cpu_ms": 12_345, "entries": [entry(0, 3, json!(lines))] },
            "gone": { "state": "disconnected", "reason": "failed", "origin": "user", "counts": {},
                "last_error": { "message": "the command no-such-program is in no folder of the PATH that the server has" },
                "hint": "mend what `last_error` says", "entries": [] },
            "two": { "state": "connected", "reason": null, "transport": "http", "origin": "user",
                "counts": { "tools": 2 }, "memory_bytes": 900 << 10, "cpu_ms": 10,
                "entries": [entry(0, 1, json!([])), entry(1, 2, json!([]))] },
            "wait": { "state": "disconnected", "reason": "pending_approval", "origin": "project",
                "hint": "show a person what `approvals` says", "entries": [], "counts": {} },
        },
    })
}

/// Everything that others write does its worst.
fn hostile() -> Value {
    let bad = "\u{1b}[2J\u{1b}]0;mine\u{7}\u{202e}\u{9b}31m\r\n\u{0}\t\u{200b}wide \u{1f389}";
    let entry = json!({ "entry_index": 0, "state": bad, "generation": 1, "stderr": [bad],
        "server_name": bad, "server_version": bad });
    let server = json!({ "state": "disconnected", "reason": bad, "transport": bad, "origin": bad,
        "file": bad, "line": 1, "hint": bad, "last_error": { "message": bad },
        "auth_need": { "url": bad }, "entries": [entry, entry] });
    json!({ "totals": {}, "supervision": bad, "sessions": [bad], "usage": [{ "session": bad }],
        "servers": { bad: server } })
}

fn look(status: Value) -> Look {
    Look { status, said: String::new() }
}

fn viewing(status: &Value) -> View {
    let mut view = View::new(true);
    view.follow(status);
    view
}

fn drawn(look: &Look, view: &View, size: (u16, u16)) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| draw(frame, look, view)).unwrap();
    terminal.backend().clone()
}

/// The rows without what is empty at their ends.
fn text(screen: &TestBackend) -> String {
    let buffer = screen.buffer();
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width.max(1));
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    rows.map(|row| format!("{}\n", row.trim_end())).collect()
}

fn is_as_written(name: &str, screen: &TestBackend) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/live/golden").join(name);
    let text = text(screen);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, written, "{name}:\n{text}");
}

fn pressed(view: &mut View, status: &Value, keys: &[KeyCode]) -> Turn {
    let press = |key: &KeyCode| view.press(KeyEvent::new(*key, KeyModifiers::NONE), status);
    keys.iter().map(press).last().unwrap()
}

#[test]
fn every_part_shows_what_the_status_says() {
    let look = Look { status: status(), said: "process 7, 0.4 s ago".into() };
    let mut view = viewing(&look.status);
    is_as_written("whole.txt", &drawn(&look, &view, (110, 30)));
    assert_eq!(pressed(&mut view, &look.status, &[KeyCode::Down]), Turn::Redraw);
    is_as_written("failed.txt", &drawn(&look, &view, (110, 30)));
    assert_eq!(pressed(&mut view, &look.status, &[KeyCode::Char('?')]), Turn::Redraw);
    is_as_written("help.txt", &drawn(&look, &view, (110, 30)));
}

#[test]
fn a_small_terminal_shows_what_is_chosen() {
    let look = look(status());
    let mut view = viewing(&look.status);
    pressed(&mut view, &look.status, &[KeyCode::End]);
    is_as_written("small.txt", &drawn(&look, &view, (72, 16)));
}

#[test]
fn a_narrow_or_a_low_terminal_shows_what_there_is_room_for() {
    let look = look(status());
    let mut view = viewing(&look.status);
    is_as_written("narrow.txt", &drawn(&look, &view, (60, 24)));
    is_as_written("low.txt", &drawn(&look, &view, (30, 8)));
    pressed(&mut view, &look.status, &[KeyCode::Tab]);
    assert!(text(&drawn(&look, &view, (30, 8))).contains("chat-1"));
    pressed(&mut view, &look.status, &[KeyCode::Tab]);
    assert!(text(&drawn(&look, &view, (30, 8))).contains("stderr"));
}

#[test]
fn a_pool_without_anything_says_so() {
    let look = look(json!({ "totals": {}, "servers": {}, "sessions": [], "supervision": "group" }));
    is_as_written("empty.txt", &drawn(&look, &viewing(&look.status), (72, 16)));
}

#[test]
fn a_terminal_of_any_size_is_drawn_on() {
    for status in [status(), hostile(), json!({}), json!({ "v": 1, "error": {} })] {
        let mut view = viewing(&status);
        view.has_help = true;
        let look = look(status);
        for width in [0, 1, 2, 3, 7, 30, 72, 101] {
            for height in [0, 1, 2, 3, 4, 5, 9, 24] {
                drawn(&look, &view, (width, height));
            }
        }
    }
}

#[test]
fn nothing_that_a_terminal_acts_on_is_drawn() {
    let look = look(hostile());
    let screen = drawn(&look, &viewing(&look.status), (150, 40));
    is_as_written("hostile.txt", &screen);
    let symbols = screen.buffer().content.iter().flat_map(|cell| cell.symbol().chars());
    assert_eq!(symbols.filter(|symbol| is_hidden(*symbol)).count(), 0);
}

#[test]
fn colours_are_only_where_they_are_wanted() {
    let look = look(status());
    let mut view = viewing(&look.status);
    let colours = |view: &View| {
        let screen = drawn(&look, view, (110, 30));
        let cells = &screen.buffer().content;
        [Color::Green, Color::Red, Color::Yellow]
            .map(|colour| cells.iter().any(|cell| cell.fg == colour))
    };
    assert_eq!(colours(&view), [true; 3]);
    view.has_colours = false;
    assert_eq!(colours(&view), [false; 3]);
}

#[test]
fn keys_go_from_part_to_part_and_within_one() {
    let status = status();
    let mut view = viewing(&status);
    assert_eq!((view.pane, view.server.as_deref()), (Pane::Servers, Some("demo")));
    assert_eq!(pressed(&mut view, &status, &[KeyCode::Up]), Turn::Same, "it is the first");
    pressed(&mut view, &status, &[KeyCode::Down, KeyCode::Char('j')]);
    assert_eq!(view.server.as_deref(), Some("two"));
    pressed(&mut view, &status, &[KeyCode::End]);
    assert_eq!(view.server.as_deref(), Some("wait"));
    pressed(&mut view, &status, &[KeyCode::Home, KeyCode::Tab, KeyCode::Down]);
    assert_eq!((view.pane, view.session.as_deref()), (Pane::Sessions, Some("chat-2")));
    pressed(&mut view, &status, &[KeyCode::Tab, KeyCode::PageUp, KeyCode::Up]);
    assert_eq!((view.pane, view.stderr_back), (Pane::Stderr, 11));
    pressed(&mut view, &status, &[KeyCode::Home]);
    assert_eq!(view.stderr_back, 29);
    pressed(&mut view, &status, &[KeyCode::End, KeyCode::BackTab, KeyCode::BackTab]);
    assert_eq!((view.pane, view.stderr_back), (Pane::Servers, 0));
}

#[test]
fn keys_end_it_and_escape_leaves_the_help_first() {
    let status = status();
    let mut view = viewing(&status);
    assert_eq!(pressed(&mut view, &status, &[KeyCode::Char('q')]), Turn::Quit);
    assert_eq!(pressed(&mut view, &status, &[KeyCode::Char('?'), KeyCode::Esc]), Turn::Redraw);
    assert_eq!(pressed(&mut view, &status, &[KeyCode::Esc]), Turn::Same);
    assert_eq!(pressed(&mut view, &status, &[KeyCode::Char('c')]), Turn::Same);
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(view.press(interrupt, &status), Turn::Interrupt);
}

#[test]
fn a_server_that_goes_is_looked_at_no_more() {
    let mut status = status();
    let mut view = viewing(&status);
    pressed(&mut view, &status, &[KeyCode::Tab, KeyCode::Tab, KeyCode::Home]);
    status["servers"].as_object_mut().unwrap().shift_remove("demo");
    view.follow(&status);
    assert_eq!((view.server.as_deref(), view.stderr_back), (Some("gone"), 0));
    view.follow(&json!({}));
    assert_eq!(view.server, None);
}
