//! A user's own ceiling over every skill: it narrows what a manifest declares and can widen nothing.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::path::{Path, PathBuf};

use skillsandbox_terms::SyscallProfile;
use skillsandbox_text::is_secret_name;

use crate::commands::{CommandPermissions, Entrypoint};
use crate::diagnostic::{DiagnosticSink, Invalid, Spanned};
use crate::env_vars::{EnvPattern, EnvPermissions};
use crate::filesystem::{FilePermissions, GrantBases, GrantPath, PathSet};
use crate::manifest::{DeclaredPermissions, Manifest, Syscalls, parse_with};
use crate::network::{Destination, EgressRule, NetworkPermissions, Resolver};
use crate::permissions::{PermissionChange, PermissionSet, paths};
use crate::resources::{DeclaredLimits, ResourceLimits};
use crate::scan_policy::ScanPolicy;
use crate::{LoadError, load, raw};

/// The most that any skill gets on this machine.
///
/// It is written like the `permissions` and `resources` of a manifest, but reads the other way round: what it
/// leaves out it does not narrow, and a list that is there, even an empty one, is all there may be.
///
/// - `egress`: a skill reaches what both files allow.
/// - `read` bounds everything a skill may read, and so its write grants too; `write` bounds what it may write. A
///   write grant that only `read` covers becomes a read grant.
/// - `unix_sockets` bounds the sockets a skill may connect to; where `read` or `write` is given and it is not, there are none.
/// - `forbidden` and `deny` are added; the stricter syscall profile and the smaller limit hold.
/// - `resolver`, where it is given, replaces the skill's; where only `egress` is given, it is the system's.
/// - Inside a rule of `egress` the usual defaults hold: ports left out are 443, a protocol left out is TCP.
///
/// ```
/// use skillsandbox_manifest::{GrantBases, Manifest, Policy};
///
/// let manifest = Manifest::parse(r#"
/// skill: { name: weather, version: "1" }
/// permissions:
///   network: { egress: [{ domain: api.weather.test, ports: [80, 443] }, { domain: stats.test }] }
/// entrypoint: { command: python3 }
/// "#)?;
/// let policy = Policy::parse("permissions: { network: { egress: [{ domain: '*.weather.test' }] } }")?;
/// let narrowed = policy.narrow(&manifest, &GrantBases::new("/skills/weather", "/home/ada"));
/// let egress = &narrowed.manifest.network().egress;
/// assert_eq!(egress.len(), 1);
/// assert_eq!(egress[0].ports, [443].into());
/// assert_eq!(narrowed.changes.len(), 2);
/// # Ok::<(), skillsandbox_manifest::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    egress: Option<Vec<Spanned<EgressRule>>>,
    resolver: Option<Resolver>,
    read: Option<Vec<Spanned<GrantPath>>>,
    write: Option<Vec<Spanned<GrantPath>>>,
    forbidden: Vec<Spanned<GrantPath>>,
    unix_sockets: Option<Vec<Spanned<GrantPath>>>,
    env_allow: Option<Vec<Spanned<EnvPattern>>>,
    env_deny: Vec<Spanned<EnvPattern>>,
    profile: Option<SyscallProfile>,
    commands: Option<CommandPermissions>,
    limits: DeclaredLimits,
    scan: ScanPolicy,
}

/// What a policy left of a manifest.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NarrowedManifest {
    /// The manifest with what both allow. Its grants are absolute paths. It is for running, not for writing out: its
    /// entrypoint may be one that may no longer be executed, which `changes` then says.
    pub manifest: Manifest,
    /// What was taken away.
    pub changes: Vec<PolicyChange>,
}

/// One thing that a policy took away, made smaller or replaced.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PolicyChange {
    /// Where in the manifest: `permissions.network.egress`.
    pub path: &'static str,
    /// What was declared; empty for nothing.
    pub declared: String,
    /// What is left of it; empty for nothing.
    pub left: String,
    /// The change for people: `lowered from 128 MiB to 64 MiB`.
    #[serde(skip)]
    pub what: String,
}

impl From<PermissionChange> for PolicyChange {
    fn from(change: PermissionChange) -> Self {
        let PermissionChange { section, what, before, after } = change;
        Self { path: section, declared: before, left: after, what }
    }
}

impl fmt::Display for PolicyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

