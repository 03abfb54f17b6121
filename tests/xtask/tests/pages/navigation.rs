//! Every page stands in the navigation of the site once, and everything there is a page.

use std::collections::BTreeMap;

use crate::page;

/// Pages of a package, shown where the package is: the site has what they say in other pages.
const OF_PACKAGES: [&str; 3] = ["bindings/", "core/", "ffi/"];

/// What `cargo xtask docs` writes, and the navigation names beside the pages.
const MADE: [&str; 1] = ["docs/reference/c/index.html"];

#[test]
fn every_page_is_in_the_navigation_once() {
    let settings = crate::read("docs/mkdocs.yml");
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for target in targets(&settings) {
        *times.entry(target.to_owned()).or_default() += 1;
    }
    let pages: Vec<String> = page::all().into_iter().map(|page| page.path).collect();
    let is_of_a_package = |page: &&str| OF_PACKAGES.iter().any(|folder| page.starts_with(folder));
    let wanted = pages.iter().map(String::as_str).filter(|page| !is_of_a_package(page));
    let wanted: Vec<&str> = wanted.chain(MADE).collect();
    let mut found: Vec<String> = Vec::new();
    for page in &wanted {
        match times.get(*page) {
            None => found.push(format!("{page} is not in the navigation of docs/mkdocs.yml")),
            Some(1) => {}
            Some(_) => found.push(format!("{page} is there more than once")),
        }
    }
    let unknown = times.keys().filter(|target| !wanted.contains(&target.as_str()));
    found.extend(unknown.map(|target| format!("{target}: there is no such page")));
    crate::nothing(found);
}

/// What the entries behind `nav:` name, one in each line: `- Words: path`.
fn targets(settings: &str) -> impl Iterator<Item = &str> {
    let (_, navigation) = settings.split_once("\nnav:\n").expect("the settings have a navigation");
    let entries = navigation.lines().take_while(|line| line.starts_with(' '));
    entries.filter_map(|line| line.rsplit_once(": ")).map(|(_, target)| target.trim())
}

#[test]
fn groups_are_no_pages() {
    let settings =
        "a: b\nnav:\n  - Home: README.md\n  - More:\n      - One: docs/one.md\nother: c\n";
    assert_eq!(targets(settings).collect::<Vec<_>>(), ["README.md", "docs/one.md"]);
}
