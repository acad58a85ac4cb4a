//! A kernel that is played: the rules of `cgroups(7)` over a temporary folder.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use super::super::kernel::{CgroupKernel, CgroupVersion, RealKernel};
use super::CgroupHost;

/// The files that a controller of version 2 gives to a group.
fn files(controller: &str) -> &'static [(&'static str, &'static str)] {
    match controller {
        "memory" => &[
            ("memory.max", "max"),
            ("memory.swap.max", "max"),
            ("memory.oom.group", "0"),
            ("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n"),
            ("memory.peak", "0"),
        ],
        "pids" => &[("pids.max", "max"), ("pids.events", "max 0\n")],
        "cpu" => &[("cpu.max", "max 100000")],
        "hugetlb" => {
            &[("hugetlb.2MB.max", "max"), ("hugetlb.2MB.rsvd.max", "max"), ("hugetlb.2MB.events", "max 0")]
        }
        _ => &[],
    }
}

/// A file changes in one write, as a kernel's does: nobody sees it empty.
fn put(file: &Path, text: &str) -> io::Result<()> {
    use std::io::Write as _;
    let mut open = fs::OpenOptions::new().write(true).create(true).truncate(false).open(file)?;
    open.write_all(text.as_bytes())?;
    open.set_len(text.len() as u64)
}

/// What this kernel does other than the newest one does for root.
#[derive(Default)]
pub(super) struct KernelOddities {
    /// Files and folders that may not be written.
    pub(super) denied: HashSet<PathBuf>,
    /// Files that groups do not have, as on older kernels.
    pub(super) absent: HashSet<&'static str>,
    /// Files that say something else than was written.
    pub(super) deaf: HashSet<&'static str>,
    /// New groups are of this type.
    pub(super) kind: Option<&'static str>,
    /// Something else is mounted over these.
    pub(super) covered: HashSet<PathBuf>,
}

pub(super) struct FakeKernel {
    _folder: tempfile::TempDir,
    pub(super) root: PathBuf,
    pub(super) odd: Mutex<KernelOddities>,
    writes: Mutex<Vec<String>>,
    /// Which group a process is in, where a test says so.
    #[cfg(feature = "systemd")]
    pub(super) moved: Mutex<std::collections::HashMap<i32, String>>,
    /// The kernel does one thing at a time to its tree.
    one_at_a_time: Mutex<()>,
}

impl FakeKernel {
    /// A root with controllers of version 2.
    pub(super) fn unified(controllers: &str) -> Arc<Self> {
        let fake = Self::legacy();
        let file = |name: &str, text: &str| fs::write(fake.root.join(name), text).unwrap();
        file("cgroup.controllers", controllers);
        file("cgroup.subtree_control", "");
        file("cgroup.procs", "1\n");
        fake
    }

    /// A place for hierarchies of version 1.
    pub(super) fn legacy() -> Arc<Self> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        Arc::new(Self {
            _folder: folder,
            root,
            odd: Mutex::default(),
            writes: Mutex::default(),
            #[cfg(feature = "systemd")]
            moved: Mutex::default(),
            one_at_a_time: Mutex::default(),
        })
    }

    /// A hierarchy of version 1 with its root group.
    pub(super) fn hierarchy(&self, name: &str, files: &[(&str, &str)]) {
        let folder = self.root.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("legacy"), "").unwrap();
        for (file, text) in files.iter().copied().chain([("cgroup.procs", "")]) {
            fs::write(folder.join(file), text).unwrap();
        }
    }

    /// A group as an administrator would make it: with controllers for its children, and processes.
    pub(super) fn group(&self, path: &str, subtree: &str, procs: &str) -> PathBuf {
        let folder = self.root.join(path);
        self.make(&folder).unwrap();
        if !subtree.is_empty() {
            self.write(&folder.join("cgroup.subtree_control"), subtree).unwrap();
        }
        fs::write(folder.join("cgroup.procs"), procs).unwrap();
        folder
    }

    /// A host whose only hierarchy is this one, and whose process is in `own`.
    pub(super) fn host(self: &Arc<Self>, own: &str) -> CgroupHost {
        let point = self.root.to_str().unwrap();
        let mountinfo = format!("31 23 0:28 / {point} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate");
        CgroupHost::parse(mountinfo.as_bytes(), format!("0::{own}\n").as_bytes(), self.clone())
    }

    pub(super) fn writes(&self) -> Vec<String> {
        self.writes.lock().unwrap().clone()
    }

    /// The groups below a folder.
    pub(super) fn groups(&self, path: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.root.join(path))
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().unwrap().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn allowed(&self, path: &Path) -> io::Result<()> {
        if self.odd.lock().unwrap().denied.contains(path) { Err(Errno::ACCESS.into()) } else { Ok(()) }
    }

    fn is_legacy(folder: &Path) -> bool {
        folder.join("legacy").exists()
    }

    fn give(&self, group: &Path, controller: &str) {
        for (name, text) in files(controller) {
            if !self.odd.lock().unwrap().absent.contains(name) {
                put(&group.join(name), text).unwrap();
            }
        }
    }

    fn children(group: &Path) -> Vec<PathBuf> {
        fs::read_dir(group).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
    }

    fn subtree_control(&self, group: &Path, text: &str) -> io::Result<()> {
        let words = |file: &str| -> Vec<String> {
            fs::read_to_string(group.join(file)).unwrap().split_whitespace().map(str::to_owned).collect()
        };
        let mut enabled = words("cgroup.subtree_control");
        for change in text.split_whitespace() {
            let (sign, name) = change.split_at(1);
            if !words("cgroup.controllers").iter().any(|offered| offered == name) {
                return Err(Errno::NOENT.into());
            }
            if sign == "+" {
                if group != self.root && !words("cgroup.procs").is_empty() {
                    return Err(Errno::BUSY.into());
                }
                enabled.push(name.to_owned());
            } else {
                for child in Self::children(group) {
                    let below = fs::read_to_string(child.join("cgroup.subtree_control")).unwrap();
                    if below.split_whitespace().any(|used| used == name) {
                        return Err(Errno::BUSY.into());
                    }
                }
                enabled.retain(|used| used != name);
            }
            for child in Self::children(group) {
                put(&child.join("cgroup.controllers"), &enabled.join(" ")).unwrap();
                if sign == "+" {
                    self.give(&child, name);
                } else {
                    for (file, _) in files(name) {
                        let _ = fs::remove_file(child.join(file));
                    }
                }
            }
        }
        put(&group.join("cgroup.subtree_control"), &enabled.join(" "))
    }
}