impl Policy {
    /// Reads a policy from its text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        parse_with(text, |raw, sink| Some(Self::lower(raw, sink, text)))
    }

    /// What it says about scanning. It narrows no manifest.
    #[must_use]
    pub fn scan(&self) -> &ScanPolicy {
        &self.scan
    }

    /// Whether another policy says the same but for what it suppresses.
    pub(crate) fn differs_only_in_suppressions(&self, other: &Self) -> bool {
        let bare = |policy: &Self| {
            let mut policy = policy.clone();
            policy.scan.suppressions.clear();
            policy
        };
        bare(self) == bare(other)
    }

    /// Reads a policy file.
    pub fn load(file: impl AsRef<Path>) -> Result<Self, LoadError> {
        let file = file.as_ref();
        Self::parse(&load::read_file(file)?).map_err(|invalid| LoadError::invalid(file, invalid))
    }

    /// Who resolves names for every skill, where it says so.
    #[must_use]
    pub fn resolver(&self) -> Option<Resolver> {
        self.resolver
    }

    /// Everything that may be read at most, what may be written included, as paths of this machine; `None` where it sets no bound. Grants are
    /// compared with it as texts by [`narrow`](Self::narrow); who follows links has to compare where they lead once more.
    #[must_use]
    pub fn read_ceiling(&self, places: &GrantBases) -> Option<Vec<PathBuf>> {
        let paths = self.read.iter().flatten().chain(self.write.iter().flatten());
        self.read.as_ref().map(|_| here(paths, places))
    }

    /// Everything that may be written at most, likewise.
    #[must_use]
    pub fn write_ceiling(&self, places: &GrantBases) -> Option<Vec<PathBuf>> {
        self.write.as_ref().map(|paths| here(paths, places))
    }

    fn lower(raw: &raw::Policy, sink: &mut DiagnosticSink, text: &str) -> Self {
        let checked = DeclaredPermissions::lower(raw.permissions.as_ref(), sink);
        let written = raw.permissions.as_ref();
        let network = written.and_then(|w| w.network.as_ref());
        let files = written.and_then(|w| w.filesystem.as_ref());
        let env = written.and_then(|w| w.env_vars.as_ref());
        let profile = written.and_then(|w| w.syscalls.as_ref()?.profile.as_ref());
        Self {
            egress: network.and_then(|w| w.egress.as_ref()).map(|_| checked.network.egress),
            resolver: network.and_then(|w| w.resolver.as_ref()).map(|_| checked.network.resolver),
            read: files.and_then(|w| w.read.as_ref()).map(|_| checked.filesystem.read),
            write: files.and_then(|w| w.write.as_ref()).map(|_| checked.filesystem.write),
            forbidden: checked.filesystem.forbidden,
            unix_sockets: files
                .and_then(|w| w.unix_sockets.as_ref())
                .map(|_| checked.filesystem.unix_sockets),
            env_allow: env.and_then(|w| w.allow.as_ref()).map(|_| checked.env_vars.allow),
            env_deny: checked.env_vars.deny,
            profile: profile.map(|_| checked.syscalls.profile),
            commands: checked.commands,
            limits: raw.resources.as_ref().map(|r| DeclaredLimits::lower(r, sink)).unwrap_or_default(),
            scan: raw.scan.as_ref().map(|raw| ScanPolicy::lower(raw, sink, text)).unwrap_or_default(),
        }
    }

    /// The manifest with what both it and this policy allow. The paths of the result are absolute, because `~` and
    /// the skill's folder must be compared with the policy's paths; symbolic links are not followed here, so a
    /// runtime that follows them asks again with where they led.
    #[must_use]
    pub fn narrow(&self, manifest: &Manifest, places: &GrantBases) -> NarrowedManifest {
        let mut manifest = manifest.with_absolute_paths(places);
        let declared = PermissionSet::declared(Some(&manifest), None);
        // No `..`: a new permission does not compile until it is narrowed.
        let DeclaredPermissions { network, filesystem, env_vars, syscalls, commands } =
            &mut manifest.permissions;
        self.narrow_network(network);
        self.narrow_files(filesystem, places);
        self.narrow_env(env_vars);
        self.narrow_syscalls(syscalls);
        self.narrow_commands(commands);
        self.narrow_resources(&mut manifest.resources);
        let changes = changes_between(&declared, &manifest);
        NarrowedManifest { manifest, changes }
    }

    fn narrow_network(&self, network: &mut NetworkPermissions) {
        let NetworkPermissions { egress, resolver } = network;
        if let Some(ceiling) = &self.egress {
            let declared = std::mem::take(egress);
            for rule in declared {
                let left = unique(ceiling.iter().filter_map(|limit| rules_meet(&rule, limit)));
                egress.extend(left.into_iter().map(|left| Spanned::new(left, rule.span)));
            }
            *egress = unique(std::mem::take(egress));
        }
        // A resolver of the skill's choice could answer for the policy's names with any address.
        if let Some(ceiling) = self.resolver.or_else(|| self.egress.as_ref().map(|_| Resolver::System)) {
            *resolver = ceiling;
        }
    }

    /// The paths of `files` are absolute already.
    fn narrow_files(&self, files: &mut FilePermissions, places: &GrantBases) {
        let FilePermissions { read, write, forbidden, unix_sockets } = files;
        let here = |grant: &Spanned<GrantPath>| Spanned::new(grant.absolute(places), grant.span);
        let absolute = |list: &[Spanned<GrantPath>]| list.iter().map(here).collect::<Vec<_>>();
        // Named from the root, a grant may turn out to be one that nobody gets.
        read.retain(|grant| grant.check_grantable().is_ok());
        write.retain(|grant| grant.check_grantable().is_ok());
        let declared_write = write.clone();
        let may_write = self.write.as_deref().map(absolute);
        let may_read = self.read.as_deref().map(|list| {
            let mut all = absolute(list);
            all.extend(may_write.iter().flatten().cloned());
            all
        });
        *write = paths_meet(&paths_meet(write, may_write.as_deref()), may_read.as_deref());
        *read = paths_meet(read, may_read.as_deref());
        // What may no longer be written may still be read.
        let granted = PathSet::of(write.iter().chain(&*read));
        let demoted = paths_meet(&declared_write, may_read.as_deref());
        read.extend(demoted.into_iter().filter(|path| !granted.covers(path)));
        unix_sockets.retain(|socket| socket.check_grantable().is_ok());
        // A ceiling over files that says nothing of sockets leaves none: a server can do more than a file can.
        let is_bounded = self.read.is_some() || self.write.is_some();
        let may_connect = self.unix_sockets.as_deref().or(is_bounded.then_some(&[])).map(absolute);
        *unix_sockets = paths_meet(unix_sockets, may_connect.as_deref());
        forbidden.extend(self.forbidden.iter().map(|path| Spanned::from(path.absolute(places))));
        *forbidden = unique(std::mem::take(forbidden));
    }

    fn narrow_env(&self, env: &mut EnvPermissions) {
        let EnvPermissions { allow, deny } = env;
        if let Some(ceiling) = &self.env_allow {
            let declared = std::mem::take(allow);
            for pattern in declared {
                let left = unique(ceiling.iter().flat_map(|limit| variables_meet(&pattern, limit)));
                allow.extend(left.into_iter().map(|left| Spanned::new(left, pattern.span)));
            }
            *allow = unique(std::mem::take(allow));
        }
        for pattern in &self.env_deny {
            if !deny.contains(pattern) {
                deny.push(Spanned::from(pattern.value.clone()));
            }
        }
    }

    fn narrow_syscalls(&self, syscalls: &mut Syscalls) {
        let Syscalls { profile } = syscalls;
        if let Some(ceiling) = self.profile {
            *profile = profile.stricter(ceiling);
        }
    }

    fn narrow_commands(&self, commands: &mut Option<CommandPermissions>) {
        if let Some(ceiling) = &self.commands {
            let left = commands
                .as_ref()
                .map_or_else(|| ceiling.clone(), |declared| commands_meet(declared, ceiling));
            *commands = Some(left);
        }
    }

    fn narrow_resources(&self, resources: &mut ResourceLimits) {
        fn lower<T: Copy + Ord>(declared: &mut T, ceiling: Option<T>) {
            *declared = ceiling.map_or(*declared, |ceiling| ceiling.min(*declared));
        }
        let ResourceLimits { memory, cpu_percent, cpu_time, processes, open_files, disk, runtime, output } =
            resources;
        lower(memory, self.limits.memory);
        lower(cpu_percent, self.limits.cpu_percent);
        // None is no limit, and so more than any.
        *cpu_time = [*cpu_time, self.limits.cpu_time].into_iter().flatten().min();
        lower(processes, self.limits.processes);
        lower(open_files, self.limits.open_files);
        lower(disk, self.limits.disk);
        lower(runtime, self.limits.runtime);
        lower(output, self.limits.output);
    }
}

