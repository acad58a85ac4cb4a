//! What a rehearsed program was seen to do, bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skillsandbox_terms::FileOperation;
use skillsandbox_tracer::{
    AttackClass, Event, EventKind, EventSink, EventVerdict, NetConnection, credential_place,
};

/// Most different files that are told apart. A program that touches more is not described by a manifest that names files.
pub const MOST_FILES: usize = 20_000;
/// Most different destinations.
pub const MOST_HOSTS: usize = 256;
/// Folders of the host in the place of which every run has its own.
const SHADOWED: [&str; 2] = ["/tmp", "/var/tmp"];
/// The home that every run has for itself.
const PRIVATE_HOME: &str = "/home/skill";
/// Most programs that are named for one file.
const MOST_PROGRAMS: usize = 3;

/// All that was seen, of one rehearsal or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observations {
    /// Files and folders that are not in every sandbox, by where they lie.
    pub files: BTreeMap<PathBuf, FileUse>,
    /// What was to be reached.
    pub hosts: BTreeMap<SeenHost, HostUse>,
    /// Names that were looked up.
    pub names: BTreeMap<String, u64>,
    /// How many more there were than are kept.
    pub omitted: u64,
}

/// What was done with a file or folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "one file can be used in each of these ways")]
pub struct FileUse {
    /// It was opened to be read, listed or executed.
    pub is_read: bool,
    /// Its content or mode was changed.
    pub is_changed: bool,
    /// Its name was made or taken away, so that its folder was changed.
    pub is_renamed: bool,
    /// It was made as a folder.
    pub is_made_folder: bool,
    /// Some of it was not allowed yet.
    pub is_denied: bool,
    /// How often.
    pub count: u64,
    /// Who did it: the first few.
    pub programs: BTreeSet<String>,
    /// The name that the program used, where that is another.
    pub named: Option<PathBuf>,
}

impl FileUse {
    /// Whether anything of it, or of the folder it is in, was changed.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.is_changed || self.is_renamed || self.is_made_folder
    }

    fn add(&mut self, other: &Self) {
        self.is_read |= other.is_read;
        self.is_changed |= other.is_changed;
        self.is_renamed |= other.is_renamed;
        self.is_made_folder |= other.is_made_folder;
        self.is_denied |= other.is_denied;
        self.count = self.count.saturating_add(other.count);
        for program in &other.programs {
            if self.programs.len() < MOST_PROGRAMS {
                self.programs.insert(program.clone());
            }
        }
        if self.named.is_none() {
            self.named.clone_from(&other.named);
        }
    }
}

/// A destination: a name where one was meant, else an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeenHost {
    /// The name or the address.
    pub host: String,
    /// Whether it is a name.
    pub is_name: bool,
    /// The port.
    pub port: u16,
    /// UDP instead of TCP.
    pub is_udp: bool,
}

/// What was done with a destination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostUse {
    /// It was reached, or would have been but for the other side.
    pub is_allowed: bool,
    /// TLS named this very server.
    pub is_tls: bool,
    /// How often.
    pub count: u64,
    /// Who did it: the first few.
    pub programs: BTreeSet<String>,
}

impl Observations {
    /// Adds what another rehearsal saw.
    pub fn merge(&mut self, other: &Self) {
        for (path, seen) in &other.files {
            self.add_file(path, seen);
        }
        for (host, seen) in &other.hosts {
            self.add_host(host, seen);
        }
        for (name, count) in &other.names {
            self.add_name(name, *count);
        }
        self.omitted = self.omitted.saturating_add(other.omitted);
    }

    fn add_file(&mut self, path: &Path, seen: &FileUse) {
        let has_room = self.files.len() < MOST_FILES;
        match self.files.get_mut(path) {
            Some(known) => known.add(seen),
            None if has_room => drop(self.files.insert(path.to_owned(), seen.clone())),
            None => self.omitted = self.omitted.saturating_add(1),
        }
    }

    fn add_host(&mut self, host: &SeenHost, seen: &HostUse) {
        if !self.hosts.contains_key(host) && self.hosts.len() >= MOST_HOSTS {
            self.omitted = self.omitted.saturating_add(1);
            return;
        }
        let known = self.hosts.entry(host.clone()).or_default();
        known.is_allowed |= seen.is_allowed;
        known.is_tls |= seen.is_tls;
        known.count = known.count.saturating_add(seen.count);
        for program in &seen.programs {
            if known.programs.len() < MOST_PROGRAMS {
                known.programs.insert(program.clone());
            }
        }
    }

    fn add_name(&mut self, name: &str, count: u64) {
        if !self.names.contains_key(name) && self.names.len() >= MOST_HOSTS {
            self.omitted = self.omitted.saturating_add(1);
            return;
        }
        let known = self.names.entry(name.to_owned()).or_default();
        *known = known.saturating_add(count);
    }

