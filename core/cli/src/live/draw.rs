//! What the live view looks like: a function of a status and of what a person looks at.
//!
//! Names, messages and lines are others' words: each goes through [`plain`] before it is in a cell.

use std::collections::HashMap;
use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};
use serde_json::Value;

use super::view::{Look, Pane, View, servers, sessions, stderr};
use crate::console::format::{place, plain, text};
use crate::console::hints;
use crate::console::state_label;
use crate::console::terminal::Tone;

pub(super) fn draw(frame: &mut Frame<'_>, look: &Look, view: &View) {
    if frame.area().height < HEIGHT_OF_ALL {
        return draw_one(frame, look, view);
    }
    let [head, top, middle, bottom, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Fill(4),
        Constraint::Fill(3),
        Constraint::Fill(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let [left, right] =
        Layout::horizontal([Constraint::Fill(2), Constraint::Fill(3)]).areas(middle);
    let status = &look.status;
    frame.render_widget(totals(look, view), head);
    draw_servers(frame, top, status, view);
    draw_sessions(frame, left, status, view);
    frame.render_widget(reasons(status, view), right);
    draw_stderr(frame, bottom, status, view);
    frame.render_widget(Line::styled(KEYS, faint()), foot);
    if view.has_help {
        draw_help(frame);
    }
}

/// One part alone, where all of them would be empty boxes: that which the keys are for.
fn draw_one(frame: &mut Frame<'_>, look: &Look, view: &View) {
    let [head, part, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(totals(look, view), head);
    match view.pane {
        Pane::Servers => draw_servers(frame, part, &look.status, view),
        Pane::Sessions => draw_sessions(frame, part, &look.status, view),
        Pane::Stderr => draw_stderr(frame, part, &look.status, view),
    }
    frame.render_widget(Line::styled(KEYS, faint()), foot);
    if view.has_help {
        draw_help(frame);
    }
}

/// Lines that all parts need, so that each shows a row at least.
const HEIGHT_OF_ALL: u16 = 14;

const KEYS: &str = " q quit   up/down choose   tab next part   ? help";

/// Two lines: the whole pool.
fn totals<'a>(look: &Look, view: &View) -> Paragraph<'a> {
    let totals = &look.status["totals"];
    let count = |name: &str| totals[name].as_u64().unwrap_or(0);
    let counted = |name: &str, word: &str, tone| {
        let tone = if count(name) == 0 { Tone::Plain } else { tone };
        Span::styled(format!(", {} {word}", count(name)), style(tone, view))
    };
    let first = Line::from(vec![
        Span::styled(" trunkline", style(Tone::Bold, view)),
        Span::raw(format!("  servers {}: {} connected", count("servers"), count("connected"))),
        counted("connecting", "connecting", Tone::Waiting),
        counted("failed", "failed", Tone::Wrong),
        counted("skipped", "kept out", Tone::Waiting),
    ]);
    let status = &look.status;
    let mut second = format!(
        " entries {}, sessions {}, processes {}, ended by {}",
        count("entries"),
        sessions(status).len(),
        status["processes"].as_u64().unwrap_or(0),
        plain(text(status, "supervision")),
    );
    if let Some(limit) = status["budget"]["limit"].as_u64() {
        let live = status["budget"]["live"].as_u64().unwrap_or(0);
        second.push_str(&format!(", budget {live} of {limit}"));
    }
    if !look.said.is_empty() {
        second.push_str(&format!("  ({})", plain(&look.said)));
    }
    Paragraph::new(vec![first, Line::raw(second)])
}

fn draw_servers(frame: &mut Frame<'_>, area: Rect, status: &Value, view: &View) {
    let mut rows = Vec::new();
    let mut chosen = None;
    for name in servers(status) {
        if view.server.as_deref() == Some(name) {
            chosen = Some(rows.len());
        }
        let server = &status["servers"][name];
        rows.push(server_row(name, server, columns(area), view));
        let entries = server["entries"].as_array().map_or(&[][..], Vec::as_slice);
        // One entry is the server's own row.
        if entries.len() > 1 {
            rows.extend(entries.iter().map(|entry| entry_row(entry, columns(area))));
        }
    }
    let is_empty = rows.is_empty();
    let columns = columns(area);
    let head = columns.iter().map(|column| cell(*column, COLUMNS[*column].0));
    let widths = columns.iter().map(|column| COLUMNS[*column].1);
    let table = Table::new(rows, widths)
        .header(Row::new(head).style(style(Tone::Bold, view)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(block(" servers ", Some(Pane::Servers), view));
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(chosen));
    if is_empty {
        nothing(frame, area, "no server is configured");
    }
}

/// What there is to see of each server, and how wide.
const COLUMNS: [(&str, Constraint); 10] = [
    ("SERVER", Constraint::Fill(1)),
    ("STATE", Constraint::Length(16)),
    ("TOOLS", Constraint::Length(5)),
    ("CALLS", Constraint::Length(7)),
    ("ERRORS", Constraint::Length(6)),
    ("BUSY", Constraint::Length(4)),
    ("RESTARTS", Constraint::Length(8)),
    ("MEMORY", Constraint::Length(8)),
    ("CPU", Constraint::Length(7)),
    ("UP", Constraint::Length(7)),
];

/// The columns that there is room for.
fn columns(area: Rect) -> &'static [usize] {
    match area.width {
        100.. => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        72.. => &[0, 1, 3, 4, 6, 7],
        50.. => &[0, 1, 2, 3, 4],
        _ => &[0, 1],
    }
}

fn server_row<'a>(name: &str, server: &Value, columns: &[usize], view: &View) -> Row<'a> {
    let (word, tone) = state_label::of(server);
    let entries = server["entries"].as_array().map_or(&[][..], Vec::as_slice);
    let sum = |member: &str| entries.iter().filter_map(|entry| entry[member].as_u64()).sum::<u64>();
    let uptime = entries.iter().filter_map(|entry| entry["uptime_ms"].as_u64()).max();
    let words = [
        plain(name),
        plain(word),
        server["counts"]["tools"].as_u64().unwrap_or(0).to_string(),
        sum("calls").to_string(),
        sum("errors").to_string(),
        sum("in_flight").to_string(),
        entries.iter().map(restarts).sum::<u64>().to_string(),
        server["memory_bytes"].as_u64().map_or("-".to_owned(), bytes),
        server["cpu_ms"].as_u64().map_or("-".to_owned(), seconds),
        uptime.map_or("-".to_owned(), duration),
    ];
    Row::new(columns.iter().map(|column| match column {
        1 => cell(1, &words[1]).style(style(tone, view)),
        _ => cell(*column, &words[*column]),
    }))
}

fn entry_row<'a>(entry: &Value, columns: &[usize]) -> Row<'a> {
    let number = |member: &str| entry[member].as_u64().unwrap_or(0).to_string();
    let words = [
        format!("  entry {}, held {}", number("entry_index"), number("refs")),
        plain(text(entry, "state")),
        String::new(),
        number("calls"),
        number("errors"),
        number("in_flight"),
        restarts(entry).to_string(),
        String::new(),
        String::new(),
        entry["uptime_ms"].as_u64().map_or("-".to_owned(), duration),
    ];
    Row::new(columns.iter().map(|column| cell(*column, &words[*column]))).style(faint())
}

/// How many connections it had before this one.
fn restarts(entry: &Value) -> u64 {
    entry["generation"].as_u64().unwrap_or(0).saturating_sub(1)
}

/// Numbers stand at the right.
fn cell<'a>(column: usize, word: &str) -> Cell<'a> {
    let line = Line::raw(word.to_owned());
    Cell::from(if column < 2 { line } else { line.alignment(Alignment::Right) })
}

fn draw_sessions(frame: &mut Frame<'_>, area: Rect, status: &Value, view: &View) {
    let ids = sessions(status);
    // The names come first: what else there is needs room beside them.
    let columns = if area.width < 28 { 2 } else { 4 };
    let usage = status["usage"].as_array().map_or(&[][..], Vec::as_slice);
    let usage: HashMap<&str, &Value> =
        usage.iter().map(|row| (text(row, "session"), row)).collect();
    let rows = ids.iter().map(|id| {
        let used = usage.get(id);
        let number = |member: &str| used.and_then(|row| row[member].as_u64()).unwrap_or(0);
        let errors = used.and_then(|row| row["errors"].as_array()).into_iter().flatten();
        let errors: u64 = errors.filter_map(|row| row["count"].as_u64()).sum();
        let [calls, errors, busy] =
            [number("calls"), errors, number("in_flight")].map(|count| count.to_string());
        let cells = [cell(0, &plain(id)), cell(2, &calls), cell(2, &errors), cell(2, &busy)];
        Row::new(cells.into_iter().take(columns))
    });
    let head = [cell(0, "SESSION"), cell(2, "CALLS"), cell(2, "ERRORS"), cell(2, "BUSY")];
    let head = head.into_iter().take(columns);
    let widths =
        [Constraint::Fill(1), Constraint::Length(7), Constraint::Length(6), Constraint::Length(4)];
    let widths = widths.into_iter().take(columns);
    let chosen = ids.iter().position(|id| view.session.as_deref() == Some(*id));
    let table = Table::new(rows, widths)
        .header(Row::new(head).style(style(Tone::Bold, view)))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(block(" sessions ", Some(Pane::Sessions), view));
    let chosen = chosen.filter(|_| view.pane == Pane::Sessions);
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(chosen));
    if ids.is_empty() {
        nothing(frame, area, "no session is open");
    }
}

/// Why the chosen server is there, or is not.
fn reasons<'a>(status: &Value, view: &View) -> Paragraph<'a> {
    let block = block(" why ", None, view);
    let Some(name) = view.server.as_deref() else {
        return Paragraph::default().block(block);
    };
    let server = &status["servers"][name];
    let (word, tone) = state_label::of(server);
    let kind = [text(server, "transport"), text(server, "origin")];
    let kind = kind.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
    let mut lines = vec![Line::from(vec![
        Span::styled(plain(name), style(Tone::Bold, view)),
        Span::raw("  "),
        Span::styled(plain(word), style(tone, view)),
        Span::raw(format!("  {}", plain(&kind))),
    ])];
    let mut say = |word: &str, said: &str, tone: Tone| {
        if !said.is_empty() {
            let word = Span::styled(format!("{word:<9}"), faint());
            lines.push(Line::from(vec![word, Span::styled(plain(said), style(tone, view))]));
        }
    };
    say("error", text(&server["last_error"], "message"), Tone::Wrong);
    say("do", &hints::here(text(server, "hint"), Some(name)), Tone::Plain);
    say("from", &place(server), Tone::Plain);
    say("sign in", text(&server["auth_need"], "url"), Tone::Waiting);
    for entry in server["entries"].as_array().into_iter().flatten() {
        let pid = entry["pid"].as_u64().map_or(String::new(), |pid| format!("process {pid}, "));
        let version = [text(entry, "server_name"), text(entry, "server_version")].join(" ");
        let lost = entry["losses"].as_u64().unwrap_or(0);
        say("entry", &format!("{pid}lost {lost}, {}", version.trim()), Tone::Plain);
    }
    Paragraph::new(lines).wrap(Wrap { trim: false }).block(block)
}

fn draw_stderr(frame: &mut Frame<'_>, area: Rect, status: &Value, view: &View) {
    let title = match view.server.as_deref() {
        Some(name) => format!(" stderr of {} ", plain(name)),
        None => " stderr ".to_owned(),
    };
    let lines = stderr(status, view.server.as_deref());
    let block = block(&title, Some(Pane::Stderr), view);
    let rows = usize::from(block.inner(area).height);
    let end = lines.len().saturating_sub(view.stderr_back);
    let begin = end.saturating_sub(rows);
    let lines: Vec<Line<'_>> =
        lines[begin..end].iter().map(|line| Line::raw(plain(line))).collect();
    let is_empty = lines.is_empty();
    frame.render_widget(Paragraph::new(lines).block(block), area);
    if is_empty {
        let said = match is_left_out(status, view.server.as_deref()) {
            true => "left out: there is too much of all servers",
            false => "nothing was written",
        };
        nothing(frame, area, said);
    }
}

/// Whether the file of a host has entries without it.
fn is_left_out(status: &Value, server: Option<&str>) -> bool {
    let entries = server.and_then(|name| status["servers"][name]["entries"].as_array());
    entries.is_some_and(|entries| entries.iter().any(|entry| entry["stderr"].is_null()))
}

fn draw_help(frame: &mut Frame<'_>) {
    let area = frame.area();
    let width = HELP.iter().map(|line| line.len()).max().unwrap_or_default();
    let wanted = [width + 4, HELP.len() + 2].map(|size| u16::try_from(size).unwrap_or(u16::MAX));
    let [width, height] = [wanted[0].min(area.width), wanted[1].min(area.height)];
    let (x, y) = ((area.width - width) / 2, (area.height - height) / 2);
    let area = Rect { x: area.x + x, y: area.y + y, width, height };
    let lines: Vec<Line<'_>> = HELP.iter().map(|line| Line::raw(format!(" {line}"))).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" keys ")), area);
}

const HELP: [&str; 8] = [
    "up, down, k, j      choose, or go through stderr",
    "page up, page down  the same by ten",
    "home, end           the first, the last",
    "tab, shift+tab      the next part, the one before",
    "?                   these keys; esc closes them",
    "q                   quit",
    "ctrl+c              quit as a signal does",
    "BUSY                calls under way",
];

/// A part with a frame; of the one that keys move in the frame is bold.
fn block<'a>(title: &str, pane: Option<Pane>, view: &View) -> Block<'a> {
    let is_chosen = pane == Some(view.pane);
    let style = if is_chosen { style(Tone::Bold, view) } else { faint() };
    let mark = if is_chosen { "*" } else { "" };
    Block::bordered().border_style(style).title(format!("{mark}{title}"))
}

/// What stands in a part that is empty.
fn nothing(frame: &mut Frame<'_>, area: Rect, said: &str) {
    let line = Line::styled(said.to_owned(), faint()).alignment(Alignment::Center);
    if area.height > 2 {
        let area = Rect { y: area.y + area.height / 2, height: 1, ..area };
        frame.render_widget(line, area);
    }
}

fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn style(tone: Tone, view: &View) -> Style {
    let colour = |colour| if view.has_colours { Style::new().fg(colour) } else { Style::new() };
    match tone {
        Tone::Good => colour(Color::Green),
        Tone::Wrong => colour(Color::Red),
        Tone::Waiting => colour(Color::Yellow),
        Tone::Faint => faint(),
        Tone::Bold => Style::new().add_modifier(Modifier::BOLD),
        Tone::Plain => Style::new(),
    }
}

fn bytes(count: u64) -> String {
    const MIB: u64 = 1 << 20;
    match count {
        0..MIB => format!("{} KiB", count >> 10),
        _ => format!("{} MiB", count / MIB),
    }
}

fn seconds(ms: u64) -> String {
    format!("{:.1} s", Duration::from_millis(ms).as_secs_f64())
}

fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{}m{:02}", seconds / 60, seconds % 60),
        3600..86400 => format!("{}h{:02}", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86400, seconds / 3600 % 24),
    }
}
