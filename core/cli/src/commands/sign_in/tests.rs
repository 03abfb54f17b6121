//! What arrives at the port of a sign-in.

use std::convert::Infallible;

use super::*;

const URL: &str = "https://as.example/authorize?client_id=c&state=s-1&scope=a";

fn expected() -> Expected {
    Expected::new(URL, "http://127.0.0.1:4000/callback").unwrap()
}

#[test]
fn only_the_redirect_of_this_sign_in_is_taken() {
    let expected = expected();
    let status = |target: &str, hosts: &[&str]| {
        let hosts: String = hosts.iter().map(|host| format!("host: {host}\r\n")).collect();
        let head = format!("GET {target} HTTP/1.1\r\n{hosts}\r\n");
        let (status, _, query) = expected.answer(&head);
        assert_eq!(query.is_some(), status == "200 OK", "{head}");
        status[..3].to_owned()
    };
    let own = "127.0.0.1:4000";
    for host in [own, "localhost:4000", "LocalHost:4000"] {
        assert_eq!(status("/callback?code=c&state=s-1", &[host]), "200", "{host}");
    }
    for host in ["127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "evil.example"] {
        assert_eq!(status("/callback?code=c&state=s-1", &[host]), "400", "{host}");
    }
    assert_eq!(status("/callback?code=c&state=s-1", &[]), "400");
    assert_eq!(status("/callback?code=c&state=s-1", &[own, "evil.example"]), "400");
    for query in ["code=c", "code=c&state=", "state=s-2", "state=s-1&state=s-2", "xstate=s-1"] {
        assert_eq!(status(&format!("/callback?{query}"), &[own]), "400", "{query}");
    }
    assert_eq!(status("/favicon.ico", &[own]), "404");
    assert!(Expected::new("https://as.example/authorize", "http://127.0.0.1:1/callback").is_none());
}

/// A connection that sends a byte now and then is given up with its time, and looked away from.
#[test]
fn one_connection_ends_with_its_time() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    let begun = Instant::now();
    let mut looks = 0;
    let look = || {
        looks += 1;
        let _ = slow.write_all(b"G");
        Ok::<(), Infallible>(())
    };
    let end = Instant::now() + Duration::from_millis(300);
    assert_eq!(answered(stream, &expected(), end, look), Ok(None));
    assert!(looks > 1 && begun.elapsed() < REQUEST_TIME, "{looks}");
}

#[test]
fn a_signal_ends_the_wait_for_one_connection() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let _silent = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    assert_eq!(answered(stream, &expected(), end, || Err("signal")), Err("signal"));
}

/// A redirect that stays the same is registered once.
#[test]
fn the_usual_port_is_taken_where_it_is_free() {
    let is_free = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).is_ok();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let Ok(first) = listener(None) else { panic!("no port is free") };
    assert!(!is_free || port(&first) == PORT, "{}", port(&first));
    assert_eq!(!is_free, own_address(&first).ok().as_deref() != Some(PASTED));
    let Ok(second) = listener(None) else { panic!("no other port is free") };
    assert_ne!(port(&first), port(&second));
    assert!(listener(Some(port(&first))).is_err());
}
