//! Which commands run the project's own code, and which bring or run somebody else's.

use std::path::Path;

/// Words of package managers behind which packages are named.
const FETCHING: [&str; 16] = [
    "add", "create", "dlx", "get", "i", "in", "init", "inject", "install", "isntall", "require", "sync",
    "up", "update", "upgrade", "x",
];

/// Options of package managers whose value is a file or a folder of the project.
const PROJECT_VALUES: [&str; 8] =
    ["-r", "--requirement", "-c", "--constraint", "--path", "--prefix", "--cwd", "--manifest-path"];

/// What containers and infrastructure only tell, build or check.
const LOOKING: [&str; 17] = [
    "build", "check", "config", "fmt", "get", "images", "init", "inspect", "lint", "logs", "plan", "ps",
    "show", "template", "test", "validate", "version",
];

/// Whether a command, by the way in which it runs others, stays with the project.
pub(super) fn is_own(way: &str, arguments: &[String], cwd: &Path) -> bool {
    match way {
        // Another machine is not the project.
        "ssh/any" => false,
        "container/any" | "infrastructure/run" => {
            let mut words = operands(arguments);
            let first = words.next().unwrap_or_default();
            let verb = if first == "compose" { words.next().unwrap_or_default() } else { first };
            LOOKING.contains(&verb)
        }
        // Their targets have any names: `make install`.
        "make/any" => true,
        _ => !names_package(arguments, cwd),
    }
}

fn operands(arguments: &[String]) -> impl Iterator<Item = &str> {
    arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
}

/// Whether a package manager is told to get a package by its name, which is not what the project's own files list.
fn names_package(arguments: &[String], cwd: &Path) -> bool {
    let fetches = |word: &String| FETCHING.contains(&word.as_str());
    let Some(at) = arguments.iter().position(fetches) else { return false };
    let mut rest = arguments.iter().skip(at + 1).map(String::as_str);
    while let Some(word) = rest.next() {
        if PROJECT_VALUES.contains(&word) {
            rest.next();
        } else if !word.starts_with('-') && !is_of_project(word, cwd) {
            return true;
        }
    }
    false
}

/// A folder or file of the project; a name alone is taken for a package even where a folder has it.
fn is_of_project(word: &str, cwd: &Path) -> bool {
    word == "."
        || word.starts_with("./")
        || word.starts_with(".[")
        || word.contains('/') && cwd.join(word).exists()
}
