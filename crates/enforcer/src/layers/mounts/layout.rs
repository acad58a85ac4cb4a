//! What the new root looks like, as a list of operations. Made in the parent.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::proc_files::roots_own;
use super::rehearsal::{RehearsalStore, STORES};
use super::{MountOperation, MountsLayer};
use crate::error::{Error, PlanProblem};
use crate::layers::settings::KernelSettings;
use crate::plan::{PathAccess, Plan};
use crate::prepare::LocatedPlan;
use crate::prepare::exec_mounts::{ExecMounts, ExecSplit};
use crate::prepare::grants::{Grant, Grants, is_within};
use crate::prepare::rehearsed::RehearsedAs;
use crate::sys::mount::{AttributeReach, NODEV, NOEXEC, NOSUID, RDONLY};

/// The user inside: everybody's number is the same there, root's too.
pub(crate) const ID: u32 = 1000;
/// Its name, and the group's.
pub(crate) const NAME: &str = "skill";
/// Its home, private to the run.
pub(crate) const HOME: &str = "/home/skill";
/// For temporary files, private to the run.
pub(crate) const TMP: &str = "/tmp";
/// For sockets and the like (`XDG_RUNTIME_DIR`).
pub(crate) const RUNTIME_DIR: &str = "/home/skill/.runtime";

/// Folders of the private file system, parents first, and who may do what in them.
pub(crate) const PRIVATE: [(&CStr, u32); 14] = [
    (c"hidden", 0),
    (STORES, 0o700),
    (c"run", 0o755),
    (c"home", 0o700),
    (c"home/.config", 0o700),
    (c"home/.cache", 0o700),
    (c"home/.local", 0o700),
    (c"home/.local/bin", 0o700),
    (c"home/.local/lib", 0o700),
    (c"home/.local/share", 0o700),
    (c"home/.local/state", 0o700),
    (c"home/.runtime", 0o700),
    (c"tmp", 0o1777),
    (c"shm", 0o1777),
];

/// The devices every program may expect. With the sandbox's own terminals they are the only ones: all other mounts are `nodev`.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Covers for forbidden paths: in the private file system, but in no folder of it that is mounted, so nobody can reach or
/// change them.
const HIDDEN_FOLDER: &CStr = c"hidden";
const HIDDEN_FILE: &CStr = c"hidden-file";

/// Bytes that a rehearsal may write in all, at least.
const REHEARSAL_SIZE: u64 = 1 << 30;

/// Names of keys on the host, which are listed in every namespace.
const KEYS: [&str; 2] = ["keys", "key-users"];

struct RootLayout {
    operations: Vec<MountOperation>,
    made: BTreeSet<OsString>,
}

impl MountsLayer {
    /// Lays the root out.
    pub(crate) fn prepare(
        plan: &Plan,
        located: &LocatedPlan,
        settings: KernelSettings,
        is_root: bool,
        with_terminal: bool,
    ) -> Result<Self, Error> {
        let LocatedPlan { grants, executable, workdir, .. } = located;
        let mut layout = RootLayout { operations: Vec::new(), made: BTreeSet::new() };
        layout.add_skeleton(plan.tmp.as_deref(), if plan.no_exec { NOEXEC } else { 0 })?;
        layout.add_devices(with_terminal)?;
        layout.processes(is_root)?;
        let exec = if plan.no_exec { NOEXEC } else { 0 };
        let exec_mounts = executable.as_ref().map(|programs| ExecMounts::find(programs, grants));
        let rehearsal = plan.rehearsal.then_some(grants);
        layout.add_grants(grants, exec, exec_mounts.as_ref(), rehearsal)?;
        layout.add_sockets(grants)?;
        layout.add_links(grants)?;
        layout.customary_links(grants)?;
        layout.add_masks(grants)?;
        Ok(Self {
            operations: layout.operations,
            private_size: c_string(Path::new(&private_size(plan).to_string()))?,
            private_attributes: NOSUID | NODEV | exec,
            workdir: c_string(workdir)?,
            settings,
        })
    }
}

/// Bytes of the private file system. A rehearsal also has in it what a run would write to the host, where only the largest file is limited.
fn private_size(plan: &Plan) -> u64 {
    if plan.rehearsal { plan.limits.disk.max(REHEARSAL_SIZE) } else { plan.limits.disk }
}

