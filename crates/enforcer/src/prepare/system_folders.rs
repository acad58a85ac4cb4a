//! What of the system is there in every sandbox, read-only.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The system's own folders: those that exist are there, read-only, in every sandbox.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What programs need of /etc to start. Files with names or secrets of this host are not among them: passwd, group, hosts,
/// resolv.conf and nsswitch.conf are written anew, and /etc/ssl is not granted as a whole because of /etc/ssl/private.
const ETC: [&str; 21] = [
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/etc/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    "/etc/crypto-policies",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/alternatives",
    "/etc/mime.types",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/perl",
    "/etc/python3",
];

/// Settings, outside /usr, of what makes pictures and documents. Without them TeX has no formats, fonts are others, and
/// `ImageMagick` has lost its own rules on what it must not open.
const DOCUMENTS: [&str; 8] = [
    "/etc/fonts",
    "/etc/ImageMagick-6",
    "/etc/ImageMagick-7",
    "/etc/ghostscript",
    "/var/lib/ghostscript",
    "/etc/texmf",
    "/var/lib/texmf",
    "/etc/libreoffice",
];

/// All that a host may have of them, without most of what this one has not.
pub(super) fn system_folders() -> Vec<PathBuf> {
    let settings = SettingsFolder::list();
    let named = SYSTEM.iter().chain(&ETC).chain(&DOCUMENTS).map(Path::new);
    let there = named.filter(|path| settings.may_have(path)).map(Path::to_owned);
    there.chain(settings.of_java()).collect()
}

/// What /etc has, listed once: asking for each of the many names that it may have takes longer.
struct SettingsFolder(Option<BTreeSet<OsString>>);

impl SettingsFolder {
    const PATH: &str = "/etc";

    fn list() -> Self {
        let names = fs::read_dir(Self::PATH).map(|entries| entries.flatten().map(|entry| entry.file_name()));
        Self(names.map(Iterator::collect).ok())
    }

    /// Whether it is worth looking for a path: not where the list lacks its first name below the folder.
    fn may_have(&self, path: &Path) -> bool {
        let (Some(names), Ok(below)) = (&self.0, path.strip_prefix(Self::PATH)) else { return true };
        below.components().next().is_none_or(|first| names.contains(first.as_os_str()))
    }

    /// Debian's Java keeps its settings, without which it does not start, in /etc/java-17-openjdk and the like.
    fn of_java(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let is_java = |name: &&OsString| {
            let version = name.to_str().and_then(|name| name.strip_prefix("java-")?.strip_suffix("-openjdk"));
            version.is_some_and(|version| {
                !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        self.0.iter().flatten().filter(is_java).map(|name| Path::new(Self::PATH).join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> SettingsFolder {
        SettingsFolder(Some(names.iter().map(OsString::from).collect()))
    }

    #[test]
    fn what_the_list_lacks_is_not_looked_for_and_all_else_is() {
        let settings = folder(&["ssl", "fonts"]);
        for path in ["/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/fonts", "/usr", "/var/lib/texmf"] {
            assert!(settings.may_have(Path::new(path)), "{path}");
        }
        for path in ["/etc/pki/tls/certs", "/etc/perl"] {
            assert!(!settings.may_have(Path::new(path)), "{path}");
            assert!(SettingsFolder(None).may_have(Path::new(path)), "a folder that cannot be listed: {path}");
        }
    }

    #[test]
    fn settings_of_java_are_known_by_a_version() {
        let names = [
            "java-17-openjdk",
            "java-8-openjdk",
            "java--openjdk",
            "java-x-openjdk",
            "java",
            "java-17-openjdk.bak",
        ];
        let found: Vec<PathBuf> = folder(&names).of_java().collect();
        assert_eq!(found, [Path::new("/etc/java-17-openjdk"), Path::new("/etc/java-8-openjdk")]);
    }
}
