//! What crosses the boundary: types, texts and errors, and what guards each function.

pub(crate) mod buf;
pub(crate) mod cancel;
pub(crate) mod error;
pub(crate) mod guard;
pub(crate) mod item;
pub(crate) mod panic_guard;
pub(crate) mod raw;
pub(crate) mod types;
pub(crate) mod user_data;