/// What a policy changed. A denial that meets nothing that is allowed is not worth a word.
fn changes_between(declared: &PermissionSet, narrowed: &Manifest) -> Vec<PolicyChange> {
    let files = narrowed.filesystem();
    let granted: Vec<_> = files.read.iter().chain(&files.write).collect();
    let above = PathSet::of(granted.iter().copied());
    let meets_a_path =
        |path: &GrantPath| above.covers(path) || granted.iter().any(|grant| path.covers(grant));
    let allowed = &narrowed.env_vars().allow;
    let meets_a_name = |name: &EnvPattern| allowed.iter().any(|allowed| !allowed.both(name).is_empty());
    let matters = |change: &PermissionChange| match change.section {
        paths::FORBIDDEN => change.after.parse().is_ok_and(|path| meets_a_path(&path)),
        paths::ENV_DENY => change.after.parse().is_ok_and(|name| meets_a_name(&name)),
        _ => true,
    };
    let diff = declared.compare(&PermissionSet::declared(Some(narrowed), None));
    // A resolver that the policy sets counts as wider: the skill did not choose it.
    let changes = diff.wider.into_iter().chain(diff.narrower).filter(matters);
    let mut changes: Vec<PolicyChange> = changes.map(PolicyChange::from).collect();
    if let Some(Entrypoint { command, .. }) = &narrowed.entrypoint
        && narrowed.commands().is_some_and(|commands| !commands.allows(command))
    {
        changes.push(PermissionChange::removed("entrypoint.command", command.to_string()).into());
    }
    changes
}

