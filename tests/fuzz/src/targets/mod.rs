//! What is put to the test, as one table.

mod abi;
mod approvals;
mod dotenv;
mod envelope;
mod events;
mod expansion;
mod frames;
mod json;
mod kept;
mod lenient;
mod lists;
mod oauth;
mod settings;
mod shapes;
mod socket;

use serde_json::Value;
use trunkline_pool::json::plain;

/// One thing that reads what others wrote.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, on the command line and of the folder of its inputs.
    pub name: &'static str,
    /// What reads them.
    pub what: &'static str,
    /// Panics when something does not hold.
    pub run: fn(&[u8]),
    /// Pieces of an input that mean something.
    pub words: &'static [&'static str],
    /// How many inputs a submission makes, in thousands: the cheap ones more.
    pub thousands: u64,
}

/// In the order of the way of what a server sends, then files, then what a host does.
pub const TARGETS: &[Target] = &[
    Target {
        name: "frames",
        what: "the reader of lines",
        run: frames::run,
        words: &["\n", "\r\n", "{", "\u{feff}", "  ", "{}\n", "\n\n"],
        thousands: 160,
    },
    Target {
        name: "envelope",
        what: "the reader of messages",
        run: envelope::run,
        words: envelope::WORDS,
        thousands: 160,
    },
    Target {
        name: "json",
        what: "whether a text is JSON, and what is read of it",
        run: json::run,
        words: json::WORDS,
        thousands: 160,
    },
    Target {
        name: "events",
        what: "the reader of event streams",
        run: events::run,
        words: events::WORDS,
        thousands: 160,
    },
    Target {
        name: "socket",
        what: "the reader of websockets",
        run: socket::run,
        words: &["\u{1}\u{2}{}", "{\"id\":1}", "\0"],
        thousands: 80,
    },
    Target {
        name: "lists",
        what: "the reader of lists",
        run: lists::run,
        words: lists::WORDS,
        thousands: 40,
    },
    Target {
        name: "shapes",
        what: "the tools that model APIs are shown",
        run: shapes::run,
        words: shapes::WORDS,
        thousands: 20,
    },
    Target {
        name: "oauth",
        what: "the answers of authorization servers",
        run: oauth::run,
        words: oauth::WORDS,
        thousands: 80,
    },
    Target {
        name: "settings",
        what: "the settings files of each product",
        run: settings::run,
        words: settings::WORDS,
        thousands: 50,
    },
    Target {
        name: "expansion",
        what: "variables in configurations",
        run: expansion::run,
        words: expansion::WORDS,
        thousands: 80,
    },
    Target {
        name: "dotenv",
        what: "files of variables",
        run: dotenv::run,
        words: &["\n", "=", "\"", "'", "\\", "#", "export ", "A=", "\\n", "\\$", "\r\n", "\0"],
        thousands: 160,
    },
    Target {
        name: "approvals",
        what: "the file of decisions",
        run: approvals::run,
        words: approvals::WORDS,
        thousands: 80,
    },
    Target {
        name: "kept",
        what: "the files of kept lists",
        run: kept::run,
        words: kept::WORDS,
        thousands: 50,
    },
    Target {
        name: "abi",
        what: "calls of the C ABI in any order",
        run: abi::run,
        words: abi::WORDS,
        thousands: 6,
    },
];

impl Target {
    /// The target of that name.
    pub fn of_name(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }
}

/// What serde_json makes of a text, but for a name of a member that it takes for one of its own:
/// that too is as it is written.
fn value(bytes: &[u8]) -> Option<Value> {
    plain(std::str::from_utf8(bytes).ok()?).ok()
}
