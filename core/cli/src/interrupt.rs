//! Signals that end a command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

/// Listens while it lives. A second signal ends the process at once; the supervisor ends what it started. A process that handled these
/// signals itself does so from then on; one that did not ignores them.
pub(crate) struct Interrupt {
    which: Arc<AtomicUsize>,
    /// Whether a signal ends the process at once.
    at_once: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Interrupt {
    pub(crate) fn listen() -> Interrupt {
        let which = Arc::new(AtomicUsize::new(0));
        let at_once = Arc::new(AtomicBool::new(false));
        let mut registered = Vec::new();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal only sets the flags. What cannot be registered ends the process as usual.
            let steps = [
                flag::register_conditional_shutdown(signal, 128 + signal, at_once.clone()),
                flag::register(signal, at_once.clone()),
                flag::register_usize(signal, which.clone(), signal as usize),
            ];
            registered.extend(steps.into_iter().flatten());
        }
        Interrupt { which, at_once, registered }
    }

    /// Asks a person, while the first signal ends the process: who reads a line is not to be disturbed otherwise.
    pub(crate) fn asking<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.at_once.store(true, Ordering::SeqCst);
        let answer = ask();
        self.at_once.store(self.signal().is_some(), Ordering::SeqCst);
        answer
    }

    /// The signal that came.
    pub(crate) fn signal(&self) -> Option<u8> {
        match self.which.load(Ordering::SeqCst) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            low_level::unregister(id);
        }
    }
}