    /// Adds an event of a run, or of a trace. `granted` are the places that the run was given besides those that every run has, and
    /// `named` those that its arguments name.
    pub fn observe(&mut self, event: &Event, granted: &[PathBuf], named: &[PathBuf]) {
        match &event.kind {
            EventKind::File { operation, path, to } => {
                let mut seen = FileUse::default();
                match operation {
                    FileOperation::Read => seen.is_read = true,
                    FileOperation::Write
                    | FileOperation::Truncate
                    | FileOperation::ChangeMode
                    | FileOperation::ChangeAttributes => seen.is_changed = true,
                    FileOperation::MakeFolder => seen.is_made_folder = true,
                    FileOperation::Remove
                    | FileOperation::Rename
                    | FileOperation::Link
                    | FileOperation::Symlink
                    | FileOperation::MakeNode => seen.is_renamed = true,
                    // A socket is granted by a person, by name.
                    FileOperation::Connect => return,
                }
                let resolved = event.resolved_path.as_deref();
                self.add_seen(path, resolved, seen.clone(), event, granted, named);
                if let (FileOperation::Rename | FileOperation::Link, Some(to)) = (operation, to) {
                    self.add_seen(to, None, seen, event, granted, named);
                }
            }
            EventKind::Exec { path, .. } => {
                let seen = FileUse { is_read: true, ..FileUse::default() };
                self.add_seen(path, event.resolved_path.as_deref(), seen, event, granted, named);
            }
            EventKind::DnsQuery { name: Some(name), .. } => self.add_name(name, event.count),
            EventKind::NetConnect(connection) => self.add_connection(connection, event),
            EventKind::Lost { .. } => self.omitted = self.omitted.saturating_add(event.count),
            EventKind::RunStarted { .. }
            | EventKind::Policy { .. }
            | EventKind::DnsQuery { name: None, .. }
            | EventKind::SyscallRefused { .. }
            | EventKind::Stdout(_)
            | EventKind::Stderr(_)
            | EventKind::ResourceLimitHit { .. }
            | EventKind::RunEnded { .. } => {}
        }
    }

    fn add_seen(
        &mut self,
        path: &str,
        resolved: Option<&str>,
        mut seen: FileUse,
        event: &Event,
        granted: &[PathBuf],
        named: &[PathBuf],
    ) {
        let mut place = Path::new(resolved.unwrap_or(path));
        let lies_in = |list: &[PathBuf]| {
            list.iter().any(|one| place.starts_with(one) || Path::new(path).starts_with(one))
        };
        // A private folder stands in the place of the host's. What the arguments name there is the host's.
        let is_shadowed = is_shadowed(Path::new(path)) && lies_in(named);
        seen.is_denied = match event.verdict {
            Some(EventVerdict::Denied) => true,
            Some(EventVerdict::Allowed) if lies_in(granted) => false,
            Some(EventVerdict::Allowed | EventVerdict::Failed) if is_shadowed => {
                place = Path::new(path);
                true
            }
            // Who looks for credentials that are not there has looked for them.
            Some(EventVerdict::Failed) if !place.starts_with(PRIVATE_HOME) && is_credential(path) => true,
            Some(EventVerdict::Allowed | EventVerdict::Failed | EventVerdict::Unknown) | None => return,
        };
        seen.count = event.count;
        seen.programs = program_of(event);
        seen.named = resolved.filter(|resolved| *resolved != path).map(|_| PathBuf::from(path));
        self.add_file(place, &seen);
    }

    fn add_connection(&mut self, connection: &NetConnection, event: &Event) {
        let (host, is_name) = match (&connection.name, &connection.address) {
            (Some(name), _) => (name.clone(), true),
            (None, Some(address)) => (address.clone(), false),
            (None, None) => return,
        };
        let is_udp = connection.transport == "udp";
        let seen = HostUse {
            is_allowed: matches!(event.verdict, Some(EventVerdict::Allowed | EventVerdict::Failed)),
            is_tls: is_name && connection.server_name.as_deref() == Some(host.as_str()),
            count: event.count,
            programs: program_of(event),
        };
        self.add_host(&SeenHost { host, is_name, port: connection.port, is_udp }, &seen);
    }
}

/// Whether credentials lie there, at which programs do not look as a matter of course.
fn is_credential(path: &str) -> bool {
    credential_place(path).is_some_and(|place| !place.is_shared)
}

/// Whether a path lies in a folder of the host that every run has for itself.
fn is_shadowed(path: &Path) -> bool {
    SHADOWED.iter().any(|folder| path.starts_with(folder) && path != Path::new(folder))
}

fn program_of(event: &Event) -> BTreeSet<String> {
    let binary = event.process.as_ref().and_then(|process| process.binary.as_deref());
    let name = binary.and_then(|binary| Path::new(binary).file_name());
    name.map(|name| name.to_string_lossy().into_owned()).into_iter().collect()
}

/// Collects what happens in a run.
#[derive(Debug, Clone)]
pub struct ObservationSink {
    seen: Arc<Mutex<Observations>>,
    granted: Vec<PathBuf>,
    named: Vec<PathBuf>,
}

impl ObservationSink {
    /// For a run that was given these places, and whose arguments name those.
    #[must_use]
    pub fn new(granted: Vec<PathBuf>, named: Vec<PathBuf>) -> Self {
        Self { seen: Arc::default(), granted, named }
    }

    /// What was collected.
    #[must_use]
    pub fn take(&self) -> Observations {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Observations> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for ObservationSink {
    fn event(&mut self, event: &Event, _: Option<AttackClass>) {
        let Self { seen, granted, named } = self;
        seen.lock().unwrap_or_else(PoisonError::into_inner).observe(event, granted, named);
    }
}
