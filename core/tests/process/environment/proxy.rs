//! A proxy, which passes on what it is sent, whatever the name, to the loopback.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A proxy that runs as long as its process.
pub struct Proxy {
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts one on this listener. With a `refusal` it passes nothing on and answers with that
    /// status.
    pub fn start(listener: TcpListener, refusal: Option<&'static str>) -> Proxy {
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let noted = heads.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let noted = noted.clone();
                // An end on either side is one.
                std::thread::spawn(move || drop(serve(stream, refusal, &noted)));
            }
        });
        Proxy { heads }
    }

    /// The heads of the requests that it got, each with its lines.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// How many of them began with that word.
    pub fn count(&self, method: &str) -> usize {
        let begins = |head: &&String| head.starts_with(&format!("{method} "));
        self.heads().iter().filter(begins).count()
    }
}

fn serve(mut client: TcpStream, refusal: Option<&str>, noted: &Mutex<Vec<String>>) -> Result<()> {
    let mut input = BufReader::new(client.try_clone()?);
    let mut server: Option<TcpStream> = None;
    loop {
        let head = head(&mut input)?;
        noted.lock().unwrap().push(head.clone());
        if let Some(status) = refusal {
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            return client.write_all(answer.as_bytes());
        }
        let (method, target) = head.split_once(' ').unwrap();
        let target = target.split_once(' ').unwrap().0;
        if method == "CONNECT" {
            let server = TcpStream::connect(loopback(target))?;
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            return pass_both(input, client, server);
        }
        let place = target.strip_prefix("http://").unwrap();
        let (authority, path) = place.split_once('/').unwrap();
        let server = match &mut server {
            Some(server) => server,
            none => {
                let made = TcpStream::connect(loopback(authority))?;
                let (from, to) = (made.try_clone()?, client.try_clone()?);
                std::thread::spawn(move || pass(from, to));
                none.insert(made)
            }
        };
        server.write_all(head.replacen(target, &format!("/{path}"), 1).as_bytes())?;
        if header(&head, "upgrade").is_some() {
            let server = server.try_clone()?;
            pass(input, server);
            return Ok(());
        }
        let length = header(&head, "content-length").map_or(0, |text| text.parse().unwrap());
        std::io::copy(&mut (&mut input).take(length), server)?;
    }
}

/// The loopback's address for a name and port: this proxy resolves nothing.
fn loopback(authority: &str) -> SocketAddr {
    let port = authority.rsplit_once(':').unwrap().1;
    SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()))
}

fn pass_both(from: BufReader<TcpStream>, client: TcpStream, server: TcpStream) -> Result<()> {
    let back = server.try_clone()?;
    std::thread::spawn(move || pass(back, client));
    pass(from, server);
    Ok(())
}

/// Passes on to the end, and ends the other side too.
fn pass(mut from: impl Read, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
}

/// The head of a request, with the empty line after it.
fn head(input: &mut BufReader<TcpStream>) -> Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if input.read_line(&mut head)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut headers = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    headers.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}
