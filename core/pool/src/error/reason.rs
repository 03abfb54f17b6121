//! Why a server or a tool is not there: each reason with its sentence and its remedy (SPEC 11.6).

use crate::interface::words::{gate, hidden};

/// Why something is not there. Of those that apply to a server the first counts, as SPEC 11.6 has
/// them; then come those of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The server was configured, and no source names it any more.
    Removed,
    /// No source names the server, nor did any.
    NotConfigured,
    /// Its configuration is wrong.
    InvalidConfig,
    /// The workspace is not trusted.
    Untrusted,
    /// A list keeps it out.
    Excluded,
    /// A list of those that may run lacks it.
    NotAllowed,
    /// Its configuration, or the session, switches it off.
    Disabled,
    /// Its approval was refused.
    Rejected,
    /// It waits for approval.
    PendingApproval,
    /// The host is asked for what its configuration needs.
    Waiting,
    /// The pool is closing.
    Closing,
    /// Its first connection is being made.
    Connecting,
    /// It was lost, and is on the way back.
    Reconnecting,
    /// The budget, or a limit, has no room for it.
    Budget,
    /// It wants credentials.
    AuthRequired,
    /// It could not be connected to, or was lost for good.
    Failed,
    /// It runs for calls of its tools only, and none runs.
    Asleep,
    /// Nobody asked for it, or nobody holds it any more.
    Unused,
    /// The server lists the tool; its configuration or the session leaves it out.
    Filtered,
    /// The tool's definition changed, and was not accepted.
    Quarantined,
    /// The server lists the tool in a way that cannot be taken over.
    Malformed,
    /// The server lists the tool, and it cannot be used.
    LeftOut,
    /// The server lists no such tool, or no server has such a name.
    Unknown,
}

