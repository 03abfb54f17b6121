//! Compiles the supervisor, which the library carries inside of it and starts from memory (SPEC
//! 9.8).
//!
//! A plain program without dependencies, made by the same compiler for the same target, linked
//! statically if that works. Where neither works, or the target has none, an empty file takes its
//! place: the library then holds servers by their process groups, and `status` says so.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "supervisor/main.rs";

/// The machines whose interface of the Linux kernel the program's declarations describe.
const MACHINES: [&str; 6] = ["x86_64", "x86", "aarch64", "arm", "riscv64", "loongarch64"];

/// Flags of the outer build that say how to link, with their value in the same or in the next word.
const LINK_OPTIONS: [&str; 3] = ["linker=", "linker-flavor=", "link-arg"];

fn main() {
    println!("cargo:rerun-if-changed=supervisor");
    println!("cargo:rerun-if-changed=src/base/bounded_stream.rs");
    println!("cargo:rerun-if-changed=build.rs");
    let program = PathBuf::from(variable("OUT_DIR")).join("supervisor");
    let is_known = match &*variable("CARGO_CFG_TARGET_OS") {
        "linux" => {
            variable("CARGO_CFG_TARGET_ENDIAN") == "little"
                && MACHINES.contains(&&*variable("CARGO_CFG_TARGET_ARCH"))
        }
        "macos" => true,
        _ => false,
    };
    let made = is_known && ["+crt-static", "-crt-static"].iter().any(|it| compile(it, &program));
    if !made {
        if is_known {
            println!("cargo:warning=no linker for the supervisor: `status` will say `group`");
        }
        fs::write(&program, b"").expect("the build folder is writable");
    }
}

fn compile(linkage: &str, program: &Path) -> bool {
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--edition", "2024", "--crate-name", "trunkline_supervisor", SOURCE]);
    rustc.args(["--target", &variable("TARGET"), "--cap-lints", "allow"]);
    rustc.args(["-C", "opt-level=s", "-C", "panic=abort", "-C", "strip=symbols"]);
    rustc.args(["-C", "codegen-units=1", "-C", &format!("target-feature={linkage}")]);
    if variable("PROFILE") == "release" {
        rustc.args(["-C", "lto=fat"]);
    }
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    rustc.args(link_flags(&env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default()));
    rustc.arg("-o").arg(program);
    // What failed is only told when nothing works, by its consequence.
    rustc.output().is_ok_and(|output| output.status.success())
}

/// What the outer build's flags say about linking: everything else is about another program.
fn link_flags(encoded: &str) -> Vec<String> {
    let words: Vec<&str> = encoded.split('\x1f').filter(|word| !word.is_empty()).collect();
    let mut kept = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let option = match *word {
            "-C" | "--codegen" => words.get(at + 1).copied(),
            _ => word.strip_prefix("-C").filter(|rest| !rest.is_empty()),
        };
        if let Some(option) = option
            && LINK_OPTIONS.iter().any(|prefix| option.starts_with(prefix))
        {
            kept.extend(["-C".to_owned(), option.to_owned()]);
        }
    }
    kept
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
