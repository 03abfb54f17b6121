//! What a server asks for in `WWW-Authenticate` (RFC 9110, 6750, 9728).

use reqwest::Url;

/// What the `Bearer` challenge of a refusal says. Empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// The error's code: `invalid_token`, `insufficient_scope` and others.
    pub error: Option<String>,
    /// The scopes that are needed, separated by spaces.
    pub scope: Option<String>,
    /// Where the protected resource's metadata is said to be.
    pub resource_metadata: Option<String>,
}

impl Challenge {
    /// Reads the first `Bearer` challenge of these header values. What cannot be read is as good as
    /// absent: a refusal without a challenge is a refusal too.
    pub(crate) fn of<'a>(values: impl Iterator<Item = &'a str>) -> Challenge {
        let mut found = values.flat_map(|value| ChallengeReader { rest: value }.challenges());
        let bearer = found.find(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let mut challenge = Challenge::default();
        for (name, value) in bearer.map(|(_, parameters)| parameters).unwrap_or_default() {
            let field = match name.to_ascii_lowercase().as_str() {
                "error" => &mut challenge.error,
                "scope" => &mut challenge.scope,
                "resource_metadata" => &mut challenge.resource_metadata,
                _ => continue,
            };
            // Of a parameter that comes twice the first counts, as with every header that a proxy
            // may add to.
            field.get_or_insert(value);
        }
        challenge
    }

    /// Whether a header value has a challenge of `Bearer`.
    pub(crate) fn is_in(value: &str) -> bool {
        let found = ChallengeReader { rest: value }.challenges();
        found.iter().any(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
    }

    /// What it says of where to sign in, for a reader that takes a parameter by its name alone,
    /// whatever stands around it: nothing but the scopes and the metadata, and nothing at all where
    /// these are of another origin than the server (S-31).
    pub(crate) fn of_home(&self, home: &Url) -> Option<String> {
        let metadata = match self.resource_metadata.as_deref() {
            Some(pointer) => {
                let pointer = home.join(pointer).ok().filter(|to| to.origin() == home.origin())?;
                Some(format!("resource_metadata=\"{pointer}\""))
            }
            None => None,
        };
        let is_fit = |scope: &&str| {
            let is_fit = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
            scope.bytes().all(is_fit) && !scope.to_ascii_lowercase().contains("resource_metadata=")
        };
        let scopes: Vec<&str> = self.scopes().filter(is_fit).collect();
        let scope = (!scopes.is_empty()).then(|| format!("scope=\"{}\"", scopes.join(" ")));
        let parameters: Vec<String> = scope.into_iter().chain(metadata).collect();
        (!parameters.is_empty()).then(|| format!("Bearer {}", parameters.join(", ")))
    }

    /// The scopes that are needed.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scope.as_deref().unwrap_or_default().split_whitespace()
    }

    /// Whether it wants a token for more than the one that was sent.
    pub(crate) fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// The challenges of one header value.
struct ChallengeReader<'a> {
    rest: &'a str,
}

type Parameters = Vec<(String, String)>;

impl ChallengeReader<'_> {
    fn challenges(mut self) -> Vec<(String, Parameters)> {
        let mut challenges: Vec<(String, Parameters)> = Vec::new();
        while challenges.len() < CHALLENGES_MAX {
            self.skip(|c| c == ',' || c.is_ascii_whitespace());
            let Some(word) = self.token() else { break };
            self.skip(|c| c == ' ' || c == '\t');
            let Some((_, parameters)) = challenges.last_mut().filter(|_| self.take('=')) else {
                challenges.push((word, Vec::new()));
                continue;
            };
            self.skip(|c| c == ' ' || c == '\t');
            let Some(value) = self.value() else { break };
            if parameters.len() < PARAMETERS_MAX {
                parameters.push((word, value));
            }
        }
        challenges
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(skipped);
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn token(&mut self) -> Option<String> {
        // `/`, `:` and the padding of a bare credential are no part of tokens, but servers write
        // them unquoted.
        let ends = |c: char| c.is_ascii_whitespace() || ",=\"".contains(c);
        let end = self.rest.find(ends).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!token.is_empty()).then(|| token.to_owned())
    }

    fn value(&mut self) -> Option<String> {
        if !self.take('"') {
            return self.token();
        }
        let mut value = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(value);
                }
                '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                other => value.push(other),
            }
        }
        None
    }
}

/// Challenges that are read of one header.
const CHALLENGES_MAX: usize = 8;

/// Parameters that are read of one challenge.
const PARAMETERS_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> [Option<String>; 3] {
        let Challenge { error, scope, resource_metadata } = Challenge::of(values.iter().copied());
        [error, scope, resource_metadata]
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    /// SPEC 15.3
    #[test]
    fn a_bearer_challenge_is_read_whatever_stands_around_it() {
        let whole =
            r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://h/x""#;
        let all = [some("insufficient_scope"), some("a b"), some("https://h/x")];
        assert_eq!(of(&[whole]), all);
        assert_eq!(of(&[&format!("Basic realm=\"a, Bearer b\", {whole}")]), all);
        assert_eq!(of(&["Negotiate abc", whole]), all);
        assert_eq!(of(&["bearer scope = a"]), [None, some("a"), None]);
        assert_eq!(of(&[r#"Bearer scope="a \"b\"", scope=c"#]), [None, some("a \"b\""), None]);
    }

    /// S-31: what is passed on leads nowhere else, however it is searched.
    #[test]
    fn what_is_passed_on_leads_home_alone() {
        let home = Url::parse("https://h/mcp").unwrap();
        let passed_on = |text: &str| Challenge::of([text].into_iter()).of_home(&home);
        let pointer = |place: &str| some(&format!("Bearer resource_metadata=\"{place}\""));
        assert_eq!(passed_on(r#"Bearer resource_metadata="https://h/x""#), pointer("https://h/x"));
        assert_eq!(passed_on(r#"Bearer resource_metadata="/x\"y""#), pointer("https://h/x%22y"));
        assert_eq!(
            passed_on(r#"Bearer error="scope=c", resource_metadata=/x, scope="a \"b""#),
            some("Bearer scope=\"a\", resource_metadata=\"https://h/x\"")
        );
        for text in [
            r#"Bearer resource_metadata="https://other/x", scope=a"#,
            r#"Bearer error="x", Bearer resource_metadata="https://h/x""#,
            r#"Bearer error="resource_metadata=https://other/x""#,
            r#"Bearer scope="Resource_Metadata=https://other/x""#,
            r#"Basic resource_metadata="https://h/x""#,
        ] {
            assert_eq!(passed_on(text), None, "{text}");
        }
    }

    /// SPEC 15.3
    #[test]
    fn what_cannot_be_read_is_no_challenge() {
        let none = [None, None, None];
        for text in ["", "Bearer", "Basic realm=x", "=,=,=", "\"", "Bearer scope=\"open", ",,,"] {
            assert_eq!(of(&[text]), none, "{text}");
        }
        assert_eq!(of(&["Bearer =,".repeat(10_000).as_str()]), none);
    }
}
