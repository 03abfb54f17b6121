//! `completions`: scripts that complete a command line in a shell, and the names that they ask for.

use clap::ArgMatches;
use clap_complete::Shell;
use trunkline::ServerSelection;

use crate::console::arguments::{self, Common, text};
use crate::console::context::with_pool;
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::terminal::Terminal;

pub(super) fn run(given: &ArgMatches, terminal: &mut Terminal<'_>) -> Exit {
    let mut script = Vec::new();
    if let Some(shell) = given.get_one::<Shell>("shell") {
        clap_complete::generate(*shell, &mut arguments::command(), "trunkline", &mut script);
        if *shell == Shell::Bash {
            script.extend_from_slice(BASH_NAMES.as_bytes());
        }
    }
    terminal.write(&String::from_utf8_lossy(&script));
    Exit::Success
}

/// The names of the servers, or of the tools of one, as a shell completes them.
pub(super) fn names(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let names: Vec<String> = match text(given, "server") {
            None => {
                let status = opened.pool.status();
                let servers = status["servers"].as_object().into_iter().flatten();
                servers.map(|(name, _)| name.clone()).collect()
            }
            Some(server) => {
                let session = opened.session(ServerSelection::Names(vec![server.to_owned()]))?;
                let waiting = session.clone();
                opened.wait(async move { waiting.started().await })??;
                session.tools()?.iter().map(|tool| tool.own_name.to_string()).collect()
            }
        };
        for name in names.iter().filter(|name| is_plain(name)) {
            terminal.line(name);
        }
        Ok(Exit::Success)
    })
}

/// Whether a shell takes the name as it stands. Others are not completed: a shell would expand what
/// a project's file calls a server.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain)
}

/// In front of what is generated: the names of servers and tools.
const BASH_NAMES: &str = r#"
_trunkline_names() {
    local word="${COMP_WORDS[COMP_CWORD]}" command="" server="" place=0 index
    for ((index = 1; index < COMP_CWORD; index++)); do
        case "${COMP_WORDS[index]}" in
            -c|--config|-w|--workspace|-t|--timeout|--options) ((index++)) ;;
            --stdio) place=9 ;;
            -*) ;;
            *) ((place++))
                [[ $place == 1 ]] && command="${COMP_WORDS[index]}"
                [[ $place == 2 ]] && server="${COMP_WORDS[index]}" ;;
        esac
    done
    COMPREPLY=()
    if [[ $word != -* ]]; then
        case "$place $command" in
            "1 tools"|"1 call"|"1 resources"|"1 read"|"1 prompts"|"1 complete"|"1 status"|"1 explain"|\
            "1 approve"|"1 reject"|"1 forget"|"1 accept"|"1 sign-in")
                COMPREPLY=($(compgen -W "$(trunkline names 2>/dev/null)" -- "$word")) ;;
            "2 tools"|"2 call"|"2 accept")
                COMPREPLY=($(compgen -W "$(trunkline names "$server" 2>/dev/null)" -- "$word")) ;;
        esac
    fi
    [[ ${#COMPREPLY[@]} -gt 0 ]] || _trunkline "$@"
}
complete -F _trunkline_names -o bashdefault -o default trunkline
"#;

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn a_name_that_a_shell_would_expand_is_not_completed() {
        for name in ["$(rm)", "`x`", "a b", "a;b", "-x", "", "a\nb", "*", "é"] {
            assert!(!is_plain(name), "{name:?}");
        }
        assert!(["github", "a/b.c_d-1"].into_iter().all(is_plain));
    }
}
