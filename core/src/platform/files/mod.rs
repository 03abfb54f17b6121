//! Files of the user: whose they are, which of them they are, and who holds them.

pub(super) mod file_lock;
pub(super) mod file_stamp;
pub(super) mod private_file;
pub(super) mod user_home;
