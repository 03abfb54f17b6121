//! Kept catalogs: what servers listed, remembered for the time in which they are not connected
//! (SPEC 14.2).
//!
//! 1. A catalog is found by a [`CacheKey`] alone. What a variable stands for is no part of it, nor
//!    can anybody read it back from one.
//! 2. An empty catalog is not kept, and a `private` one not beyond its process.
//! 3. What counts is the very text that was written for its key, for 30 days at the most and no
//!    longer than the server says. Whatever else has its place is none.
//!
//! The version of a server is not in the key: it is known by the handshake alone, and the list is
//! wanted before there is one. The workspace is in it, since one command can be two programs in two
//! folders.

mod key;
mod listing;
mod read;
mod write;

#[cfg(test)]
mod tests;

pub use self::key::{Asker, CacheKey, WrittenHash};
pub use self::listing::{KEPT_FOR, Kept, ListingTerms};
pub use self::write::TEXT_BYTES_MAX;
#[cfg(feature = "fuzzing")]
pub(crate) use self::write::fuzzing;
