//! scratch
use trunkline::*;
fn main() {
    let server = std::env::var("TRUNKLINE_TESTSERVER").unwrap();
    let pool = Pool::new(PoolOptions::default()).unwrap();
    let p = pool.clone();
    let s2 = server.clone();
    let (a, la) = pool
        .block_on(async move {
            let servers = Servers::from_json(&format!(
                r#"{{"s":{{"command":"{s2}","args":["--list-changes"]}}}}"#
            ))
            .unwrap();
            p.reconcile(servers).await?;
            let a = p.session(SessionOptions::new("a"))?;
            let la = a.acquire("s", None, &AcquireOptions::default()).await?;
            Ok((a, la))
        })
        .unwrap();
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    rt.block_on(async {
        for _ in 0..3 {
            let n = 20000;
            let t = std::time::Instant::now();
            for _ in 0..n {
                let l = a.acquire("s", None, &AcquireOptions::default()).await.unwrap();
                drop(l);
            }
            println!("acquire+release {:?}", t.elapsed() / n);
            let t = std::time::Instant::now();
            let mut v = vec![];
            for _ in 0..n {
                let t = std::time::Instant::now();
                la.call_tool("echo", r#"{"message":"hi"}"#, &CallOptions::default()).await.unwrap();
                v.push(t.elapsed());
            }
            v.sort();
            println!(
                "call foreign current-thread rt {:?} p50 {:?}",
                t.elapsed() / n,
                v[v.len() / 2]
            );
        }
    });
    let la2 = std::sync::Arc::new(la);
    pool.block_on(async move {
        let n = 20000;
        let mut v = vec![];
        for _ in 0..n {
            let t = std::time::Instant::now();
            la2.call_tool("echo", r#"{"message":"hi"}"#, &CallOptions::default()).await.unwrap();
            v.push(t.elapsed());
        }
        v.sort();
        println!("call on own rt p50 {:?}", v[v.len() / 2]);
        Ok(())
    })
    .unwrap();
}
