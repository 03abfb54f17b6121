//! What a host is as a process: its ends and forks, its threads, its environment, its log, its file
//! system, and the processes that it has.
//!
//! Much of this is one for the whole process: such a test is done in a process of its own.

mod canaries;
mod carry;
mod environment;
mod exit;
mod fork;
mod hung;
mod supervisor;
mod threads;