/// Paths on this machine. One in a workspace that there is not is none.
fn here<'p>(paths: impl IntoIterator<Item = &'p Spanned<GrantPath>>, places: &GrantBases) -> Vec<PathBuf> {
    paths.into_iter().map(|path| path.resolve(places)).filter(|path| path.is_absolute()).collect()
}

/// What both rules allow.
fn rules_meet(a: &EgressRule, b: &EgressRule) -> Option<EgressRule> {
    let to = match (&a.to, &b.to) {
        (Destination::Domain(x), Destination::Domain(y)) => {
            let narrower = if x.covers(y) { y } else { y.covers(x).then_some(x)? };
            Destination::Domain(narrower.clone())
        }
        (Destination::Cidr(x), Destination::Cidr(y)) => {
            Destination::Cidr(if x.covers(y) { *y } else { y.covers(x).then_some(*x)? })
        }
        // A name may resolve to anything; a range of addresses does not grant names, nor the other way round.
        (Destination::Domain(_), Destination::Cidr(_)) | (Destination::Cidr(_), Destination::Domain(_)) => {
            return None;
        }
    };
    let ports: std::collections::BTreeSet<_> = a.ports.intersection(&b.ports).copied().collect();
    (!ports.is_empty()).then_some(EgressRule { to, ports, protocol: a.protocol.both(b.protocol)? })
}

/// The places that lie in both lists; `None` stands for everywhere. Linear in the lists: each place is looked up by the
/// places above it.
fn paths_meet(
    paths: &[Spanned<GrantPath>],
    ceiling: Option<&[Spanned<GrantPath>]>,
) -> Vec<Spanned<GrantPath>> {
    let Some(ceiling) = ceiling else { return paths.to_vec() };
    let (declared, limits) = (PathSet::of(paths), PathSet::of(ceiling));
    let inside = paths.iter().filter(|path| limits.covers(path)).cloned();
    let below =
        ceiling.iter().filter(|limit| declared.covers(limit)).map(|limit| Spanned::from(limit.value.clone()));
    let met: Vec<_> = unique(inside.chain(below));
    let all = PathSet::of(&met);
    met.into_iter().filter(|path| !all.covers_from_above(path)).collect()
}

/// Each value once, in order.
fn unique<T: Clone + Eq + Hash>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}

/// What both patterns allow. Where only one of them names a secret outright, neither passes it on: the other is a
/// wildcard, which does not reach secrets, and must not come to reach one by being narrowed to its name.
fn variables_meet<'a>(mine: &'a EnvPattern, limit: &'a EnvPattern) -> impl Iterator<Item = EnvPattern> + 'a {
    let outright = !mine.is_glob() && !limit.is_glob();
    mine.both(limit)
        .into_iter()
        .filter(move |met| outright || met.is_glob() || !is_secret_name(&met.to_string()))
}

fn commands_meet(declared: &CommandPermissions, ceiling: &CommandPermissions) -> CommandPermissions {
    let allow: Vec<_> = declared.allow.iter().filter(|program| ceiling.allows(program)).cloned().collect();
    let mut allowed_args = BTreeMap::new();
    let mut forbidden_args = BTreeMap::new();
    for program in &allow {
        let key = &program.value;
        let allowed = match (declared.allowed_args.get(key), ceiling.allowed_args.get(key)) {
            (Some(mine), Some(theirs)) => {
                Some(mine.iter().filter(|word| theirs.contains(word)).cloned().collect())
            }
            (one, other) => one.or(other).cloned(),
        };
        allowed_args.extend(allowed.map(|words: Vec<_>| (key.clone(), words)));
        let both = [&declared.forbidden_args, &ceiling.forbidden_args].map(|args| args.get(key));
        let mut forbidden: Vec<_> = both.into_iter().flatten().flatten().cloned().collect();
        forbidden.sort_unstable();
        forbidden.dedup();
        if !forbidden.is_empty() {
            forbidden_args.insert(key.clone(), forbidden);
        }
    }
    CommandPermissions { allow, allowed_args, forbidden_args }
}
