//! The others: how each is found, installed and driven, and what it lacks of the policy that is compared.
//!
//! The policy: the system's folders to read (/usr with its links, and the same pieces of /etc and /var that `skillsandbox exec` shows), a private
//! /tmp and home, no network, nothing of the caller's environment, and one folder to write where the work needs it.

use std::path::{Path, PathBuf};

/// What a command is started by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Bare,
    Floor,
    Bubblewrap,
    BubblewrapWithEtc,
    Sandlock,
    Landrun,
    Nono,
    Srt,
    Firejail,
    Nsjail,
}

/// How somebody gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// It is here always.
    Here,
    /// Debian packages.
    Debian(&'static [&'static str]),
    /// A program of crates.io: package and version.
    Crate(&'static str, &'static str),
    /// A package of npm and its version, and Debian packages that it needs.
    Npm(&'static str, &'static str, &'static [&'static str]),
    /// A program in Go, by its path.
    Go(&'static str),
    /// Only by hand: why.
    ByHand(&'static str),
}

impl Tool {
    pub(super) const ALL: [Self; 10] = [
        Self::Bare,
        Self::Floor,
        Self::Bubblewrap,
        Self::BubblewrapWithEtc,
        Self::Sandlock,
        Self::Landrun,
        Self::Nono,
        Self::Srt,
        Self::Firejail,
        Self::Nsjail,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare fork and exec",
            Self::Floor => "the floor in C with all layers",
            Self::Bubblewrap => "bubblewrap",
            Self::BubblewrapWithEtc => "bubblewrap, the same pieces of /etc",
            Self::Sandlock => "sandlock",
            Self::Landrun => "landrun",
            Self::Nono => "nono",
            Self::Srt => "srt",
            Self::Firejail => "firejail",
            Self::Nsjail => "nsjail",
        }
    }

    /// What its program is called; none where it is no program of its own.
    pub(super) fn program(self) -> Option<&'static str> {
        match self {
            Self::Bare => None,
            Self::Floor => Some("floor_start"),
            Self::Bubblewrap | Self::BubblewrapWithEtc => Some("bwrap"),
            Self::Sandlock => Some("sandlock"),
            Self::Landrun => Some("landrun"),
            Self::Nono => Some("nono"),
            Self::Srt => Some("srt"),
            Self::Firejail => Some("firejail"),
            Self::Nsjail => Some("nsjail"),
        }
    }

    pub(super) fn source(self) -> Source {
        match self {
            Self::Bare | Self::Floor => Source::Here,
            Self::Bubblewrap | Self::BubblewrapWithEtc => Source::Debian(&["bubblewrap"]),
            Self::Sandlock => Source::Crate("sandlock-cli", "0.9.0"),
            Self::Landrun => Source::Go("github.com/zouuup/landrun/cmd/landrun@latest"),
            Self::Nono => Source::Crate("nono-cli", "0.80.0"),
            Self::Srt => {
                Source::Npm("@anthropic-ai/sandbox-runtime", "0.0.83", &["bubblewrap", "socat", "ripgrep"])
            }
            Self::Firejail => Source::ByHand("it is set-user-ID root: `apt-get install firejail`"),
            Self::Nsjail => Source::ByHand("Debian has it from release 13 on: `apt-get install nsjail`"),
        }
    }

    /// What it does not do of what `skillsandbox exec` does, as it is driven here.
    pub(super) fn lacks(self) -> Option<&'static str> {
        match self {
            Self::Bare => None,
            Self::Floor => Some("decides, observes and records nothing; its filter refuses 21 calls"),
            Self::Bubblewrap | Self::BubblewrapWithEtc => {
                Some("no Landlock, filter of system calls, limits, observation or record")
            }
            Self::Sandlock => Some(
                "no namespaces or root of its own: /tmp and the rest of the machine are hidden by Landlock only; no record",
            ),
            Self::Landrun => {
                Some("Landlock only: no namespaces, filter of system calls or limits; UDP is open; no record")
            }
            Self::Nono => {
                Some("Landlock only by its flags, with its own groups of readable paths; no namespaces")
            }
            Self::Srt => Some("everything may be read but the home; its proxies start with each command"),
            Self::Firejail => Some("set-user-ID root; no Landlock; no record"),
            Self::Nsjail => {
                Some("no Landlock; no filter of system calls without a policy of its own; no record")
            }
        }
    }

    /// What to type, or why not.
    pub(super) fn how_to_install(self) -> String {
        match self.source() {
            Source::Here => "it is built by this command, and needs a C compiler".into(),
            Source::Debian(packages) => format!("`apt-get install {}`", packages.join(" ")),
            Source::Crate(package, version) => {
                format!("`cargo xtask bench peers --install`, or `cargo install {package}@{version}`")
            }
            Source::Npm(package, version, also) => format!(
                "`cargo xtask bench peers --install`, or `npm install {package}@{version}` and `apt-get install {}`",
                also.join(" ")
            ),
            Source::Go(path) => format!("`go install {path}`, with Go 1.24 or newer"),
            Source::ByHand(how) => how.into(),
        }
    }

    /// Where its program is: installed for this, or on the path.
    pub(super) fn find(self, setup: &Setup) -> Option<PathBuf> {
        let program = self.program()?;
        let own = match self {
            Self::Floor => setup.programs.clone(),
            _ => installed_folder(&setup.peers, self),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(own).chain(std::env::split_paths(&path));
        folders.map(|folder| folder.join(program)).find(|file| file.is_file())
    }

    /// The words that start a command by it.
    pub(super) fn wrap(
        self,
        program: &Path,
        setup: &Setup,
        writable: Option<&Path>,
        command: &[&str],
    ) -> Vec<String> {
        let mut words = Words::new(program);
        match self {
            Self::Bare => words = Words(Vec::new()),
            Self::Floor => {
                words.paths("--write", writable);
                words.0.extend(setup.pieces.iter().map(|piece| shown(piece)));
                words.text("--");
            }
            Self::Bubblewrap | Self::BubblewrapWithEtc => {
                words.text("--unshare-all --new-session --die-with-parent --clearenv --uid 1000 --gid 1000");
                words.text("--hostname sandbox --ro-bind /usr /usr --proc /proc --dev /dev --tmpfs /tmp");
                words.text("--tmpfs /home");
                for folder in SYSTEM_LINKS.map(PathBuf::from) {
                    match std::fs::read_link(&folder) {
                        Ok(target) => words.twice("--symlink", &target, &folder),
                        Err(_) => words.twice("--ro-bind-try", &folder, &folder),
                    }
                }
                if self == Self::BubblewrapWithEtc {
                    for piece in &setup.pieces {
                        words.twice("--ro-bind", piece, piece);
                    }
                }
                if let Some(folder) = writable {
                    words.twice("--bind", folder, folder);
                }
            }
            Self::Sandlock => {
                words.text("run --clean-env");
                words.paths("--fs-read", readable(setup));
                words.paths("--fs-write", writable.or(Some(&setup.work)));
                words.text("--");
            }
            Self::Landrun => {
                // Without it, only the newest kernel has all that it wants.
                words.text("--best-effort");
                words.paths(
                    "--rox",
                    SYSTEM_FOLDERS.map(Path::new).into_iter().filter(|folder| folder.exists()),
                );
                words.paths("--ro", setup.pieces.iter().map(PathBuf::as_path));
                words.paths("--ro", [Path::new("/proc")]);
                words.paths("--rw", [Path::new("/dev/null")]);
                words.paths("--rw", writable);
                words.text("--");
            }
            Self::Nono => {
                words.text("--silent run --no-rollback --block-net");
                words.paths(
                    "--read",
                    SYSTEM_FOLDERS.map(Path::new).into_iter().filter(|folder| folder.exists()),
                );
                words.paths("--allow", writable.or(Some(&setup.work)));
                words.text("--");
            }
            Self::Srt => {
                words.paths("--settings", [setup.srt_settings().as_path()]);
                words.text("--");
            }
            Self::Firejail => {
                words.text(
                    "--quiet --noprofile --net=none --private --private-dev --private-tmp --caps.drop=all",
                );
                words.text("--nonewprivs --noroot --seccomp --ipc-namespace --hostname=sandbox --");
            }
            Self::Nsjail => {
                words.text("--quiet --mode o --user 1000 --group 1000 --hostname sandbox --tmpfsmount /tmp");
                words.paths("--bindmount_ro", readable(setup));
                words.paths("--bindmount_ro", [Path::new("/dev/null")]);
                words.paths("--bindmount", writable);
                words.text("--");
            }
        }
        words.0.extend(command.iter().map(|&word| word.to_owned()));
        words.0
    }
}

