//! The options that say who the host is, and how much of servers' logs it wants.

use super::option_rows::row;
use super::options::OptionKind::{Icons, Object, Text, Word};
use super::options::OptionRow;
use crate::options::LOG_LEVELS;

pub(super) const CLIENT_INFO: OptionRow = row(
    "client_info",
    Object(MEMBERS),
    "the library's own name and version",
    "who the host is, as servers are told at the handshake and by each request of the modern era; it tells no connection from another",
);

const MEMBERS: &[OptionRow] = &[
    row("name", Text, "", "the name, for programs; required"),
    row("title", Text, "none", "the name, for people"),
    row("version", Text, "", "the version; required"),
    row(
        "icons",
        Icons,
        "[]",
        "icons as the protocol has them: `src`, an address of `https`, `http` or `data`, `mimeType`, `sizes`, and `theme`, `light` or `dark`",
    ),
    row("website", Text, "none", "the address of the host's site"),
];

pub(super) const SESSION_LOG_LEVEL: OptionRow = row(
    "log_level",
    Word(LOG_LEVELS),
    "the server's own",
    "how grave log messages of its servers have to be to be heard; a server that several sessions share is told the least of theirs, and each hears its own; a session that names none hears what a server says unasked, whatever others name",
);

pub(super) const LEASE_LOG_LEVEL: OptionRow = row(
    "log_level",
    Word(LOG_LEVELS),
    "the session's",
    "how grave log messages of this server have to be to be heard by the session, until another acquire says another level",
);
