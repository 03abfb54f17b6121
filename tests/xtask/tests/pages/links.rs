//! Links of pages lead to files and headings that are there.

use std::collections::BTreeMap;

use crate::page::{self, Page};

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let pages = page::all();
    assert!(pages.len() > 40, "only {} pages were found", pages.len());
    crate::nothing(broken(&pages, |path| crate::root().join(path).is_file()));
}

#[test]
fn a_missing_file_a_folder_and_a_missing_heading_are_found() {
    let there = Page::new("docs/b.md", "# Here, and there\n# Twice & once\n");
    let links = ["b.md", "../docs/b.md#here-and-there", "#top", "https://a.example/x"];
    let broken_ones = ["c.md", "../../b.md", "b.md#away", "#away", "b.md#twice--once", "folder"];
    let text = |links: &[&str]| {
        let links = links.iter().map(|link| format!("[x]({link})\n"));
        format!("# Top\n{}", links.collect::<String>())
    };
    let is_file = |path: &str| path == "docs/a.md" || path == "docs/b.md";
    let found = |links: &[&str]| {
        let page = Page::new("docs/a.md", &text(links));
        let other = Page::new("docs/b.md", "# Here, and there\n# Twice & once\n");
        broken(&[page, other], is_file)
    };
    assert_eq!(there.anchors.len(), 2);
    assert_eq!(found(&links), Vec::<String>::new());
    assert_eq!(found(&broken_ones).len(), broken_ones.len(), "{:?}", found(&broken_ones));
}

/// The links that lead nowhere. A heading counts where its anchor is the same in the repository and
/// on the site.
fn broken(pages: &[Page], is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let by_path: BTreeMap<&str, &Page> = pages.iter().map(|page| (&*page.path, page)).collect();
    let mut found = Vec::new();
    for page in pages {
        for (line, link) in &page.links {
            if let Some(why) = wrong(page, link, &by_path, &is_file) {
                found.push(format!("{}:{line}: {link}: {why}", page.path));
            }
        }
    }
    found
}

fn wrong(
    page: &Page,
    link: &str,
    pages: &BTreeMap<&str, &Page>,
    is_file: &impl Fn(&str) -> bool,
) -> Option<&'static str> {
    if ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
    let Some(path) = resolved(&page.path, target) else { return Some("outside of the repository") };
    if !is_file(&path) {
        return Some("no such file");
    }
    let is_known = |page: &&Page| page.anchors.iter().any(|both| both.iter().all(|a| a == anchor));
    match pages.get(&*path) {
        Some(page) if !anchor.is_empty() && !is_known(page) => {
            Some("no such heading, or one whose anchor differs on the site")
        }
        _ => None,
    }
}

/// The path in the repository that a link of a page means.
fn resolved(page: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
