//! The members of an object as they stand in its text: what a map would sort out, drop or refuse.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in the order of the text; their values as written. A name may be there
/// twice.
///
/// # Errors
/// Those of serde_json: no JSON, no object, or a name that is no Unicode.
pub fn members(text: &str) -> serde_json::Result<Vec<(String, &RawValue)>> {
    serde_json::from_str(text).map(|Members(members)| members)
}

/// Members whose names are read as `N`.
pub(super) struct Members<'a, N>(pub(super) Vec<(N, &'a RawValue)>);

impl<'de: 'a, 'a, N: Deserialize<'de>> Deserialize<'de> for Members<'a, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

struct MembersVisitor<N>(PhantomData<N>);

impl<'de, N: Deserialize<'de>> Visitor<'de> for MembersVisitor<N> {
    type Value = Members<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
