//! Planted faults: each rule finds what it is there for, and nothing else.

use super::source::Source;
use super::{Finding, RULES};

const NOTHING: [usize; 0] = [];

/// What the rule of that name finds in a file with that text.
fn found(rule: &str, path: &str, text: &str) -> Vec<usize> {
    let rule = RULES.iter().find(|known| known.name == rule).expect("a rule of that name");
    (rule.find)(&Source::new(path, text)).iter().map(|finding: &Finding| finding.line).collect()
}

#[test]
fn a_file_over_the_limit_is_found_and_a_generated_one_is_not() {
    let long = "x\n".repeat(501);
    assert_eq!(found("file size", "core/src/a.rs", &long), [501]);
    assert_eq!(found("file size", "core/src/a.rs", &"x\n".repeat(500)), NOTHING);
    assert_eq!(found("file size", "include/trunkline.h", &long), NOTHING);
    let written = format!("//! Written from a table; do not edit.\n{long}");
    assert_eq!(found("file size", "core/src/a.rs", &written), NOTHING);
    let part = format!("# <operations pool> Written\n{long}# </operations pool>\n");
    assert_eq!(found("file size", "a.py", &part), NOTHING);
    assert_eq!(found("file size", "a.py", &format!("{part}{long}")), [502]);
}

#[test]
fn a_long_function_is_found_in_each_language() {
    let body = "    x;\n".repeat(70);
    let rust = format!("pub(crate) async fn f(\n    a: &str,\n) {{\n{body}}}\n\nfn g() {{}}\n");
    assert_eq!(found("function size", "core/src/a.rs", &rust), [1]);
    let python = format!("def f():\n{}\n\nx = 1\n", "    y()\n".repeat(70));
    assert_eq!(found("function size", "a.py", &python), [1]);
    assert_eq!(found("function size", "a.c", &format!("int f(void)\n{{\n{body}}}\n")), [1]);
    assert_eq!(
        found("function size", "a.mjs", &format!("export function f() {{\n{body}}}\n")),
        [1]
    );
    let short = format!("fn f() {{\n{}}}\n", "    x;\n".repeat(68));
    assert_eq!(found("function size", "core/src/a.rs", &short), NOTHING);
}

#[test]
fn a_brace_in_a_string_or_a_comment_ends_no_function() {
    let body = "    x;\n".repeat(70);
    let text = format!("fn f() {{\n    a('}}', \"}}\", r#\"}}\"#); // }}\n{body}}}\n");
    assert_eq!(found("function size", "core/src/a.rs", &text), [1]);
}

#[test]
fn a_file_without_a_module_doc_is_found() {
    assert_eq!(found("module doc", "core/src/a.rs", "use x;\n"), [1]);
    assert_eq!(found("module doc", "core/src/a.rs", "//! What it is.\nuse x;\n"), NOTHING);
}

#[test]
fn empty_names_are_found_where_they_are_given() {
    for text in [
        "struct PoolManager;",
        "fn do_it() {}",
        "fn process_reply() {}",
        "fn get_name() {}",
        "let tool_info = 1;",
        "mod utils;",
        "    helper: u32,",
    ] {
        assert_eq!(found("names", "core/src/a.rs", text), [1], "{text}");
    }
    assert_eq!(found("names", "a.py", "def get_name(): pass"), [1]);
    for text in [
        "fn get_prompt() {}",
        "user_data: *mut c_void,",
        "let metadata = file.metadata();",
        "// a helper, the data",
        "let text = \"manager: x\";",
        "x.process_group(0);",
        "use rmcp::model::ServerInfo;",
        "fn data(error: &Error) -> Value { error[\"data\"] }",
    ] {
        assert_eq!(found("names", "core/src/a.rs", text), NOTHING, "{text}");
    }
}

#[test]
fn a_test_with_a_prefix_is_found() {
    let text = "#[test]\nfn test_it() {}\n";
    assert_eq!(found("test names", "core/src/a.rs", text), [2]);
}

#[test]
fn a_clock_a_file_or_a_future_in_the_pure_crate_is_found() {
    let text = "let now = Instant::now();\nstd::fs::read(p);\nx.await;\nuse tokio::time;\n";
    assert_eq!(found("pure crate", "core/pool/src/a.rs", text), [1, 2, 3, 4]);
    assert_eq!(found("pure crate", "core/src/a.rs", text), NOTHING);
    let test = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\nuse std::io;\n";
    assert_eq!(found("pure crate", "core/pool/src/a.rs", test), [5]);
}

