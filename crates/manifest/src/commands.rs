//! Programs: which one starts the skill, and which ones it may execute.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::decode::{Table, plain};
use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Fault, Spanned, quoted};
use crate::filesystem::GrantPath;
use crate::raw;

/// A program: a name that is looked up in PATH, or a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProgramSpec {
    /// A name without a slash.
    Name(String),
    /// An absolute path, or one in the skill's folder.
    Path(GrantPath),
}

impl FromStr for ProgramSpec {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        if text.is_empty() {
            return Err(Fault::new(Code::EmptyValue, "the program's name is empty"));
        }
        if text.contains('/') || text.starts_with('~') {
            let path: GrantPath = text.parse()?;
            path.check_grantable()?;
            return Ok(Self::Path(path));
        }
        let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-' | '[');
        if text.len() > 255 || text.starts_with('-') || matches!(text, "." | "..") || !text.chars().all(sane)
        {
            let fault = Fault::new(Code::InvalidCommand, format!("{} is not a program's name", quoted(text)));
            return Err(if text.contains(char::is_whitespace) {
                fault.help("no shell splits it: put the arguments into `args`")
            } else {
                fault
            });
        }
        Ok(Self::Name(text.to_owned()))
    }
}

impl fmt::Display for ProgramSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Path(path) => path.fmt(f),
        }
    }
}

impl Serialize for ProgramSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How the skill is started. The arguments are passed as they are; no shell sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Entrypoint {
    /// The program.
    pub command: Spanned<ProgramSpec>,
    /// Its arguments.
    pub args: Vec<Spanned<String>>,
}

impl Entrypoint {
    /// The arguments of a run: the manifest's, then the caller's.
    ///
    /// ```
    /// use skillsandbox_manifest::Manifest;
    ///
    /// let manifest = Manifest::parse(r#"
    /// skill: { name: weather, version: "1" }
    /// entrypoint: { command: python3, args: [main.py, --json] }
    /// "#)?;
    /// let args: Vec<_> = manifest.entrypoint().unwrap().arguments(["--city", "Oslo; rm -rf /"]).collect();
    /// assert_eq!(args, ["main.py", "--json", "--city", "Oslo; rm -rf /"]);
    /// # Ok::<(), skillsandbox_manifest::Invalid>(())
    /// ```
    pub fn arguments<'a>(
        &'a self,
        extra: impl IntoIterator<Item = &'a str>,
    ) -> impl Iterator<Item = &'a str> {
        self.args.iter().map(|arg| arg.value.as_str()).chain(extra)
    }

    pub(crate) fn lower(raw: &raw::Entrypoint, sink: &mut DiagnosticSink) -> Option<Self> {
        let command = sink.check(&raw.command, format_args!("entrypoint.command"), |text| text.parse());
        let args = raw::entries(raw.args.as_ref()).map(|(_, arg)| arg.clone()).collect();
        Some(Self { command: command?, args })
    }
}

/// Which programs a skill may execute, and with what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CommandPermissions {
    /// The programs.
    pub allow: Vec<Spanned<ProgramSpec>>,
    /// For a program, the first arguments (sub-commands) it may be given. A program not named here takes any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allowed_args: BTreeMap<ProgramSpec, Vec<String>>,
    /// For a program, arguments that refuse the call, also as `--flag=value`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub forbidden_args: BTreeMap<ProgramSpec, Vec<String>>,
}

impl CommandPermissions {
    const PATH: &'static str = "permissions.commands";

    /// Whether a program is among the allowed ones.
    #[must_use]
    pub fn allows(&self, program: &ProgramSpec) -> bool {
        self.allow.iter().any(|allowed| allowed.value == *program)
    }

    pub(crate) fn lower(raw: &raw::Commands, sink: &mut DiagnosticSink) -> Self {
        let allow =
            sink.check_all(raw::filled(&raw.allow), &format!("{}.allow", Self::PATH), |text| text.parse());
        let mut commands = Self { allow, allowed_args: BTreeMap::new(), forbidden_args: BTreeMap::new() };
        commands.allowed_args = commands.lower_args(raw.allowed_args.as_ref(), "allowed_args", sink);
        commands.forbidden_args = commands.lower_args(raw.forbidden_args.as_ref(), "forbidden_args", sink);
        commands
    }

    fn lower_args(
        &self,
        raw: Option<&Table<Vec<Option<Spanned<String>>>>>,
        name: &str,
        sink: &mut DiagnosticSink,
    ) -> BTreeMap<ProgramSpec, Vec<String>> {
        let mut lists = BTreeMap::new();
        let mut spelt = BTreeMap::new();
        for (key, words) in raw.iter().flat_map(|table| &table.0) {
            let path = format!("{}.{name}.{}", Self::PATH, plain(&key.value));
            let Some(program) = sink.check(key, format_args!("{path}"), |text| text.parse::<ProgramSpec>())
            else {
                continue;
            };
            if !self.allows(&program) {
                let message = format!("{} is not in `allow`", quoted(&program.to_string()));
                let diagnostic = Diagnostic::new(Code::Contradiction, key.span, message);
                sink.push(diagnostic.help("add it there, or remove it here").at(path.clone()));
                continue;
            }
            let words = sink.check_all(raw::filled(words), &path, |text: &String| {
                if text.is_empty() {
                    return Err(Fault::new(Code::EmptyValue, "the argument is empty"));
                }
                Ok(text.clone())
            });
            if let Some(first) = spelt.insert(program.value.clone(), key.span) {
                let message = format!("a second list for {}", quoted(&program.to_string()));
                let diagnostic = Diagnostic::new(Code::Repeated, key.span, message);
                sink.push(
                    diagnostic.related(first, "the first is here").help("make one list of them").at(path),
                );
                continue;
            }
            lists.insert(program.value, words.into_iter().map(|word| word.value).collect());
        }
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_names_or_paths() {
        for (text, expected) in [
            ("python3", "python3"),
            ("g++", "g++"),
            ("7z", "7z"),
            ("./run.sh", "${SKILL_DIR}/run.sh"),
            ("bin/tool", "${SKILL_DIR}/bin/tool"),
            ("/usr/bin/env", "/usr/bin/env"),
            ("~/bin/x", "~/bin/x"),
        ] {
            assert_eq!(text.parse::<ProgramSpec>().unwrap().to_string(), expected, "{text}");
        }
        for text in [
            "",
            "python3 main.py",
            "a;b",
            "-x",
            "../x",
            "a/../b",
            ".",
            "..",
            "$(id)",
            "a|b",
            "`id`",
            "a\nb",
            "curl\u{3164}",
            "/",
            "/proc/self/exe",
            "/dev/x",
        ] {
            assert!(text.parse::<ProgramSpec>().is_err(), "{text:?}");
        }
    }
}
