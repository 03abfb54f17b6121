//! The command line: what the server lists, how slow it is, and how it misbehaves.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use crate::era::{Early, Era};

/// Everything that the command line can say.
#[derive(Debug, Default)]
pub struct Flags {
    /// Generated tools `tool_1` .. `tool_N` beside the fixed ones.
    pub tools: usize,
    /// The fixed ones are not listed.
    pub generated_only: bool,
    pub initialize_delay: Duration,
    pub list_delay: Duration,
    pub reply_delay: Duration,
    /// Items a page of each list; 0 is everything on one page.
    pub page_size: usize,
    /// The first so many times that a later page of its tools is asked for, another tool comes
    /// before that is answered.
    pub page_changes: usize,
    pub start_log: Option<PathBuf>,
    /// Where the name of every message seen goes, but for calls.
    pub message_log: Option<PathBuf>,
    /// Where the moment of each answered list of tools goes, in nanoseconds of the monotonic clock.
    pub list_log: Option<PathBuf>,
    pub exit_at_start: Option<i32>,
    /// Exits with 1 at the first N starts that the start log knows, or at the Nth to the Mth, after
    /// the delay of `initialize`.
    pub fail_starts: Option<RangeInclusive<usize>>,
    /// Answers nothing at those of its starts.
    pub silent_starts: Option<RangeInclusive<usize>>,
    pub garbage: bool,
    pub noise: bool,
    pub silent: bool,
    pub die_before_list: bool,
    pub ignore_eof: bool,
    pub ignore_term: bool,
    pub fork_child: bool,
    pub setsid_child: bool,
    pub stderr_text: Option<String>,
    pub no_tools: bool,
    pub no_prompts: bool,
    pub no_resources: bool,
    /// Declares the tools capability alone, and knows no other list.
    pub tools_only: bool,
    /// Lists four malformed tools among the good ones.
    pub malformed_tools: bool,
    /// What the tools are declared to be, whatever they are.
    pub hints: Hints,
    /// Every page of a list names the same next cursor.
    pub repeat_cursor: bool,
    /// What is odd about the cursors of pages.
    pub cursors: Cursors,
    pub list_changes: bool,
    /// Lists what the official conformance suite asks for, and answers as strictly as it wants.
    pub fixtures: bool,
    /// Declares that calls of tools can be tasks, in the legacy era.
    pub tasks: bool,
    /// The generated tools describe themselves anew at each start that the start log knows.
    pub drift: bool,
    /// They do so at the second start, and stay as they are from then on.
    pub drift_once: bool,
    /// There is one generated tool less at each start that the start log knows.
    pub shrink: bool,
    pub protocol_version: Option<String>,
    pub era: Era,
    pub early: Early,
    /// The revisions of the modern era, with commas between them.
    pub revisions: Option<String>,
    /// What becomes of streams of changes: refuse, mute, once, nothing, tools, or late:
    /// acknowledged once the tools were listed, and changed since.
    pub listen: Option<String>,
    /// How long lists are fresh, in milliseconds, and for whom.
    pub ttl_ms: Option<u32>,
    pub cache_scope: Option<String>,
    /// From the start to the first read.
    pub start_delay: Duration,
    /// Text that stands in every description, so that two configurations can differ.
    pub label: Option<String>,
    /// Runs the server as a child of this process, as `npx` does.
    pub wrapped: bool,
    /// Speaks Streamable HTTP on that port of the loopback, 0 for any, instead of stdio.
    pub http: Option<u16>,
    /// The same on a Unix socket at that path, or of that name behind `@`.
    pub http_unix: Option<String>,
    /// The same over HTTP+SSE.
    pub sse: Option<u16>,
    /// The same over a websocket.
    pub ws: Option<u16>,
    /// What it does over HTTP that it should not; `http/faults.rs` has the words.
    pub http_faults: Option<String>,
    /// It wants a token of its own authorization server, whose ways are this JSON;
    /// `http/authority.rs` has the members.
    pub http_auth: Option<String>,
    /// Where each HTTP request goes, a line of JSON each.
    pub http_log: Option<PathBuf>,
    /// Internal: this process is a helper that ignores the end of its input.
    pub hold: bool,
}

/// What is odd about the cursors of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cursors {
    #[default]
    Plain,
    /// The second page is after the empty one.
    Empty,
    /// The last page names the empty one, which means none.
    EmptyEnd,
    /// The first is refused, and the first tool is gone from then on.
    RefusedOnce,
    /// All are refused.
    Refused,
}

/// The annotations of the fixed tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hints {
    /// Each has its own.
    #[default]
    True,
    /// All are declared read-only.
    All,
    /// None declares anything.
    None,
}

