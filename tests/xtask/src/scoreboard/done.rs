//! How much of a row was done, by its parts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::rows::{Form, Row};
use super::table::grouped;

/// By part; what belongs to none has no name.
#[derive(Debug, Default, PartialEq)]
pub struct Done(BTreeMap<String, u64>);

impl Done {
    /// Of all that was written down, what is this row's: under its name, or `name/part`.
    pub fn of(row: &Row, scores: &BTreeMap<String, u64>) -> Done {
        let mut done = Done::default();
        done.add(row, scores);
        done
    }

    pub fn add(&mut self, row: &Row, scores: &BTreeMap<String, u64>) {
        for (key, times) in scores {
            let (name, part) = key.split_once('/').unwrap_or((key, ""));
            if name == row.name {
                *self.0.entry(part.to_owned()).or_default() += times;
            }
        }
    }

    pub fn all(&self) -> u64 {
        self.0.values().sum()
    }

    /// Which goals were missed, in words. No part makes up for another.
    pub fn short_of(&self, form: Form) -> Option<String> {
        let short = |done: u64, least: u64, what: &str| {
            (done < least).then(|| format!("{} of {} {what}", grouped(done), grouped(least)))
        };
        match form {
            Form::Absent(_) => None,
            Form::AtLeast(least) => short(self.all(), least, "were done"),
            Form::Each(parts) => {
                let done = |part: &str| self.0.get(part).copied().unwrap_or(0);
                let missed =
                    parts.iter().filter_map(|(part, least)| short(done(part), *least, part));
                let missed: Vec<String> = missed.collect();
                (!missed.is_empty()).then(|| missed.join(", "))
            }
        }
    }

    /// The parts in words; nothing where there is but the whole.
    pub fn parts(&self) -> Option<String> {
        let named = || self.0.iter().filter(|(part, _)| !part.is_empty());
        let words = named().map(|(part, done)| format!("{} {part}", grouped(*done)));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// As it is kept: a number, or an object of the parts.
    pub fn to_json(&self) -> Value {
        match self.0.get("") {
            Some(whole) if self.0.len() == 1 => json!(whole),
            _ => json!(self.0),
        }
    }

    /// Nothing where it is neither.
    pub fn from_json(kept: &Value) -> Option<Done> {
        if let Some(whole) = kept.as_u64() {
            return Some(Done::whole(whole));
        }
        let parts = kept.as_object()?.iter();
        let parts = parts.map(|(part, done)| Some((part.clone(), done.as_u64()?)));
        Some(Done(parts.collect::<Option<_>>()?))
    }

    pub fn whole(done: u64) -> Done {
        Done(BTreeMap::from([(String::new(), done)]))
    }
}

#[cfg(test)]
mod tests {
    use super::Done;
    use crate::scoreboard::rows::{Form, ROWS};
    use serde_json::json;
    use std::collections::BTreeMap;

    const PARTS: Form = Form::Each(&[("faults", 60), ("writes", 200)]);

    fn done(scores: &[(&str, u64)]) -> Done {
        let row = ROWS.iter().find(|row| row.name == "approvals").unwrap();
        let scores: BTreeMap<_, _> =
            scores.iter().map(|(key, times)| ((*key).to_owned(), *times)).collect();
        Done::of(row, &scores)
    }

    #[test]
    fn a_part_that_vanished_is_not_made_up_for_by_another() {
        let both = done(&[("approvals/faults", 74), ("approvals/writes", 200), ("abi", 7)]);
        assert_eq!((both.all(), both.short_of(PARTS)), (274, None));
        assert_eq!(both.parts().as_deref(), Some("74 faults, 200 writes"));
        let writes = done(&[("approvals/writes", 2_000)]);
        assert_eq!(writes.short_of(PARTS).as_deref(), Some("0 of 60 faults"));
        let unnamed = done(&[("approvals", 5_000)]);
        assert_eq!(unnamed.short_of(PARTS).as_deref(), Some("0 of 60 faults, 0 of 200 writes"));
        assert_eq!(
            unnamed.short_of(Form::AtLeast(5_001)).as_deref(),
            Some("5,000 of 5,001 were done")
        );
        assert_eq!(done(&[]).short_of(Form::AtLeast(1)).as_deref(), Some("0 of 1 were done"));
    }

    #[test]
    fn what_is_kept_is_read_again() {
        for (kept, written) in [
            (done(&[("approvals", 7)]), json!(7)),
            (done(&[("approvals/faults", 7)]), json!({ "faults": 7 })),
            (done(&[]), json!({})),
        ] {
            assert_eq!(kept.to_json(), written);
            assert_eq!(Done::from_json(&written), Some(kept));
        }
        assert_eq!(Done::from_json(&json!("many")), None);
        assert_eq!(Done::from_json(&json!({ "faults": "many" })), None);
    }
}
