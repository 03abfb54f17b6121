//! `cargo xtask dist`: everything that is published, made by one command, and with `--check` tried
//! out where nothing else is.
//!
//! The artefacts are in `target/artefacts`, a folder for each registry, with their sums in
//! `SHA256SUMS`. `docs/guide/install.md` says what each is, `docs/guide/platforms.md` for which
//! machines.

mod c;
mod c_pages;
mod check;
mod crates;
mod native;
mod npm;
mod python;
mod version;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// What is made for one registry, and how it is tried out.
struct Part {
    name: &'static str,
    make: fn(&Dist, &mut Run) -> Result<(), Stop>,
    check: fn(&Dist, &mut Run) -> Result<(), Stop>,
}

/// Those of npm carry the crates, as their sources.
static PARTS: [Part; 4] = [
    Part { name: "crates", make: crates::make, check: check::crates },
    Part { name: "c", make: c::make, check: check::c },
    Part { name: "python", make: python::make, check: check::python },
    Part { name: "npm", make: npm::make, check: check::npm },
];

/// One run of the command.
pub struct Dist<'a> {
    machine: &'a Machine,
    /// That of the workspace, which every artefact has.
    version: String,
    /// The target triple of this machine.
    host: String,
    profile: String,
    /// Where the artefacts are, a folder for each part.
    artefacts: PathBuf,
}

/// What is asked for on the command line.
struct Wish<'a> {
    profile: &'a str,
    checks: bool,
    parts: Vec<&'static Part>,
}

/// The command.
pub fn dist(machine: &Machine, arguments: &[&str]) -> ExitCode {
    let mut run = Run::new(machine.target.join("xtask/dist.log"), BOUND);
    let done = wish(arguments).map_err(Stop::Failed).and_then(|wish| all(machine, &mut run, &wish));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask dist: {why}\n{}", run.why(TAIL_LINES));
            eprintln!("    the whole log: {}", run.log().display());
            ExitCode::FAILURE
        }
    }
}

/// The suite: what is shipped, made and tried out.
pub fn suite(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    all(machine, run, &Wish { profile: SHIPPED, checks: true, parts: PARTS.iter().collect() })
}

/// What of it takes seconds: the packages, around what the other suites have built.
pub fn smoke(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let mut dist = Dist::new(machine, run, BUILT_BY_SUITES)?;
    // What is built for tests does not stand where what is published does.
    dist.artefacts = dist.staging("artefacts")?;
    crates::list(&dist, run)?;
    npm::make(&dist, run)?;
    check::npm_prebuilt(&dist, run)
}

fn wish<'a>(arguments: &[&'a str]) -> Result<Wish<'a>, String> {
    let mut wish = Wish { profile: SHIPPED, checks: false, parts: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--check" => wish.checks = true,
            "--profile" => wish.profile = rest.next().ok_or("--profile needs a name")?,
            name => {
                let part = PARTS.iter().find(|part| part.name == name);
                let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
                wish.parts.push(part.ok_or(format!("no part {name}; there are {names:?}"))?);
            }
        }
    }
    if wish.parts.is_empty() {
        wish.parts = PARTS.iter().collect();
    }
    Ok(wish)
}

fn all(machine: &Machine, run: &mut Run, wish: &Wish) -> Result<(), Stop> {
    let dist = Dist::new(machine, run, wish.profile)?;
    // The sums are of one run alone.
    emptied(&dist.artefacts)?;
    for part in &wish.parts {
        emptied(&dist.out(part.name))?;
        (part.make)(&dist, run)?;
    }
    dist.sum_up(run)?;
    for part in wish.parts.iter().filter(|_| wish.checks) {
        (part.check)(&dist, run)?;
        println!("checked: {}", part.name);
    }
    Ok(())
}

