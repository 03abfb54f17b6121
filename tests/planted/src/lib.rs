//! Faults that a tool must report: what does not see them shows nothing by its silence.

/// Reads what was freed.
#[unsafe(no_mangle)]
pub extern "C" fn read_freed() -> u64 {
    let place: *const u64 = Box::into_raw(Box::new(7));
    // SAFETY: it is of `Box::into_raw`, and given back once.
    drop(unsafe { Box::from_raw(place.cast_mut()) });
    // SAFETY: it is not safe, which is the fault: the place was given back.
    unsafe { std::ptr::read_volatile(place) }
}

/// Lets go of what nobody can give back.
#[unsafe(no_mangle)]
pub extern "C" fn leak() {
    // Of one, a register may still have the address.
    for number in 0..16_u64 {
        std::mem::forget(std::hint::black_box(Box::new([number; 64])));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Shared(UnsafeCell<u64>);

    // SAFETY: it is not safe, which is the fault.
    unsafe impl Sync for Shared {}

    #[test]
    fn race() {
        let shared = &Shared(UnsafeCell::new(0));
        // Both at one time; what is relaxed puts nothing in order.
        let there = &AtomicUsize::new(0);
        let add = || {
            there.fetch_add(1, Ordering::Relaxed);
            while there.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            for _ in 0..10_000 {
                // SAFETY: it is not safe: the other thread does the same at any moment.
                unsafe { *shared.0.get() += 1 };
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(add);
            scope.spawn(add);
        });
    }

    #[test]
    fn freed() {
        assert_ne!(super::read_freed(), u64::MAX);
    }
}
