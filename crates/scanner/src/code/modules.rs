//! Which file of a skill a name in an import means.

use std::collections::BTreeMap;

/// The modules of a skill, by their paths.
#[derive(Debug, Default)]
pub(crate) struct ModuleNames {
    /// For each program its path and the group of those that share their variables.
    programs: Vec<(String, usize)>,
    by_path: BTreeMap<String, usize>,
}

impl ModuleNames {
    /// Adds a program; those of one group share their variables.
    pub(crate) fn add(&mut self, path: &str, group: usize, is_importable: bool) {
        let number = self.programs.len();
        self.programs.push((path.to_owned(), group));
        if is_importable {
            self.by_path.entry(path.to_owned()).or_insert(number);
        }
    }

    pub(crate) fn group(&self, program: usize) -> usize {
        self.programs.get(program).map_or(usize::MAX, |(_, group)| *group)
    }

    /// The program that a name in an import of another one means.
    pub(crate) fn resolve(&self, from: usize, name: &str) -> Option<usize> {
        if name.is_empty() || name.len() > 200 || self.by_path.len() < 2 {
            return None;
        }
        let (path, _) = self.programs.get(from)?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let candidates = if name.contains('/') || name.starts_with("./") {
            if !name.starts_with('.') {
                return None;
            }
            script_paths(folder, name)
        } else if matches!(name, "." | "..") {
            return None;
        } else {
            python_paths(folder, name)
        };
        let found = candidates.iter().find_map(|path| self.by_path.get(path));
        found.copied().filter(|found| *found != from)
    }
}

/// Where a script's `./lib` may lie.
fn script_paths(folder: &str, name: &str) -> Vec<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let base = parts.join("/");
    let mut paths = vec![base.clone()];
    // TypeScript imports `./lib.js` and means `lib.ts`.
    let stem = base.strip_suffix(".js").or_else(|| base.strip_suffix(".mjs")).unwrap_or(&base);
    for ending in [".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", "/index.js", "/index.ts"] {
        paths.push(format!("{stem}{ending}"));
    }
    paths
}

/// Where Python's `a.b` may lie: beside the file, or below any folder above it.
fn python_paths(folder: &str, name: &str) -> Vec<String> {
    let dots = name.chars().take_while(|c| *c == '.').count();
    let path = name.trim_start_matches('.').replace('.', "/");
    let mut folders: Vec<&str> = vec![folder];
    let mut at = folder;
    while let Some((above, _)) = at.rsplit_once('/') {
        folders.push(above);
        at = above;
    }
    if !folder.is_empty() {
        folders.push("");
    }
    let skipped = dots.saturating_sub(1);
    let mut paths = Vec::new();
    for folder in folders.into_iter().skip(skipped).take(4) {
        let base = if folder.is_empty() { path.clone() } else { format!("{folder}/{path}") };
        paths.push(format!("{base}.py"));
        paths.push(format!("{base}/__init__.py"));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_finds_its_file() {
        let mut modules = ModuleNames::default();
        for (group, path) in [
            "scripts/main.py",
            "scripts/helper.py",
            "lib/net.py",
            "src/a.ts",
            "src/lib/b.ts",
            "src/c/index.js",
        ]
        .into_iter()
        .enumerate()
        {
            modules.add(path, group, true);
        }
        for (from, name, found) in [
            (0, "helper", Some(1)),
            (0, ".helper", Some(1)),
            (0, "lib.net", Some(2)),
            (0, "requests", None),
            (3, "./lib/b", Some(4)),
            (3, "./lib/b.js", Some(4)),
            (3, "./c", Some(5)),
            (4, "../a", Some(3)),
            (3, "axios", None),
        ] {
            assert_eq!(modules.resolve(from, name), found, "{from} {name}");
        }
    }
}
