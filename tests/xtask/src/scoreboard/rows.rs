//! The rows of the scoreboard, as one table: what is counted, how much of it each form does, and
//! what counts it.

use super::{proofs, soak};
use crate::machine::Machine;
use crate::run::{Run, Stop};

/// One promise, and what shows it. Its figure is how often it was broken, which is never, of how
/// often it was put to the test.
pub struct Row {
    /// Its number in the list of promises.
    pub number: u8,
    /// Its name on the command line and in what tests write down.
    pub name: &'static str,
    /// What must never happen.
    pub what: &'static str,
    /// What is counted, in the plural.
    pub unit: &'static str,
    /// How many each submission does.
    pub gate: Form,
    /// How many the long form does.
    pub full: Form,
    pub source: Source,
}

/// How much of a row is done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Form {
    /// So many, or more.
    AtLeast(u64),
    /// Of each part so many, or more; what is counted for a part is written down as `row/part`.
    /// Goals lie near what is there: a part of which much is tried hides no other that vanished.
    Each(&'static [(&'static str, u64)]),
    /// It has no such form, and why.
    Absent(&'static str),
}

/// What carries a row out.
#[derive(Clone, Copy)]
pub enum Source {
    /// Tests of a suite, which can run alone as well.
    Tests { suites: &'static [&'static str], package: &'static str, targets: &'static [Target] },
    /// A suite, or a part of it, in a function of its own; without suites nothing but the
    /// scoreboard carries it out.
    Own { suites: &'static [&'static str], run: fn(&Machine, &mut Run) -> Result<(), Stop> },
}

/// A test program, as cargo is asked for it, and whose names hold these parts.
pub struct Target {
    pub program: &'static [&'static str],
    pub tests: &'static [&'static str],
}

impl Form {
    /// How much in all; nothing where there is no such form.
    pub fn least(self) -> Option<u64> {
        match self {
            Form::AtLeast(least) => Some(least),
            Form::Each(parts) => Some(parts.iter().map(|(_, least)| least).sum()),
            Form::Absent(_) => None,
        }
    }
}

impl Source {
    /// The suites of `cargo xtask test` that carry it out as well, together.
    pub fn suites(self) -> &'static [&'static str] {
        match self {
            Source::Tests { suites, .. } | Source::Own { suites, .. } => suites,
        }
    }

    /// Whether a test, as its runner names it, is one of its own. Of what a function carries out
    /// that is not known: what is red there writes nothing down, and its goals are so near what is
    /// there that it misses them then.
    pub fn has(self, test: &str) -> bool {
        let Source::Tests { targets, .. } = self else { return false };
        targets.iter().any(|target| target.tests.iter().any(|part| test.contains(part)))
    }
}

impl Row {
    /// The form of a run.
    pub fn form(&self, is_full: bool) -> Form {
        if is_full { self.full } else { self.gate }
    }
}

const fn stress(tests: &'static [Target]) -> Source {
    Source::Tests { suites: &["core"], package: "trunkline", targets: tests }
}

const STRESS: &[&str] = &["--test", "stress"];

/// As many as there are. Each form waits, a connect twice, and each wait has two moments; how often
/// either is polled beyond that is the machine's.
const CANCEL: Form = Form::Each(&[("forms", 40), ("transports", 8), ("cuts", 2 * 40 + 2 * 2 * 8)]);

/// As many as there are. The long form does what the gate does.
const HOSTS: Form = Form::Each(&[("c", 20), ("python", 22), ("node", 19)]);
const CALLBACKS: Form = Form::Each(&[("c", 54), ("python", 15), ("node", 18)]);

/// Each language has the same inputs, and what it alone can be given; Rust has its own.
const CANARIES: Form = Form::Each(&[("rust", 59), ("c", 63), ("python", 64), ("node", 64)]);

const FULL_ALONE: Form = Form::Absent("in the long form alone");

