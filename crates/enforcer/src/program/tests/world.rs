//! A host in a temporary folder: a home, a skill, a PATH and an environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::program::{FoundProgram, ProgramError, ProgramSearch, find};

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) path: Vec<PathBuf>,
    pub(crate) variables: BTreeMap<&'static str, OsString>,
    pub(crate) workdir: Option<PathBuf>,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder, path: Vec::new(), variables: BTreeMap::new(), workdir: None };
        fs::create_dir_all(world.home()).unwrap();
        fs::create_dir_all(world.skill()).unwrap();
        world
    }

    /// The real path of a place in this world. `~` is its home, `@` the skill's folder.
    pub(crate) fn at(&self, place: &str) -> PathBuf {
        let root = self.folder.path().canonicalize().unwrap();
        match place.split_at_checked(1) {
            Some(("~", rest)) => root.join("people/ada").join(rest.trim_start_matches('/')),
            Some(("@", rest)) => root.join("skills/weather").join(rest.trim_start_matches('/')),
            _ => root.join(place.trim_start_matches('/')),
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.at("~")
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.at("@")
    }

    pub(crate) fn text(&self, place: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn script(&self, place: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.text(place, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// An ELF file that needs nothing.
    pub(crate) fn program(&self, place: &str) -> PathBuf {
        self.script(place, crate::program::elf_file(None, &[]))
    }

    pub(crate) fn folder(&self, place: &str) -> PathBuf {
        let path = self.at(place);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// A link whose target is written as given.
    pub(crate) fn link(&self, place: &str, target: impl AsRef<Path>) -> PathBuf {
        let path = self.at(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, &path).unwrap();
        path
    }

    pub(crate) fn on_path(&mut self, place: &str) {
        let folder = self.at(place);
        self.path.push(folder);
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.insert(name, value.into());
    }

    /// A Python as its makers install it.
    pub(crate) fn python(&self, prefix: &str, version: &str) -> PathBuf {
        let path = self.program(&format!("{prefix}/bin/python{version}"));
        self.link(&format!("{prefix}/bin/python3"), format!("python{version}"));
        self.text(&format!("{prefix}/lib/python{version}/os.py"), "");
        path
    }

    pub(crate) fn find(&self, name: impl AsRef<OsStr>) -> Result<FoundProgram, ProgramError> {
        let path = std::env::join_paths(&self.path).unwrap();
        self.find_by(name, &path)
    }

    pub(crate) fn find_by(
        &self,
        name: impl AsRef<OsStr>,
        path: &OsStr,
    ) -> Result<FoundProgram, ProgramError> {
        let home = self.home();
        let workdir = self.workdir.clone().unwrap_or_else(|| self.skill());
        let environment = |name: &str| self.variables.get(name).cloned();
        find(
            name.as_ref(),
            &ProgramSearch {
                path,
                home: Some(&home),
                workdir: &workdir,
                environment: &environment,
                links: crate::prepare::links::LinkRules::default(),
            },
        )
    }

    /// The message of a refusal, without this world's own folder.
    pub(crate) fn refusal(&self, name: impl AsRef<OsStr>) -> String {
        let name = name.as_ref();
        let text = match self.find(name) {
            Ok(found) => panic!("{} was found: {found:?}", name.as_bytes().escape_ascii()),
            Err(error) => error.to_string(),
        };
        text.replace(self.at("").to_str().unwrap(), "ROOT/")
    }

    /// Asserts what is executed, what is needed for it and what goes before the PATH, as places of this world.
    #[track_caller]
    pub(crate) fn assert(
        &self,
        name: impl AsRef<OsStr>,
        path: &str,
        needs: &[&str],
        path_dirs: &[&str],
    ) -> FoundProgram {
        let shown = name.as_ref().display();
        let found = self.find(name.as_ref()).unwrap_or_else(|error| panic!("{shown}: {error}"));
        let place = |place: &&str| {
            if let Some(real) = place.strip_prefix('=') { PathBuf::from(real) } else { self.at(place) }
        };
        let found_needs: Vec<PathBuf> = found.needs.iter().map(|need| need.path.clone()).collect();
        let mut wanted: Vec<PathBuf> = needs.iter().map(place).collect();
        wanted.sort();
        assert_eq!(found.path, place(&path), "path of {shown}");
        assert_eq!(found_needs, wanted, "needs of {shown}");
        assert_eq!(found.path_dirs, path_dirs.iter().map(place).collect::<Vec<_>>(), "folders of {shown}");
        self.laws(&found);
        found
    }

    /// What holds for every program that is found.
    #[track_caller]
    pub(crate) fn laws(&self, found: &FoundProgram) {
        let home = self.home();
        for need in &found.needs {
            assert_eq!(need.path, need.path.canonicalize().unwrap(), "not a real path");
            assert!(!home.starts_with(&need.path), "{need:?} holds the home folder");
            assert!(need.path.components().count() > 2, "{need:?} is at the top");
            assert!(!need.path.join(".ssh").exists(), "{need:?} holds secrets");
            assert!(!need.path.starts_with("/usr"), "{need:?} is there anyway");
            let others = found.needs.iter().filter(|other| *other != need);
            assert!(
                others.clone().all(|other| !need.path.starts_with(&other.path)),
                "{need:?} is in another"
            );
        }
        let folder = found.path.parent().unwrap();
        assert_eq!(folder, folder.canonicalize().unwrap(), "a link on the way to the program");
        let workdir = self.workdir.clone().unwrap_or_else(|| self.skill()).canonicalize().unwrap();
        for place in way(&found.path) {
            let system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives"];
            let given = found.needs.iter().map(|need| need.path.as_path()).chain([workdir.as_path()]);
            let there = given.chain(system.iter().map(Path::new)).any(|there| place.starts_with(there));
            assert!(there, "{} is on the way to {found:?} and would not be there", place.display());
        }
    }
}

/// Every link on the way of a path, and its end; plainly, from the text of the path alone.
fn way(path: &Path) -> Vec<PathBuf> {
    let mut met = Vec::new();
    let mut text = path.to_path_buf();
    'again: for _ in 0..50 {
        let parts: Vec<_> = text.components().collect();
        for end in 1..=parts.len() {
            let part: PathBuf = parts[..end].iter().collect();
            if let Ok(target) = part.read_link() {
                let rest: PathBuf = parts[end..].iter().collect();
                let joined = part.parent().unwrap().join(target).join(rest);
                met.push(part);
                // `..` behind what is no link may be taken away.
                let mut plain = PathBuf::new();
                for name in joined.components() {
                    if name.as_os_str() == ".." && !plain.is_symlink() {
                        plain.pop();
                    } else {
                        plain.push(name);
                    }
                }
                text = plain;
                continue 'again;
            }
        }
        met.push(text);
        return met;
    }
    panic!("too many links at {}", path.display());
}
