//! The headers of the protocol on an HTTP request.

/// The headers of one request whose names begin with `Mcp-`, as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpHeaders {
    /// Names in lower case, and values without white space around them.
    all: Vec<(String, String)>,
}

impl McpHeaders {
    /// Of all headers of a request; others than the protocol's are left out.
    pub fn new<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> McpHeaders {
        let read = |(name, value): (&str, &str)| {
            let value = value.trim_matches([' ', '\t']).to_owned();
            (name.to_ascii_lowercase(), value)
        };
        let ours = |(name, _): &(String, String)| name.starts_with("mcp-");
        McpHeaders { all: all.into_iter().map(read).filter(ours).collect() }
    }

    /// The value of a header; an error where it is there twice with different values.
    ///
    /// # Errors
    /// When two values differ.
    pub fn get(&self, name: &str) -> Result<Option<&str>, Differing> {
        let is_same = |(had, _): &&(String, String)| had.eq_ignore_ascii_case(name);
        let mut values = self.all.iter().filter(is_same).map(|(_, value)| value.as_str());
        let first = values.next();
        if values.all(|value| Some(value) == first) { Ok(first) } else { Err(Differing) }
    }
}

/// A header is there twice, with different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Differing;
