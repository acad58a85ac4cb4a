//! Grants as they are on this host: links followed, folders made, contradictions found.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat};

use crate::error::{Error, PlanProblem};
use crate::plan::{PathAccess, Plan, check_grant};
use crate::prepare::links::{GrantCeiling, LinkRules, WalkedPath, make_folder};
use crate::prepare::system_folders::system_folders;
use crate::program::ProgramNeed;

/// The mode of folders that are made for write grants, of which the umask takes away.
const FOR_ALL: u32 = 0o777;

/// What to do about folders of write grants that do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderCreation {
    /// Make them.
    Make,
    /// Only say that they would be made.
    Look,
}

/// Who asked for a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GrantSource {
    /// Every sandbox has it.
    System,
    /// The program needs it to start; why.
    Program(&'static str),
    /// The plan.
    Plan,
}

/// A file or folder of the host that exists inside, at the same path. Its path has no link in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) path: PathBuf,
    pub(crate) access: PathAccess,
    pub(crate) source: GrantSource,
    pub(crate) is_dir: bool,
    /// Device and inode number: what stands there when the child looks must still be this.
    pub(crate) identity: (u64, u64),
}

/// All that exists inside of the host, parents before what lies in them.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    pub(crate) all: Vec<Grant>,
    /// Links that lead to grants, and where.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Grants of the plan that are links or lie behind some, and where they lead.
    pub(crate) led: Vec<(PathBuf, PathBuf)>,
    /// Every link on the way to a grant of the plan, those behind others too.
    followed: Vec<PathBuf>,
    /// Forbidden paths below grants, and whether they are folders.
    pub(crate) masks: Vec<(PathBuf, bool)>,
    /// Names below grants that nobody may be reached by who comes to have them: forbidden paths that are not there, and links on the way to
    /// forbidden ones.
    pub(crate) left_out: Vec<PathBuf>,
    /// The forbidden paths that these are about, and how they were found.
    ways: Vec<(PathBuf, ForbiddenWay)>,
    /// Folders that a run may not rename, because something protected lies in them.
    pub(crate) pins: Vec<PathBuf>,
    /// Write grants that had to be made.
    pub(crate) created: Vec<PathBuf>,
    /// Sockets of the host that may be connected to.
    pub(crate) sockets: Vec<GrantedSocket>,
}

/// Where a forbidden path leads, and whether something is there.
#[derive(Debug, PartialEq, Eq)]
struct ForbiddenWay {
    walked: WalkedPath,
    is_there: bool,
    is_dir: bool,
}

impl ForbiddenWay {
    fn find(forbidden: &Path) -> io::Result<Self> {
        let walked = WalkedPath::walk_blind(forbidden)?;
        let found = fs::symlink_metadata(&walked.real);
        let is_dir = found.as_ref().is_ok_and(fs::Metadata::is_dir);
        Ok(Self { walked, is_there: found.is_ok(), is_dir })
    }
}

/// A Unix socket of the host that may be connected to. Its path has no link in it.
#[derive(Debug)]
pub(crate) struct GrantedSocket {
    pub(crate) path: PathBuf,
    /// Device and inode number. They stay its own, since it is held open.
    pub(crate) identity: (u64, u64),
    _held: OwnedFd,
}

impl Grants {
    /// Looks at the host. Makes missing folders of write grants where asked to, and nothing else.
    pub(crate) fn resolve(
        plan: &Plan,
        needs: &[ProgramNeed],
        folders: FolderCreation,
    ) -> Result<Self, Error> {
        let mut grants = Self::default();
        let rules = LinkRules { untrusted: &plan.untrusted };
        let ceiling =
            GrantCeiling::resolve(plan.read_within.as_deref(), plan.write_within.as_deref(), rules).map_err(
                |(path, source)| Error::Path { what: "cannot hold grants to the policy's", path, source },
            )?;
        for path in system_folders() {
            grants.add_if_there(&path, GrantSource::System);
        }
        for need in needs {
            grants.add(&need.path, PathAccess::Read, GrantSource::Program(need.reason), plan, &ceiling)?;
        }
        for path in &plan.read {
            grants.add(path, PathAccess::Read, GrantSource::Plan, plan, &ceiling)?;
        }
        for path in &plan.write {
            if fs::symlink_metadata(path).is_err() {
                grants.add_absent(path, plan, &ceiling)?;
            } else {
                grants.add(path, PathAccess::Write, GrantSource::Plan, plan, &ceiling)?;
            }
        }
        grants.refuse_links_in_write_grants()?;
        // Only now: a link that an earlier run left behind must not decide where folders are made.
        if folders == FolderCreation::Make {
            grants.make_folders()?;
        }
        grants.sort();
        grants.mask_forbidden(plan)?;
        for path in &plan.unix_sockets {
            grants.add_socket(path, plan)?;
        }
        grants.pin_folders();
        Ok(grants)
    }