/// Links into /usr on a system where it is merged, folders elsewhere.
const SYSTEM_LINKS: [&str; 4] = ["/bin", "/sbin", "/lib", "/lib64"];
const SYSTEM_FOLDERS: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];

fn readable(setup: &Setup) -> impl Iterator<Item = &Path> {
    let folders = SYSTEM_FOLDERS.map(Path::new).into_iter().filter(|folder| folder.exists());
    folders.chain(setup.pieces.iter().map(PathBuf::as_path)).chain([Path::new("/proc")])
}

/// Where `--install` puts the program of a tool.
pub(super) fn installed_folder(peers: &Path, tool: Tool) -> PathBuf {
    let folder = peers.join(tool.program().unwrap_or_default());
    match tool.source() {
        Source::Npm(..) => folder.join("node_modules/.bin"),
        Source::Here | Source::Debian(_) | Source::Crate(..) | Source::Go(_) | Source::ByHand(_) => {
            folder.join("bin")
        }
    }
}

/// Where everything is.
#[derive(Debug, Clone, Default)]
pub(super) struct Setup {
    /// Programs that were built for this, for everybody to execute.
    pub(super) programs: PathBuf,
    /// What `--install` installed.
    pub(super) peers: PathBuf,
    pub(super) home: PathBuf,
    /// The folder that work may write.
    pub(super) work: PathBuf,
    /// The folder of [`super::stage::SKILL`].
    pub(super) skills: PathBuf,
    /// What is shown of /etc and /var.
    pub(super) pieces: Vec<PathBuf>,
}

