//! Small files of ours that nobody else can have written: what was found out before, and need not be again.
//!
//! They lie in the state folder, which no run sees or changes, whatever it is granted. One that is damaged, foreign or of another form is as good
//! as none. None has to outlast a power cut.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use skillsandbox_manifest::user_folders;

use crate::state;
use crate::written_places::open_plain;

/// The first words of a file; another form is another number. The hash of what follows stands behind them.
const HEAD: &str = "skillsandbox-remembered 1 ";
/// Most files in a folder; the oldest make room.
const MAX_ENTRIES: usize = 1024;

/// A folder of such files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateMemory {
    folder: PathBuf,
}

impl PrivateMemory {
    /// One of the user's state folder; `None` where there is no such folder.
    #[must_use]
    pub fn open(name: &str) -> Option<Self> {
        Some(Self::at(user_folders::state()?.join(name)))
    }

    /// One in this place. It is made, for its owner alone, when something is written.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// What was written under a name, if it is whole, ours alone, and no larger than this.
    #[must_use]
    pub fn read(&self, name: &str, max: u64) -> Option<String> {
        let folder = fs::symlink_metadata(&self.folder).ok()?;
        if !folder.is_dir() || !is_ours_alone(&folder) {
            return None;
        }
        let file = open_plain(OpenOptions::new().read(true), &self.folder.join(name)).ok()?;
        if !is_ours_alone(&file.metadata().ok()?) {
            return None;
        }
        let mut text = String::new();
        file.take(max).read_to_string(&mut text).ok()?;
        let (checksum, body) = text.strip_prefix(HEAD)?.strip_suffix('\n')?.split_once('\n')?;
        (checksum == hash_texts([body.as_bytes()])).then(|| body.to_owned())
    }

    /// Writes a file in the place of the one of its name, whole or not at all.
    ///
    /// # Errors
    /// A folder that cannot be made or written to, or is not ours alone.
    pub fn write(&self, name: &str, body: &str) -> io::Result<()> {
        state::make_private(&self.folder).map_err(|refusal| io::Error::other(refusal.to_string()))?;
        let folder = fs::symlink_metadata(&self.folder)?;
        if !folder.is_dir() || !is_ours_alone(&folder) {
            let folder = self.folder.display();
            let why = format!("{folder} is a link, somebody else's, or others can write to it");
            return Err(io::Error::other(why));
        }
        self.make_room()?;
        let text = format!("{HEAD}{}\n{body}\n", hash_texts([body.as_bytes()]));
        let draft = self.folder.join(format!(".{}", uuid::Uuid::new_v4()));
        let written =
            write_draft(&draft, text.as_bytes()).and_then(|()| fs::rename(&draft, self.folder.join(name)));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
    }

    /// Removes the oldest quarter where there are too many; drafts that a crash left are among them.
    fn make_room(&self) -> io::Result<()> {
        let entries: Vec<fs::DirEntry> = fs::read_dir(&self.folder)?.filter_map(Result::ok).collect();
        if entries.len() < MAX_ENTRIES {
            return Ok(());
        }
        let mut aged: Vec<(SystemTime, PathBuf)> = entries
            .into_iter()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        aged.sort();
        for (_, path) in aged.into_iter().take(MAX_ENTRIES / 4) {
            // Another program may have removed it.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

fn write_draft(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file: File = options.open(path)?;
    file.write_all(text)
}

/// The hash of texts, in which none can pass for another.
pub(crate) fn hash_texts<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    HEXLOWER.encode(&hash.finalize())
}

/// Whether nobody else owns it or can write to it.
#[cfg(unix)]
fn is_ours_alone(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let is_single = found.is_dir() || found.nlink() <= 1;
    found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & 0o022 == 0 && is_single
}

#[cfg(not(unix))]
fn is_ours_alone(_: &fs::Metadata) -> bool {
    false
}

/// Which build of this program is running: another one may judge otherwise, though its version is the same. `None` where that cannot be told.
#[cfg(target_os = "linux")]
#[must_use]
pub fn program_identity() -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    // Of the file that is running, also where another has taken its name.
    let found = fs::metadata("/proc/self/exe").ok()?;
    let (changed, written) = ((found.ctime(), found.ctime_nsec()), (found.mtime(), found.mtime_nsec()));
    Some(format!("{} {} {} {changed:?} {written:?}", found.dev(), found.ino(), found.len()))
}

/// Nothing is run on other systems.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn program_identity() -> Option<String> {
    None
}

#[cfg(test)]
mod tests;
