//! Settings files of every product, as they are read (SPEC 10.3).
//!
//! Each file below `files` has its reading beside it, in a file with `.reading` after its name.
//! `UPDATE_READINGS=1 cargo test -p trunkline-pool --test settings` writes the readings anew; each
//! is to be looked at.

mod again;
mod backslashes;
mod bounds;
mod golden;
mod hostile;
mod own_form;
mod products;
mod rules;
mod shown;
mod syntaxes;
mod tables;
mod twice;
