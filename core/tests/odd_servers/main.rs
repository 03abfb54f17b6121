//! What servers send that is odd or wrong: it is understood, or it costs as little as can be.

mod bad_frames;
mod bad_remotes;
mod tolerance;
