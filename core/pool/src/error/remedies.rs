//! What a person can do about a limit that is reached.

use crate::interface::words::limit;

/// The advice about each limit, by its word; what a host may choose is named as an option. A test
/// says that none is missing.
const OF_LIMITS: &[(&str, &str)] = &[
    (
        limit::FRAME_BYTES,
        "raise `limits.frame_bytes` of the pool, or send the server less, or ask it for less, at a time",
    ),
    (limit::QUEUED_BYTES, "call again once the server has read what was sent to it before"),
    (
        limit::QUEUED_FRAMES,
        "hand messages over once those before them are read, or fewer at a time",
    ),
    (limit::QUEUED_COMMANDS, "ask again once some of what was asked for is answered"),
    (
        limit::IN_FLIGHT_PER_ENTRY,
        "call again once others are answered, or raise `limits.in_flight_per_entry` of the pool",
    ),
    (
        limit::IN_FLIGHT_PER_SESSION,
        "call again once others are answered, or raise `limits.in_flight_per_session` of the pool",
    ),
    (limit::RESOURCE_STREAMS, "unsubscribe from other resources of the server first"),
    (
        limit::PROCESSES,
        "release servers that nobody needs, or raise `limits.processes` of the pool",
    ),
    (
        limit::ENTRIES_PER_NAME,
        "let sessions share the server, close some of them, or raise `limits.entries_per_name` of the pool",
    ),
    (limit::ENTRIES, "make a new pool"),
    (limit::REMEMBERED_TOOLS, "make a new pool, which has nothing to remember yet"),
    (
        limit::REQUESTS,
        "tell the makers of the server that its sign-in takes more requests than are made",
    ),
    (limit::REDIRECTS, "check `url`: it leads from one address to the next"),
    (
        limit::AUTH_BODY_BYTES,
        "check that `url` is the address of an MCP endpoint, and no page or download",
    ),
    (limit::DESCRIPTORS, "close files of the process, or raise its limit: `ulimit -n`"),
    (limit::QUEUE, "take results out of the queue, and start the operation again"),
    (limit::CALLBACKS, "start fewer operations at a time, or take their results from a queue"),
    (limit::THREADS, "end threads of the process, or raise the system's limit of them"),
    (limit::SUBSCRIPTIONS, "subscribe with a queue, or end other subscriptions"),
    (limit::HANDLERS, "give the pool handlers that answer for its sessions, or close sessions"),
    (limit::HANDLES, "release handles that nobody needs"),
];

/// The advice about that limit; nothing for a word that is none.
pub(crate) fn of_limit(word: &str) -> Option<&'static str> {
    OF_LIMITS.iter().find(|(limit, _)| *limit == word).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{OptionKind, OptionScope, options};

    #[test]
    fn each_limit_has_advice_that_names_the_option_where_there_is_one() {
        let words: Vec<&str> = limit::ALL.iter().map(|(word, _)| *word).collect();
        let advised: Vec<&str> = OF_LIMITS.iter().map(|(word, _)| *word).collect();
        assert_eq!(advised, words);
        let limits = options(OptionScope::Pool).iter().find(|row| row.name == "limits").unwrap();
        let OptionKind::Object(rows) = limits.kind else { panic!("{limits:?}") };
        for (word, advice) in OF_LIMITS {
            let is_option = rows.iter().any(|row| row.name == *word);
            assert_eq!(advice.contains(&format!("`limits.{word}`")), is_option, "{word}: {advice}");
        }
        assert_eq!(of_limit("no such limit"), None);
    }
}
