//! Every page stands in the navigation of the site once, or in the list of its folder, and everything
//! there is a page.

use std::collections::BTreeMap;

use crate::page;

/// Pages of a package, shown where the package is: the site has what they say in other pages.
const OF_PACKAGES: [&str; 3] = ["bindings/", "core/", "ffi/"];

/// Folders whose pages stand in a list: the folder, and the page with the list.
const LISTED: [(&str, &str); 4] = [
    ("docs/adr/", "docs/adr/index.md"),
    ("docs/evidence/", "docs/evidence/index.md"),
    ("docs/guide/migrate/", "docs/guide/frameworks.md"),
    ("docs/spec/", "docs/spec/index.md"),
];

/// The index by reader, and the folders whose pages it has.
const INDEX: &str = "docs/index.md";
const INDEXED: [&str; 3] = ["docs/guide/", "docs/internals/", "docs/reference/"];

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
    let is_listed = |page: &&str| list_of(page).is_some();
    let wanted = pages.iter().map(String::as_str);
    let wanted = wanted.filter(|page| !is_of_a_package(page) && !is_listed(page));
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

/// The page that has to list this one.
fn list_of(page: &str) -> Option<&'static str> {
    let found = LISTED.iter().find(|(folder, _)| page.starts_with(folder));
    found.map(|(_, list)| *list).filter(|list| *list != page)
}

#[test]
fn a_page_of_a_listed_folder_is_in_its_list() {
    let pages = page::all();
    let mut found = Vec::new();
    let is_indexed = |path: &str| INDEXED.iter().any(|folder| path.starts_with(folder));
    for page in &pages {
        let index = is_indexed(&page.path).then_some(INDEX);
        let Some(list) = list_of(&page.path).or(index) else { continue };
        let list = pages.iter().find(|page| page.path == list).expect("the page with the list");
        let folder = list.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let leads_there = |(_, link): &(usize, String)| format!("{folder}/{link}") == page.path;
        if !list.links.iter().any(leads_there) {
            found.push(format!("{} is not in {}", page.path, list.path));
        }
    }
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
