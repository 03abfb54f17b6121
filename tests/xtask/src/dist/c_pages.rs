//! What the archive for C carries beside the library: the documentation, and the programs of its
//! pages.

use std::path::{Component, Path, PathBuf};

use super::{Dist, copy, failed};
use crate::machine::write;
use crate::run::{Run, Stop};

/// Copies the pages. A link to what is not carried is its text alone.
pub fn pages(dist: &Dist, run: &mut Run, folder: &Path) -> Result<(), Stop> {
    let root = &dist.machine.root;
    let mut git = dist.machine.command("git");
    let listed = run.carry_out(git.args(["ls-files", "--", "docs/guide", "docs/reference"]))?;
    for path in listed.lines().filter(|path| path.ends_with(".md")) {
        let page = std::fs::read_to_string(root.join(path))
            .map_err(|error| failed(Path::new(path), &error))?;
        let to = folder.join(path);
        std::fs::create_dir_all(to.parent().unwrap_or(folder))
            .map_err(|error| failed(&to, &error))?;
        write(&to, &with_links(&page, Path::new(path)))?;
    }
    Ok(())
}

/// Writes the programs of the pages, and those of hosts.
pub fn examples(dist: &Dist, folder: &Path) -> Result<(), Stop> {
    super::emptied(folder)?;
    for (page, names) in EXAMPLES {
        let path = dist.machine.root.join(page);
        let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
        let programs = programs(&text);
        if programs.len() != names.len() {
            let why = format!("{page} has {} programs, and {} names", programs.len(), names.len());
            return Err(Stop::Failed(why));
        }
        for (name, program) in names.iter().zip(programs) {
            write(&folder.join(name), &format!("{program}\n"))?;
        }
    }
    for host in ["loop.c", "engine.cpp"] {
        copy(&dist.machine.root.join("tests/c").join(host), &folder.join(host))?;
    }
    copy(&dist.machine.root.join("ffi/dist/examples.mk"), &folder.join("Makefile"))
}

/// The programs of C and C++ of a page, in their order.
fn programs(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```").skip(1).step_by(2);
    let programs = blocks.filter_map(|block| block.split_once('\n'));
    programs.filter(|(language, _)| ["c", "cpp"].contains(language)).map(|(_, text)| text).collect()
}

/// The page with the links alone that work where only [`CARRIED`] is.
fn with_links(page: &str, path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("](") {
        out.push_str(before);
        let target = after.split([')', '#', ' ']).next().unwrap_or_default();
        let to = normal(&folder.join(target));
        let is_elsewhere = target.is_empty() || target.contains("://");
        match (out.rfind('['), after.split_once(')')) {
            (Some(begin), Some((_, end)))
                if !is_elsewhere && !CARRIED.iter().any(|carried| to.starts_with(carried)) =>
            {
                out.remove(begin);
                rest = end;
            }
            _ => {
                out.push_str("](");
                rest = after;
            }
        }
    }
    out + rest
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// What the archive has of what pages lead to.
const CARRIED: [&str; 3] = ["docs/guide", "docs/reference", "include"];

/// The programs of each page, by the names of their files.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("docs/guide/quickstart/c.md", &["first.c"]),
    ("docs/guide/quickstart/cpp.md", &["first.cpp"]),
    ("docs/guide/c.md", &["call.c", "calls.cpp", "budget.cpp"]),
    ("docs/guide/c-forms.md", &["queue.c", "forms.cpp", "coroutine.cpp"]),
    (
        "docs/guide/c-sessions.md",
        &["two_sessions.c", "quarantine.c", "lazy_server.c", "approval.c"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_what_is_not_carried_is_its_text() {
        let page = "[a](../c.md#x) [b](../../../README.md) [c](https://x.y/z) [d](#e) [`f`](../../internals/reap.md#g).";
        let with = with_links(page, Path::new("docs/guide/quickstart/c.md"));
        assert_eq!(with, "[a](../c.md#x) b [c](https://x.y/z) [d](#e) `f`.");
    }

    #[test]
    fn the_programs_of_a_page_are_those_of_c() {
        let page =
            "# A\n\n```sh\nx\n```\n\n```c\nint one;\n\nint two;\n```\n\n```cpp\nthree\n```\n";
        assert_eq!(programs(page), ["int one;\n\nint two;", "three"]);
    }

    #[test]
    fn every_program_of_the_pages_has_a_name() {
        let machine = crate::machine::Machine::new(crate::machine::Reach::Default).unwrap();
        for (page, names) in EXAMPLES {
            let text = std::fs::read_to_string(machine.root.join(page)).unwrap();
            assert_eq!(programs(&text).len(), names.len(), "{page}");
        }
    }
}
