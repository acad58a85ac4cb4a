//! Where a program's own installation begins and ends.
//!
//! Two ways to know: the place (version managers and package managers keep theirs where everybody knows), and what stands
//! beside the program. Nothing else is given as a whole; [`SearchHost::may_be_given`] has the last word on both.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::ProgramNeed;
use super::files;
use super::search_host::SearchHost;

/// A folder in which a manager keeps one installation a folder.
struct InstallationFolder {
    /// Variables that name the manager's folder, each with what lies below it.
    variables: &'static [(&'static str, &'static str)],
    /// Where it is otherwise: below the home folder, or an absolute path.
    otherwise: &'static [&'static str],
    /// From there to the folder of installations.
    below: &'static str,
    /// Names from there to one installation: 2 for `installs/python/3.11.7`, 0 where all of it is given.
    depth: usize,
    reason: &'static str,
}

const KEPT: &[InstallationFolder] = &[
    kept(&[("PYENV_ROOT", "")], &[".pyenv"], "versions", 1, "the Python installation of pyenv"),
    kept(&[("RBENV_ROOT", "")], &[".rbenv"], "versions", 1, "the Ruby installation of rbenv"),
    kept(&[("NODENV_ROOT", "")], &[".nodenv"], "versions", 1, "the Node.js installation of nodenv"),
    kept(&[("GOENV_ROOT", "")], &[".goenv"], "versions", 1, "the Go installation of goenv"),
    kept(&[("NVM_DIR", "")], &[".nvm", ".config/nvm"], "versions/node", 1, "the Node.js installation of nvm"),
    kept(
        &[("FNM_DIR", ""), ("XDG_DATA_HOME", "fnm")],
        &[".local/share/fnm", ".fnm"],
        "node-versions",
        1,
        "the Node.js installation of fnm",
    ),
    kept(&[("VOLTA_HOME", "")], &[".volta"], "tools/image/node", 1, "the Node.js installation of Volta"),
    kept(&[("VOLTA_HOME", "")], &[".volta"], "tools/image/npm", 1, "the npm installation of Volta"),
    kept(&[("VOLTA_HOME", "")], &[".volta"], "tools/image/yarn", 1, "the Yarn installation of Volta"),
    kept(&[("VOLTA_HOME", "")], &[".volta"], "tools/image/pnpm", 1, "the pnpm installation of Volta"),
    kept(&[("VOLTA_HOME", "")], &[".volta"], "tools/image/packages", 1, "the package installed by Volta"),
    kept(&[("ASDF_DATA_DIR", "")], &[".asdf"], "installs", 2, "the installation of asdf"),
    kept(
        &[("MISE_DATA_DIR", ""), ("XDG_DATA_HOME", "mise")],
        &[".local/share/mise"],
        "installs",
        2,
        "the installation of mise",
    ),
    kept(&[("RUSTUP_HOME", "")], &[".rustup"], "toolchains", 1, "the Rust toolchain of rustup"),
    kept(
        &[("UV_PYTHON_INSTALL_DIR", ""), ("XDG_DATA_HOME", "uv/python")],
        &[".local/share/uv/python"],
        "",
        1,
        "the Python installation of uv",
    ),
    kept(
        &[("UV_TOOL_DIR", ""), ("XDG_DATA_HOME", "uv/tools")],
        &[".local/share/uv/tools"],
        "",
        1,
        "the environment of a tool installed by uv",
    ),
    kept(
        &[("PIPX_HOME", "")],
        &[".local/share/pipx", ".local/pipx"],
        "venvs",
        1,
        "the environment of a program installed by pipx",
    ),
    kept(&[("SDKMAN_DIR", "")], &[".sdkman"], "candidates", 2, "the installation of SDKMAN"),
    kept(&[], &["/opt"], "", 1, "the installation in /opt"),
    kept(&[], &["/nix/store"], "", 0, "the Nix store"),
    kept(&[], &["/gnu/store"], "", 0, "the Guix store"),
    // Not etc and var, in which services keep their settings and data.
    kept(BREW, BREW_OTHERWISE, "bin", 0, BREW_REASON),
    kept(BREW, BREW_OTHERWISE, "sbin", 0, BREW_REASON),
    kept(BREW, BREW_OTHERWISE, "lib", 0, BREW_REASON),
    kept(BREW, BREW_OTHERWISE, "libexec", 0, BREW_REASON),
    kept(BREW, BREW_OTHERWISE, "opt", 0, BREW_REASON),
    kept(BREW, BREW_OTHERWISE, "Cellar", 0, BREW_REASON),
    kept(BREW, BREW_OTHERWISE, "share", 0, BREW_REASON),
];

