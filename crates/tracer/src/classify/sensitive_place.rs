//! What a place holds that no learnt grant may reach.

use std::sync::LazyLock;

use super::path::{PathPatterns, plain};
use super::sensitive_paths::{self, AccessFilter, SensitivePath};
use crate::format::trace::AttackClass;

/// What is wanted of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceAccess {
    /// To read what is there.
    Read,
    /// To change what is there, or to make something.
    Change,
}

/// Places of programs and settings that somebody executes later. To write there is no sign of an attack, since installers do; but nobody is handed them
/// for the asking.
const EXECUTED_LATER: &[(&str, &[&str])] = &[
    (
        "programs that are found by their names (PATH)",
        &[
            ".local/bin/**",
            "/home/*/bin/**",
            "/Users/*/bin/**",
            "/root/bin/**",
            "/home/*/go/bin/**",
            "/root/go/bin/**",
            ".cargo/bin/**",
            ".deno/bin/**",
            ".bun/bin/**",
            ".npm-global/**",
            ".local/share/pnpm/**",
            ".pyenv/**",
            ".rbenv/**",
            ".nvm/**",
            ".volta/**",
            ".asdf/**",
            ".krew/**",
            ".nix-profile/**",
            "/usr/local/**",
        ],
    ),
    (
        "code that shells and interpreters load when they start",
        &[
            ".bashrc.d/**",
            ".zshrc.d/**",
            ".profile.d/**",
            ".oh-my-zsh/**",
            ".oh-my-bash/**",
            ".zprezto/**",
            ".zinit/**",
            ".config/fish/**",
            ".config/zsh/**",
            ".config/bash/**",
            ".local/lib/**",
            ".ipython/**",
            ".jupyter/**",
            ".vim/**",
            ".emacs.d/**",
            ".config/emacs/**",
            ".config/systemd/**",
            ".config/git/**",
            ".vscode/**",
            ".vscode-server/**",
            ".idea/**",
        ],
    ),
    (
        "what Git executes and goes by",
        &[".git/hooks/**", ".git/config", ".git/modules/**", ".git/info/**", ".githooks/**", ".husky/**"],
    ),
    (
        "what AI agents go by",
        &[
            ".claude/**",
            ".codex/**",
            ".cursor/**",
            ".gemini/**",
            ".continue/**",
            ".codeium/**",
            ".windsurf/**",
            ".copilot/**",
            ".agents/**",
            ".aider*",
            ".config/opencode/**",
            ".config/goose/**",
            ".config/zed/**",
        ],
    ),
];

static SENSITIVE: LazyLock<PathPatterns> = LazyLock::new(|| patterns(|_| true));
static READ: LazyLock<PathPatterns> =
    LazyLock::new(|| patterns(|place| matches!(place.access, AccessFilter::Read | AccessFilter::Any)));
static LATER: LazyLock<PathPatterns> = LazyLock::new(|| {
    let mut patterns = PathPatterns::default();
    for (number, (_, paths)) in EXECUTED_LATER.iter().enumerate() {
        paths.iter().for_each(|path| patterns.add(number, path));
    }
    patterns
});

fn patterns(is_meant: fn(&SensitivePath) -> bool) -> PathPatterns {
    let mut patterns = PathPatterns::default();
    let held_back = |place: &SensitivePath| holds_back(place.class) && is_meant(place);
    for (number, place) in sensitive_paths::all().enumerate().filter(|(_, place)| held_back(place)) {
        place.paths.iter().for_each(|path| patterns.add(number, path));
    }
    patterns
}

/// What a path is known for, if no program should be handed it for the asking: credentials, what is executed later by somebody else, the
/// accounts of the system, ways out of a sandbox.
///
/// Stricter than a [`Classifier`](crate::Classifier), which lets the owners of a place have it: nobody owns anything here.
///
/// ```
/// use skillsandbox_tracer::sensitive_place;
///
/// assert_eq!(sensitive_place("/home/ada/.ssh/id_ed25519"), Some("keys of SSH"));
/// assert_eq!(sensitive_place("/home/ada/data/in.csv"), None);
/// ```
#[must_use]
pub fn sensitive_place(path: &str) -> Option<&'static str> {
    let number = *SENSITIVE.rules(&plain(path), None).first()?;
    sensitive_paths::at(number).map(|place| place.says)
}

