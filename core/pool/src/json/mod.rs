//! JSON where it must be read in one way only: strict texts, canonical texts, and paths into them.

mod blocks;
mod byte_kinds;
mod canonical;
mod long_strings;
mod lossy;
mod members;
mod plain;
mod strict;
mod value;

pub(crate) use canonical::{CanonicalFault, canonical};
pub use long_strings::{Apart, apart};
pub use lossy::{lossy_members, readable, readable_members};
pub use members::members;
pub use plain::{Plain, plain};
pub(crate) use strict::{Defect, DefectKind, parse};
pub use value::is_value;

use serde_json::Value;

use crate::base::text::escaped;

/// The deepest nesting of arrays and objects that is read (S-15, S-38).
pub(crate) const DEPTH_MAX: usize = 64;

/// A whole number; `30000.0` is one, as some languages write it.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        // One that is too large is the largest.
        (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
    })
}

/// A whole number of either sign, in the same spellings.
pub fn signed(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.abs() <= EXACT_MAX)?;
        (number.fract() == 0.0).then_some(number as i64)
    })
}

/// Up to here the numbers with a fraction have every whole number.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// One step of the way to a value inside a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// Into an object.
    Member(String),
    /// Into an array.
    Index(usize),
}

/// A path as it stands in `detail.path`: `env.NAME`, `args[2]`, `env["odd name"]`.
pub(crate) fn dotted(steps: &[PathStep]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            PathStep::Member(name) => push_member(&mut out, name),
            PathStep::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out
}

/// `path` with one more member.
pub(crate) fn joined(path: &str, name: &str) -> String {
    let mut out = path.to_owned();
    push_member(&mut out, name);
    out
}

fn push_member(path: &mut String, name: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        path.push_str(&format!("[\"{}\"]", escaped(name)));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
