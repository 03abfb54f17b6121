//! Small crates, with what is to be found in them.

use super::*;

fn sources(files: &[(&str, &str)]) -> Vec<Source> {
    files.iter().map(|(path, text)| Source::new(&format!("a/src/{path}"), text)).collect()
}

/// The arrows of a crate, as `from to` for what is needed and `from (to)` for doors.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let sources = sources(files);
    let graph = Graph::new(&sources.iter().collect::<Vec<_>>(), "a/src/lib.rs");
    let short = |path: &str| path["a/src/".len()..path.len() - ".rs".len()].to_string();
    let shown = |((from, to), (kind, _)): (&(&str, &str), &(Kind, String))| match kind {
        Kind::Need => format!("{} {}", short(from), short(to)),
        Kind::Door => format!("{} ({})", short(from), short(to)),
    };
    graph.arrows().iter().map(shown).collect()
}

#[test]
fn a_reexported_name_leads_to_the_file_that_defines_it() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use a::{Deep as Named, inner::{self}};"),
        ("a/mod.rs", "pub mod inner; pub(crate) use self::inner::Deep; pub fn own() {}"),
        ("a/inner.rs", "pub struct Deep; pub fn other() {}"),
        ("b.rs", "use crate::Named; fn f() { crate::inner::other(); }"),
        ("c.rs", "use crate::a; fn f() { a::own(); }"),
    ];
    let found = ["a/mod (a/inner)", "b a/inner", "c a/mod", "lib (a/inner)"];
    assert_eq!(arrows(&files), found);
}

#[test]
fn paths_are_found_wherever_they_stand() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "pub struct T; pub fn f() {} impl T { fn c(&self) {} }"),
        (
            "b/mod.rs",
            "mod deep { pub(in crate::b) fn g() { super::super::a::f(); } } mod x; mod y;",
        ),
        ("b/x.rs", "fn g() { assert!(x == Vec::<crate::a::T>::new()); }"),
        ("b/y.rs", "use super::super::c::*; fn h(x: Thing, s: &str) { x.a::<u8>(); s.f() }"),
        ("c.rs", "pub struct Thing; pub enum Else {} // crate::a::T\nfn f() { \"crate::a::T\"; }"),
    ];
    assert_eq!(arrows(&files), ["b/mod a", "b/x a", "b/y c"]);
}

#[test]
fn tests_need_what_they_like_and_a_module_may_have_two_files() {
    let root = "#[cfg(x)]\nmod a;\n#[cfg(not(x))]\n#[path = \"a/none.rs\"]\nmod a;\n\
                mod b;\nmod c;\n#[cfg_attr(windows, path = \"d/windows.rs\")]\nmod d;\n";
    let made = "pub(in crate::b) use crate::made_by_a_macro; use std::io; fn f() -> io::Error {}";
    let files = [
        ("lib.rs", root),
        ("a/mod.rs", "pub struct T;\n#[cfg(test)]\nmod tests { use crate::b::U; }\n"),
        ("a/none.rs", "pub struct T;\n#[cfg(all(test, unix))]\npub use crate::b::U;\n"),
        ("b.rs", "pub struct U; use crate::a::T;"),
        ("c.rs", made),
        ("d.rs", "pub fn g() -> crate::b::U {}"),
        ("d/windows.rs", "pub fn g() -> crate::b::U { g() }"),
    ];
    let found = ["b a/mod", "b a/none", "c (b)", "c (lib)", "d b", "d/windows b"];
    assert_eq!(arrows(&files), found);
}

#[test]
fn arrows_that_climb_and_circles_are_told_with_what_makes_them() {
    let files = sources(&[
        ("lib.rs", "mod low; mod high;"),
        ("low/mod.rs", "pub mod x; pub struct T; fn f() { x::g(); }"),
        ("low/x.rs", "use super::T; pub fn g() { crate::high::h() }"),
        ("high.rs", "pub fn h() { crate::low::x::g() } pub use crate::low::T;"),
    ]);
    let graph = Graph::new(&files.iter().collect::<Vec<_>>(), "a/src/lib.rs");
    let files = |files: &[&str]| json!({ "owns": "it", "files": files });
    let (low, high, lib) = (files(&["low/"]), files(&["high.rs", "low/x.rs"]), files(&["lib.rs"]));
    let table = json!({ "low": low, "high": high, "lib": lib });
    let reached = graph.files().collect();
    let rooms = rooms_of("a/src/", table.as_object().unwrap(), &reached);
    let climbs = upward(&graph.arrows(), &rooms);
    assert_eq!(climbs.len(), 1);
    assert_eq!(climbs[0].key, "a/src/low/mod.rs -> a/src/low/x.rs");
    assert_eq!(climbs[0].how, "room low -> room high, by `x::g`");
    let circles = circles(&graph.arrows());
    assert!(circles.iter().all(|of| of.count == 3 && of.how.contains("high.rs")));
    assert_eq!(circles.len(), 3);
}

