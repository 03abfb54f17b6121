//! The header's numbers and names are those of the registry that all languages share.

use std::path::Path;

use trunkline::interface::{ERRORS, EVENTS};
use trunkline_ffi::Status;

fn header() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../include/trunkline.h");
    std::fs::read_to_string(path).unwrap()
}

/// The enumerators with that prefix, as `(name, number)`, in the order of the header.
fn enumerators(prefix: &str) -> Vec<(String, i64)> {
    let text = header();
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(prefix));
    let pairs = lines.filter_map(|line| line.trim_end_matches(',').split_once(" = "));
    pairs.map(|(name, number)| (name.to_lowercase(), number.parse().unwrap())).collect()
}

/// SPEC 5.12
#[test]
fn every_status_is_an_error_of_the_registry_and_the_other_way_round() {
    let mut expected = vec![("ok".to_owned(), 0)];
    expected.extend(ERRORS.iter().map(|row| (row.name.to_owned(), row.code as i64)));
    assert_eq!(enumerators("TRUNKLINE_STATUS_"), expected);
}

/// SPEC 5.12
#[test]
fn a_code_becomes_the_status_of_its_number() {
    for row in ERRORS {
        assert_eq!(Status::from(row.code) as i32, row.code as i32, "{}", row.name);
    }
}

/// SPEC 16.6
#[test]
fn every_event_bit_is_one_of_the_registry_and_the_other_way_round() {
    let expected: Vec<_> =
        EVENTS.iter().map(|row| (row.name.to_owned(), i64::from(row.kind as u8))).collect();
    assert_eq!(enumerators("TRUNKLINE_EVENT_"), expected);
}

/// SPEC 16.1: a signature says which kind of handle is meant.
#[test]
fn every_kind_of_handle_has_a_type_in_the_header() {
    let text = header();
    for kind in ["session", "lease", "op", "subscription", "request", "host_connection"] {
        assert!(text.contains(&format!("typedef uint64_t trunkline_{kind};\n")), "{kind}");
    }
    for bare in ["session", "lease", "op", "subscription", "request", "connection"] {
        assert!(!text.contains(&format!("uint64_t {bare},")), "{bare} has no type");
    }
    assert!(!text.contains("uint64_t *out_op"), "out_op has no type");
}

/// SPEC 5.12
#[test]
fn every_status_has_the_name_of_its_error() {
    let name = |status: i32| {
        // SAFETY: the text is static and ends with a NUL byte.
        let text =
            unsafe { std::ffi::CStr::from_ptr(trunkline_ffi::trunkline_status_name(status)) };
        text.to_str().unwrap().to_owned()
    };
    for row in ERRORS {
        assert_eq!(name(row.code as i32), row.name);
    }
    assert_eq!([name(0), name(-1), name(i32::MAX)], ["ok", "unknown", "unknown"]);
}

/// SPEC 16.1: the version that a host asks for is the one that the header was made with.
#[test]
fn the_versions_agree() {
    let version = trunkline_ffi::trunkline_abi_version();
    assert!(header().contains(&format!("#define TRUNKLINE_ABI_VERSION {version}\n")));
    // SAFETY: the text is static and ends with a NUL byte.
    let text = unsafe { std::ffi::CStr::from_ptr(trunkline_ffi::trunkline_version()) };
    assert_eq!(text.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    for (macro_name, value) in [
        ("VERSION", concat!("\"", env!("CARGO_PKG_VERSION"), "\"")),
        ("VERSION_MAJOR", env!("CARGO_PKG_VERSION_MAJOR")),
        ("VERSION_MINOR", env!("CARGO_PKG_VERSION_MINOR")),
        ("VERSION_PATCH", env!("CARGO_PKG_VERSION_PATCH")),
    ] {
        assert!(header().contains(&format!("#define TRUNKLINE_{macro_name} {value}\n")));
    }
}
