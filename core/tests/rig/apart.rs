//! Tests that run once more, in processes of their own: what they do there is done to no other
//! test.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::{Folder, testserver};

/// What a test is given that runs once more.
const GIVEN: &str = "TRUNKLINE_TEST_GIVEN";

/// The name of the test that this stands in, as its runner knows it.
#[macro_export]
macro_rules! this_test {
    () => {{
        fn here() {}
        $crate::apart::name_around(here)
    }};
}

/// The rest of the test is done in a process of its own, with these variables; elsewhere the test
/// returns here, once that one passed.
#[macro_export]
macro_rules! alone {
    ($($variable:expr),*) => {
        if !$crate::apart::is_alone($crate::this_test!(), &[$($variable),*]) {
            return;
        }
    };
}

/// The path of the function that this one is declared in, below its crate.
pub fn name_around<F: Fn()>(_: F) -> &'static str {
    let path = std::any::type_name::<F>();
    let around = path.rsplit_once("::").and_then(|(around, _)| around.split_once("::"));
    let (_, name) = around.expect("a function in a function");
    assert!(!name.contains('{'), "{name} is no name of a test: it stands in a closure");
    name
}

/// In a process that was started for this test: what it was given.
pub fn given(test: &str) -> Option<Value> {
    let given: Value = serde_json::from_str(&std::env::var(GIVEN).ok()?).unwrap();
    (given[0] == test).then(|| given[1].clone())
}

/// Whether this is the process of that test alone; if not, it has passed in one.
pub fn is_alone(test: &str, variables: &[(&str, &str)]) -> bool {
    if given(test).is_some() {
        return true;
    }
    passes(test, again(test, &Value::Null).envs(variables.iter().copied()));
    false
}

/// Waits for a test that runs once more, prints what it printed, and panics if it failed.
pub fn passes(test: &str, again: &mut Command) {
    let ended = again.output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    print!("{said}");
    eprint!("{}", String::from_utf8_lossy(&ended.stderr));
    // The runner is content with a name that no test has.
    let has_run = said.contains("test result: ok. 1 passed");
    assert!(
        ended.status.success() && has_run,
        "{test} failed in its own process: {}",
        ended.status
    );
}

/// This test once more, which is given that.
pub fn again(test: &str, given: &Value) -> Command {
    again_by(Command::new(std::env::current_exe().unwrap()), test, given)
}

/// The same, by a command that ends with this program.
///
/// What a machine says of its network is not there in the new process.
pub fn again_by(mut again: Command, test: &str, given: &Value) -> Command {
    let given = Value::from(vec![test.into(), given.clone()]);
    again.args(["--exact", test, "--nocapture"]).env(GIVEN, given.to_string());
    for (variable, _) in std::env::vars_os() {
        let text = variable.to_string_lossy().to_ascii_lowercase();
        if text.ends_with("_proxy") || text.starts_with("ssl_cert_") {
            again.env_remove(variable);
        }
    }
    again.env("TRUNKLINE_TESTSERVER", testserver());
    again
}

/// Another process that plays the host: a test once more. It ends with this, and what it leaves in
/// its folder goes.
pub struct Host {
    _folder: Folder,
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Host {
    /// Starts one, which is given that.
    pub fn start(test: &str, given: &Value) -> Host {
        let folder = Folder::new();
        let mut again = again(test, given);
        let again = again.env("TMPDIR", &*folder).stdout(Stdio::piped());
        let mut process = again.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Host { _folder: folder, process, output }
    }

    /// What it says after `ready`.
    pub fn read_line(&mut self) -> String {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            let count = self.output.read_line(&mut line).unwrap();
            assert!(count > 0, "the host ended: {seen}");
            if let Some(said) = line.strip_prefix("ready") {
                return said.to_owned();
            }
            seen += &line;
        }
    }

    /// With SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // One that was killed is not there any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
