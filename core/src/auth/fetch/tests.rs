//! Names that lead where nobody may be led (S-31): what is asked for a name is a stand-in, what
//! becomes of the answer is not.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::*;
use crate::auth::client_config::ClientSpec;
use crate::net::address_policy::{Author, Lookup};

/// Who answers for names, and how often it was asked.
struct Names {
    lookup: Lookup,
    asked: Arc<AtomicUsize>,
}

impl Names {
    /// These addresses, one answer after another, the last for ever.
    fn new(answers: &[&[&str]]) -> Names {
        let address = |text: &&str| SocketAddr::new(text.parse::<IpAddr>().unwrap(), 0);
        let answers: Vec<Vec<SocketAddr>> =
            answers.iter().map(|answer| answer.iter().map(address).collect()).collect();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let lookup: Lookup = Arc::new(move |_| {
            let number = count.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
            Box::pin(std::future::ready(Ok(answers[number].clone())))
        });
        Names { lookup, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    fn fetch(&self, home: &str) -> Fetch {
        fetch(home, self.lookup.clone())
    }
}

fn fetch(home: &str, lookup: Lookup) -> Fetch {
    let guard = ClientSpec::default().guard(Url::parse(home).unwrap(), Author::Host);
    Fetch::with(&"s".into(), (guard, Route::Direct), lookup, &Arc::default()).unwrap()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn get(fetch: &Fetch, url: &str) -> Result<Response<Vec<u8>>, Error> {
    let request = http::Request::get(url).body(Vec::new()).unwrap();
    run(fetch.exchange(request))
}

/// A server on this machine that answers each connection with `found`, and counts them.
fn answering(connections: usize) -> (u16, std::thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).unwrap();
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nfound";
            stream.write_all(answer.as_bytes()).unwrap();
        }
        connections
    };
    (port, std::thread::spawn(serve))
}

/// S-31: a public name is no way into a network: nothing is connected to that it must not lead to.
#[test]
fn a_public_name_that_leads_to_a_private_address_is_refused() {
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = trap.local_addr().unwrap().port();
    trap.set_nonblocking(true).unwrap();
    for address in [
        "127.0.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "192.168.0.1",
        "::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "fd00:ec2::254",
        "fe80::1",
    ] {
        let names = Names::new(&[&[address]]);
        let fetch = names.fetch("https://server.example/mcp");
        let url = format!("https://login.example:{port}/.well-known/oauth-authorization-server");
        let error = get(&fetch, &url).unwrap_err();
        let shown = (error.code(), error.detail()["refused"].as_str(), names.asked());
        assert_eq!(shown, (ErrorCode::Protocol, Some("address"), 1), "{address}: {error}");
    }
    assert!(trap.accept().is_err(), "it was connected to");
}

/// S-31: a name that leads to both kinds of address is refused whole, so that the second is not
/// tried after the first.
#[test]
fn a_name_that_leads_to_a_private_address_too_is_refused() {
    let names = Names::new(&[&["8.8.8.8", "10.0.0.1"]]);
    let error = get(&names.fetch("https://server.example/mcp"), "https://login.example/token");
    assert_eq!(error.unwrap_err().detail()["refused"], "address");
}

/// S-31: what was checked is what is connected to. Who changes the answer afterwards changes
/// nothing of this exchange, and is refused in the next.
#[test]
fn a_name_that_is_bound_anew_leads_nowhere_else() {
    let (port, served) = answering(1);
    let names = Names::new(&[&["127.0.0.1"], &["10.0.0.1"]]);
    // A server on this machine may name others on it, by names too.
    let fetch = names.fetch("http://localhost:1/mcp");
    let url = format!("http://login.localhost:{port}/");
    assert_eq!(get(&fetch, &url).unwrap().body(), b"found");
    assert_eq!((served.join().unwrap(), names.asked()), (1, 1), "one connection, one question");
    let error = get(&fetch, &url).unwrap_err();
    assert_eq!((error.detail()["refused"].as_str(), names.asked()), (Some("address"), 2));
}

/// S-31: one exchange has ten seconds, no matter who is slow: the server of names, or the one at
/// the address.
#[test]
fn an_exchange_has_ten_seconds() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let of_names: Lookup = Arc::new(|_| Box::pin(std::future::pending()));
    let slow_names = fetch("http://localhost:1/mcp", of_names);
    let slow_server = Names::new(&[&["127.0.0.1"]]).fetch("http://localhost:1/mcp");
    let url = format!("http://login.localhost:{port}/");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for fetch in [&slow_names, &slow_server] {
            let url = &url;
            scope.spawn(move || {
                let error = get(fetch, url).unwrap_err();
                assert_eq!(
                    (error.code(), &error.detail()["which"]),
                    (ErrorCode::Timeout, &"connect".into())
                );
            });
        }
    });
    let took = begun.elapsed();
    assert!(took >= EXCHANGE_WAIT_MAX && took < 2 * EXCHANGE_WAIT_MAX, "{took:?}");
}

/// S-48: the secret of a client is one in each form that an authorization server sees it in.
#[test]
fn a_secret_that_is_sent_by_basic_is_not_shown() {
    let fetch = Names::new(&[&["8.8.8.8"]]).fetch("https://server.example/mcp");
    let secret = "secret/canary 1";
    let basic = "Basic Y2xpZW50OnNlY3JldCUyRmNhbmFyeSsx";
    let request =
        http::Request::post("http://10.0.0.1/").header(AUTHORIZATION, basic).body(Vec::new());
    run(fetch.exchange(request.unwrap())).unwrap_err();
    for text in [secret, "secret%2Fcanary+1", basic.strip_prefix("Basic ").unwrap()] {
        assert_eq!(fetch.redact(&format!("it is {text}.")), "it is [redacted].");
    }
}

mod sent;
