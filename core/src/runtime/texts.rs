//! The texts of answers. The memory of long ones is kept for those that come next: malloc gives
//! what is large back to the system, and takes it anew, page by page, for each answer.
//!
//! What is kept is bounded, and what nobody needed for a while is given back.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Runtime;
use crate::platform::OfProcess;

/// From here on a text is long. Above twice as much glibc gives memory back whenever some comes
/// free.
const LONG_BYTES: usize = 32 << 10;

/// The memory of a long text is a multiple of this.
const STEP_BYTES: usize = 16 << 10;

/// A text has at most this part more memory than it needs, beside a step.
const WASTE_SHARE: usize = 4;

/// The memory of a longer text is not kept.
const KEPT_EACH_BYTES: usize = 1 << 20;

/// All that is kept: what a connection has in flight by default, of 100 KB each.
const KEPT_BYTES: usize = 8 << 20;

/// What was not needed for so long is given back.
const LOOK: Duration = Duration::from_secs(1);

/// Bytes of a piece. glibc copies more than about 4 KiB at once by `rep movsb`. On AMD's processors
/// (Zen 3 and later) that takes 15 times as long where the target lies 1 to 63 bytes behind the
/// source within a page; below, by vectors, it never does.
const PIECE_BYTES: usize = 2048;

/// The text of an answer. A clone is the same memory.
#[derive(Clone, Debug)]
pub(crate) struct Text(TextForm);

#[derive(Clone, Debug)]
enum TextForm {
    Short(Arc<str>),
    Long(Arc<Long>),
}

#[derive(Debug)]
struct Long(String);

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        if text.len() < LONG_BYTES {
            return Text(TextForm::Short(text.into()));
        }
        let mut memory = spare().take(text.len()).unwrap_or_else(|| new_memory(text.len()));
        copy(text, &mut memory);
        Text(TextForm::Long(Arc::new(Long(memory))))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            TextForm::Short(text) => text,
            TextForm::Long(text) => &text.0,
        }
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        let mut memory = std::mem::take(&mut self.0);
        memory.clear();
        let mut spare = spare();
        // What is not kept is freed without the lock.
        let _rest = spare.keep(memory);
        let needs_watch = !spare.free.is_empty() && !spare.is_watched;
        spare.is_watched |= needs_watch;
        drop(spare);
        if needs_watch {
            watch();
        }
    }
}

fn new_memory(bytes: usize) -> String {
    String::with_capacity(bytes.next_multiple_of(STEP_BYTES))
}

/// Copies at the speed of the machine, wherever the text comes to lie.
fn copy(text: &str, memory: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        let mut length = rest.len().min(PIECE_BYTES);
        while !rest.is_char_boundary(length) {
            length -= 1;
        }
        let (piece, behind) = rest.split_at(length);
        memory.push_str(piece);
        rest = behind;
    }
}

/// Memory that no text has.
#[derive(Default)]
struct Spare {
    free: Vec<String>,
    bytes: usize,
    /// How many of them were not needed since the last look.
    unneeded: usize,
    /// Whether somebody looks.
    is_watched: bool,
}

impl Spare {
    /// Memory for so many bytes, and not much more.
    fn take(&mut self, bytes: usize) -> Option<String> {
        let most = bytes + bytes / WASTE_SHARE + STEP_BYTES;
        let fits = |memory: &String| (bytes..=most).contains(&memory.capacity());
        let memory = self.free.remove(self.free.iter().rposition(fits)?);
        self.bytes -= memory.capacity();
        self.unneeded = self.unneeded.min(self.free.len());
        Some(memory)
    }

    /// Keeps the memory for the next text, or hands it back.
    fn keep(&mut self, memory: String) -> Option<String> {
        let bytes = memory.capacity();
        if bytes > KEPT_EACH_BYTES || self.bytes + bytes > KEPT_BYTES {
            return Some(memory);
        }
        self.bytes += bytes;
        self.free.push(memory);
        None
    }

    /// Hands out what was not needed since the last look.
    fn look(&mut self) -> Vec<String> {
        let unneeded: Vec<String> = self.free.drain(..self.unneeded).collect();
        self.bytes -= unneeded.iter().map(String::capacity).sum::<usize>();
        self.unneeded = self.free.len();
        unneeded
    }
}