    /// The grant that decides about a path inside: the nearest one above it.
    pub(crate) fn deciding_grant(&self, path: &Path) -> Option<&Grant> {
        self.all.iter().rev().find(|grant| is_within(path, &grant.path))
    }

    fn add_if_there(&mut self, path: &Path, source: GrantSource) {
        // What is missing, or not ours to see, is not there inside either.
        if let Ok(found) = FoundPath::look_up(path)
            && let Ok(grant) = Grant::of(found, PathAccess::Read, source)
        {
            if grant.path != path {
                self.add_links(path);
            }
            self.all.push(grant);
        }
    }

    fn add(
        &mut self,
        path: &Path,
        access: PathAccess,
        source: GrantSource,
        plan: &Plan,
        ceiling: &GrantCeiling,
    ) -> Result<(), Error> {
        let failed = |source| Error::Path { what: "cannot grant", path: path.to_owned(), source };
        let (found, followed) =
            Self::look_up(path, LinkRules { untrusted: &plan.untrusted }).map_err(failed)?;
        if found.path != path {
            // What programs need was found by following links already: one that is there now came later.
            let was_real = matches!(source, GrantSource::Program(_));
            if was_real || plan.as_named.iter().any(|named| named == path) {
                return Err(failed(io::Error::other("a link has taken its place")));
            }
        }
        check_judged(path, &found.path, plan).map_err(failed)?;
        check_grant(&found.path, &plan.forbidden)?;
        check_ceiling(path, &found.path, access, source, plan, ceiling)?;
        let grant = Grant::of(found, access, source).map_err(failed)?;
        self.remember_way(path, &grant.path, followed);
        self.all.push(grant);
        Ok(())
    }

    /// A write grant that a run would make: what would be granted, and whether it could be made.
    fn add_absent(&mut self, path: &Path, plan: &Plan, ceiling: &GrantCeiling) -> Result<(), Error> {
        let failed =
            |source| Error::Path { what: "cannot create the write grant", path: path.to_owned(), source };
        let rules = LinkRules { untrusted: &plan.untrusted };
        let WalkedPath { real, links } = rules.walk(path).map_err(failed)?;
        let there = real.ancestors().skip(1).find(|above| fs::symlink_metadata(above).is_ok());
        let there = there.unwrap_or(Path::new("/"));
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        if !there.is_dir() {
            return Err(failed(io::Error::from_raw_os_error(libc::ENOTDIR)));
        }
        check_judged(path, &real, plan).map_err(failed)?;
        check_grant(&real, &plan.forbidden)?;
        let (access_kind, source) = (PathAccess::Write, GrantSource::Plan);
        check_ceiling(path, &real, access_kind, source, plan, ceiling)?;
        rustix::fs::access(there, access).map_err(|errno| failed(errno.into()))?;
        self.remember_way(path, &real, links);
        self.created.push(real.clone());
        self.all.push(Grant { path: real, access: access_kind, source, is_dir: true, identity: (0, 0) });
        Ok(())
    }

