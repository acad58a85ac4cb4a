//! Where this host keeps its control groups, and which of them is ours.
//!
//! Both are read from `/proc/self`: `mountinfo` says where hierarchies are mounted, `cgroup` which group of each we are in. The two
//! have to be put together, because a mount may show only a part of a hierarchy (containers) and the path of our group is told from
//! the root of our cgroup namespace, which may be elsewhere again (`cgroup_namespaces(7)`).

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::kernel::{CgroupKernel, CgroupVersion};

/// The largest file of `/proc` that is read here; a host with thousands of mounts has less than a tenth of it.
const MAX_BYTES: u64 = 8 << 20;

/// What a host offers, before anything is tried.
#[derive(Clone)]
pub(crate) struct CgroupHost {
    mounts: Vec<CgroupMount>,
    memberships: Vec<GroupMembership>,
    pub(super) kernel: Arc<dyn CgroupKernel>,
}

/// One mount of a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CgroupMount {
    version: CgroupVersion,
    /// The group that is the root of the mount.
    root: PathBuf,
    point: PathBuf,
    read_only: bool,
    /// Of version 1: the controllers mounted here.
    controllers: Vec<String>,
}

/// The group we are in, in one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupMembership {
    /// Empty for version 2.
    controllers: Vec<String>,
    path: PathBuf,
}

/// Our own group, as a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnGroup {
    pub(super) folder: PathBuf,
    /// The highest folder of this mount.
    pub(super) top: PathBuf,
}

impl CgroupHost {
    /// The host this process runs on.
    pub(crate) fn read(kernel: Arc<dyn CgroupKernel>) -> io::Result<Self> {
        let mountinfo = read_bounded("/proc/self/mountinfo")?;
        let cgroup = read_bounded("/proc/self/cgroup")?;
        Ok(Self::parse(&mountinfo, &cgroup, kernel))
    }

    /// The same from the texts of the two files.
    pub(crate) fn parse(mountinfo: &[u8], cgroup: &[u8], kernel: Arc<dyn CgroupKernel>) -> Self {
        let mounts = mountinfo.split(|byte| *byte == b'\n').filter_map(mount).collect();
        let memberships = cgroup.split(|byte| *byte == b'\n').filter_map(parse_membership).collect();
        Self { mounts, memberships, kernel }
    }

    /// Our group in the one hierarchy of version 2.
    pub(super) fn unified_group(&self) -> Result<OwnGroup, String> {
        let ours = self.memberships.iter().find(|membership| membership.controllers.is_empty());
        self.find_own_group(&self.unified_mounts()?, ours.map(|ours| ours.path.as_path()), "cgroup2")
    }

    /// The folder of another group of version 2, by its path as `/proc/PID/cgroup` has it.
    #[cfg(feature = "systemd")]
    pub(super) fn unified_folder(&self, path: &Path) -> Result<PathBuf, String> {
        self.find_own_group(&self.unified_mounts()?, Some(path), "cgroup2").map(|own| own.folder)
    }

    fn unified_mounts(&self) -> Result<Vec<&CgroupMount>, String> {
        let mounts: Vec<&CgroupMount> =
            self.mounts.iter().filter(|mount| mount.version == CgroupVersion::Two).collect();
        if mounts.is_empty() { Err("no cgroup2 file system is mounted".to_owned()) } else { Ok(mounts) }
    }

    /// Our group in the hierarchy of version 1 that has a controller.
    pub(super) fn legacy_group(&self, controller: &str) -> Result<OwnGroup, String> {
        let has = |list: &[String]| list.iter().any(|name| name == controller);
        let mounts: Vec<&CgroupMount> = self
            .mounts
            .iter()
            .filter(|mount| mount.version == CgroupVersion::One && has(&mount.controllers))
            .collect();
        if mounts.is_empty() {
            return Err(format!("no hierarchy with the {controller} controller is mounted"));
        }
        let ours = self.memberships.iter().find(|membership| has(&membership.controllers));
        self.find_own_group(&mounts, ours.map(|ours| ours.path.as_path()), controller)
    }

