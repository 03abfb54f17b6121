//! The verbs of a sign-in, and the person in it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;
use trunkline::{Pool, SignInOptions};

use rig::values::{Failure, Given};

/// One step of a sign-in.
pub async fn step(pool: &Pool, verb: &str, arguments: &[Value]) -> Result<Given, Failure> {
    let first = arguments.first().and_then(Value::as_str).unwrap_or_default();
    Ok(Given::value(match verb {
        "sign_in" => {
            let options = arguments.get(1).map(Value::to_string).unwrap_or_default();
            pool.sign_in(first, &SignInOptions::from_json(&options)?).await?
        }
        "visit" => {
            let url = arguments[0]["url"].as_str().unwrap_or(first);
            visit(url).map_err(Failure::Case)?.into()
        }
        "finish_sign_in" => pool.finish_sign_in(first).await?,
        _ => pool.sign_out(first).await?,
    }))
}

/// Visits an address; where it redirects to.
fn visit(url: &str) -> Result<String, String> {
    let rest = url.strip_prefix("http://").ok_or("only http is visited")?;
    let (host, path) = rest.split_once('/').ok_or("an address without a path")?;
    let said = |error: std::io::Error| error.to_string();
    let mut stream = TcpStream::connect(host).map_err(said)?;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(said)?;
    stream.shutdown(Shutdown::Write).map_err(said)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(said)?;
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
    location.map(str::to_owned).ok_or(format!("no redirect: {answer}"))
}
