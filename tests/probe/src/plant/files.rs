//! Planted files, and what became of them.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::{Secrets, new_secret};
use crate::context::Handle;
use crate::scene::c_path;
use crate::techniques::OUTSIDE_FILES;
use crate::{canary, sys};

/// The file in the victim's current folder.
pub(super) const IN_CWD: &str = "notes.txt";
/// Another user than whoever plants as root.
const NOBODY: u32 = 65534;
/// Files up to this size are compared by content.
const MAX_HASHED: u64 = 1 << 20;
/// Secrets of a home.
const HOME_FILES: &[&str] = &[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".env",
    ".netrc",
    ".config/gh/hosts.yml",
    ".kube/config",
    ".bash_history",
    "project/.env",
    "project/src/main.py",
];

/// What was planted in the file system; gone when dropped.
pub(super) struct Files {
    pub(super) dir: PathBuf,
    pub(super) home: PathBuf,
    pub(super) other_user: Option<PathBuf>,
    pub(super) setuid: Vec<PathBuf>,
    pub(super) allowed: BTreeMap<String, String>,
    /// Made by us outside `dir`, to be removed one by one.
    in_home: Vec<PathBuf>,
}

impl Files {
    pub(super) fn plant(dir: &Path, home: Option<&Path>, secrets: &mut Secrets) -> anyhow::Result<Self> {
        if dir.exists() && fs::read_dir(dir)?.next().is_some() {
            bail!("{} is not empty: choose a folder that does not exist yet", dir.display());
        }
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let dir = dir.canonicalize()?;
        fs::set_permissions(&dir, Permissions::from_mode(0o755))?;
        let mut files = Self {
            home: home.map_or_else(|| dir.join("home"), Path::to_path_buf),
            dir,
            other_user: None,
            setuid: Vec::new(),
            allowed: BTreeMap::new(),
            in_home: Vec::new(),
        };
        files.plant_home(secrets)?;
        files.plant_outside(secrets)?;
        files.plant_grants()?;
        files.plant_skill(secrets)?;
        if nix::unistd::geteuid().is_root() {
            files.plant_as_root(secrets)?;
        }
        Ok(files)
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.dir.join("outside")
    }

    pub(super) fn cwd(&self) -> PathBuf {
        self.dir.join("cwd")
    }

    /// How `open_by_handle_at(2)` would find the first secret, where the file system has handles.
    pub(super) fn handle(&self) -> Option<Handle> {
        let path = c_path(&self.home.join(".ssh/id_ed25519")).ok()?;
        sys::name_to_handle(&path).ok().map(|(kind, bytes)| Handle { kind, bytes })
    }

