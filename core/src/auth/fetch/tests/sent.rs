//! What goes out, and how often: cookies go back where they came from, and what changes nothing is
//! sent once more.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;

use super::*;

/// A server on this machine that answers each connection with the next of its answers, the last for
/// ever, and closes it.
struct Scripted {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn new() -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripted = Scripted { port, heads: Arc::default(), answers: Arc::default() };
        let (heads, answers) = (scripted.heads.clone(), scripted.answers.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let head = head(&mut stream);
                heads.lock().unwrap().push(head);
                let answer = {
                    let mut answers = answers.lock().unwrap();
                    if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() }
                };
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        scripted
    }

    fn answers(&self, answers: &[String]) {
        *self.answers.lock().unwrap() = answers.to_vec();
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The cookies of each request, oldest first.
    fn cookies(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        let cookie = |head: &String| {
            let mut lines = head.lines();
            let line = lines.find_map(|line| line.strip_prefix("cookie: "));
            line.unwrap_or_default().to_owned()
        };
        heads.iter().map(cookie).collect()
    }

    fn asked(&self) -> usize {
        self.heads.lock().unwrap().len()
    }
}

/// A request up to its end.
fn head(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    head
}

fn answer(status: &str, headers: &[&str]) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: 2\r\nconnection: close\r\n\r\n{{}}")
}

fn of_this_machine() -> Fetch {
    let lookup: Lookup = Arc::new(|_| Box::pin(std::future::pending()));
    fetch("http://localhost:1/mcp", lookup)
}

fn send(fetch: &Fetch, method: &str, url: &str) -> Result<Response<Vec<u8>>, Error> {
    let request = http::Request::builder().method(method).uri(url);
    let request = match method {
        "POST" => request.header(CONTENT_TYPE, "application/json").body(b"{}".to_vec()),
        _ => request.body(Vec::new()),
    };
    run(fetch.exchange(request.unwrap()))
}

/// SPEC 18.6: what one origin sets goes back to that one, by the rules of the connection's own jar.
#[test]
fn a_cookie_of_an_authorization_server_goes_back_to_it_alone() {
    for (from, set, to, expected) in [
        ("/.well-known/a", "n=1; Path=/", "/token", "n=1"),
        ("/register", "n=1", "/token", "n=1"),
        ("/a/register", "n=1", "/token", ""),
        ("/.well-known/a", "n=1; Path=/other", "/token", ""),
        ("/.well-known/a", "n=1; Path=/; Secure", "/token", ""),
        ("/.well-known/a", "n=1; Path=/; Domain=evil.example", "/token", ""),
        ("/.well-known/a", "n=1; Path=/; Max-Age=0", "/token", ""),
    ] {
        let (own, other) = (Scripted::new(), Scripted::new());
        let set = format!("set-cookie: {set}");
        own.answers(&[answer("200 OK", &[&set])]);
        other.answers(&[answer("200 OK", &[])]);
        let fetch = of_this_machine();
        send(&fetch, "GET", &own.url(from)).unwrap();
        let _ = send(&fetch, "POST", &own.url(to));
        send(&fetch, "GET", &other.url(to)).unwrap();
        assert_eq!(own.cookies(), ["", expected], "{from} {set}");
        assert_eq!(other.cookies(), [""], "{from} {set}");
    }
}

/// SPEC 18.6: a redirect within the origin sets what it sets; one to another origin sets nothing,
/// and neither does what it leads to.
#[test]
fn no_cookie_is_taken_from_a_redirect_to_another_origin() {
    for (leads_away, expected) in [(false, "n=1"), (true, "")] {
        let (own, other) = (Scripted::new(), Scripted::new());
        let location = if leads_away { other.url("/b") } else { "/b".to_owned() };
        let location = format!("location: {location}");
        let redirect = answer("302 Found", &["set-cookie: n=1; Path=/", &location]);
        own.answers(&[redirect, answer("200 OK", &[])]);
        other.answers(&[answer("200 OK", &["set-cookie: o=1; Path=/"])]);
        let fetch = of_this_machine();
        send(&fetch, "GET", &own.url("/a")).unwrap();
        let led_to = if leads_away { &other } else { &own };
        send(&fetch, "GET", &led_to.url("/b")).unwrap();
        send(&fetch, "GET", &own.url("/token")).unwrap();
        assert_eq!(own.cookies().last().unwrap(), expected);
        send(&fetch, "GET", &other.url("/token")).unwrap();
        assert_eq!(other.cookies().last().unwrap(), "");
    }
}

