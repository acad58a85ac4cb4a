//! Programs that a test needs and this machine may not have.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// Where programs are looked for inside: what a sandbox has as its `PATH`.
const INSIDE: [&str; 6] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Of the programs that are started by name: those that are not where a sandbox looks for them.
pub fn inside<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    missing_from(&INSIDE.map(PathBuf::from), names)
}

/// Of the programs that a launching program starts: those that it would not find.
pub fn outside<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    missing_from(&std::env::split_paths(&path).collect::<Vec<_>>(), names)
}

fn missing_from<'a>(places: &[PathBuf], names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let executable = |path: PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let found = |name: &str| places.iter().any(|place| executable(place.join(name)));
    names.into_iter().filter(|name| !found(name)).collect()
}

/// Says that a test is left out for want of `missing`, and never lets that pass unseen. Always false.
pub fn skip(missing: &[&str]) -> bool {
    let required = std::env::var("SKILLSANDBOX_REQUIRE").unwrap_or_default();
    let wanted: Vec<&&str> =
        missing.iter().filter(|name| required.split([',', ' ']).any(|required| required == **name)).collect();
    assert!(wanted.is_empty(), "{wanted:?} must be here (SKILLSANDBOX_REQUIRE={required}), and is not");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("skipped: {test}: not on this machine: {}\n", missing.join(", "));
    // Not by a macro: what those print of a test that passes is shown to nobody.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(list) = std::env::var_os("SKILLSANDBOX_SKIPPED") {
        let file = OpenOptions::new().append(true).create(true).open(list);
        // One write of one short line: tests in other processes append too.
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
    false
}
