//! What authorization servers answer, read generously and answered strictly (SPEC 18.2, 18.7).
//!
//! ```text
//! bytes --lenient pass--> members --token / registration / document--> what a flow goes on with
//!                                          \--> Refusal: in the server's own words, or by name
//! ```
//!
//! 1. A member that is null, empty or of a type that cannot be meant counts as absent, and costs
//!    nothing else.
//! 2. What decides whom a credential is for stays exact: issuers, kinds of tokens, redirects,
//!    resources, hosts.
//! 3. Nothing is invented: a member that comes out was in the answer, or is what was asked for.
//! 4. No secret is in an [`AnswerRefusal`], and whatever of another's words is in one is for the
//!    caller to bound and escape.

mod document;
mod host;
mod read;
mod refusal;
mod registration;
mod resource;
#[cfg(test)]
mod tests;
mod token;

pub use document::{Way, document, is_of_resource};
pub use host::is_public_name;
pub use read::said;
pub use refusal::AnswerRefusal;
pub use registration::{Authentication, Registered, registered};
pub use resource::is_resource_of;
pub use token::{Challenge, Issued, issued};
