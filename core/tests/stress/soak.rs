//! A pool that goes on for long, with servers that are killed, edited and restarted and sessions
//! that come and go: nothing grows, and no call stays (SECURITY row 21). It goes by the clock,
//! since that is what it is about; what it asserts are counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rig::{HANG, Rig, score, traces, until};
use serde_json::{Value, json};
use trunkline::{CallOptions, LoadOptions, Session};

use crate::churn::label;
use crate::{base, rounds};

/// How much of everything there is.
struct Size {
    seconds: u64,
    servers: usize,
    /// Servers of a settings file beside these, which is watched.
    watched: usize,
    sessions: usize,
    callers: usize,
}

impl Size {
    /// Of this run; `TRUNKLINE_SOAK_SECONDS` makes the long form longer.
    fn of_run() -> Size {
        let seconds =
            std::env::var("TRUNKLINE_SOAK_SECONDS").ok().map(|text| text.parse().unwrap());
        Size {
            seconds: seconds.unwrap_or(rounds(12, 20 * 60) as u64).max(8),
            servers: rounds(20, 200),
            watched: rounds(0, 5),
            sessions: rounds(100, 1_000),
            callers: rounds(16, 64),
        }
    }
}

/// Whole numbers at random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

/// What this process holds at one moment.
#[derive(Clone, Copy, Debug)]
struct Sample {
    descriptors: usize,
    threads: usize,
    resident: usize,
    /// What the program has of its allocator, without what that keeps for later.
    allocated: usize,
    processes: usize,
}

impl Sample {
    fn take(rig: &Rig) -> Sample {
        let resident = std::fs::read_to_string("/proc/self/statm").unwrap();
        let resident: usize = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
        Sample {
            descriptors: traces::descriptors(std::process::id()),
            threads: std::fs::read_dir("/proc/self/task").unwrap().count(),
            resident: resident * 4096,
            allocated: base::allocated(),
            processes: rig.running().len(),
        }
    }

    fn figures(&self) -> [(&'static str, usize); 5] {
        let Sample { descriptors, threads, resident, allocated, processes } = *self;
        [
            ("descriptors", descriptors),
            ("threads", threads),
            ("bytes", resident),
            ("allocated", allocated),
            ("processes", processes),
        ]
    }
}

/// For a plot: a file with a line of JSON for each second, as it comes: what a day of it held is
/// there however it ends.
struct Record(Option<File>);

impl Record {
    fn begin() -> Record {
        Record(std::env::var_os("TRUNKLINE_SOAK_FILE").map(|file| File::create(file).unwrap()))
    }

    fn add(&mut self, sample: &Sample) {
        if let Some(file) = &mut self.0 {
            let figures: BTreeMap<_, _> = sample.figures().into_iter().collect();
            file.write_all(format!("{}\n", json!(figures)).as_bytes()).unwrap();
        }
    }
}

/// The pool under the load.
struct Soaked {
    rig: Rig,
    size: Size,
    sessions: Mutex<Vec<Session>>,
    over: AtomicBool,
    calls: AtomicUsize,
    /// How often the watched file was rewritten.
    rewrites: AtomicUsize,
    /// How many calls ended in each way.
    ends: Mutex<BTreeMap<&'static str, usize>>,
    seed: u64,
}

/// The servers; those that were edited an odd number of times have another argument. Edits go back
/// and forth, since a pool remembers what was accepted of each configuration, of a thousand of
/// them, and what it listed.
fn servers(rig: &Rig, edits: &[usize]) -> Value {
    let server = |(number, edits): (usize, &usize)| {
        let label = format!("{number}/{}", edits % 2);
        (format!("s{number}"), rig.server(&["--label", &label]))
    };
    edits.iter().enumerate().map(server).collect()
}

/// A settings file that is watched, and rewritten now and then: of its servers each has one of two
/// labels, all the same.
struct Watched {
    file: PathBuf,
    servers: usize,
    rewrites: usize,
}

impl Watched {
    /// Loads the file, where there are servers for it, with each of its texts in turn.
    async fn load(rig: &Rig, servers: usize) -> Option<Watched> {
        let mut watched = Watched { file: rig.path("settings.json"), servers, rewrites: 0 };
        if servers == 0 {
            return None;
        }
        watched.rewrite(rig);
        let options = LoadOptions::from_json(r#"{"watch":true}"#).unwrap();
        rig.pool.load(&watched.file, &options).await.unwrap();
        Some(watched)
    }

    /// Puts another file in its place, so that nobody reads half of a text.
    fn rewrite(&mut self, rig: &Rig) {
        self.rewrites += 1;
        let server = |number| (format!("w{number}"), rig.server(&["--label", &self.label(number)]));
        let servers: Value = (0..self.servers).map(server).collect();
        let beside = self.file.with_extension("beside");
        std::fs::write(&beside, json!({ "mcpServers": servers }).to_string()).unwrap();
        std::fs::rename(&beside, &self.file).unwrap();
    }

    fn label(&self, number: usize) -> String {
        format!("w{number}/{}", self.rewrites % 2)
    }

    /// Waits until its servers, which many sessions want, run as it says, and no longer as it said
    /// before.
    fn settles(&self, rig: &Rig) {
        let wanted: BTreeSet<String> = (0..self.servers).map(|number| self.label(number)).collect();
        until(|| {
            let labels = rig.running().into_iter().filter_map(label);
            labels.filter(|label| label.starts_with('w')).collect::<BTreeSet<_>>() == wanted
        });
    }
}

impl Soaked {
    /// A session that wants three servers.
    fn session(&self, number: usize, dice: &mut Dice) -> Session {
        let mut wanted = || match dice.below(self.size.servers + self.size.watched) {
            number if number < self.size.servers => format!("s{number}"),
            number => format!("w{}", number - self.size.servers),
        };
        let options =
            json!({ "id": format!("c{number}"), "servers": [wanted(), wanted(), wanted()] });
        self.rig.session_with(options)
    }

