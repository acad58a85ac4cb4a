//! Landlock: the grants again, as rules of the kernel that hold whatever is mounted where.
//!
//! Rules for the host's files are tied to the files themselves, before the child exists; rules for the sandbox's own folders
//! can only be added once those are there. A file that is reached in any other way, through a leaked descriptor or a mount
//! that should not be, is under no rule and thus refused.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};
use rustix::fs::{CWD, Mode, OFlags};

use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::cures;
use crate::error::{Error, PlanProblem};
use crate::layers::Layer;
use crate::plan::{PathAccess, Plan};
use crate::prepare::executable::AllowedPrograms;
use crate::prepare::grants::{Grant, GrantSource, Grants, is_within};
use crate::sys;

/// The newest version this is written for; a kernel that has less is asked for what it has.
pub(crate) const NEWEST: ABI = ABI::V7;

/// The devices of the sandbox, which are the host's.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

#[derive(Debug)]
pub(crate) struct LandlockLayer {
    ruleset: OwnedFd,
    own: [(&'static CStr, u64); 7],
    /// What a rehearsal has in the place of grants: files of its own, which are there when it is mounted. No rule for the host's reaches them.
    rehearsed: Vec<(CString, u64)>,
}

impl LandlockLayer {
    /// `None` where the kernel has no Landlock and the plan waives it.
    pub(crate) fn prepare(
        plan: &Plan,
        grants: &Grants,
        executable: Option<&AllowedPrograms>,
        with_terminal: bool,
    ) -> Result<Option<Self>, Error> {
        let version = match sys::landlock::version() {
            Ok(version) => ABI::from(version),
            // Nothing else holds which programs may be executed.
            Err(_) if plan.waives(Layer::Landlock) && executable.is_none() => return Ok(None),
            Err(errno) => return Err(unavailable_error(errno.into())),
        };
        let rights = LandlockRights::of(version.min(NEWEST));
        let ruleset = rights
            .make_ruleset(plan, grants, executable, with_terminal)
            .map_err(|error| unavailable_error(std::io::Error::other(error)))?;
        let ruleset: Option<OwnedFd> = ruleset.into();
        let ruleset =
            ruleset.ok_or_else(|| unavailable_error(std::io::Error::from_raw_os_error(libc::EOPNOTSUPP)))?;
        let private = rights.write_rights(plan.no_exec).bits();
        let own = [
            // Names only: what is in the files of the root, its folders' rules say.
            (c"/", BitFlags::from(AccessFs::ReadDir).bits()),
            (c"/etc", rights.list_rights().bits()),
            (c"/proc", rights.list_rights().bits()),
            (c"/tmp", private),
            (c"/home/skill", private),
            (c"/dev/shm", private),
            (c"/dev/pts", (rights.list_rights() | rights.device_rights()).bits()),
        ];
        let rehearsed = if plan.rehearsal { rights.rehearsed(plan, grants)? } else { Vec::new() };
        Ok(Some(Self { ruleset, own, rehearsed }))
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.ruleset
    }

    /// `ruleset` is the copy that is left in the child.
    pub(crate) fn apply(&self, ruleset: BorrowedFd<'_>) -> StepResult {
        let rehearsed = self.rehearsed.iter().map(|(path, access)| (path.as_c_str(), *access));
        for (index, (path, access)) in self.own.iter().copied().chain(rehearsed).enumerate() {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let place = rustix::fs::openat(CWD, path, flags, Mode::empty())
                .at_index(SetupStep::LandlockRule, index)?;
            sys::landlock::allow_beneath(ruleset, place.as_fd(), access)
                .at_index(SetupStep::LandlockRule, index)?;
        }
        sys::landlock::restrict_self(ruleset).at(SetupStep::Landlock)
    }
}

fn unavailable_error(source: std::io::Error) -> Error {
    let cure = cures::cure_text(SetupStep::Landlock, source.raw_os_error().unwrap_or(libc::EOPNOTSUPP));
    Error::Layer { layer: Layer::Landlock, step: "cannot make a ruleset".into(), source, cure }
}

/// The rights of one version.
struct LandlockRights {
    abi: ABI,
}

impl LandlockRights {
    fn of(abi: ABI) -> Self {
        Self { abi }
    }

    fn make_ruleset(
        &self,
        plan: &Plan,
        grants: &Grants,
        executable: Option<&AllowedPrograms>,
        with_terminal: bool,
    ) -> Result<landlock::RulesetCreated, Box<dyn std::error::Error + Send + Sync>> {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let mut ruleset = ruleset.handle_access(AccessFs::from_all(self.abi))?;
        if !Scope::from_all(self.abi).is_empty() {
            ruleset = ruleset.scope(Scope::from_all(self.abi))?;
        }
        let mut created = ruleset.create()?;
        // What the system has in /etc is under the rule for that folder, as the files are that are written anew.
        let own_etc = |grant: &&Grant| grant.source == GrantSource::System && grant.path.starts_with("/etc");
        if let Some(executable) = executable {
            created = self.allow_only(created, grants, executable)?;
        }
        for grant in grants.all.iter().filter(|grant| !own_etc(grant)) {
            if plan.rehearsal && grants.rehearsed_as(grant).is_some() {
                continue;
            }
            if executable.is_some() && grant.access == PathAccess::Read {
                continue;
            }
            let mut access = match grant.access {
                PathAccess::Read => self.read_rights(),
                PathAccess::Write => self.write_rights(plan.no_exec),
            };
            if !grant.is_dir {
                access &= AccessFs::from_file(self.abi);
            }
            let (parts, names_only) = match grant.access {
                PathAccess::Read => around_masks(&grant.path, grants)?,
                // What the run makes beside a mask must be its own to use: there the rule is for the folder.
                PathAccess::Write => (vec![grant.path.clone()], Vec::new()),
            };
            for path in names_only {
                let rule = PathBeneath::new(open(&path)?, BitFlags::from(AccessFs::ReadDir));
                created = created.add_rule(rule)?;
            }
            for path in parts {
                created = self.add_part(created, &path, access)?;
            }
        }
        for device in DEVICES.into_iter().chain(with_terminal.then_some("/dev/tty")) {
            created = created.add_rule(PathBeneath::new(open(Path::new(device))?, self.device_rights()))?;
        }
        Ok(created)
    }

    /// Rules for what a rehearsal has in the place of grants.
    fn rehearsed(&self, plan: &Plan, grants: &Grants) -> Result<Vec<(CString, u64)>, Error> {
        let mut rules = Vec::new();
        for grant in grants.all.iter().filter(|grant| grants.rehearsed_as(grant).is_some()) {
            let mut access = match grant.access {
                PathAccess::Read => self.read_rights(),
                PathAccess::Write => self.write_rights(plan.no_exec),
            };
            if !grant.is_dir {
                access &= AccessFs::from_file(self.abi);
            }
            let path = CString::new(grant.path.as_os_str().as_bytes())
                .map_err(|_| PlanProblem::Nul(grant.path.clone()))?;
            rules.push((path, access.bits()));
        }
        Ok(rules)
    }

    /// Rules for what may be read, where only some of it may be executed.
    ///
    /// A program that may not be executed may not be read either where the system keeps its programs: a loader, which is executed for every
    /// program, would start whatever it is given.
    fn allow_only(
        &self,
        mut created: landlock::RulesetCreated,
        grants: &Grants,
        executable: &AllowedPrograms,
    ) -> Result<landlock::RulesetCreated, Box<dyn std::error::Error + Send + Sync>> {
        for path in &executable.paths {
            let mut access = self.read_rights();
            if !path.is_dir() {
                access &= AccessFs::from_file(self.abi);
            }
            created = created.add_rule(PathBeneath::new(open(path)?, access))?;
        }
        let own_etc = |grant: &&Grant| grant.source == GrantSource::System && grant.path.starts_with("/etc");
        let readable = grants.all.iter().filter(|grant| grant.access == PathAccess::Read && !own_etc(grant));
        for grant in readable {
            let (parts, names_only) = match grant.source {
                GrantSource::System => without_programs(&grant.path),
                GrantSource::Program(_) | GrantSource::Plan => (vec![grant.path.clone()], Vec::new()),
            };
            for path in names_only {
                let rule = PathBeneath::new(open(&path)?, BitFlags::from(AccessFs::ReadDir));
                created = created.add_rule(rule)?;
            }
            for part in parts {
                let (parts, names_only) = around_masks(&part, grants)?;
                for path in names_only {
                    let rule = PathBeneath::new(open(&path)?, BitFlags::from(AccessFs::ReadDir));
                    created = created.add_rule(rule)?;
                }
                for path in parts {
                    created = self.add_part(created, &path, self.list_rights())?;
                }
            }
        }
        Ok(created)
    }

    /// A rule for a file or folder, with those rights that it can have.
    fn add_part(
        &self,
        created: landlock::RulesetCreated,
        path: &Path,
        mut access: BitFlags<AccessFs>,
    ) -> Result<landlock::RulesetCreated, Box<dyn std::error::Error + Send + Sync>> {
        let place = match open(path) {
            Ok(place) => place,
            // It was there a moment ago, and is not any more.
            Err(rustix::io::Errno::NOENT) => return Ok(created),
            Err(errno) => return Err(errno.into()),
        };
        if !rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode).is_dir() {
            access &= AccessFs::from_file(self.abi);
        }
        Ok(created.add_rule(PathBeneath::new(place, access))?)
    }

    /// Read and list.
    fn list_rights(&self) -> BitFlags<AccessFs> {
        (AccessFs::ReadFile | AccessFs::ReadDir) & AccessFs::from_all(self.abi)
    }

    /// Use a device.
    fn device_rights(&self) -> BitFlags<AccessFs> {
        (AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev)
            & AccessFs::from_all(self.abi)
    }

    /// Read, list and execute.
    fn read_rights(&self) -> BitFlags<AccessFs> {
        AccessFs::from_read(self.abi)
    }

    /// All but making device nodes.
    fn write_rights(&self, no_exec: bool) -> BitFlags<AccessFs> {
        let mut access =
            AccessFs::from_all(self.abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
        if no_exec {
            access &= !BitFlags::from(AccessFs::Execute);
        }
        access
    }
}

/// Folders that hold programs and nothing else, by name.
const PROGRAMS: [&str; 3] = ["bin", "sbin", "games"];

/// Whether the programs of a folder of the system may not be read where only some may be executed.
pub(crate) fn is_program_folder(path: &Path) -> bool {
    let above = path.parent();
    PROGRAMS.iter().any(|name| path.ends_with(name))
        && ["/", "/usr", "/usr/local"].iter().any(|folder| above == Some(Path::new(folder)))
}

/// What a folder of the system has besides programs, and the folders of which only the names may be read.
fn without_programs(path: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_programs = |path: &Path| PROGRAMS.iter().any(|name| path.ends_with(name));
    if is_programs(path) {
        return (Vec::new(), vec![path.to_owned()]);
    }
    if path != Path::new("/usr") && path != Path::new("/usr/local") {
        return (vec![path.to_owned()], Vec::new());
    }
    let (mut parts, mut names_only) = (Vec::new(), vec![path.to_owned()]);
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        // What a link leads to has a rule of its own, or none.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            let (more, names) = without_programs(&entry.path());
            parts.extend(more);
            names_only.extend(names);
        }
    }
    (parts, names_only)
}