impl Flags {
    /// Reads the arguments that follow the program's name.
    pub fn parse(args: impl Iterator<Item = String>) -> Result<Flags, String> {
        let mut flags = Flags::default();
        let mut args = args;
        while let Some(flag) = args.next() {
            if flags.set_switch(&flag) {
                continue;
            }
            if flag == "--help" {
                println!("{HELP}");
                std::process::exit(0);
            }
            if !VALUED.contains(&flag.as_str()) {
                return Err(format!("unknown flag {flag}"));
            }
            let value = args.next().ok_or_else(|| format!("{flag} needs a value"))?;
            flags.set_value(&flag, value)?;
        }
        flags.settle_fixtures();
        Ok(flags)
    }

    /// What the suite asks for stands in the place of the rest: it calls the tool that is first,
    /// without arguments. Lists change, and each has caching hints.
    fn settle_fixtures(&mut self) {
        if self.fixtures {
            (self.generated_only, self.list_changes) = (true, true);
            (self.no_prompts, self.no_resources) = (true, true);
            self.ttl_ms.get_or_insert(0);
            self.cache_scope.get_or_insert_with(|| "private".to_string());
        }
    }

    /// Whether messages go through the front of a transport that is no pipe.
    pub fn is_fronted(&self) -> bool {
        self.http.or(self.sse).or(self.ws).is_some() || self.http_unix.is_some()
    }

    fn set_switch(&mut self, flag: &str) -> bool {
        let field = match flag {
            "--garbage" => &mut self.garbage,
            "--noise" => &mut self.noise,
            "--silent" => &mut self.silent,
            "--die-before-list" => &mut self.die_before_list,
            "--ignore-eof" => &mut self.ignore_eof,
            "--ignore-term" => &mut self.ignore_term,
            "--fork-child" => &mut self.fork_child,
            "--setsid-child" => &mut self.setsid_child,
            "--no-tools" => &mut self.no_tools,
            "--generated-only" => &mut self.generated_only,
            "--no-prompts" => &mut self.no_prompts,
            "--no-resources" => &mut self.no_resources,
            "--tools-only" => &mut self.tools_only,
            "--malformed-tools" => &mut self.malformed_tools,
            "--repeat-cursor" => &mut self.repeat_cursor,
            "--drift" => &mut self.drift,
            "--drift-once" => &mut self.drift_once,
            "--shrink" => &mut self.shrink,
            "--tasks" => &mut self.tasks,
            "--fixtures" => &mut self.fixtures,
            "--list-changes" => &mut self.list_changes,
            "--wrapped" => &mut self.wrapped,
            "--hold" => &mut self.hold,
            _ => return false,
        };
        *field = true;
        true
    }

    fn set_value(&mut self, flag: &str, value: String) -> Result<(), String> {
        match flag {
            "--start-log" => self.start_log = Some(value.into()),
            "--message-log" => self.message_log = Some(value.into()),
            "--list-log" => self.list_log = Some(value.into()),
            "--stderr-text" => self.stderr_text = Some(value),
            "--protocol-version" => self.protocol_version = Some(value),
            "--label" => self.label = Some(value),
            "--revisions" => self.revisions = Some(value),
            "--listen" => self.listen = Some(value),
            "--cache-scope" => self.cache_scope = Some(value),
            "--era" => {
                let wrong = || format!("--era needs legacy, modern or dual, not {value:?}");
                self.era = Era::named(&value).ok_or_else(wrong)?;
            }
            "--early" => {
                let wrong = || format!("--early cannot be {value:?}");
                self.early = Early::named(&value).ok_or_else(wrong)?;
            }
            "--fail-starts" | "--silent-starts" => {
                let (first, last) = value.split_once('-').unwrap_or(("1", &value));
                let number = |text: &str| text.parse().ok();
                let wrong = || format!("{flag} needs N or N-M, not {value:?}");
                let starts = number(first).zip(number(last)).map(|(a, b)| a..=b);
                let starts = Some(starts.ok_or_else(wrong)?);
                match flag {
                    "--fail-starts" => self.fail_starts = starts,
                    _ => self.silent_starts = starts,
                }
            }
            "--cursors" => {
                self.cursors = match value.as_str() {
                    "empty" => Cursors::Empty,
                    "empty-end" => Cursors::EmptyEnd,
                    "refused-once" => Cursors::RefusedOnce,
                    "refused" => Cursors::Refused,
                    _ => return Err(format!("--cursors cannot be {value:?}")),
                };
            }
            "--http-unix" => self.http_unix = Some(value),
            "--http-faults" => self.http_faults = Some(value),
            "--http-auth" => self.http_auth = Some(value),
            "--http-log" => self.http_log = Some(value.into()),
            "--hints" => {
                self.hints = match value.as_str() {
                    "all" => Hints::All,
                    "none" => Hints::None,
                    _ => return Err(format!("--hints needs all or none, not {value:?}")),
                };
            }
            _ => self.set_number(flag, &value)?,
        }
        Ok(())
    }

