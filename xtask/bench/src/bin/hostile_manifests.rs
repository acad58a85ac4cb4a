//! Writes texts made against the reader into folders, one skill each: `hostile_manifests DIR`. For benchmarks and for
//! trying other readers on them.

use std::{env, fs, io, path::PathBuf};

use skillsandbox_test_support::hostile_manifests;

fn main() -> io::Result<()> {
    let dir = env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or_else(|| io::Error::other("name a folder to write to"))?;
    for (name, text, _) in hostile_manifests::all() {
        let skill = dir.join(name.replace(' ', "-"));
        fs::create_dir_all(&skill)?;
        fs::write(skill.join("skillsandbox.yaml"), text)?;
    }
    Ok(())
}
