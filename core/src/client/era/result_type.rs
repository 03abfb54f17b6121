//! What a result of the modern era says that it is. Where nothing is said it is complete.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;

use crate::client::connection::Link;
use crate::client::{Reply, errors};
use crate::{Error, ErrorCode, Outcome, Result};

/// The kinds of result that are understood here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum ResultType {
    /// The answer itself.
    Complete,
    /// The server needs answers of ours first, and the request again with them (SPEC 15.4).
    InputRequired,
}

/// What a result says that it is, or the unknown word in its place.
pub(in crate::client) type ParsedResultType = std::result::Result<ResultType, String>;

impl Link {
    /// What a result says that it is. In the legacy era each is the answer itself.
    pub(in crate::client) fn said_by(&self, result: &str) -> ParsedResultType {
        match self.metadata.is_modern() {
            true => ResultType::of(result),
            false => Ok(ResultType::Complete),
        }
    }

    /// The end of a request by this result.
    pub(in crate::client) fn judge(&self, result: &str, said: ParsedResultType) -> Result<Reply> {
        match said {
            Ok(ResultType::Complete) => Ok(Reply { json: result.into() }),
            // Of a request that can have no further rounds.
            Ok(ResultType::InputRequired) => Err(self.input_required()),
            Err(unknown) => {
                let shown = crate::base::escape::escape_line(unknown.as_bytes());
                let message = "the server answered with a result of an unknown type";
                let error = errors::protocol(&self.server, message);
                let shown: String = shown.chars().take(TYPE_SHOWN_CHARS).collect();
                Err(error.with_detail("result_type", shown).with_outcome(Outcome::Unknown))
            }
        }
    }

    /// Nobody here answers what a server asks for: the call ends.
    fn input_required(&self) -> Error {
        Error::new(ErrorCode::Declined, "the server needs an answer that nobody here can give")
            .with_server(self.server.as_ref())
            .with_outcome(Outcome::Unknown)
    }
}

/// Characters of an unknown type that an error shows.
const TYPE_SHOWN_CHARS: usize = 80;

impl ResultType {
    /// The type of a result, or the unknown word in its place.
    fn of(result: &str) -> ParsedResultType {
        #[derive(Deserialize)]
        struct Typed<'a> {
            #[serde(rename = "resultType", borrow, default)]
            result_type: Option<Cow<'a, str>>,
        }
        // Prepared once: for each result that takes longer than the search.
        static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("resultType"));
        if NAME.find(result.as_bytes()).is_none() {
            return Ok(ResultType::Complete);
        }
        let typed = serde_json::from_str::<Typed<'_>>(result);
        match typed.map(|typed| typed.result_type) {
            Ok(None) => Ok(ResultType::Complete),
            Ok(Some(word)) => match &*word {
                "complete" => Ok(ResultType::Complete),
                "input_required" => Ok(ResultType::InputRequired),
                _ => Err(word.into_owned()),
            },
            Err(_) => Err("not a string".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SPEC 4.8: an unknown type is no result, and a missing one says complete.
    #[test]
    fn the_type_of_a_result_is_read_where_it_stands() {
        let of = ResultType::of;
        for complete in [
            "{}",
            r#"{"resultType":"complete","x":1}"#,
            r#"{"x":{"resultType":"task"}}"#,
            r#"{"x":"resultType"}"#,
            r#"{"resultType":null}"#,
        ] {
            assert_eq!(of(complete), Ok(ResultType::Complete), "{complete}");
        }
        assert_eq!(of(r#"{"resultType":"input_required"}"#), Ok(ResultType::InputRequired));
        assert_eq!(of(r#"{"resultType":"task"}"#), Err("task".into()));
        assert_eq!(of(r#"{"resultType":7}"#), Err("not a string".into()));
    }
}
