//! `approve`, `reject` and `forget`: what a person decides about the servers of a project.
//!
//! A script needs the hash: a `--yes` would approve what nobody has seen.

use clap::ArgMatches;
use serde_json::Value;
use trunkline::{Error, ErrorCode};
use trunkline_pool::text::escaped;

use crate::console::arguments::{Common, text};
use crate::console::context::{Opened, with_pool};
use crate::console::exit::Exit;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::terminal::Terminal;

#[derive(Clone, Copy)]
enum Verdict {
    Approve,
    Reject,
}

pub(super) fn approve(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let Some(server) = text(given, "server") else { return show_all(common, terminal) };
    decide((server, text(given, "hash")), Verdict::Approve, common, terminal)
}

pub(super) fn reject(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let server = text(given, "server").unwrap_or_default();
    decide((server, text(given, "hash")), Verdict::Reject, common, terminal)
}

pub(super) fn forget(
    given: &ArgMatches,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    let server = text(given, "server").unwrap_or_default();
    with_pool(common, terminal, |opened, terminal| {
        let (pool, name) = (opened.pool.clone(), server.to_owned());
        let report = opened.wait(async move { pool.forget(&name).await })??;
        let forgotten = report["forgotten"].as_u64().unwrap_or(0);
        if common.json {
            format::json(terminal, &report);
        } else {
            let noun = if forgotten == 1 { "decision" } else { "decisions" };
            terminal.line(&format!("{forgotten} {noun} forgotten"));
        }
        Ok(if forgotten == 0 { Exit::NotFound } else { Exit::Success })
    })
}

fn show_all(common: &Common, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let report = approvals(opened)?;
        if common.json {
            format::json(terminal, &report);
            return Ok(Exit::Success);
        }
        let requests = report["requests"].as_array().cloned().unwrap_or_default();
        if requests.is_empty() {
            terminal.line("nothing waits for approval");
        }
        for request in &requests {
            described(request).iter().for_each(|line| terminal.line(line));
        }
        Ok(Exit::Success)
    })
}

fn decide(
    (server, hash): (&str, Option<&str>),
    verdict: Verdict,
    common: &Common,
    terminal: &mut Terminal<'_>,
) -> Result<Exit, Failure> {
    with_pool(common, terminal, |opened, terminal| {
        let hashes = match hash {
            Some(hash) => vec![named(opened, server, hash, verdict)?],
            None => confirmed(opened, server, verdict, (common, terminal))?,
        };
        let (pool, name) = (opened.pool.clone(), server.to_owned());
        let report = opened.wait(async move {
            let mut decided = Err(Error::new(ErrorCode::StaleApproval, "nothing was shown"));
            for hash in hashes {
                decided = match verdict {
                    Verdict::Approve => pool.approve(&name, &hash).await,
                    Verdict::Reject => pool.reject(&name, &hash).await,
                };
                // Of several that were approved one is the server's now.
                if !decided.as_ref().is_err_and(|error| error.code() == ErrorCode::StaleApproval) {
                    break;
                }
            }
            decided
        })??;
        if matches!(verdict, Verdict::Approve) {
            check_unrejected(opened, server)?;
        }
        if common.json {
            format::json(terminal, &report);
        } else {
            let done = match verdict {
                Verdict::Approve => "approved",
                Verdict::Reject => "rejected",
            };
            terminal.line(done);
        }
        Ok(Exit::Success)
    })
}

/// A rejection by another host that was not known when a person was asked is in force, whatever
/// they answered.
fn check_unrejected(opened: &Opened, server: &str) -> Result<(), Failure> {
    if approval_state(&opened.pool.status()["servers"][server]) != Some("rejected") {
        return Ok(());
    }
    let error = Error::new(ErrorCode::NotAdmitted, "another host rejected it meanwhile")
        .with_server(server)
        .with_detail("reason", "rejected")
        .with_hint("`trunkline forget` makes it wait for approval again");
    Err(error.into())
}

/// A hash that was given. What was rejected is not approved unseen.
fn named(opened: &Opened, server: &str, hash: &str, verdict: Verdict) -> Result<String, Failure> {
    let status = opened.pool.status();
    let known = &status["servers"][server];
    let is_rejected = approval_state(known) == Some("rejected");
    if known.is_null() || (is_rejected && matches!(verdict, Verdict::Approve)) {
        return Err(unknown(opened, server));
    }
    Ok(hash.to_owned())
}

