//! Manifests of the user's own, for skills that have none or another one: kept outside of every skill, so that an update leaves them alone.
//!
//! One folder a skill, `manifests/NAME`: `skillsandbox.yaml`, and `for.json`, which says what skill it is for. A manifest is used only for the
//! skill of this name and source. Another skill of the same name has its own, in `NAME@2` and so on. No run can write here (`state::folders`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillsandbox_manifest::{MAX_BYTES, Manifest, user_folders};

use crate::state;

/// The file beside the manifest.
const FOR: &str = "for.json";
/// The version of its form.
const VERSION: u32 = 1;
/// Most skills of one name that are told apart.
const MAX_NAMESAKES: usize = 16;
/// Largest `for.json` that is read: one is some 300 bytes.
const MAX_FOR: usize = 64 << 10;

/// Why a user's manifest cannot be used or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserManifestError {
    /// There is no home to keep them in.
    #[error("there is no home to keep manifests in; set HOME")]
    NoHome,
    /// A name that cannot be a folder's.
    #[error("`{}` cannot be the name of a skill", skillsandbox_text::escape_line(.0))]
    Name(String),
    /// Somebody else could change it.
    #[error("{}: {why}; only you may be able to change it", path.display())]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// It is not what it should be.
    #[error("{}: {why}", path.display())]
    Broken {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The folder of them.
#[derive(Debug, Clone)]
pub struct UserManifests {
    folder: PathBuf,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserManifest {
    /// Where it lies.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// The digest of the skill's files when it was written: where the skill has another one now, a person should compare.
    pub digest: String,
}

/// Where a manifest lies.
enum ManifestPlace {
    /// There is one, written when the skill had this digest.
    Taken { folder: PathBuf, digest: String },
    /// There is none; one would lie here.
    Free(PathBuf),
}

/// What a manifest is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestTarget {
    version: u32,
    name: String,
    source: String,
    digest: String,
}

impl UserManifests {
    /// Those of this user: `~/.config/skillsandbox/manifests`. Nothing is made before one is written.
    ///
    /// # Errors
    /// No home.
    pub fn open() -> Result<Self, UserManifestError> {
        user_folders::manifests().map(|folder| Self { folder }).ok_or(UserManifestError::NoHome)
    }

    /// Where they lie.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The one for a skill of this name that came from there; `None` where there is none, or only one for a skill from elsewhere.
    ///
    /// # Errors
    /// One that somebody else could have changed, or that is damaged: then nothing should be run by another.
    pub fn find(&self, name: &str, source: &str) -> Result<Option<UserManifest>, UserManifestError> {
        let (folder, digest) = match self.place_of(name, source)? {
            ManifestPlace::Taken { folder, digest } => (folder, digest),
            ManifestPlace::Free(_) => return Ok(None),
        };
        let path = folder.join(Manifest::FILE_NAME);
        let text = read_own(&path, MAX_BYTES)?;
        Ok(text.map(|text| UserManifest { path, text, digest }))
    }

    /// Writes the one for a skill, in the place of an older one; returns its path.
    ///
    /// # Errors
    /// A folder that somebody else could change, and what the system says.
    pub fn write(
        &self,
        name: &str,
        source: &str,
        digest: &str,
        text: &str,
    ) -> Result<PathBuf, UserManifestError> {
        let (ManifestPlace::Taken { folder, .. } | ManifestPlace::Free(folder)) =
            self.place_of(name, source)?;
        let failed = |source| UserManifestError::Io { path: folder.clone(), source };
        state::make_private(&folder).map_err(|refusal| failed(io::Error::other(refusal.to_string())))?;
        self.check_owner(&folder)?;
        let (name, source, digest) = (name.to_owned(), source.to_owned(), digest.to_owned());
        let target = ManifestTarget { version: VERSION, name, source, digest };
        let target =
            serde_json::to_string_pretty(&target).map_err(|error| failed(io::Error::other(error)))?;
        let path = folder.join(Manifest::FILE_NAME);
        // Between the two there is none: a manifest is never found beside the word that it is for another skill.
        match fs::remove_file(folder.join(FOR)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        replace(&path, text).map_err(failed)?;
        replace(&folder.join(FOR), &format!("{target}\n")).map_err(failed)?;
        File::open(&folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(path)
    }

    /// Where the one for a skill of this name and source lies, or would.
    fn place_of(&self, name: &str, source: &str) -> Result<ManifestPlace, UserManifestError> {
        let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(sane);
        if !is_name || name.len() > 64 {
            return Err(UserManifestError::Name(name.to_owned()));
        }
        let folders = (1..=MAX_NAMESAKES).map(|number| match number {
            1 => self.folder.join(name),
            number => self.folder.join(format!("{name}@{number}")),
        });
        for folder in folders {
            if is_absent(&folder)? {
                return Ok(ManifestPlace::Free(folder));
            }
            self.check_owner(&folder)?;
            let file = folder.join(FOR);
            let Some(text) = read_own(&file, MAX_FOR)? else {
                // Without it a manifest is for nobody: a write that was cut short.
                return Ok(ManifestPlace::Free(folder));
            };
            let broken = |why: String| UserManifestError::Broken { path: file.clone(), why };
            let target: ManifestTarget =
                serde_json::from_str(&text).map_err(|error| broken(format!("it is not valid: {error}")))?;
            let ManifestTarget { version, name: own, source: from, digest } = target;
            if version != VERSION {
                return Err(broken(format!("it has version {version}; this program knows {VERSION}")));
            }
            if own == name && from == source {
                return Ok(ManifestPlace::Taken { folder, digest });
            }
        }
        let why = format!("there are {MAX_NAMESAKES} manifests for skills of this name; remove some");
        Err(UserManifestError::Broken { path: self.folder.join(name), why })
    }

    /// The folder of them, and one in it, are this user's alone to change.
    fn check_owner(&self, folder: &Path) -> Result<(), UserManifestError> {
        check_mine(&self.folder)?;
        check_mine(folder)
    }
}

/// Whether there surely is nothing.
fn is_absent(path: &Path) -> Result<bool, UserManifestError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(true)
        }
        Err(source) => Err(UserManifestError::Io { path: path.to_owned(), source }),
    }
}

