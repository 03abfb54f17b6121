//! What is said of a panic of the library: its place, and its words where no value is put into
//! them. A value may be a secret (S-48).

use std::any::Any;
use std::cell::RefCell;
use std::io::Write as _;

use crate::{Error, ErrorCode};

thread_local! {
    /// The last panic of this thread, until somebody asks: what may be said of it, and where it
    /// was.
    static LAST: RefCell<Option<(Option<&'static str>, String)>> = const { RefCell::new(None) };
}

/// The words of a panic that stand in the program as they are; `None` for one with values in its
/// words, as those of an error that nobody expected.
fn words(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

/// From now on each panic is noted for [`last`], and nothing else is printed of it; where
/// `is_quiet` says so, nothing at all.
pub fn report_without_values(is_quiet: impl Fn() -> bool + Send + Sync + 'static) {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let said = Some((words(panic.payload()), place));
        // A thread that ends may have no place for it.
        let _ = LAST.try_with(|last| last.replace(said));
        if is_quiet() {
            return;
        }
        if panic.payload().is::<&'static str>() {
            previous(panic);
        } else if let Some(place) = panic.location() {
            // Without a place to print at there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "trunkline panicked at {place}");
        }
    }));
}

/// The `internal` error of the panic that this thread is in, or came out of last; once.
pub fn last() -> Option<Error> {
    let (words, place) = LAST.try_with(RefCell::take).ok().flatten()?;
    let words = words.unwrap_or("its place says where");
    let error = Error::new(ErrorCode::Internal, format!("panicked: {words}"));
    Some(error.with_detail("place", place))
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// S-48
    #[test]
    fn values_in_the_words_of_a_panic_are_not_said() {
        let secret = String::from("a secret");
        let literal = catch_unwind(|| panic!("as it stands")).unwrap_err();
        assert_eq!(words(&*literal), Some("as it stands"));
        let with_value = catch_unwind(|| panic!("with {secret}")).unwrap_err();
        assert_eq!(words(&*with_value), None);
        let failed = || Err(&secret);
        let of_error = catch_unwind(|| -> () { failed().expect("none") }).unwrap_err();
        assert_eq!(words(&*of_error), None);
        assert_eq!(words(&*catch_unwind(|| std::panic::panic_any(7)).unwrap_err()), None);
    }
}
