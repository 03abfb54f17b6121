//! What a shared library for macOS says of itself: its name, and what it exports and lacks.

use std::collections::BTreeSet;

#[derive(Debug, Default, PartialEq)]
pub struct Library {
    /// Under what name programs that were linked with it look for it.
    pub name: Option<String>,
    /// As C writes them.
    pub exports: BTreeSet<String>,
    /// What it has from nobody in particular: from any that is there when it is loaded.
    pub looked_up: BTreeSet<String>,
}

/// Reads a library of 64 bits; nothing of what is none, or is cut off.
pub fn read(bytes: &[u8]) -> Option<Library> {
    if number(bytes, 0)? != MAGIC {
        return None;
    }
    let (mut library, mut at) = (Library::default(), HEADER_BYTES);
    for _ in 0..number(bytes, COMMANDS_AT)? {
        let command = bytes.get(at..)?;
        match number(command, 0)? {
            NAME => library.name = Some(text(command, number(command, 8)? as usize)?),
            SYMBOLS => {
                let [symbols, count, texts] = [8, 12, 16].map(|field| number(command, field));
                let texts = bytes.get(texts? as usize..)?;
                let rows = bytes.get(symbols? as usize..)?.chunks_exact(SYMBOL_BYTES);
                for row in rows.take(count? as usize) {
                    library.note(row, texts)?;
                }
            }
            _ => (),
        }
        at += number(command, 4)? as usize;
    }
    Some(library)
}

impl Library {
    fn note(&mut self, row: &[u8], texts: &[u8]) -> Option<()> {
        let (kind, origin) = (row[4] & (DEBUG | HIDDEN | KIND | EXTERNAL), row[7]);
        let names = match kind {
            EXPORTED => &mut self.exports,
            WANTED if origin == ANYBODY => &mut self.looked_up,
            _ => return Some(()),
        };
        names.insert(text(texts, number(row, 0)? as usize)?.strip_prefix('_')?.to_owned());
        Some(())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// A text that ends with a NUL byte.
fn text(bytes: &[u8], at: usize) -> Option<String> {
    let bytes = bytes.get(at..)?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    String::from_utf8(bytes[..end].to_vec()).ok()
}

/// Of a file of 64 bits in the order of its bytes that ARM and x86 have.
const MAGIC: u32 = 0xfeed_facf;
const HEADER_BYTES: usize = 32;
/// Where the number of commands stands.
const COMMANDS_AT: usize = 16;
/// The commands `LC_SYMTAB` and `LC_ID_DYLIB`.
const SYMBOLS: u32 = 0x2;
const NAME: u32 = 0xd;
const SYMBOL_BYTES: usize = 16;
/// Of the kind of a symbol: for debuggers; for this library alone; where it is; for others.
const DEBUG: u8 = 0xe0;
const HIDDEN: u8 = 0x10;
const KIND: u8 = 0x0e;
const EXTERNAL: u8 = 0x01;
/// One that is here for others, and one that is wanted of others.
const EXPORTED: u8 = KIND | EXTERNAL;
const WANTED: u8 = EXTERNAL;
/// Where one is wanted from that is in no library by name.
const ANYBODY: u8 = 0xfe;

#[cfg(test)]
mod tests {
    use super::{ANYBODY, EXPORTED, KIND, MAGIC, NAME, SYMBOLS, WANTED, read};

    /// A library that is called `l`, with these symbols, each with its kind and from where it is
    /// wanted.
    fn library(symbols: &[(&str, u8, u8)]) -> Vec<u8> {
        let (mut texts, mut rows) = (vec![0], Vec::new());
        for (name, kind, origin) in symbols {
            rows.extend((texts.len() as u32).to_le_bytes());
            rows.extend([*kind, 0, 0, *origin]);
            rows.extend([0; 8]);
            texts.extend([name.as_bytes(), &[0]].concat());
        }
        let after = 32 + 32 + 24;
        let head = [MAGIC, 0, 0, 6, 2, 56, 0, 0];
        let name = [NAME, 32, 24, 0, 0, 0, u32::from(b'l'), 0];
        let table = [SYMBOLS, 24, after, symbols.len() as u32, after + rows.len() as u32, 0];
        let words = head.into_iter().chain(name).chain(table);
        words.flat_map(u32::to_le_bytes).chain(rows).chain(texts).collect()
    }

    #[test]
    fn a_library_is_read_with_its_name_what_it_exports_and_what_it_looks_up() {
        let symbols = [
            ("_f", EXPORTED, 0),
            ("_of_a_library", WANTED, 1),
            ("_of_anybody", WANTED, ANYBODY),
            ("_own", KIND, 0),
            ("_hidden", EXPORTED | 0x10, 0),
        ];
        let read = read(&library(&symbols)).unwrap();
        assert_eq!(read.name.as_deref(), Some("l"));
        assert_eq!(read.exports.into_iter().collect::<Vec<_>>(), ["f"]);
        assert_eq!(read.looked_up.into_iter().collect::<Vec<_>>(), ["of_anybody"]);
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_no_library() {
        let whole = library(&[("_f", EXPORTED, 0)]);
        assert_eq!(read(b"\x7fELF and what follows"), None);
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_none_or(|cut| cut.exports.is_empty()), "{length}");
        }
    }
}
