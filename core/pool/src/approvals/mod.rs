//! Approvals: which configurations of servers a person let run, and what they are shown before they
//! decide (SPEC 12).
//!
//! A [`Candidate`] is a configuration that wants to run. Its [`Identity`] is what a decision is
//! about, its [`Request`] what is shown. The [`Book`] holds the decisions:
//!
//! ```text
//!             decide(approved)                      decide(rejected)
//!   pending ------------------> approved   pending, approved ----> rejected
//!      ^                           |                                  |
//!      +---------- forget ---------+-------------- forget ------------+
//!   rejected ---- decide(approved), by who saw this very rejection ---> approved
//! ```
//!
//! 1. A decision is of one project root, one name and one whole hash; another hash is pending, and
//!    each hash keeps its decision.
//! 2. A rejection is only overruled by who saw it: an approval by who did not is concurrent with
//!    it, and changes nothing.
//! 3. What makes room goes oldest first, and is never a rejection.
//! 4. The tools that are accepted by an approval go with it, and make room before any decision
//!    does.
//! 5. A text that is not wholly understood is no book.

mod book;
mod candidate;
mod changes;
mod declared;
mod digests;
mod form;
mod hash;
mod line;
mod names;
mod record;
mod replaced;
mod request;
mod risk;
mod root;
mod sign_in;
#[cfg(test)]
mod tests;
mod tools;

pub use self::book::{Book, Decided, Unreadable};
pub use self::candidate::{Candidate, CandidateLaunch, Identity};
pub use self::changes::{Changes, FieldChange, FieldChangeKind};
pub use self::declared::{Declared, DeclaredInput};
pub use self::digests::Digests;
pub use self::hash::ApprovalHash;
pub use self::line::{escaped_line, escaped_text};
pub use self::names::{Alike, is_deceptive};
pub use self::record::{Decision, Record, Standing, ToolDigests};
pub use self::replaced::{FileDifference, Replaced, StartFile, digest_of_content, seal};
pub use self::request::{Asked, HiddenEntry, Request, RequestOrigin, Taken};
pub use self::risk::{Risk, RiskKind, is_package_runner};
pub use self::root::ProjectRoot;
pub use self::sign_in::{Address, SignIn};
pub use self::tools::Unkept;
