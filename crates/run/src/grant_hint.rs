//! What would have let something happen, in the words of whoever runs it, and only where saying so helps.
//!
//! A hint is a promise: the manifest with it is valid, and the run with it is not refused the same thing again. So every hint is put into a
//! manifest and read by the manifest's own parser before anybody sees it. Nothing that an attack wants is ever hinted at, and nothing so wide
//! that it gives more than was asked for. The host is not asked anything: the skill chose the name, and whoever answers for it would be told.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use skillsandbox_manifest::{Manifest, user_folders};
use skillsandbox_text::{escape_line, quote_word};
use skillsandbox_tracer::{
    AttemptWeigher, Event, EventKind, FileOperation, NetConnection, PlaceAccess, may_hold_sensitive,
};

use crate::reach::real_path;
use crate::state;

/// In whose words hints are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HintStyle {
    /// Keys of `skillsandbox.yaml`, for a skill that has one.
    #[default]
    Keys,
    /// Flags of `run`, for a skill that has none.
    RunFlags,
    /// Flags of `exec`, for a command.
    ExecFlags,
}

/// What would have let something happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GrantHint {
    Read(PathBuf),
    Write(PathBuf),
    Socket(PathBuf),
    Program(PathBuf),
    Host { to: HintedHost, port: u16, is_udp: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HintedHost {
    Name(String),
    Address(IpAddr),
}

/// The words of the observer for what nothing grants, and for what may only be read.
pub(crate) const NOT_GRANTED: &str = "not granted";
pub(crate) const READ_ONLY: &str = "read-only";
const NOT_EXECUTABLE: &str = "not among the programs that may be executed";

/// Folders at the root that every system has: a whole one is more than anybody asked for.
const SYSTEM_FOLDERS: &[&str] = &[
    "Users", "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt",
    "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var",
];

/// Where nothing should be written that a skill wants, though nobody calls it an attack.
const NOT_TO_WRITE: &[&str] = &[
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "usr",
    "var",
];

/// Where sockets, processes and devices are: files are not read there as a matter of work.
const NOT_TO_READ: &[&str] = &["dev", "proc", "run", "sys"];

impl GrantHint {
    /// What would have let this happen, if a grant would.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let rule = event.rule.as_deref().unwrap_or_default();
        match &event.kind {
            EventKind::File { operation, path, to } => {
                // What lies behind a link is what has to be granted.
                let path = Path::new(event.resolved_path.as_ref().unwrap_or(path));
                of_file(*operation, path, to.as_deref().map(Path::new), rule)
            }
            EventKind::Exec { path, .. } => {
                let path = PathBuf::from(event.resolved_path.as_ref().unwrap_or(path));
                match rule {
                    NOT_GRANTED => Some(Self::Read(path)),
                    NOT_EXECUTABLE => Some(Self::Program(path)),
                    _ => None,
                }
            }
            EventKind::DnsQuery { name: Some(name), .. } if rule == "not_granted" => {
                Some(Self::Host { to: HintedHost::Name(host_name(name)?), port: 443, is_udp: false })
            }
            EventKind::NetConnect(to) if to.reason.as_deref() == Some("not_granted") => of_connection(to),
            EventKind::DnsQuery { .. }
            | EventKind::NetConnect(_)
            | EventKind::SyscallRefused { .. }
            | EventKind::ResourceLimitHit { .. }
            | EventKind::RunStarted { .. }
            | EventKind::Policy { .. }
            | EventKind::Stdout(_)
            | EventKind::Stderr(_)
            | EventKind::Lost { .. }
            | EventKind::RunEnded { .. } => None,
        }
    }

    /// The same for the whole folder, where several files of one were refused.
    pub(crate) fn of_folder(&self) -> Option<Self> {
        match self {
            Self::Read(path) => Some(Self::Read(path.parent()?.to_owned())),
            // It is a folder already.
            Self::Write(path) => Some(Self::Write(path.clone())),
            Self::Socket(_) | Self::Program(_) | Self::Host { .. } => None,
        }
    }

    /// The path that it would grant.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Read(path) | Self::Write(path) | Self::Socket(path) | Self::Program(path) => Some(path),
            Self::Host { .. } => None,
        }
    }

    /// A manifest that grants just this; `None` where `validate` would refuse it, or nobody should be told.
    pub(crate) fn manifest(&self, place: &HintPlace<'_>) -> Option<Manifest> {
        if self.is_sensitive(place.weigher) || self.is_too_wide(place) || self.is_our_own(place) {
            return None;
        }
        Manifest::parse(&self.example(&self.entry(place)?)).ok()
    }

    /// In words that can be typed as they are, where [`manifest`](Self::manifest) has one.
    pub(crate) fn text(&self, style: HintStyle, place: &HintPlace<'_>) -> Option<String> {
        self.manifest(place)?;
        match style {
            HintStyle::Keys => Some(format!("{}: - {}", self.key(), self.entry(place)?)),
            // `run` grants nobody to write in the skill's folder for one run.
            HintStyle::RunFlags if self.is_write_in(place.skill_folder) => None,
            HintStyle::RunFlags | HintStyle::ExecFlags => self.flag(),
        }
    }

    fn is_write_in(&self, folder: Option<&Path>) -> bool {
        matches!((self, folder), (Self::Write(path), Some(folder)) if path.starts_with(folder))
    }

    fn is_sensitive(&self, weigher: &AttemptWeigher) -> bool {
        match self {
            Self::Read(path) | Self::Write(path) | Self::Socket(path) | Self::Program(path) => {
                let is_write = matches!(self, Self::Write(_));
                let access = if is_write { PlaceAccess::Change } else { PlaceAccess::Read };
                // Nor what holds such a thing, or in which it could be made.
                let is_wanted =
                    |path| weigher.is_sensitive_path(path) || may_hold_sensitive(path, access).is_some();
                path.to_str().is_none_or(is_wanted)
            }
            Self::Host { to: HintedHost::Name(name), port, .. } => {
                weigher.is_sensitive_host(name, Some(*port))
            }
            Self::Host { to: HintedHost::Address(address), port, .. } => {
                weigher.is_sensitive_host(&address.to_string(), Some(*port))
            }
        }
    }

    /// Whether it lies in folders of ours or holds one: no run sees what is in them.
    fn is_our_own(&self, place: &HintPlace<'_>) -> bool {
        let Some(path) = self.path() else { return false };
        // An installed skill lies in one of them.
        let is_skills = place.skill_folder.is_some_and(|folder| path.starts_with(folder));
        let own = state::folders().into_iter().chain(user_folders::data());
        !is_skills
            && own
                .flat_map(|own| [real_path(&own), own])
                .any(|own| path.starts_with(&own) || own.starts_with(path))
    }

    fn is_too_wide(&self, place: &HintPlace<'_>) -> bool {
        let is_within = |path: &Path, tops: &[&str]| {
            let top = path.components().nth(1).map(|top| top.as_os_str().to_string_lossy().into_owned());
            top.is_some_and(|top| tops.contains(&top.as_str()))
        };
        match self {
            Self::Host { .. } => false,
            Self::Socket(path) | Self::Program(path) => path.components().count() <= 2,
            Self::Read(path) | Self::Write(path) => {
                let depth = path.components().count();
                let is_write = matches!(self, Self::Write(_));
                depth <= 1
                    || depth == 2 && is_within(path, SYSTEM_FOLDERS)
                    || place.home.is_some_and(|home| home.starts_with(path))
                    || depth == 3 && is_within(path, &["home", "Users"])
                    || path == Path::new("/var/tmp")
                    || !path.starts_with("/var/tmp") && is_within(path, if is_write { NOT_TO_WRITE } else { NOT_TO_READ })
                    // A skill that may change its own folder may change what it declares.
                    || is_write && place.skill_folder.is_some_and(|folder| folder.starts_with(path))
            }
        }
    }

    /// The entry of a manifest.
    fn entry(&self, place: &HintPlace<'_>) -> Option<String> {
        match self {
            Self::Read(path) | Self::Write(path) | Self::Socket(path) | Self::Program(path) => {
                let own = place.skill_folder.and_then(|folder| path.strip_prefix(folder).ok());
                let own = own.filter(|rest| !rest.as_os_str().is_empty());
                match own {
                    Some(rest) => scalar(&format!("${{SKILL_DIR}}/{}", rest.to_str()?)),
                    None => scalar(path.to_str()?),
                }
            }
            Self::Host { to, port, is_udp } => {
                let to = match to {
                    HintedHost::Name(name) => format!("domain: {name}"),
                    HintedHost::Address(address) => format!("cidr: {}", scalar(&address.to_string())?),
                };
                let protocol = if *is_udp { ", protocol: udp" } else { "" };
                Some(format!("{{ {to}, ports: [{port}]{protocol} }}"))
            }
        }
    }

    fn key(&self) -> &'static str {
        match self {
            Self::Read(_) => "permissions.filesystem.read",
            Self::Write(_) => "permissions.filesystem.write",
            Self::Socket(_) => "permissions.filesystem.unix_sockets",
            Self::Program(_) => "permissions.commands.allow",
            Self::Host { .. } => "permissions.network.egress",
        }
    }

    /// A manifest with nothing but this in it.
    fn example(&self, entry: &str) -> String {
        let key = self.key().strip_prefix("permissions.").unwrap_or_default();
        let (section, list) = key.split_once('.').unwrap_or((key, ""));
        format!(
            "skill: {{ name: hint, version: \"1\" }}\npermissions:\n  {section}:\n    {list}:\n      - {entry}\n"
        )
    }

    fn flag(&self) -> Option<String> {
        let path = |flag: &str, path: &Path| Some(format!("{flag} {}", quote_word(path.to_str()?)));
        match self {
            Self::Read(read) => path("--read", read),
            Self::Write(write) => path("--write", write),
            Self::Socket(socket) => path("--unix-socket", socket),
            // Without a manifest every program that is seen may be executed; and no flag grants datagrams.
            Self::Program(_) | Self::Host { is_udp: true, .. } => None,
            Self::Host { to: HintedHost::Name(name), port, .. } => {
                Some(format!("--allow-host {name}:{port}"))
            }
            Self::Host { to: HintedHost::Address(IpAddr::V4(address)), port, .. } => {
                Some(format!("--allow-cidr {address}/32:{port}"))
            }
            Self::Host { to: HintedHost::Address(IpAddr::V6(address)), port, .. } => {
                Some(format!("--allow-cidr '[{address}/128]:{port}'"))
            }
        }
    }
}