    /// The first mount that shows our group, can be written to and is not hidden under another mount.
    fn find_own_group(
        &self,
        mounts: &[&CgroupMount],
        ours: Option<&Path>,
        what: &str,
    ) -> Result<OwnGroup, String> {
        let ours = ours.ok_or_else(|| format!("/proc/self/cgroup does not name our {what} group"))?;
        let mut reason = String::new();
        for mount in mounts {
            let point = mount.point.display();
            let Some(relative) = group_below(&mount.root, ours) else {
                reason = format!("the {what} group {} is outside what {point} shows", ours.display());
                continue;
            };
            if mount.read_only {
                reason = format!("{point} is mounted read-only");
                continue;
            }
            let folder = mount.point.join(relative);
            match self.kernel.is_cgroup(&folder, mount.version) {
                Ok(true) => return Ok(OwnGroup { folder, top: mount.point.clone() }),
                Ok(false) => reason = format!("{} is covered by another mount", folder.display()),
                Err(error) => reason = format!("{}: {error}", folder.display()),
            }
        }
        Err(reason)
    }
}

impl fmt::Debug for CgroupHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("mounts", &self.mounts)
            .field("memberships", &self.memberships)
            .finish_non_exhaustive()
    }
}

fn read_bounded(path: &str) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(named)?.take(MAX_BYTES).read_to_end(&mut bytes).map_err(named)?;
    Ok(bytes)
}

/// A line of `mountinfo`, if it is a mount of control groups: `proc_pid_mountinfo(5)`.
fn mount(line: &[u8]) -> Option<CgroupMount> {
    let mut fields = line.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let root = path(unescape(fields.nth(3)?));
    let point = path(unescape(fields.next()?));
    let options = fields.next()?;
    // Any number of optional fields, up to a lone hyphen.
    fields.by_ref().find(|field| *field == b"-")?;
    let version = match fields.next()? {
        b"cgroup2" => CgroupVersion::Two,
        b"cgroup" => CgroupVersion::One,
        _ => return None,
    };
    let _source = fields.next()?;
    let of_file_system = fields.next().unwrap_or_default();
    let read_only = |options: &[u8]| options.split(|byte| *byte == b',').any(|option| option == b"ro");
    Some(CgroupMount {
        version,
        root,
        point,
        read_only: read_only(options) || read_only(of_file_system),
        controllers: if version == CgroupVersion::One { parse_list(of_file_system) } else { Vec::new() },
    })
}

/// A line of `/proc/self/cgroup`: `id:controllers:path`, where the path may hold colons too.
fn parse_membership(line: &[u8]) -> Option<GroupMembership> {
    let mut fields = line.splitn(3, |byte| *byte == b':');
    let _id = fields.next()?;
    let controllers = parse_list(fields.next()?);
    let path = path(fields.next()?.to_vec());
    path.is_absolute().then_some(GroupMembership { controllers, path })
}

fn parse_list(field: &[u8]) -> Vec<String> {
    field
        .split(|byte| *byte == b',')
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Undoes `\040` and its like.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let escaped = (*first == b'\\').then(|| tail.split_first_chunk::<3>()).flatten();
        let value = escaped.and_then(|(digits, _)| {
            digits.iter().try_fold(0_u16, |value, digit| {
                matches!(digit, b'0'..=b'7').then(|| value * 8 + u16::from(digit - b'0'))
            })
        });
        if let (Some(byte), Some((_, after))) = (value.and_then(|value| u8::try_from(value).ok()), escaped) {
            plain.push(byte);
            rest = after;
        } else {
            plain.push(*first);
            rest = tail;
        }
    }
    plain
}

/// A group's path under the root of a mount, if it is there. Both are told from the root of our cgroup namespace; above that root
/// there are only `..`, and no names, so nothing can be said about a group there unless it is the very one that is mounted.
fn group_below(root: &Path, group: &Path) -> Option<PathBuf> {
    if root == group {
        return Some(PathBuf::new());
    }
    let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    if climbs(root) || climbs(group) {
        return None;
    }
    // A group that was removed under us; to `strip_prefix` it would be a group of that name.
    if group.as_os_str().as_bytes().ends_with(OsStr::new(" (deleted)").as_bytes()) {
        return None;
    }
    group.strip_prefix(root).ok().map(Path::to_path_buf)
}
