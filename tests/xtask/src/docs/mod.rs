//! `cargo xtask docs`: the documentation as a site, in `target/docs`. What is wrong with a page, a
//! link or a reference fails it.

mod offline;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::machine::Machine;
use crate::run::{Run, Stop};

/// Builds it and says where it is.
pub fn docs(machine: &Machine) -> ExitCode {
    let mut run = Run::new(machine.target.join("xtask/docs.log"), HANG_BOUND);
    match suite(machine, &mut run) {
        Ok(()) => {
            println!("{}", site(machine).join("index.html").display());
            return ExitCode::SUCCESS;
        }
        Err(Stop::Failed(why)) => println!("{}\nxtask: docs: {why}", run.why(TAIL_LINES)),
        Err(Stop::NotRun(why)) => println!("xtask: docs: {why}"),
    }
    ExitCode::FAILURE
}

/// The suite `docs`.
pub fn suite(machine: &Machine, run: &mut Run) -> Result<(), Stop> {
    let environment = machine.python_environment(run, "docs-venv", &PACKAGES)?;
    let staged = machine.target.join("docs-pages");
    let pages = stage(machine, run, &staged)?;
    c_reference(machine, run, &staged.join("pages/docs/reference/c"))?;
    let mut mkdocs = machine.command(environment.join("bin/mkdocs"));
    mkdocs.args(["build", "--strict", "--clean", "--quiet", "--config-file"]);
    run.command(mkdocs.arg(staged.join("mkdocs.yml")).env("NO_MKDOCS_2_WARNING", "1"))?;
    let loaded = offline::loads_from_elsewhere(&site(machine)).map_err(failed)?;
    if !loaded.is_empty() {
        return Err(Stop::Failed(format!("loaded from elsewhere: {}", loaded.join(", "))));
    }
    run.note_passed(pages);
    Ok(())
}

fn site(machine: &Machine) -> PathBuf {
    machine.target.join("docs")
}

/// Copies what the site is made of, each file to where the repository has it, so that links mean
/// the same; says how many pages.
fn stage(machine: &Machine, run: &mut Run, staged: &Path) -> Result<u64, Stop> {
    if staged.exists() {
        std::fs::remove_dir_all(staged).map_err(failed)?;
    }
    let mut git = machine.command("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "--"]).args(STAGED);
    let listed = run.carry_out(&mut git)?;
    let mut files: BTreeSet<PathBuf> = listed.lines().map(PathBuf::from).collect();
    for page in listed.lines().filter(|path| path.ends_with(".md")) {
        let text = std::fs::read_to_string(machine.root.join(page)).map_err(failed)?;
        files.extend(linked(Path::new(page), &text));
    }
    for path in files.iter().filter(|path| machine.root.join(path).is_file()) {
        let copy = staged.join("pages").join(path);
        std::fs::create_dir_all(copy.parent().unwrap_or(staged)).map_err(failed)?;
        std::fs::copy(machine.root.join(path), copy).map_err(failed)?;
    }
    std::fs::copy(machine.root.join("docs/mkdocs.yml"), staged.join("mkdocs.yml"))
        .map_err(failed)?;
    Ok(listed.lines().filter(|path| path.ends_with(".md")).count() as u64)
}

/// The files that a page links to, such as sources: a link without its file fails the site.
fn linked(page: &Path, text: &str) -> Vec<PathBuf> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let resolved = |target: &str| {
        let mut path = page.parent().unwrap_or(page).to_path_buf();
        for part in target.split('/') {
            match part {
                ".." => _ = path.pop(),
                part => path.push(part),
            }
        }
        path
    };
    targets.filter(|target| !target.contains(':') && !target.is_empty()).map(resolved).collect()
}

/// The headers by Doxygen: a symbol without a word about it is an error.
fn c_reference(machine: &Machine, run: &mut Run, folder: &Path) -> Result<(), Stop> {
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut doxygen = machine.command("doxygen");
    run.command(doxygen.arg("docs/Doxyfile").env("TRUNKLINE_C_REFERENCE", folder))
}

fn failed(error: std::io::Error) -> Stop {
    Stop::Failed(error.to_string())
}

/// What the site is made of, as git names it.
const STAGED: [&str; 4] = ["*.md", "docs", "include", "LICENSE-*"];

/// The generator, and what colours the programs. Neither loads anything when a page is read.
const PACKAGES: [&str; 2] = ["mkdocs==1.6.1", "pygments==2.21.0"];

/// Far more than the whole takes.
const HANG_BOUND: Duration = Duration::from_secs(600);

/// Lines of the log that are shown when it fails.
const TAIL_LINES: usize = 60;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::linked;

    #[test]
    fn a_link_of_a_page_to_a_source_is_found_and_an_address_is_none() {
        let text = "[a](../../core/a.rs) [b](c.md#d), [e](https://f.example/g), [h](#i)";
        let found = linked(Path::new("docs/adr/x.md"), text);
        assert_eq!(found, [PathBuf::from("core/a.rs"), PathBuf::from("docs/adr/c.md")]);
    }
}
