//! Says what to do where libseccomp's C library is missing, before the linker fails with a page of its own.
//!
//! It only looks. What is linked, and how, is the business of libseccomp-sys: the shared library of the system, unless
//! `LIBSECCOMP_LIB_PATH` and `LIBSECCOMP_LINK_TYPE` say otherwise.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CURE: &str = "libseccomp's C library was not found: run `cargo xtask setup` in a checkout of SkillSandbox, or install \
    libseccomp-dev (Debian, Ubuntu, Alpine), libseccomp-devel (Fedora, openSUSE) or libseccomp (Arch); for a library \
    elsewhere, set LIBSECCOMP_LIB_PATH to its folder";
const CURE_STATIC: &str = "LIBSECCOMP_LINK_TYPE is `static`, but there is no libseccomp.a in the folder LIBSECCOMP_LIB_PATH: \
    set it to the folder that `cc -print-file-name=libseccomp.a` prints, install libseccomp-dev (Debian, Ubuntu) or \
    libseccomp-static (Fedora, Alpine), or unset both variables to link the shared library";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["LIBSECCOMP_LIB_PATH", "LIBSECCOMP_LINK_TYPE", "LIBRARY_PATH", "DOCS_RS"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    // docs.rs links nothing, and elsewhere than on Linux the crate is empty.
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if !is_linux || env::var_os("DOCS_RS").is_some() {
        return;
    }
    // Folders that are given to rustc itself are not for us to understand.
    if env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("-L")) {
        return;
    }
    let given = env::var_os("LIBSECCOMP_LIB_PATH").map(PathBuf::from);
    if env::var("LIBSECCOMP_LINK_TYPE").is_ok_and(|kind| kind == "static") {
        // rustc looks for archives only where it is told to.
        if !given.is_some_and(|folder| folder.join("libseccomp.a").is_file()) {
            println!("cargo::error={CURE_STATIC}");
        }
        return;
    }
    let in_given = given.is_some_and(|folder| {
        ["libseccomp.so", "libseccomp.a"].iter().any(|name| folder.join(name).is_file())
    });
    // For another machine only its own linker knows; it will say so.
    let is_cross = env::var_os("HOST") != env::var_os("TARGET");
    if !in_given && !is_cross && !linkable() {
        println!("cargo::error={CURE}");
    }
}

/// Asks the linker: first where the library is, which is quick; then to link it, because some find more than they tell.
fn linkable() -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let told = Command::new(&linker).arg("-print-file-name=libseccomp.so").output();
    let Ok(told) = told else {
        // No linker here: nothing can be linked at all, and that is a clearer complaint than ours.
        return true;
    };
    // It answers with the bare name where it finds nothing.
    let path = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    if Path::new(&path).is_absolute() && Path::new(&path).is_file() {
        return true;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("libseccomp-is-there");
    let tried = Command::new(linker)
        .args(["-shared", "-nostartfiles", "-x", "c", "/dev/null", "-lseccomp", "-o"])
        .arg(out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}
