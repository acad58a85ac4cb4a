//! A user's own ceiling over every skill: it narrows what a manifest declares and can widen nothing.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::path::Path;

use skillsandbox_text::is_secret_name;

use crate::commands::{Commands, Program};
use crate::diagnostic::{Invalid, Sink, Spanned};
use crate::env_vars::EnvPattern;
use crate::filesystem::{GrantPath, Places};
use crate::manifest::{Manifest, Permissions, SyscallProfile, parse_with};
use crate::network::{Destination, EgressRule, Resolver};
use crate::resources::Limits;
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
/// - `forbidden` and `deny` are added; the stricter syscall profile and the smaller limit hold.
/// - `resolver`, where it is given, replaces the skill's; where only `egress` is given, it is the system's.
/// - Inside a rule of `egress` the usual defaults hold: ports left out are 443, a protocol left out is TCP.
///
/// ```
/// use skillsandbox_manifest::{Manifest, Places, Policy};
///
/// let manifest = Manifest::parse(r#"
/// skill: { name: weather, version: "1" }
/// permissions:
///   network: { egress: [{ domain: api.weather.test, ports: [80, 443] }, { domain: stats.test }] }
/// entrypoint: { command: python3 }
/// "#)?;
/// let policy = Policy::parse("permissions: { network: { egress: [{ domain: '*.weather.test' }] } }")?;
/// let narrowed = policy.narrow(&manifest, &Places::new("/skills/weather", "/home/ada"));
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
    env_allow: Option<Vec<Spanned<EnvPattern>>>,
    env_deny: Vec<Spanned<EnvPattern>>,
    profile: Option<SyscallProfile>,
    commands: Option<Commands>,
    limits: Limits,
    scan: ScanPolicy,
}

/// What a policy left of a manifest.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Narrowed {
    /// The manifest with what both allow. Its grants are absolute paths. It is for running, not for writing out: its
    /// entrypoint may be one that may no longer be executed, which `changes` then says.
    pub manifest: Manifest,
    /// What was taken away.
    pub changes: Vec<Change>,
}

