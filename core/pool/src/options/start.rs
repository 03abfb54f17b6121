//! When servers start.

/// When a server starts (SPEC 14.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Start {
    /// With the first session that wants it.
    #[default]
    Eager,
    /// At the first call of one of its tools; it stops after the last one.
    Lazy,
}

impl Start {
    /// The word in options and configurations.
    pub fn as_str(self) -> &'static str {
        match self {
            Start::Eager => "eager",
            Start::Lazy => "lazy",
        }
    }
}