impl RootLayout {
    fn add_skeleton(&mut self, tmp: Option<&Path>, exec: u64) -> Result<(), Error> {
        for (folder, mode) in
            [("/etc", 0o755), ("/proc", 0o555), ("/var", 0o755), ("/dev", 0o755), (TMP, 0o755)]
        {
            self.add_folder(Path::new(folder), mode)?;
        }
        self.add_folder(Path::new(HOME), 0o755)?;
        self.add_folder(Path::new("/dev/shm"), 0o755)?;
        // Made with the private file system itself, which this covers before anything else is looked up in it.
        self.made.insert("/run".into());
        self.add_private(c"run", "/run")?;
        match tmp {
            Some(folder) => self.add_kept_tmp(folder, TMP, exec)?,
            None => self.add_private(c"tmp", TMP)?,
        }
        self.add_private(c"home", HOME)?;
        self.add_private(c"shm", "/dev/shm")?;
        for (path, content) in etc_files() {
            self.add_file(Path::new(path), content.into_bytes(), 0o444)?;
        }
        Ok(())
    }

    /// A folder of the host in the place of a private one.
    fn add_kept_tmp(&mut self, folder: &Path, target: &str, exec: u64) -> Result<(), Error> {
        let failed = |source| Error::Path { what: "cannot use", path: folder.to_owned(), source };
        let folder = folder.canonicalize().map_err(failed)?;
        let metadata = folder.metadata().map_err(failed)?;
        if !metadata.is_dir() {
            return Err(failed(std::io::Error::from_raw_os_error(libc::ENOTDIR)));
        }
        self.operations.push(MountOperation::Bind {
            source: c_string(&folder)?,
            identity: (metadata.dev(), metadata.ino()),
            target: relative(Path::new(target))?,
            attributes: NOSUID | NODEV | exec,
            reach: AttributeReach::Tree,
        });
        Ok(())
    }

    /// `with_terminal`: also the name that a process has for its controlling terminal, which is one of the sandbox's own.
    fn add_devices(&mut self, with_terminal: bool) -> Result<(), Error> {
        for name in DEVICES.into_iter().chain(with_terminal.then_some("tty")) {
            let path = Path::new("/dev").join(name);
            let failed = |source| Error::Path { what: "cannot use", path: path.clone(), source };
            let metadata = path.metadata().map_err(failed)?;
            self.add_file(&path, Vec::new(), 0o444)?;
            self.operations.push(MountOperation::Bind {
                source: c_string(&path)?,
                identity: (metadata.dev(), metadata.ino()),
                target: relative(&path)?,
                // To write to a device is not to write to its file system; to change its mode, owner or times is, and they are the host's.
                attributes: RDONLY | NOSUID | NOEXEC,
                reach: AttributeReach::One,
            });
        }
        self.add_folder(Path::new("/dev/pts"), 0o755)?;
        self.operations.push(MountOperation::Terminals { target: relative(Path::new("/dev/pts"))? });
        for (path, text) in [
            ("/dev/ptmx", "pts/ptmx"),
            ("/dev/fd", "/proc/self/fd"),
            ("/dev/stdin", "/proc/self/fd/0"),
            ("/dev/stdout", "/proc/self/fd/1"),
            ("/dev/stderr", "/proc/self/fd/2"),
        ] {
            self.add_link(path, text)?;
        }
        Ok(())
    }

    fn processes(&mut self, is_root: bool) -> Result<(), Error> {
        self.operations.push(MountOperation::Proc { target: relative(Path::new("/proc"))? });
        for path in KEYS.iter().map(|name| Path::new("/proc").join(name)).filter(|path| path.exists()) {
            self.operations.push(MountOperation::Mask { cover: HIDDEN_FILE, target: relative(&path)? });
        }
        for (path, is_dir) in if is_root { roots_own() } else { &[] } {
            let cover = if *is_dir { HIDDEN_FOLDER } else { HIDDEN_FILE };
            self.operations.push(MountOperation::HideProc { cover, target: relative(path)? });
        }
        Ok(())
    }

