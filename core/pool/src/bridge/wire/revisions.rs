//! The revisions of the protocol that are spoken.

/// The revision of the modern era.
pub const MODERN: &str = "2026-07-28";

/// The revisions of the legacy era, oldest first.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The revisions that are spoken, newest first.
pub(in crate::bridge) fn spoken() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY.into_iter().rev()).collect()
}
