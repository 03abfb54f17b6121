//! Whose metadata a document is, and which names are public.

use url::Url;

use crate::oauth::{is_public_name, is_resource_of};

/// SPEC 18.7: the entry's address, that with or without one final slash, or a parent path of the
/// same origin.
#[test]
fn a_document_is_of_the_entry_or_of_what_it_is_below() {
    for (entry, written) in [
        ("https://h/mcp", "https://h/mcp"),
        ("https://h/mcp", "https://h/mcp/"),
        ("https://h/mcp/", "https://h/mcp"),
        ("https://h/mcp/", "https://h/mcp/"),
        ("https://h/mcp", "https://h"),
        ("https://h/mcp", "https://h/"),
        ("https://h/mcp", "https://H/mcp"),
        ("https://h/mcp", "HTTPS://H:443/mcp"),
        ("https://h/a/b/mcp", "https://h/a"),
        ("https://h/a/b/mcp", "https://h/a/"),
        ("https://h/a/b/mcp", "https://h/a/b/"),
        ("https://h", "https://h/"),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:1"),
    ] {
        assert!(is_resource_of(&Url::parse(entry).unwrap(), written), "{entry} {written}");
    }
    for (entry, written) in [
        ("https://h/mcp", "https://evil/mcp"),
        ("https://h/mcp", "http://h/mcp"),
        ("https://h/mcp", "https://h:8443/mcp"),
        ("https://h/mcp", "https://h/api"),
        ("https://h/mcp", "https://h/mc"),
        ("https://h/mcp", "https://h/mcp2"),
        ("https://h/mcp", "https://h/mcp/deeper"),
        ("https://h/mcp", "https://h/mcp//"),
        ("https://h/mcp", "https://h/mcp/../api"),
        ("https://h/mcp", "https://h/MCP"),
        ("https://h/mcp", "https://h/mcp?x"),
        ("https://h/mcp", "https://h/mcp?"),
        ("https://h/mcp", "https://h/mcp#x"),
        ("https://h/mcp", "https://u@h/mcp"),
        ("https://h/mcp", "https://u:p@h/mcp"),
        ("https://h/mcp", "https://h.evil/mcp"),
        ("https://h/mcp", "https://h./mcp"),
        ("https://h/mcp", "https://h/mc\tp"),
        ("https://h/mcp", " https://h/mcp"),
        ("https://h/mcp", "https:\\\\h\\mcp"),
        ("https://h/mcp", "urn:h:mcp"),
        ("https://h/mcp", "/mcp"),
        ("https://h/mcp", ""),
    ] {
        assert!(!is_resource_of(&Url::parse(entry).unwrap(), written), "{entry} {written}");
    }
}

/// SPEC 18.7, S-31: what a proxy resolves is judged by its name.
#[test]
fn names_of_this_machine_and_its_network_are_no_public_ones() {
    for name in [
        "example.com",
        "a.b.example",
        "localhost.example.com",
        "xn--exmple-cua.com",
        "Example.COM.",
    ] {
        assert!(is_public_name(name), "{name}");
    }
    for name in [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "a.localhost.",
        "localhost.localdomain",
        "printer.local",
        "printer.LOCAL.",
        "metadata.google.internal",
        "vault.internal.",
        "nas.home.arpa",
        "home.arpa",
        "intranet",
        "intranet.",
        "metadata",
        "metadata.goog",
        "metadata.tencentyun.com",
        "a..example",
        ".example.com",
        "example.com..",
        "",
        ".",
    ] {
        assert!(!is_public_name(name), "{name}");
    }
}
