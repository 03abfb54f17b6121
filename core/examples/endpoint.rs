//! An endpoint for the official conformance suite: `endpoint SERVERS OPTIONS`, until its input
//! ends. It prints its port and its token.

use std::io::{Error, copy, sink, stdin};

use trunkline::{Pool, PoolOptions, ServeOptions, Servers};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or_else(|| Error::other("endpoint SERVERS OPTIONS"));
    let (servers, options) = (Servers::from_json(&next()?)?, ServeOptions::from_json(&next()?)?);
    let pool = Pool::new(PoolOptions::default())?;
    let shared = pool.clone();
    pool.block_on(async move { shared.reconcile(servers).await })?;
    let serving = pool.serve(options)?;
    let address = serving.address().ok_or_else(|| Error::other("no address"))?;
    let token = serving.token().ok_or_else(|| Error::other("no token"))?;
    println!("{} {token}", address.port());
    copy(&mut stdin(), &mut sink())?;
    let shared = pool.clone();
    pool.block_on(async move {
        serving.close().await;
        shared.close().await
    })?;
    Ok(())
}