const BREW: &[(&str, &str)] = &[("HOMEBREW_PREFIX", "")];
const BREW_OTHERWISE: &[&str] = &["/home/linuxbrew/.linuxbrew", ".linuxbrew"];
const BREW_REASON: &str = "the programs of Homebrew";

const fn kept(
    variables: &'static [(&'static str, &'static str)],
    otherwise: &'static [&'static str],
    below: &'static str,
    depth: usize,
    reason: &'static str,
) -> InstallationFolder {
    InstallationFolder { variables, otherwise, below, depth, reason }
}

/// What stands in a folder above `bin` where something is installed. Each name may be one of several, parted by `|`.
const BESIDE: &[(&[&str], &str)] = &[
    (&["conda-meta"], "the conda environment"),
    (&["bin/rustc", "lib/rustlib"], "the Rust toolchain"),
    (&["bin/go", "src/runtime", "pkg/tool"], "the Go installation"),
    (&["bin/java", "lib/modules|lib/jvm.cfg|lib/amd64|jre/lib"], "the Java installation"),
    (&["bin/node", "lib/node_modules/npm"], "the Node.js installation"),
    (&["bin/ruby", "lib/ruby"], "the Ruby installation"),
];

/// What has to be readable for the installed program at this real path, or `None` where no rule knows its installation.
pub(super) fn of(host: &SearchHost<'_>, path: &Path) -> Option<Vec<ProgramNeed>> {
    by_place(host, path).or_else(|| by_neighbours(host, path)).or_else(|| node_package(host, path))
}

/// The folder of installations a link stands in: `~/.local/share/uv/python` for its `cpython-3.11-linux`. It holds
/// nothing but installations, so that it may be given where a link between two of them has to be there too.
pub(super) fn version_folder(host: &SearchHost<'_>, link: &Path) -> Option<ProgramNeed> {
    let parent = link.parent()?;
    KEPT.iter().filter(|kept| kept.depth > 0 && kept.below.len() + kept.variables.len() > 0).find_map(
        |kept| {
            let folder = kept.folders(host).into_iter().find(|folder| {
                let below = parent.strip_prefix(folder).ok();
                below.is_some_and(|below| below.components().count() + 1 == kept.depth)
            });
            folder.filter(|_| host.may_be_given(parent)).map(|_| ProgramNeed::new(parent, kept.reason))
        },
    )
}

impl InstallationFolder {
    /// The folders of installations that there are, by their real paths.
    fn folders(&self, host: &SearchHost<'_>) -> Vec<PathBuf> {
        let named =
            self.variables.iter().filter_map(|(name, below)| Some(host.folder_variable(name)?.join(below)));
        let usual = self.otherwise.iter().filter_map(|place| {
            if place.starts_with('/') { Some(PathBuf::from(place)) } else { Some(host.home()?.join(place)) }
        });
        let folders = named.chain(usual).filter_map(|root| root.join(self.below).canonicalize().ok());
        // A variable may call anything a folder of installations; /opt is one, though it lies at the top.
        folders.filter(|folder| self.otherwise == ["/opt"] || !host.is_too_broad(folder)).collect()
    }
}

