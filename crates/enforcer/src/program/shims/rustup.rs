//! rustup: `cargo` and `rustc` in `~/.cargo/bin` are rustup itself, under other names.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{ProgramError, ShimTarget, files, in_section, is_plain, is_program, refuse, root, shown};
use crate::program::search_host::SearchHost;

pub(super) fn find_target(
    host: &SearchHost<'_>,
    folder: &Path,
    name: &OsStr,
) -> Result<Option<ShimTarget>, ProgramError> {
    if !stands_in(folder, name) {
        return Ok(None);
    }
    let Some(root) = root(host, &[("RUSTUP_HOME", "")], &[".rustup"]).into_iter().next() else {
        return Ok(None);
    };
    let Some(wanted) = wanted_versions(host, &root) else {
        let why = "no toolchain is chosen".to_owned();
        return Err(refuse("rustup", name, why, "choose one with `rustup default stable`".to_owned()));
    };
    let toolchains = root.join("toolchains");
    let installed = find_toolchain(&toolchains, &wanted);
    let program = installed.map(|toolchain| toolchain.join("bin").join(name)).filter(|path| is_program(path));
    if let Some(path) = program {
        return Ok(Some(ShimTarget::Program(path)));
    }
    let why = format!("the toolchain it is set to, {}, is not installed or has none", shown(&wanted));
    let install =
        if is_plain(&wanted) { format!("`rustup toolchain install {wanted}`, or ") } else { String::new() };
    Err(refuse("rustup", name, why, format!("{install}set RUSTUP_TOOLCHAIN to one that is")))
}

/// A link to `rustup` beside it, or the same file under another name.
fn stands_in(folder: &Path, name: &OsStr) -> bool {
    let rustup = folder.join("rustup");
    let file = |path: &Path| {
        path.metadata().ok().filter(std::fs::Metadata::is_file).map(|found| (found.dev(), found.ino()))
    };
    name != "rustup"
        && name != "rustup-init"
        && file(&rustup).is_some_and(|found| file(&folder.join(name)) == Some(found))
}

/// The toolchain that is set, in rustup's own order.
fn wanted_versions(host: &SearchHost<'_>, root: &Path) -> Option<String> {
    if let Some(value) =
        (host.search.environment)("RUSTUP_TOOLCHAIN").and_then(|value| value.into_string().ok())
    {
        return Some(value);
    }
    let settings = files::own_text(&root.join("settings.toml")).unwrap_or_default();
    let overrides =
        in_section(&settings, "overrides").filter(|(folder, _)| host.search.workdir.starts_with(folder));
    let nearest = overrides.max_by_key(|(folder, _)| folder.len()).map(|(_, toolchain)| toolchain.to_owned());
    let in_file = || {
        let plain = host.settings_upwards("rust-toolchain").map(|text| channel(&text));
        let toml = host.settings_upwards("rust-toolchain.toml").map(|text| channel(&text));
        plain.chain(toml).flatten().next()
    };
    let default = || {
        in_section(&settings, "")
            .find(|(key, _)| *key == "default_toolchain")
            .map(|(_, name)| name.to_owned())
    };
    nearest.or_else(in_file).or_else(default)
}

/// The channel of a `rust-toolchain` file, in its old form of one word or its new one. A `path` in it is not believed.
fn channel(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    match (lines.next(), lines.next()) {
        (Some(one), None) if !one.contains(['=', '[']) => Some(one.to_owned()),
        _ => in_section(text, "toolchain")
            .find(|(key, _)| *key == "channel")
            .map(|(_, channel)| channel.to_owned()),
    }
}

/// The folder of a toolchain; `stable` means that for this machine.
fn find_toolchain(toolchains: &Path, wanted: &str) -> Option<PathBuf> {
    if !is_plain(wanted) {
        return None;
    }
    let arch = std::env::consts::ARCH;
    let names = [
        wanted.to_owned(),
        format!("{wanted}-{arch}-unknown-linux-gnu"),
        format!("{wanted}-{arch}-unknown-linux-musl"),
    ];
    names.iter().map(|name| toolchains.join(name)).find(|folder| folder.is_dir())
}
