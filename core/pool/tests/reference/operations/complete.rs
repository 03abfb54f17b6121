//! What the languages offer is in the table, or stands here with a reason.

use std::collections::BTreeSet;
use std::path::Path;

use trunkline_pool::interface::operations::{Language, Owner, operations};

use super::PYTHON;

/// Functions of C that belong to no operation of their own; a name ends with `*` for all that begin
/// so.
const C_PARTS: &[(&str, &str)] = &[
    ("trunkline_abi_version", "a constant"),
    ("trunkline_version", "a constant"),
    ("trunkline_status_name", "of every status"),
    ("trunkline_buf_*", "of a text that was given"),
    ("trunkline_error_*", "of an error"),
    ("trunkline_host_*", "of a connection of `trunkline_session_provide`"),
    ("trunkline_item_clear", "of what a queue gives"),
    ("trunkline_logs_free", "the end of an object"),
    ("trunkline_op_cancel", "of every operation that waits"),
    ("trunkline_pool_free", "the end of an object"),
    ("trunkline_pool_new_with_handlers", "another form of `trunkline_pool_new`"),
    ("trunkline_pool_status", "`trunkline_pool_status_with` without options"),
    ("trunkline_pool_subscribe_queue", "another form of `trunkline_pool_subscribe`"),
    ("trunkline_queue_*", "of every operation that waits"),
    ("trunkline_request_*", "of a handler"),
    ("trunkline_session_open_with_handlers", "another form of `trunkline_session_open`"),
    ("trunkline_session_subscribe_queue", "another form of `trunkline_session_subscribe`"),
    ("trunkline_subscription_close", "the end of an object"),
];

/// Members of the classes of Python and Node that are no operations.
const MEMBERS: &[(&str, &str)] = &[
    ("Pool.aclose", "`close` of asyncio"),
    ("Pool.features", "of the library"),
    ("Pool.on_event", "`events`, told to a function"),
    ("Pool.ref", "of the event loop of Node"),
    ("Pool.unref", "of the event loop of Node"),
    ("Session.aclose", "`close` of asyncio"),
    ("Session.id", "what it was opened with"),
    ("Session.on_event", "`events`, told to a function"),
    ("Lease.server", "a member of `lease.describe`"),
    ("Lease.entry_index", "a member of `lease.describe`"),
    ("Lease.entryIndex", "a member of `lease.describe`"),
    ("Lease.generation", "a member of `lease.describe`"),
    ("Lease.state", "a member of `lease.describe`"),
    ("Lease.instructions", "a member of `lease.introduction`"),
    ("Lease.server_info", "a member of `lease.introduction`"),
    ("Lease.serverInfo", "a member of `lease.introduction`"),
    ("Lease.capabilities", "a member of `lease.introduction`"),
    ("Lease.protocol_version", "a member of `lease.introduction`"),
    ("Lease.protocolVersion", "a member of `lease.introduction`"),
];

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// SPEC 16.1: nothing is exported that the page does not have.
#[test]
fn every_function_of_c_is_in_the_table_or_a_part() {
    let exports = read("tests/c/exports.txt");
    let exported: BTreeSet<String> = exports.split_whitespace().map(str::to_owned).collect();
    let rows: BTreeSet<String> =
        operations().into_iter().flat_map(|row| row.c_functions()).collect();
    let is_part = |name: &str| {
        C_PARTS.iter().any(|(part, _)| match part.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *part,
        })
    };
    let unknown: Vec<_> =
        exported.iter().filter(|name| !rows.contains(*name) && !is_part(name)).collect();
    assert!(unknown.is_empty(), "functions without a row: {unknown:?}");
    let missing: Vec<_> = rows.difference(&exported).collect();
    assert!(missing.is_empty(), "rows without a function: {missing:?}");
    let both: Vec<_> = rows.iter().filter(|name| is_part(name)).collect();
    assert!(both.is_empty(), "rows that are parts too: {both:?}");
}

/// SPEC 16.4, 16.5: asyncio and threads have the same operations.
#[test]
fn every_method_of_python_is_in_the_table_or_a_member() {
    let shared = python_methods(&read(&format!("{PYTHON}/_shared.py")));
    for module in ["_aio", "sync"] {
        let mut found = shared.clone();
        found.extend(python_methods(&read(&format!("{PYTHON}/{module}.py"))));
        compare(Language::Python, module, &found);
    }
}

#[test]
fn every_method_of_node_is_in_the_table_or_a_member() {
    let mut found = node_members(&read("bindings/node/index.d.ts"));
    // Both inherit it from the class of listeners.
    found.extend(["Pool.events".to_owned(), "Session.events".to_owned()]);
    compare(Language::Node, "index.d.ts", &found);
}

fn compare(language: Language, place: &str, found: &BTreeSet<String>) {
    let rows: BTreeSet<String> = operations()
        .into_iter()
        .filter(|row| row.owner != Owner::Library)
        .filter_map(|row| Some(format!("{}.{}", row.owner.class(), row.name_in(language)?)))
        .collect();
    let is_member = |name: &str| MEMBERS.iter().any(|(member, _)| *member == name);
    let unknown: Vec<_> =
        found.iter().filter(|name| !rows.contains(*name) && !is_member(name)).collect();
    assert!(unknown.is_empty(), "{place}: methods without a row: {unknown:?}");
    // A pool of asyncio is closed by `aclose`, and what begins with `_` is not looked at.
    let is_elsewhere =
        |name: &str| name.ends_with("__init__") || place == "_aio" && name == "Pool.close";
    let missing: Vec<_> =
        rows.iter().filter(|name| !found.contains(*name) && !is_elsewhere(name)).collect();
    assert!(missing.is_empty(), "{place}: rows without a method: {missing:?}");
}

/// The public methods and properties of the classes of a module.
fn python_methods(text: &str) -> BTreeSet<String> {
    let mut class = None;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("class ") {
            class = class_of(rest.split(['(', ':']).next().unwrap_or_default());
        }
        let method = line.strip_prefix("    async def ").or(line.strip_prefix("    def "));
        if let (Some(class), Some(method)) = (class, method) {
            let name = method.split('(').next().unwrap_or_default();
            if !name.starts_with('_') {
                found.insert(format!("{class}.{name}"));
            }
        }
    }
    found
}

fn class_of(name: &str) -> Option<&'static str> {
    match name {
        "Pool" | "PoolBase" => Some("Pool"),
        "Session" | "SessionBase" => Some("Session"),
        "Lease" | "LeaseBase" => Some("Lease"),
        _ => None,
    }
}

/// The methods and properties of the three classes of the declarations.
fn node_members(text: &str) -> BTreeSet<String> {
    let mut class = None;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("export class ") {
            class = class_of(rest.split(' ').next().unwrap_or_default());
        } else if line == "}" {
            class = None;
        }
        let member = line.strip_prefix("  ").unwrap_or_default();
        let member = member.strip_prefix("readonly ").unwrap_or(member);
        let member = member.strip_prefix("static ").unwrap_or(member);
        let name: String = member.chars().take_while(char::is_ascii_alphanumeric).collect();
        let after = member[name.len()..].chars().next();
        if let Some(class) = class
            && !name.is_empty()
            && matches!(after, Some('(' | ':' | '<'))
        {
            found.insert(format!("{class}.{name}"));
        }
    }
    found
}
