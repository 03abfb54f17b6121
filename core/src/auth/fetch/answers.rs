//! What comes back, as the flows of rmcp want it, and what of it counts later (SPEC 18.2, 18.7).

use http::{Response, StatusCode};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value, json};
use trunkline_pool::oauth::{
    self, AnswerRefusal, Authentication, Challenge, Issued, is_resource_of,
};

use super::request_kind::RequestKind;
use super::{AuthorizationAnswer, Fetch};
use crate::Error;
use crate::auth::errors;

impl Fetch {
    /// An answer that a flow can read.
    ///
    /// # Errors
    /// What is wrong with it, where the flow would not say.
    pub(super) fn read(
        &self,
        wanted: RequestKind,
        url: &Url,
        response: Response<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, Error> {
        let is_issued = response.status().is_success();
        match wanted {
            RequestKind::Document if response.status() != StatusCode::OK => Ok(response),
            RequestKind::Document => Ok(self.document(url, response)),
            RequestKind::Token(proof) if is_issued => self.token(proof, response),
            RequestKind::Client(redirect) if is_issued => self.client(&redirect, response),
            RequestKind::Token(proof) => Ok(self.refused(proof, response)),
            // What a refused registration says is repeated as it came.
            RequestKind::Client(_) => {
                let error = code_of(oauth::said(response.body()).as_ref());
                self.note(response.status(), error, None);
                Ok(response)
            }
        }
    }

    /// Metadata. The resource that they are of is judged here, and the flow is told the server's
    /// own address for it.
    fn document(&self, url: &Url, response: Response<Vec<u8>>) -> Response<Vec<u8>> {
        let home = self.guard.home();
        let members = oauth::document(response.body(), self.guard.way());
        let Some(mut members) = members else { return response };
        if url != home && oauth::is_of_resource(&members) {
            let written = members.remove("resource");
            let written = written.as_ref().and_then(Value::as_str).map(str::to_owned);
            let mut heard = self.heard();
            match written {
                Some(written) if is_resource_of(home, &written) => {
                    members.insert("resource".to_owned(), home.as_str().into());
                    heard.resource = Some(written);
                }
                Some(written) => heard.foreign = Some(written),
                None => {}
            }
        }
        with_members(response, members)
    }

    fn token(
        &self,
        proof: Authentication,
        response: Response<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, Error> {
        let challenge = if self.is_bearer() { Challenge::Bearer } else { Challenge::Unknown };
        let read = oauth::issued(response.body(), challenge);
        self.note(response.status(), code_of(read.as_ref().err()), Some(proof));
        match read {
            Ok(Issued { members, called }) => {
                called.iter().for_each(|called| self.warnings.of_kind(&self.server, called));
                Ok(with_members(response, members))
            }
            Err(AnswerRefusal::Said { code, description }) => {
                Ok(saying(response, &code, description.as_deref()))
            }
            Err(AnswerRefusal::Kind(kind)) => {
                let kind = errors::shown(&self.redact(&kind));
                let message = format!("the token is of a kind that is not supported: `{kind}`");
                Err(errors::broken(message, "token").with_detail("found", kind))
            }
            Err(_) => {
                let message = "the answer of the authorization server is not a token";
                Err(errors::broken(message, "token"))
            }
        }
    }

    fn client(
        &self,
        redirect: &str,
        response: Response<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, Error> {
        let read = oauth::registered(response.body(), redirect);
        self.note(response.status(), code_of(read.as_ref().err()), None);
        match read {
            Ok(registered) => {
                registered.secret.iter().for_each(|secret| self.redactor.learn(secret));
                let members = registered.members.clone();
                self.heard().registered = Some(registered);
                Ok(with_members(response, members))
            }
            Err(refusal) => Err(self.unregistered(refusal)),
        }
    }

    fn unregistered(&self, refusal: AnswerRefusal) -> Error {
        let shown = |text: &str| errors::shown(&self.redact(text));
        match refusal {
            AnswerRefusal::Said { code, description } => {
                let code = shown(&code);
                let words = description.map(|words| format!(": {}", shown(&words)));
                let why = format!("{code}{}", words.unwrap_or_default());
                errors::unregistered(&why).with_detail("error", code)
            }
            AnswerRefusal::Redirect { asked, registered } => {
                let message = "the authorization server registered another redirect";
                errors::differs(message, "redirect", &asked, Some(&registered.join(" ")))
            }
            AnswerRefusal::Authentication(name) => {
                let name = shown(&name);
                let message =
                    format!("the client is to prove itself by `{name}`, which is not supported");
                errors::broken(message, "registration").with_detail("found", name)
            }
            AnswerRefusal::Lacks(what) => {
                errors::unregistered(&format!("the answer has no `{what}`"))
            }
            _ => errors::unregistered("the answer cannot be read"),
        }
    }

    /// A refusal of a token, in whatever form it says why.
    fn refused(&self, proof: Authentication, response: Response<Vec<u8>>) -> Response<Vec<u8>> {
        let said = oauth::said(response.body());
        self.note(response.status(), code_of(said.as_ref()), Some(proof));
        match said {
            Some(AnswerRefusal::Said { code, description }) => {
                saying(response, &code, description.as_deref())
            }
            _ => response,
        }
    }

    /// Remembers how it was answered. A code is somebody else's words, in which a secret may be
    /// said back.
    fn note(&self, status: StatusCode, error: Option<String>, proof: Option<Authentication>) {
        let error = error.map(|code| self.redact(&code));
        let mut answered = self.answered.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *answered = Some(AuthorizationAnswer { status, error, proof });
    }
}

/// The code of a refusal in the server's own words.
fn code_of(refusal: Option<&AnswerRefusal>) -> Option<String> {
    match refusal {
        Some(AnswerRefusal::Said { code, .. }) => Some(code.clone()),
        _ => None,
    }
}

/// The same answer, with these members.
fn with_members(mut response: Response<Vec<u8>>, members: Map<String, Value>) -> Response<Vec<u8>> {
    *response.body_mut() = Value::from(members).to_string().into_bytes();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if response.status().is_success() {
        *response.status_mut() = StatusCode::OK;
    }
    response
}

/// A refusal as RFC 6749 5.2 writes it, whatever status it came with.
fn saying(response: Response<Vec<u8>>, code: &str, description: Option<&str>) -> Response<Vec<u8>> {
    let mut members = Map::new();
    members.insert("error".to_owned(), code.into());
    members.extend(description.map(|words| ("error_description".to_owned(), json!(words))));
    let mut response = with_members(response, members);
    if response.status().is_success() {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    response
}
