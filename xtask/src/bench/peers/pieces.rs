//! Which pieces of /etc and /var a command in the sandbox sees, so that others can be given the same.
//!
//! Found by looking inside, not by how they got there: a folder that has the same names inside and outside is a piece; of another one, those of its
//! entries that are on both sides. Links are made anew inside, and are no pieces.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::options::NamedCommand;

/// Looked into.
const FOLDERS: [&str; 2] = ["/etc", "/var"];
/// So many names below the root; deeper there are only whole folders.
const DEPTH: usize = 3;
/// What the sandbox writes itself instead of showing the machine's own.
const OWN: [&str; 7] = [
    "/etc/group",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/machine-id",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/resolv.conf",
];

/// Asks inside.
pub(super) fn look(skillsandbox: &NamedCommand) -> anyhow::Result<Vec<PathBuf>> {
    let mut command = Command::new(&skillsandbox.path);
    command
        .env("HOME", &skillsandbox.home)
        .args(["exec", "--quiet", "--", "/usr/bin/find", "-H"])
        .args(FOLDERS);
    // A letter for what it is, and its path.
    command.args(["-mindepth", "1", "-maxdepth", &DEPTH.to_string(), "-printf", "%y%p\\n"]);
    let output = command.output().context("cannot look into the sandbox")?;
    // Some folders of the machine are closed to everybody but root: find says so and fails.
    if output.stdout.is_empty() {
        bail!(
            "nothing of the system is to be seen in the sandbox: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(shared_pieces(&String::from_utf8_lossy(&output.stdout), &|folder| {
        let entries = fs::read_dir(folder).ok()?;
        Some(entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
    }))
}

/// The pieces, given what `find` says of the inside and how to list a folder outside.
fn shared_pieces(found: &str, list: &dyn Fn(&Path) -> Option<BTreeSet<PathBuf>>) -> Vec<PathBuf> {
    let path = |line: &str| PathBuf::from(line.get(1..).unwrap_or_default());
    let inside: BTreeSet<PathBuf> = found.lines().map(path).collect();
    let links: BTreeSet<PathBuf> = found.lines().filter(|line| line.starts_with('l')).map(path).collect();
    let mut pieces = Vec::new();
    let mut folders: Vec<PathBuf> = FOLDERS.map(PathBuf::from).to_vec();
    while let Some(folder) = folders.pop() {
        let outside = list(&folder).unwrap_or_default();
        for entry in inside.iter().filter(|path| path.parent() == Some(&folder)) {
            let own = links.contains(entry) || OWN.iter().any(|own| Path::new(own) == entry);
            if own || !outside.contains(entry) {
                continue;
            }
            let entries: BTreeSet<PathBuf> =
                inside.iter().filter(|path| path.parent() == Some(entry)).cloned().collect();
            let whole = list(entry).is_none_or(|outside| outside == entries);
            // The root counts as a name, too. What is deeper was not asked for.
            let deepest = entry.components().count() > DEPTH;
            if whole || entries.is_empty() || deepest {
                pieces.push(entry.clone());
            } else {
                folders.push(entry.clone());
            }
        }
    }
    pieces.sort();
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_folders_where_nothing_is_left_out_and_single_entries_elsewhere() {
        let inside = [
            "d/etc/alternatives",
            "l/etc/alternatives/awk",
            "f/etc/passwd",
            "f/etc/ours-alone",
            "l/etc/localtime",
            "f/etc/services",
            "d/etc/ssl",
            "d/etc/ssl/certs",
            "f/etc/ssl/certs/a.pem",
            "f/etc/ssl/openssl.cnf",
            "d/var/lib",
            "d/var/lib/ghostscript",
            "d/var/lib/ghostscript/fonts",
            "l/var/tmp",
        ];
        let outside = [
            "/etc/alternatives/awk",
            "/etc/localtime",
            "/etc/passwd",
            "/etc/services",
            "/etc/shadow",
            "/etc/ssl/certs/a.pem",
            "/etc/ssl/openssl.cnf",
            "/etc/ssl/private/key.pem",
            "/var/lib/ghostscript/fonts",
            "/var/lib/dpkg/status",
            "/var/tmp/somebody's",
        ];
        let list = |folder: &Path| {
            let below = outside.iter().filter_map(|path| Path::new(path).strip_prefix(folder).ok());
            let entries: BTreeSet<PathBuf> =
                below.filter_map(|rest| Some(folder.join(rest.components().next()?))).collect();
            (!entries.is_empty()).then_some(entries)
        };
        let pieces = shared_pieces(&inside.join("\n"), &list);
        let expected = [
            "/etc/alternatives",
            "/etc/services",
            "/etc/ssl/certs",
            "/etc/ssl/openssl.cnf",
            "/var/lib/ghostscript",
        ];
        assert_eq!(pieces, expected.map(PathBuf::from));
    }
}
