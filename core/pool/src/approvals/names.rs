//! Names that look like others (SPEC 12.11).

use std::collections::BTreeMap;

use unicode_security::MixedScript as _;

use super::skeleton::skeleton;

/// Whether a name may be read as another: letters of several scripts in one, or all of them like letters of ASCII.
pub fn is_deceptive(name: &str) -> bool {
    !name.is_ascii() && (!name.is_single_script() || skeleton(name).all(|sign| sign.is_ascii()))
}

/// Names by what they look like.
#[derive(Debug, Default)]
pub struct Alike(BTreeMap<String, Vec<String>>);

impl Alike {
    /// These names.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Alike {
        let mut alike = BTreeMap::<_, Vec<String>>::new();
        for name in names {
            alike.entry(look_of(name)).or_default().push(name.to_owned());
        }
        Alike(alike)
    }

    /// Another one of them that looks like this one.
    pub fn to(&self, name: &str) -> Option<&str> {
        let alike = self.0.get(&look_of(name))?;
        alike.iter().map(String::as_str).find(|other| *other != name)
    }
}

/// What a name looks like. Case counts for nothing, since a reader passes over it.
fn look_of(name: &str) -> String {
    skeleton(name).collect::<String>().to_lowercase()
}
