//! What is said of a panic of the library: its place, and its words where no value is put into them. A value may be a secret (S-48).

use std::any::Any;
use std::io::Write as _;
use std::panic::PanicHookInfo;

/// The words of a panic that stand in the program as they are; none of one with values in its words, as those of an error that nobody
/// expected.
pub fn words(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

/// From now on nothing is printed of a panic but that. Each is noted first: where `note` says so, nothing is printed of it.
pub fn report_without_values(note: impl Fn(&PanicHookInfo<'_>) -> bool + Send + Sync + 'static) {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if note(panic) {
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
