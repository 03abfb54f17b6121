//! How rows are written: what most of them have is the default.

use super::operation::{Failure, Gives, Language, Operation, Owner, Spelling, Waits};
use super::parameters::{Parameter, ParameterKind as Kind};
use crate::interface::{ErrorCode, OptionScope};

/// The first version; there was none before it.
const FIRST: &str = "0.1";

/// What returns at once.
pub(super) const fn now(owner: Owner, name: &'static str, doc: &'static str) -> Operation {
    Operation {
        owner,
        name,
        c: Spelling::Same,
        python: Spelling::Same,
        node: Spelling::Same,
        parameters: &[],
        options: None,
        waits: Waits::Now,
        gives: Gives::Nothing,
        result: "",
        typescript: "void",
        errors: &[],
        errors_of: "",
        since: FIRST,
        doc,
        notes: &[],
        by_hand: &[],
    }
}

/// What has an end of its own.
pub(super) const fn later(owner: Owner, name: &'static str, doc: &'static str) -> Operation {
    Operation { waits: Waits::Later, ..now(owner, name, doc) }
}

/// What is a request to a server.
pub(super) const fn sends(owner: Owner, name: &'static str, doc: &'static str) -> Operation {
    Operation {
        waits: Waits::Sends,
        gives: Gives::Call,
        options: Some(OptionScope::Call),
        ..now(owner, name, doc)
    }
}

pub(super) const fn parameter(name: &'static str, kind: Kind, doc: &'static str) -> Parameter {
    Parameter { name, kind, doc }
}

/// An error whose code says it all.
pub(super) const fn fails(code: ErrorCode) -> Failure {
    Failure { code, when: "" }
}

/// An error, and when.
pub(super) const fn fails_when(code: ErrorCode, when: &'static str) -> Failure {
    Failure { code, when }
}

impl Operation {
    pub(super) const fn takes(self, parameters: &'static [Parameter]) -> Self {
        Operation { parameters, ..self }
    }

    pub(super) const fn options(self, scope: OptionScope) -> Self {
        Operation { options: Some(scope), ..self }
    }

    pub(super) const fn gives(
        self,
        gives: Gives,
        typescript: &'static str,
        result: &'static str,
    ) -> Self {
        Operation { gives, typescript, result, ..self }
    }

    pub(super) const fn errors(self, errors: &'static [Failure]) -> Self {
        Operation { errors, ..self }
    }

    pub(super) const fn errors_of(self, errors_of: &'static str) -> Self {
        Operation { errors_of, ..self }
    }

    pub(super) const fn notes(self, notes: &'static [(Language, &'static str)]) -> Self {
        Operation { notes, ..self }
    }

    pub(super) const fn by_hand(self, by_hand: &'static [Language]) -> Self {
        Operation { by_hand, ..self }
    }

    pub(super) const fn c(self, c: Spelling) -> Self {
        Operation { c, ..self }
    }

    pub(super) const fn python(self, python: Spelling) -> Self {
        Operation { python, ..self }
    }

    pub(super) const fn node(self, node: Spelling) -> Self {
        Operation { node, ..self }
    }
}
