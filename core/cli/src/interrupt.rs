//! Signals that end a command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

/// Listens while it lives, and leaves the process's signals as they were. A second signal of a kind ends the process at once; the
/// supervisor ends what it started.
pub(crate) struct Interrupt {
    which: Arc<AtomicUsize>,
    registered: Vec<SigId>,
}

impl Interrupt {
    pub(crate) fn listen() -> Interrupt {
        let which = Arc::new(AtomicUsize::new(0));
        let mut registered = Vec::new();
        for signal in [SIGINT, SIGTERM] {
            let came = Arc::new(AtomicBool::new(false));
            // In this order: the first signal only sets the flags. What cannot be registered ends the process as usual.
            let steps = [
                flag::register_conditional_shutdown(signal, 128 + signal, came.clone()),
                flag::register(signal, came),
                flag::register_usize(signal, which.clone(), signal as usize),
            ];
            registered.extend(steps.into_iter().flatten());
        }
        Interrupt { which, registered }
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
