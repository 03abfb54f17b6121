//! Hostile names through real sessions, in each style of names (SPEC 14.3, S-42).

use std::collections::{BTreeMap, BTreeSet};

use rig::{Rig, acquire, host, text, until};
use serde_json::{Value, json};
use trunkline::{CallOptions, Session, ToolFormat};

/// Names of servers that a configuration can have.
const SERVERS: [&str; 9] = [
    "a",
    "A",
    "a_b",
    "a.b",
    "a__b",
    "1",
    "mcp",
    "漢字 /..",
    "ｘ_lооk_alike_lооk_alike_lооk_alike_lооk_alike",
];

/// Tools that every server lists: of one name with others', look-alikes, and what is no name.
const TOOLS: [&str; 22] = [
    "read",
    "Read",
    "READ",
    "ecо",
    "b__c",
    "_c",
    "c_",
    "__",
    "_",
    "-",
    "1",
    "a b",
    "a/b",
    "../../x",
    "漢字",
    "mcp__a__read",
    "a__read",
    "reserved",
    "read_file",
    "é",
    "e\u{301}",
    "a&b<c>",
];

/// Names that the host keeps for itself, one in each style.
const RESERVED: [&str; 3] = ["reserved", "mcp__a__reserved", "a__reserved"];

/// What no catalog takes.
const HIDDEN: [&str; 5] = ["\u{202e}ohce", "ec\u{200b}ho", "nul\0", "line\n", "\u{1b}[2K"];

/// A number below `limit`, from the one before.
fn roll(seed: &mut u64, limit: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*seed >> 33) % limit as u64) as usize
}

/// Thirty names for one server: pieces of the names that models are shown, cut in any way, and long
/// ones.
fn imitations(seed: &mut u64, shown: &[String]) -> BTreeSet<String> {
    let one = |_| {
        let name = &shown[roll(seed, shown.len())];
        let cut = name.char_indices().map(|(at, _)| at).nth(roll(seed, name.len())).unwrap_or(0);
        match roll(seed, 4) {
            0 => name.clone(),
            1 => format!("{name}_"),
            2 => name.repeat(3),
            _ => name[cut..].to_owned(),
        }
    };
    let imitated = (0..40).map(one).filter(|name| !name.is_empty() && name.len() <= 256);
    imitated.collect()
}

/// A filter that leaves out what the reference server lists by itself, which does not answer with
/// its name.
fn own_tools() -> Value {
    let rig = Rig::new(json!({}));
    let own = host(async {
        rig.configure(json!({ "s": rig.server(&[]) })).await;
        let lease = acquire(&rig.session("a"), "s").await;
        lease.tools().unwrap().iter().map(|tool| tool.own_name.to_string()).collect::<Vec<_>>()
    });
    SERVERS
        .iter()
        .map(|name| ((*name).to_owned(), json!(own)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Every exposed name is valid, unreserved and one tool's, now and before; each is called, and
/// answered by its own server. How many.
async fn call_all(
    session: &Session,
    pids: &BTreeMap<String, String>,
    ever: &mut BTreeMap<String, (String, String)>,
) -> usize {
    let look = || (session.tools().unwrap(), session.tools_for(ToolFormat::OpenAi).unwrap());
    let (mut tools, mut shaped) = look();
    // A list that changes between the two is looked at anew.
    until(|| {
        let are_of_one = shaped.revision() == tools.revision();
        if !are_of_one {
            (tools, shaped) = look();
        }
        are_of_one
    });
    let shaped: Value = serde_json::from_str(shaped.json()).unwrap();
    let mut names = BTreeSet::new();
    for (place, tool) in tools.iter().enumerate() {
        let is_exposable = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(tool.name.len() <= 63 && tool.name.chars().all(is_exposable), "{tool:?}");
        assert!(tool.name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{tool:?}");
        assert!(names.insert(tool.name.clone()) && !RESERVED.contains(&&*tool.name), "{tool:?}");
        assert_eq!(shaped[place]["function"]["name"], *tool.name);
        let pair = (tool.server.to_string(), tool.own_name.to_string());
        let before = ever.entry(tool.name.to_string()).or_insert_with(|| pair.clone());
        assert_eq!(*before, pair, "{tool:?}");
        let options = CallOptions::default();
        let result = session.call_tool(&tool.name, r#"{"pid":true}"#, &options).await.unwrap();
        let result: Value = serde_json::from_str(result.json()).unwrap();
        let expected = format!("{} {}", pids[&pair.0], pair.1);
        assert_eq!(result["content"][0]["text"], expected, "{tool:?}");
    }
    tools.len()
}

/// SPEC 14.3, S-42: in each style, hostile tools of hostile servers are shown under valid names of
/// their own, and a call of each reaches its own server under its own name; also of those that
/// imitate names that were shown.
#[test]
fn hostile_tools_are_called_on_their_own_servers() {
    let seed = std::env::var("TRUNKLINE_SEED").map_or(3, |seed| seed.parse().unwrap());
    println!("TRUNKLINE_SEED={seed}");
    let own = own_tools();
    for style in ["mcp__server__tool", "server__tool", "none"] {
        let rig = Rig::new(json!({ "name_style": style, "reserved_names": RESERVED }));
        println!("{style}");
        host(in_style(&rig, seed, own.clone()));
    }
}

async fn in_style(rig: &Rig, mut seed: u64, own: Value) {
    let servers = SERVERS.iter().map(|name| ((*name).to_owned(), rig.server(&["--label", name])));
    rig.configure(Value::Object(servers.collect())).await;
    // One session puts the tools there, the other sees and calls them.
    let (hand, session) =
        (rig.session("hand"), rig.session_with(json!({ "id": "a", "exclude": own })));
    let (mut hands, mut leases, mut pids) = (Vec::new(), Vec::new(), BTreeMap::new());
    for name in SERVERS {
        let lease = acquire(&hand, name).await;
        pids.insert(name.to_owned(), text(&lease, "pid", json!({})).await);
        hands.push(lease);
        leases.push(acquire(&session, name).await);
    }
    let mut expected: Vec<BTreeSet<String>> =
        vec![TOOLS.iter().map(ToString::to_string).collect(); SERVERS.len()];
    let (mut ever, mut calls) = (BTreeMap::new(), 0);
    for round in 0..4 {
        for (lease, names) in hands.iter().zip(&mut expected) {
            let shown: Vec<String> = ever.keys().cloned().collect();
            if round > 0 {
                names.extend(imitations(&mut seed, &shown));
            }
            let hidden = HIDDEN.iter().map(ToString::to_string);
            let add: Vec<String> = names.iter().cloned().chain(hidden).collect();
            text(lease, "change_list", json!({ "add": add })).await;
        }
        let all: usize = expected.iter().map(BTreeSet::len).sum();
        until(|| session.tools().unwrap().len() == all);
        calls += call_all(&session, &pids, &mut ever).await;
    }
    println!("{} names, {calls} calls", ever.len());
}
