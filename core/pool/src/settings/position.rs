//! Where something stands in a file.

/// A place in a text, as an editor counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl Place {
    /// The beginning of a text.
    pub(super) const START: Place = Place { line: 1, column: 1 };

    pub(super) fn new(line: usize, column: usize) -> Place {
        Place { line, column }
    }
}

/// Where a part of a text stands now that stood elsewhere: as many lines further on, and where it
/// shares its first line with what was put before it, as many characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    from: Place,
    to: Place,
}

impl Shift {
    /// From where the part began to where it begins.
    pub(super) fn new(from: Place, to: Place) -> Shift {
        Shift { from, to }
    }

    pub(super) fn is_none(self) -> bool {
        self.from == self.to
    }

    /// Where a place of the part is. What an alias brings may stand before the part, so that the
    /// difference may be less than nothing.
    pub(super) fn of(self, place: Place) -> Place {
        let Shift { from, to } = self;
        let moved = |at: usize, from: usize, to: usize| at.wrapping_sub(from).wrapping_add(to);
        let column = match place.line == from.line {
            true => moved(place.column, from.column, to.column),
            false => place.column,
        };
        Place::new(moved(place.line, from.line, to.line), column)
    }
}

/// Finds the place of an offset without counting the lines anew each time.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Offsets in ascending order, each with its place: the beginning of each line, and stations in
    /// long lines.
    stations: Vec<(usize, Place)>,
}

/// Bytes between two stations of one line: what is counted for one place, whatever the line's
/// length.
const STATION_BYTES: usize = 128;

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Lines<'a> {
        let mut stations = vec![(0, Place::START)];
        let (mut place, mut last) = (Place::START, 0);
        let mut characters = text.char_indices().peekable();
        while let Some((offset, character)) = characters.next() {
            let next = offset + character.len_utf8();
            let is_pair = character == '\r' && characters.peek().is_some_and(|(_, c)| *c == '\n');
            if matches!(character, '\n' | '\r') && !is_pair {
                place = Place::new(place.line + 1, 1);
                last = next;
                stations.push((next, place));
                continue;
            }
            place.column += 1;
            if next - last >= STATION_BYTES {
                last = next;
                stations.push((next, place));
            }
        }
        Lines { text, stations }
    }

    /// The place of a byte offset; one inside a character is that of the character, one past the
    /// end that of the end.
    pub(super) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let after = self.stations.partition_point(|(station, _)| *station <= offset);
        let (station, place) = self.stations[after.saturating_sub(1)];
        let between = self.text.as_bytes()[station..offset].iter();
        // Every byte of a character but its first is a continuation.
        let characters = between.filter(|byte| (**byte & 0xc0) != 0x80).count();
        Place::new(place.line, place.column + characters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 10.9: lines end as editors have it, and a column is a character, not a byte.
    #[test]
    fn lines_and_columns_are_counted_as_editors_do() {
        let text = "aé\r\nb\rc\n\nd漢e";
        let lines = Lines::new(text);
        let place = |part: &str| {
            let place = lines.place(text.find(part).unwrap());
            (place.line, place.column)
        };
        assert_eq!(place("a"), (1, 1));
        assert_eq!(place("\r\n"), (1, 3));
        assert_eq!(place("b"), (2, 1));
        assert_eq!(place("c"), (3, 1));
        assert_eq!(place("d"), (5, 1));
        assert_eq!(place("e"), (5, 3));
        assert_eq!(lines.place(text.len() + 9), Place::new(5, 4));
    }

    /// SPEC 10.9: the stations of a long line give what counting gives.
    #[test]
    fn long_lines_are_counted_in_steps() {
        let text = "é漢x".repeat(500);
        let lines = Lines::new(&text);
        for (count, (offset, _)) in text.char_indices().enumerate() {
            assert_eq!(lines.place(offset), Place::new(1, count + 1));
        }
    }
}
