//! The race-free form: what is opened is what was checked.
//!
//! A check and an open are two steps, and between them a folder can be swapped for a link. Here they are one: the kernel resolves the
//! path beneath a folder that is held open (`openat2`), or the walk holds every folder it passed and opens the last name in the last
//! folder without following it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode as FileMode, OFlags};
use rustix::io::Errno;

use crate::decision::{PathDenial, PathRule};
use crate::policy::PathPolicy;
use crate::settings::AccessKind;
use crate::sys;
use crate::walk::{PathRefusal, WalkEnd, WalkPlace};

/// Times an operation is tried again when something changed under it. Each try takes microseconds; whoever can make this many fail
/// gains a denial.
const ATTEMPTS: usize = 64;

/// Why nothing was opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The policy says no.
    #[error(transparent)]
    Denied(#[from] PathDenial<'static>),
    /// The policy says yes, the system says no.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// It is a pipe, a socket or a device, which may block or do anything else when it is opened.
    #[error("{}: this is not a regular file; open it with `OpenOptions::special_files` if it is wanted", .path.display())]
    NotRegular {
        /// The path as it was given.
        path: PathBuf,
    },
}

impl OpenError {
    /// The denial, if it is one.
    #[must_use]
    pub fn denial(&self) -> Option<&PathDenial<'static>> {
        match self {
            Self::Denied(denial) => Some(denial),
            _ => None,
        }
    }
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Io { error, .. } => error,
            OpenError::Denied(denial) => Self::new(io::ErrorKind::PermissionDenied, denial),
            other @ OpenError::NotRegular { .. } => Self::new(io::ErrorKind::InvalidInput, other.to_string()),
        }
    }
}

/// How a file is opened; like [`std::fs::OpenOptions`].
#[derive(Clone, Debug)]
#[must_use]
#[allow(clippy::struct_excessive_bools)] // the same switches as the standard library's
pub struct OpenOptions {
    read: bool,
    write: bool,
    append: bool,
    truncate: bool,
    create: bool,
    create_new: bool,
    special_files: bool,
    mode: u32,
}

impl OpenOptions {
    /// For reading.
    pub fn reading() -> Self {
        Self {
            read: true,
            write: false,
            append: false,
            truncate: false,
            create: false,
            create_new: false,
            special_files: false,
            mode: 0o666,
        }
    }

    /// For writing.
    pub fn writing() -> Self {
        Self { read: false, write: true, ..Self::reading() }
    }

    /// For both.
    pub fn reading_and_writing() -> Self {
        Self { write: true, ..Self::reading() }
    }

    /// For writing at the end.
    pub fn appending() -> Self {
        Self { append: true, ..Self::writing() }
    }

    /// Empties the file.
    pub fn truncate(mut self) -> Self {
        self.truncate = true;
        self
    }

    /// Makes the file if it is not there.
    pub fn create(mut self) -> Self {
        self.create = true;
        self
    }

    /// Makes the file, and fails if it is there.
    pub fn create_new(mut self) -> Self {
        self.create_new = true;
        self
    }

    /// Permission bits of a new file, before the umask; without it `0o666`.
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Opens pipes, sockets and devices too. Reading a pipe waits for a writer.
    pub fn special_files(mut self) -> Self {
        self.special_files = true;
        self
    }

    fn access(&self) -> AccessKind {
        let writes = self.write || self.truncate || self.create || self.create_new;
        match (self.read, writes) {
            (true, true) => AccessKind::ReadWrite,
            (false, true) => AccessKind::Write,
            _ => AccessKind::Read,
        }
    }

