//! The bridge, driven by hand: what a client says, and what is done about it.

mod cells;
mod ends;
mod lists;
mod offered;
mod requests;
mod talk;
