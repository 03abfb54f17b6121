//! The live view of `status --watch`: a whole terminal, redrawn with each status, with keys for a person.
//!
//! What is drawn is a function of a status and a [`View`] (`draw.rs`), and what a key does one of a view (`view.rs`). `screen.rs` is the
//! terminal itself, and gives it back as it was.

mod draw;
mod screen;
#[cfg(test)]
mod tests;
mod view;

use std::io::Write;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event};
use serde_json::Value;

use crate::failure::{Exit, Failure};
use crate::interrupt::Listening;
use screen::Screen;
use view::{Turn, View};

/// What is shown at one time.
pub(crate) struct Look {
    pub status: Value,
    /// Whose status it is.
    pub said: String,
}

/// How often it is looked.
pub(crate) struct Pace {
    pub interval: Duration,
    pub views: u64,
}

/// Shows each look until a person has enough, all views were shown, or a signal came; the last status.
///
/// # Errors
/// That of a look; a signal, or the keys that stand for one; a terminal that cannot be drawn on.
pub(crate) fn watch(
    out: &mut dyn Write,
    has_colours: bool,
    listening: &Listening,
    mut pace: Pace,
    mut look: impl FnMut() -> Result<Look, Failure>,
) -> Result<Value, Failure> {
    let mut now = look()?;
    let mut view = View::new(has_colours);
    let mut screen = Screen::enter(out).map_err(|error| lost(&error))?;
    loop {
        let next = Instant::now() + pace.interval;
        view.follow(&now.status);
        screen.draw(&now, &view).map_err(|error| lost(&error))?;
        pace.views -= 1;
        if pace.views == 0 {
            return Ok(now.status);
        }
        while let Some(left) = next.checked_duration_since(Instant::now()) {
            if let Some(signal) = listening.signal() {
                return Err(Failure::signal(signal));
            }
            match turn(left.min(GLANCE), &mut view, &now.status).map_err(|error| lost(&error))? {
                Turn::Same => {}
                Turn::Redraw => screen.draw(&now, &view).map_err(|error| lost(&error))?,
                Turn::Quit => return Ok(now.status),
                Turn::Interrupt => {
                    // A signal from now on is the second one.
                    listening.tell(SIGINT);
                    return Err(Failure::signal(SIGINT));
                }
            }
        }
        now = look()?;
    }
}

/// Waits for a key, or for another size of the terminal.
fn turn(time: Duration, view: &mut View, status: &Value) -> std::io::Result<Turn> {
    if !event::poll(time)? {
        return Ok(Turn::Same);
    }
    Ok(match event::read()? {
        Event::Key(key) => view.press(key, status),
        Event::Resize(..) => Turn::Redraw,
        _ => Turn::Same,
    })
}

fn lost(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Internal, format!("the terminal cannot be used: {error}"))
}

/// How often is looked for signals.
const GLANCE: Duration = Duration::from_millis(20);

const SIGINT: u8 = signal_hook::consts::SIGINT as u8;
