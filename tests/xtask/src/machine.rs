//! What the machine offers: folders, tools, and what has been installed into the build folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::run::{Run, Stop};

/// How much is run.
#[derive(Clone, Copy, PartialEq)]
pub enum Reach {
    Default,
    /// The long forms too.
    Full,
}

/// The repository, its build folder, and what has been prepared so far.
pub struct Machine {
    pub root: PathBuf,
    pub target: PathBuf,
    pub reach: Reach,
    /// All suites run: what later ones stand on is made ahead.
    pub is_whole: bool,
    /// Whether the library is built, once that is known: what is made of it can be made then.
    pub library: OnceLock<bool>,
    testserver: OnceLock<PathBuf>,
    real_servers: OnceLock<Result<PathBuf, String>>,
    /// Where the Python package is installed from this tree: once, and never under its users' feet.
    pub python: Mutex<Option<PathBuf>>,
    /// Held while something is installed: what is installed ahead and what is needed now may be the
    /// same.
    installing: Mutex<()>,
}

impl Machine {
    pub fn new(reach: Reach) -> Result<Machine, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.ancestors().nth(2).ok_or("the repository is not where it was built")?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = root.join(target.unwrap_or_else(|| "target".into()));
        Machine::of(root.to_path_buf(), target, reach)
    }

    /// For another checkout, which has a build folder of its own.
    pub fn at(root: &Path, reach: Reach) -> Result<Machine, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", root.display());
        let root = root.canonicalize().map_err(failed)?;
        let target = root.join("target");
        Machine::of(root, target, reach)
    }

    fn of(root: PathBuf, target: PathBuf, reach: Reach) -> Result<Machine, String> {
        std::fs::create_dir_all(target.join("xtask")).map_err(|error| error.to_string())?;
        Ok(Machine {
            root,
            target,
            reach,
            is_whole: false,
            library: OnceLock::new(),
            testserver: OnceLock::new(),
            real_servers: OnceLock::new(),
            python: Mutex::new(None),
            installing: Mutex::new(()),
        })
    }

    /// Whether a suite that could not run is a failure.
    pub fn is_ci(&self) -> bool {
        std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
    }

    /// A command that runs in the repository with what every test may ask for.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("CARGO_TERM_COLOR", "never");
        command.env("TRUNKLINE_BEHAVIOUR", self.root.join("tests/behaviour"));
        // Nobody's files are read or written.
        command.env("TRUNKLINE_HOME", self.root.join("target/home"));
        if let Some(path) = self.testserver.get() {
            command.env("TRUNKLINE_TESTSERVER", path);
        }
        if let Some(Ok(path)) = self.real_servers.get() {
            command.env("TRUNKLINE_REAL_SERVERS", path);
        }
        if self.reach == Reach::Full {
            command.env("TRUNKLINE_FULL", "1");
        }
        command
    }

    /// A cargo command.
    pub fn cargo(&self, args: &[&str]) -> Command {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(args);
        command
    }

    /// Builds a package with the features that the suite `core` has built everything with that it
    /// stands on.
    pub fn cargo_build(&self, package: &str) -> Command {
        let mut cargo = self.cargo(&["build", "-p", package]);
        cargo.args(WITH_FEATURES);
        cargo
    }

    /// A cargo command with a build folder of its own, so that it waits for no other and none waits
    /// for it.
    pub fn cargo_beside(&self, args: &[&str]) -> Command {
        let mut cargo = self.cargo(args);
        cargo.env("CARGO_TARGET_DIR", self.target.join("beside"));
        cargo
    }

    /// The commit and its day; a star where files were changed since.
    pub fn commit(&self) -> String {
        let said = |arguments: &[&str]| {
            let output = self.command("git").args(arguments).output();
            let text = output.map(|output| output.stdout).unwrap_or_default();
            String::from_utf8_lossy(&text).trim().to_owned()
        };
        let changed = said(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs"]);
        let star = if changed.is_empty() { "" } else { "*" };
        let named = said(&["log", "-1", "--format=%h, %cs"]);
        named.replacen(',', &format!("{star},"), 1)
    }

    /// Builds the reference server, once.
    pub fn testserver(&self, run: &mut Run) -> Result<&Path, Stop> {
        if self.testserver.get().is_none() {
            run.command(&mut self.cargo_build("trunkline-testserver"))?;
        }
        let built = || self.target.join("debug/trunkline-testserver");
        Ok(self.testserver.get_or_init(built))
    }

    /// Installs the servers that no one here wrote, once; tests find them through
    /// `TRUNKLINE_REAL_SERVERS`.
    pub fn real_servers(&self, run: &mut Run) -> Result<&Path, Stop> {
        let installed = || match crate::suites::real::install(self, run) {
            Ok(path) => Ok(path),
            Err(Stop::NotRun(why) | Stop::Failed(why)) => Err(why),
        };
        match self.real_servers.get_or_init(installed) {
            Ok(path) => Ok(path),
            Err(why) => Err(Stop::NotRun(why.clone())),
        }
    }

    /// The file of that path in the repository, or why the suite cannot run.
    pub fn needs(&self, path: &str) -> Result<PathBuf, Stop> {
        let whole = self.root.join(path);
        let missing = || Stop::NotRun(format!("{path} is not there"));
        if whole.exists() { Ok(whole) } else { Err(missing()) }
    }

    /// Makes a virtual environment with these packages, unless it is there already; says its
    /// folder.
    pub fn python_environment(
        &self,
        run: &mut Run,
        name: &str,
        packages: &[&str],
    ) -> Result<PathBuf, Stop> {
        let _alone = self.installing.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.target.join(name);
        let mark = folder.join("installed.txt");
        let wanted = packages.join("\n");
        if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
            return Ok(folder);
        }
        run.preparation("python3", self.command("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut pip = self.command(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        run.preparation("packages from PyPI", &mut pip)?;
        write(&mark, &wanted)?;
        Ok(folder)
    }

    /// Installs npm packages, unless they are there already; says the folder of `node_modules`.
    pub fn npm_packages(&self, run: &mut Run, packages: &[&str]) -> Result<PathBuf, Stop> {
        let _alone = self.installing.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.target.join("npm");
        let modules = folder.join("node_modules");
        let is_there = |package: &&str| {
            let (name, version) = package.rsplit_once('@').unwrap_or((package, ""));
            let manifest = std::fs::read_to_string(modules.join(name).join("package.json"));
            manifest.is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
        };
        if packages.iter().all(is_there) {
            return Ok(modules);
        }
        std::fs::create_dir_all(&folder).map_err(|error| Stop::Failed(error.to_string()))?;
        let mut npm = self.command("npm");
        npm.args(["install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"]);
        npm.arg("--prefix").arg(&folder).args(packages).current_dir(&folder);
        run.preparation("packages from npm", &mut npm)?;
        Ok(modules)
    }
}

/// The command line is what brings features to the packages that others stand on: named beside one,
/// it leaves nothing to be built twice.
pub const WITH_FEATURES: [&str; 2] = ["-p", "trunkline-cli"];

/// Writes a small file of our own.
pub fn write(path: &Path, text: &str) -> Result<(), Stop> {
    std::fs::write(path, text).map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))
}