    /// `only`: what may be executed, where that is not everything. Nothing else can be mapped to be executed either.
    /// `rehearsal`: the grants again, where nothing of them may be changed.
    fn add_grants(
        &mut self,
        grants: &Grants,
        exec: u64,
        only: Option<&ExecMounts>,
        rehearsal: Option<&Grants>,
    ) -> Result<(), Error> {
        let mut splits = only.map(|only| only.splits.as_slice()).unwrap_or_default().iter().peekable();
        // A pin splits a write grant, so it must be there before what it protects is put over it.
        let mut pins = grants.pins.iter().peekable();
        for (index, grant) in grants.all.iter().enumerate() {
            while let Some(pin) = pins.next_if(|pin| pin.as_os_str() < grant.path.as_os_str()) {
                self.operations.push(MountOperation::Pin { target: relative(pin)? });
            }
            while let Some(split) = splits.next_if(|split| split.path.as_os_str() < grant.path.as_os_str()) {
                self.add_split(split)?;
            }
            if let Some((rehearsed, how)) =
                rehearsal.and_then(|grants| Some((grants, grants.rehearsed_as(grant)?)))
            {
                self.add_rehearsed(rehearsed, grant, how, index, exec)?;
                continue;
            }
            let inside = grants.all.iter().take(index).any(|above| is_within(&grant.path, &above.path));
            if !inside {
                self.add_parents(&grant.path)?;
                if grant.is_dir {
                    self.add_folder(&grant.path, 0o755)?;
                } else {
                    self.add_file(&grant.path, Vec::new(), 0o444)?;
                }
            }
            let attributes = match grant.access {
                PathAccess::Read if only.is_some_and(|only| !only.grants.contains(&grant.path)) => {
                    RDONLY | NOSUID | NODEV | NOEXEC
                }
                PathAccess::Read => RDONLY | NOSUID | NODEV,
                PathAccess::Write => NOSUID | NODEV | exec,
            };
            self.operations.push(MountOperation::Bind {
                source: c_string(&grant.path)?,
                identity: grant.identity,
                target: relative(&grant.path)?,
                attributes,
                reach: AttributeReach::Tree,
            });
        }
        for pin in pins {
            self.operations.push(MountOperation::Pin { target: relative(pin)? });
        }
        for split in splits {
            self.add_split(split)?;
        }
        Ok(())
    }

    /// What a rehearsal has in the place of a grant.
    fn add_rehearsed(
        &mut self,
        grants: &Grants,
        grant: &Grant,
        how: RehearsedAs,
        index: usize,
        exec: u64,
    ) -> Result<(), Error> {
        let attributes = NOSUID | NODEV | exec;
        let (target, source) = (relative(&grant.path)?, c_string(&grant.path)?);
        let (identity, store) = (grant.identity, RehearsalStore::new(index));
        if how == RehearsedAs::FreshBelow {
            for folder in grants.missing_folders(&grant.path) {
                let parent = relative(folder.parent().unwrap_or(Path::new("/")))?;
                let name = c_string(Path::new(folder.file_name().unwrap_or_default()))?;
                let target = relative(&folder)?;
                self.operations.push(MountOperation::FreshBelow { parent, target, name });
            }
            return Ok(());
        }
        let inside = grants.all.iter().take(index).any(|above| is_within(&grant.path, &above.path));
        if !inside {
            self.add_parents(&grant.path)?;
            if grant.is_dir {
                self.add_folder(&grant.path, 0o755)?;
            } else {
                self.add_file(&grant.path, Vec::new(), 0o444)?;
            }
        }
        self.operations.push(match how {
            RehearsedAs::Copy => MountOperation::Copy { source, identity, target, attributes, store },
            RehearsedAs::Fresh | RehearsedAs::FreshBelow => {
                MountOperation::Fresh { target, attributes, store }
            }
            RehearsedAs::Overlay => MountOperation::Overlay { source, identity, target, attributes, store },
        });
        Ok(())
    }

    /// A part of a read-only grant as a mount of its own, since it may be executed and the rest may not, or the other way round.
    fn add_split(&mut self, split: &ExecSplit) -> Result<(), Error> {
        let exec = if split.may_execute { 0 } else { NOEXEC };
        self.operations.push(MountOperation::Bind {
            source: c_string(&split.path)?,
            identity: split.identity,
            target: relative(&split.path)?,
            attributes: RDONLY | NOSUID | NODEV | exec,
            reach: AttributeReach::Tree,
        });
        Ok(())
    }

