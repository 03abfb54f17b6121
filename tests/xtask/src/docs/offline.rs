//! Whether a page of the site loads anything from another place than the site.

use std::io;
use std::path::Path;

/// What pages load from elsewhere, each as page and address; links that a reader may follow do not
/// count.
pub fn loads_from_elsewhere(site: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![site.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
                let page = path.strip_prefix(site).unwrap_or(&path).display();
                found.extend(loaded(&text).map(|address| format!("{page}: {address}")));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Addresses of other hosts in the tags that load what they name.
fn loaded(html: &str) -> impl Iterator<Item = &str> {
    let tags = html.split('<').skip(1).filter_map(|rest| rest.split('>').next());
    let loading = tags.filter(|tag| {
        let name = tag.split_whitespace().next().unwrap_or_default();
        matches!(name, "script" | "img" | "iframe" | "source" | "link" | "object" | "embed")
            && !tag.contains("rel=\"canonical\"")
    });
    loading.filter_map(|tag| {
        let address = ["src=\"", "href=\"", "data=\""]
            .iter()
            .find_map(|attribute| tag.split_once(attribute))?
            .1
            .split('"')
            .next()?;
        ["http:", "https:", "//"].iter().any(|from| address.starts_with(from)).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::loaded;

    #[test]
    fn what_a_tag_loads_counts_and_what_a_reader_may_follow_does_not() {
        let html = r#"<script src="https://cdn.example/a.js"></script><a href="https://b.example">b</a>
            <link rel="stylesheet" href="//fonts.example/c.css"><img src="../d.svg"><script src="e.js">"#;
        let found: Vec<&str> = loaded(html).collect();
        assert_eq!(found, ["https://cdn.example/a.js", "//fonts.example/c.css"]);
    }
}