#[test]
fn lists_are_held_in_both_directions() {
    let allowed = json!({"names": {"a": 1, "b": 2, "c": 1}});
    let allowed = serde_json::from_value(allowed).unwrap();
    let found = Breaches::from([("names", vec![breach("a", 2, ""), breach("b", 1, "")])]);
    let (grown, shrunk) = compare(&found, &allowed);
    assert_eq!(grown, ["names: a: 2 where 1 is listed ()"]);
    assert_eq!(shrunk, ["names: b: 1 where 2 is listed ()", "names: c: none is left"]);
}

#[test]
fn names_sizes_questions_and_comments_are_counted() {
    let file = Source::new(
        "a/src/told.rs",
        "fn is_a(&mut self) -> bool {}\nfn has_b(&self) -> Option<bool> {}\n\
         fn is_c(d: [u8; 2]) -> bool {}\nfn is_e();\n",
    );
    let keys = |of: Vec<Breach>| of.into_iter().map(|of| of.key).collect::<Vec<_>>();
    let asking = ["is_a", "has_b", "is_e"].map(|name| format!("a/src/told.rs fn {name}"));
    assert_eq!(keys(questions(&file)), asking);
    let paths = BTreeSet::from(["a/src/told.rs", "a/src/kept/mod.rs", "a/src/lib.rs"]);
    let found = keys(named(&paths, &json!(["told", "kept"])));
    assert_eq!(found, ["a/src/kept/mod.rs", "a/src/told.rs"]);
    let sizes = ["a/src: loose files", "a/src/kept: files too few"];
    assert_eq!(keys(folders("a/src", &paths)), sizes);
    let wide = format!("// {}\n// x\n", "x".repeat(98));
    assert_eq!(wide_comments(&Source::new("a/src/b.rs", &wide)).unwrap().count, 1);
    let row = format!("//! | {0}\n//! ```\n//! {0}\n//! ```\n// `{0}`\n", "x".repeat(98));
    assert!(wide_comments(&Source::new("a/src/b.rs", &row)).is_none());
    let types = ["Error", "Place", "State"].map(|name| [name; 2]).concat();
    let files = ["a", "b"].into_iter().cycle();
    let named = |(name, file)| TypeName { name, file, is_public: false };
    let types: Vec<_> = types.into_iter().zip(files).map(named).collect();
    assert_eq!(keys(homonyms("a/src", &types, &[])), ["a/src Place"]);
}

#[test]
fn what_a_system_chooses_between_is_one_type() {
    let root = "mod a; mod b;\n#[cfg(unix)]\npub use a::{Pipe, Part};\n\
                #[cfg(windows)]\npub use b::{Pipe, Part};\nmod c;\n\
                #[cfg_attr(windows, path = \"d/windows.rs\")]\nmod d;\n\
                fn f() { use a::Own; }\nfn g() { use b::Own; }\n";
    let files = sources(&[
        ("lib.rs", root),
        ("a.rs", "pub struct Pipe; pub struct Part; pub struct Own;"),
        ("b.rs", "pub struct Pipe; pub struct Part; pub struct Own;"),
        ("c.rs", "pub struct Part;"),
        ("d.rs", "pub struct Bell;"),
        ("d/windows.rs", "pub struct Bell;"),
    ]);
    let graph = Graph::new(&files.iter().collect::<Vec<_>>(), "a/src/lib.rs");
    let found = homonyms("a/src", &graph.types, &graph.twins());
    let told: Vec<_> = found.into_iter().map(|of| format!("{} {}", of.key, of.how)).collect();
    let own = "a/src Own a/src/a.rs, a/src/b.rs";
    assert_eq!(told, [own, "a/src Part a/src/a.rs, a/src/c.rs"]);
}