/// The hash of what a person was shown and said yes to; those that were approved, the newest first,
/// where that is to be taken back.
fn confirmed(
    opened: &Opened,
    server: &str,
    verdict: Verdict,
    (common, terminal): (&Common, &mut Terminal<'_>),
) -> Result<Vec<String>, Failure> {
    let report = approvals(opened)?;
    let of_server = |row: &&Value| row["server"] == server;
    let rows = |name: &str| report[name].as_array().into_iter().flatten();
    let request = rows("requests").find(of_server);
    // What was approved can be rejected as it is; what was rejected is shown again before it is
    // approved, once it is forgotten.
    let decided = match (request, verdict) {
        (None, Verdict::Reject) => Some(rows("decisions").rev().filter(of_server)),
        _ => None,
    };
    let decided = request.into_iter().chain(decided.into_iter().flatten());
    let hashes: Vec<String> =
        decided.filter_map(|row| row["hash"].as_str()).map(str::to_owned).collect();
    let Some(hash) = hashes.first() else {
        return Err(unknown(opened, server));
    };
    // A program that reads JSON has the request of `approve --json`; a person who is asked sees it
    // here.
    if let Some(request) = request.filter(|_| terminal.asks || !common.json) {
        described(request).iter().for_each(|line| terminal.note(line));
    }
    if !terminal.asks {
        let failure = Failure::usage("nothing was decided: there is nobody to ask");
        return Err(failure.with_hint(&format!("--hash {hash} decides about what is shown")));
    }
    let question = match verdict {
        Verdict::Approve => "Let this run?",
        Verdict::Reject => "Keep this from running?",
    };
    match opened.interrupt.asking(|| terminal.confirms(question)) {
        true => Ok(hashes),
        false => Err(Failure::unconfirmed()),
    }
}

/// What was decided of the entry that somebody has to approve: the highest of those that wait, else
/// the one in force.
fn approval_state(known: &Value) -> Option<&str> {
    let waiting = known["waiting"].get(0);
    waiting.unwrap_or(known)["approval_state"].as_str()
}

/// Why nothing can be decided about a server.
fn unknown(opened: &Opened, server: &str) -> Failure {
    let status = opened.pool.status();
    let known = &status["servers"][server];
    let server = escaped(server);
    match approval_state(known) {
        None => Failure::new(Exit::NotFound, format!("no server `{server}` is configured"))
            .with_hint("`trunkline list` shows those that are"),
        Some("approved") => Failure::usage(format!("`{server}` is approved already")),
        Some("rejected") => {
            let hint = "`trunkline forget` makes it wait for approval again";
            Failure::usage(format!("`{server}` was rejected")).with_hint(hint)
        }
        Some(_) => Failure::usage(format!("`{server}` waits for no approval")),
    }
}

fn approvals(opened: &Opened) -> Result<Value, Failure> {
    let pool = opened.pool.clone();
    Ok(opened.wait(async move { pool.approvals().await })??)
}

/// A request, for a person, and the hash that decides about it.
fn described(request: &Value) -> Vec<String> {
    let text = format::text(&request["escaped"], "text").lines().map(format::lines);
    let hash = format!("  hash     {}", format::text(request, "hash"));
    text.chain([hash]).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    /// Runs a command line for a person who answers so, in a workspace with one server; what they
    /// are shown, and the exit.
    fn asked(workspace: &std::path::Path, command: &[&str], answer: &str) -> (String, u8) {
        asked_by(workspace, command, &mut answer.as_bytes())
    }

    /// The same for the person who answers.
    fn asked_by(
        workspace: &std::path::Path,
        command: &[&str],
        stdin: &mut dyn std::io::BufRead,
    ) -> (String, u8) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut terminal = Terminal::new(stdin, &mut stdout, &mut stderr);
        terminal.asks = true;
        let config = workspace.join(".mcp.json");
        let book = serde_json::json!({ "approvals": workspace.join("book/approvals.json") });
        let options = ["--workspace".into(), workspace.as_os_str().to_owned()];
        let options = options.into_iter().chain(["--config".into(), config.into_os_string()]);
        let options = options.chain(["--options".into(), book.to_string().into()]);
        let words = std::iter::once("trunkline").chain(command.iter().copied()).map(OsString::from);
        let exit = crate::run(words.chain(options), terminal);
        stdout.splice(0..0, stderr);
        (String::from_utf8(stdout).unwrap(), exit)
    }

    #[test]
    fn a_decision_needs_a_yes_to_what_was_shown() {
        let workspace = crate::folder::Folder::new();
        let settings =
            r#"{"mcpServers": {"demo": {"command": "no-such-program", "args": ["--a b"]}}}"#;
        std::fs::write(workspace.join(".mcp.json"), settings).unwrap();
        for answer in ["", "n\n", "no\n", "yes, please\n", "yes, please\nno\nyes\n"] {
            let (shown, exit) = asked(&workspace, &["approve", "demo"], answer);
            assert!(shown.contains(r#"no-such-program "--a b""#), "{shown}");
            assert_eq!(exit, 1, "{shown}");
        }
        let (shown, exit) = asked(&workspace, &["approve", "demo"], "what?\nY\n");
        assert!(shown.contains("type y for yes"), "{shown}");
        assert!(shown.ends_with("approved\n") && exit == 0, "{shown}");
        let (shown, exit) = asked(&workspace, &["approve", "demo"], "yes\n");
        assert!(shown.contains("approved already") && exit == 2, "{shown}");
        let (shown, exit) = asked(&workspace, &["reject", "demo"], "yes\n");
        assert!(shown.ends_with("rejected\n") && exit == 0, "{shown}");
        let (shown, exit) = asked(&workspace, &["approve", "demo"], "yes\n");
        assert!(shown.contains("was rejected") && exit == 2, "{shown}");
        let (shown, exit) = asked(&workspace, &["forget", "demo"], "");
        assert!(shown.contains("1 decision forgotten") && exit == 0, "{shown}");
    }

    /// Answers once it has done something else.
    struct After<F: FnMut()>(F, std::io::Cursor<&'static [u8]>);

    impl<F: FnMut()> std::io::Read for After<F> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            std::io::Read::read(&mut self.1, into)
        }
    }

    impl<F: FnMut()> std::io::BufRead for After<F> {
        fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
            (self.0)();
            self.1.fill_buf()
        }

        fn consume(&mut self, count: usize) {
            self.1.consume(count);
        }
    }

    /// SPEC 12.3, 12.7: a rejection of another host stands, and is told.
    #[test]
    fn what_another_rejects_while_a_person_is_asked_is_not_approved() {
        let workspace = crate::folder::Folder::new();
        let settings = r#"{"mcpServers": {"demo": {"command": "no-such-program"}}}"#;
        std::fs::write(workspace.join(".mcp.json"), settings).unwrap();
        for json in [&[][..], &["--json"]] {
            let other = || {
                asked(&workspace, &["reject", "demo"], "yes\n");
            };
            let mut answer = After(other, std::io::Cursor::new(b"yes\n"));
            let command = [&["approve", "demo"], json].concat();
            let (shown, exit) = asked_by(&workspace, &command, &mut answer);
            assert!(!shown.contains("approved\n") && shown.contains("rejected"), "{shown}");
            assert_eq!(exit, 4, "{shown}");
            let (shown, exit) = asked(&workspace, &["forget", "demo"], "");
            assert_eq!(exit, 0, "{shown}");
        }
    }

    #[test]
    fn what_was_approved_last_can_be_rejected() {
        let workspace = crate::folder::Folder::new();
        let write = |args: &str| {
            let demo = serde_json::json!({ "command": "no-such-program", "args": [args] });
            let settings = serde_json::json!({ "mcpServers": { "demo": demo } });
            std::fs::write(workspace.join(".mcp.json"), settings.to_string()).unwrap();
        };
        for args in ["first", "second"] {
            write(args);
            let (shown, exit) = asked(&workspace, &["approve", "demo"], "yes\n");
            assert!(shown.ends_with("approved\n") && exit == 0, "{shown}");
        }
        // Both are approved still; each is the server's in its turn.
        for args in ["second", "first"] {
            write(args);
            let (shown, exit) = asked(&workspace, &["reject", "demo"], "yes\n");
            assert!(shown.ends_with("rejected\n") && exit == 0, "{args}: {shown}");
        }
    }
}
