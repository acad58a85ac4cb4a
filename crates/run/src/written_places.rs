//! The places that runs could write, remembered: a link in one of them may be a run's own work.
//!
//! A skill that may write a folder can leave a link in it, and the grant of another skill that leads through that link would lead wherever the
//! first one likes. So each run's write grants are written down, before it begins, in the state folder, which no run sees; and no later run
//! follows a link in one of them on the way to a grant or a program. A folder is known by its path, and by what it is (device, inode number, when
//! it was made) where it was moved.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use skillsandbox_manifest::user_folders;

use crate::job::{Job, PlaceAuthor, UntrustedPlace};
use crate::refusal::Refusal;
use crate::state;

/// The file in the state folder.
const FILE: &str = "written-places";
/// Most places that are remembered. Those that are gone make room first.
const MOST_PLACES: usize = 8192;
/// Longest file that is read: as many places with the longest path the kernel takes.
const MOST_BYTES: u64 = 64 << 20;

/// A folder as it is now.
pub(crate) fn place_of(path: &Path, author: PlaceAuthor) -> UntrustedPlace {
    UntrustedPlace { path: path.to_owned(), identity: identity(path), author }
}

#[cfg(target_os = "linux")]
fn identity(path: &Path) -> Option<(u64, u64, u64)> {
    skillsandbox_enforcer::UntrustedFolder::new(path, skillsandbox_enforcer::FolderAuthor::EarlierRun)
        .identity
}

/// Nothing is run on other systems, so nothing is remembered either.
#[cfg(not(target_os = "linux"))]
fn identity(_: &Path) -> Option<(u64, u64, u64)> {
    None
}

/// Tells a job where earlier runs could write. Writes nothing.
pub(crate) fn apply(job: &mut Job) -> Result<(), Refusal> {
    job.untrusted.extend(all()?);
    Ok(())
}

/// All places that earlier runs could write.
pub(crate) fn all() -> Result<Vec<UntrustedPlace>, Refusal> {
    let Some(file) = file() else { return Ok(Vec::new()) };
    let failed = |source| Refusal::Folder { path: file.clone(), source };
    match open_plain(OpenOptions::new().read(true), &file) {
        Ok(mut open) => {
            open.lock_shared().map_err(failed)?;
            read(&mut open).map_err(failed)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

/// Remembers where this job may write. Its folders exist where they could be made; those that are yet to be made are known by their paths.
pub(crate) fn remember(job: &Job) -> Result<(), Refusal> {
    let written = job.judged_writes.iter().map(|(_, real)| real).chain(&job.tmp);
    let places: Vec<UntrustedPlace> = written.map(|path| place_of(path, PlaceAuthor::EarlierRun)).collect();
    if places.is_empty() {
        return Ok(());
    }
    let file = file().ok_or(Refusal::NoHome)?;
    let failed = |source| Refusal::Folder { path: file.clone(), source };
    file.parent().map_or(Ok(()), state::make_private)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open = open_plain(&mut options, &file).map_err(failed)?;
    open.lock().map_err(failed)?;
    add(&mut open, places).map_err(failed)
}

/// Opens it without waiting and without following a link: something else may lie in its place, such as a pipe that nobody writes to.
pub(crate) fn open_plain(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file; move it away"))
}

fn file() -> Option<PathBuf> {
    Some(user_folders::state()?.join(FILE))
}

fn add(file: &mut File, places: Vec<UntrustedPlace>) -> io::Result<()> {
    let mut known = read(file)?;
    let before = known.len();
    for place in places {
        if !known.contains(&place) {
            known.push(place);
        }
    }
    if known.len() == before {
        return Ok(());
    }
    if known.len() > MOST_PLACES {
        known.retain(|place| identity(&place.path).is_some());
    }
    if known.len() > MOST_PLACES {
        let text = format!(
            "it holds {MOST_PLACES} places that exist; remove it if you trust the links in all of them"
        );
        return Err(io::Error::other(text));
    }
    let text: Vec<u8> = known.iter().flat_map(record).collect();
    // Written over from the front, and never shorter in between: what ends early keeps what was there.
    file.rewind()?;
    file.write_all(&text)?;
    file.set_len(text.len() as u64)?;
    file.sync_data()
}

/// `DEVICE INODE TIME PATH` and a zero byte, which no path holds; `- - -` where there was nothing yet.
fn record(place: &UntrustedPlace) -> Vec<u8> {
    let identity = place.identity.map(|(device, inode, made)| format!("{device} {inode} {made}"));
    let identity = identity.unwrap_or_else(|| "- - -".to_owned());
    [identity.as_bytes(), b" ", place.path.as_os_str().as_encoded_bytes(), b"\0"].concat()
}

fn read(file: &mut File) -> io::Result<Vec<UntrustedPlace>> {
    file.rewind()?;
    let mut text = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut text)?;
    let broken = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not a list of places; remove it if you trust your links",
        )
    };
    if text.len() as u64 > MOST_BYTES {
        return Err(broken());
    }
    let records = text.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    records.map(|record| parse(record).ok_or_else(broken)).collect()
}

