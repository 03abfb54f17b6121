//! Ten thousand hostile pairs (SPEC 14.3, S-42): in each style every name is valid, and is its own
//! tool's alone.

use std::collections::BTreeSet;

use super::*;

const PAIRS: usize = 10_000;

/// Pieces of names that deceive: invisible, look-alike, reordering, far too long, or parts of names
/// that are made here.
const PIECES: [&str; 28] = [
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\0",
    "\n",
    "\r\n",
    "\u{1b}[2K",
    "\u{7f}",
    "__",
    "_",
    "___",
    "-",
    ".",
    "/",
    "..",
    " ",
    "mcp",
    "mcp__",
    "echo",
    "Echo",
    "ECHO",
    "ecо",
    "ｅcho",
    "漢字",
    "é",
    "1",
    "read_file",
];

/// A name of some of them, long now and then.
fn name(random: &mut Random) -> String {
    let pieces = random.below(5);
    let mut name: String = (0..pieces).map(|_| *random.pick(&PIECES)).collect();
    if random.one_in(8) {
        name = name.repeat(random.below(60));
    }
    if random.one_in(4) { random.word(&['a', 'b', '_'], 6) } else { name }
}

/// Distinct pairs: hostile ones, and ones that spell out names which others have, in each way of
/// cutting them.
fn pairs(seed: u64) -> Vec<ToolName> {
    let mut random = Random::new(seed);
    let mut pairs: BTreeSet<ToolName> = BTreeSet::new();
    let mut made: Vec<String> = Vec::new();
    while pairs.len() < PAIRS {
        let mut pair = tool(&name(&mut random), &name(&mut random));
        if random.one_in(2) && !made.is_empty() {
            let taken = random.pick(&made).clone();
            let taken = taken.strip_prefix("mcp__").unwrap_or(&taken);
            let joints: Vec<usize> = taken.match_indices('_').map(|(joint, _)| joint).collect();
            let joint = if joints.is_empty() { 0 } else { *random.pick(&joints) };
            let after = (joint + random.below(4)).min(taken.len());
            pair = match random.below(3) {
                0 => tool(&taken[..joint], &taken[after..]),
                1 => tool(&pair.server, taken),
                _ => tool("", taken),
            };
        }
        let style = *random.pick(&NameStyle::ALL);
        made.push(Naming::new(style, []).of_pair(&pair.server, &pair.tool));
        pairs.insert(pair);
    }
    let mut pairs: Vec<ToolName> = pairs.into_iter().collect();
    random.shuffle(&mut pairs);
    pairs
}

/// Every pair has a valid name of its own, which is not reserved and leads back to the pair.
fn check(map: &NameMap, tools: &[ToolName], reserved: &BTreeSet<String>) {
    assert_eq!(map.left_out(), []);
    assert_eq!(map.len(), tools.len());
    let mut found = BTreeSet::new();
    for (name, tool) in map.iter() {
        assert!(is_valid(name), "{name:?}");
        assert!(!reserved.contains(&**name), "{name:?}");
        assert_eq!(map.resolve(name), Some(tool));
        assert!(found.insert(tool));
    }
    assert!(tools.iter().all(|tool| found.contains(tool)));
}

/// SPEC 14.3, S-42: as said above; and a name that a tool had once is never another's, in whatever
/// order they come and go.
#[test]
fn ten_thousand_hostile_pairs_have_names_of_their_own_in_each_style() {
    let seed = std::env::var("TRUNKLINE_SEED").map_or(14, |seed| seed.parse().unwrap());
    println!("TRUNKLINE_SEED={seed}");
    let tools = pairs(seed);
    let mut random = Random::new(seed);
    for style in NameStyle::ALL {
        let names =
            tools.iter().map(|tool| Naming::new(style, []).of_pair(&tool.server, &tool.tool));
        let bare = tools.iter().map(|tool| tool.tool.to_string());
        let reserved: BTreeSet<String> = names.chain(bare).filter(|_| random.one_in(20)).collect();
        let naming = Naming::new(style, reserved.clone());
        let mut bare = BareNames::default();
        let mut ever: BTreeMap<Arc<str>, ToolName> = BTreeMap::new();
        for look in 1..=4 {
            let now: Vec<ToolName> = match look {
                4 => tools.clone(),
                _ => tools.iter().filter(|_| random.one_in(3)).cloned().collect(),
            };
            bare.settle(&naming, now.clone());
            let map = NameMap::new(now.clone(), &naming, &bare);
            check(&map, &now, &reserved);
            for (name, tool) in map.iter() {
                let before = ever.entry(name.clone()).or_insert_with(|| tool.clone());
                assert_eq!(before, tool, "{name}");
            }
        }
        let map = NameMap::new(tools.clone(), &naming, &bare);
        assert_eq!(ever.len(), map.len(), "a tool had two names in one session");
    }
}
