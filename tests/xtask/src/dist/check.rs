//! Each artefact where nothing else of it is: installed by its users' own tools into an empty
//! environment, and its quick start run.
//!
//! The quick starts are those of `docs/guide/first-program.md`. What is built of sources here is
//! built without optimisation: what is tried out is whether they are whole.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Dist, c as archive, copy, crates as packed, failed, files_below, npm as packages};
use super::{python as wheels, version};
use crate::machine::{Machine, write};
use crate::run::{Run, Stop};

/// The crates as dependencies of a program, and the command line from its own.
pub fn crates(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    let folder = dist.staging("check-crates")?;
    let mut patches = String::new();
    for name in packed::PUBLISHED {
        let mut tar = dist.machine.command("tar");
        let file = dist.out("crates").join(format!("{name}-{}.crate", dist.version));
        run.command(tar.arg("-xzf").arg(file).arg("-C").arg(&folder))?;
        patches += &format!("{name} = {{ path = \"{name}-{}\" }}\n", dist.version);
    }
    let manifest = format!(
        "[package]\nname = \"quick-start\"\nedition = \"2024\"\n\n[dependencies]\ntrunkline = \"={0}\"\n\n\
         [workspace]\nresolver = \"3\"\nmembers = [\"trunkline-cli-{0}\"]\n\n[patch.crates-io]\n{patches}",
        dist.version
    );
    write(&folder.join("Cargo.toml"), &manifest)?;
    copy(&dist.machine.root.join("Cargo.lock"), &folder.join("Cargo.lock"))?;
    super::emptied(&folder.join("src"))?;
    write(&folder.join("src/main.rs"), &quick_start(dist.machine, "rust")?)?;
    let cargo = |args: &[&str]| {
        let mut cargo = dist.machine.cargo(args);
        cargo.current_dir(&folder).env("CARGO_TARGET_DIR", &dist.machine.target);
        cargo
    };
    says_hi(dist, run, cargo(&["run", "--quiet", "-p", "quick-start"]))?;
    let command = || cargo(&["run", "--quiet", "-p", "trunkline-cli", "--"]);
    command_line(dist, run, &folder, command)
}

/// The archive, unpacked somewhere, for programs that pkg-config and CMake build.
pub fn c(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    let folder = dist.staging("check-c")?;
    let mut tar = dist.machine.command("tar");
    run.command(tar.arg("-xzf").arg(archive::archived(dist)).arg("-C").arg(&folder))?;
    let lib = folder.join(archive::name(dist)).join("lib");
    let shared = lib.join(format!("libtrunkline.so.{}", dist.version));
    let sections = run.carry_out(dist.machine.command("readelf").arg("-SW").arg(shared))?;
    if sections.contains(".debug_info") || !sections.contains(".gnu_debuglink") {
        return Err(Stop::Failed("the shared library has its debug information in it".into()));
    }
    for (language, file, compiler) in [("c", "main.c", "cc"), ("cpp", "main.cpp", "c++")] {
        write(&folder.join(file), &quick_start(dist.machine, language)?)?;
        let line = format!(
            "{compiler} {file} -o {language} $(pkg-config --cflags --libs trunkline) -Wl,-rpath,{}",
            lib.display()
        );
        let mut shell = dist.machine.command("sh");
        shell.args(["-c", &line]).env("PKG_CONFIG_PATH", lib.join("pkgconfig"));
        run.command(shell.current_dir(&folder))?;
        let program = dist.machine.command(folder.join(language));
        says_hi(dist, run, program)?;
    }
    let examples = folder.join(archive::name(dist)).join("examples");
    run.command(dist.machine.command("make").arg("-s").arg("-C").arg(&examples))?;
    let server = dist.machine.testserver(run)?;
    for program in ["call", "calls", "queue", "forms", "coroutine", "two_sessions"] {
        run.command(dist.machine.command(examples.join(program)).arg(server))?;
    }
    let mut command = dist.machine.command(lib.join("../bin/trunkline"));
    run.command(command.arg("--version"))?;
    for file in files_below(&dist.machine.root.join("tests/c/install"))? {
        copy(&file, &folder.join("cmake").join(file.file_name().unwrap_or_default()))?;
    }
    let mut configure = dist.machine.command("cmake");
    configure.args(["-S", "cmake", "-B", "built"]).current_dir(&folder);
    let found = format!("-Dtrunkline_DIR={}", lib.join("cmake/trunkline").display());
    run.command(configure.arg(found))?;
    let mut build = dist.machine.command("cmake");
    run.command(build.args(["--build", "built"]).current_dir(&folder))?;
    for program in ["by-cmake", "by-cmake-static"] {
        run.command(dist.machine.command(folder.join("built").join(program)).arg(&dist.version))?;
    }
    Ok(())
}

/// The wheel, and what pip builds of the sources, each in an environment of its own.
pub fn python(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    let wheel = wheels::wheel(dist, &dist.out("python"))?;
    for (name, package) in [("wheel", &wheel), ("sdist", &wheels::sources(dist))] {
        let folder = dist.staging(&format!("check-{name}"))?;
        run.command(
            dist.machine.command("python3").args(["-m", "venv", "venv"]).current_dir(&folder),
        )?;
        let program = |name: &str| {
            let mut command = dist.machine.command(folder.join("venv/bin").join(name));
            command.current_dir(&folder);
            command
        };
        let mut pip = program("python");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(package);
        if name == "wheel" {
            pip.arg("--no-index");
        }
        pip.env("MATURIN_PEP517_ARGS", "--profile dev");
        run.command(pip.env("CARGO_TARGET_DIR", &dist.machine.target))?;
        write(&folder.join("example.py"), &quick_start(dist.machine, "python")?)?;
        let mut example = program("python");
        example.arg("example.py");
        says_hi(dist, run, example)?;
        command_line(dist, run, &folder, || program("trunkline"))?;
    }
    Ok(())
}

