//! What is written from the table of operations, and that the table has all of them.

mod c;
mod complete;
mod cpp;
mod napi;
mod node;
pub mod page;
mod pyo3;
mod python;
mod python_types;
mod rust;
mod text;

use std::path::{Path, PathBuf};

use trunkline_pool::interface::operations::Owner;

const OWNERS: [Owner; 3] = [Owner::Pool, Owner::Session, Owner::Lease];

/// SPEC 16.1: what is written from the table is as the table says.
#[test]
fn what_is_written_from_the_table_is_current() {
    let mut stale = Vec::new();
    let mut compare = |path: &str, text: String| {
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::write(place(path), &text).unwrap();
        }
        if std::fs::read_to_string(place(path)).ok() != Some(text) {
            stale.push(path.to_owned());
        }
    };
    for owner in OWNERS {
        compare(&format!("ffi/src/ops/{}_ops.rs", owner.word()), c::file(owner));
    }
    compare("bindings/node/src/objects/operations.rs", napi::file());
    compare("include/trunkline_operations.hpp", cpp::file());
    compare(&format!("{PYTHON}/types.py"), python_types::options_file());
    compare(&format!("{PYTHON}/events.py"), python_types::events_file());
    for (path, owners, part) in PARTS {
        let mut text = std::fs::read_to_string(place(path)).unwrap();
        for owner in *owners {
            text = with_part(&text, *owner, &part(*owner));
        }
        compare(path, text);
    }
    assert!(stale.is_empty(), "write the files anew with UPDATE_REFERENCE=1: {stale:?}");
}

/// The package of Python.
const PYTHON: &str = "bindings/python/python/trunkline";

type Part = fn(Owner) -> String;

/// The files with a written part: one for each of these owners, between its marks.
const PARTS: &[(&str, &[Owner], Part)] = &[
    ("bindings/python/python/trunkline/_aio.py", &OWNERS, asyncio),
    ("bindings/python/python/trunkline/sync.py", &OWNERS, threads),
    ("bindings/python/python/trunkline/_shared.py", &OWNERS, shared),
    ("bindings/python/python/trunkline/_trunkline.pyi", &OWNERS, python::stub),
    ("bindings/python/src/objects/pool.rs", &[Owner::Pool], pyo3::methods),
    ("bindings/python/src/objects/session.rs", &[Owner::Session], pyo3::methods),
    ("bindings/python/src/objects/lease.rs", &[Owner::Lease], pyo3::methods),
    ("bindings/node/index.d.ts", &OWNERS, node::declarations),
    ("bindings/node/native.d.ts", &OWNERS, node::natives),
    ("bindings/node/lib/pool.cjs", &[Owner::Pool], node::methods),
    ("bindings/node/lib/session.cjs", &[Owner::Session], node::methods),
    ("bindings/node/lib/lease.cjs", &[Owner::Lease], node::methods),
];

fn asyncio(owner: Owner) -> String {
    python::methods(owner, python::Form::Asyncio)
}

fn threads(owner: Owner) -> String {
    python::methods(owner, python::Form::Threads)
}

fn shared(owner: Owner) -> String {
    python::methods(owner, python::Form::Shared)
}

fn place(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The text of a file with the part of an owner between its two marks.
fn with_part(text: &str, owner: Owner, part: &str) -> String {
    let (begin, end) =
        (format!("<operations {}>", owner.word()), format!("</operations {}>", owner.word()));
    let (Some(from), Some(to)) = (text.find(&begin), text.find(&end)) else {
        panic!("no marks for the operations of a {}", owner.word());
    };
    let from = from + text[from..].find('\n').expect("a mark is a line") + 1;
    let to = text[..to].rfind('\n').expect("a mark is a line") + 1;
    format!("{}{part}{}", &text[..from], &text[to..])
}

#[test]
fn a_part_is_what_stands_between_its_marks() {
    let text = "a\n  // <operations pool> x\nold\n  // </operations pool>\nb\n";
    let new = "a\n  // <operations pool> x\nnew\n  // </operations pool>\nb\n";
    assert_eq!(with_part(text, Owner::Pool, "new\n"), new);
}

#[test]
#[should_panic(expected = "no marks for the operations of a lease")]
fn a_file_without_marks_is_found() {
    with_part("a\n", Owner::Lease, "new\n");
}
