//! What one version of a skill may do that another may not.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde::Serialize;

use skillsandbox_text::is_secret_name;

use super::document::{DocumentPermissions, show_setting};
use super::limits::default_of;
use super::quoting::{RecordedCommand, quote_words};
use super::{ANY_PROGRAM, ANY_TOOL, ParameterRule, PermissionSet, ResourceLimit, paths};
use crate::domain::DomainPattern;
use crate::env_vars::EnvPattern;
use crate::filesystem::{GrantPath, PathSet};
use crate::network::{Cidr, Resolver};
use skillsandbox_terms::SyscallProfile;
use skillsandbox_terms::{Protocol, Runtime};

/// What changed between two sets of permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PermissionDiff {
    /// What the new set allows and the old one did not.
    pub wider: Vec<PermissionChange>,
    /// What it gave up.
    pub narrower: Vec<PermissionChange>,
}

impl PermissionDiff {
    /// Whether there is anything that a user should be asked about.
    #[must_use]
    pub fn widens(&self) -> bool {
        !self.wider.is_empty()
    }
}

/// One change: where, what was there, what is there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PermissionChange {
    /// Where in the manifest: `resources.memory_mb`.
    pub section: &'static str,
    /// The change for people: `raised from 64 MiB to 128 MiB`.
    pub what: String,
    /// What was there; empty for nothing.
    pub before: String,
    /// What is there now; empty for nothing.
    pub after: String,
}

impl fmt::Display for PermissionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.section, self.what)
    }
}

impl PermissionChange {
    pub(crate) fn added(section: &'static str, after: impl Into<String>) -> Self {
        let after = after.into();
        Self { section, what: format!("added {after}"), before: String::new(), after }
    }

    pub(crate) fn removed(section: &'static str, before: impl Into<String>) -> Self {
        let before = before.into();
        Self { section, what: format!("removed {before}"), before, after: String::new() }
    }

    /// `verb`: changed, raised, lowered, narrowed.
    fn changed(section: &'static str, verb: &str, before: String, after: String) -> Self {
        Self { section, what: format!("{verb} from {before} to {after}"), before, after }
    }
}

impl PermissionSet {
    /// What `new` allows that `self` does not, and what it gives up. What `self` does not record (`None`) counts as the default, or as
    /// nothing where there is no default.
    #[must_use]
    pub fn compare(&self, new: &Self) -> PermissionDiff {
        // No `..`: a new permission does not compile until it is compared.
        let Self {
            network,
            read,
            write,
            forbidden,
            unix_sockets,
            env_vars,
            env_vars_deny,
            commands,
            document,
            syscalls,
            resources: _, // by `compare_resources`
            resolver,
            runtime,
            entrypoint,
            parameters,
        } = self;
        let mut diff = PermissionDiff::default();
        diff.compare_entrypoint(entrypoint.as_deref(), new);
        diff.compare_runtime(runtime.as_deref(), new.runtime.as_deref());
        diff.compare_lists(paths::EGRESS, network, &new.network, &HostList::of);
        diff.compare_resolver(resolver.as_deref(), new.resolver.as_deref());
        diff.compare_reads((read, write), (&new.read, &new.write));
        diff.compare_lists(paths::WRITE, write, &new.write, &PathList::of);
        diff.compare_denials(paths::FORBIDDEN, forbidden, &new.forbidden, &PathList::of);
        diff.compare_lists(paths::UNIX_SOCKETS, unix_sockets, &new.unix_sockets, &PathList::of);
        diff.compare_lists(paths::ENV_ALLOW, env_vars, &new.env_vars, &AllowedNames::of);
        diff.compare_denials(paths::ENV_DENY, env_vars_deny, &new.env_vars_deny, &DeniedNames::of);
        let lists = (commands.as_deref(), new.commands.as_deref());
        diff.compare_optional(paths::COMMANDS, ANY_PROGRAM, lists, &CommandList::of);
        diff.compare_documents(document, &new.document);
        diff.compare_syscalls(syscalls.as_deref(), new.syscalls.as_deref());
        diff.compare_resources(self, new);
        diff.compare_parameters(parameters.as_deref(), new.parameters.as_deref());
        diff
    }
}

/// Entries of a list that are asked whether one of them allows what another entry allows.
trait EntryList {
    /// Whether an entry, which is not in the list itself, is covered by one that is.
    fn covers(&self, entry: &str) -> bool;
}

