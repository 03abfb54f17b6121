//! What a call needs for another round.

use std::sync::Arc;

/// The methods whose results may ask for input.
const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// What a call needs for another round.
#[derive(Debug)]
pub(in crate::client) struct NextRound {
    pub method: Box<str>,
    pub params: Box<str>,
}

impl NextRound {
    /// Of a request whose result may ask for input.
    pub(in crate::client) fn of(method: &str, params: &str) -> Option<Arc<NextRound>> {
        let again = || Arc::new(NextRound { method: method.into(), params: params.into() });
        METHODS.contains(&method).then(again)
    }
}
