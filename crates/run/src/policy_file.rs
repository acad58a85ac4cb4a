//! The file of a user's policy, changed whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use skillsandbox_manifest::{Invalid, Policy, PolicyEditError, ScanPolicy, Suppression, user_folders};

/// Why a policy was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyFileError {
    /// There is no home, and no file was named.
    #[error("there is no home to keep a policy in; name a file with --policy, or set HOME")]
    NoHome,
    /// The text cannot be changed so.
    #[error("{}: {why}", path.display())]
    Edit {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: PolicyEditError,
    },
    /// Somebody else has changed it meanwhile.
    #[error("{}: it was changed by somebody else meanwhile; nothing was written. Try again", .0.display())]
    Changed(PathBuf),
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A policy's file, as it was when it was read.
#[derive(Debug)]
pub struct PolicyFile {
    path: PathBuf,
    /// Its bytes; `None` where there was no file.
    text: Option<String>,
    is_users_own: bool,
}

impl PolicyFile {
    /// Reads the file that is named, or the user's own. One that is not there yet is empty.
    ///
    /// # Errors
    /// What cannot be read, or is too large for a policy.
    pub fn read(named: Option<&Path>) -> Result<Self, PolicyFileError> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => user_folders::policy_file().ok_or(PolicyFileError::NoHome)?,
        };
        let fail = |source| PolicyFileError::Io { path: path.clone(), source };
        // Where it really lies: a link to it, as some keep their settings, stays a link.
        let real = match fs::symlink_metadata(&path) {
            Ok(_) => path.canonicalize().map_err(fail)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.clone(),
            Err(error) => return Err(fail(error)),
        };
        let text = read_text(&real).map_err(fail)?;
        Ok(Self { path: real, text, is_users_own: named.is_none() })
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says about scanning.
    ///
    /// # Errors
    /// A text that is not a policy.
    pub fn scan_policy(&self) -> Result<ScanPolicy, Invalid> {
        match self.text.as_deref().filter(|text| !text.trim().is_empty()) {
            Some(text) => Policy::parse(text).map(|policy| policy.scan().clone()),
            None => Ok(ScanPolicy::default()),
        }
    }

    /// Adds a suppression, and writes the file.
    ///
    /// # Errors
    /// A text that cannot be added to, and what the system says. Nothing was changed then.
    pub fn add_entry(self, entry: &Suppression) -> Result<PathBuf, PolicyFileError> {
        let edited = Policy::add_suppression(self.text.as_deref().unwrap_or_default(), entry);
        self.write(edited)
    }

    /// Takes the suppression of a number out, from 0, and writes the file.
    ///
    /// # Errors
    /// A text that it cannot be taken out of, and what the system says. Nothing was changed then.
    pub fn remove_entry(self, number: usize) -> Result<PathBuf, PolicyFileError> {
        let edited = Policy::remove_suppression(self.text.as_deref().unwrap_or_default(), number);
        self.write(edited)
    }

    /// Puts a new text in the place of the old one: all of it or nothing, whatever ends us.
    fn write(self, edited: Result<String, PolicyEditError>) -> Result<PathBuf, PolicyFileError> {
        let text = edited.map_err(|why| PolicyFileError::Edit { path: self.path.clone(), why })?;
        let fail = |source| PolicyFileError::Io { path: self.path.clone(), source };
        let folder =
            self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        make_folder(folder).map_err(fail)?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let draft = folder.join(format!(".{name}.{}", std::process::id()));
        let written = write_draft(&draft, &text, self.mode());
        let moved = written.map_err(fail).and_then(|()| {
            if read_text(&self.path).map_err(fail)? != self.text {
                return Err(PolicyFileError::Changed(self.path.clone()));
            }
            fs::rename(&draft, &self.path).map_err(fail)
        });
        if let Err(error) = moved {
            // What is left of it is nobody's loss.
            let _ = fs::remove_file(&draft);
            return Err(error);
        }
        // A folder that cannot be synced has the file all the same.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(self.path)
    }

    /// Who may read and write it: its owner; where it is another file than the user's own, whoever could read it before.
    fn mode(&self) -> u32 {
        const OWNER: u32 = 0o600;
        #[cfg(unix)]
        if let Ok(found) = fs::metadata(&self.path)
            && !self.is_users_own
        {
            return std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o644 | OWNER;
        }
        OWNER
    }
}

/// The text of a file; `None` where there is none.
fn read_text(path: &Path) -> io::Result<Option<String>> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !found.is_file() || found.len() > skillsandbox_manifest::MAX_BYTES as u64 {
        return Err(io::Error::other("it is not a plain file of the size of a policy"));
    }
    fs::read_to_string(path).map(Some)
}

fn write_draft(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// The folder, for its owner alone where it is made.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    fn entry() -> Suppression {
        Suppression::new("CHECK-01/override", "r", "2999-01-01".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_file_is_made_and_changed_and_stays_where_a_link_leads() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let new = at("a/b/policy.yaml");
        PolicyFile::read(Some(&new)).unwrap().add_entry(&entry()).unwrap();
        assert_eq!(fs::metadata(&new).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(at("a/b")).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(at("a/b")).unwrap().count(), 1);
        symlink(&new, at("link.yaml")).unwrap();
        let linked = PolicyFile::read(Some(&at("link.yaml"))).unwrap();
        assert_eq!(linked.scan_policy().unwrap().suppressions.len(), 1);
        linked.remove_entry(0).unwrap();
        assert!(fs::symlink_metadata(at("link.yaml")).unwrap().is_symlink());
        let left = PolicyFile::read(Some(&new)).unwrap();
        assert_eq!(left.scan_policy().unwrap().suppressions.len(), 0);
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.yaml");
        fs::write(&path, "{}\n").unwrap();
        fs::write(&path, "scan:\n  fail_on: warning\n").unwrap();
        let read = PolicyFile::read(Some(&path)).unwrap();
        fs::write(&path, "scan:\n  fail_on: blocked\n").unwrap();
        assert!(matches!(read.add_entry(&entry()), Err(PolicyFileError::Changed(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "scan:\n  fail_on: blocked\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_policy_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.yaml");
        symlink(dir.path().join("gone"), dir.path().join("dangling")).unwrap();
        assert!(PolicyFile::read(Some(&dir.path().join("dangling"))).is_err());
        assert!(PolicyFile::read(Some(dir.path())).is_err());
        for text in ["scam: 1\n", "scan: { fail_on: warning }\n"] {
            fs::write(&path, text).unwrap();
            let refused = PolicyFile::read(Some(&path)).unwrap().add_entry(&entry());
            assert!(matches!(refused, Err(PolicyFileError::Edit { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
