//! What stands between the host and a panic.
//!
//! No function panics on demand here: each exported function is in the header. So a test panics
//! inside the guard instead.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use trunkline::{Error, ErrorCode, Result, panics};

/// Runs the body of an exported function that has no place for an error, and asks nothing of the
/// system: a panic gives `fallback`.
pub(crate) fn guarded<T>(fallback: T, body: impl FnOnce() -> T) -> T {
    contain(|| Ok(body())).unwrap_or(fallback)
}

/// Runs something that may panic; the panic becomes an `internal` error that says what and where.
pub(crate) fn contain<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    let depth = Guarded::enter();
    let outcome = catch_unwind(AssertUnwindSafe(body));
    drop(depth);
    outcome.unwrap_or_else(|payload| {
        let error = last_panic();
        drop_payload(payload);
        Err(error)
    })
}

/// The `internal` error of the panic that this thread is in, or came out of last.
pub(crate) fn last_panic() -> Error {
    panics::last()
        .unwrap_or_else(|| Error::new(ErrorCode::Internal, "panicked: nobody noted where"))
}

/// A payload may panic when it is dropped, and again; then it is forgotten.
fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}

/// Whether this thread is in guarded code.
pub(crate) fn is_guarded() -> bool {
    GUARDED.with(Cell::get) > 0
}

/// While it lives, panics of this thread are not printed.
struct Guarded;

impl Guarded {
    fn enter() -> Guarded {
        GUARDED.with(|depth| depth.set(depth.get() + 1));
        Guarded
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        GUARDED.with(|depth| depth.set(depth.get() - 1));
    }
}

thread_local! {
    static GUARDED: Cell<u32> = const { Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::guard::prepare_process;

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("second");
        }
    }

    /// SPEC 16.2, I-18
    #[test]
    fn a_panic_becomes_an_internal_error_with_its_place() {
        prepare_process();
        let error = contain::<()>(|| panic!("number {}", 7)).unwrap_err();
        assert_eq!((error.code(), error.message()), (ErrorCode::Internal, "panicked: number 7"));
        let place = error.detail()["place"].as_str().unwrap();
        assert!(place.contains("panic_guard.rs:"), "{place}");
    }

    /// S-48
    #[test]
    fn a_panic_with_a_value_in_its_words_says_its_place_alone() {
        prepare_process();
        let secret = String::from("a secret");
        let error = contain::<()>(|| panic!("with {secret}")).unwrap_err();
        let told = (error.code(), error.message());
        assert_eq!(told, (ErrorCode::Internal, "panicked: its place says where"));
        assert!(error.to_json()["detail"]["place"].as_str().unwrap().contains("panic_guard.rs:"));
    }

    /// SPEC 16.2, I-18
    #[test]
    fn a_panic_payload_that_panics_when_dropped_is_contained() {
        prepare_process();
        let error = contain::<()>(|| std::panic::panic_any(PanicsWhenDropped)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal);
    }

    /// SPEC 16.2, I-18
    #[test]
    fn a_panic_where_no_error_has_a_place_gives_the_fallback() {
        prepare_process();
        assert_eq!(guarded(-1, || panic!("unseen")), -1);
        assert_eq!(guarded(-1, || 7), 7);
    }
}
