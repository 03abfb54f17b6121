//! A plant as data, and how it is put into the code.

use std::path::Path;

use serde_json::Value;

use super::text_of;

/// One bug.
pub struct Plant {
    /// What it is, in a few words; unique.
    pub name: String,
    /// The invariants that it breaks.
    pub breaks: Vec<String>,
    /// The file that it changes.
    pub file: String,
    /// The code that it replaces. White space does not count, so that formatting the file moves
    /// nothing.
    find: String,
    /// What stands there instead.
    put: String,
    /// What happens in a pool that has it.
    pub why: String,
}

/// The plants, in their order.
pub fn read(root: &Path) -> Result<Vec<Plant>, String> {
    let text = text_of(root, PLANTS)?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{PLANTS}: {error}"))?;
    let rows = value.as_array().ok_or_else(|| format!("{PLANTS}: not a list"))?;
    rows.iter().map(plant).collect()
}

fn plant(row: &Value) -> Result<Plant, String> {
    let word = |member: &str| {
        let text = row[member].as_str().map(str::to_owned);
        text.ok_or_else(|| format!("{PLANTS}: a plant without {member}: {row}"))
    };
    let breaks = row["breaks"].as_array().into_iter().flatten();
    Ok(Plant {
        name: word("name")?,
        breaks: breaks.filter_map(Value::as_str).map(str::to_owned).collect(),
        file: word("file")?,
        find: word("find")?,
        put: word("put")?,
        why: word("why")?,
    })
}

impl Plant {
    /// The whole text of its file with the bug in it.
    ///
    /// # Errors
    /// When the code that it replaces does not stand there exactly once.
    pub fn applied(&self, root: &Path) -> Result<String, String> {
        let text = text_of(root, &self.file)?;
        let places = places(&text, &self.find);
        let [(from, to)] = places[..] else {
            return Err(format!(
                "the plant \"{}\" no longer fits: {} holds its `find` {} times instead of once; \
                 change it in {PLANTS}",
                self.name,
                self.file,
                places.len()
            ));
        };
        Ok(format!("{}{}{}", &text[..from], self.put, &text[to..]))
    }
}

/// Where `find` stands in `text`, white space apart.
fn places(text: &str, find: &str) -> Vec<(usize, usize)> {
    let dense = |text: &str| -> Vec<(usize, char)> {
        text.char_indices().filter(|(_, c)| !c.is_whitespace()).collect()
    };
    let (text, find) = (dense(text), dense(find));
    let is_there =
        |piece: &&[(usize, char)]| piece.iter().zip(&find).all(|(one, other)| one.1 == other.1);
    let range = |piece: &[(usize, char)]| {
        let last = piece[piece.len() - 1];
        (piece[0].0, last.0 + last.1.len_utf8())
    };
    text.windows(find.len().max(1)).filter(is_there).map(range).collect()
}

/// The plants, beside this crate.
const PLANTS: &str = "tests/xtask/plants.json";

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn a_text_is_found_however_it_is_wrapped() {
        assert_eq!(places("a(b,\n    c);", "b, c"), [(2, 10)]);
        assert_eq!(places("aXbX", "X"), [(1, 2), (3, 4)]);
        assert_eq!(places("abc", "d"), []);
    }
}
