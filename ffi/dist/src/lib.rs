//! libtrunkline: the C ABI as a shared and a static library.
pub use trunkline_ffi::*;