/// In the order of their numbers.
pub const ROWS: &[Row] = &[
    Row {
        number: 1,
        name: "close",
        what: "a process survives a close",
        unit: "closes from Rust, twelve behaviours of servers",
        gate: Form::AtLeast(120),
        full: Form::AtLeast(2_400),
        source: Source::Own {
            suites: &["reap"],
            run: |machine, run| crate::reap::part(machine, run, "--close"),
        },
    },
    Row {
        number: 2,
        name: "host-kill",
        what: "a process survives the kill of its host",
        unit: "killed hosts, twelve behaviours, four languages; two seconds after it in the long form, thirty in the gate",
        gate: Form::AtLeast(144),
        full: Form::AtLeast(2_400),
        source: Source::Own {
            suites: &["reap"],
            run: |machine, run| crate::reap::part(machine, run, "--host-kill"),
        },
    },
    Row {
        number: 3,
        name: "close-time",
        what: "a close takes longer than is promised",
        unit: "timed closes, of a polite server and of each of twelve behaviours; ten at once as well, beside one",
        gate: Form::Absent(
            "shown, and judged in the long form alone: the machine may do other work",
        ),
        full: Form::Each(&[("polite", 2_000), ("each", 60)]),
        source: Source::Own {
            suites: &["reap"],
            run: |machine, run| crate::reap::part(machine, run, "--time"),
        },
    },
    Row {
        number: 4,
        name: "budget",
        what: "more servers run than the budget allows",
        unit: "starts under churn, the processes counted all the while until they are reaped: under the budget by their servers, under a limit of processes each",
        gate: Form::Each(&[("servers", 300), ("processes", 150)]),
        full: Form::Each(&[("servers", 40_000), ("processes", 10_000)]),
        source: stress(&[Target { program: STRESS, tests: &["churn::"] }]),
    },
    Row {
        number: 5,
        name: "herd",
        what: "a server is started twice",
        unit: "rounds of 1,000 acquires at once",
        gate: Form::AtLeast(10),
        full: Form::AtLeast(500),
        source: stress(&[Target {
            program: STRESS,
            tests: &["acquires::a_thousand_acquires_of_a_new_key"],
        }]),
    },
    Row {
        number: 6,
        name: "model",
        what: "a step of the pool breaks an invariant",
        unit: "steps of three simulators",
        gate: Form::Each(&[("pool", 3_000_000), ("edits", 300_000), ("calls", 1_000_000)]),
        full: Form::Each(&[("pool", 10_000_000), ("edits", 1_000_000), ("calls", 3_333_333)]),
        source: Source::Own { suites: &["core"], run: crate::suites::simulator },
    },
    Row {
        number: 7,
        name: "schedules",
        what: "an order of threads breaks an invariant",
        unit: "orders of each model in docs/schedules.md, half of them at random, half with three changes of who goes first",
        gate: FULL_ALONE,
        full: Form::AtLeast(proofs::MODELS * proofs::ORDERS),
        source: Source::Own { suites: &[], run: proofs::schedules },
    },
    Row {
        number: 8,
        name: "cancel",
        what: "a future that is dropped where it waits leaves something behind",
        unit: "public functions in each form, and connects over each transport, dropped at each of their polls; and how often that was where they wait, as soon as they do and when they are woken",
        gate: CANCEL,
        full: CANCEL,
        source: stress(&[
            Target { program: STRESS, tests: &["polls::"] },
            Target { program: &["--lib"], tests: &["client::tests::dropped::"] },
        ]),
    },
    Row {
        number: 9,
        name: "lists",
        what: "a changed list is lost, or stays stale",
        unit: "changes of a server of each era in turn, seen by each of 64 sessions, a loss of the connection for each twenty of them, amid these or after them, and a change between two pages in each connect",
        gate: Form::AtLeast(500),
        full: Form::AtLeast(100_000),
        source: stress(&[Target { program: STRESS, tests: &["lists::"] }]),
    },
    Row {
        number: 10,
        name: "reload",
        what: "an edit of a settings file touches what it does not name",
        unit: "edits at random, in bursts; in the long form 95 of 100 bursts settle within a second",
        gate: Form::AtLeast(500),
        full: Form::AtLeast(10_000),
        source: stress(&[Target { program: STRESS, tests: &["edits::"] }]),
    },
    Row {
        number: 11,
        name: "bleed",
        what: "a session sees what is another's",
        unit: "calls of 64 sessions",
        gate: Form::AtLeast(32_000),
        full: Form::AtLeast(640_000),
        source: stress(&[Target { program: STRESS, tests: &["canaries::"] }]),
    },
    Row {
        number: 12,
        name: "unapproved",
        what: "something is started or dialled that nobody let in",
        unit: "hostile configurations, and changes of one field of what was approved, each system call traced",
        gate: Form::Each(&[("files", 2_000), ("changes", 64)]),
        full: Form::Each(&[("files", 2_000), ("changes", 64)]),
        source: stress(&[Target {
            program: &["--test", "configuration"],
            tests: &["what_nobody_let_in_starts_and_dials_nothing"],
        }]),
    },
    Row {
        number: 13,
        name: "canary",
        what: "a secret comes out",
        unit: "canaries in inputs of Rust, C, Python and Node, looked for in all that these show; those of Rust one for each place, and what a server is to be given has arrived there",
        gate: CANARIES,
        full: CANARIES,
        source: Source::Own {
            suites: &["core", "c", "python", "node"],
            run: crate::suites::canaries,
        },
    },
    Row {
        number: 14,
        name: "frames",
        what: "a bad frame ends otherwise than is written down",
        unit: "bad frames, generated and kept; in the long form 95 of 100 calls that their own generated frame ends have ended within 100 ms, and all these take at most 64 MiB",
        gate: Form::Each(&[("generated", 5_000), ("kept", 1_000)]),
        full: Form::Each(&[("generated", 100_000), ("kept", 1_000)]),
        source: stress(&[
            Target { program: STRESS, tests: &["frames::"] },
            Target { program: &["--test", "odd_servers"], tests: &["every_bad_frame"] },
        ]),
    },
    Row {
        number: 15,
        name: "fuzz",
        what: "an input breaks what reads it",
        unit: "inputs, kept and made at random, for fourteen readers, and in the long form the readers that libFuzzer searched for an hour of processor time since its last finding",
        gate: Form::Each(&[("made", 1_146_000), ("kept", 400)]),
        full: Form::Each(&[("made", 22_920_000), ("kept", 400), ("searched", 14)]),
        source: Source::Own { suites: &["core"], run: crate::fuzz::replayed },
    },
    Row {
        number: 16,
        name: "sign-in",
        what: "a hostile authorization server is obeyed",
        unit: "cases of one that lies, redirects, points elsewhere or never ends, each dial of the process traced",
        gate: Form::AtLeast(95),
        full: Form::AtLeast(95),
        source: stress(&[Target {
            program: &["--test", "http"],
            tests: &["a_hostile_authorization_server"],
        }]),
    },
    Row {
        number: 17,
        name: "approvals",
        what: "a decision is lost, or an old one wins over a rejection",
        unit: "faults at system calls of a save, and writes of two processes",
        gate: Form::Each(&[("faults", 70), ("writes", 200)]),
        full: Form::Each(&[("faults", 340), ("writes", 2_000)]),
        source: Source::Tests {
            suites: &["core"],
            package: "trunkline",
            targets: &[Target { program: &["--lib"], tests: &["approvals::tests::"] }],
        },
    },
    Row {
        number: 18,
        name: "hosts",
        what: "a host with signals or forks of its own dies or hangs",
        unit: "set-ups, in C (forks and ends plain; signals plain, with sanitizers and under valgrind), Python and Node; in the long form 95 of 100 answers of each function to a forked child come within 50 ms",
        gate: HOSTS,
        full: HOSTS,
        source: Source::Own { suites: &["c", "python", "node"], run: crate::suites::hosts },
    },
    Row {
        number: 19,
        name: "abi",
        what: "a wrong call of the C ABI crashes",
        unit: "abusive calls, of every function of the header",
        gate: Form::AtLeast(56_000),
        full: Form::AtLeast(1_030_000),
        source: Source::Own { suites: &["c"], run: crate::suites::abuse },
    },
    Row {
        number: 20,
        name: "callbacks",
        what: "a callback that misbehaves ends the process or holds up others",
        unit: "callbacks that throw, block, call back, close or exit, in C (plain, with sanitizers and under valgrind; those that exit, and those of C++ that throw, not under valgrind), Python and Node; how fast others are meanwhile is the row `callback` of the benchmark",
        gate: CALLBACKS,
        full: CALLBACKS,
        source: Source::Own { suites: &["c", "python", "node"], run: crate::suites::callbacks },
    },
    Row {
        number: 21,
        name: "soak",
        what: "something grows, or a call stays",
        unit: "seconds of calls, with a server killed every two; in the long form a watched settings file is rewritten every seven; from its second quarter to its last nothing may grow by more than a fiftieth and 4 MiB of resident memory, a hundredth and 256 KiB of what is allocated, or 12 descriptors, threads or processes, and how it grew by the hour stands in the plot; and kinds of things that come and go, of which no byte stays allocated; and starts that fail and connects that are dropped, which leave neither a descriptor nor memory",
        gate: Form::Each(&[("seconds", 12), ("kinds", 14), ("failures", 300), ("connects", 300)]),
        full: Form::Each(&[
            ("seconds", 20 * 60),
            ("rewrites", 170),
            ("kinds", 14),
            ("failures", 10_000),
            ("connects", 10_000),
        ]),
        source: Source::Own { suites: &["core"], run: soak::soak },
    },
    Row {
        number: 22,
        name: "sanitizers",
        what: "a sanitizer reports something",
        unit: "tests under Miri, the thread sanitizer and, through C and Python, the address sanitizer",
        gate: FULL_ALONE,
        full: Form::Each(&[("miri", 44), ("threads", 120), ("addresses", 86), ("python", 150)]),
        source: Source::Own { suites: &[], run: proofs::sanitizers },
    },
    Row {
        number: 23,
        name: "mutants",
        what: "more than a tenth of the mutants of a part of the pool's rules is noticed by no test",
        unit: "mutants that compile and were put to the tests, noticed or not, of the pool's state, the gates, reconcile and keys",
        gate: FULL_ALONE,
        full: Form::AtLeast(750),
        source: Source::Own { suites: &[], run: super::mutants::mutants },
    },
    Row {
        number: 24,
        name: "advisories",
        what: "a package in use has an open advisory, or nobody asked about it for thirty days",
        unit: "packages of the lock files, each version by itself, held against what RustSec lacks, and against RustSec as of the copy that was asked, whose youngest entry is `newest` in rustsec.json",
        gate: Form::AtLeast(360),
        full: Form::AtLeast(360),
        source: Source::Tests {
            suites: &["tidy"],
            package: "xtask",
            targets: &[Target { program: &[], tests: &["advisories::"] }],
        },
    },
];