    /// Runs each configuration once, so that all have been there before anything is counted; the
    /// file, where there is one.
    async fn meet_all(&self) -> Option<Watched> {
        let mut watched = Watched::load(&self.rig, self.size.watched).await;
        for edits in [1, 0] {
            if let Some(watched) = &mut watched {
                watched.rewrite(&self.rig);
            }
            let edits = vec![edits; self.size.servers];
            self.rig.configure(servers(&self.rig, &edits)).await;
            let all = self.rig.session_with(json!({ "id": "all" }));
            all.ready(None, Some(HANG)).await.unwrap();
            if let Some(watched) = &watched {
                watched.settles(&self.rig);
            }
        }
        watched
    }

    /// Calls tools of sessions chosen at random until it is over.
    async fn call(&self, caller: u64) {
        let mut dice = Dice(self.seed + caller);
        while !self.over.load(Ordering::Relaxed) {
            let session = {
                let sessions = self.sessions.lock().unwrap();
                sessions[dice.below(sessions.len())].clone()
            };
            let Ok(tools) = session.tools() else { continue };
            let echoes = || tools.iter().filter(|tool| tool.own_name == "echo".into());
            let count = echoes().count();
            if count == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            }
            let tool = echoes().nth(dice.below(count)).unwrap().name.clone();
            let message = self.calls.fetch_add(1, Ordering::Relaxed).to_string();
            let arguments = json!({ "message": message }).to_string();
            let options = CallOptions::default();
            let call = session.call_tool(&tool, &arguments, &options);
            let end = match tokio::time::timeout(HANG, call).await.expect("a call stays") {
                Ok(result) => {
                    assert!(result.json().contains(&format!("\"{message}\"")), "{}", result.json());
                    "answered"
                }
                Err(error) => error.code().name(),
            };
            *self.ends.lock().unwrap().entry(end).or_default() += 1;
        }
    }

