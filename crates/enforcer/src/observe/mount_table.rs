//! The mounts that a process sees, by their numbers: where each was when the run began, and whether its file system answers by itself.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::prepare::grants::is_within;

/// File systems that are looked at without asking anybody else: no other machine, no daemon that mounts something, no program that serves
/// one (FUSE). All others may tell others the name that is looked up, and take as long as they like.
const LOCAL: [&str; 36] = [
    "bcachefs",
    "binfmt_misc",
    "bpf",
    "btrfs",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "erofs",
    "exfat",
    "ext2",
    "ext3",
    "ext4",
    "f2fs",
    "fusectl",
    "hugetlbfs",
    "iso9660",
    "jfs",
    "mqueue",
    "nsfs",
    "ntfs3",
    "overlay",
    "proc",
    "pstore",
    "ramfs",
    "securityfs",
    "squashfs",
    "sysfs",
    "tmpfs",
    "tracefs",
    "vfat",
    "xfs",
    "zfs",
];

/// More than that is not a machine's table of mounts; what is beyond counts as not local.
const LONGEST: u64 = 4 << 20;

/// The mounts of a namespace.
#[derive(Debug)]
pub(super) struct MountTable {
    /// The file that the kernel lists them in, held open: it tells when they change, and belongs to the namespace, not to a process.
    list: std::fs::File,
    first: Arc<FirstMounts>,
    now: MountList,
}

/// The mounts of a namespace as they were when the table of it was made. This never changes, so nobody waits for anybody to look at it.
#[derive(Debug, Default)]
pub(super) struct FirstMounts {
    /// Where they were, by number.
    places: HashMap<u64, PathBuf>,
    are_all_local: bool,
}

impl FirstMounts {
    /// Where a mount was, wherever a run may have moved the folder that it is in; `None` for one that came later.
    pub(super) fn place(&self, number: u64) -> Option<&Path> {
        self.places.get(&number).map(PathBuf::as_path)
    }

    /// The mount that something lay on: the place of the nearest one at or above it.
    pub(super) fn mount_of(&self, path: &Path) -> Option<&Path> {
        let above = self.places.values().filter(|place| is_within(path, place));
        above.max_by_key(|place| place.as_os_str().len()).map(PathBuf::as_path)
    }

    /// Whether no file system among them asked anybody else.
    pub(super) fn are_all_local(&self) -> bool {
        self.are_all_local
    }
}

#[derive(Debug, Default)]
struct MountList {
    /// Whether what is mounted at a path, last, is local.
    places: HashMap<PathBuf, bool>,
    are_all_local: bool,
}

impl MountTable {
    /// The file that the mounts are listed in.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.list.as_fd()
    }

    /// Of a process: `thread-self`, or its number.
    pub(super) fn of(process: &str) -> Option<Self> {
        let path = format!("/proc/{process}/mountinfo");
        let list = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let list = std::fs::File::from(list);
        let mut table = Self { list, first: Arc::default(), now: MountList::default() };
        let text = table.read()?;
        table.now = MountList::of(&text);
        let places = entries(&text).map(|entry| (entry.number, entry.place)).collect();
        table.first = Arc::new(FirstMounts { places, are_all_local: table.now.are_all_local });
        Some(table)
    }

    /// The mounts as they were when this table was made.
    pub(super) fn first(&self) -> Arc<FirstMounts> {
        Arc::clone(&self.first)
    }

    /// Whether no file system among them asks anybody else.
    pub(super) fn are_all_local(&mut self) -> bool {
        self.refresh();
        self.now.are_all_local
    }

    /// What is mounted at a path now, if something is: whether it is local.
    pub(super) fn is_local_mount(&mut self, path: &Path) -> Option<bool> {
        self.refresh();
        self.now.places.get(path).copied()
    }

    fn refresh(&mut self) {
        let mut fds = [PollFd::new(&self.list, PollFlags::PRI)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut fds, Some(&now)).is_ok_and(|changed| changed > 0) {
            self.now = self.read().map(|text| MountList::of(&text)).unwrap_or_default();
        }
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        use std::io::Seek as _;
        self.list.rewind().ok()?;
        let mut text = Vec::new();
        let read = self.list.by_ref().take(LONGEST).read_to_end(&mut text).ok()?;
        ((read as u64) < LONGEST).then_some(text)
    }
}

impl MountList {
    fn of(text: &[u8]) -> Self {
        let mut list = Self { places: HashMap::new(), are_all_local: true };
        for entry in entries(text) {
            // The machine runs from its root, whatever that is on: nothing is told there that is not told anyway.
            let is_local = entry.is_local || entry.place == Path::new("/");
            list.are_all_local &= is_local;
            list.places.insert(entry.place, is_local);
        }
        list
    }
}

struct MountEntry {
    number: u64,
    place: PathBuf,
    is_local: bool,
}

/// The lines of `mountinfo` (`proc_pid_mountinfo(5)`).
fn entries(text: &[u8]) -> impl Iterator<Item = MountEntry> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.split(|byte| *byte == b' ');
        let number = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
        let place = unescape(words.nth(3)?);
        let kind = words.skip_while(|word| *word != b"-").nth(1)?;
        let is_local = std::str::from_utf8(kind).is_ok_and(|kind| LOCAL.contains(&kind));
        Some(MountEntry { number, place, is_local })
    })
}

/// Blanks, tabs, line feeds and backslashes are written as `\` and three octal digits.
fn unescape(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// The mount that something which is open lies on.
pub(super) fn mount_number(place: &OwnedFd) -> Option<u64> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    // The kernel knows this by itself: nobody else is asked.
    let flags = AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    let found = statx(place, c"", flags, StatxFlags::MNT_ID).ok()?;
    StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID).then_some(found.stx_mnt_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_the_kernel_writes_them() {
        let text = b"22 1 0:20 / / rw,relatime - 9p root rw\n\
                     30 22 0:21 / /a\\040b\\134c rw shared:1 master:2 - ext4 /dev/sda rw\n\
                     31 22 0:22 /x /net rw - autofs systemd-1 rw\n\
                     junk\n";
        let read: Vec<_> = entries(text).map(|entry| (entry.number, entry.place, entry.is_local)).collect();
        let expected = [(22, "/", false), (30, "/a b\\c", true), (31, "/net", false)];
        assert_eq!(read, expected.map(|(number, place, local)| (number, PathBuf::from(place), local)));
        let list = MountList::of(text);
        assert!(!list.are_all_local && list.places[Path::new("/")], "the root counts as local");
    }

    #[test]
    fn what_is_open_lies_on_a_mount_of_the_table() {
        let table = MountTable::of("thread-self").unwrap();
        let root = openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        assert_eq!(table.first().place(mount_number(&root).unwrap()), Some(Path::new("/")));
    }
}
