//! What ends a command before its time: signals of the process, or the word of the program that runs the command line.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// Interrupts one run. Clones interrupt the same one.
#[derive(Clone, Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether a signal ends the process at once: there is nothing to be ended first, or that was asked for already.
    at_once: Arc<AtomicBool>,
}

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt::new()
    }
}

impl Interrupt {
    /// One that only [`tell`](Self::tell) interrupts: no signal of the process is touched.
    pub fn new() -> Interrupt {
        Interrupt { signal: Arc::default(), at_once: Arc::new(AtomicBool::new(true)) }
    }

    /// One that SIGINT and SIGTERM of the process interrupt, as long as that lives. For a program that is nothing but its run: what has
    /// a life of its own hears of signals in its own way, and tells.
    pub fn of_process() -> Interrupt {
        let interrupt = Interrupt::new();
        for signal in [SIGINT, SIGTERM] {
            // In this order: a signal that does not end the process only sets the flags. Where one cannot be registered it ends
            // the process as usual.
            let at_once = &interrupt.at_once;
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, at_once.clone());
            let _ = flag::register(signal, at_once.clone());
            let _ = flag::register_usize(signal, interrupt.signal.clone(), signal as usize);
        }
        interrupt
    }

    /// A signal came, by its number: the run ends what it started, and exits with 128 and that number. At a second signal, at a question
    /// that waits for its answer, and where nothing runs, this ends the process with that number at once, and the supervisor the rest.
    pub fn tell(&self, signal: u8) {
        if self.is_at_once(signal) {
            low_level::exit(128 + i32::from(signal));
        }
    }

    /// Takes a signal down, and says whether it ends the process at once.
    fn is_at_once(&self, signal: u8) -> bool {
        self.signal.store(signal.into(), Ordering::SeqCst);
        self.at_once.swap(true, Ordering::SeqCst)
    }

    /// Until what this gives is dropped, the first signal is heard, and ends nothing by itself.
    pub(crate) fn listen(&self) -> Listening {
        let listening = Listening(self.clone());
        listening.hear();
        listening
    }
}

/// Somebody looks whether a signal came.
pub(crate) struct Listening(Interrupt);

impl Listening {
    /// Asks a person, while the first signal ends the process: who reads a line is not to be disturbed otherwise.
    pub(crate) fn asking<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.0.at_once.store(true, Ordering::SeqCst);
        let answer = ask();
        self.hear();
        answer
    }

    /// A key stands for that signal: the run ends as by the signal itself, and the next one ends the process at once.
    pub(crate) fn tell(&self, signal: u8) {
        self.0.tell(signal);
    }

    /// The signal that came.
    pub(crate) fn signal(&self) -> Option<u8> {
        match self.0.signal.load(Ordering::SeqCst) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }

    fn hear(&self) {
        self.0.at_once.store(self.signal().is_some(), Ordering::SeqCst);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.at_once.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::Interrupt;

    #[test]
    fn the_first_signal_is_heard_and_the_second_ends_the_process() {
        let interrupt = Interrupt::new();
        let listening = interrupt.listen();
        assert_eq!(listening.signal(), None);
        assert!(!interrupt.is_at_once(2));
        assert_eq!(listening.signal(), Some(2));
        assert!(interrupt.is_at_once(15));
    }

    #[test]
    fn a_signal_ends_the_process_where_nobody_listens() {
        let interrupt = Interrupt::new();
        drop(interrupt.listen());
        assert!(interrupt.is_at_once(2));
        let later = interrupt.listen();
        assert_eq!(later.signal(), Some(2));
        assert!(interrupt.is_at_once(2));
    }

    #[test]
    fn a_signal_at_a_question_ends_the_process() {
        let interrupt = Interrupt::new();
        let listening = interrupt.listen();
        listening.asking(|| ());
        assert!(listening.asking(|| interrupt.is_at_once(2)));
        assert_eq!(listening.signal(), Some(2));
    }
}
