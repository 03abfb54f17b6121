//! Addresses that must not be reached or shown, as tables.

use std::net::{IpAddr, SocketAddr};

use reqwest::Url;

use super::{Author, Guard, Way, admitted, is_public};

/// A guard of a configuration that names an address of its own.
fn of(home: &str, author: Author) -> Guard {
    let configured = ["https://10.1.1.1/token", "https://login.example"];
    let configured = configured.map(|url| Url::parse(url).unwrap()).to_vec();
    Guard::new(Url::parse(home).unwrap(), configured, Way::Person, author)
}

fn guard(home: &str) -> Guard {
    of(home, Author::Host)
}

/// S-30: other schemes, words for a shell, and what a parser would mend.
#[test]
fn only_plain_addresses_of_https_are_shown_to_a_person() {
    assert!(REFUSED.len() >= 60, "{}", REFUSED.len());
    let guard = guard("https://server.example/mcp");
    for url in REFUSED {
        assert!(guard.check_endpoint(url, "it").is_err(), "{url:?}");
    }
    for url in [
        "https://example.com/a?b=c&d=%20",
        "https://example.com:8443/",
        "https://xn--exmple-cua.com/",
        "https://8.8.8.8/a",
    ] {
        guard.check_endpoint(url, "it").unwrap();
    }
}

/// S-31: of the server's own machine, network, or of nobody.
#[test]
fn addresses_that_are_not_public_are_known() {
    let refused = [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.9.9.9",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::ffff:8.8.8.8",
        "::10.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:a00:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ];
    for address in refused {
        assert!(!is_public(address.parse::<IpAddr>().unwrap()), "{address}");
    }
    for address in [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "2606:4700::1",
        "2a00::1",
    ] {
        assert!(is_public(address.parse::<IpAddr>().unwrap()), "{address}");
    }
}

/// S-31: a name that leads to both kinds of address is made to, and one that leads to this machine
/// counts only from this machine.
#[test]
fn what_a_name_leads_to_is_admitted_whole_or_not_at_all() {
    let addresses = |texts: &[&str]| -> Vec<SocketAddr> {
        texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect()
    };
    let admits = |texts: &[&str], loopback| admitted(addresses(texts), loopback).is_ok();
    assert!(admits(&["8.8.8.8", "2606:4700::1"], false));
    assert!(!admits(&["8.8.8.8", "10.0.0.1"], false));
    assert!(!admits(&["8.8.8.8", "10.0.0.1"], true));
    assert!(!admits(&["127.0.0.1"], false));
    assert!(admits(&["127.0.0.1", "::1"], true));
    assert!(admits(&["::ffff:127.0.0.1"], true));
}

/// S-31: a server may name others of its machine only when it is on this one; what is configured
/// may be anywhere.
#[test]
fn a_server_elsewhere_names_nothing_on_this_machine() {
    let near = [
        "http://localhost:1/a",
        "http://127.0.0.1:1/a",
        "http://[::1]:1/a",
        "http://x.localhost/a",
    ];
    for url in near {
        guard("http://127.0.0.1:9/mcp").check_endpoint(url, "it").unwrap();
        assert!(guard("https://server.example/mcp").check_endpoint(url, "it").is_err(), "{url}");
    }
    let elsewhere = guard("https://server.example/mcp");
    elsewhere.check_endpoint("https://10.1.1.1/other", "it").unwrap();
    assert!(elsewhere.check_endpoint("https://10.1.1.2/token", "it").is_err());
    assert!(
        guard("http://server.example/mcp").check_endpoint("http://server.example/a", "it").is_err()
    );
}

/// SPEC 12.9, S-31: a source whose servers need approval reaches its server's origin and what is
/// public, whatever else it names.
#[test]
fn a_source_names_nothing_that_is_not_public() {
    for (home, url, is_of_host, is_of_source) in [
        ("https://server.example/mcp", "https://10.1.1.1/token", true, false),
        ("https://server.example/mcp", "https://login.example/token", true, true),
        ("https://10.2.2.2/mcp", "https://10.2.2.2/token", true, true),
        ("https://10.2.2.2/mcp", "https://10.2.2.2:8443/token", false, false),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:1/token", true, true),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/token", true, false),
        ("http://127.0.0.1:1/mcp", "https://localhost:2/token", true, true),
    ] {
        let may = |author| of(home, author).check_endpoint(url, "it").is_ok();
        let found = (may(Author::Host), may(Author::Source));
        assert_eq!(found, (is_of_host, is_of_source), "{home} {url}");
    }
    let admits = |author| of("http://127.0.0.1:1/mcp", author).admits_loopback();
    assert!(
        admits(Author::Host) && !admits(Author::Source),
        "names are judged by what they lead to"
    );
}

