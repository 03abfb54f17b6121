//! One target of `trunkline-fuzz`, driven by libFuzzer: `TRUNKLINE_FUZZ_TARGET` is its name.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use trunkline_fuzz::Target;

static TARGET: OnceLock<&Target> = OnceLock::new();

fn chosen() -> &'static Target {
    let name = std::env::var("TRUNKLINE_FUZZ_TARGET").expect("TRUNKLINE_FUZZ_TARGET is a target");
    Target::of_name(&name).expect("there is a target of that name")
}

fuzz_target!(|bytes: &[u8]| (TARGET.get_or_init(chosen).run)(bytes));