impl PermissionDiff {
    /// Entries that allow something.
    fn compare_lists<L: EntryList>(
        &mut self,
        path: &'static str,
        old: &[String],
        new: &[String],
        read: &impl Fn(&[String]) -> L,
    ) {
        let added = not_covered(old, new, read).map(|entry| PermissionChange::added(path, entry));
        self.wider.extend(added);
        let known: HashSet<&String> = old.iter().collect();
        let mut fresh: Vec<&String> = new.iter().filter(|entry| !known.contains(entry)).collect();
        for lost in not_covered(new, old, read) {
            // What is left of it.
            let whole = read(std::slice::from_ref(lost));
            let (left, others): (Vec<_>, Vec<_>) = fresh.into_iter().partition(|entry| whole.covers(entry));
            fresh = others;
            self.narrower.push(if left.is_empty() {
                PermissionChange::removed(path, lost)
            } else {
                PermissionChange::changed(path, "narrowed", lost.clone(), list(left))
            });
        }
    }

    /// What may be written may be read.
    fn compare_reads(&mut self, old: (&[String], &[String]), new: (&[String], &[String])) {
        let old_readable: Vec<String> = old.0.iter().chain(old.1).cloned().collect();
        let new_readable: Vec<String> = new.0.iter().chain(new.1).cloned().collect();
        let added = not_covered(&old_readable, new.0, &PathList::of);
        self.wider.extend(added.map(|entry| PermissionChange::added(paths::READ, entry)));
        let mut lost = Self::default();
        lost.compare_lists(paths::READ, old.0, &new_readable, &PathList::of);
        self.narrower.append(&mut lost.narrower);
    }

    /// Entries that forbid something: one that goes is wider.
    fn compare_denials<L: EntryList>(
        &mut self,
        path: &'static str,
        old: &[String],
        new: &[String],
        read: &impl Fn(&[String]) -> L,
    ) {
        let gone = not_covered(new, old, read).map(|entry| PermissionChange::removed(path, entry));
        self.wider.extend(gone);
        let added = not_covered(old, new, read).map(|entry| PermissionChange::added(path, entry));
        self.narrower.extend(added);
    }

    /// A list that limits nothing where it is not there.
    fn compare_optional<L: EntryList>(
        &mut self,
        path: &'static str,
        any: &str,
        lists: (Option<&[String]>, Option<&[String]>),
        read: &impl Fn(&[String]) -> L,
    ) {
        match lists {
            (None, None) => {}
            (Some(_), None) => self.wider.push(PermissionChange::added(path, any)),
            (None, Some(new)) => {
                let after = if new.is_empty() { "nothing".to_owned() } else { list(new) };
                self.narrower.push(PermissionChange::changed(path, "narrowed", any.to_owned(), after));
            }
            (Some(old), Some(new)) => self.compare_lists(path, old, new, read),
        }
    }

    /// What the document tells an agent.
    fn compare_documents(&mut self, old: &DocumentPermissions, new: &DocumentPermissions) {
        let DocumentPermissions { tools, disallowed_tools, settings } = old;
        let lists = (tools.as_deref(), new.tools.as_deref());
        self.compare_optional(paths::TOOLS, ANY_TOOL, lists, &ToolList::of);
        let path = paths::DISALLOWED_TOOLS;
        self.compare_denials(path, disallowed_tools, &new.disallowed_tools, &ToolList::of);
        self.compare_settings(settings, &new.settings);
    }

    /// A setting can give or deny, and a hook can do either: one that is new, different or gone is asked about.
    fn compare_settings(&mut self, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) {
        for setting in new {
            match old.get_key_value(setting.0) {
                None => self.wider.push(PermissionChange::added(paths::SETTINGS, show_setting(setting))),
                Some(before) if before.1 == setting.1 => {}
                Some(before) => {
                    let (before, after) = (show_setting(before), show_setting(setting));
                    self.wider.push(PermissionChange::changed(paths::SETTINGS, "changed", before, after));
                }
            }
        }
        let gone = old.iter().filter(|(key, _)| !new.contains_key(*key));
        self.wider.extend(gone.map(|gone| PermissionChange::removed(paths::SETTINGS, show_setting(gone))));
    }

