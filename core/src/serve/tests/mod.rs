//! Clients of both eras with servers of both eras, through an endpoint with real processes.

mod cells;
mod peer;