/// One thing that a policy took away or made smaller.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Where in the manifest: `permissions.network.egress`.
    pub path: &'static str,
    /// What was declared.
    pub declared: String,
    /// What is left of it; empty for nothing.
    pub left: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = if self.left.is_empty() { "nothing" } else { &self.left };
        write!(f, "{}: {} becomes {left}", self.path, self.declared)
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

    /// Reads a policy file.
    pub fn load(file: impl AsRef<Path>) -> Result<Self, LoadError> {
        let file = file.as_ref();
        Self::parse(&load::read_file(file)?).map_err(|invalid| LoadError::invalid(file, invalid))
    }

    fn lower(raw: &raw::Policy, sink: &mut Sink, text: &str) -> Self {
        let checked = Permissions::lower(raw.permissions.as_ref(), sink);
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
            env_allow: env.and_then(|w| w.allow.as_ref()).map(|_| checked.env_vars.allow),
            env_deny: checked.env_vars.deny,
            profile: profile.map(|_| checked.syscalls.profile),
            commands: checked.commands,
            limits: raw.resources.as_ref().map(|r| Limits::lower(r, sink)).unwrap_or_default(),
            scan: raw.scan.as_ref().map(|raw| ScanPolicy::lower(raw, sink, text)).unwrap_or_default(),
        }
    }

    /// The manifest with what both it and this policy allow. The paths of the result are absolute, because `~` and
    /// the skill's folder must be compared with the policy's paths; symbolic links are not followed here, so a
    /// runtime that follows them asks again with where they led.
    #[must_use]
    pub fn narrow(&self, manifest: &Manifest, places: &Places) -> Narrowed {
        let mut narrowed = manifest.clone();
        let mut changes = Changes(Vec::new());
        self.narrow_network(&mut narrowed, &mut changes);
        self.narrow_files(&mut narrowed, places, &mut changes);
        self.narrow_env(&mut narrowed, &mut changes);
        self.narrow_rest(&mut narrowed, &mut changes);
        Narrowed { manifest: narrowed, changes: changes.0 }
    }

    fn narrow_network(&self, manifest: &mut Manifest, changes: &mut Changes) {
        let network = &mut manifest.permissions.network;
        if let Some(ceiling) = &self.egress {
            let declared = std::mem::take(&mut network.egress);
            for rule in declared {
                let left = unique(ceiling.iter().filter_map(|limit| rules_meet(&rule, limit)));
                changes.note("permissions.network.egress", &rule, listed(&left));
                network.egress.extend(left.into_iter().map(|left| Spanned::new(left, rule.span)));
            }
            network.egress = unique(std::mem::take(&mut network.egress));
        }
        // A resolver of the skill's choice could answer for the policy's names with any address.
        let resolver = self.resolver.or_else(|| self.egress.as_ref().map(|_| Resolver::System));
        if let Some(resolver) = resolver {
            changes.note("permissions.network.resolver", network.resolver, resolver);
            network.resolver = resolver;
        }
    }

    fn narrow_files(&self, manifest: &mut Manifest, places: &Places, changes: &mut Changes) {
        let files = &mut manifest.permissions.filesystem;
        let here = |grant: &Spanned<GrantPath>| Spanned::new(grant.absolute(places), grant.span);
        let absolute = |list: &[Spanned<GrantPath>]| list.iter().map(here).collect::<Vec<_>>();
        // Named from the root, a grant may turn out to be one that nobody gets.
        let grantable = |list: &[Spanned<GrantPath>]| {
            list.iter().map(here).filter(|grant| grant.check_grantable().is_ok()).collect::<Vec<_>>()
        };
        let (declared_read, declared_write) = (absolute(&files.read), absolute(&files.write));
        let (read, write) = (grantable(&files.read), grantable(&files.write));
        let may_write = self.write.as_deref().map(absolute);
        let may_read = self.read.as_deref().map(|list| {
            let mut all = absolute(list);
            all.extend(may_write.iter().flatten().cloned());
            all
        });

        files.write = paths_meet(&paths_meet(&write, may_write.as_deref()), may_read.as_deref());
        changes.note("permissions.filesystem.write", listed(&declared_write), listed(&files.write));
        files.read = paths_meet(&read, may_read.as_deref());
        changes.note("permissions.filesystem.read", listed(&declared_read), listed(&files.read));
        // What may no longer be written may still be read.
        let granted = PathSet::of(files.write.iter().chain(&files.read));
        let demoted = paths_meet(&write, may_read.as_deref());
        files.read.extend(demoted.into_iter().filter(|path| !granted.covers(path)));

        let mut forbidden = absolute(&files.forbidden);
        let known = PathSet::of(&forbidden);
        let grants = PathSet::of(files.write.iter().chain(&files.read));
        for path in self.forbidden.iter().map(here).filter(|path| !known.contains(path)) {
            let set = PathSet::of([&path]);
            if grants.covers(&path) || files.read.iter().chain(&files.write).any(|grant| set.covers(grant)) {
                changes.note("permissions.filesystem", &path, "");
            }
            forbidden.push(Spanned::from(path.value));
        }
        files.forbidden = unique(forbidden);
    }

    fn narrow_env(&self, manifest: &mut Manifest, changes: &mut Changes) {
        let env = &mut manifest.permissions.env_vars;
        if let Some(ceiling) = &self.env_allow {
            let declared = std::mem::take(&mut env.allow);
            for pattern in declared {
                let left = unique(ceiling.iter().flat_map(|limit| variables_meet(&pattern, limit)));
                changes.note("permissions.env_vars.allow", &pattern, listed(&left));
                env.allow.extend(left.into_iter().map(|left| Spanned::new(left, pattern.span)));
            }
            env.allow = unique(std::mem::take(&mut env.allow));
        }
        for pattern in &self.env_deny {
            if !env.deny.contains(pattern) {
                if env.allow.iter().any(|allowed| !allowed.both(pattern).is_empty()) {
                    changes.note("permissions.env_vars", pattern, "");
                }
                env.deny.push(Spanned::from(pattern.value.clone()));
            }
        }
    }

    fn narrow_rest(&self, manifest: &mut Manifest, changes: &mut Changes) {
        let syscalls = &mut manifest.permissions.syscalls;
        if let Some(profile) = self.profile {
            let left = syscalls.profile.stricter(profile);
            changes.note("permissions.syscalls.profile", syscalls.profile, left);
            syscalls.profile = left;
        }
        if let Some(ceiling) = &self.commands {
            let declared = manifest.permissions.commands.take();
            let left = declared
                .as_ref()
                .map_or_else(|| ceiling.clone(), |declared| commands_meet(declared, ceiling));
            let before = declared
                .as_ref()
                .map_or_else(|| "any program".to_owned(), |declared| listed(&declared.allow));
            changes.note("permissions.commands.allow", before, listed(&left.allow));
            for program in
                declared.iter().flat_map(|declared| &declared.allow).filter(|program| left.allows(program))
            {
                let words = |of: Option<&Commands>| args_of(of, program);
                changes.note("permissions.commands", words(declared.as_ref()), words(Some(&left)));
            }
            if !left.allows(&manifest.entrypoint.command) {
                changes.note("entrypoint.command", &manifest.entrypoint.command, "");
            }
            manifest.permissions.commands = Some(left);
        }
        let resources = &mut manifest.resources;
        macro_rules! least {
            ($field:ident, $path:literal, $show:expr) => {
                if let Some(limit) = self.limits.$field.filter(|limit| *limit < resources.$field) {
                    let show = $show;
                    changes.note($path, show(resources.$field), show(limit));
                    resources.$field = limit;
                }
            };
        }
        least!(memory, "resources.memory_mb", |size| size);
        least!(cpu_percent, "resources.max_cpu_percent", |number| number);
        least!(processes, "resources.max_processes", |number| number);
        least!(open_files, "resources.max_open_files", |number| number);
        least!(disk, "resources.disk_mb", |size| size);
        least!(runtime, "resources.max_runtime_seconds", |time: std::time::Duration| time.as_secs());
        least!(output, "resources.max_output_bytes", |size| size);
    }
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
        // A name may resolve to anything; a range of addresses is no grant of names, nor the other way round.
        _ => return None,
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