    /// Sockets that may be connected to, where no granted folder has them already. The mount only shows them: the supervisor connects.
    fn add_sockets(&mut self, grants: &Grants) -> Result<(), Error> {
        for socket in &grants.sockets {
            if grants.deciding_grant(&socket.path).is_some() {
                continue;
            }
            self.add_parents(&socket.path)?;
            self.add_file(&socket.path, Vec::new(), 0o444)?;
            self.operations.push(MountOperation::Bind {
                source: c_string(&socket.path)?,
                identity: socket.identity,
                target: relative(&socket.path)?,
                attributes: RDONLY | NOSUID | NODEV | NOEXEC,
                reach: AttributeReach::One,
            });
        }
        Ok(())
    }

    fn add_links(&mut self, grants: &Grants) -> Result<(), Error> {
        for (link, text) in &grants.links {
            // In a granted folder the link is there already.
            let there = link.parent().is_some_and(|parent| grants.deciding_grant(parent).is_some());
            if there || self.made.contains(link.as_os_str()) {
                continue;
            }
            self.add_parents(link)?;
            self.made.insert(link.clone().into_os_string());
            self.operations.push(MountOperation::Link { target: relative(link)?, text: c_string(text)? });
        }
        Ok(())
    }

    fn add_masks(&mut self, grants: &Grants) -> Result<(), Error> {
        for (path, is_dir) in &grants.masks {
            let cover = if *is_dir { HIDDEN_FOLDER } else { HIDDEN_FILE };
            self.operations.push(MountOperation::Mask { cover, target: relative(path)? });
        }
        Ok(())
    }

    /// Names that programs know, where no grant has taken them.
    fn customary_links(&mut self, grants: &Grants) -> Result<(), Error> {
        for (path, text) in [("/var/tmp", "../tmp"), ("/var/run", "../run")] {
            let taken =
                self.made.contains(OsStr::new(path)) || grants.deciding_grant(Path::new(path)).is_some();
            if !taken {
                self.add_link(path, text)?;
            }
        }
        Ok(())
    }

    fn add_parents(&mut self, path: &Path) -> Result<(), Error> {
        // What is made already has its own parents.
        match path.parent() {
            Some(parent) if parent.parent().is_some() => self.add_folder(parent, 0o755),
            _ => Ok(()),
        }
    }

    fn add_folder(&mut self, path: &Path, mode: u32) -> Result<(), Error> {
        if self.made.contains(path.as_os_str()) {
            return Ok(());
        }
        self.add_parents(path)?;
        self.made.insert(path.as_os_str().to_owned());
        self.operations.push(MountOperation::Folder { target: relative(path)?, mode });
        Ok(())
    }

    fn add_file(&mut self, path: &Path, content: Vec<u8>, mode: u32) -> Result<(), Error> {
        if self.made.insert(path.as_os_str().to_owned()) {
            self.add_parents(path)?;
            self.operations.push(MountOperation::File { target: relative(path)?, content, mode });
        }
        Ok(())
    }

    fn add_link(&mut self, path: &str, text: &str) -> Result<(), Error> {
        self.made.insert(path.into());
        let text = c_string(Path::new(text))?;
        self.operations.push(MountOperation::Link { target: relative(Path::new(path))?, text });
        Ok(())
    }

    fn add_private(&mut self, folder: &'static CStr, target: &str) -> Result<(), Error> {
        self.operations.push(MountOperation::Private { folder, target: relative(Path::new(target))? });
        Ok(())
    }
}

/// Files of /etc that are written anew: they name nobody and nothing of the host.
fn etc_files() -> [(&'static str, String); 5] {
    let nobody = 65534;
    [
        (
            "/etc/passwd",
            format!(
                "{NAME}:x:{ID}:{ID}:{NAME}:{HOME}:/bin/sh\nnobody:x:{nobody}:{nobody}:nobody:/nonexistent:/usr/sbin/nologin\n"
            ),
        ),
        ("/etc/group", format!("{NAME}:x:{ID}:\nnogroup:x:{nobody}:\n")),
        ("/etc/hosts", "127.0.0.1 localhost skillsandbox\n::1 localhost skillsandbox\n".to_owned()),
        ("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n".to_owned()),
        (
            "/etc/nsswitch.conf",
            "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n"
                .to_owned(),
        ),
    ]
}

fn relative(path: &Path) -> Result<CString, Error> {
    c_string(path.strip_prefix("/").unwrap_or(path))
}

fn c_string(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| PlanProblem::Nul(path.to_owned()).into())
}
