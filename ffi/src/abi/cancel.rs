//! A thread that the host cancels (`pthread_cancel`) while it is in the library.
//!
//! Cancellation is off while the library runs: an unwind from a wait may not be caught by the
//! frames that catch panics, and the process would end.

#[cfg(any(miri, not(any(target_os = "linux", target_os = "macos"))))]
pub(crate) use self::elsewhere::Uncancelled;
#[cfg(all(not(miri), any(target_os = "linux", target_os = "macos")))]
pub(crate) use self::posix::Uncancelled;

#[cfg(all(not(miri), any(target_os = "linux", target_os = "macos")))]
mod posix {
    use std::ffi::c_int;

    /// While it lives, this thread is not cancelled. A thread is cancelled where it waits for the
    /// system, by an unwinding that nothing may catch; frames that catch everything, as those at
    /// the boundary do, then end the process.
    pub(crate) struct Uncancelled(c_int);

    impl Uncancelled {
        pub(crate) fn begin() -> Uncancelled {
            let mut before = 0;
            // SAFETY: the place is a local.
            unsafe { pthread_setcancelstate(DISABLE, &mut before) };
            Uncancelled(before)
        }
    }

    impl Drop for Uncancelled {
        fn drop(&mut self) {
            // SAFETY: the state is one that the thread had, and the place is a local.
            unsafe { pthread_setcancelstate(self.0, &mut 0) };
        }
    }

    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }

    const DISABLE: c_int = if cfg!(target_os = "macos") { 0 } else { 1 };

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::abi::guard::guard;

        fn is_cancelled() -> bool {
            Uncancelled::begin().0 != DISABLE
        }

        /// SPEC 16.2: a thread that is cancelled runs the library's code to its end.
        #[test]
        fn a_thread_is_not_cancelled_inside_the_library() {
            let mut inside = Vec::new();
            // SAFETY: no error is asked for.
            unsafe {
                guard(std::ptr::null_mut(), || {
                    guard(std::ptr::null_mut(), || Ok(()));
                    inside.push(is_cancelled());
                    Ok(())
                });
            }
            assert_eq!((inside, is_cancelled()), (vec![false], true));
        }
    }
}

#[cfg(any(miri, not(any(target_os = "linux", target_os = "macos"))))]
mod elsewhere {
    /// Threads are not cancelled here, as they are not by Miri, which has no such function.
    pub(crate) struct Uncancelled;

    impl Uncancelled {
        pub(crate) fn begin() -> Uncancelled {
            Uncancelled
        }
    }
}