fn spare() -> MutexGuard<'static, Spare> {
    static SPARE: OfProcess<Mutex<Spare>> = OfProcess::new();
    SPARE.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks after what is kept, until nothing is.
fn watch() {
    let watched = SpareGuard;
    let Some(runtime) = Runtime::running() else { return };
    runtime.handle().spawn(async move {
        let _watched = watched;
        let mut has_any = true;
        while has_any {
            tokio::time::sleep(LOOK).await;
            let mut spare = spare();
            let unneeded = spare.look();
            has_any = !spare.free.is_empty();
            drop(spare);
            drop(unneeded);
        }
    });
}

/// Dropped, at the end of the runtime too, it leaves nothing that nobody looks after.
struct SpareGuard;

impl Drop for SpareGuard {
    fn drop(&mut self) {
        let left = std::mem::take(&mut *spare());
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(spare: &Spare) -> usize {
        assert_eq!(spare.free.iter().map(String::capacity).sum::<usize>(), spare.bytes);
        spare.bytes
    }

    #[test]
    fn all_of_a_text_is_copied_whatever_its_length() {
        let long = "aäaa\u{1f6a2}".repeat(LONG_BYTES);
        for around in [0, 1, PIECE_BYTES, 2 * PIECE_BYTES, LONG_BYTES, long.len() - 8] {
            for length in
                (around.saturating_sub(8)..around + 8).filter(|at| long.is_char_boundary(*at))
            {
                let copied = Text::from(&long[..length]);
                assert_eq!(*copied, long[..length]);
                assert_eq!(copied.clone().as_ptr(), copied.as_ptr());
            }
        }
    }

    #[test]
    fn the_next_text_has_the_memory_of_the_last_one() {
        let mut spare = Spare::default();
        assert_eq!(spare.take(100_000), None);
        let memory = new_memory(100_000);
        let place = memory.as_ptr();
        assert_eq!(spare.keep(memory), None);
        for length in [100_000, 90_000, 98_304] {
            let memory = spare.take(length).unwrap();
            assert_eq!((memory.as_ptr(), bytes(&spare)), (place, 0));
            assert_eq!(spare.keep(memory), None);
        }
        for length in [LONG_BYTES, 60_000, 200_000] {
            assert_eq!(spare.take(length), None, "{length} would have too much, or too little");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut spare = Spare::default();
        assert!(spare.keep(new_memory(KEPT_EACH_BYTES + 1)).is_some());
        let refused = (0..100).filter(|_| spare.keep(new_memory(200_000)).is_some()).count();
        assert!(refused > 0 && bytes(&spare) <= KEPT_BYTES);
        assert!(bytes(&spare) > KEPT_BYTES - 200_000 - STEP_BYTES);
    }

    #[test]
    fn what_was_not_needed_between_two_looks_is_given_back() {
        let mut spare = Spare::default();
        for _ in 0..4 {
            spare.keep(new_memory(100_000));
        }
        assert_eq!(spare.look().len(), 0, "it has just come");
        let two = [spare.take(100_000).unwrap(), spare.take(100_000).unwrap()];
        assert!(two.into_iter().all(|memory| spare.keep(memory).is_none()));
        assert_eq!(spare.look().len(), 2);
        assert_eq!(spare.look().len(), 2);
        assert_eq!((bytes(&spare), spare.free.len()), (0, 0));
    }

    /// What was given back stays with those who look, and without a runtime there is nobody.
    #[test]
    fn nothing_is_kept_that_nobody_looks_after() {
        // No other test has a text of that length, whose memory it would take.
        let dropped = || Text::from(&*"x".repeat(KEPT_EACH_BYTES)).as_ptr();
        let is_kept = |place| spare().free.iter().any(|memory| memory.as_ptr() == place);
        let goes = |place, after: &str| {
            let until = std::time::Instant::now() + 20 * LOOK;
            while is_kept(place) {
                assert!(std::time::Instant::now() < until, "it is kept for good {after}");
                std::thread::sleep(LOOK / 10);
            }
        };
        let runtime = Runtime::shared(1, || {}).unwrap();
        // Others may have filled what is kept at that moment.
        let kept = (0..100).map(|_| dropped()).find(|place| is_kept(*place));
        goes(kept.expect("it is kept at first"), "beside a runtime");
        drop(runtime);
        goes(dropped(), "without one");
    }
}
