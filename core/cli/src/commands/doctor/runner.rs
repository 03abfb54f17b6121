//! What executes the programs that are scripts, or that start another program.

use std::path::Path;

use trunkline::Start;
use trunkline_pool::text::escaped;

use super::entries::DoctorEntry;
use super::finding::{Finding, State, Topic, push_shared};

/// Programs that run other programs.
const RUNNERS: &[&str] = &[
    "npx", "npm", "node", "pnpm", "yarn", "bun", "bunx", "deno", "tsx", "uvx", "uv", "pipx",
    "python", "pip", "docker", "podman", "nerdctl", "ruby", "java", "dotnet", "go", "cargo", "php",
    "mise", "nix",
];

/// Managers of versions, by a folder in the paths of what they install.
const MANAGERS: &[(&str, &str)] = &[
    (".nvm", "nvm"),
    (".asdf", "asdf"),
    (".pyenv", "pyenv"),
    (".volta", "Volta"),
    (".nodenv", "nodenv"),
    (".rbenv", "rbenv"),
    (".rvm", "rvm"),
    (".sdkman", "SDKMAN"),
    (".fnm", "fnm"),
    ("fnm", "fnm"),
    ("fnm_multishells", "fnm"),
    ("mise", "mise"),
    (".proto", "proto"),
    (".rustup", "rustup"),
    ("miniconda3", "conda"),
    ("anaconda3", "conda"),
    ("linuxbrew", "Homebrew"),
    ("homebrew", "Homebrew"),
];

pub(super) fn look(entries: &[DoctorEntry<'_>], findings: &mut Vec<Finding>) {
    for entry in entries {
        let Some(start) = &entry.start else { continue };
        if let Some(found) = of_start(start) {
            push_shared(findings, entry.name, found);
        }
    }
}

/// The finding about one start, if its program is a runner, is interpreted, or comes from a version
/// manager.
fn of_start(start: &Start) -> Option<Finding> {
    // A missing program has a finding of its own.
    let program = start.program.as_ref().ok()?;
    let product = installed_by(program);
    if product.is_none() && start.interpreter.is_none() && runner(start).is_none() {
        return None;
    }
    let mut message = escaped(&program.to_string_lossy());
    if let Ok(file) = program.canonicalize()
        && file != *program
    {
        message.push_str(&format!(", a link to {}", escaped(&file.to_string_lossy())));
    }
    if let Some(product) = product {
        message.push_str(&format!(", of the version manager {product}"));
    }
    match &start.interpreter {
        None => {}
        Some((_, Some(file))) => {
            message.push_str(&format!(", run by {}", escaped(&file.to_string_lossy())));
            if let Some(product) = installed_by(file) {
                message.push_str(&format!(" of the version manager {product}"));
            }
        }
        Some((named, None)) => {
            let named = escaped(named);
            let message = format!(
                "{message}, whose first line asks for `{named}`; the server's PATH has none"
            );
            let hint = "install it, or set PATH in the server's `env` to a folder that has it";
            return Some(Finding::general(State::Wrong, Topic::Runner, message).with_hint(hint));
        }
    }
    Some(Finding::general(State::Good, Topic::Runner, message))
}

/// The name of the runner that starts a server, without a version or an ending.
pub(super) fn runner(start: &Start) -> Option<&'static str> {
    let name = Path::new(&start.command).file_name()?.to_str()?.to_lowercase();
    let name = [".exe", ".cmd", ".bat", ".com"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(&name);
    let name = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    RUNNERS.iter().find(|runner| **runner == name).copied()
}

/// The manager that has installed a program, by its path or by the one that this leads to.
pub(super) fn installed_by(program: &Path) -> Option<&'static str> {
    let of = |path: &Path| {
        let mut parts = path.components().filter_map(|part| part.as_os_str().to_str());
        parts.find_map(|part| Some(MANAGERS.iter().find(|(folder, _)| *folder == part)?.1))
    };
    of(program).or_else(|| of(&program.canonicalize().ok()?))
}