    /// Kills a server every two seconds, edits and restarts others, rewrites the file, and replaces
    /// sessions, until it is over; samples all the while.
    async fn trouble(&self, mut watched: Option<Watched>) -> Vec<Sample> {
        let mut dice = Dice(self.seed);
        let mut edits = vec![0; self.size.servers];
        let (mut samples, mut record) = (Vec::new(), Record::begin());
        let began = Instant::now();
        for second in 1..=self.size.seconds {
            let left = Duration::from_secs(second).saturating_sub(began.elapsed());
            tokio::time::sleep(left).await;
            if second % 2 == 0 {
                let running = self.rig.running();
                if let Some(pid) = running.get(dice.below(running.len().max(1))) {
                    // It may have ended since.
                    let kill = Command::new("kill").args(["-KILL", &pid.to_string()]).output();
                    kill.unwrap();
                }
            }
            if second % 3 == 0 {
                edits[dice.below(self.size.servers)] += 1;
                self.rig.configure(servers(&self.rig, &edits)).await;
            }
            if let Some(watched) = watched.as_mut().filter(|_| second % 7 == 0) {
                watched.settles(&self.rig);
                watched.rewrite(&self.rig);
            }
            if second % 5 == 0 {
                let server = format!("s{}", dice.below(self.size.servers));
                self.rig.pool.restart(&server, None).await.unwrap();
            }
            let at = dice.below(self.size.sessions);
            let fresh = self.session(self.size.sessions + second as usize, &mut dice);
            let old = std::mem::replace(&mut self.sessions.lock().unwrap()[at], fresh);
            drop(old);
            let sample = Sample::take(&self.rig);
            record.add(&sample);
            samples.push(sample);
        }
        if let Some(watched) = watched {
            watched.settles(&self.rig);
            println!("{} rewrites of the settings file", watched.rewrites);
            self.rewrites.store(watched.rewrites, Ordering::Relaxed);
        }
        samples
    }
}

/// The middle of a figure over some samples.
fn middle(samples: &[Sample], figure: usize) -> usize {
    let mut found: Vec<usize> = samples.iter().map(|sample| sample.figures()[figure].1).collect();
    found.sort_unstable();
    found[found.len() / 2]
}

/// From the second quarter to the last one nothing grows by more than a fiftieth and a few; in the
/// long form what is allocated by no more than a hundredth and a little. In twelve seconds most
/// servers are killed for the first time.
fn assert_flat(samples: &[Sample]) {
    let quarter = samples.len() / 4;
    let (early, late) = (&samples[quarter..2 * quarter], &samples[3 * quarter..]);
    for (figure, (what, _)) in samples[0].figures().iter().enumerate() {
        let (before, after) = (middle(early, figure), middle(late, figure));
        println!("{what}: {before} in the second quarter, {after} in the last");
        let (share, slack) = match *what {
            "bytes" => (50, 4 << 20),
            "allocated" => (rounds(50, 100), rounds(1 << 20, 256 << 10)),
            _ => (50, 12),
        };
        assert!(after <= before + before / share + slack, "{what} grow from {before} to {after}");
    }
}

/// SPEC 5.6, SECURITY row 21: every call ends with its own answer or a typed error, descriptors,
/// threads, memory and processes stay what they are, and the end of the pool leaves nothing.
#[test]
fn nothing_grows_however_long_it_goes_on() {
    rig::alone!(base::NO_SPARES);
    let options = json!({
        "trusted": true, "drain_delay_ms": 200, "reconnect": { "delays_ms": { "local": [20, 200] } },
    });
    let size = Size::of_run();
    let (rig, count) = (Rig::new(options), size.sessions);
    let soaked = Arc::new(Soaked {
        rig,
        size,
        sessions: Mutex::default(),
        over: AtomicBool::new(false),
        calls: AtomicUsize::new(0),
        rewrites: AtomicUsize::new(0),
        ends: Mutex::default(),
        seed: 7,
    });
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let samples = runtime.block_on(async {
        let watched = soaked.meet_all().await;
        let mut dice = Dice(soaked.seed);
        let opened: Vec<_> = (0..count).map(|it| soaked.session(it, &mut dice)).collect();
        *soaked.sessions.lock().unwrap() = opened;
        let callers: Vec<_> = (0..soaked.size.callers as u64)
            .map(|caller| {
                let soaked = soaked.clone();
                tokio::spawn(async move { soaked.call(caller + 1).await })
            })
            .collect();
        let opened = soaked.sessions.lock().unwrap().clone();
        for session in opened {
            session.ready(None, Some(HANG)).await.unwrap();
        }
        let samples = soaked.trouble(watched).await;
        soaked.over.store(true, Ordering::Relaxed);
        for caller in callers {
            caller.await.unwrap();
        }
        samples
    });
    let ends = soaked.ends.lock().unwrap().clone();
    println!("{} seconds, calls: {ends:?}", samples.len());
    assert_flat(&samples);
    // The last, where a server was edited between the look at the tools and the call.
    let may_end = ["answered", "call_interrupted", "unavailable", "closed", "tool_not_found"];
    assert!(ends.keys().all(|end| may_end.contains(end)), "{ends:?}");
    assert!(ends["answered"] > samples.len(), "{ends:?}");
    soaked.sessions.lock().unwrap().clear();
    until(|| soaked.rig.pool.status()["totals"]["entries"] == 0);
    soaked.rig.wait_for_no_process();
    score::done("soak/seconds", samples.len() as u64);
    if soaked.size.watched > 0 {
        score::done("soak/rewrites", soaked.rewrites.load(Ordering::Relaxed) as u64);
    }
}
