//! A resource that wants a token, and the authorization server that issues it, both at the server's
//! own address.
//!
//! Everything that they say can be said otherwise, so that a hostile one is a piece of JSON:
//! `--http-auth` takes an object.
//!
//! | Member | What it changes |
//! | --- | --- |
//! | `resource`, `server`, `registration`, `token` | members of these documents; null takes one away |
//! | `redirect` | parameters of the redirect after the sign-in; null takes one away |
//! | `challenge` | the `WWW-Authenticate` of a 401, null for none |
//! | `answers` | by path: `{status, headers, body, repeat}` instead of the answer; `repeat` writes the body so often |
//! | `call_scope` | calls of tools want a token for this scope, else 403 |
//! | `registered_scopes` | true: a client may ask for what it registered for, and for no more |
//! | `granted` | the scopes of every token, whatever was asked for |
//! | `uses` | how many messages a token is good for; a list says it of the first tokens, one by one |
//! | `refresh` | false: what renews a token is refused; `"invalid_client"`: as from a client that is not known |
//! | `renewal_ms`, `registration_ms` | how long these take |
//! | `client` | `[id, secret]` of the one client that is known, who says so in the body |
//! | `by` | `"client_secret_basic"`: that client says so in the header, and the body names none |
//! | `echoes` | calls of tools are answered with what they were let in with: `"messages"`, a log message and an error; `"status"`, an error of HTTP |
//! | `accepts` | by token: its scopes; tokens that it never issued and takes all the same |
//!
//! In every text `$origin` is the server's own origin.

