//! What a pass has to know of the file system: looked up without the lock, by a thread that may
//! wait for ever (SPEC 16.2).
//!
//! A pass that lacks something leaves its server as it was and says what it lacks. Each source's
//! part of that is looked up by a thread of its own, which ends in another pass; so a file system
//! that is away holds up what depends on it, and the callers that wait for that.

use std::collections::BTreeMap;
use std::ffi::OsString;

use trunkline_pool::expand::LookedUp;

use super::launch_preview::{Command, LaunchPreview};
use crate::Result;

/// Something of the file system, looked up once for each state of what it depends on.
pub(crate) struct LookupCell<B, T> {
    basis: Option<B>,
    at: LookupState,
    last: Option<T>,
}

/// How far a look is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupState {
    /// What was found, if anything, need not be true any more, and nobody needs it.
    Stale,
    /// A pass lacks it.
    Wanted,
    /// Somebody looks it up, under this number.
    UnderWay(u64),
    Done,
}

impl LookupState {
    /// A pass lacks it.
    pub(crate) fn want(&mut self) {
        if !matches!(self, LookupState::UnderWay(_)) {
            *self = LookupState::Wanted;
        }
    }

    /// It is looked up from now on, by who gets the number; `is_mine` takes part in a look that is
    /// under way.
    pub(crate) fn begin(&mut self, last: &mut u64, is_mine: bool) -> Option<u64> {
        match *self {
            LookupState::Wanted => {
                *last += 1;
                *self = LookupState::UnderWay(*last);
                Some(*last)
            }
            LookupState::UnderWay(number) if is_mine => Some(number),
            LookupState::UnderWay(_) | LookupState::Stale | LookupState::Done => None,
        }
    }

    /// It was looked up; whether that is still the look that counts.
    pub(crate) fn end(&mut self, number: u64) -> bool {
        let is_it = *self == LookupState::UnderWay(number);
        if is_it {
            *self = LookupState::Done;
        }
        is_it
    }
}

impl<B, T> Default for LookupCell<B, T> {
    fn default() -> Self {
        LookupCell { basis: None, at: LookupState::Stale, last: None }
    }
}

impl<B: PartialEq, T> LookupCell<B, T> {
    /// What was found for that; without it, it is wanted.
    pub(crate) fn of(&mut self, basis: B) -> Option<&T> {
        let is_it = self.basis.as_ref() == Some(&basis);
        match self.at {
            LookupState::Done if is_it => return self.last.as_ref(),
            LookupState::UnderWay(_) if is_it => {}
            _ => self.at = LookupState::Wanted,
        }
        self.basis = Some(basis);
        None
    }

    /// What was found last. It may be about to be looked up again.
    pub(crate) fn last(&self) -> Option<&T> {
        self.last.as_ref()
    }

    /// Whether somebody looks it up at this moment.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.at, LookupState::UnderWay(_))
    }

    /// Whether somebody looks it up under that number.
    pub(crate) fn is_under_way_as(&self, number: u64) -> bool {
        self.at == LookupState::UnderWay(number)
    }

    /// Nobody looks it up under that number.
    pub(crate) fn release(&mut self, number: u64) {
        if self.at == LookupState::UnderWay(number) {
            self.at = LookupState::Stale;
        }
    }

    /// It is looked up again when it is needed next.
    pub(crate) fn mark_stale(&mut self) {
        self.at = LookupState::Stale;
    }

    /// [`LookupState::begin`], with what is to be looked up.
    pub(crate) fn begin(&mut self, last: &mut u64, is_mine: bool) -> Option<(u64, &B)> {
        let number = self.at.begin(last, is_mine)?;
        Some((number, self.basis.as_ref()?))
    }

    /// [`LookupState::end`], with what was found.
    pub(crate) fn end(&mut self, number: u64, found: T) {
        if self.at.end(number) {
            self.last = Some(found);
        }
    }
}

/// What a sight depends on besides the entry: what its variables come to, and where the host looks
/// for programs.
pub(crate) type SightBasis = (Box<LookedUp>, Option<OsString>);

/// What would run of an entry that needs approval.
pub(crate) type LookedSight = LookupCell<SightBasis, Result<(LaunchPreview, Command)>>;

/// What a file of variables says, by its path.
pub(crate) type LookedFile = LookupCell<Box<str>, Result<BTreeMap<String, String>>>;
