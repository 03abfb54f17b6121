//! The workload of a host that has just begun and wants a pool, of a process of its own each time.

use std::process::Command;
use std::time::{Duration, Instant};

use trunkline::{Pool, PoolOptions, Result, Servers};

use crate::{cpu_time, report};

/// `pool-ready`: from the first statement of a process until its pool has carried out a command.
pub fn pool_ready() {
    let (began, cpu) = (Instant::now(), cpu_time());
    let program = std::env::current_exe().expect("the program knows its own path");
    let mut times: Vec<Duration> = Vec::with_capacity(HOSTS);
    for _ in 0..HOSTS {
        let printed = Command::new(&program).arg("--ready").output();
        let printed = printed.expect("the program can be started again").stdout;
        let micros = String::from_utf8_lossy(&printed).trim().parse();
        let micros = micros.unwrap_or_else(|_| panic!("the host printed {printed:?}"));
        times.push(Duration::from_micros(micros));
    }
    report("pool-ready", &mut times, began.elapsed(), cpu_time() - cpu);
}

/// The host.
pub fn host() -> Result<()> {
    let began = Instant::now();
    let pool = Pool::new(PoolOptions::default())?;
    let asked = pool.clone();
    pool.block_on(async move { asked.reconcile(Servers::from_json("{}")?).await })?;
    println!("{}", began.elapsed().as_micros());
    Ok(())
}

/// Hosts in a round.
const HOSTS: usize = 20;