use std::collections::HashMap;
use std::io::{Result, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::exchange::{Request, respond};
use crate::slow::lock;

const JSON: &str = "content-type: application/json";

pub struct Authority {
    origin: String,
    /// Where the server itself is.
    place: &'static str,
    ways: Value,
    issued: Mutex<Issued>,
}

#[derive(Default)]
struct Issued {
    number: u64,
    /// By client: the scopes that it registered for.
    clients: HashMap<String, String>,
    /// By code: what the request said.
    codes: HashMap<String, HashMap<String, String>>,
    /// By token: its scopes, and how often it may be used.
    tokens: HashMap<String, (String, u64)>,
    /// What renews a token, with the scopes.
    renewals: HashMap<String, String>,
}

impl Authority {
    /// One whose ways are this JSON object.
    pub fn parse(
        text: &str,
        origin: &str,
        place: &'static str,
    ) -> std::result::Result<Authority, String> {
        let ways = serde_json::from_str::<Value>(&text.replace("$origin", origin));
        let ways = ways.map_err(|error| format!("--http-auth: {error}"))?;
        let mut issued = Issued::default();
        for (token, scopes) in ways["accepts"].as_object().into_iter().flatten() {
            let uses = ways["uses"].as_u64().unwrap_or(u64::MAX);
            let scopes = scopes.as_str().unwrap_or_default().to_owned();
            issued.tokens.insert(token.clone(), (scopes, uses));
        }
        Ok(Authority { origin: origin.to_owned(), place, ways, issued: Mutex::new(issued) })
    }

    /// Answers what is not for the server itself.
    pub fn answer(&self, request: &Request, out: &mut TcpStream) -> Option<Result<()>> {
        let path = request.path.split('?').next().unwrap_or_default();
        if let Some(answer) = self.ways["answers"].get(path) {
            return Some(otherwise(answer, out));
        }
        let mut document = |document: Value| {
            respond(out, "200 OK", &[JSON.into()], document.to_string().as_bytes())
        };
        Some(match path {
            path if path.strip_prefix("/.well-known/oauth-protected-resource")
                == Some(self.place) =>
            {
                document(self.resource())
            }
            "/.well-known/oauth-authorization-server" => document(self.server()),
            "/authorize" => self.authorize(request, out),
            "/register" => self.register(request, out),
            "/token" => self.token(request, out),
            path if path == self.place => return self.refuse(request, out),
            _ => respond(out, "404 Not Found", &[], b""),
        })
    }

    fn take(&self, time: &str) {
        let time = self.ways[time].as_u64().unwrap_or(0);
        std::thread::sleep(Duration::from_millis(time));
    }

    fn resource(&self) -> Value {
        let origin = &self.origin;
        self.changed(
            "resource",
            json!({ "resource": format!("{origin}{}", self.place), "authorization_servers": [origin] }),
        )
    }

    fn server(&self) -> Value {
        let origin = &self.origin;
        self.changed(
            "server",
            json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
                "authorization_response_iss_parameter_supported": true,
            }),
        )
    }

    fn register(&self, request: &Request, out: &mut TcpStream) -> Result<()> {
        self.take("registration_ms");
        let asked = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let mut issued = lock(&self.issued);
        issued.number += 1;
        let id = format!("client-{}", issued.number);
        issued.clients.insert(id.clone(), asked["scope"].as_str().unwrap_or_default().to_owned());
        let answer = json!({ "client_id": id, "redirect_uris": asked["redirect_uris"] });
        let answer = self.changed("registration", answer);
        respond(out, "201 Created", &[JSON.into()], answer.to_string().as_bytes())
    }

    /// The person is quick, and agrees to everything.
    fn authorize(&self, request: &Request, out: &mut TcpStream) -> Result<()> {
        let query = request.path.split_once('?').map_or("", |(_, query)| query);
        let asked = pairs(query);
        let text = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let complete = text("code_challenge_method") == "S256"
            && !text("code_challenge").is_empty()
            && text("resource") == self.resource()["resource"].as_str().unwrap_or_default();
        if !complete {
            return respond(out, "400 Bad Request", &[], b"incomplete");
        }
        let mut issued = lock(&self.issued);
        issued.number += 1;
        let code = format!("code-canary-{}", issued.number);
        let (back, state) = (text("redirect_uri"), text("state"));
        let registered = issued.clients.get(&text("client_id"));
        let is_registered =
            |one: &str| registered.is_some_and(|all| all.split(' ').any(|it| it == one));
        let beyond = !text("scope").split(' ').all(is_registered);
        let answer = if beyond && self.ways["registered_scopes"] == json!(true) {
            json!({ "error": "invalid_scope", "state": state, "iss": self.origin })
        } else {
            issued.codes.insert(code.clone(), asked);
            json!({ "code": code, "state": state, "iss": self.origin })
        };
        drop(issued);
        let answer = self.changed("redirect", answer);
        let mut pieces = Vec::new();
        for (name, value) in answer.as_object().into_iter().flatten() {
            // Several values stand for a parameter that comes several times.
            let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            let piece =
                |value: &Value| format!("{name}={}", encoded(value.as_str().unwrap_or_default()));
            pieces.extend(values.iter().map(piece));
        }
        respond(out, "302 Found", &[format!("location: {back}?{}", pieces.join("&"))], b"")
    }

    fn token(&self, request: &Request, out: &mut TcpStream) -> Result<()> {
        let asked = pairs(&String::from_utf8_lossy(&request.body));
        if asked.get("grant_type").is_some_and(|way| way == "refresh_token") {
            self.take("renewal_ms");
        }
        let granted = self.ways["granted"].as_str().map(str::to_owned);
        let answer = match self.issue(request, &asked) {
            Ok(scope) => granted.unwrap_or(scope),
            Err(error) => {
                let body = json!({ "error": error }).to_string();
                return respond(out, "400 Bad Request", &[JSON.into()], body.as_bytes());
            }
        };
        let mut issued = lock(&self.issued);
        issued.number += 1;
        let number = issued.number;
        let token = format!("token-canary-{number}");
        let renewal = format!("renewal-canary-{number}");
        let document = json!({
            "access_token": token, "token_type": "Bearer", "refresh_token": renewal, "scope": answer,
        });
        let document = self.changed("token", document);
        let issued_as = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
        let (token, renewal) = (issued_as("access_token"), issued_as("refresh_token"));
        let uses = self.ways["uses"].get(issued.tokens.len()).unwrap_or(&self.ways["uses"]);
        let uses = uses.as_u64().unwrap_or(u64::MAX);
        issued.tokens.insert(token, (answer.clone(), uses));
        issued.renewals.insert(renewal, answer);
        drop(issued);
        respond(out, "200 OK", &[JSON.into()], document.to_string().as_bytes())
    }

    /// The scopes that may be issued for a request.
    fn issue(
        &self,
        request: &Request,
        asked: &HashMap<String, String>,
    ) -> std::result::Result<String, &'static str> {
        let text = |name: &str| asked.get(name).cloned().unwrap_or_default();
        if text("resource") != self.resource()["resource"].as_str().unwrap_or_default() {
            return Err("invalid_target");
        }
        let known = self.ways["client"].as_array();
        let mut named = text("client_id");
        if let Some([id, secret]) = known.map(Vec::as_slice) {
            let texts = [id, secret].map(|it| it.as_str().unwrap_or_default());
            let header = request.header("authorization");
            let matches = match self.ways["by"] == "client_secret_basic" {
                true => header == Some(&basic(texts)) && named.is_empty(),
                false => header.is_none() && [&named, &*text("client_secret")] == texts,
            };
            if !matches {
                return Err("invalid_client");
            }
            named = texts[0].to_owned();
        }
        let mut issued = lock(&self.issued);
        match text("grant_type").as_str() {
            "authorization_code" => {
                let begun = issued.codes.remove(&text("code")).ok_or("invalid_grant")?;
                let is_same = |name: &str| begun.get(name) == asked.get(name);
                let challenge = base64url(&Sha256::digest(text("code_verifier").as_bytes()));
                let proves = begun.get("code_challenge") == Some(&challenge);
                let same = is_same("redirect_uri") && is_same("resource");
                let same = same && begun.get("client_id") == Some(&named);
                if !proves || !same {
                    return Err("invalid_grant");
                }
                Ok(begun.get("scope").cloned().unwrap_or_default())
            }
            "refresh_token" if self.ways["refresh"] == json!(false) => Err("invalid_grant"),
            "refresh_token" if self.ways["refresh"].is_string() => Err("invalid_client"),
            "refresh_token" => {
                issued.renewals.remove(&text("refresh_token")).ok_or("invalid_grant")
            }
            "client_credentials" if known.is_some() => Ok(text("scope")),
            _ => Err("unsupported_grant_type"),
        }
    }

    /// What a message to the server itself is refused with; nothing when its token is good.
    fn refuse(&self, request: &Request, out: &mut TcpStream) -> Option<Result<()>> {
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let mut issued = lock(&self.issued);
        let known = token.and_then(|token| issued.tokens.get_mut(token));
        let Some((scopes, uses)) = known.filter(|(_, uses)| *uses > 0) else {
            let own = format!(
                "Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource{}\"",
                self.origin, self.place
            );
            let challenge = self.ways.get("challenge").cloned().unwrap_or(own.into());
            let header = challenge.as_str().map(|text| format!("www-authenticate: {text}"));
            let headers: Vec<String> = header.into_iter().collect();
            return Some(respond(out, "401 Unauthorized", &headers, b""));
        };
        *uses -= 1;
        let body = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        if let (Some(echoes), "tools/call") =
            (self.ways["echoes"].as_str(), body["method"].as_str()?)
        {
            return Some(echo(echoes, request, &body["id"], out));
        }
        let wanted = self.ways["call_scope"].as_str()?;
        if body["method"] != "tools/call" || scopes.split(' ').any(|scope| scope == wanted) {
            return None;
        }
        let challenge =
            format!("www-authenticate: Bearer error=\"insufficient_scope\", scope=\"{wanted}\"");
        Some(respond(out, "403 Forbidden", &[challenge], b""))
    }

    fn changed(&self, name: &str, mut document: Value) -> Value {
        let changes = self.ways[name].as_object().cloned().unwrap_or_default();
        if let Some(members) = document.as_object_mut() {
            change(members, changes);
        }
        document
    }
}

