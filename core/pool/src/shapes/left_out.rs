//! What of a schema is left out.

/// What of a schema is not in what a target is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it stood: a JSON pointer, which is empty for the whole schema.
    pub path: String,
    /// Why, after the thing itself.
    pub reason: &'static str,
}

impl LeftOut {
    pub(super) fn new(path: String, reason: &'static str) -> LeftOut {
        LeftOut { path, reason }
    }
}