/// A reason, its word, its sentence about a server or a tool, and the remedy.
type ReasonRow = (Reason, &'static str, &'static str, &'static str);

/// Every reason. The sentences of a server go on after its name.
const TABLE: &[ReasonRow] = &[
    (
        Reason::Removed,
        gate::REMOVED,
        "was configured, and no source names it any more",
        "configure the server again",
    ),
    (
        Reason::NotConfigured,
        gate::NOT_CONFIGURED,
        "is named by no source",
        "look at the name, or configure the server",
    ),
    (
        Reason::InvalidConfig,
        gate::INVALID_CONFIG,
        "has a configuration that is wrong",
        "mend the server's entry",
    ),
    (
        Reason::Untrusted,
        gate::UNTRUSTED,
        "needs a trusted workspace",
        "trust the workspace with `set_trusted`",
    ),
    (
        Reason::Excluded,
        gate::EXCLUDED,
        "is on a list of servers that may not run",
        "take the name off that list",
    ),
    (
        Reason::NotAllowed,
        gate::NOT_ALLOWED,
        "is missing on a list of servers that may run",
        "put the name on every such list; what `launch_allowed` leaves out needs a new pool",
    ),
    (
        Reason::Disabled,
        gate::DISABLED,
        "is switched off",
        "enable the server in the session, or in its configuration",
    ),
    (
        Reason::Rejected,
        gate::REJECTED,
        "was rejected",
        "approve the server with `approve`, or ask anew after `forget`",
    ),
    (
        Reason::PendingApproval,
        gate::PENDING_APPROVAL,
        "waits for approval",
        "show a person what `approvals` says, and answer with `approve` or `reject`",
    ),
    (
        Reason::Waiting,
        "waiting",
        "waits for what the host is asked for its configuration",
        "answer the question, or wait until `settled`",
    ),
    (Reason::Closing, "closing", "does not start, since the pool is closing", "make a new pool"),
    (
        Reason::Connecting,
        "connecting",
        "is being connected to",
        "wait until the session is `ready`",
    ),
    (
        Reason::Reconnecting,
        "reconnecting",
        "was lost, and is on the way back",
        "wait, or call with an option that waits for the server",
    ),
    (
        Reason::Budget,
        "budget",
        "finds no room in the pool",
        "release or disable another server, or give the pool a larger budget or limit",
    ),
    (
        Reason::AuthRequired,
        "auth_required",
        "wants credentials",
        "sign in with `sign_in`, or configure the credentials",
    ),
    (
        Reason::Failed,
        "failed",
        "has failed",
        "mend what `last_error` of the status says, and `restart` or acquire the server",
    ),
    (
        Reason::Asleep,
        "asleep",
        "is asleep, since it runs for calls only",
        "call one of its tools, which starts it",
    ),
    (
        Reason::Unused,
        "unused",
        "may run, and is held by nobody here",
        "acquire the server, or open a session that wants it",
    ),
    (
        Reason::Filtered,
        hidden::FILTERED,
        "lists the tool, and its configuration or the session leaves it out",
        "let the tool through in the server's configuration and in the session",
    ),
    (
        Reason::Quarantined,
        hidden::QUARANTINED,
        "changed the tool's definition, which was not accepted",
        "look at the difference that the status shows, and accept it with `accept_tool`",
    ),
    (
        Reason::Malformed,
        hidden::MALFORMED,
        "lists the tool in a way that cannot be taken over",
        "mend the server: the message says what is wrong",
    ),
    (
        Reason::LeftOut,
        hidden::LEFT_OUT,
        "lists the tool, and it cannot be used",
        "use another tool of the server",
    ),
    (
        Reason::Unknown,
        hidden::UNKNOWN,
        "lists no such tool",
        "look at the tools that the session lists",
    ),
];

impl Reason {
    /// Every reason.
    pub fn all() -> impl Iterator<Item = Reason> {
        TABLE.iter().map(|(reason, ..)| *reason)
    }

    /// The reason of that word.
    pub fn from_word(word: &str) -> Option<Reason> {
        TABLE.iter().find(|row| row.1 == word).map(|(reason, ..)| *reason)
    }

    /// The word.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// What is so of a server with it, as it goes on after the server's name.
    pub fn sentence(self) -> &'static str {
        self.row().2
    }

    /// What can be done about it.
    pub fn remedy(self) -> &'static str {
        self.row().3
    }

    fn row(self) -> &'static ReasonRow {
        TABLE.iter().find(|row| row.0 == self).expect("a test finds every reason in the table")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// SPEC 11.6: every reason has a word of its own, which leads back to it, a sentence and a
    /// remedy, and they stand in their order.
    #[test]
    fn every_reason_has_a_word_a_sentence_and_a_remedy() {
        let words: BTreeSet<_> = TABLE.iter().map(|row| row.1).collect();
        assert_eq!(words.len(), TABLE.len());
        assert!(TABLE.is_sorted_by_key(|row| row.0));
        for (reason, word, sentence, remedy) in TABLE {
            assert_eq!(Reason::from_word(word), Some(*reason));
            assert_eq!((reason.as_str(), reason.remedy()), (*word, *remedy));
            for text in [sentence, remedy] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{text}");
                assert!(text.starts_with(char::is_lowercase), "{text}");
            }
        }
        let last = Reason::Unknown as usize;
        assert_eq!(TABLE.len(), last + 1, "a reason is missing in the table");
        assert_eq!(Reason::from_word("fine"), None);
    }

    /// SPEC 11.6: the reasons that the contract names are all there, those of servers in its order.
    #[test]
    fn the_reasons_of_the_contract_are_there_in_order() {
        let servers = "removed invalid_config untrusted excluded not_allowed disabled rejected \
                       pending_approval budget auth_required failed";
        let tools = "filtered quarantined malformed";
        let reasons: Vec<_> = format!("{servers} {tools}")
            .split_whitespace()
            .map(|word| Reason::from_word(word).unwrap_or_else(|| panic!("{word}")))
            .collect();
        assert!(reasons.is_sorted(), "{reasons:?}");
        let mut gates = gate::ALL.iter().chain(hidden::ALL).map(|(word, _)| word);
        assert!(gates.all(|word| Reason::from_word(word).is_some()));
    }
}
