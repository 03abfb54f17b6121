//! How connections are ended by order.

/// Whether calls may finish first (SPEC 9.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DrainMode {
    /// Calls may finish until the deadline.
    #[default]
    Finish,
    /// Calls are interrupted at once.
    Force,
}
