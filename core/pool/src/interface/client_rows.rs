//! The options that say who the host is, and how much of servers' logs it wants.

use super::options::OptionKind::{Icons, Object, Text, Word};
use super::options::{OptionRow, row};
use crate::options::LOG_LEVELS;

pub(super) const CLIENT_INFO: OptionRow = row(
    "client_info",
    Object(MEMBERS),
    "the library's own name and version",
    "who the host is: servers learn it at the handshake, and in the modern era from each request; it is no part of a connection's identity",
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
    "the least level of log messages that the session receives; a server that sessions share gets the lowest of theirs, and each receives its own level and above; a session without a level receives what the server sends by default, whatever the others ask for",
);

pub(super) const LEASE_LOG_LEVEL: OptionRow = row(
    "log_level",
    Word(LOG_LEVELS),
    "the session's",
    "the least level of this server's log messages that the session hears, until another acquire names another level",
);
