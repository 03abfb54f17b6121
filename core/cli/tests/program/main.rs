//! The program `trunkline`, as people and scripts use it: from an empty home, with real settings
//! files and real servers.

mod adopt;
mod approvals;
mod calls;
mod contents;
mod demo;
mod doctor;
mod documented;
mod edits;
mod hosts;
mod imports;
mod lists;
#[cfg(target_os = "linux")]
mod live;
mod machine;
mod rig;
#[cfg(target_os = "linux")]
mod screen;
mod serving;
mod sign_in;
mod typed;
mod usage;
