//! What a call needs for another round.

use std::sync::Arc;

use crate::client::era::Metadata;

/// The methods whose results may ask for input.
const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// What a call needs for another round.
#[derive(Debug)]
pub(in crate::client) struct NextRound {
    pub method: Box<str>,
    pub params: Box<str>,
    /// What each round says of its client, where that is not what the connection says.
    pub relayed: Option<Arc<Metadata>>,
}

impl NextRound {
    /// Of a request whose result may ask for input.
    pub(in crate::client) fn of(
        method: &str,
        params: &str,
        relayed: Option<&Arc<Metadata>>,
    ) -> Option<Arc<NextRound>> {
        let again = || {
            let relayed = relayed.cloned();
            Arc::new(NextRound { method: method.into(), params: params.into(), relayed })
        };
        METHODS.contains(&method).then(again)
    }
}