/// SPEC 18.7, S-31: what a proxy is asked for is judged as a name; for a source it is what the
/// approval showed.
#[test]
fn what_a_proxy_is_asked_for_is_judged_by_its_name() {
    for (url, is_of_host, is_of_source) in [
        ("https://server.example/x", true, true),
        ("https://login.example/token", true, true),
        ("https://elsewhere.example/token", true, false),
        ("https://login.corp.internal/token", false, false),
        ("https://printer.local./token", false, false),
        ("https://intranet/token", false, false),
        ("https://localhost/token", false, false),
        ("https://a.localhost./token", false, false),
        ("https://nas.home.arpa/token", false, false),
        ("https://metadata.google.internal/x", false, false),
    ] {
        let url = Url::parse(url).unwrap();
        let may = |author| of("https://server.example/mcp", author).check_proxied(&url).is_ok();
        assert_eq!((may(Author::Host), may(Author::Source)), (is_of_host, is_of_source), "{url}");
    }
    // Every form of an address is one, proxy or none.
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "１２７.0.0.1",
        "[::ffff:10.0.0.1]",
        "[::1]",
        "10.1",
    ] {
        let url = format!("https://{host}/token");
        let refused = of("https://server.example/mcp", Author::Host).check_endpoint(&url, "it");
        assert!(refused.is_err(), "{url}");
    }
}

/// What a hostile authorization server may call the address to sign in at.
const REFUSED: &[&str] = &[
    "",
    " ",
    "x",
    "--help",
    "-a",
    "//example.com",
    "/authorize",
    "example.com/a",
    "https://",
    "https:///a",
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,a",
    "data:text/html;base64,aa",
    "file:///etc/passwd",
    "file://host/share",
    "vbscript:a",
    "about:blank",
    "blob:https://example.com/a",
    "view-source:https://example.com",
    "ftp://example.com/a",
    "ws://example.com/a",
    "wss://example.com/a",
    "ssh://example.com",
    "vscode://a",
    "ms-settings:privacy",
    "shell:startup",
    "calc:",
    "mailto:a@example.com",
    "tel:1",
    "intent://a#Intent;end",
    "chrome://settings",
    "jar:https://example.com!/a",
    "http://example.com/a",
    "http://example.com:443/a",
    "https://user@example.com/a",
    "https://user:pw@example.com/a",
    "https://example.com@evil.example/a",
    "https://example.com/a b",
    "https://example.com/a\tb",
    "https://example.com/a\nb",
    "https://example.com/a\rb",
    "https://example.com/\0",
    "https://example.com/\"a",
    "https://example.com/'a",
    "https://example.com/`id`",
    "https://example.com/$(id)",
    "https://example.com/a;id",
    "https://example.com/a|id",
    "https://example.com/<a>",
    "https://example.com/{a}",
    "https://example.com/^a",
    "https:\\\\example.com\\a",
    "https://example.com/\u{202e}a",
    "https://ex\u{0430}mple.com/",
    "https://example.com/#a",
    "https://[::1",
    "https://exa mple.com",
    "https://10.0.0.1/a",
    "https://[fe80::1]/a",
    "https://127.0.0.1/a",
    "https://localhost.localdomain:99999/a",
    " https://example.com/a",
    "https://example.com/a ",
];