/// What could lie at a path or anywhere below it that no program should be handed for the asking, whether it is there yet or not. Only names count:
/// nothing is looked up on the disk. To change includes to make: whoever may write `.git` may make a hook in it.
///
/// A name that means something wherever it lies (`.env`, `.bashrc`) could be made in every folder, and does not count before it is there.
///
/// ```
/// use skillsandbox_tracer::{PlaceAccess, may_hold_sensitive};
///
/// assert!(may_hold_sensitive("/home/ada/.config", PlaceAccess::Read).is_some());
/// assert!(may_hold_sensitive("/home/ada/project/.git", PlaceAccess::Change).is_some());
/// assert_eq!(may_hold_sensitive("/home/ada/project/.git", PlaceAccess::Read), None);
/// assert_eq!(may_hold_sensitive("/home/ada/project", PlaceAccess::Change), None);
/// ```
#[must_use]
pub fn may_hold_sensitive(folder: &str, access: PlaceAccess) -> Option<&'static str> {
    let folder = plain(folder);
    let first = |patterns: &PathPatterns| {
        let own = patterns.rules(&folder, None).first().copied();
        own.or_else(|| patterns.first_below(&folder))
    };
    let says = |number| sensitive_paths::at(number).map(|place| place.says);
    match access {
        PlaceAccess::Read => first(&READ).and_then(says),
        PlaceAccess::Change => first(&SENSITIVE)
            .and_then(says)
            .or_else(|| EXECUTED_LATER.get(first(&LATER)?).map(|(says, _)| *says)),
    }
}

/// Whether places of a class are never granted. To look around is not harm.
fn holds_back(class: AttackClass) -> bool {
    !matches!(class, AttackClass::Discovery)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_exceptions_do_not_count() {
        for path in [
            "/root/.ssh/known_hosts",
            "/home/a/.aws",
            "/home/a/x/../.aws/credentials",
            "/home/a/.bashrc",
            "/etc/shadow",
            "/proc/1/environ",
            "/home/a/project/.env",
            "/run/docker.sock",
        ] {
            assert!(sensitive_place(path).is_some(), "{path}");
        }
        for path in ["/home/a", "/home/a/data", "/etc/os-release", "/srv/www/index.html"] {
            assert_eq!(sensitive_place(path), None, "{path}");
        }
    }

    #[test]
    fn a_folder_counts_for_what_could_be_made_in_it() {
        for path in [
            "/home/a",
            "/root",
            "/home/a/.config",
            "/home/a/.local",
            "/home/a/.local/bin",
            "/home/a/.local/bin/ls",
            "/home/a/bin",
            "/home/a/.claude",
            "/home/a/.cursor/x",
            "/home/a/.codex/notes",
            "/home/a/.oh-my-zsh/custom",
            "/home/a/.bashrc.d",
            "/home/a/.config/autostart",
            "/home/a/.config/systemd/x",
            "/srv/p/.git",
            "/srv/p/.git/hooks",
            "/srv/p/.git/hooks/new",
            "/srv/p/x/../.git/config",
            "/srv/p/.claude/skills/other",
            "/etc",
            "/",
        ] {
            assert!(may_hold_sensitive(path, PlaceAccess::Change).is_some(), "{path}");
        }
        for path in
            ["/home/a/.config", "/home/a/.local/share", "/home/a/.docker", "/home/a/.claude", "/etc/ssl"]
        {
            assert!(may_hold_sensitive(path, PlaceAccess::Read).is_some(), "{path}");
        }
        for path in
            ["/srv/p", "/home/a/data", "/home/a/project/src", "/home/a/.cache/x", "/tmp/out", "relative"]
        {
            assert_eq!(may_hold_sensitive(path, PlaceAccess::Change), None, "{path}");
        }
        assert_eq!(may_hold_sensitive("/home/a/.local/bin/tool", PlaceAccess::Read), None);
    }
}
