//! Places in the file system that mean something, as data.

mod credentials;
mod later;
mod others;

use std::sync::LazyLock;

use super::path::PathPatterns;
use crate::format::trace::{AttackClass, AttackSeverity};

/// Which accesses of a place mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessFilter {
    /// To read, or to get at the content in another way: by a second name, or by opening to write where that was refused.
    Read,
    /// To write, to cut, to replace, to change the mode.
    Change,
    /// All of these, and to connect to a socket.
    Any,
}

/// How an access must have ended to mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerdictFilter {
    /// However it ended.
    Any,
    /// It was not let happen, or there was nothing. What was granted was meant.
    NotAllowed,
    /// It was not let happen.
    Denied,
}

/// How much one access of a place of credentials says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CredentialWeight {
    /// Programs that are not its owners have no business there.
    Alone,
    /// Programs of many kinds look there as a matter of course; three kinds of such places say something.
    Shared,
}

/// A kind of place.
#[derive(Debug)]
pub(super) struct SensitivePath {
    pub(super) class: AttackClass,
    pub(super) says: &'static str,
    pub(super) severity: AttackSeverity,
    pub(super) techniques: &'static [&'static str],
    pub(super) access: AccessFilter,
    pub(super) when: VerdictFilter,
    pub(super) weight: CredentialWeight,
    pub(super) paths: &'static [&'static str],
    /// Parts of it that mean nothing.
    pub(super) except: &'static [&'static str],
    /// Programs whose place it is.
    pub(super) owners: &'static [&'static str],
    /// Programs that it means something of; all where this is empty.
    pub(super) only_by: &'static [&'static str],
}

const NONE: &[&str] = &[];

const fn place(
    class: AttackClass,
    severity: AttackSeverity,
    says: &'static str,
    paths: &'static [&'static str],
) -> SensitivePath {
    SensitivePath {
        class,
        says,
        severity,
        techniques: NONE,
        access: AccessFilter::Read,
        when: VerdictFilter::Any,
        weight: CredentialWeight::Alone,
        paths,
        except: NONE,
        owners: NONE,
        only_by: NONE,
    }
}

/// All places.
pub(super) fn all() -> impl Iterator<Item = &'static SensitivePath> {
    credentials::PLACES.iter().chain(later::PLACES).chain(others::PLACES)
}

/// A place by its number.
pub(super) fn at(number: usize) -> Option<&'static SensitivePath> {
    all().nth(number)
}

// Made when the first attempt is looked at, and once: a run that has not started needs none of them, and a server has many runs.

/// The paths of all places, by the number of the place.
pub(super) static PLACE_PATHS: LazyLock<PathPatterns> = LazyLock::new(|| by_place(|place| place.paths));
/// Those of their exceptions.
pub(super) static EXCEPTED_PATHS: LazyLock<PathPatterns> = LazyLock::new(|| by_place(|place| place.except));
/// Those of [`HABITS`], by number.
pub(super) static HABIT_PATHS: LazyLock<PathPatterns> =
    LazyLock::new(|| numbered(HABITS.iter().map(|habit| habit.paths)));
/// Those of [`PRIVATE`].
pub(super) static PRIVATE_PATHS: LazyLock<PathPatterns> = LazyLock::new(|| numbered([PRIVATE]));

fn by_place(list: fn(&SensitivePath) -> &'static [&'static str]) -> PathPatterns {
    numbered(all().map(list))
}

/// Patterns by the number of the list that they stand in.
pub(super) fn numbered(lists: impl IntoIterator<Item = &'static [&'static str]>) -> PathPatterns {
    let lists = lists.into_iter().enumerate();
    lists.flat_map(|(number, list)| list.iter().map(move |text| (number, *text))).collect()
}

/// Programs that show or copy what they are told to: where they look, somebody told them to.
pub(super) const COPIERS: &[&str] = &[
    "base32", "base64", "cat", "cp", "dd", "gzip", "head", "od", "strings", "tac", "tail", "tar", "xxd",
    "zip",
];

/// Programs whose purpose is to list processes.
pub(super) const LISTERS: &[&str] = &[
    "ps", "top", "htop", "pgrep", "pkill", "pidof", "killall", "lsof", "fuser", "pstree", "w", "uptime",
    "free",
];

/// Programs that look whether there is such a file, and go on where there is none.
#[derive(Debug)]
pub(super) struct LookupHabit {
    pub(super) programs: &'static [&'static str],
    pub(super) paths: &'static [&'static str],
}

/// Only of what is not there: a file that is there is read, or refused, and means what it means of everybody.
pub(super) const HABITS: &[LookupHabit] = &[
    // LibreOffice asks which profile of a browser has certificates to sign with.
    LookupHabit {
        programs: &["soffice.bin"],
        paths: &[
            ".mozilla/firefox/profiles.ini",
            ".mozilla/seamonkey/profiles.ini",
            ".thunderbird/profiles.ini",
        ],
    },
];

/// Where people and services keep what is theirs. What is refused here was not granted, and no program needs it to start.
pub(super) const PRIVATE: &[&str] = &[
    "/home/*/**",
    "/root/**",
    "/Users/*/**",
    "/mnt/**",
    "/media/**",
    "/srv/**",
    "/boot/**",
    "/var/mail/**",
    "/var/spool/**",
    "/var/log/**",
    "/var/backups/**",
    "/var/www/**",
    "/var/lib/docker/**",
    "/var/lib/mysql/**",
    "/var/lib/postgresql/**",
    "/etc/sudoers",
    "/etc/sudoers.d/**",
];

/// Names that programs look for in every folder above the one they are started in, and what they leave there.
pub(super) const LOOKED_FOR: &[&str] = &[
    "AGENTS.md",
    "Cargo.lock",
    "Cargo.toml",
    "CLAUDE.md",
    "CMakeLists.txt",
    "Gemfile",
    "Makefile",
    "Pipfile",
    "WORKSPACE",
    "__pycache__",
    "babel.config.js",
    "bin",
    "build.gradle",
    "bunfig.toml",
    "composer.json",
    "conftest.py",
    "deno.json",
    "deno.jsonc",
    "go",
    "go.mod",
    "go.work",
    "jsconfig.json",
    "lerna.json",
    "mypy.ini",
    "node_modules",
    "nx.json",
    "package-lock.json",
    "package.json",
    "pnpm-workspace.yaml",
    "pom.xml",
    "poetry.toml",
    "pyproject.toml",
    "pyrightconfig.json",
    "pytest.ini",
    "pyvenv.cfg",
    "ruff.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "settings.gradle",
    "setup.cfg",
    "setup.py",
    "snap",
    "tox.ini",
    "tsconfig.json",
    "turbo.json",
    "uv.lock",
    "uv.toml",
    "yarn.lock",
];