    fn plant_home(&mut self, secrets: &mut Secrets) -> anyhow::Result<()> {
        for name in HOME_FILES {
            let path = self.home.join(name);
            if path.exists() {
                bail!("{} exists: a real home is not planted over", path.display());
            }
            let folder = path.parent().context("a file lies in a folder")?;
            for missing in folder.ancestors().take_while(|folder| !folder.exists()).collect::<Vec<_>>() {
                self.in_home.push(missing.to_path_buf());
            }
            fs::create_dir_all(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o700))?;
            write_secret(&path, 0o600, &new_secret(secrets, format!("home/{name}"))?)?;
            self.in_home.push(path);
        }
        Ok(())
    }

    fn plant_outside(&self, secrets: &mut Secrets) -> anyhow::Result<()> {
        let outside = self.outside();
        for folder in [&outside, &outside.join("folder"), &self.cwd(), &self.dir.join("run")] {
            fs::create_dir(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o777))?;
        }
        write_secret(&outside.join("marker"), 0o644, &new_secret(secrets, "outside/marker")?)?;
        write_secret(&self.cwd().join(IN_CWD), 0o600, &new_secret(secrets, "cwd")?)?;
        for name in OUTSIDE_FILES {
            fs::write(outside.join(name), format!("{name} as it was\n"))?;
            fs::set_permissions(outside.join(name), Permissions::from_mode(0o666))?;
        }
        Ok(())
    }

    fn plant_grants(&mut self) -> anyhow::Result<()> {
        for (folder, mode) in [("granted", 0o777), ("readonly", 0o755)] {
            let path = self.dir.join(folder);
            fs::create_dir(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
            let canary = new_secret(&mut self.allowed, format!("{folder}/data.txt"))?;
            write_secret(&path.join("data.txt"), 0o644, &canary)?;
        }
        for name in ["written", "chmod-me", "removed"] {
            fs::write(self.dir.join("readonly").join(name), format!("{name} as it was\n"))?;
        }
        let granted = self.dir.join("granted");
        symlink(self.home.join(".ssh/id_ed25519"), granted.join("link-to-secret"))?;
        symlink(self.outside().join("planted-link"), granted.join("link-to-outside"))?;
        symlink(self.outside(), granted.join("link-to-folder"))?;
        symlink("../home", granted.join("link-up"))?;
        Ok(())
    }

    fn plant_skill(&self, secrets: &mut Secrets) -> anyhow::Result<()> {
        let skill = self.dir.join("skill");
        fs::create_dir(&skill)?;
        fs::write(skill.join("SKILL.md"), "---\nname: victim\ndescription: A skill to be altered\n---\n")?;
        fs::write(skill.join("skillsandbox.yaml"), "skill: { name: victim, version: \"0.1.0\" }\n")?;
        fs::write(skill.join("main.py"), "print('hello')\n")?;
        // As an author can ship them.
        symlink("../home", skill.join("data"))?;
        symlink(self.outside(), skill.join("notes"))?;
        for name in ["removed", "renamed", "chmod-me", "bound-over"] {
            fs::write(skill.join(name), format!("{name} as it was\n"))?;
        }
        let trace = self.dir.join("trace");
        fs::create_dir(&trace)?;
        write_secret(&trace.join("trace.json"), 0o644, &new_secret(secrets, "trace")?)?;
        Ok(())
    }

    fn plant_as_root(&mut self, secrets: &mut Secrets) -> anyhow::Result<()> {
        let folder = self.dir.join("other-user");
        fs::create_dir(&folder)?;
        let path = folder.join("secret");
        write_secret(&path, 0o600, &new_secret(secrets, "other user")?)?;
        chown(&path, Some(NOBODY), Some(NOBODY))?;
        self.other_user = Some(path);
        for (name, owner) in [("setuid-root", 0), ("setuid-nobody", NOBODY)] {
            let path = self.dir.join("readonly").join(name);
            fs::copy("/proc/self/exe", &path)?;
            chown(&path, Some(owner), Some(owner))?;
            fs::set_permissions(&path, Permissions::from_mode(0o6755))?;
            self.setuid.push(path);
        }
        Ok(())
    }

    /// Every file that must not change.
    pub(super) fn snapshot(&self) -> BTreeMap<PathBuf, State> {
        let mut states = BTreeMap::new();
        for folder in ["outside", "readonly", "skill", "trace", "cwd", "other-user"] {
            collect(&self.dir.join(folder), &mut states);
        }
        for path in &self.in_home {
            collect(path, &mut states);
        }
        states
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Files before their folders; a folder somebody else uses stays.
        self.in_home.sort();
        for path in self.in_home.iter().rev() {
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
        let _ = std::env::set_current_dir("/");
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn write_secret(path: &Path, mode: u32, canary: &canary::Canary) -> io::Result<()> {
    fs::write(path, format!("secret = {}\n", canary.reveal()))?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// A file as it is. The time of change (ctime) is the one nobody can set: every change of content, mode, owner, times, links or
/// attributes moves it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct State {
    content: Option<String>,
    mode: u32,
    owner: (u32, u32),
    links: u64,
    changed: (i64, i64),
}

/// Bounded in depth by what we planted ourselves: folders an attacker adds are seen as one entry each.
fn collect(path: &Path, states: &mut BTreeMap<PathBuf, State>) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    let is_dir = metadata.is_dir();
    // Programs are large, and their time of change tells as much.
    let is_small = metadata.is_file() && metadata.len() <= MAX_HASHED;
    let content = is_small.then(|| fs::read(path).ok()).flatten();
    let state = State {
        content: content.map(|bytes| canary::sha256(&bytes)),
        mode: metadata.mode(),
        owner: (metadata.uid(), metadata.gid()),
        // A folder's change with its entries, which are looked at themselves.
        links: if is_dir { 0 } else { metadata.nlink() },
        changed: if is_dir { (0, 0) } else { (metadata.ctime(), metadata.ctime_nsec()) },
    };
    let known = states.insert(path.to_path_buf(), state).is_some();
    if is_dir && !known && path.components().count() < 64 {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            collect(&entry.path(), states);
        }
    }
}

/// What is different, in words.
pub(super) fn difference(before: &BTreeMap<PathBuf, State>, after: &BTreeMap<PathBuf, State>) -> Vec<String> {
    let mut found = Vec::new();
    for (path, old) in before {
        let what = match after.get(path) {
            None => "is gone",
            Some(new) if new.content != old.content => "has another content",
            Some(new) if new.mode != old.mode => "has another mode",
            Some(new) if new.owner != old.owner => "has another owner",
            Some(new) if new.links != old.links => "has another number of names",
            Some(new) if new.changed != old.changed => "was changed (times or attributes)",
            Some(_) => continue,
        };
        found.push(format!("{} {what}", path.display()));
    }
    let new = after.keys().filter(|path| !before.contains_key(*path));
    found.extend(new.map(|path| format!("{} is new", path.display())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every change an attacker could make to a file is seen by the witness.
    #[test]
    fn every_change_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let states = || {
            let mut states = BTreeMap::new();
            collect(dir.path(), &mut states);
            states
        };
        fs::write(&path, "old").unwrap();
        let before = states();
        assert_eq!(difference(&before, &states()), Vec::<String>::new());
        let seen = |change: &dyn Fn()| {
            let before = states();
            // The kernel's clock for files moves in ticks.
            std::thread::sleep(std::time::Duration::from_millis(20));
            change();
            let found = difference(&before, &states());
            assert_eq!(found.len(), 1, "{found:?}");
            found.into_iter().next().unwrap()
        };
        assert!(seen(&|| fs::write(&path, "new").unwrap()).ends_with("another content"));
        let mode = Permissions::from_mode(0o400);
        assert!(seen(&|| fs::set_permissions(&path, mode.clone()).unwrap()).ends_with("another mode"));
        let file = fs::File::open(&path).unwrap();
        assert!(seen(&|| file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap()).contains("times"));
        let second = dir.path().with_extension("second");
        assert!(seen(&|| fs::hard_link(&path, &second).unwrap()).ends_with("number of names"));
        fs::remove_file(&second).unwrap();
        assert!(seen(&|| fs::write(dir.path().join("other"), "").unwrap()).ends_with("is new"));
        assert!(seen(&|| fs::remove_file(&path).unwrap()).ends_with("is gone"));
    }
}