/// Most entries beside forbidden paths; each is a rule.
const MOST_PARTS: usize = 65_536;

/// What lies in a folder around what is hidden in it or would be, and the folders on the way, of which only the names may be read. A rule holds for a file and
/// not for a name, so what the host puts in the place of something hidden is under none of these, mask or not, and neither is what comes to have a name that
/// is left out.
fn around_masks(
    path: &Path,
    grants: &Grants,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Box<dyn std::error::Error + Send + Sync>> {
    let hidden = grants.masks.iter().map(|(mask, _)| mask.as_path());
    let masks: Vec<&Path> = hidden.chain(grants.left_out.iter().map(PathBuf::as_path)).collect();
    let is_on_the_way = |path: &Path| masks.iter().any(|mask| mask != &path && is_within(mask, path));
    if !is_on_the_way(path) {
        return Ok((vec![path.to_owned()], Vec::new()));
    }
    let (mut parts, mut names_only) = (Vec::new(), Vec::new());
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Not even its names are for us to read.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => continue,
            Err(error) => return Err(error.into()),
        };
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let kind = entry.file_type()?;
            // What a link leads to has a rule of its own, or none.
            if kind.is_symlink() || masks.contains(&path.as_path()) {
                continue;
            }
            if kind.is_dir() && is_on_the_way(&path) {
                folders.push(path);
            } else {
                parts.push(path);
            }
            if parts.len() > MOST_PARTS {
                let text = format!(
                    "{} holds more than {MOST_PARTS} entries around what is forbidden in it; grant less of it",
                    folder.display()
                );
                return Err(text.into());
            }
        }
        names_only.push(folder);
    }
    Ok((parts, names_only))
}

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}
