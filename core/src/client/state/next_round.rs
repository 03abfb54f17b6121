//! What a call needs for another round.

use std::sync::Arc;

/// The methods whose results may ask for input.
const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// What a call needs for another round.
#[derive(Debug)]
pub(in crate::client) struct Again {
    pub method: Box<str>,
    pub params: Box<str>,
}

impl Again {
    /// Of a request whose result may ask for input.
    pub(in crate::client) fn of(method: &str, params: &str) -> Option<Arc<Again>> {
        let again = || Arc::new(Again { method: method.into(), params: params.into() });
        METHODS.contains(&method).then(again)
    }
}