#[test]
fn unsafe_outside_its_folders_is_found() {
    let text = "// unsafe\nunsafe { x() }\n";
    assert_eq!(found("unsafe", "core/src/client/a.rs", text), [2]);
    assert_eq!(found("unsafe", "core/src/platform/a.rs", text), NOTHING);
    assert_eq!(found("unsafe", "core/pool/src/lib.rs", "//! Doc.\n"), [1]);
    assert_eq!(found("unsafe", "core/src/lib.rs", "#![deny(unsafe_code)]\n"), NOTHING);
}

#[test]
fn unsafe_without_its_reason_is_found() {
    assert_eq!(found("safety comments", "ffi/src/a.rs", "unsafe { x() }\n"), [1]);
    let documented = "// SAFETY: x is always fine.\nunsafe { x() }\n";
    assert_eq!(found("safety comments", "ffi/src/a.rs", documented), NOTHING);
}

#[test]
fn a_panic_outside_tests_is_found() {
    let text = "x.unwrap();\ny.expect(\"why\");\n#[cfg(test)]\nmod tests {\n    x.unwrap();\n}\n";
    assert_eq!(found("unwrap", "core/src/a.rs", text), [1]);
    assert_eq!(found("unwrap", "ffi/src/a.rs", text), [1, 2]);
    assert_eq!(found("unwrap", "core/tests/a.rs", text), NOTHING);
}

#[test]
fn unfinished_code_is_found() {
    let text = ["fn f() { to", "do!() }\nfn g() { db", "g!(1) }\n"].concat();
    assert_eq!(found("unfinished code", "core/src/a.rs", &text), [1, 2]);
}

/// SPEC 18.9.
#[test]
fn a_read_without_a_bound_is_found_in_what_is_published() {
    let text = "std::fs::read(p);\nfs::read_to_string(p);\nf.read_to_end(&mut b);\nf.read_line(&mut s);\nfs::read_dir(p);\n\
                f.read_until(b, &mut l);\nio::copy(f, t);\nf.take(9).read_until(b, &mut l);\no.take().read_to_end(&mut b);\n";
    for path in ["core/src/a.rs", "core/cli/src/a.rs", "core/supervisor/a.rs", "ffi/src/a.rs"] {
        assert_eq!(found("bounded reads", path, text), [1, 2, 3, 4, 6, 7, 9], "{path}");
    }
    for path in ["core/tests/a.rs", "tests/xtask/src/a.rs"] {
        assert_eq!(found("bounded reads", path, text), NOTHING, "{path}");
    }
    let test = "#[cfg(test)]\nmod tests {\n    fs::read(p);\n}\n";
    assert_eq!(found("bounded reads", "core/src/a.rs", test), NOTHING);
}

#[test]
fn a_napi_function_without_a_guard_is_found() {
    let text = "#[napi]\npub fn f() {}\n#[napi(catch_unwind)]\npub fn g() {}\n#[napi]\npub async fn h() {}\n#[napi(object)]\npub struct S;\n";
    assert_eq!(found("napi guard", "bindings/node/src/lib.rs", text), [1]);
    assert_eq!(found("napi guard", "core/src/lib.rs", text), NOTHING);
}

#[test]
fn a_function_that_c_calls_without_a_guard_is_found() {
    let bare = "pub unsafe extern \"C\" fn trunkline_f(\n    a: u32,\n) -> u32 {\n    g(a)\n}\n";
    assert_eq!(found("export guard", "ffi/src/a.rs", bare), [1]);
    assert_eq!(found("export guard", "core/src/a.rs", bare), NOTHING);
    let hands_on = format!("{bare}unsafe fn g(a: u32) -> u32 {{\n    guarded(0, || a)\n}}\n");
    assert_eq!(found("export guard", "ffi/src/a.rs", &hands_on), NOTHING);
    let trivial = "pub extern \"C\" fn trunkline_abi_version() -> u32 {\n    1\n}\n";
    assert_eq!(found("export guard", "ffi/src/a.rs", trivial), NOTHING);
    let form = "pub(crate) unsafe fn start(a: u32) {\n    begin(a)\n}\n";
    assert_eq!(found("export guard", "ffi/src/ops/forms.rs", form), [1]);
}

#[test]
fn a_skipped_test_is_found_in_each_language() {
    assert_eq!(found("skipped tests", "a.rs", &["#[ign", "ore]\nfn f() {}"].concat()), [1]);
    assert_eq!(found("skipped tests", "a.py", &["@pytest.mark.sk", "ip\n"].concat()), [1]);
    assert_eq!(found("skipped tests", "a.mjs", &["test.sk", "ip('x')"].concat()), [1]);
    assert_eq!(found("skipped tests", "a.rs", &["// #[ign", "ore] is banned"].concat()), NOTHING);
}

