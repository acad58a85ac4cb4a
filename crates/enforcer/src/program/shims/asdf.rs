//! asdf and mise: many languages in one manager, `.tool-versions` and `mise.toml`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{ProgramError, ShimTarget, files, in_section, is_plain, is_program, refuse, root, shown};
use crate::program::search_host::SearchHost;

struct AsdfManager {
    name: &'static str,
    roots: &'static [(&'static str, &'static str)],
    in_home: &'static [&'static str],
    /// Variables `ASDF_PYTHON_VERSION`.
    variables: &'static str,
    /// Files of TOML with a section `tools`, nearest folder first.
    toml: &'static [&'static str],
    /// The user's own, below the home folder.
    own: &'static [&'static str],
}

const MANAGERS: [AsdfManager; 2] = [
    AsdfManager {
        name: "asdf",
        roots: &[("ASDF_DATA_DIR", "")],
        in_home: &[".asdf"],
        variables: "ASDF",
        toml: &[],
        own: &[".tool-versions"],
    },
    AsdfManager {
        name: "mise",
        roots: &[("MISE_DATA_DIR", ""), ("XDG_DATA_HOME", "mise")],
        in_home: &[".local/share/mise"],
        variables: "MISE",
        toml: &["mise.toml", ".mise.toml"],
        own: &[".config/mise/config.toml", ".tool-versions"],
    },
];

/// Where programs lie in an installation; Go's are one folder deeper.
const BIN: [&str; 4] = ["bin", "go/bin", ".", "shims"];

pub(super) fn find_target(
    host: &SearchHost<'_>,
    folder: &Path,
    name: &OsStr,
) -> Result<Option<ShimTarget>, ProgramError> {
    if !folder.ends_with("shims") {
        return Ok(None);
    }
    for manager in &MANAGERS {
        let roots = root(host, manager.roots, manager.in_home);
        if let Some(root) = roots.into_iter().find(|root| folder == root.join("shims")) {
            return manager.choose(host, &root, name).map(Some);
        }
    }
    Ok(None)
}

impl AsdfManager {
    fn choose(&self, host: &SearchHost<'_>, root: &Path, name: &OsStr) -> Result<ShimTarget, ProgramError> {
        let installs = root.join("installs");
        let mut tools: Vec<String> = files::names(&installs)
            .into_iter()
            .filter_map(|tool| tool.into_string().ok())
            .filter(|tool| is_plain(tool) && offers(&installs.join(tool), name))
            .collect();
        tools.sort();
        let mut unset = Vec::new();
        for tool in &tools {
            for version in self.wanted_versions(host, tool) {
                if version == "system" {
                    return Ok(ShimTarget::System);
                }
                if let Some(path) = Some(&version)
                    .filter(|version| is_plain(version))
                    .and_then(|version| find_program(&installs.join(tool).join(version), name))
                {
                    return Ok(ShimTarget::Program(path));
                }
                unset.push(format!("{tool} {}", shown(&version)));
            }
        }
        let why = match (tools.is_empty(), unset.is_empty()) {
            (true, _) => "no tool that is installed has it".to_owned(),
            (false, true) => format!("no version of {} is set", tools.join(" or ")),
            (false, false) => format!("{} is set and not installed, or has none", unset.join(", ")),
        };
        let tool = tools.first().map_or("TOOL", String::as_str);
        let cure = format!("install a version and set it, as by {}", self.variable(tool));
        Err(refuse(self.name, name, why, cure))
    }

    fn variable(&self, tool: &str) -> String {
        format!("{}_{}_VERSION", self.variables, tool.to_ascii_uppercase().replace('-', "_"))
    }

    /// The versions of a tool that are set: by the variable, the nearest file, the user's own.
    fn wanted_versions(&self, host: &SearchHost<'_>, tool: &str) -> Vec<String> {
        let variable =
            (host.search.environment)(&self.variable(tool)).and_then(|value| value.into_string().ok());
        if let Some(value) = variable {
            return value.split_whitespace().take(16).map(str::to_owned).collect();
        }
        let project = self
            .toml
            .iter()
            .flat_map(|name| host.settings_upwards(name))
            .chain(host.settings_upwards(".tool-versions"));
        let own = self.own.iter().filter_map(|name| files::own_text(&host.home()?.join(name)));
        project
            .chain(own)
            .map(|text| set_in(&text, tool))
            .find(|versions| !versions.is_empty())
            .unwrap_or_default()
    }
}

/// The versions that a file sets: lines `python 3.11.7 system`, or `python = "3.11"` in the section `tools`.
fn set_in(text: &str, tool: &str) -> Vec<String> {
    let named = in_section(text, "tools").filter(|(name, _)| *name == tool);
    let versions: Vec<String> = named.take(16).map(|(_, version)| version.to_owned()).collect();
    if !versions.is_empty() {
        return versions;
    }
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let words = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(tool))
            .then(|| words.filter(|word| *word != "=").take(16).map(str::to_owned).collect())
    });
    words.into_iter().next().unwrap_or_default()
}

/// Whether any version of a tool has the program.
fn offers(tool: &Path, name: &OsStr) -> bool {
    files::names(tool).iter().take(256).any(|version| find_program(&tool.join(version), name).is_some())
}

fn find_program(installation: &Path, name: &OsStr) -> Option<PathBuf> {
    BIN.iter().map(|bin| installation.join(bin).join(name)).find(|path| is_program(path))
}