/// Where a hint is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HintPlace<'a> {
    pub(crate) weigher: &'a AttemptWeigher,
    /// The home of the person.
    pub(crate) home: Option<&'a Path>,
    /// The folder of the skill.
    pub(crate) skill_folder: Option<&'a Path>,
}

fn of_file(operation: FileOperation, path: &Path, to: Option<&Path>, rule: &str) -> Option<GrantHint> {
    let is_plain =
        |path: &Path| path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..");
    if !is_plain(path) {
        return None;
    }
    let folder = || path.parent().map(Path::to_owned);
    match (operation, rule) {
        (FileOperation::Read, NOT_GRANTED) => Some(GrantHint::Read(path.to_owned())),
        (FileOperation::Connect, rule) if rule == NOT_GRANTED || rule.starts_with("a socket of the host") => {
            Some(GrantHint::Socket(path.to_owned()))
        }
        // A grant of a file that is not there would make a folder of that name, and to make, replace or remove a file is to change its folder.
        (
            FileOperation::Write
            | FileOperation::Truncate
            | FileOperation::Remove
            | FileOperation::MakeFolder
            | FileOperation::ChangeMode
            | FileOperation::ChangeAttributes,
            NOT_GRANTED | READ_ONLY,
        ) => Some(GrantHint::Write(folder()?)),
        // Of two names, one grant helps only where both lie in one folder.
        (FileOperation::Rename | FileOperation::Link | FileOperation::Symlink, NOT_GRANTED | READ_ONLY) => {
            let folder = folder()?;
            (to.and_then(Path::parent) == Some(folder.as_path())).then_some(GrantHint::Write(folder))
        }
        (
            FileOperation::Read
            | FileOperation::Connect
            | FileOperation::Write
            | FileOperation::Truncate
            | FileOperation::Remove
            | FileOperation::MakeFolder
            | FileOperation::MakeNode
            | FileOperation::ChangeMode
            | FileOperation::ChangeAttributes
            | FileOperation::Rename
            | FileOperation::Link
            | FileOperation::Symlink,
            _,
        ) => None,
    }
}

