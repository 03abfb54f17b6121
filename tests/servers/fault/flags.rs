//! The command line of the fault server.

use std::path::PathBuf;
use std::time::Duration;

use crate::at::{At, Trouble};
use crate::family::Companion;
use crate::frames::Frame;
use crate::rogue::{Scheme, To};

/// Everything that the command line can say.
#[derive(Debug, Default)]
pub struct Flags {
    pub frame: Option<Frame>,
    /// What stands before the first message.
    pub before: String,
    /// What is spoiled of the answers to some methods.
    pub at: Vec<At>,
    /// The end comes after so many messages.
    pub die_after: Option<u32>,
    /// Speaks the modern era, and no other.
    pub modern: bool,
    /// Has prompts, resources, completions and levels of its log beside tools.
    pub features: bool,
    pub companions: Vec<Companion>,
    pub slow_exit: Duration,
    pub ignore_eof: bool,
    pub ignore_term: bool,
    /// Answers nothing, so that a client goes on connecting.
    pub silent: bool,
    /// Each process of the family adds a line `<pid> <role>`.
    pub start_log: Option<PathBuf>,
    /// Text that finds all of the family.
    pub mark: String,
    /// Listens on the loopback, for those who come with this scheme.
    pub listen: Option<Scheme>,
    /// There: the bytes of the answer, what comes after them, and what it answers so.
    pub sends: String,
    pub then: String,
    pub to: To,
    /// Is the standard input and output of the listener at this address, and no server of its own.
    pub relay: Option<String>,
    /// Internal: this process is a helper that was executed anew.
    pub hold: bool,
}

impl Flags {
    /// Reads the arguments that follow the program's name.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Flags, String> {
        let mut flags = Flags::default();
        while let Some(flag) = args.next() {
            match flag.as_str() {
                "--ignore-eof" => flags.ignore_eof = true,
                "--ignore-term" => flags.ignore_term = true,
                "--silent" => flags.silent = true,
                "--modern" => flags.modern = true,
                "--features" => flags.features = true,
                "--hold" => flags.hold = true,
                "--help" => {
                    println!("{HELP}\n--frame NAME, one of: {}", Frame::names().join(" "));
                    println!("TROUBLE, one of: {}", Trouble::names().join(" "));
                    std::process::exit(0);
                }
                _ => {
                    let value =
                        args.next().ok_or_else(|| format!("{flag} is unknown or needs a value"))?;
                    flags.set(&flag, value)?;
                }
            }
        }
        Ok(flags)
    }

    fn set(&mut self, flag: &str, value: String) -> Result<(), String> {
        let wrong = || format!("{flag} cannot be {value:?}");
        match flag {
            "--frame" => self.frame = Some(Frame::named(&value).ok_or_else(wrong)?),
            "--before" => self.before = value,
            "--helper" => self.companions.push(Companion::named(&value).ok_or_else(wrong)?),
            "--slow-exit-ms" => {
                self.slow_exit = Duration::from_millis(value.parse().map_err(|_| wrong())?);
            }
            "--at" => self.at.push(At::named(&value).ok_or_else(wrong)?),
            "--die-after" => self.die_after = Some(value.parse().map_err(|_| wrong())?),
            "--listen" => self.listen = Some(Scheme::named(&value).ok_or_else(wrong)?),
            "--sends" => self.sends = value,
            "--then" => self.then = value,
            "--to" => self.to = To::named(&value).ok_or_else(wrong)?,
            "--relay" => self.relay = Some(value),
            "--start-log" => self.start_log = Some(value.into()),
            "--mark" => self.mark = value,
            _ => return Err(format!("unknown flag {flag}")),
        }
        Ok(())
    }
}

const HELP: &str = "\
usage: trunkline-faultserver [flags]      (MCP over stdio; tools: any plain other hang pid)

--start-log FILE   each process of the family adds a line '<pid> server' or '<pid> child'
--mark TEXT        ignored; shows in the arguments of every process of the family
--silent           answers nothing
--ignore-eof  --ignore-term  --slow-exit-ms N
--helper KIND      group, setsid, double, pipes or respawn; may be repeated
--modern           speaks revision 2026-07-28, and no older one
--features         has prompts, resources, completions and levels of its log beside tools
--die-after N      ends after so many messages
--before TEXT      stands before the first message
--at METHOD[@N]=TROUBLE|JSON
                   what becomes of the answer to METHOD, from the Nth request on; JSON stands in the place of its result;
                   of calls those of `any` alone; may be repeated

--relay ADDRESS    what comes goes there, and what comes from there goes out; it ends with either

--listen http|https|ws|wss
                   listens on the loopback instead, and prints its address; there is no TLS
--sends TEXT       the bytes that it answers with, whatever it is asked; {id} is the id of what it answers
--then close|hang|repeat=TEXT|drip=TEXT
                   what comes after them
--to everything|calls|first|comers|idle:MS|METHOD|first:METHOD
                   what gets that answer: calls, the first request, requests of a method (of HTTP or of the protocol), or the first of those. All
                   other requests get the answers of a small server. `comers`: every connection gets it at once; `idle:MS`: what
                   comes by a socket that was idle for longer, as the other answers say in whole seconds";

#[cfg(test)]
mod tests {
    use super::Flags;

    fn parse(args: &[&str]) -> Result<Flags, String> {
        Flags::parse(args.iter().map(ToString::to_string))
    }

    #[test]
    fn flags_are_read_and_slips_are_refused() {
        let flags = parse(&["--silent", "--helper", "group", "--frame", "bom"]).unwrap();
        assert!(flags.silent && flags.companions.len() == 1 && flags.frame.is_some());
        for slip in [
            &["--nope", "1"][..],
            &["--frame", "nope"],
            &["--helper"],
            &["--slow-exit-ms", "x"],
            &["--to", "first:nope"],
            &["--to", "idle:nope"],
        ] {
            assert!(parse(slip).is_err(), "{slip:?}");
        }
    }
}