/// The packages: with the addon that is built, and from the sources.
pub fn npm(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    npm_prebuilt(dist, run)?;
    let main = packages::packed(dist, "trunkline");
    npm_installed(dist, run, "check-npm-source", &[main])
}

/// The packages with the addon that is built.
pub fn npm_prebuilt(dist: &Dist, run: &mut Run) -> Result<(), Stop> {
    let carrier = packages::platform(dist)?.package;
    let both = ["trunkline", carrier].map(|name| packages::packed(dist, name));
    npm_installed(dist, run, "check-npm", &both)
}

/// Where one package alone is installed, that has to build its addon.
fn npm_installed(dist: &Dist, run: &mut Run, name: &str, given: &[PathBuf]) -> Result<(), Stop> {
    let folder = dist.staging(name)?;
    write(&folder.join("package.json"), "{}\n")?;
    let mut npm = dist.machine.command("npm");
    // Nothing comes from anywhere else, as nothing may be missing from the packages.
    npm.args(["install", "--offline", "--omit=optional", "--no-audit", "--no-fund"]).args(given);
    npm.env("TRUNKLINE_PROFILE", "dev").env("CARGO_TARGET_DIR", &dist.machine.target);
    run.command(npm.current_dir(&folder))?;
    let is_built = folder.join("node_modules/trunkline/trunkline.node").exists();
    if is_built != (given.len() == 1) {
        let what = if is_built { "was built" } else { "was not built" };
        return Err(Stop::Failed(format!("{name}: the addon {what}")));
    }
    write(&folder.join("example.mjs"), &quick_start(dist.machine, "js")?)?;
    let mut example = dist.machine.command("node");
    example.arg("example.mjs").current_dir(&folder);
    says_hi(dist, run, example)?;
    command_line(dist, run, &folder, || {
        dist.machine.command(folder.join("node_modules/.bin/trunkline"))
    })
}

/// What `trunkline` says of itself, and of a server in the settings of a home.
fn command_line(
    dist: &Dist,
    run: &mut Run,
    folder: &Path,
    command: impl Fn() -> Command,
) -> Result<(), Stop> {
    let said = run.carry_out(command().arg("--version"))?;
    let version = format!("trunkline {}", version::of_workspace(dist.machine)?);
    if said.trim() != version {
        return Err(Stop::Failed(format!("{version} was to be said, not {said}")));
    }
    // What lies in the workspace would wait for approval.
    let (home, workspace) = (folder.join("home"), folder.join("workspace"));
    let settings = home.join("mcp.json");
    for folder in [&home, &workspace] {
        super::emptied(folder)?;
    }
    let servers = r#"{"mcpServers": {"demo": {"command": "trunkline-testserver", "args": ["--tools", "1"]}}}"#;
    write(&settings, servers)?;
    let mut tools = with_server(dist, run, command())?;
    tools.args(["tools", "--workspace"]).arg(&workspace).arg("--config").arg(&settings);
    let listed = run.carry_out(tools.env("TRUNKLINE_HOME", &home))?;
    if !listed.contains("mcp__demo__tool_1 ") {
        return Err(Stop::Failed(format!("`trunkline tools` lists {listed}")));
    }
    run.note_passed(1);
    Ok(())
}

/// A program that finds the reference server as its users find theirs.
fn with_server(dist: &Dist, run: &mut Run, mut program: Command) -> Result<Command, Stop> {
    let server = dist.machine.testserver(run)?;
    let mut path = OsString::from(server.parent().unwrap_or(server));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    program.env("PATH", path);
    Ok(program)
}

/// What each quick start prints is the answer of the reference server.
fn says_hi(dist: &Dist, run: &mut Run, program: Command) -> Result<(), Stop> {
    let mut program = with_server(dist, run, program)?;
    let said = run.carry_out(&mut program)?;
    let is_answer = said.trim() == "hi" || said.contains(r#""text":"hi""#);
    if !is_answer {
        return Err(Stop::Failed(format!("the quick start says {said}")));
    }
    run.note_passed(1);
    Ok(())
}

/// The first example of the page in that language.
fn quick_start(machine: &Machine, language: &str) -> Result<String, Stop> {
    let path = machine.root.join("docs/guide/first-program.md");
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    example(&text, language)
        .map(str::to_owned)
        .ok_or_else(|| Stop::Failed(format!("the page has no example in {language}")))
}

fn example<'a>(page: &'a str, language: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("\n```{language}\n"))?;
    rest.split_once("\n```\n").map(|(example, _)| example)
}

#[cfg(test)]
mod tests {
    use super::example;

    #[test]
    fn the_first_example_of_a_language_is_found() {
        let page =
            "# A page\n\n```js\none\n```\n\n```c\nint two;\nint three;\n```\n\n```c\nfour\n```\n";
        assert_eq!(example(page, "c"), Some("int two;\nint three;"));
        assert_eq!(example(page, "cpp"), None);
    }
}