fn of_connection(to: &NetConnection) -> Option<GrantHint> {
    let is_udp = match to.transport.as_str() {
        "tcp" => false,
        "udp" => true,
        _ => return None,
    };
    let host = match (&to.name, &to.address) {
        (Some(name), _) => HintedHost::Name(host_name(name)?),
        (None, Some(address)) => HintedHost::Address(address.parse().ok()?),
        (None, None) => return None,
    };
    (to.port != 0).then_some(GrantHint::Host { to: host, port: to.port, is_udp })
}

/// A name that can be typed as it is, and looks like nothing else.
fn host_name(name: &str) -> Option<String> {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (name.contains('.') && name.chars().all(is_plain)).then_some(name)
}

/// A value of YAML: as it is where that is clear, in quotes otherwise. `None` where it holds what could deceive.
fn scalar(text: &str) -> Option<String> {
    // Nor what looks like another hint behind this one.
    if escape_line(text) != text
        || ["\u{fffd}", " --", "allow it", ": - "].iter().any(|part| text.contains(part))
    {
        return None;
    }
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | ',');
    let rest = text.strip_prefix("${SKILL_DIR}").unwrap_or(text);
    if text.starts_with(['/', '$']) && rest.chars().all(is_plain)
        || text.parse::<std::net::Ipv4Addr>().is_ok()
    {
        return Some(text.to_owned());
    }
    serde_json::to_string(text).ok()
}