    fn flags(&self) -> OFlags {
        let mut flags = match (self.read, self.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        flags |= OFlags::CLOEXEC | OFlags::NOCTTY;
        // Opening a pipe nobody writes to would wait forever; on a regular file this changes nothing (open(2)).
        flags.set(OFlags::NONBLOCK, !self.special_files);
        flags.set(OFlags::APPEND, self.append);
        flags.set(OFlags::TRUNC, self.truncate);
        flags.set(OFlags::CREATE, self.create || self.create_new);
        flags.set(OFlags::EXCL, self.create_new);
        flags
    }

    fn file_mode(&self) -> FileMode {
        // openat2 wants none where no file can be made.
        if self.create || self.create_new {
            FileMode::from_raw_mode(self.mode & 0o777)
        } else {
            FileMode::empty()
        }
    }
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirEntry {
    /// The name; never `.` or `..`.
    pub name: OsString,
    /// Whether it is itself a folder; a link to a folder is not.
    pub is_dir: bool,
    /// Whether it is a symbolic link.
    pub is_link: bool,
}

impl PathPolicy {
    /// Opens a file. What comes back is inside, whatever was moved or swapped in the meantime.
    ///
    /// ```
    /// use std::io::Write as _;
    /// use skillsandbox_path_policy::{OpenOptions, PathPolicy};
    ///
    /// # let workspace = tempfile::tempdir()?;
    /// let policy = PathPolicy::new(workspace.path())?;
    /// policy.create("notes.txt")?.write_all(b"hello")?;
    /// let file = policy.open("notes.txt", &OpenOptions::reading())?;
    /// assert_eq!(std::io::read_to_string(file)?, "hello");
    /// assert!(policy.open("../secret", &OpenOptions::reading()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open<P: AsRef<Path> + ?Sized>(&self, path: &P, options: &OpenOptions) -> Result<File, OpenError> {
        let fd = self.open_fd(path.as_ref(), options.access(), options.flags(), options.file_mode())?;
        let failed = |errno: Errno| Self::io(path.as_ref(), errno);
        if !options.special_files {
            let kind = sys::kind(&fd).map_err(failed)?;
            if !matches!(kind, FileType::RegularFile | FileType::Directory) {
                return Err(OpenError::NotRegular { path: path.as_ref().to_owned() });
            }
        }
        Ok(File::from(fd))
    }

    /// Makes a file, or empties it, and opens it for writing.
    pub fn create<P: AsRef<Path> + ?Sized>(&self, path: &P) -> Result<File, OpenError> {
        self.open(path, &OpenOptions::writing().create().truncate())
    }

    /// What is in a folder, in no order.
    pub fn read_dir<P: AsRef<Path> + ?Sized>(&self, path: &P) -> Result<Vec<DirEntry>, OpenError> {
        let failed = |errno: Errno| Self::io(path.as_ref(), errno);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = self.open_fd(path.as_ref(), AccessKind::Read, flags, FileMode::empty())?;
        let mut entries = Vec::new();
        for entry in Dir::new(fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                let kind = entry.file_type();
                entries.push(DirEntry {
                    name: OsStr::from_bytes(name).to_owned(),
                    is_dir: kind == FileType::Directory,
                    is_link: kind == FileType::Symlink,
                });
            }
        }
        Ok(entries)
    }

    /// Makes a folder. The one it is in must exist.
    pub fn create_dir<P: AsRef<Path> + ?Sized>(&self, path: &P) -> Result<(), OpenError> {
        let path = path.as_ref();
        let place = self.entry(path)?;
        let (dir, name) =
            Self::entry_of(&place).map_err(|refusal| self.denied(refusal, path, AccessKind::Write))?;
        sys::make_dir(dir, name, FileMode::from_raw_mode(0o777)).map_err(|errno| Self::io(path, errno))
    }

    /// Renames a file or folder, replacing what a rename replaces. Links are renamed themselves. A folder with a forbidden path in
    /// it stays where it is: moved, it would no longer be recognised.
    pub fn rename<P, Q>(&self, from: &P, to: &Q) -> Result<(), OpenError>
    where
        P: AsRef<Path> + ?Sized,
        Q: AsRef<Path> + ?Sized,
    {
        let (from, to) = (from.as_ref(), to.as_ref());
        let (source, target) = (self.entry(from)?, self.entry(to)?);
        let left =
            Self::entry_of(&source).map_err(|refusal| self.denied(refusal, from, AccessKind::Write))?;
        let right = Self::entry_of(&target).map_err(|refusal| self.denied(refusal, to, AccessKind::Write))?;
        sys::rename(left, right).map_err(|errno| Self::io(from, errno))
    }

