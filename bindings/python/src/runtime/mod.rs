//! How results get from the library's threads to Python. Nothing here names an object of the
//! library: a value that becomes one carries what makes it.

pub mod delivery;
pub mod failure;
pub mod fork;
pub mod interpreter;
pub mod loop_reads;
pub mod options;
pub mod payload;
pub mod result;
pub mod wakeup;
pub mod write_batch;