impl Setup {
    pub(super) fn srt_settings(&self) -> PathBuf {
        self.home.join("srt-settings.json")
    }

    /// A file that is granted to nobody.
    pub(super) fn secret(&self) -> PathBuf {
        self.home.join("secret")
    }
}

struct Words(Vec<String>);

impl Words {
    fn new(program: &Path) -> Self {
        Self(vec![shown(program)])
    }

    fn text(&mut self, text: &str) {
        self.0.extend(text.split_whitespace().map(str::to_owned));
    }

    /// A flag before each path.
    fn paths<'a>(&mut self, flag: &str, paths: impl IntoIterator<Item = &'a Path>) {
        self.0.extend(paths.into_iter().flat_map(|path| [flag.to_owned(), shown(path)]));
    }

    fn twice(&mut self, flag: &str, from: &Path, to: &Path) {
        self.0.extend([flag.to_owned(), shown(from), shown(to)]);
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_ends_with_the_command_and_shows_the_same_pieces() {
        let setup = Setup {
            pieces: vec!["/etc/piece".into()],
            work: "/w".into(),
            home: "/h".into(),
            ..Setup::default()
        };
        for tool in Tool::ALL {
            let words = tool.wrap(Path::new("/p"), &setup, Some(Path::new("/w")), &["/bin/true", "x"]);
            assert!(words.ends_with(&["/bin/true".into(), "x".into()]), "{words:?}");
            let has = |path: &str| words.iter().any(|word| word == path);
            match tool {
                Tool::Bare => assert_eq!(words.len(), 2),
                Tool::Floor | Tool::BubblewrapWithEtc | Tool::Sandlock | Tool::Landrun | Tool::Nsjail => {
                    assert!(has("/etc/piece") && has("/w"), "{words:?}");
                }
                // Has its own list of what of /etc may be read.
                Tool::Bubblewrap | Tool::Nono => assert!(!has("/etc/piece") && has("/w"), "{words:?}"),
                Tool::Srt | Tool::Firejail => assert!(!has("/etc/piece"), "{words:?}"),
            }
        }
    }

    #[test]
    fn every_tool_says_how_it_is_installed_and_what_it_lacks() {
        for tool in Tool::ALL {
            assert!(!tool.how_to_install().is_empty());
            assert_eq!(tool.lacks().is_none(), tool == Tool::Bare);
        }
    }
}