/// Refuses what somebody else owns or may change, and a link.
fn check_mine(path: &Path) -> Result<(), UserManifestError> {
    let found = fs::symlink_metadata(path)
        .map_err(|source| UserManifestError::Io { path: path.to_owned(), source })?;
    let wrong = |why: &str| Err(UserManifestError::Unsafe { path: path.to_owned(), why: why.to_owned() });
    if found.is_symlink() {
        return wrong("it is a link");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if found.uid() != nix::unistd::geteuid().as_raw() {
            return wrong("it belongs to another user");
        }
        if found.mode() & 0o022 != 0 {
            return wrong("others may write to it (chmod go-w)");
        }
    }
    Ok(())
}

/// The text of a file of the user's own; `None` where there is none.
fn read_own(path: &Path, most: usize) -> Result<Option<String>, UserManifestError> {
    if is_absent(path)? {
        return Ok(None);
    }
    check_mine(path)?;
    let failed = |source| UserManifestError::Io { path: path.to_owned(), source };
    let broken = |why: &str| UserManifestError::Broken { path: path.to_owned(), why: why.to_owned() };
    let file = open_plain(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(broken("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > most {
        return Err(broken("it is too large"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| broken("it is not UTF-8"))
}

/// Opens without waiting and without following a link.
fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits());
    }
    options.open(path)
}

/// Puts a new text in the place of a file: all of it or nothing.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", uuid::Uuid::new_v4()));
    let draft = PathBuf::from(draft);
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.write(true).create_new(true).open(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)
    });
    if written.is_err() {
        // What is left of it is nobody's loss.
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    const TEXT: &str = "skill: { name: notes, version: '1' }\n";

    fn manifests(folder: &tempfile::TempDir) -> UserManifests {
        UserManifests { folder: folder.path().canonicalize().unwrap().join("manifests") }
    }

    #[test]
    fn one_is_found_for_its_name_and_source_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let manifests = manifests(&folder);
        assert_eq!(manifests.find("notes", "local:/a").unwrap(), None);
        let path = manifests.write("notes", "local:/a", "d1", TEXT).unwrap();
        let found = manifests.find("notes", "local:/a").unwrap().unwrap();
        assert_eq!((found.path, found.text.as_str(), found.digest.as_str()), (path.clone(), TEXT, "d1"));
        assert_eq!(manifests.find("notes", "local:/b").unwrap(), None);
        assert_eq!(manifests.find("note", "local:/a").unwrap(), None);
        // Another skill of this name has its own, and neither takes the other's place.
        let other = manifests.write("notes", "local:/b", "d2", "other").unwrap();
        assert_ne!(path, other);
        manifests.write("notes", "local:/a", "d3", "again").unwrap();
        assert_eq!(manifests.find("notes", "local:/a").unwrap().unwrap().text, "again");
        assert_eq!(manifests.find("notes", "local:/b").unwrap().unwrap().text, "other");
    }

    #[test]
    fn only_the_user_can_read_or_change_one() {
        let folder = tempfile::tempdir().unwrap();
        let manifests = manifests(&folder);
        let path = manifests.write("notes", "s", "d", TEXT).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let own = path.parent().unwrap();
        assert_eq!((mode(&path), mode(own), mode(manifests.folder())), (0o600, 0o700, 0o700));
        // No draft is left behind.
        assert_eq!(fs::read_dir(own).unwrap().count(), 2);
        for place in [path.as_path(), own, manifests.folder(), &own.join(FOR)] {
            let before = mode(place);
            for shared in [before | 0o020, before | 0o002] {
                fs::set_permissions(place, fs::Permissions::from_mode(shared)).unwrap();
                let found = manifests.find("notes", "s");
                assert!(
                    matches!(found, Err(UserManifestError::Unsafe { .. })),
                    "{}: {found:?}",
                    place.display()
                );
            }
            fs::set_permissions(place, fs::Permissions::from_mode(before)).unwrap();
        }
        assert!(manifests.find("notes", "s").unwrap().is_some());
    }

    #[test]
    fn no_link_pipe_or_name_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let manifests = manifests(&folder);
        let path = manifests.write("notes", "s", "d", TEXT).unwrap();
        for name in ["", ".", "..", "../notes", "a/b", "-x", ".x", "a\0", "n\u{f6}tes", &"a".repeat(65)] {
            assert!(matches!(manifests.find(name, "s"), Err(UserManifestError::Name(_))), "{name:?}");
            assert!(manifests.write(name, "s", "d", TEXT).is_err(), "{name:?}");
        }
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(manifests.find("notes", "s").is_err());
        // It is replaced, and not written through.
        manifests.write("notes", "s", "d", "new").unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), TEXT);
        fs::remove_file(&path).unwrap();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(manifests.find("notes", "s").is_err());
        fs::remove_file(&path).unwrap();
        fs::write(&path, vec![b'#'; MAX_BYTES + 1]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(manifests.find("notes", "s"), Err(UserManifestError::Broken { .. })));
    }

    #[test]
    fn a_word_that_is_damaged_or_newer_is_an_error_and_not_none() {
        let folder = tempfile::tempdir().unwrap();
        let manifests = manifests(&folder);
        let path = manifests.write("notes", "s", "d", TEXT).unwrap();
        let target = path.with_file_name(FOR);
        for text in [
            "",
            "{}",
            "[]",
            "{\"version\":2,\"name\":\"notes\",\"source\":\"s\",\"digest\":\"d\"}",
            "{\"version\":1,\"name\":\"notes\",\"source\":\"s\",\"digest\":\"d\",\"more\":1}",
        ] {
            fs::write(&target, text).unwrap();
            assert!(
                matches!(manifests.find("notes", "s"), Err(UserManifestError::Broken { .. })),
                "{text:?}"
            );
        }
        // A write that was cut short leaves a manifest for nobody.
        fs::remove_file(&target).unwrap();
        assert_eq!(manifests.find("notes", "s").unwrap(), None);
    }
}