/// SPEC 18.6: they last as long as the sign-in: over the wait for its person, and no longer. Nobody
/// is shown one.
#[test]
fn cookies_of_a_sign_in_end_with_it() {
    type Step = fn(&Fetch);
    for (step, expected) in [
        (Fetch::goes_on as Step, "n=canary-cookie"),
        (Fetch::begin as Step, ""),
        (Fetch::end as Step, ""),
    ] {
        let own = Scripted::new();
        own.answers(&[answer("200 OK", &["set-cookie: n=canary-cookie"])]);
        let fetch = of_this_machine();
        send(&fetch, "GET", &own.url("/a")).unwrap();
        assert_eq!(fetch.redact("it was canary-cookie"), "it was [redacted]");
        step(&fetch);
        send(&fetch, "GET", &own.url("/b")).unwrap();
        assert_eq!(own.cookies(), ["", expected]);
    }
}

/// SPEC 18.6: origins without end fill no memory.
#[test]
fn cookies_of_a_few_origins_are_kept() {
    let all: Vec<Scripted> = (0..9).map(|_| Scripted::new()).collect();
    let fetch = of_this_machine();
    for _ in 0..2 {
        for one in &all {
            one.answers(&[answer("200 OK", &["set-cookie: n=1"])]);
            send(&fetch, "GET", &one.url("/a")).unwrap();
        }
    }
    let sent = all.iter().filter(|one| one.cookies() == ["", "n=1"]);
    assert_eq!(sent.count(), cookie_jars::ORIGINS_MAX);
}

/// SPEC 18.6: a read of metadata is sent once more where nothing of an answer came, and what wants
/// something issued never is; each by a socket of its own.
#[test]
fn what_changes_nothing_is_sent_once_more() {
    let whole = || answer("200 OK", &[]);
    let kept = || whole().replace("connection: close\r\n", "");
    let cut = || whole().replace("length: 2", "length: 20");
    for (method, answers, asked, is_answered) in [
        ("GET", vec![String::new(), whole()], 2, true),
        ("GET", vec![String::new(), answer("404 Not Found", &[])], 2, true),
        ("GET", vec![String::new()], 2, false),
        ("GET", vec![whole()], 1, true),
        ("GET", vec![cut()], 1, false),
        ("GET", vec![answer("503 Service Unavailable", &[])], 1, true),
        ("POST", vec![String::new(), whole()], 1, false),
        ("POST", vec![cut(), whole()], 1, false),
    ] {
        let own = Scripted::new();
        own.answers(&answers);
        let answered = send(&of_this_machine(), method, &own.url("/a"));
        let found = (own.asked(), answered.is_ok());
        assert_eq!(found, (asked, is_answered), "{method} {answers:?}: {answered:?}");
    }
    let own = Scripted::new();
    own.answers(&[kept()]);
    let fetch = of_this_machine();
    for method in ["GET", "POST", "GET"] {
        let _ = send(&fetch, method, &own.url("/a"));
    }
    assert_eq!(own.asked(), 3, "each has a connection of its own");
}

/// SPEC 18.6: what is sent once more counts as a request of the sign-in.
#[test]
fn what_is_sent_once_more_counts() {
    let own = Scripted::new();
    own.answers(&[String::new()]);
    let fetch = of_this_machine();
    for _ in 0..REQUESTS_MAX {
        send(&fetch, "GET", &own.url("/a")).unwrap_err();
    }
    assert_eq!(own.asked(), REQUESTS_MAX as usize);
}
