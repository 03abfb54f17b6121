//! The live view of `status --watch`: a whole terminal, redrawn with each status, with keys for a
//! person.
//!
//! What is drawn is a function of a status and a [`View`] (`draw.rs`), and what a key does one of a
//! view (`view.rs`). `screen.rs` is the terminal itself, and gives it back as it was; `keys.rs`
//! waits for keys. Of signals the library of the terminal listens to that of its size, beside other
//! listeners, for as long as the process lives.

mod draw;
mod keys;
mod screen;
#[cfg(test)]
mod tests;
mod view;

use std::time::{Duration, Instant};

use crossterm::event::Event;
use serde_json::Value;

use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::interrupt::Listening;
use crate::console::terminal::Terminal;
use keys::Keys;
use screen::Screen;
pub(crate) use view::Look;
use view::{Turn, View};

/// How often it is looked.
pub(crate) struct Pace {
    pub interval: Duration,
    pub views: u64,
}

/// Shows each look on the whole terminal until a person has enough, all views were shown, or a
/// signal came; the last status.
///
/// # Errors
/// That of a look; a signal, or the keys that stand for one; a terminal that cannot be drawn on.
pub(crate) fn watch(
    terminal: &mut Terminal<'_>,
    listening: &Listening,
    mut pace: Pace,
    mut look: impl FnMut() -> Result<Look, Failure>,
) -> Result<Value, Failure> {
    let mut now = look()?;
    let (out, has_colours) = terminal.canvas();
    let mut view = View::new(has_colours);
    // Behind the screen: a second signal as well ends nothing before the terminal is given back.
    let _held = listening.hold();
    let mut screen = Screen::enter(out).map_err(|error| lost(&error))?;
    // Gone before the terminal is given back.
    let keys = Keys::begin().map_err(|error| lost(&error))?;
    loop {
        let next = Instant::now() + pace.interval;
        view.follow(&now.status);
        screen.draw(&now, &view).map_err(|error| lost(&error))?;
        pace.views -= 1;
        if pace.views == 0 {
            return Ok(now.status);
        }
        // Once at least, however long it takes to draw.
        loop {
            if let Some(signal) = listening.signal() {
                return Err(Failure::signal(signal));
            }
            let left = next.saturating_duration_since(Instant::now());
            let event = keys.next(left.min(GLANCE)).map_err(|error| lost(&error))?;
            match event.map_or(Turn::Same, |event| turn(event, &mut view, &now.status)) {
                Turn::Same => {}
                Turn::Redraw => screen.draw(&now, &view).map_err(|error| lost(&error))?,
                Turn::Quit => return Ok(now.status),
                Turn::Interrupt => {
                    // A signal that comes once the terminal is given back is the second one.
                    listening.tell(SIGINT);
                    return Err(Failure::signal(SIGINT));
                }
            }
            if left.is_zero() {
                break;
            }
        }
        now = look()?;
    }
}

/// What comes of a key, or of another size of the terminal.
fn turn(event: Event, view: &mut View, status: &Value) -> Turn {
    match event {
        Event::Key(key) => view.press(key, status),
        Event::Resize(..) => Turn::Redraw,
        _ => Turn::Same,
    }
}

fn lost(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Internal, format!("the terminal cannot be used: {error}"))
}

/// How often is looked for signals.
const GLANCE: Duration = Duration::from_millis(20);

const SIGINT: u8 = signal_hook::consts::SIGINT as u8;