/// Places that are asked whether one of them lies above another place.
struct PathSet(HashSet<GrantPath>);

impl PathSet {
    fn of<'p>(paths: impl IntoIterator<Item = &'p Spanned<GrantPath>>) -> Self {
        Self(paths.into_iter().map(|path| path.value.clone()).collect())
    }

    fn contains(&self, path: &GrantPath) -> bool {
        self.0.contains(path)
    }

    fn covers(&self, path: &GrantPath) -> bool {
        path.ancestors().any(|above| self.0.contains(&above))
    }

    fn covers_from_above(&self, path: &GrantPath) -> bool {
        path.ancestors().skip(1).any(|above| self.0.contains(&above))
    }
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

fn commands_meet(declared: &Commands, ceiling: &Commands) -> Commands {
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
    Commands { allow, allowed_args, forbidden_args }
}

struct Changes(Vec<Change>);

impl Changes {
    /// Notes what is left of a declaration, unless that is all of it.
    fn note(&mut self, path: &'static str, declared: impl fmt::Display, left: impl fmt::Display) {
        let (declared, left) = (declared.to_string(), left.to_string());
        if declared != left {
            self.0.push(Change { path, declared, left });
        }
    }
}

/// What a program may be given, for people.
fn args_of(commands: Option<&Commands>, program: &Program) -> String {
    let allowed = commands.and_then(|commands| commands.allowed_args.get(program));
    let forbidden = commands.and_then(|commands| commands.forbidden_args.get(program));
    let allowed =
        allowed.map_or_else(|| "any arguments".to_owned(), |words| format!("only {}", listed(words)));
    let forbidden = forbidden.map_or_else(String::new, |words| format!(", never {}", listed(words)));
    format!("{program} with {allowed}{forbidden}")
}

fn listed<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
