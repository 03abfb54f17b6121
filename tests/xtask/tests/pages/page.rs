//! A page as the rules see it: its headings, its links, its blocks of code.

use std::process::Command;

/// One page of the repository.
pub struct Page {
    /// Its path in the repository.
    pub path: String,
    /// Anchors of its headings, as the repository's viewer makes them and as the site does.
    pub anchors: Vec<[String; 2]>,
    /// Where its links lead, as they are written, with the line.
    pub links: Vec<(usize, String)>,
    pub blocks: Vec<Block>,
}

/// A fenced block of code.
pub struct Block {
    pub line: usize,
    /// The word behind the fence; may be empty.
    pub language: String,
    pub text: String,
}

/// Every page that git knows or would know.
pub fn all() -> Vec<Page> {
    let args = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
    let listed = Command::new("git").args(args).current_dir(super::root()).output().unwrap();
    assert!(listed.status.success(), "git ls-files failed");
    let paths = String::from_utf8(listed.stdout).unwrap();
    let is_there = |path: &&str| super::root().join(path).is_file();
    paths.lines().filter(is_there).map(|path| Page::new(path, &super::read(path))).collect()
}

impl Page {
    pub fn new(path: &str, text: &str) -> Page {
        let (mut anchors, mut links, mut blocks) = (Vec::new(), Vec::new(), Vec::<Block>::new());
        let mut fence: Option<&str> = None;
        for (at, line) in text.lines().enumerate() {
            let line_number = at + 1;
            let marked = line.trim_start();
            match fence {
                Some(open) if marked.starts_with(open) && marked.trim_matches('`').is_empty() => {
                    fence = None;
                }
                Some(_) => {
                    let block = blocks.last_mut().expect("a fence opened it");
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                None if marked.starts_with("```") => {
                    let (open, language) =
                        marked.split_at(marked.len() - marked.trim_start_matches('`').len());
                    fence = Some(open);
                    let (language, text) = (language.trim().to_owned(), String::new());
                    blocks.push(Block { line: line_number, language, text });
                }
                None => {
                    if let Some(heading) = heading(line) {
                        anchors.push([viewer_anchor(&heading), site_anchor(&heading)]);
                    }
                    links.extend(links_in(line).map(|link| (line_number, link)));
                }
            }
        }
        assert!(fence.is_none(), "{path}: a block of code is not closed");
        Page { path: path.to_owned(), anchors, links, blocks }
    }
}

/// The text of a heading as a reader sees it.
fn heading(line: &str) -> Option<String> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if !(1..=6).contains(&level) || !text.starts_with(' ') {
        return None;
    }
    let mut seen = String::new();
    let mut rest = text.trim();
    // Of a link its words are seen.
    while let Some((before, link)) = rest.split_once('[') {
        let Some((words, after)) = link.split_once("](") else { break };
        seen.push_str(before);
        seen.push_str(words);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    seen.push_str(rest);
    Some(seen.replace(['`', '*'], ""))
}

/// As the viewer of the repository writes it: each blank is a hyphen.
fn viewer_anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// As the site's generator does: blanks and hyphens that follow each other are one.
fn site_anchor(heading: &str) -> String {
    let anchor = viewer_anchor(heading);
    let parts: Vec<&str> = anchor.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// Where the links of a line lead; what stands in backticks is no link.
fn links_in(line: &str) -> impl Iterator<Item = String> {
    let mut text = String::new();
    for (number, part) in line.split('`').enumerate() {
        text.push_str(if number % 2 == 0 { part } else { "code" });
    }
    let targets: Vec<String> = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split(' ').next().unwrap_or_default().to_owned())
        .collect();
    targets.into_iter()
}

#[test]
fn a_page_is_read_as_it_is_shown() {
    let text = "# `a`, b & [c](d.md)\n[x](y.md#z) `[no](link)` ![p](p.svg \"t\")\n```js\n# no\n[n](n)\n```\n```\n```\n";
    let page = Page::new("p.md", text);
    assert_eq!(page.anchors, [["a-b--c".to_owned(), "a-b-c".to_owned()]]);
    let links: Vec<&str> = page.links.iter().map(|(_, link)| link.as_str()).collect();
    assert_eq!(links, ["d.md", "y.md#z", "p.svg"]);
    let blocks: Vec<_> = page.blocks.iter().map(|b| (b.line, &*b.language, &*b.text)).collect();
    assert_eq!(blocks, [(3, "js", "# no\n[n](n)\n"), (7, "", "")]);
}
