//! How results get from the library's threads to JavaScript. Nothing here names an object of the
//! library: a value that becomes one carries what makes it.

pub mod async_context;
pub mod environment;
pub mod failure;
pub mod json_text;
pub mod loop_reads;
pub mod pending;
pub mod reply;
pub mod shutdown;
pub mod text;
pub mod uv;
pub mod waker;