#[cfg(test)]
mod tests {
    use skillsandbox_tracer::EventVerdict;

    use super::*;

    fn hint_in(style: HintStyle, kind: EventKind, rule: &str) -> Option<String> {
        let weigher = AttemptWeigher::new();
        let (home, skill) = (Path::new("/home/me"), Path::new("/srv/skills/tested"));
        let place = HintPlace { weigher: &weigher, home: Some(home), skill_folder: Some(skill) };
        let event = Event::new(kind).with_verdict(EventVerdict::Denied, rule.to_owned());
        GrantHint::of(&event)?.text(style, &place)
    }

    fn file(operation: FileOperation, path: &str) -> EventKind {
        EventKind::File { operation, path: path.to_owned(), to: None }
    }

    fn connection(name: Option<&str>, address: Option<&str>, port: u16, transport: &str) -> EventKind {
        let mut to = NetConnection::default();
        (to.name, to.address) = (name.map(Into::into), address.map(Into::into));
        (to.port, to.transport, to.reason) = (port, transport.into(), Some("not_granted".into()));
        EventKind::NetConnect(to)
    }

    #[test]
    fn hints_are_in_the_words_of_whoever_runs_it() {
        use FileOperation::{Connect, Read, Remove, Write};
        let socket = "a socket of the host; permissions.filesystem.unix_sockets does not name it";
        for (kind, rule, key, flag) in [
            (
                file(Read, "/srv/x"),
                NOT_GRANTED,
                "permissions.filesystem.read: - /srv/x",
                Some("--read /srv/x"),
            ),
            (
                file(Read, "/srv/a b: 'c'"),
                NOT_GRANTED,
                "permissions.filesystem.read: - \"/srv/a b: 'c'\"",
                Some("--read \"/srv/a b: 'c'\""),
            ),
            (file(Read, "/data"), NOT_GRANTED, "permissions.filesystem.read: - /data", Some("--read /data")),
            (
                file(Write, "/srv/out/x"),
                NOT_GRANTED,
                "permissions.filesystem.write: - /srv/out",
                Some("--write /srv/out"),
            ),
            (
                file(Remove, "/srv/out/x"),
                READ_ONLY,
                "permissions.filesystem.write: - /srv/out",
                Some("--write /srv/out"),
            ),
            (
                file(Write, "/srv/skills/tested/out/x"),
                READ_ONLY,
                "permissions.filesystem.write: - ${SKILL_DIR}/out",
                Some("--write /srv/skills/tested/out"),
            ),
            (
                file(Connect, "/run/db/sock"),
                socket,
                "permissions.filesystem.unix_sockets: - /run/db/sock",
                Some("--unix-socket /run/db/sock"),
            ),
            (
                connection(Some("api.x.test"), Some("198.18.0.7"), 8443, "tcp"),
                "",
                "permissions.network.egress: - { domain: api.x.test, ports: [8443] }",
                Some("--allow-host api.x.test:8443"),
            ),
            (
                connection(None, Some("192.0.2.1"), 5432, "tcp"),
                "",
                "permissions.network.egress: - { cidr: 192.0.2.1, ports: [5432] }",
                Some("--allow-cidr 192.0.2.1/32:5432"),
            ),
            (
                connection(None, Some("2001:db8::1"), 443, "tcp"),
                "",
                "permissions.network.egress: - { cidr: \"2001:db8::1\", ports: [443] }",
                Some("--allow-cidr '[2001:db8::1/128]:443'"),
            ),
            (
                connection(Some("ntp.x.test"), None, 123, "udp"),
                "",
                "permissions.network.egress: - { domain: ntp.x.test, ports: [123], protocol: udp }",
                None,
            ),
            (
                EventKind::DnsQuery { name: Some("API.x.test.".into()), server: None },
                "not_granted",
                "permissions.network.egress: - { domain: api.x.test, ports: [443] }",
                Some("--allow-host api.x.test:443"),
            ),
            (
                EventKind::Exec { path: "/opt/x/run".into(), argv: Vec::new() },
                NOT_EXECUTABLE,
                "permissions.commands.allow: - /opt/x/run",
                None,
            ),
        ] {
            assert_eq!(hint_in(HintStyle::Keys, kind.clone(), rule).as_deref(), Some(key));
            assert_eq!(hint_in(HintStyle::ExecFlags, kind, rule).as_deref(), flag);
        }
    }