fn by_place(host: &SearchHost<'_>, path: &Path) -> Option<Vec<ProgramNeed>> {
    let found = KEPT.iter().find_map(|kept| {
        kept.folders(host).into_iter().find_map(|folder| {
            let below = path.strip_prefix(&folder).ok()?;
            // The program itself has to lie in the installation, not be it.
            (below.components().count() > kept.depth).then_some(())?;
            let installation: PathBuf =
                folder.components().chain(below.components().take(kept.depth)).collect();
            Some((installation, kept))
        })
    });
    let (installation, kept) = found?;
    if kept.reason != BREW_REASON {
        let is_store = kept.depth == 0;
        let fits = if is_store { SearchHost::may_be_given_around_skills } else { SearchHost::may_be_given };
        return fits(host, &installation).then(|| vec![ProgramNeed::new(&installation, kept.reason)]);
    }
    // One program of Homebrew leads by links to others, in all of these folders.
    let all = KEPT.iter().filter(|other| other.reason == BREW_REASON).flat_map(|other| other.folders(host));
    let same = all.filter(|folder| folder.parent() == installation.parent() && host.may_be_given(folder));
    Some(same.map(|folder| ProgramNeed::new(&folder, BREW_REASON)).collect())
}

fn by_neighbours(host: &SearchHost<'_>, path: &Path) -> Option<Vec<ProgramNeed>> {
    let folder = path.parent().filter(|folder| folder.ends_with("bin") || folder.ends_with("condabin"))?;
    let root = folder.parent()?;
    // What is worked on holds more than what is run, and perhaps a token in the address it came from.
    if root.join(".git").symlink_metadata().is_ok() {
        return None;
    }
    let there = |names: &str| names.split('|').any(|name| root.join(name).exists());
    let named =
        BESIDE.iter().find(|(names, _)| names.iter().all(|names| there(names))).map(|(_, reason)| *reason);
    if let Some(reason) = named {
        return host.may_be_given(root).then(|| vec![ProgramNeed::new(root, reason)]);
    }
    python(host, path, root)
}

/// A Python is known by its library. Where it lies among other things, as in `~/.local`, only that library is given.
fn python(host: &SearchHost<'_>, path: &Path, root: &Path) -> Option<Vec<ProgramNeed>> {
    const REASON: &str = "the Python installation";
    let is_python = |name: &OsStr| name.as_encoded_bytes().starts_with(b"python");
    // A virtual environment has a pyvenv.cfg, and is no Python to make others from.
    if root.join("pyvenv.cfg").symlink_metadata().is_ok()
        || !files::names(&root.join("bin")).iter().any(|name| is_python(name))
    {
        return None;
    }
    let lib = root.join("lib");
    let libraries = files::names(&lib).into_iter().filter(|name| is_python(name)).map(|name| lib.join(name));
    let libraries: Vec<PathBuf> =
        libraries.filter(|library| library.join("os.py").is_file() && !library.is_symlink()).collect();
    if libraries.is_empty() {
        return None;
    }
    if host.may_be_given(root) {
        return Some(vec![ProgramNeed::new(root, REASON)]);
    }
    path.file_name().filter(|name| is_python(name))?;
    let pieces = libraries
        .iter()
        .filter(|library| host.may_be_given(library))
        .map(|library| ProgramNeed::new(library, REASON));
    Some(pieces.chain([ProgramNeed::new(path, REASON)]).collect())
}

/// A program installed by `npm install --global`: its package, with what it brought along.
fn node_package(host: &SearchHost<'_>, path: &Path) -> Option<Vec<ProgramNeed>> {
    let marker = Path::new("lib/node_modules");
    let modules = path.ancestors().filter(|folder| folder.ends_with(marker)).last()?;
    let below = path.strip_prefix(modules).ok()?;
    let scoped = below.as_os_str().as_encoded_bytes().starts_with(b"@");
    let depth = if scoped { 2 } else { 1 };
    let package: PathBuf = modules.components().chain(below.components().take(depth)).collect();
    let fits = below.components().count() > depth && package.join("package.json").is_file();
    (fits && host.may_be_given(&package)).then(|| vec![ProgramNeed::new(&package, "the Node.js package")])
}