    /// Removes a file or an empty folder. A link is removed itself.
    pub fn remove<P: AsRef<Path> + ?Sized>(&self, path: &P) -> Result<(), OpenError> {
        let path = path.as_ref();
        let place = self.entry(path)?;
        let (dir, name) =
            Self::entry_of(&place).map_err(|refusal| self.denied(refusal, path, AccessKind::Write))?;
        sys::unlink(dir, name, matches!(place.end, WalkEnd::Folder)).map_err(|errno| Self::io(path, errno))
    }

    /// The folder a name is to be made, moved or removed in, held open; a link of that name is meant itself.
    fn entry(&self, path: &Path) -> Result<WalkPlace<'_>, OpenError> {
        let bytes = path.as_os_str().as_bytes();
        let place = self.place(bytes, AccessKind::Write, false).and_then(|place| {
            // The walk ends at what it found; `..` or `.` at the end name a folder by its inside.
            if matches!(
                bytes.rsplit(|&byte| byte == b'/').find(|name| !name.is_empty()),
                Some(b"." | b"..") | None
            ) {
                return Err(PathRule::IsRoot.into());
            }
            if self.roots.iter().any(|root| {
                place.names().eq(root.names.iter().map(AsRef::as_ref).take(place.names().count()))
            }) {
                return Err(PathRule::IsRoot.into());
            }
            if self.forbidden.is_below(&place.names()) {
                return Err(PathRule::ForbiddenBelow.into());
            }
            Ok(place)
        });
        place.map_err(|refusal| self.denied(refusal, path, AccessKind::Write))
    }

    fn entry_of<'p>(
        place: &'p WalkPlace<'_>,
    ) -> Result<(std::os::fd::BorrowedFd<'p>, &'p [u8]), PathRefusal> {
        place.entry().ok_or_else(|| Errno::NOENT.into())
    }

    fn open_fd(
        &self,
        path: &Path,
        access: AccessKind,
        flags: OFlags,
        mode: FileMode,
    ) -> Result<OwnedFd, OpenError> {
        let denied = |refusal: PathRefusal| self.denied(refusal, path, access);
        let start = self.start(path.as_os_str().as_bytes()).map_err(denied)?;
        if let Some(root) = self.roots.get(start.root).filter(|_| self.is_fast(&start, access)) {
            match sys::open_beneath(&root.fd, start.rest, flags, mode) {
                Ok(fd) => return Ok(fd),
                // Where it leads is settled; the system has its own reasons.
                Err(
                    errno @ (Errno::EXIST
                    | Errno::ISDIR
                    | Errno::ACCESS
                    | Errno::NXIO
                    | Errno::TXTBSY
                    | Errno::ROFS),
                ) => {
                    return Err(Self::io(path, errno));
                }
                Err(errno @ Errno::NOENT) if !start.shape.climbs => return Err(Self::io(path, errno)),
                Err(_) => {}
            }
        }
        for _ in 0..ATTEMPTS {
            let place = match self.walk(&start, access, true) {
                Ok(place) => place,
                // A name that is gone between two looks, or was a folder in the first.
                Err(refusal) => return Err(denied(refusal)),
            };
            let opened = match (&place.end, place.entry()) {
                (WalkEnd::Folder, _) => {
                    let flags = flags - OFlags::CREATE;
                    if flags.contains(OFlags::EXCL) {
                        Err(Errno::EXIST)
                    } else {
                        sys::open_name(place.folder(), b".", flags, mode)
                    }
                }
                (_, Some((dir, name))) => sys::open_name(dir.as_fd(), name, flags, mode),
                (_, None) => Err(Errno::NOENT),
            };
            match opened {
                Ok(fd) => return Ok(fd),
                // It has become a link since.
                Err(Errno::LOOP | Errno::AGAIN) => {}
                Err(errno) => return Err(Self::io(path, errno)),
            }
        }
        Err(denied(PathRule::KeepsChanging.into()))
    }

    fn denied(&self, refusal: PathRefusal, path: &Path, access: AccessKind) -> OpenError {
        OpenError::Denied(self.denial(refusal, path.as_os_str().as_bytes(), access).into_owned())
    }

    fn io(path: &Path, errno: Errno) -> OpenError {
        OpenError::Io { path: path.to_owned(), error: errno.into() }
    }
}