    /// Another program, or other arguments, is another skill: nothing says which of two is less.
    fn compare_entrypoint(&mut self, old: Option<&[String]>, new: &PermissionSet) {
        match (old, new.entrypoint.as_deref()) {
            (Some(old), Some(new)) if old != new => {
                let (old, new) = (quote_words(old), quote_words(new));
                self.wider.push(PermissionChange::changed(paths::ENTRYPOINT, "changed", old, new));
            }
            (Some(_), Some(_)) | (None, None) => {}
            (None, Some(new)) => {
                let after = quote_words(new);
                let what = format!("set to {after}; none is recorded for the installed version");
                let (section, before) = (paths::ENTRYPOINT, String::new());
                self.wider.push(PermissionChange { section, what, before, after });
            }
            // A manifest without one lets its caller run any program with what it grants.
            (Some(old), None) if new.runtime.is_some() => {
                let (section, before, after) = (paths::ENTRYPOINT, quote_words(old), String::new());
                let what = format!("removed {before}; the caller may run any command");
                self.wider.push(PermissionChange { section, what, before, after });
            }
            (Some(old), None) => {
                self.narrower.push(PermissionChange::removed(paths::ENTRYPOINT, quote_words(old)));
            }
        }
    }

    /// No runtime is less than another.
    fn compare_runtime(&mut self, old: Option<&str>, new: Option<&str>) {
        let old = old.unwrap_or(Runtime::default().as_str());
        if let Some(new) = new.filter(|new| *new != old) {
            let (old, new) = (old.to_owned(), new.to_owned());
            self.wider.push(PermissionChange::changed(paths::RUNTIME, "changed", old, new));
        }
    }

    /// A resolver of the skill's choice can answer with any address; the system's is the user's own.
    fn compare_resolver(&mut self, old: Option<&str>, new: Option<&str>) {
        let system = Resolver::System.to_string();
        let old = old.unwrap_or(&system);
        let Some(new) = new.filter(|new| *new != old) else { return };
        let change = PermissionChange::changed(paths::RESOLVER, "changed", old.to_owned(), new.to_owned());
        if new == system { self.narrower.push(change) } else { self.wider.push(change) }
    }

    fn compare_syscalls(&mut self, old: Option<&str>, new: Option<&str>) {
        let profile = |text: Option<&str>| text.and_then(|text| text.parse::<SyscallProfile>().ok());
        // What had no manifest, or what cannot be read, was allowed no more than the strictest.
        let before = profile(old).unwrap_or(SyscallProfile::Strict);
        let Some(after) = profile(new).filter(|after| *after != before) else { return };
        let (is_wider, verb) =
            if after.stricter(before) == after { (false, "narrowed") } else { (true, "widened") };
        let change = match old {
            Some(_) => {
                PermissionChange::changed(paths::SYSCALLS, verb, before.to_string(), after.to_string())
            }
            None => PermissionChange::added(paths::SYSCALLS, after.to_string()),
        };
        if is_wider { self.wider.push(change) } else { self.narrower.push(change) }
    }

    fn compare_resources(&mut self, old: &PermissionSet, new: &PermissionSet) {
        for limit in ResourceLimit::ALL {
            let (path, fallback) = (limit.path(), default_of(limit));
            let before = old.resources.get(limit.key());
            let Some(after) = new.resources.get(limit.key()) else { continue };
            let order = limit.order(before.unwrap_or(&fallback), after);
            let (shown, after) = (limit.show(before.unwrap_or(&fallback)), limit.show(after));
            let shown = if before.is_some() { shown } else { format!("the default, {shown},") };
            match order {
                Ordering::Greater => {
                    self.wider.push(PermissionChange::changed(path, "raised", shown, after));
                }
                Ordering::Less => {
                    self.narrower.push(PermissionChange::changed(path, "lowered", shown, after));
                }
                Ordering::Equal => {}
            }
        }
    }

    fn compare_parameters(&mut self, old: Option<&[ParameterRule]>, new: Option<&[ParameterRule]>) {
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        for parameter in new {
            match old.iter().find(|old| old.name == parameter.name) {
                None => self.wider.push(PermissionChange::added(paths::PARAMETERS, parameter.to_string())),
                Some(old) if old == parameter => {}
                Some(old) => {
                    let (before, after) = (old.to_string(), parameter.to_string());
                    let change = PermissionChange::changed(paths::PARAMETERS, "changed", before, after);
                    if old.covers(parameter) { self.narrower.push(change) } else { self.wider.push(change) }
                }
            }
        }
        for gone in old.iter().filter(|old| new.iter().all(|new| new.name != old.name)) {
            self.narrower.push(PermissionChange::removed(paths::PARAMETERS, gone.to_string()));
        }
    }
}

