//! Why an answer is of no use.

/// Why an answer is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerRefusal {
    /// The server refuses, whatever the status of HTTP: its own code, and its own words if it has
    /// some.
    Said {
        /// The code, such as `invalid_grant`.
        code: String,
        /// The words.
        description: Option<String>,
    },
    /// A token of a kind that is not understood, by its name.
    Kind(String),
    /// Another redirect was registered than the one that was asked for.
    Redirect {
        /// What was asked for.
        asked: String,
        /// What was registered.
        registered: Vec<String>,
    },
    /// A client that has to prove itself in a way that is not understood, by its name.
    Authentication(String),
    /// It is no such answer: what it lacks.
    Lacks(&'static str),
}
