//! The terminal while the live view has it: raw, on its other screen, without a cursor. Whatever
//! ends the view gives it back.

use std::cell::Cell;
use std::io::{self, BufWriter, Write};
use std::panic::{self, PanicHookInfo};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossterm::cursor::Show;
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::draw;
use super::view::{Look, View};

/// Gives the terminal back when it is dropped.
pub(super) struct Screen<'a> {
    terminal: Terminal<CrosstermBackend<BufWriter<Output<'a>>>>,
    is_given_back: Rc<Cell<bool>>,
    // Behind the terminal: what a panic says is told on the screen that people go back to.
    _raw: Raw,
    _panics: Panics,
}

impl<'a> Screen<'a> {
    pub(super) fn enter(out: &'a mut dyn Write) -> io::Result<Screen<'a>> {
        let panics = Panics::keep();
        let raw = Raw::enable()?;
        let is_given_back = Rc::new(Cell::new(false));
        let output = Output { out, is_given_back: is_given_back.clone() };
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BYTES, output));
        let terminal = Terminal::new(backend)?;
        let mut screen = Screen { terminal, is_given_back, _raw: raw, _panics: panics };
        // Not `Terminal::clear`, which asks the terminal where the cursor is and waits for the
        // answer.
        execute!(screen.terminal.backend_mut(), EnterAlternateScreen, Clear(ClearType::All))?;
        Ok(screen)
    }

    pub(super) fn draw(&mut self, look: &Look, view: &View) -> io::Result<()> {
        self.terminal.draw(|frame| draw::draw(frame, look, view)).map(drop)
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        self.is_given_back.set(true);
        // A terminal that is gone needs nothing.
        let _ = execute!(self.terminal.backend_mut(), LeaveAlternateScreen, Show);
    }
}

/// What is written to. A terminal that is gone when it is given back is no failure: what has drawn
/// on it would tell of one on the very terminal.
struct Output<'a> {
    out: &'a mut dyn Write,
    is_given_back: Rc<Cell<bool>>,
}

impl Output<'_> {
    fn judged<T>(&self, result: io::Result<T>, instead: T) -> io::Result<T> {
        if self.is_given_back.get() { Ok(result.unwrap_or(instead)) } else { result }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.judged(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.judged(flushed, ())
    }
}

/// Keys come as they are pressed, and are not shown.
struct Raw;

impl Raw {
    fn enable() -> io::Result<Raw> {
        enable_raw_mode().map(|()| Raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

/// What a panic of this thread says is kept while the screen is another one, and told behind it.
struct Panics {
    said: Arc<Mutex<Option<String>>>,
    before: Arc<Hook>,
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

impl Panics {
    fn keep() -> Panics {
        let said = Arc::new(Mutex::new(None));
        let before: Arc<Hook> = Arc::from(panic::take_hook());
        let (keeping, others, drawing) = (said.clone(), before.clone(), thread::current().id());
        panic::set_hook(Box::new(move |panic| match thread::current().id() == drawing {
            true => {
                let mut said = keeping.lock().unwrap_or_else(PoisonError::into_inner);
                *said = Some(panic.to_string());
            }
            false => others(panic),
        }));
        Panics { said, before }
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        if !thread::panicking() {
            let before = self.before.clone();
            return panic::set_hook(Box::new(move |panic| before(panic)));
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = writeln!(io::stderr(), "{}", said.unwrap_or_default());
    }
}

/// A frame goes out in one piece: more bytes than that have only very large terminals.
const FRAME_BYTES: usize = 64 << 10;
