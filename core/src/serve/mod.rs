//! The pool for clients that do not embed it (SPEC 19).

pub(crate) mod lane;
mod outlet;