/// Says back what a call was let in with, wherever a server can say something.
fn echo(echoes: &str, request: &Request, id: &Value, out: &mut TcpStream) -> Result<()> {
    let sent = request.header("authorization").unwrap_or_default();
    let error =
        json!({ "code": -1, "message": format!("you sent {sent}"), "data": { "sent": sent } });
    let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    if echoes == "status" {
        return respond(out, "400 Bad Request", &[JSON.into()], answer.to_string().as_bytes());
    }
    let data = json!({ "header": sent, sent: true });
    let log = json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": { "level": "error", "logger": sent, "data": data },
    });
    let events = [log, answer].map(|event| format!("data: {event}\n\n")).concat();
    respond(out, "200 OK", &["content-type: text/event-stream".into()], events.as_bytes())
}

fn change(members: &mut Map<String, Value>, changes: Map<String, Value>) {
    for (name, value) in changes {
        if value.is_null() {
            members.remove(&name);
        } else {
            members.insert(name, value);
        }
    }
}

fn otherwise(answer: &Value, out: &mut TcpStream) -> Result<()> {
    let texts = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let headers: Vec<String> = texts(&answer["headers"])
        .iter()
        .filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect();
    let body = answer["body"].as_str().unwrap_or_default();
    let times = answer["repeat"].as_u64().unwrap_or(1);
    if answer["silent"] == json!(true) {
        std::thread::park();
    }
    let status = answer["status"].as_str().unwrap_or("200 OK");
    let body = body.repeat(usize::try_from(times).unwrap_or(1));
    let answered = respond(out, status, &headers, body.as_bytes());
    out.flush()?;
    answered
}

/// The parameters of a query or form.
fn pairs(text: &str) -> HashMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let text = text.replace('+', " ");
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// What a client shows in the header.
fn basic(id_and_secret: [&str; 2]) -> String {
    let text = base64url(id_and_secret.join(":").as_bytes());
    let padding = "=".repeat(text.len().wrapping_neg() % 4);
    format!("Basic {}{padding}", text.replace('-', "+").replace('_', "/"))
}

/// Without padding.
pub fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        let letters = (0..=chunk.len()).map(|place| group >> (18 - 6 * place) & 63);
        out.extend(letters.map(|letter| char::from(LETTERS[letter as usize])));
    }
    out
}
