//! The groups of workloads, and the tables of what they gave.

/// Workloads that are carried out together.
pub struct Group {
    pub name: &'static str,
    /// It is carried out in so many rounds at most: what is no matter of microseconds needs no
    /// more.
    pub rounds: usize,
    pub workloads: &'static [Workload],
}

/// One workload, and the figure of it that its table is about.
pub struct Workload {
    pub name: &'static str,
    pub title: &'static str,
    pub figure: &'static str,
    /// The heading of that figure.
    pub unit: &'static str,
}

const fn time(name: &'static str, title: &'static str) -> Workload {
    Workload { name, title, figure: "p50_us", unit: "p50 us" }
}

/// The unit of what is better the more it is.
pub const RATE: &str = "calls/s";

const fn rate(name: &'static str, title: &'static str) -> Workload {
    Workload { name, title, figure: "calls_per_s", unit: RATE }
}

const fn figure(
    name: &'static str,
    title: &'static str,
    figure: &'static str,
    unit: &'static str,
) -> Workload {
    Workload { name, title, figure, unit }
}

/// The group that has a workload.
pub fn group_of(workload: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.workloads.iter().any(|one| one.name == workload))
}

/// In the order of the tables.
pub const GROUPS: &[Group] = &[
    Group {
        name: "calls",
        rounds: usize::MAX,
        workloads: &[
            time("seq-100", "100 B, one at a time"),
            time("seq-100-polled", "100 B, one at a time, each waited for by poll"),
            time("seq-100k", "100 KB, one at a time"),
            time("seq-100k-structured", "100 KB of structured content, one at a time"),
            time("seq-100k-bytes", "100 KB as bytes, one at a time"),
            rate("wide-100", "100 B, 64 in flight"),
            rate("wide-100k", "100 KB, 64 in flight"),
        ],
    },
    Group {
        name: "acquire",
        rounds: usize::MAX,
        workloads: &[time("acquire", "warm acquire and release")],
    },
    Group {
        name: "http",
        rounds: usize::MAX,
        workloads: &[time("http-100", "100 B over Streamable HTTP, one at a time")],
    },
    Group {
        name: "crowd",
        rounds: 5,
        workloads: &[
            rate("wide-one", "100 B, 64 in flight of one session"),
            rate("wide-sessions", "100 B, one in flight of each of 64 sessions"),
            time("fan-out-1", "a changed list of tools reaches one session"),
            time("fan-out-1000", "a changed list of tools reaches 1,000 sessions"),
            time("told-1000", "1,000 tasks are told of one thing by a queue each"),
        ],
    },
    Group {
        name: "steps",
        rounds: 5,
        workloads: &[
            time("steps-10", "one step of the pool, 10 entries and 100 leases"),
            time("steps-10000", "one step of the pool, 10,000 entries and 100,000 leases"),
            time("bare-10", "the places in memory of such a step alone, 10 entries and 100 leases"),
            time("bare-10000", "the same, 10,000 entries and 100,000 leases"),
        ],
    },
    Group {
        name: "faults",
        rounds: usize::MAX,
        workloads: &[
            time("seq-100-calm", "100 B, one at a time, beside a server that reads"),
            time("seq-100-deaf", "100 B, one at a time, beside a server that does not read"),
            time(
                "seq-100-callback",
                "100 B, one at a time, beside a callback that does not return",
            ),
            time("loss-20", "from the kill of a server amid 20 calls to the end of the last"),
        ],
    },
    Group {
        name: "passes",
        rounds: 3,
        workloads: &[
            time("reconcile-1000", "reconcile of 1,000 servers of which one changed"),
            time("settings-1000", "the same as the text of a settings file"),
        ],
    },
    Group {
        name: "loading",
        rounds: 3,
        workloads: &[
            time("pool-ready", "the library is loaded and a pool has carried out a command"),
            figure("import", "the library is imported", "import_cpu_us", "CPU us"),
            figure("import-1", "beyond a bare interpreter, at 1 connection", "kib", "KiB"),
            figure("import-50", "beyond a bare interpreter, at 50 connections", "kib", "KiB"),
        ],
    },
    Group {
        name: "memory",
        rounds: 1,
        workloads: &[figure("memory", "each idle connection", "connection_kib", "KiB")],
    },
    Group {
        name: "starts",
        rounds: 2,
        workloads: &[
            time("start-first-0", "ten servers start: the tools of all"),
            time("start-late-0", "the same, after the last of them listed"),
            time("start-ready-0", "likewise: all are ready"),
            time("start-first-1", "one of them 2 s late: the tools of the nine"),
            time("start-late-1", "the same, after the last of the nine listed"),
            time("start-ready-1", "likewise: all are ready"),
            time("start-first-3", "three of them 2 s late: the tools of the seven"),
            time("start-late-3", "the same, after the last of the seven listed"),
            time("start-ready-3", "likewise: all are ready"),
        ],
    },
    Group {
        name: "cached",
        rounds: 3,
        workloads: &[
            time("cached-lazy", "a new host lists 200 kept tools of ten lazy servers"),
            time("cached-lazy-pool", "of that, until it has its pool"),
            time("cached-lazy-reconcile", "then until it has reconciled"),
            time("cached-lazy-session", "then until `session` has returned"),
            time("cached-lazy-listed", "then until it has the list"),
            time("cached-eager", "likewise, while the servers are started"),
            time("cached-eager-pool", "of that, until it has its pool"),
            time("cached-eager-reconcile", "then until it has reconciled"),
            time("cached-eager-session", "then until `session` has returned"),
            time("cached-eager-listed", "then until it has the list"),
        ],
    },
    Group {
        name: "shared",
        rounds: 1,
        workloads: &[
            time("shared", "20 sessions share five real servers: all are ready"),
            time("own", "20 sessions have five real servers each: all are ready"),
        ],
    },
];
