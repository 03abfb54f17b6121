//! The operations that need no pool.

use super::build::{now, parameter};
use super::operation::{Gives, Language, Operation, Owner, Spelling};
use super::parameters::ParameterKind as Kind;
use crate::interface::ErrorCode::InvalidArgument;

use super::build::fails;

pub(super) const ROWS: &[Operation] = &[
    now(Owner::Library, "features", "The capability tags of the library.")
        .gives(Gives::Report, "string[]", "a list of texts; in C it is there for ever")
        .by_hand(&Language::ALL),
    now(
        Owner::Library,
        "detect",
        "Lists the settings files of products that exist for this user and a workspace, in the order of `docs/reference/settings.md`. It looks up some fifty paths and opens nothing.",
    )
    .takes(&[parameter("workspace", Kind::OptionalText, "its folder; the current directory without one")])
    .gives(
        Gives::Report,
        "{ v: number; files: DetectedFile[] }",
        "`{v, files: [{path, format, scope}]}`; `scope` is `user`, `project`, `workspace` or `managed`",
    )
    .errors(&[fails(InvalidArgument)])
    .by_hand(&Language::ALL),
    now(
        Owner::Library,
        "logs",
        "Gives a function of the host what the library logs from a level on. The process has one such function: another one takes its place.",
    )
    .takes(&[parameter("function", Kind::Functions, "told the records, in batches, and how many were dropped")])
    .gives(Gives::Object, "Logs", "what is given up to end it")
    .c(Spelling::As("trunkline_logs_new"))
    .python(Spelling::Absent("the standard module `logging`"))
    .node(Spelling::As("startLogs"))
    .by_hand(&Language::ALL),
];
