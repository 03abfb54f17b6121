//! The numbers that pools have in their handles, and where the handles of the next pool with a
//! number go on.
//!
//! A number is taken by one pool at a time, and so is what lies with it: the lock is never waited
//! for, nor found locked in a forked child, where what the parent's pools have stays taken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use trunkline::interface::words;
use trunkline::{Error, ErrorCode, Result};

use crate::handles::table::{Generations, POOL_MASK};

/// Of each kind of object, in the order of their numbers.
pub(crate) type OfKinds = [Generations; 5];

/// The lowest number that no pool has, and what the pools that had it left.
///
/// # Errors
/// `limit` when all are taken.
pub(crate) fn take() -> Result<(u16, OfKinds)> {
    let free = (0..=POOL_MASK).find(|number| !place(*number).taken.swap(true, Ordering::Acquire));
    let Some(number) = free else {
        return Err(Error::new(ErrorCode::Limit, "too many pools are not freed")
            .with_detail("limit", words::limit::HANDLES)
            .with_hint("free pools that nobody needs"));
    };
    let left = place(number).left().take();
    Ok((number, left.map(|left| *left).unwrap_or_default()))
}

/// Gives a number back.
pub(crate) fn give_back(number: u16, generations: OfKinds) {
    let place = place(number);
    *place.left() = Some(Box::new(generations));
    place.taken.store(false, Ordering::Release);
}

struct Place {
    taken: AtomicBool,
    left: Mutex<Option<Box<OfKinds>>>,
}

impl Place {
    fn left(&self) -> MutexGuard<'_, Option<Box<OfKinds>>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(number: u16) -> &'static Place {
    static PLACES: [Place; POOL_MASK as usize + 1] =
        [const { Place { taken: AtomicBool::new(false), left: Mutex::new(None) } };
            POOL_MASK as usize + 1];
    &PLACES[usize::from(number & POOL_MASK)]
}
