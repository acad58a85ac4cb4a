//! The sum of a tree, where no control group holds it.
//!
//! A supervisor looks at the tree every few milliseconds and ends it when it is over. That is weaker than a limit in the kernel: it
//! notices late, and by what can be seen from outside.
//!
//! # Which processes
//!
//! The descendants of the sandbox's init, without it. In a pid namespace nobody gets away from it: who loses its parent becomes a child of
//! init. That may happen while we look, so init's children are read again until no new one turns up.
//!
//! # Which memory
//!
//! [`ProcessTree::measure`] takes what is cheap: resident pages, those of mapped files included, each as often as it is mapped, and memfds. What it
//! says is never too little, so below a limit there is nothing more to ask. Above it, [`ProcessTree::over_limit`] asks for shares: anonymous memory,
//! shared memory, swap and large pages, each page divided among the processes that have it (`Pss`), so that copies that are
//! shared after a fork count once. Mapped files do not count there, the kernel can drop them at any time.
//!
//! Counted twice: a memfd that is mapped while it is open, and for a moment a process that is about to become another program
//! (`vfork`), which is why [`ProcessTree::over_limit`] wants to see it twice.
//!
//! Not counted: files on tmpfs, which have a limit of their own; what the kernel holds for a process (pipes, sockets, page
//! tables); memfds that are only on their way through a socket, or mapped, untouched and closed; shared memory that was let go
//! of by `MADV_DONTNEED` and is kept anyway; System V segments that nobody has attached.
//!
//! # Which time
//!
//! Of the living, and of the dead that somebody waited for. A process whose parent ignores `SIGCHLD` takes its time with it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};

/// Tasks looked at in one measurement. More than any limit on processes that a host can bear; a tree that has them is over by its
/// number alone.
const MAX_TASKS: usize = 65_536;
/// How often init's children are read again for late ones.
const MAX_ROUNDS: usize = 4;
/// Files are looked at in every fifth measurement: it takes a call for each of them.
const FILES_EVERY: u32 = 5;
/// Open files looked at in one measurement.
const MAX_FILES: usize = 65_536;

/// The lines of `/proc/PID/status` that count against a limit.
const COUNTED: [&str; 4] = ["RssAnon:", "RssShmem:", "VmSwap:", "HugetlbPages:"];

/// One look at a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TreeUsage {
    /// Bytes; never too little, see above. Ask [`ProcessTree::over_limit`] before ending anything for it.
    pub(crate) memory: u64,
    /// Processes and threads, those included that ended and were not waited for: they hold a number still.
    pub(crate) processes: u32,
    /// Processor time; never less than the time before.
    pub(crate) cpu: Duration,
}

/// The tree below the init of a sandbox.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    init: i32,
    pace: KernelUnits,
    /// Whether the kernel lists children (`CONFIG_PROC_CHILDREN`); otherwise every process of the host is asked for its parent.
    lists_children: bool,
    /// Whether pages may be where `stat` does not count them: in swap, or large.
    has_more: bool,
    looks: u32,
    memfds: u64,
    cpu: Duration,
    was_over: bool,
    // Kept from look to look, so that looking allocates nothing.
    living: Vec<TreeProcess>,
    seen: HashSet<i32>,
    inodes: HashSet<(u64, u64)>,
    numbers: Vec<i32>,
    path: String,
    text: Vec<u8>,
}

/// What turns the kernel's units into ours.
#[derive(Debug, Clone, Copy)]
struct KernelUnits {
    page: u64,
    ticks: u64,
}

#[derive(Debug, Clone, Copy)]
struct TreeProcess {
    pid: i32,
    /// The thread that is asked about memory: the first may have ended before the others.
    task: i32,
    threads: u32,
}

/// What a look has found so far.
#[derive(Debug, Default)]
struct UsageSum {
    tasks: u32,
    ticks: u64,
    pages: u64,
    /// Bytes in swap and in large pages.
    more: u64,
}

/// The fields of `/proc/PID/stat` that are used here, in the kernel's units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ProcessStat {
    parent: i32,
    own_ticks: u64,
    waited_ticks: u64,
    threads: u32,
    pages: u64,
}

impl ProcessTree {
    /// The tree below a process, which must not be waited for as long as this is used: its number would be another's.
    pub(crate) fn of(init: i32) -> Self {
        let mut tree = Self {
            init,
            pace: KernelUnits {
                page: u64::try_from(rustix::param::page_size()).unwrap_or(4096),
                ticks: rustix::param::clock_ticks_per_second().max(1),
            },
            lists_children: std::path::Path::new("/proc/thread-self/children").exists(),
            has_more: true,
            looks: 0,
            memfds: 0,
            cpu: Duration::ZERO,
            was_over: false,
            living: Vec::new(),
            seen: HashSet::new(),
            inodes: HashSet::new(),
            numbers: Vec::new(),
            path: String::new(),
            text: Vec::new(),
        };
        tree.has_more = tree.host_swaps_or_has_large_pages();
        tree
    }