    /// What a path leads to, and every link on the way. Most paths have no link in them, which one call finds out.
    fn look_up(path: &Path, rules: LinkRules<'_>) -> io::Result<(FoundPath, Vec<PathBuf>)> {
        // Its parts put together again: no doubled slashes, no dots.
        match FoundPath::without_links(path.components().collect()) {
            Ok(found) => return Ok((found, Vec::new())),
            // A link on the way would have been found first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        let walked = rules.walk(path)?;
        // Without following anything any more: what was walked is what is granted.
        Ok((FoundPath::walked(walked.real)?, walked.links))
    }

    /// Remembers how a grant was reached, so that both its names work inside and both are shown.
    fn remember_way(&mut self, path: &Path, real: &Path, followed: Vec<PathBuf>) {
        if path != real {
            self.led.push((path.to_owned(), real.to_owned()));
        }
        if !followed.is_empty() {
            self.add_links(path);
            self.followed.extend(followed);
        }
    }

    /// Remembers every link on the way to a grant, so that both its names work inside.
    fn add_links(&mut self, path: &Path) {
        self.links.extend(links_on(path));
    }

    /// Makes the write grants that are not there. Their paths have no link in them, and still must not when they are made.
    fn make_folders(&mut self) -> Result<(), Error> {
        for grant in self.all.iter_mut().filter(|grant| self.created.contains(&grant.path)) {
            let path = grant.path.clone();
            let made = make_folder(&path, FOR_ALL)
                .and_then(|()| FoundPath::without_links(path.clone()))
                .and_then(|found| Grant::of(found, grant.access, grant.source));
            *grant =
                made.map_err(|source| Error::Path { what: "cannot create the write grant", path, source })?;
        }
        Ok(())
    }

    /// A run could leave a link behind in what it may write, and the next run's grant would lead where that link leads.
    fn refuse_links_in_write_grants(&self) -> Result<(), Error> {
        let writable = |link: &Path| {
            self.all.iter().any(|grant| grant.access == PathAccess::Write && link.starts_with(&grant.path))
        };
        match self.followed.iter().find(|link| writable(link)) {
            Some(link) => Err(Error::Path {
                what: "cannot grant through",
                path: link.clone(),
                source: io::Error::other(
                    "it is a link in a folder that the run may write; grant what it leads to",
                ),
            }),
            None => Ok(()),
        }
    }

    /// Parents first. The same path twice becomes one grant, the wider one; a grant that adds nothing to the one above goes.
    fn sort(&mut self) {
        self.all.sort_by(|a, b| {
            a.path
                .as_os_str()
                .cmp(b.path.as_os_str())
                .then(b.access.cmp(&a.access))
                .then(b.source.cmp(&a.source))
        });
        self.all.dedup_by(|later, first| later.path == first.path);
        let all = std::mem::take(&mut self.all);
        for grant in all {
            let redundant =
                self.deciding_grant(&grant.path).is_some_and(|above| above.access == grant.access);
            if !redundant {
                self.all.push(grant);
            }
        }
        self.links.sort();
        self.links.dedup();
    }

    fn mask_forbidden(&mut self, plan: &Plan) -> Result<(), Error> {
        for forbidden in &plan.forbidden {
            let failed = |source| Error::Path { what: "cannot forbid", path: forbidden.clone(), source };
            let way = ForbiddenWay::find(forbidden).map_err(failed)?;
            LinkRules { untrusted: &plan.untrusted }.check_forbidden(&way.walked).map_err(failed)?;
            self.refuse_links_to_forbidden(&way.walked)?;
            let real = &way.walked.real;
            if !way.is_there {
                self.check_absent(forbidden, real)?;
            } else if let Some(grant) = self.all.iter().find(|grant| grant.path.starts_with(real)) {
                let grant = grant.path.clone();
                return Err(PlanProblem::GrantedAndForbidden { grant, forbidden: forbidden.clone() }.into());
            } else if self.deciding_grant(real).is_some() && !self.masks.iter().any(|(path, _)| path == real)
            {
                self.masks.push((real.clone(), way.is_dir));
            }
            let absent = (!way.is_there).then_some(real);
            let mut names: Vec<PathBuf> = way.walked.links.iter().chain(absent).cloned().collect();
            names.retain(|name| self.deciding_grant(name).is_some());
            if !names.is_empty() {
                self.left_out.extend(names);
                self.ways.push((forbidden.clone(), way));
            }
        }
        self.left_out.sort();
        self.left_out.dedup();
        // Parents first, and nothing below one that is hidden already.
        self.masks.sort();
        let all = std::mem::take(&mut self.masks);
        for (path, is_dir) in all {
            if !self.masks.iter().any(|(above, _)| path.starts_with(above)) {
                self.masks.push((path, is_dir));
            }
        }
        Ok(())
    }

    /// What a link leads to is hidden, but the link itself is not: a run that may write where it is could put something else in
    /// its place, and the next run would have that hidden instead.
    fn refuse_links_to_forbidden(&self, walked: &WalkedPath) -> Result<(), Error> {
        let writable =
            |link: &Path| self.deciding_grant(link).is_some_and(|grant| grant.access == PathAccess::Write);
        match walked.links.iter().find(|link| writable(link)) {
            Some(link) => Err(Error::Path {
                what: "cannot forbid through",
                path: link.clone(),
                source: io::Error::other(
                    "it is a link in a folder that the run may write; forbid what it leads to",
                ),
            }),
            None => Ok(()),
        }
    }

    /// Whether names that are left out are still nobody's, or those links that they were. To be asked once they are watched.
    pub(crate) fn check_left_out(&self) -> Result<(), Error> {
        let is_other =
            |(path, way): &&(PathBuf, ForbiddenWay)| !ForbiddenWay::find(path).is_ok_and(|now| now == *way);
        match self.ways.iter().find(is_other) {
            None => Ok(()),
            Some((path, _)) => Err(Error::Path {
                what: "cannot forbid",
                path: path.clone(),
                source: io::Error::other("it has changed while the run was prepared; try again"),
            }),
        }
    }

    /// A socket that may be connected to, and no other that takes its place: whoever may write where it is could put one there that
    /// leads to another server, for this run or for the next.
    fn add_socket(&mut self, path: &Path, plan: &Plan) -> Result<(), Error> {
        let failed = |source| Error::Path { what: "cannot grant the socket", path: path.to_owned(), source };
        // One look-up: all that is judged here is about the socket that it has found and holds open.
        let (found, links) = Self::look_up(path, LinkRules { untrusted: &plan.untrusted }).map_err(failed)?;
        check_judged(path, &found.path, plan).map_err(failed)?;
        check_grant(&found.path, &plan.forbidden)?;
        let is_of_system = |link: &Path| {
            link.parent().is_some_and(|folder| [Path::new("/"), Path::new("/var")].contains(&folder))
        };
        // So what a policy allows by its name is also where that leads.
        if let Some(link) = links.iter().find(|link| !is_of_system(link)) {
            let why = format!("{} is a link; name the socket that it leads to", link.display());
            return Err(failed(io::Error::other(why)));
        }
        if !FileType::from_raw_mode(found.stat.st_mode).is_socket() {
            return Err(failed(io::Error::other("it is not a Unix socket")));
        }
        let is_writable =
            |path: &Path| self.deciding_grant(path).is_some_and(|grant| grant.access == PathAccess::Write);
        if links.iter().any(|link| is_writable(link)) || is_writable(&found.path) {
            return Err(failed(io::Error::other(
                "it is in a folder that the run may write, where another could take its place; keep it elsewhere",
            )));
        }
        if found.path != path {
            self.add_links(path);
        }
        let identity = (found.stat.st_dev, found.stat.st_ino);
        self.sockets.push(GrantedSocket { path: found.path, identity, _held: found.place });
        Ok(())
    }

    /// A forbidden path that is not there cannot be hidden; where the run could make it, the plan cannot be kept.
    fn check_absent(&self, forbidden: &Path, real: &Path) -> Result<(), Error> {
        match self.deciding_grant(real) {
            Some(grant) if grant.access == PathAccess::Write => {
                Err(PlanProblem::ForbiddenCouldBeMade(forbidden.to_owned()).into())
            }
            _ => Ok(()),
        }
    }

    /// What is read-only or hidden below a write grant cannot be renamed itself, since it is a mount; a folder between the
    /// two could be, and a new one put in its place that the next run would read. So those folders become mounts too.
    fn pin_folders(&mut self) {
        let read_only =
            self.all.iter().filter(|grant| grant.access == PathAccess::Read).map(|grant| &grant.path);
        let protected: Vec<PathBuf> =
            read_only.chain(self.masks.iter().map(|(path, _)| path)).cloned().collect();
        for path in protected {
            for above in path.ancestors().skip(1) {
                let Some(grant) = self.deciding_grant(above) else { break };
                if grant.path == above || grant.access == PathAccess::Read {
                    break;
                }
                self.pins.push(above.to_owned());
            }
        }
        self.pins.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        self.pins.dedup();
    }
}

/// Refuses a grant that leads elsewhere than when it was judged.
fn check_judged(path: &Path, real: &Path, plan: &Plan) -> io::Result<()> {
    let mut judged = plan.leads_to.iter().filter(|(grant, _)| grant == path);
    match judged.find(|(_, judged)| judged != real) {
        Some((_, judged)) => Err(io::Error::other(format!(
            "it leads to {} now; it was judged when it led to {}",
            real.display(),
            judged.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses a grant that leads out of the ceiling.
fn check_ceiling(
    path: &Path,
    real: &Path,
    access: PathAccess,
    source: GrantSource,
    plan: &Plan,
    ceiling: &GrantCeiling,
) -> Result<(), Error> {
    let outside = |writes| {
        let (path, real) = (path.to_owned(), real.to_owned());
        Err(PlanProblem::OutsideCeiling { path, real, writes }.into())
    };
    let is_own = plan.as_named.iter().any(|named| named == path);
    match source {
        GrantSource::Program(reason) if !ceiling.may_read(real) => {
            Err(PlanProblem::NeedOutsideCeiling { path: real.to_owned(), reason }.into())
        }
        GrantSource::Plan if !is_own && !ceiling.may_read(real) => outside(false),
        GrantSource::Plan if access == PathAccess::Write && !ceiling.may_write(real) => outside(true),
        GrantSource::System | GrantSource::Program(_) | GrantSource::Plan => Ok(()),
    }
}

impl Grant {
    fn of(found: FoundPath, access: PathAccess, source: GrantSource) -> io::Result<Self> {
        let kind = FileType::from_raw_mode(found.stat.st_mode);
        if !kind.is_dir() && !kind.is_file() {
            return Err(io::Error::other("it is neither a file nor a folder"));
        }
        let identity = (found.stat.st_dev, found.stat.st_ino);
        Ok(Self { path: found.path, access, source, is_dir: kind.is_dir(), identity })
    }
}

/// A path without links, and what is there, held open.
struct FoundPath {
    path: PathBuf,
    stat: Stat,
    place: OwnedFd,
}

impl FoundPath {
    /// What is at a path that has no link in it; an error where it has one.
    fn without_links(path: PathBuf) -> io::Result<Self> {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let place = rustix::fs::openat2(CWD, &path, flags, Mode::empty(), resolve)?;
        Ok(Self { stat: rustix::fs::fstat(&place)?, path, place })
    }

    /// For what every sandbox has: the links on the way are the system's.
    fn look_up(path: &Path) -> io::Result<Self> {
        match Self::without_links(path.components().collect()) {
            Ok(found) => Ok(found),
            // A link on the way would have been found first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
            Err(_) => Self::walked(path.canonicalize()?),
        }
    }

    /// What has no links on the way any more. Where the call that makes sure of it is missing, the child names the layer that needs it, and
    /// nothing is mounted.
    fn walked(real: PathBuf) -> io::Result<Self> {
        match Self::without_links(real.clone()) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
                let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                let place = rustix::fs::openat(CWD, &real, flags, Mode::empty())?;
                Ok(Self { stat: rustix::fs::fstat(&place)?, path: real, place })
            }
            found => found,
        }
    }
}

/// Whether a path is another one or lies in it. Both are free of links, dots and doubled slashes, so their bytes can be compared,
/// which takes a tenth of the time of comparing their parts.
pub(crate) fn is_within(path: &Path, above: &Path) -> bool {
    let (path, above) = (path.as_os_str().as_encoded_bytes(), above.as_os_str().as_encoded_bytes());
    match path.strip_prefix(above) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/") || above == b"/",
        None => false,
    }
}

/// Every link on the way along a path, and where it leads.
fn links_on(path: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut links = Vec::new();
    let mut real = PathBuf::from("/");
    for part in path.components().skip(1) {
        real.push(part);
        let Ok(target) = fs::read_link(&real) else { continue };
        let Ok(canonical) = real.canonicalize() else { return links };
        // A relative link stays one where that leads to the same place: /bin is usr/bin, as on the host.
        let direct = real.parent().map(|parent| parent.join(&target));
        let text = if direct.as_deref() == Some(canonical.as_path()) { target } else { canonical.clone() };
        links.push((std::mem::replace(&mut real, canonical), text));
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_needs_is_refused_where_a_link_has_taken_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("real/lib")).unwrap();
        let plan = Plan::builder().build().unwrap();
        let needs = [ProgramNeed { path: top.join("found/lib"), reason: "a library" }];
        fs::rename(top.join("real"), top.join("found")).unwrap();
        assert!(Grants::resolve(&plan, &needs, FolderCreation::Look).is_ok(), "the control");
        fs::rename(top.join("found"), top.join("moved")).unwrap();
        std::os::unix::fs::symlink(top.join("moved"), top.join("found")).unwrap();
        let error = Grants::resolve(&plan, &needs, FolderCreation::Look).unwrap_err();
        assert!(error.to_string().contains("a link has taken its place"), "{error}");
    }

    #[test]
    fn within_means_the_path_itself_or_below_it() {
        for (path, above, expected) in [
            ("/a/b", "/a", true),
            ("/a", "/a", true),
            ("/ab", "/a", false),
            ("/a", "/a/b", false),
            ("/a", "/", true),
            ("/a-b/c", "/a", false),
        ] {
            assert_eq!(is_within(Path::new(path), Path::new(above)), expected, "{path} in {above}");
            assert_eq!(Path::new(path).starts_with(above), expected, "the slow way says the same");
        }
    }
}
