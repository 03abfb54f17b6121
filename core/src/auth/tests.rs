//! An authorization server for tests, at which nothing but tokens is to be had.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use trunkline_pool::config::ServerSpec;

use super::credentials::Credentials;
use super::credentials::grant::Grant;
use super::sign_in::find;
use crate::storage::tokens::{GrantKey, TokenRecord, now_ms};

/// It is there as long as the runtime that it began in.
pub(super) struct Issuer {
    port: u16,
    asked: Arc<AtomicUsize>,
    answer: Arc<Mutex<Answer>>,
}

#[derive(Clone, Default)]
struct Answer {
    /// A request without this is refused.
    to: String,
    answer: Value,
}

impl Issuer {
    /// One that answers with this.
    pub(super) async fn new(answer: Value) -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let issuer = Issuer { port, asked: Arc::default(), answer: Arc::default() };
        issuer.answers(answer);
        let (asked, answer) = (issuer.asked.clone(), issuer.answer.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                asked.fetch_add(1, Ordering::Relaxed);
                let answer = answer.lock().unwrap().clone();
                serve(BufReader::new(stream), answer).await;
            }
        });
        issuer
    }

    /// What it answers from here on, with the `status` that is in it, if any.
    pub(super) fn answers(&self, answer: Value) {
        self.answers_to("", answer);
    }

    /// The same to those alone who have this refresh token.
    pub(super) fn answers_to(&self, refresh: &str, answer: Value) {
        *self.answer.lock().unwrap() = Answer { to: refresh.to_owned(), answer };
    }

    /// How often it was asked for a token.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// A server that it issues tokens for to people who sign in.
    pub(super) fn spec(&self) -> ServerSpec {
        self.spec_with(json!({}))
    }

    /// One with more in its `oauth`.
    pub(super) fn spec_with(&self, more: Value) -> ServerSpec {
        let origin = format!("http://127.0.0.1:{}", self.port);
        let mut oauth = json!({
            "authorization_url": format!("{origin}/authorize"), "token_url": format!("{origin}/token"),
        });
        oauth.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let config = json!({ "type": "http", "url": format!("{origin}/mcp"), "oauth": oauth });
        ServerSpec::from_value("s", &config).unwrap()
    }
}

async fn serve(mut stream: BufReader<TcpStream>, Answer { to, answer }: Answer) {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut request = vec![0; length];
    stream.read_exact(&mut request).await.unwrap();
    let request = String::from_utf8(request).unwrap();
    let refused = || json!({ "status": 400, "error": "invalid_grant" });
    let answer = if request.contains(&to) { answer } else { refused() };
    let status = answer["status"].as_u64().unwrap_or(200);
    let body = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).await.unwrap();
}

/// What a host was issued for these scopes, with this token.
pub(super) fn issued(
    credentials: &Credentials,
    issuer: &str,
    scopes: &[&str],
    token: Value,
) -> TokenRecord {
    let resource = credentials.home.as_ref().map(Url::to_string).unwrap_or_default();
    TokenRecord {
        key: GrantKey::new(issuer, resource, (&credentials.fingerprint, credentials.author)),
        client_id: "client".into(),
        client_secret: None,
        client_authentication: None,
        client_expires_at: None,
        takes_bearer: false,
        redirect_uri: "http://localhost:3000/callback".into(),
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        received_ms: now_ms(),
        signed_in_ms: now_ms(),
        token,
    }
}

/// What a person signed in for, and how it is kept.
pub(super) async fn granted(
    credentials: &Credentials,
    scopes: &[&str],
    token: Value,
) -> (Grant, TokenRecord) {
    let found = find(credentials).await.unwrap();
    let kept = issued(credentials, &found.issuer.clone(), scopes, token);
    (Grant::restore(&kept, found, None).await.unwrap(), kept)
}
