//! The bridge, driven by hand: what a client says, and what is done about it.

mod lists;
mod offered;
