//! Writes the table of letters that look like others (UTS 39) without a pointer in it: pointers to
//! thousands of texts would be put right each time that the library is loaded.

use std::fmt::Write as _;
use std::path::PathBuf;

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let (mut letters, mut looks) = (String::new(), String::new());
    let mut texts = String::new();
    for letter in ASSIGNED.into_iter().flatten().filter_map(char::from_u32) {
        // What has parts is never looked up: the text is taken apart before.
        if !std::iter::once(letter).nfd().eq([letter]) {
            continue;
        }
        let look: String = skeleton(letter.encode_utf8(&mut [0; 4])).collect();
        if !look.chars().eq([letter]) {
            let (at, length) = (texts.len(), look.len());
            assert!(length < 1 << LENGTH_BITS, "{letter:?} looks like a longer text");
            write!(letters, "{},", u32::from(letter)).expect("memory");
            write!(looks, "{},", at << LENGTH_BITS | length).expect("memory");
            texts.push_str(&look);
        }
    }
    let table = format!(
        "static LETTERS: &[u32] = &[{letters}];\nstatic LOOKS: &[u32] = &[{looks}];\n\
         static TEXTS: &str = {texts:?};\nconst LENGTH_BITS: u32 = {LENGTH_BITS};\n"
    );
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it"));
    std::fs::write(folder.join("looks.rs"), table).expect("the folder of the build takes a file");
}

/// The planes that have letters: no other character looks like one.
const ASSIGNED: [std::ops::Range<u32>; 2] = [0..0x4_0000, 0xE_0000..0xE_1000];

/// The longest text that a letter looks like has some 18 letters.
const LENGTH_BITS: u32 = 7;