fn parse(record: &[u8]) -> Option<UntrustedPlace> {
    let mut parts = record.splitn(4, |byte| *byte == b' ');
    let (device, inode, made, path) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u64>().ok();
    let identity = match (device, inode, made) {
        (b"-", b"-", b"-") => None,
        _ => Some((number(device)?, number(inode)?, number(made)?)),
    };
    let path = Some(path_of(path)).filter(|path| path.is_absolute())?;
    Some(UntrustedPlace { path, identity, author: PlaceAuthor::EarlierRun })
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    <OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes.to_owned()).into()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    OsString::from(String::from_utf8_lossy(bytes).into_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, identity: Option<(u64, u64, u64)>) -> UntrustedPlace {
        UntrustedPlace { path: path.into(), identity, author: PlaceAuthor::EarlierRun }
    }

    #[test]
    fn places_are_remembered_once_and_read_again() {
        let mut file = tempfile::tempfile().unwrap();
        let all = [place("/a b\nc", Some((1, 2, 0))), place("/later", None)];
        add(&mut file, all.to_vec()).unwrap();
        add(&mut file, all.to_vec()).unwrap();
        assert_eq!(read(&mut file).unwrap(), all);
        add(&mut file, vec![place("/later", Some((3, 4, 5)))]).unwrap();
        assert_eq!(read(&mut file).unwrap().len(), 3, "the same path, and another folder");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_link_in_the_place_of_the_list_is_an_error_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link, plain) =
            (folder.path().join("pipe"), folder.path().join("link"), folder.path().join("plain"));
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::fs::write(&plain, "").unwrap();
        std::os::unix::fs::symlink(&plain, &link).unwrap();
        for writable in [false, true] {
            let open = |path: &Path| open_plain(OpenOptions::new().read(true).write(writable), path);
            assert!(open(&pipe).is_err() && open(&link).is_err() && open(&plain).is_ok(), "{writable}");
        }
    }

    #[test]
    fn a_list_that_is_not_one_is_an_error() {
        for text in [&b"x"[..], b"1 2 3 relative\0", b"1 x 3 /a\0", b"- 2 3 /a\0"] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text).unwrap();
            assert!(read(&mut file).is_err(), "{text:?}");
        }
    }

    #[test]
    fn those_that_are_gone_make_room_and_no_others() {
        let mut file = tempfile::tempfile().unwrap();
        let gone = (0..MOST_PLACES).map(|number| place(&format!("/nonexistent/{number}"), None));
        add(&mut file, gone.collect()).unwrap();
        add(&mut file, vec![place("/", Some((1, 1, 1)))]).unwrap();
        assert_eq!(read(&mut file).unwrap(), [place("/", Some((1, 1, 1)))]);
        let there = (0..MOST_PLACES as u64).map(|number| place("/", Some((7, number, 0))));
        assert!(add(&mut file, there.collect()).is_err());
    }
}
