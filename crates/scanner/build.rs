//! Writes the table of look-alike characters (Unicode TS 39) as one text: as a table of references, which the crate it is from has, the
//! dynamic linker would have to prepare 6,000 of them at every start of a program, whether it scans or not.

use std::path::Path;
use std::{env, fs, io};

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut table = String::new();
    let mut utf8 = [0; 4];
    // In the order of code points, which is also that of their UTF-8.
    for c in '\0'..=char::MAX {
        let text: &str = c.encode_utf8(&mut utf8);
        // What is taken apart first has no row of its own.
        if !text.nfd().eq([c]) || skeleton(text).eq([c]) {
            continue;
        }
        let prototype: String = skeleton(text).collect();
        if c == '\n' || prototype.contains('\n') {
            return Err(io::Error::other("a line break looks like something else"));
        }
        table.extend([text, &prototype, "\n"]);
    }
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo names no folder"))?;
    fs::write(Path::new(&folder).join("look_alikes.txt"), table)
}