#[test]
fn a_path_of_a_machine_is_found_in_code_and_documents() {
    for folder in ["root", "work", "home", "Users"] {
        let text = format!("see /{folder}/someone/notes\n");
        assert_eq!(found("machine paths", "README.md", &text), [1]);
        assert_eq!(found("machine paths", "core/src/a.rs", &format!("// {text}")), [1]);
    }
    assert_eq!(found("machine paths", "README.md", "see target/work/x and ./root/y\n"), NOTHING);
}

#[test]
fn history_is_found() {
    let ticket = ["as iss", "ue 12 asks\n"].concat();
    assert_eq!(found("history", "docs/a.md", &ticket), [1]);
    let note = ["// FIX", "ME later\n"].concat();
    assert_eq!(found("history", "core/src/a.rs", &note), [1]);
    assert_eq!(found("history", "docs/a.md", "the tissue 12 cm long, an issue of time\n"), NOTHING);
}

#[test]
fn a_page_that_is_hard_to_read_is_found() {
    let long = "word ".repeat(26);
    let found_in = |text: &str| found("prose", "README.md", text);
    assert_eq!(found_in(&format!("Short. Shorter.\n\n{long}.\n")), [3]);
    assert_eq!(found_in(&format!("| a | b | {long} |\n")), [1]);
    assert_eq!(found_in("A host, of whom nothing is known.\n"), [1]);
    assert_eq!(found_in(&format!("{}.\n\nShort.\n", "word ".repeat(17))), [1]);
    assert_eq!(found_in(&"Four words stand here. ".repeat(376)), [1]);
    let longest = "word ".repeat(25);
    let plain = format!("{longest}.\n\nShort.\nA `{long}` and\n```text\n{long}\n```\n");
    assert_eq!(found_in(&plain), NOTHING);
    let long = format!("Short. Shorter.\n\n{long}.\n");
    assert_eq!(found("prose", "docs/guide/other.md", &long), [3]);
    assert_eq!(found("prose", "docs/reference/other.md", &long), NOTHING);
    assert_eq!(found("prose", "docs/reference/index.md", &long), [3]);
}

#[test]
fn a_comment_that_hides_its_subject_is_found() {
    let text = "// Whoever comes.\nlet noneof = 1;\n/// Is told of it, and none of\n/// them.\n";
    assert_eq!(found("turns", "core/src/a.rs", text), [1, 3, 3]);
    assert_eq!(found("turns", "tests/a.sh", text), NOTHING);
}

#[test]
fn a_rule_that_is_cited_and_not_in_the_specification_is_found() {
    let cited = |text: &str| found("citations", "core/src/a.rs", &text.replace('%', "SPEC"));
    assert_eq!(cited("/// % 4.7\n// % 99.1: no section\n/// % 4.99, 4.7\n"), [2, 3]);
    assert_eq!(cited("/// A rule of a section (%\n/// 4.99).\n// % 12 and % 23\n"), [1, 3]);
    assert_eq!(cited("/// % 4.7, 200 ms, and the ASPEC 99.1\n"), NOTHING);
    let protocol = ["// PROTO", "COL 1.2, PROTO", "COL 1.9\n"].concat();
    assert_eq!(found("citations", "core/src/a.rs", &protocol), [1]);
    let case = "{\"spec\": [\"3.6\", \"3.99\"]}";
    assert_eq!(found("citations", "tests/behaviour/a.json", case), [1]);
}

#[test]
fn messages_that_say_nothing_are_found_where_an_error_is_made() {
    let weak = |message: &str| {
        let plain = format!("    Error::new(ErrorCode::Io, \"{message}\")\n");
        let told = format!(
            "    Error::new(\n        ErrorCode::Io,\n        format!(\"{message}\"),\n    )\n"
        );
        let found_in = |text: &str| found("messages", "core/src/a.rs", text);
        assert_eq!(found_in(&plain), found_in(&told), "{message}");
        !found_in(&plain).is_empty()
    };
    for message in
        ["The server ended at once", "the file is away.", "invalid value given", "no server"]
    {
        assert!(weak(message), "{message}");
    }
    for message in ["the server ended before it answered", "`{path}` is not a folder"] {
        assert!(!weak(message), "{message}");
    }
    let elsewhere = "    Error::new(ErrorCode::Io, \"No\")\n";
    assert_eq!(found("messages", "tests/xtask/src/a.rs", elsewhere), NOTHING);
}
