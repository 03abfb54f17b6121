//! An accepted definition.

use std::fmt;
use std::sync::Arc;

/// An accepted definition. `Debug` prints no text.
#[derive(Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its digest.
    pub digest: [u8; 32],
    /// Its text, if there was room to keep it.
    pub text: Option<Arc<str>>,
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition").finish_non_exhaustive()
    }
}