impl<'a> Dist<'a> {
    fn new(machine: &'a Machine, run: &mut Run, profile: &str) -> Result<Dist<'a>, Stop> {
        let said = run.carry_out(machine.command("rustc").arg("-vV"))?;
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.ok_or_else(|| Stop::Failed("rustc names no host".into()))?.to_owned();
        let version = version::of_workspace(machine)?;
        let artefacts = machine.target.join("artefacts");
        Ok(Dist { machine, version, host, profile: profile.to_owned(), artefacts })
    }

    /// Where the artefacts of a part are.
    fn out(&self, part: &str) -> PathBuf {
        self.artefacts.join(part)
    }

    /// An empty folder, for what an artefact is put together of.
    fn staging(&self, name: &str) -> Result<PathBuf, Stop> {
        let folder = self.machine.target.join("staged").join(name);
        emptied(&folder)?;
        Ok(folder)
    }

    /// Where cargo puts what it builds.
    fn built(&self) -> PathBuf {
        self.machine.target.join(if self.profile == "dev" { "debug" } else { &self.profile })
    }

    /// A command whose builds of what is shipped are the same wherever they are made, as far as
    /// compilers go. Other builds are those of the suites, which another environment would make
    /// anew.
    fn building(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.machine.command(program);
        if self.profile == SHIPPED {
            command.env("SOURCE_DATE_EPOCH", TIME);
            let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
            let cargo = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
            let remaps = [(Some(self.machine.root.clone()), "trunkline"), (cargo, "cargo")];
            let flags = remaps.iter().filter_map(|(from, to)| {
                Some(format!("--remap-path-prefix={}={to}", from.as_ref()?.display()))
            });
            command.env("CARGO_ENCODED_RUSTFLAGS", flags.collect::<Vec<_>>().join("\x1f"));
        }
        command
    }

    /// Builds a package of the workspace.
    fn build(&self, run: &mut Run, package: &str) -> Result<(), Stop> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.building(cargo);
        run.command(command.args(["build", "-p", package, "--profile", &self.profile]))
    }

    /// Makes an archive of a folder, the same of the same files.
    fn archive(&self, run: &mut Run, folder: &Path, to: &Path) -> Result<(), Stop> {
        let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(Stop::Failed(format!("{} is not a folder", folder.display())));
        };
        let mut tar = self.machine.command("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg(format!("--mtime=@{TIME}")).args(["-I", "gzip -n", "-cf"]).arg(to);
        run.command(tar.arg("-C").arg(above).arg(name))
    }

    /// Writes down the sums of all artefacts, and prints what there is.
    fn sum_up(&self, run: &mut Run) -> Result<(), Stop> {
        let folder = &self.artefacts;
        let mut files = files_below(folder)?;
        files.retain(|path| !path.ends_with(SUMS));
        let names: Vec<&Path> =
            files.iter().filter_map(|path| path.strip_prefix(folder).ok()).collect();
        let mut sums = self.machine.command("sha256sum");
        let sums = run.carry_out(sums.args(&names).current_dir(folder))?;
        write(&folder.join(SUMS), &sums)?;
        for (file, name) in files.iter().zip(names) {
            let bytes = file.metadata().map_or(0, |metadata| metadata.len());
            println!("{:>8} KB  {}", bytes.div_ceil(1000), name.display());
        }
        println!("in {}, built with the profile {}", folder.display(), self.profile);
        Ok(())
    }
}

/// All files below a folder, in their order.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Stop> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
            let entry = entry.map_err(|error| failed(&folder, &error))?;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { &mut folders } else { &mut files }.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Makes it an empty folder.
fn emptied(folder: &Path) -> Result<(), Stop> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| failed(folder, &error))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), Stop> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    }
    std::fs::copy(from, to).map(drop).map_err(|error| failed(from, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Failed(format!("{}: {error}", path.display()))
}

/// What is shipped is built with this profile.
const SHIPPED: &str = "dist";

const BUILT_BY_SUITES: &str = "dev";

const SUMS: &str = "SHA256SUMS";

/// When the files of an archive were changed, for all that anybody can tell: the first second that
/// every format can say.
const TIME: &str = "315532800";

/// Builds with link-time optimisation take minutes each, and there are several.
const BOUND: Duration = Duration::from_secs(2 * 60 * 60);

/// Lines of the log that are printed of a failure.
const TAIL_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use super::wish;

    #[test]
    fn parts_are_chosen_by_name_and_none_is_all() {
        let names = |arguments: &[&str]| {
            wish(arguments).map(|wish| wish.parts.iter().map(|part| part.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["npm", "--check", "--profile", "dev"]), Ok(vec!["npm"]));
        assert_eq!(names(&[]).unwrap().len(), 4);
        assert!(names(&["pypi"]).unwrap_err().contains("python"));
        assert!(names(&["--profile"]).is_err());
    }
}