    fn set_number(&mut self, flag: &str, value: &str) -> Result<(), String> {
        let number: u32 =
            value.parse().map_err(|_| format!("{flag} needs a number, not {value:?}"))?;
        let delay = Duration::from_millis(number.into());
        match flag {
            "--http" | "--sse" | "--ws" => {
                let port = u16::try_from(number).map_err(|_| format!("{flag} needs a port"))?;
                let place = match flag {
                    "--http" => &mut self.http,
                    "--sse" => &mut self.sse,
                    _ => &mut self.ws,
                };
                *place = Some(port);
            }
            "--ttl-ms" => self.ttl_ms = Some(number),
            "--start-delay-ms" => self.start_delay = delay,
            "--tools" => self.tools = number as usize,
            "--page-size" => self.page_size = number as usize,
            "--page-changes" => self.page_changes = number as usize,
            "--exit-at-start" => self.exit_at_start = Some(number as i32),
            "--initialize-delay-ms" => self.initialize_delay = delay,
            "--list-delay-ms" => self.list_delay = delay,
            _ => self.reply_delay = delay,
        }
        Ok(())
    }
}

/// The flags that take a value.
const VALUED: [&str; 31] = [
    "--cursors",
    "--era",
    "--early",
    "--revisions",
    "--listen",
    "--ttl-ms",
    "--cache-scope",
    "--start-delay-ms",
    "--http",
    "--http-unix",
    "--sse",
    "--ws",
    "--http-faults",
    "--http-auth",
    "--http-log",
    "--start-log",
    "--message-log",
    "--list-log",
    "--stderr-text",
    "--protocol-version",
    "--label",
    "--hints",
    "--tools",
    "--page-size",
    "--page-changes",
    "--fail-starts",
    "--silent-starts",
    "--exit-at-start",
    "--initialize-delay-ms",
    "--list-delay-ms",
    "--reply-delay-ms",
];

const HELP: &str = "\
usage: trunkline-testserver [flags]      (MCP, revisions 2024-11-05 to 2026-07-28)

Transport    stdio, or --http PORT, --http-unix PATH|@NAME, --sse PORT or --ws PORT [--http-faults WORD[=VALUE],...]
             [--http-auth JSON] [--http-log FILE]; prints its address, or the socket; @ alone takes a name

Lists        --tools N  --generated-only  --page-size N  --page-changes N  --no-tools  --no-prompts  --no-resources  --tools-only
             --malformed-tools  --repeat-cursor  --list-changes  --drift  --drift-once  --shrink  --label TEXT
             --hints all|none  --cursors empty|empty-end|refused-once|refused  --tasks  --fixtures
Era          --era legacy|modern|dual  --revisions V,V  --listen refuse|mute|late|nothing|tools|once|cancel-second|refuse-second
             --ttl-ms N  --cache-scope private|public  --early answered|ignored|hangs|exits|confused
Delays       --start-delay-ms N  --initialize-delay-ms N  --list-delay-ms N  --reply-delay-ms N
Start        --start-log FILE  --message-log FILE  --list-log FILE  --exit-at-start CODE  --fail-starts N|N-M
             --silent-starts N|N-M  --stderr-text TEXT  --protocol-version V  --wrapped
Misbehaviour --garbage  --noise  --silent  --die-before-list
At the end   --ignore-eof  --ignore-term  --fork-child  --setsid-child";

#[cfg(test)]
mod tests {
    use super::Flags;

    fn parse(args: &[&str]) -> Result<Flags, String> {
        Flags::parse(args.iter().map(ToString::to_string))
    }

    #[test]
    fn switches_and_values_are_read() {
        let flags = parse(&["--silent", "--tools", "3", "--label", "x"]).unwrap();
        assert!(flags.silent);
        assert_eq!((flags.tools, flags.label.as_deref()), (3, Some("x")));
    }

    #[test]
    fn an_unknown_flag_a_missing_value_and_a_wrong_number_are_refused() {
        assert_eq!(parse(&["--nope"]).unwrap_err(), "unknown flag --nope");
        assert_eq!(parse(&["--tools"]).unwrap_err(), "--tools needs a value");
        assert!(parse(&["--tools", "many"]).unwrap_err().contains("needs a number"));
    }
}
