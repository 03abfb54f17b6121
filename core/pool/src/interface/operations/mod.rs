//! The registry of operations: what a host can ask of the library, of a pool, a session or a lease.
//!
//! A row says once how an operation is called, what it takes and gives, and what it does.
//! The page of operations, the functions of C, and the glue and the declarations of Python and Node
//! are written from the rows. `CONTRIBUTING.md` shows how a row is added.

mod build;
mod lease;
mod library;
mod operation;
mod parameters;
mod pool;
mod session;
mod sources;

pub use operation::{Failure, Gives, Language, Operation, Owner, Spelling, Waits};
pub use parameters::{Parameter, ParameterKind};

/// The rows of an owner, in the order of the reference.
pub fn rows(owner: Owner) -> Vec<&'static Operation> {
    match owner {
        Owner::Library => library::ROWS.iter().collect(),
        Owner::Pool => pool::ROWS.iter().chain(sources::ROWS).collect(),
        Owner::Session => session::ROWS.iter().collect(),
        Owner::Lease => lease::ROWS.iter().collect(),
    }
}

/// Every operation, by owner.
pub fn operations() -> Vec<&'static Operation> {
    Owner::ALL.iter().flat_map(|owner| rows(*owner)).collect()
}
