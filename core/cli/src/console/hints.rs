//! What to do about something, on a command line: where the library names an operation of a
//! program, the command that does the same.

use trunkline_pool::text::escaped;

use super::arguments::Common;
use super::shell_words::quoted;
use super::typed;

/// A hint of the library about this server, as a person at a command line needs it.
pub(crate) fn here(hint: &str, server: Option<&str>) -> String {
    let server = server.map(|server| format!(" {}", escaped(&quoted(server)))).unwrap_or_default();
    match COMMANDS.iter().find(|(words, _)| hint.contains(words)) {
        Some((_, command)) => command.replace(" SERVER", &server),
        None => hint.to_owned(),
    }
}

/// A hint with the server as it was typed, where no file names it.
pub(crate) fn typed(hint: &str, common: &Common) -> String {
    match &common.typed {
        Some(typed) if hint.starts_with("`trunkline ") => {
            let named = format!(" {}", typed::NAME);
            hint.replacen(&named, &format!(" {}", typed::shown(Some(typed), typed::NAME)), 1)
        }
        _ => hint.to_owned(),
    }
}

/// Words of a hint, and what stands in its place. The first that fits counts.
const COMMANDS: [(&str, &str); 14] = [
    (
        "`accept_tool`",
        "`trunkline accept SERVER` shows what changed; with the tool's name it accepts that",
    ),
    ("`approvals`", "`trunkline approve SERVER` shows what would run, and approves it"),
    ("`forget`", "`trunkline forget SERVER` makes it wait for approval again"),
    ("`set_trusted`", "leave `trusted` out of `--options`: the workspace is trusted then"),
    ("`restart`", "mend what the message says; `trunkline doctor` looks at the machine"),
    ("session's tools", "`trunkline tools SERVER` lists the tools that there are"),
    ("tools that the session lists", "`trunkline tools SERVER` lists the tools that there are"),
    ("session's prompts", "`trunkline prompts SERVER` lists the prompts that there are"),
    (
        "enable the server",
        "`trunkline enable SERVER --in PRODUCT` switches it on in that product's file",
    ),
    ("sign in", "`trunkline sign-in SERVER` signs in; a header in its configuration does as well"),
    ("configure the server", "`trunkline list` shows the servers that are configured"),
    (
        "take the name off that list",
        "`trunkline explain SERVER` names the list; take the name off it",
    ),
    (
        "put the name on every such list",
        "`trunkline explain SERVER` names the list; put the name on it",
    ),
    ("acquire the server", "nothing is wrong with it: `trunkline call SERVER` starts it"),
];

#[cfg(test)]
mod tests {
    use trunkline_pool::error::Reason;

    use super::*;

    /// No remedy sends a person to an operation that no command has.
    #[test]
    fn every_remedy_is_something_that_a_person_can_do_here() {
        const OPERATIONS: [&str; 9] = [
            "`approve`",
            "`approvals`",
            "`forget`",
            "`restart`",
            "`sign_in`",
            "`accept_tool`",
            "`set_trusted`",
            "`last_error`",
            "the session lists",
        ];
        for reason in Reason::all() {
            let hint = here(reason.remedy(), Some("demo"));
            let left = OPERATIONS.iter().find(|name| hint.contains(**name));
            assert_eq!(left, None, "{}: {hint}", reason.as_str());
        }
    }

    #[test]
    fn a_command_names_the_server_as_a_shell_takes_it() {
        let hint = here("answer with `approvals`", Some("a b"));
        assert!(hint.starts_with("`trunkline approve 'a b'` shows"), "{hint}");
        assert!(here("see `approvals`", None).starts_with("`trunkline approve` shows"));
        assert_eq!(here("install it", Some("a")), "install it");
    }
}