    #[test]
    fn there_is_no_hint_where_it_would_not_help_or_gives_too_much() {
        use FileOperation::{Connect, MakeFolder, Read, Rename, Write};
        for (kind, rule) in [
            (file(Write, "/home/x"), NOT_GRANTED),
            (file(Write, "/home/me/x"), NOT_GRANTED),
            (file(MakeFolder, "/x"), NOT_GRANTED),
            (file(Read, "/"), NOT_GRANTED),
            (file(Read, "/home"), NOT_GRANTED),
            (file(Read, "/home/me"), NOT_GRANTED),
            (file(Read, "/home/other"), NOT_GRANTED),
            (file(Read, "/etc"), NOT_GRANTED),
            (file(Read, "/dev/tty"), NOT_GRANTED),
            (file(Read, "/proc/1/environ"), "another process"),
            (file(Read, "/proc/1/environ"), NOT_GRANTED),
            (file(Read, "/run/user/1000/bus"), NOT_GRANTED),
            (file(Write, "/etc/motd"), NOT_GRANTED),
            (file(Write, "/var/tmp/x"), NOT_GRANTED),
            (file(Write, "/var/www/html/x"), NOT_GRANTED),
            (file(Write, "/usr/lib/x/y"), READ_ONLY),
            (file(Write, "/srv/skills/tested/x"), READ_ONLY),
            (file(Read, "/srv/x"), "forbidden"),
            (file(Read, "/srv/../etc/passwd"), NOT_GRANTED),
            (file(Read, "relative"), NOT_GRANTED),
            (file(Read, "/srv/a*"), NOT_GRANTED),
            (file(Read, "/srv/a\nb"), NOT_GRANTED),
            (file(Read, "/srv/\u{202e}a"), NOT_GRANTED),
            (file(Read, "/srv/\u{fffd}"), NOT_GRANTED),
            (file(Read, "/srv/x --write /"), NOT_GRANTED),
            (file(Read, "/srv/x allow it: /"), NOT_GRANTED),
            (file(Read, "/srv/x permissions.filesystem.read: - /etc"), NOT_GRANTED),
            (file(Connect, "@abstract"), "an abstract name of the host"),
            (file(Rename, "/srv/a/x"), NOT_GRANTED),
            // What an attack wants.
            (file(Read, "/home/me/.ssh/id_rsa"), NOT_GRANTED),
            (file(Read, "/home/me/.ssh/x.pub"), NOT_GRANTED),
            (file(Read, "/home/me/.claude/settings.json"), NOT_GRANTED),
            (file(Read, "/srv/app/.env"), NOT_GRANTED),
            (file(Read, "/etc/shadow"), NOT_GRANTED),
            (file(Write, "/home/me/.config/autostart/x"), NOT_GRANTED),
            (file(Connect, "/var/run/docker.sock"), "a socket of the host; x"),
            // What holds it, and where it could be made.
            (file(Read, "/home/me/.config"), NOT_GRANTED),
            (file(Read, "/home/me/.local/share"), NOT_GRANTED),
            (file(Read, "/home/me/.docker"), NOT_GRANTED),
            (file(Read, "/home/me/.claude"), NOT_GRANTED),
            (file(Read, "/etc/ssl"), NOT_GRANTED),
            (file(Write, "/home/me/.config/x"), NOT_GRANTED),
            (file(Write, "/home/me/.local/bin/ls"), NOT_GRANTED),
            (file(Write, "/home/me/bin/ls"), NOT_GRANTED),
            (file(Write, "/home/me/.claude/x"), NOT_GRANTED),
            (file(Write, "/srv/project/.git/x"), NOT_GRANTED),
            (file(Write, "/srv/project/.git/hooks/x"), NOT_GRANTED),
            (connection(None, Some("169.254.169.254"), 80, "tcp"), ""),
            (connection(Some("metadata.google.internal"), None, 80, "tcp"), ""),
            (connection(Some("x.ngrok.io"), None, 443, "tcp"), ""),
            // Names that look like something else.
            (connection(Some("a.test --read /etc"), None, 443, "tcp"), ""),
            (connection(Some("a.test, ports: [1] }"), None, 443, "tcp"), ""),
            (connection(Some("-x.test"), None, 443, "tcp"), ""),
            (connection(Some("x.test"), None, 0, "tcp"), ""),
            (connection(None, None, 443, "tcp"), ""),
            (EventKind::DnsQuery { name: Some("a\nforged: line".into()), server: None }, "not_granted"),
            (EventKind::DnsQuery { name: Some("a.test".into()), server: None }, "looks_like_data"),
            (EventKind::DnsQuery { name: None, server: None }, "not_granted"),
        ] {
            for style in [HintStyle::Keys, HintStyle::RunFlags, HintStyle::ExecFlags] {
                assert_eq!(hint_in(style, kind.clone(), rule), None, "{kind:?}");
            }
        }
    }
    #[test]
    fn there_is_no_hint_into_folders_of_ours() {
        let own = state::folders().into_iter().chain(user_folders::data());
        for folder in own.filter_map(|own| own.to_str().map(str::to_owned)) {
            for path in [folder.clone(), format!("{folder}/x"), format!("{folder}/x/y")] {
                for operation in [FileOperation::Read, FileOperation::Write] {
                    assert_eq!(
                        hint_in(HintStyle::ExecFlags, file(operation, &path), NOT_GRANTED),
                        None,
                        "{path}"
                    );
                }
            }
        }
    }
}
