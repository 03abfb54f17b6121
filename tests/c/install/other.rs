//! Another library of Rust, which a program links beside this one.

/// 7, by way of what the standard library has for unwinding.
#[unsafe(no_mangle)]
pub extern "C" fn other_library() -> i32 {
    let words: Vec<String> = std::env::args().collect();
    std::panic::catch_unwind(|| if words.is_empty() { panic!("no name") } else { 7 }).unwrap_or(0)
}
