//! What ends a command before its time: signals of the process, or the word of the program that
//! runs the command line.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

/// Interrupts one run. Clones interrupt the same one.
#[derive(Clone, Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether a signal ends the process at once: there is nothing to be ended first, or that was
    /// asked for already.
    at_once: Arc<AtomicBool>,
    arming: Arc<Mutex<Arming>>,
}

/// How the first signal makes the second one end the process at once.
#[derive(Debug, Default)]
struct Arming {
    is_of_process: bool,
    /// What does so at the signals of the process.
    actions: Vec<SigId>,
    /// No signal does.
    is_held: bool,
}

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt::new()
    }
}

impl Interrupt {
    /// One that only [`tell`](Self::tell) interrupts: no signal of the process is touched.
    pub fn new() -> Interrupt {
        let at_once = Arc::new(AtomicBool::new(true));
        Interrupt { signal: Arc::default(), at_once, arming: Arc::default() }
    }

    /// One that SIGINT and SIGTERM of the process interrupt, as long as that lives. For a program
    /// that is nothing but its run: what has a life of its own hears of signals in its own way, and
    /// tells.
    pub fn of_process() -> Interrupt {
        let interrupt = Interrupt::new();
        for signal in SIGNALS {
            // Before the flags are set: a signal that does not end the process only does that.
            // Where one cannot be registered it ends the process as usual.
            let at_once = interrupt.at_once.clone();
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, at_once);
            let _ = flag::register_usize(signal, interrupt.signal.clone(), signal as usize);
        }
        let mut arming = interrupt.arming();
        arming.is_of_process = true;
        arming.arm(&interrupt.at_once);
        drop(arming);
        interrupt
    }

    /// A signal came, by its number: the run ends what it started, and exits with 128 and that
    /// number. At a second signal, at a question that waits for its answer, and where nothing runs,
    /// this ends the process with that number at once. The supervisor ends the rest; not while the
    /// live view has the terminal, which is given back first.
    pub fn tell(&self, signal: u8) {
        if self.is_at_once(signal) {
            low_level::exit(128 + i32::from(signal));
        }
    }

    /// Takes a signal down, and says whether it ends the process at once.
    fn is_at_once(&self, signal: u8) -> bool {
        let arming = self.arming();
        self.signal.store(signal.into(), Ordering::SeqCst);
        !arming.is_held && self.at_once.swap(true, Ordering::SeqCst)
    }

    fn arming(&self) -> MutexGuard<'_, Arming> {
        self.arming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until what this gives is dropped, the first signal is heard, and ends nothing by itself.
    pub(crate) fn listen(&self) -> Listening {
        let listening = Listening(self.clone());
        listening.hear();
        listening
    }
}

impl Arming {
    fn arm(&mut self, at_once: &Arc<AtomicBool>) {
        if self.is_of_process {
            let arm = |signal| flag::register(signal, at_once.clone()).ok();
            self.actions = SIGNALS.into_iter().filter_map(arm).collect();
        }
        self.is_held = false;
    }

    fn disarm(&mut self) {
        for action in self.actions.drain(..) {
            low_level::unregister(action);
        }
        self.is_held = true;
    }
}

/// What ends a command of the process.
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Somebody looks whether a signal came.
pub(crate) struct Listening(Interrupt);

impl Listening {
    /// Asks a person, while the first signal ends the process: who reads a line is not to be
    /// disturbed otherwise.
    pub(crate) fn asking<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.0.at_once.store(true, Ordering::SeqCst);
        let answer = ask();
        self.hear();
        answer
    }

    /// Until what this gives is dropped no signal ends the process, however many come: there is a
    /// terminal to be given back first.
    pub(crate) fn hold(&self) -> Held<'_> {
        let mut arming = self.0.arming();
        arming.disarm();
        // One that came already ends nothing either.
        self.0.at_once.store(false, Ordering::SeqCst);
        Held(self)
    }

    /// A key stands for that signal: the run ends as by the signal itself, and the next one ends
    /// the process at once.
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

/// Signals are noted, and end nothing.
pub(crate) struct Held<'a>(&'a Listening);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut arming = self.0.0.arming();
        arming.arm(&self.0.0.at_once);
        // In this order, so that no signal in between is lost.
        if self.0.signal().is_some() {
            self.0.0.at_once.store(true, Ordering::SeqCst);
        }
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
    fn signals_while_they_are_held_end_nothing_and_the_next_one_does() {
        let interrupt = Interrupt::new();
        let listening = interrupt.listen();
        assert!(!interrupt.is_at_once(2));
        let held = listening.hold();
        assert!(!interrupt.is_at_once(15));
        assert!(!interrupt.is_at_once(2));
        assert_eq!(listening.signal(), Some(2));
        drop(held);
        assert!(interrupt.is_at_once(15));
    }

    #[test]
    fn the_first_signal_after_a_hold_without_any_is_only_heard() {
        let interrupt = Interrupt::new();
        let listening = interrupt.listen();
        drop(listening.hold());
        assert!(!interrupt.is_at_once(15));
        assert!(interrupt.is_at_once(15));
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
