//! What the files of a skill say of what it needs, each with its file and line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use skillsandbox_manifest::{DomainPattern, EnvPattern};
use skillsandbox_scanner::{Capability, FileView, ScanReport, SkillFiles};

/// Most places that are told for one fact.
const MOST_PLACES: usize = 3;
/// Most facts of one kind.
const MOST_FACTS: usize = 64;

/// What the files say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StaticFacts {
    /// Variables that code reads, each with where.
    pub variables: BTreeMap<String, Vec<String>>,
    /// Hosts that code talks to, each with where.
    pub hosts: BTreeMap<String, Vec<String>>,
    /// Programs that code starts, each with where.
    pub programs: BTreeMap<String, Vec<String>>,
    /// What it does that is never granted, each with where.
    pub doubtful: BTreeMap<String, Vec<String>>,
    /// Scripts, each with what runs it.
    pub scripts: BTreeMap<String, &'static str>,
}

/// Variables that every process has, or that say nothing of a skill.
const USUAL: [&str; 28] = [
    "HOME",
    "PATH",
    "PWD",
    "OLDPWD",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "DISPLAY",
    "BASH_SOURCE",
    "IFS",
    "OPTARG",
    "OPTIND",
    "PS1",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "FUNCNAME",
    "HOSTNAME",
    "PYTHONPATH",
    "NODE_ENV",
    "EUID",
];

/// How programs read a variable by its name.
static READS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r#"os\.environ(?:\.get)?\s*[\[(]\s*['"]([A-Za-z_][A-Za-z0-9_]{0,63})['"]"#,
        r#"os\.getenv\(\s*['"]([A-Za-z_][A-Za-z0-9_]{0,63})['"]"#,
        r"process\.env\.([A-Za-z_][A-Za-z0-9_]{0,63})",
        r#"process\.env\[\s*['"]([A-Za-z_][A-Za-z0-9_]{0,63})['"]"#,
        r#"(?:Deno\.env\.get|std::env::var|os\.Getenv)\(\s*['"]([A-Za-z_][A-Za-z0-9_]{0,63})['"]"#,
        r#"ENV(?:\.fetch\(|\[)\s*['"]([A-Za-z_][A-Za-z0-9_]{0,63})['"]"#,
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// How a shell script says that it expects a variable: with a default, or with a complaint where it is not set.
static SHELL_READS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\$\{([A-Z][A-Z0-9_]{2,63})(?::?[-?])").ok());

impl StaticFacts {
    /// Of a skill's files and a report that lists capabilities ([`ScannerBuilder::list_capabilities`](skillsandbox_scanner::ScannerBuilder)).
    #[must_use]
    pub fn of(files: &SkillFiles, report: &ScanReport) -> Self {
        let mut facts = Self::default();
        for file in files.list_files() {
            facts.read_file(&file);
        }
        for seen in &report.capabilities {
            // What a document shows is not what a script does.
            if !facts.scripts.contains_key(&seen.file) {
                continue;
            }
            let place = format!("{}:{}", seen.file, seen.line);
            match seen.capability {
                Capability::ReadsNamedSecret => add(&mut facts.variables, &seen.object, place),
                Capability::SendsToNetwork | Capability::FetchesFromNetwork => {
                    if let Some(host) = host_of(&seen.object) {
                        add(&mut facts.hosts, &host, place);
                    }
                }
                Capability::RunsPrograms => {
                    if let Some(program) =
                        seen.object.split_whitespace().next().filter(|word| !word.starts_with('-'))
                    {
                        add(&mut facts.programs, program, place);
                    }
                }
                Capability::ListensOnNetwork => {}
                other => {
                    let object = if seen.object.is_empty() { "" } else { ": " };
                    let what = format!("{}{object}{}", other.describe(), seen.object);
                    add(&mut facts.doubtful, &what, place);
                }
            }
        }
        facts.variables.retain(|name, _| {
            !USUAL.contains(&name.as_str()) && name.parse::<EnvPattern>().is_ok_and(|name| !name.is_glob())
        });
        facts
    }

    fn read_file(&mut self, file: &FileView<'_>) {
        let Some(text) = std::str::from_utf8(file.bytes).ok().filter(|_| file.is_text) else { return };
        let Some(program) = interpreter_of(file.path, text) else { return };
        self.scripts.insert(file.path.to_owned(), program);
        for (number, line) in text.lines().enumerate() {
            let is_shell = matches!(program, "bash" | "sh");
            let patterns = READS.iter().filter(|_| !is_shell).chain(SHELL_READS.iter().filter(|_| is_shell));
            for name in
                patterns.flat_map(|pattern| pattern.captures_iter(line)).filter_map(|found| found.get(1))
            {
                add(&mut self.variables, name.as_str(), format!("{}:{}", file.path, number + 1));
            }
        }
    }

    /// The script that is the only one to be started: one alone, or one that is called `main`.
    #[must_use]
    pub fn only_script(&self) -> Option<(&str, &'static str)> {
        let started: BTreeSet<&String> = self.scripts.keys().filter(|path| is_started(path)).collect();
        let is_main = |path: &&&String| {
            path.rsplit('/').next().is_some_and(|name| name.split('.').next() == Some("main"))
        };
        let only = if started.len() == 1 { started.first() } else { started.iter().find(is_main) }?;
        Some((only.as_str(), self.scripts.get(*only)?))
    }
}

/// Whether a script is one that people start: not a module, a test or an example.
fn is_started(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let depth = parts.len();
    let is_in_scripts = depth == 2 && matches!(parts.first(), Some(&("scripts" | "bin")));
    let name = parts.last().copied().unwrap_or_default();
    (depth == 1 || is_in_scripts) && !name.starts_with('_') && !name.starts_with("test_")
}

/// What runs a script, by its first line or its name.
fn interpreter_of(path: &str, text: &str) -> Option<&'static str> {
    let first = text.lines().next().unwrap_or_default();
    let by_line = first.strip_prefix("#!").and_then(|line| {
        ["python3", "python", "bash", "node", "sh", "ruby", "perl", "deno"]
            .into_iter()
            .find(|program| line.split(['/', ' ']).any(|word| word == *program))
    });
    let by_name = match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("py") => Some("python3"),
        Some("sh" | "bash") => Some("bash"),
        Some("js" | "mjs" | "cjs") => Some("node"),
        Some("rb") => Some("ruby"),
        Some("pl") => Some("perl"),
        _ => None,
    };
    match by_line {
        Some("python") => Some("python3"),
        found => found.or(by_name),
    }
}

fn add(facts: &mut BTreeMap<String, Vec<String>>, what: &str, place: String) {
    if what.is_empty() || (!facts.contains_key(what) && facts.len() >= MOST_FACTS) {
        return;
    }
    let places = facts.entry(what.to_owned()).or_default();
    if places.len() < MOST_PLACES && !places.contains(&place) {
        places.push(place);
    }
}

/// The name in a URL, or a name by itself, where a manifest can grant it.
fn host_of(object: &str) -> Option<String> {
    let rest = object.split_once("://").map_or(object, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_name = host.contains('.') && host.parse::<DomainPattern>().is_ok_and(|name| !name.is_wildcard());
    is_name.then_some(host)
}