/// Those of `new` that nothing in `old` covers.
fn not_covered<'n, L: EntryList>(
    old: &[String],
    new: &'n [String],
    read: &impl Fn(&[String]) -> L,
) -> impl Iterator<Item = &'n String> {
    let same: HashSet<&String> = old.iter().collect();
    let rest: Vec<&String> = new.iter().filter(|entry| !same.contains(entry)).collect();
    // Most versions change nothing here, and nothing needs to be understood.
    let all = (!rest.is_empty()).then(|| read(old));
    rest.into_iter().filter(move |entry| !all.as_ref().is_some_and(|all| all.covers(entry)))
}

fn list<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for entry in entries {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(entry.as_ref());
    }
    text
}

/// Hosts with a port and a protocol. What cannot be read covers nothing but itself.
struct HostList(Vec<RecordedHost>);

#[derive(PartialEq)]
enum RecordedDestination {
    Domain(DomainPattern),
    Cidr(Cidr),
}

struct RecordedHost {
    to: RecordedDestination,
    port: u16,
    protocol: Protocol,
}

impl RecordedHost {
    fn parse(text: &str) -> Option<Self> {
        let (host, rest) = text.split_once(' ')?;
        let (port, protocol) = rest.split_once('/')?;
        let cidr = || host.parse().ok().map(RecordedDestination::Cidr);
        let to = cidr().or_else(|| host.parse().ok().map(RecordedDestination::Domain))?;
        Some(Self { to, port: port.parse().ok()?, protocol: protocol.parse().ok()? })
    }

    fn covers(&self, other: &Self) -> bool {
        let host = match (&self.to, &other.to) {
            (RecordedDestination::Domain(mine), RecordedDestination::Domain(other)) => mine.covers(other),
            (RecordedDestination::Cidr(mine), RecordedDestination::Cidr(other)) => mine.covers(other),
            (RecordedDestination::Domain(_), RecordedDestination::Cidr(_))
            | (RecordedDestination::Cidr(_), RecordedDestination::Domain(_)) => false,
        };
        host && self.port == other.port && self.protocol.both(other.protocol) == Some(other.protocol)
    }
}

impl HostList {
    fn of(entries: &[String]) -> Self {
        Self(entries.iter().filter_map(|entry| RecordedHost::parse(entry)).collect())
    }
}

impl EntryList for HostList {
    fn covers(&self, entry: &str) -> bool {
        RecordedHost::parse(entry).is_some_and(|host| self.0.iter().any(|mine| mine.covers(&host)))
    }
}

/// Paths, and everything below them.
struct PathList(PathSet);

impl PathList {
    fn of(entries: &[String]) -> Self {
        Self(entries.iter().filter_map(|entry| entry.parse().ok()).collect())
    }
}

impl EntryList for PathList {
    fn covers(&self, entry: &str) -> bool {
        entry.parse::<GrantPath>().is_ok_and(|path| self.0.covers(&path))
    }
}

/// Variables that are passed on. A wildcard does not show secrets: to name one is more.
struct AllowedNames(DeniedNames);

impl AllowedNames {
    fn of(entries: &[String]) -> Self {
        Self(DeniedNames::of(entries))
    }
}

impl EntryList for AllowedNames {
    fn covers(&self, entry: &str) -> bool {
        !is_secret_name(entry) && self.0.covers(entry)
    }
}

/// Variables that are withheld.
struct DeniedNames(Vec<EnvPattern>);

impl DeniedNames {
    fn of(entries: &[String]) -> Self {
        Self(entries.iter().filter_map(|entry| entry.parse().ok()).collect())
    }
}

impl EntryList for DeniedNames {
    fn covers(&self, entry: &str) -> bool {
        let entry: Result<EnvPattern, _> = entry.parse();
        entry.is_ok_and(|entry| self.0.iter().any(|pattern| pattern.covers(&entry)))
    }
}

/// Programs with their rules about arguments.
struct CommandList(Vec<RecordedCommand>);

impl CommandList {
    fn of(entries: &[String]) -> Self {
        Self(entries.iter().filter_map(|entry| RecordedCommand::parse(entry)).collect())
    }
}

impl EntryList for CommandList {
    fn covers(&self, entry: &str) -> bool {
        RecordedCommand::parse(entry).is_some_and(|command| self.0.iter().any(|mine| mine.covers(&command)))
    }
}

/// The agent's tools: `Bash` is more than `Bash(git:*)`.
struct ToolList(HashSet<String>);

impl ToolList {
    fn of(entries: &[String]) -> Self {
        Self(entries.iter().cloned().collect())
    }
}

impl EntryList for ToolList {
    fn covers(&self, entry: &str) -> bool {
        entry.split_once('(').is_some_and(|(tool, _)| self.0.contains(tool))
    }
}
