//! Files that are read again: what is written the same is what it was, and stands where it stands
//! now.

use trunkline_pool::settings::{ReadOptions, Source, Template, read, read_again};
use trunkline_pool::{ErrorCode, Result};

use crate::golden::files;
use crate::hostile::{Random, mutant};

/// Texts that follow each golden file.
const MUTANTS: u64 = 100;

fn options() -> ReadOptions {
    ReadOptions { workspace: Some("/srv/project".into()), ..ReadOptions::default() }
}

fn template<'a>(source: &'a Source, name: &str) -> Option<&'a Template> {
    source.servers.iter().find(|server| server.name == name)?.template.as_ref().ok()
}

/// All that can be told of what was read, places and all.
fn told(read: &Result<Source>) -> String {
    let mut out = format!("{read:?}");
    for server in read.iter().flat_map(|source| &source.servers) {
        let Ok(template) = &server.template else { continue };
        out += &format!("{:?} {:?}", template.configuration(), template.env_file());
        let paths = template.configuration().iter().flat_map(|(field, value)| {
            let parts = value.as_object().into_iter().flatten();
            parts.map(move |(part, _)| format!("{field}.{part}")).chain([field.clone()])
        });
        for path in paths.chain(["args[1]".into(), "args[0]".into(), String::new()]) {
            let error = template.error(ErrorCode::InvalidConfig, &path, &format!("`{path}`"));
            out += &format!("{error} {:?}", error.detail());
        }
    }
    out
}

/// Reads a text after another, and how much of that was taken over.
fn after(earlier: &Source, text: &str, name: &str) -> (Result<Source>, usize) {
    let before = |server: &str| template(earlier, server).cloned();
    let read = read_again(text, name, &options(), &before);
    let servers = read.iter().flat_map(|source| &source.servers);
    let is_kept = |name: &str, now: &Template| {
        template(earlier, name).is_some_and(|was| std::ptr::eq(was.unexpanded(), now.unexpanded()))
    };
    let kept = servers.filter(|one| one.template.as_ref().is_ok_and(|now| is_kept(&one.name, now)));
    let kept = kept.count();
    (read, kept)
}

/// SPEC 10.9, 13.5: what a file was before says nothing of what it is read as.
#[test]
fn a_file_is_read_as_if_nothing_had_been_read_before() {
    let (mut kept, mut others) = (0, 0);
    for (number, (name, text)) in files().iter().enumerate() {
        let mut earlier = read(text, name, &options()).ok();
        for seed in 0..MUTANTS {
            let mut random = Random(number as u64 * MUTANTS + seed);
            let text = mutant(text, &mut random);
            let once = read(&text, name, &options());
            if let Some(earlier) = &earlier {
                let (again, same) = after(earlier, &text, name);
                assert_eq!(told(&again), told(&once), "{name} {seed}: {text}");
                kept += same;
                others += once.as_ref().map_or(0, |source| source.servers.len()) - same;
            }
            earlier = once.ok().or(earlier);
        }
    }
    assert!(kept > 200 && others > 200, "{kept} were taken over, {others} were not");
}

/// SPEC 10.9: an entry that moved is not read anew, and an error about it says where it stands.
#[test]
fn what_moved_is_taken_over_with_its_new_place() {
    let file = |before: &str, between: &str| {
        format!(
            "{{\"mcpServers\": {{{before}\"a\":{between}{{\"command\": \"x\",\n \"wrong\": 1,\n  \
             \"env\": {{\"A\": \"${{A}}\"}}}}}}}}"
        )
    };
    let earlier = read(&file("", " "), "x.json", &options()).unwrap();
    for (before, between) in [
        ("", " "),
        ("\n\n", " "),
        ("/* é */", " "),
        ("", "\n   "),
        ("\"b\": {\"command\": \"y\"},", ""),
    ] {
        let text = file(before, between);
        let (again, kept) = after(&earlier, &text, "x.json");
        assert_eq!(kept, 1, "{text}");
        assert_eq!(told(&again), told(&read(&text, "x.json", &options())), "{text}");
    }
}

/// What else decides what an entry is read as: whose file it is, its name, how deep it lies.
#[test]
fn another_file_or_product_is_read_anew() {
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"timeout\": 30}}}";
    let earlier = read(text, "mcp.json", &options()).unwrap();
    assert_eq!(after(&earlier, text, "mcp.json").1, 1);
    for name in ["other.json", ".roo/mcp.json"] {
        let (again, kept) = after(&earlier, text, name);
        assert_eq!(kept, 0, "{name}");
        assert_eq!(told(&again), told(&read(text, name, &options())));
    }
}