    /// As if the kernel listed no children.
    #[cfg(test)]
    pub(super) fn ask_each_for_its_parent(&mut self, by_parent: bool) {
        self.lists_children = !by_parent;
    }

    /// Looks at the tree.
    pub(crate) fn measure(&mut self) -> TreeUsage {
        self.living.clear();
        self.seen.clear();
        let mut sum = UsageSum::default();
        // Init's own time is not the skill's, but that of those it waited for is.
        let init = self.stat(self.init, None).unwrap_or_default();
        sum.ticks = init.waited_ticks;
        if !self.lists_children {
            self.find_by_parent();
        }
        let mut next = 0;
        for _ in 0..MAX_ROUNDS {
            if self.lists_children {
                self.children_of(self.init, init.threads);
            }
            if next == self.living.len() {
                break;
            }
            while let Some(process) = self.living.get(next).copied() {
                let looked_at = self.visit(process, &mut sum);
                if let Some(entry) = self.living.get_mut(next) {
                    *entry = looked_at;
                }
                next += 1;
            }
        }
        if self.looks.is_multiple_of(FILES_EVERY) {
            self.memfds = self.open_memfds();
        }
        self.looks = self.looks.wrapping_add(1);
        let nanos = u128::from(sum.ticks) * 1_000_000_000 / u128::from(self.pace.ticks);
        self.cpu = self.cpu.max(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
        TreeUsage {
            memory: sum
                .pages
                .saturating_mul(self.pace.page)
                .saturating_add(sum.more)
                .saturating_add(self.memfds),
            processes: sum.tasks,
            cpu: self.cpu,
        }
    }

    /// Adds a process to the sum, and its children to those to look at.
    fn visit(&mut self, mut process: TreeProcess, sum: &mut UsageSum) -> TreeProcess {
        let Some(stat) = self.stat(process.pid, None) else { return process };
        process.threads = stat.threads.max(1);
        sum.tasks = sum.tasks.saturating_add(process.threads);
        sum.ticks = sum.ticks.saturating_add(stat.own_ticks).saturating_add(stat.waited_ticks);
        let mut pages = stat.pages;
        if pages == 0 && process.threads > 1 {
            // The first thread has ended and has no memory any more; the others have.
            (process.task, pages) = self.living_thread(process.pid);
        }
        sum.pages = sum.pages.saturating_add(pages);
        if self.has_more {
            sum.more = sum.more.saturating_add(self.status(process, &["VmSwap:", "HugetlbPages:"]));
        }
        if self.lists_children {
            self.children_of(process.pid, process.threads);
        }
        process
    }

    /// Whether the tree of the last measurement is over a limit by its exact sum, and was when this was asked before: then the sum, or
    /// as much of it as is over. To be asked after each measurement that was over.
    pub(crate) fn over_limit(&mut self, limit: u64) -> Option<u64> {
        // Without mapped files first, which is twenty times as fast and mostly says no.
        let mut sum = self.sum_until(limit, |tree, process| tree.status(process, &COUNTED));
        if sum > limit {
            sum = self.sum_until(limit, Self::proportional_share);
        }
        let was_over = std::mem::replace(&mut self.was_over, sum > limit);
        (was_over && sum > limit).then_some(sum)
    }

    /// Bytes of all processes, or of so many of them as are over the limit.
    fn sum_until(&mut self, limit: u64, of: impl Fn(&mut Self, TreeProcess) -> u64) -> u64 {
        let mut sum = self.memfds;
        for index in 0..self.living.len() {
            let Some(process) = self.living.get(index).copied() else { break };
            sum = sum.saturating_add(of(self, process));
            if sum > limit {
                break;
            }
        }
        sum
    }

    /// A process's share of memory.
    fn proportional_share(&mut self, process: TreeProcess) -> u64 {
        self.task_path(process, "smaps_rollup");
        if !read_into(&self.path, &mut self.text) || self.text.is_empty() {
            return self.status(process, &COUNTED);
        }
        let keys = ["Pss_Anon:", "Pss_Shmem:", "SwapPss:", "Private_Hugetlb:", "Shared_Hugetlb:"];
        match sum_kilobytes(&self.text, &keys) {
            // Before Linux 5.9 there was only one figure, with mapped files.
            (found, sum) if found & 1 == 0 => {
                sum.saturating_add(sum_kilobytes(&self.text, &["Pss:"]).1).saturating_mul(1024)
            }
            (_, sum) => sum.saturating_mul(1024),
        }
    }

    /// The sum of some lines of `/proc/PID/status`, in bytes.
    fn status(&mut self, process: TreeProcess, keys: &[&str]) -> u64 {
        self.task_path(process, "status");
        if !read_into(&self.path, &mut self.text) {
            return 0;
        }
        sum_kilobytes(&self.text, keys).1.saturating_mul(1024)
    }

    /// Adds the children of a process: those of each of its threads, since each has a list of its own.
    fn children_of(&mut self, pid: i32, count: u32) {
        let mut threads = std::mem::take(&mut self.numbers);
        threads.clear();
        if count > 1 {
            self.set_path(pid, "task");
            numbers_in(&self.path, MAX_TASKS, &mut threads);
        } else {
            threads.push(pid);
        }
        for thread in &threads {
            self.path.clear();
            let _ = write!(self.path, "/proc/{pid}/task/{thread}/children");
            if !read_into(&self.path, &mut self.text) {
                continue;
            }
            for child in self.text.split(u8::is_ascii_whitespace).filter_map(parse_number) {
                if self.living.len() < MAX_TASKS && self.seen.insert(child) {
                    self.living.push(TreeProcess { pid: child, task: child, threads: 1 });
                }
            }
        }
        self.numbers = threads;
    }

    /// The same by the parent that each process of the host names.
    fn find_by_parent(&mut self) {
        let mut pids = std::mem::take(&mut self.numbers);
        pids.clear();
        numbers_in("/proc", MAX_TASKS, &mut pids);
        let parents: Vec<(i32, i32)> =
            pids.iter().filter_map(|pid| Some((*pid, self.stat(*pid, None)?.parent))).collect();
        self.numbers = pids;
        self.seen.insert(self.init);
        // A child may have a lower number than its parent, so until nothing changes.
        loop {
            let before = self.living.len();
            for (pid, parent) in &parents {
                if self.seen.contains(parent) && self.seen.insert(*pid) {
                    self.living.push(TreeProcess { pid: *pid, task: *pid, threads: 1 });
                }
            }
            if self.living.len() == before {
                return;
            }
        }
    }

    /// A thread that has memory, and how many pages.
    fn living_thread(&mut self, pid: i32) -> (i32, u64) {
        let mut threads = std::mem::take(&mut self.numbers);
        threads.clear();
        self.set_path(pid, "task");
        numbers_in(&self.path, MAX_TASKS, &mut threads);
        let found = threads.iter().find_map(|thread| {
            let pages = self.stat(pid, Some(*thread))?.pages;
            (pages > 0).then_some((*thread, pages))
        });
        self.numbers = threads;
        found.unwrap_or((pid, 0))
    }

    /// Bytes in memfds that processes have open, each file once. They belong to nobody's resident pages until they are mapped.
    fn open_memfds(&mut self) -> u64 {
        self.inodes.clear();
        let mut looked_at = 0;
        let mut bytes = 0_u64;
        let mut threads = std::mem::take(&mut self.numbers);
        for index in 0..self.living.len() {
            let Some(process) = self.living.get(index).copied() else { break };
            threads.clear();
            if process.threads > 1 {
                // Threads may have tables of open files of their own.
                self.set_path(process.pid, "task");
                numbers_in(&self.path, MAX_TASKS, &mut threads);
            } else {
                threads.push(process.task);
            }
            for thread in &threads {
                self.task_path(TreeProcess { task: *thread, ..process }, "fd");
                let Some(folder) = open_folder(&self.path) else { continue };
                let mut files = Vec::new();
                list_processes(&folder, MAX_FILES, &mut files);
                for file in files {
                    looked_at += 1;
                    if looked_at > MAX_FILES {
                        self.numbers = threads;
                        return bytes;
                    }
                    self.path.clear();
                    let _ = write!(self.path, "{file}");
                    bytes = bytes.saturating_add(memfd(&folder, &self.path, &mut self.inodes));
                }
            }
        }
        self.numbers = threads;
        bytes
    }

    fn stat(&mut self, pid: i32, thread: Option<i32>) -> Option<ProcessStat> {
        match thread {
            None => self.set_path(pid, "stat"),
            Some(task) => self.task_path(TreeProcess { pid, task, threads: 1 }, "stat"),
        }
        if read_into(&self.path, &mut self.text) { ProcessStat::parse(&self.text) } else { None }
    }

    fn set_path(&mut self, pid: i32, file: &str) {
        self.path.clear();
        let _ = write!(self.path, "/proc/{pid}/{file}");
    }

    fn task_path(&mut self, process: TreeProcess, file: &str) {
        self.path.clear();
        let _ = write!(self.path, "/proc/{}/task/{}/{file}", process.pid, process.task);
    }

    fn host_swaps_or_has_large_pages(&mut self) -> bool {
        // The first line is a heading.
        let swaps = read_into("/proc/swaps", &mut self.text)
            && self.text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() > 1;
        let large = |file: &str, text: &mut Vec<u8>| {
            read_into(file, text) && text.trim_ascii() != b"0" && !text.is_empty()
        };
        swaps
            || large("/proc/sys/vm/nr_hugepages", &mut self.text)
            || large("/proc/sys/vm/nr_overcommit_hugepages", &mut self.text)
    }
}

impl ProcessStat {
    /// `proc_pid_stat(5)`. The name in it is what the process likes, closing brackets and line ends included; behind the last one
    /// there are only numbers.
    fn parse(text: &[u8]) -> Option<Self> {
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let mut fields =
            text.get(end + 1..)?.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        // Behind the state.
        let parent = parse_number(fields.nth(1)?)?;
        // From the fifth field to the thirteenth.
        let mut fields = fields.skip(9);
        let mut next =
            || fields.next().and_then(parse_number::<i64>).and_then(|value| u64::try_from(value).ok());
        let own_ticks = next()?.saturating_add(next()?);
        let waited_ticks = next()?.saturating_add(next()?);
        let mut fields = fields.skip(2);
        let threads = parse_number(fields.next()?)?;
        let pages = fields.nth(3).and_then(parse_number::<i64>)?.max(0).unsigned_abs();
        Some(Self { parent, own_ticks, waited_ticks, threads, pages })
    }
}

fn parse_number<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    str::from_utf8(field).ok()?.parse().ok()
}

