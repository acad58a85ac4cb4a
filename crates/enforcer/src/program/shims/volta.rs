//! Volta: every program in `~/.volta/bin` is one and the same, which looks into `package.json` and its own JSON files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{ProgramError, ShimTarget, files, is_plain, is_program, refuse, root, shown};
use crate::program::search_host::SearchHost;

pub(super) fn find_target(
    host: &SearchHost<'_>,
    folder: &Path,
    name: &OsStr,
) -> Result<Option<ShimTarget>, ProgramError> {
    let roots = root(host, &[("VOLTA_HOME", "")], &[".volta"]);
    let Some(root) = roots.into_iter().find(|root| folder == root.join("bin")) else { return Ok(None) };
    let Some(program) = name.to_str().filter(|name| is_plain(name)).filter(|name| !name.starts_with("volta"))
    else {
        return Ok(None);
    };
    let found = match program {
        "node" => find_image(host, &root, "node").map(|folder| folder.join("bin/node")),
        "npm" | "npx" => {
            let own = find_image(host, &root, "npm").map(|folder| folder.join("bin").join(program));
            own.filter(|path| is_program(path))
                .or_else(|| Some(find_image(host, &root, "node")?.join("bin").join(program)))
        }
        "yarn" | "yarnpkg" => find_image(host, &root, "yarn").map(|folder| folder.join("bin").join(program)),
        "pnpm" | "pnpx" => find_image(host, &root, "pnpm").map(|folder| folder.join("bin").join(program)),
        _ => find_package(&root, program),
    };
    if let Some(path) = found.filter(|path| is_program(path)) {
        return Ok(Some(ShimTarget::Program(path)));
    }
    let wanted = pinned_version(host, &root, program)
        .map_or_else(|| "no version of it".to_owned(), |version| shown(&version));
    let why = format!("it is set to {wanted}, and that is not installed");
    Err(refuse("Volta", name, why, format!("`volta install {program}`")))
}

/// The folder of the version of a tool that is set.
fn find_image(host: &SearchHost<'_>, root: &Path, tool: &str) -> Option<PathBuf> {
    let version = pinned_version(host, root, tool).filter(|version| is_plain(version))?;
    Some(root.join("tools/image").join(tool).join(version)).filter(|folder| folder.is_dir())
}

/// By the nearest `package.json` that speaks of it, or the user's own choice.
fn pinned_version(host: &SearchHost<'_>, root: &Path, tool: &str) -> Option<String> {
    let text_of = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let in_project = host.settings_upwards("package.json").find_map(|text| {
        let package: Value = serde_json::from_str(&text).ok()?;
        text_of(package.get("volta")?.get(tool))
    });
    in_project.or_else(|| {
        let platform: Value =
            serde_json::from_str(&files::own_text(&root.join("tools/user/platform.json"))?).ok()?;
        if tool == "node" {
            return text_of(platform.get("node")?.get("runtime"));
        }
        let in_node = || text_of(platform.get("node")?.get(tool));
        text_of(platform.get(tool)).or_else(in_node)
    })
}

/// A program of a package that was installed by `volta install`.
fn find_package(root: &Path, program: &str) -> Option<PathBuf> {
    let settings = files::own_text(&root.join("tools/user/bins").join(format!("{program}.json")))?;
    let settings: Value = serde_json::from_str(&settings).ok()?;
    let package = settings.get("package")?.as_str()?;
    let parts: Vec<&str> = package.strip_prefix('@').unwrap_or(package).split('/').collect();
    let fits = parts.len() <= 2 && parts.iter().all(|part| is_plain(part));
    fits.then(|| root.join("tools/image/packages").join(package).join("bin").join(program))
}
