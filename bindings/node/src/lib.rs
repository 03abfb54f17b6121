//! The native addon behind the npm package `trunkline`.
//!
//! A private bridge: it converts, calls the core, and converts back. Option names, error
//! classes, iterators and disposal belong to the JavaScript files in `lib/`, and `native.d.ts`
//! lists what they may use of this. `runtime` is below `objects`, and does not name them.
//!
//! Threads: everything here runs on the environment's JavaScript thread, except `reply::Reply`, the
//! end of a loan and `waker::Waker::wake`, which the library's own threads use. No JavaScript runs
//! on those.
//!
//! Panics: every exported function carries `catch_unwind`, and what Node and libuv call by pointer
//! guards itself.

mod objects;
mod runtime;