/// The sum of lines like `Pss_Anon:   12 kB`, and which of the keys were there.
fn sum_kilobytes(text: &[u8], keys: &[&str]) -> (u32, u64) {
    let mut found = 0;
    let mut sum = 0_u64;
    for line in text.split(|byte| *byte == b'\n') {
        for (index, key) in keys.iter().enumerate() {
            let Some(rest) = line.strip_prefix(key.as_bytes()) else { continue };
            let value = rest.trim_ascii().split(u8::is_ascii_whitespace).next().and_then(parse_number::<u64>);
            found |= 1 << index;
            sum = sum.saturating_add(value.unwrap_or(0));
        }
    }
    (found, sum)
}

/// The whole of a file of `/proc`; false if it cannot be had, mostly because the process is gone.
fn read_into(path: &str, text: &mut Vec<u8>) -> bool {
    // A list of children of a tree within its limits has a few hundred kilobytes at most.
    const MOST: usize = 1 << 20;
    text.clear();
    let Ok(file) = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
        return false;
    };
    let mut part = [0_u8; 4096];
    while text.len() < MOST {
        match rustix::io::read(&file, &mut part) {
            Ok(0) => return true,
            Ok(count) => text.extend_from_slice(part.get(..count).unwrap_or_default()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    true
}

fn open_folder(path: &str) -> Option<OwnedFd> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn numbers_in(path: &str, most: usize, into: &mut Vec<i32>) {
    if let Some(folder) = open_folder(path) {
        list_processes(&folder, most, into);
    }
}

/// The entries of a folder that are numbers.
fn list_processes(folder: &OwnedFd, most: usize, into: &mut Vec<i32>) {
    let mut buffer = [MaybeUninit::<u8>::uninit(); 8192];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        if let Some(entry) = parse_number(entry.file_name().to_bytes()) {
            into.push(entry);
        }
        if into.len() >= most {
            return;
        }
    }
}

/// The bytes of an open file if it is a memfd that was not counted yet.
fn memfd(folder: &OwnedFd, name: &str, counted: &mut HashSet<(u64, u64)>) -> u64 {
    let mut target = [MaybeUninit::<u8>::uninit(); 16];
    let Ok((target, _)) = rustix::fs::readlinkat_raw(folder, name, &mut target) else { return 0 };
    // A file of this name on a disk counts as well; it has to be at the root for that, where a sandbox has nothing to write.
    if !target.starts_with(b"/memfd:") {
        return 0;
    }
    let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::empty()) else { return 0 };
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !regular || !counted.insert((stat.st_dev, stat.st_ino)) {
        return 0;
    }
    u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512)
}