impl CgroupKernel for FakeKernel {
    fn make(&self, folder: &Path) -> io::Result<()> {
        let _turn = self.one_at_a_time.lock().unwrap();
        let parent = folder.parent().unwrap();
        self.allowed(parent)?;
        if fs::read_to_string(parent.join("cgroup.max.descendants")).is_ok_and(|most| most.trim() == "0") {
            return Err(Errno::AGAIN.into());
        }
        fs::create_dir(folder)?;
        if Self::is_legacy(parent) {
            for entry in fs::read_dir(parent).unwrap().map(Result::unwrap) {
                let name = entry.file_name().into_string().unwrap();
                if entry.file_type().unwrap().is_file() && !self.odd.lock().unwrap().absent.contains(&*name) {
                    // What a new group says: nothing is limited, nothing is in it.
                    let fresh = match name.as_str() {
                        "cpu.cfs_period_us" => "100000",
                        "pids.events" => "max 0\n",
                        "memory.oom_control" => "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
                        "cgroup.procs" | "legacy" | "cpuset.cpus" | "cpuset.mems" => "",
                        _ => "-1",
                    };
                    fs::write(folder.join(name), fresh).unwrap();
                }
            }
            return Ok(());
        }
        let enabled = fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap();
        let kind = self.odd.lock().unwrap().kind.unwrap_or("domain");
        for (name, text) in [
            ("cgroup.procs", ""),
            ("cgroup.controllers", &*enabled),
            ("cgroup.subtree_control", ""),
            ("cgroup.type", kind),
            ("cgroup.max.descendants", "max"),
            ("cgroup.kill", ""),
            ("cpu.stat", "usage_usec 0\nuser_usec 0\nnr_throttled 0\n"),
        ] {
            if !self.odd.lock().unwrap().absent.contains(name) {
                fs::write(folder.join(name), text).unwrap();
            }
        }
        enabled.split_whitespace().for_each(|controller| self.give(folder, controller));
        Ok(())
    }

    fn remove(&self, folder: &Path) -> io::Result<()> {
        let _turn = self.one_at_a_time.lock().unwrap();
        let procs = fs::read_to_string(folder.join("cgroup.procs"))?;
        if !procs.trim().is_empty() || !Self::children(folder).is_empty() {
            return Err(Errno::BUSY.into());
        }
        fs::remove_dir_all(folder)
    }

    fn write(&self, file: &Path, text: &str) -> io::Result<()> {
        let _turn = self.one_at_a_time.lock().unwrap();
        self.allowed(file)?;
        let name = file.file_name().unwrap().to_str().unwrap();
        if !file.exists() {
            return Err(Errno::NOENT.into());
        }
        self.writes.lock().unwrap().push(format!("{name} {text}"));
        let group = file.parent().unwrap();
        match name {
            "cgroup.subtree_control" => self.subtree_control(group, text),
            "cgroup.kill" => {
                for child in Self::children(group) {
                    fs::write(child.join("cgroup.procs"), "")?;
                }
                fs::write(group.join("cgroup.procs"), "")
            }
            // Version 1 refuses more than a group above has.
            "cpu.cfs_quota_us" => {
                let above = fs::read_to_string(group.parent().unwrap().join(name)).unwrap();
                match above.trim().parse::<i64>().unwrap() {
                    above if above > 0 && text.parse::<i64>().unwrap() > above => Err(Errno::INVAL.into()),
                    _ => put(file, text),
                }
            }
            _ if self.odd.lock().unwrap().deaf.contains(name) => Ok(()),
            _ => put(file, text),
        }
    }

    fn open(&self, file: &Path) -> io::Result<OwnedFd> {
        self.allowed(file)?;
        RealKernel.open(file)
    }

    #[cfg(feature = "systemd")]
    fn membership(&self, pid: i32) -> io::Result<String> {
        Ok(self
            .moved
            .lock()
            .unwrap()
            .get(&pid)
            .map_or("0::/session.scope\n".to_owned(), |path| format!("0::{path}\n")))
    }

    fn is_cgroup(&self, folder: &Path, _: CgroupVersion) -> io::Result<bool> {
        fs::metadata(folder)?;
        Ok(!self.odd.lock().unwrap().covered.contains(folder))
    }
}
