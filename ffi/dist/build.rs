//! Gives the shared library the name that programs look for it by, and keeps it loaded once loaded:
//! its threads outlive a `dlclose`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtrunkline.so.0");
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        // Without one it would be looked for where it was built.
        Ok("macos") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libtrunkline.dylib");
        }
        _ => (),
    }
}
