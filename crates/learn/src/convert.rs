//! The other known form of a declaration, in TOML (`[[skills]]`), as a manifest; what cannot be carried over is named.

use serde_json::{Map, Value, json};
use skillsandbox_text::escape_line;
use toml::Table;

use crate::draft::{DraftEntry, ManifestDraft};

/// Most bytes of a file that is converted, as of a manifest.
const MOST_BYTES: usize = 256 << 10;
/// Most skills of one file.
const MOST_SKILLS: usize = 256;

/// A skill of the file, as a manifest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConvertedSkill {
    /// Its name, as the file has it.
    pub name: String,
    /// The manifest. At its head stands what was lost.
    pub draft: ManifestDraft,
    /// What could not be carried over, and why.
    pub lost: Vec<String>,
}

/// Why a file is not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It is not TOML.
    #[error("it is not TOML: {0}")]
    Toml(#[from] toml::de::Error),
    /// It is TOML of another kind.
    #[error("it has no `[[skills]]`, so it is not a declaration of skills")]
    NoSkills,
    /// It is larger than a declaration is.
    #[error("it is larger than 256 KiB, or declares more than 256 skills")]
    TooLarge,
    /// It restricts a skill in a way that is not understood: without that, the skill could do more than it may.
    #[error("{what} of the skill `{skill}` restricts it, and cannot be read: {why}")]
    Restriction {
        /// The skill's name, as the file has it.
        skill: String,
        /// Which key.
        what: String,
        /// Why it cannot be read.
        why: String,
    },
}

/// Converts all skills of a file.
///
/// ```
/// use skillsandbox_learn::convert_toml;
///
/// let skills = convert_toml("[[skills]]\nname = 'data'\nimage = 'x:latest'\n[skills.capabilities]\nfilesystem = ['read:/data/input']\nnetwork = ['https://api.example.com/v1']\n")?;
/// assert!(skills[0].draft.to_text()?.contains("- \"/data/input\""));
/// assert_eq!(skills[0].lost.len(), 3, "{:?}", skills[0].lost); // the image, the path of the URL, how it is started
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What is not such a file.
pub fn convert_toml(text: &str) -> Result<Vec<ConvertedSkill>, ConvertError> {
    if text.len() > MOST_BYTES {
        return Err(ConvertError::TooLarge);
    }
    let table: Table = text.parse()?;
    let skills = table.get("skills").and_then(toml::Value::as_array).ok_or(ConvertError::NoSkills)?;
    if skills.len() > MOST_SKILLS {
        return Err(ConvertError::TooLarge);
    }
    let tables = skills.iter().filter_map(toml::Value::as_table);
    let mut converted =
        tables.map(|skill| Conversion::of(skill).finish()).collect::<Result<Vec<ConvertedSkill>, _>>()?;
    if converted.is_empty() {
        return Err(ConvertError::NoSkills);
    }
    for value in skills.iter().filter(|value| !value.is_table()) {
        for skill in &mut converted {
            skill.lost.push(format!("skills: `{}` is no skill", short(value)));
        }
    }
    for key in table.keys().filter(|key| *key != "skills") {
        for skill in &mut converted {
            skill.lost.push(format!("{key}: it is about no skill"));
        }
    }
    for skill in &mut converted {
        let lost = skill.lost.iter().map(|lost| format!("not carried over: {lost}"));
        skill.draft.about.extend(lost);
    }
    Ok(converted)
}

struct Conversion {
    name: String,
    draft: ManifestDraft,
    lost: Vec<String>,
    /// The first restriction that cannot be carried over, and why.
    unread: Option<(String, String)>,
}

impl Conversion {
    fn of(skill: &Table) -> Self {
        let text = |key: &str| skill.get(key).and_then(toml::Value::as_str);
        let name = text("name").unwrap_or("skill").to_owned();
        let mut draft = ManifestDraft::new(&name, text("version"), text("description"));
        draft.about.push("Converted by `skillsandbox convert` from a declaration in TOML.".to_owned());
        let mut own = Self { name: name.clone(), draft, lost: Vec::new(), unread: None };
        if own.draft.name != name {
            own.lose("name", &format!("`{name}` cannot be a skill's name here; it is `{}`", own.draft.name));
        }
        for (key, value) in skill {
            match (key.as_str(), value) {
                // Read above and below.
                ("name" | "version" | "description", toml::Value::String(_))
                | ("command" | "entrypoint" | "args", _) => {}
                ("runtime", toml::Value::String(runtime)) => own.runtime(runtime),
                ("capabilities", toml::Value::Table(capabilities)) => own.capabilities(capabilities),
                ("resources", toml::Value::Table(resources)) => own.resources(resources),
                ("allowed_commands", toml::Value::Table(commands)) => own.commands(commands),
                ("allowed_commands", _) => own.refuse("allowed_commands", "expected a table"),
                (other, value) => own.lose(other, &format!("there is nothing for `{}` here", short(value))),
            }
        }
        own.entrypoint(skill);
        own
    }

    fn finish(self) -> Result<ConvertedSkill, ConvertError> {
        if let Some((what, why)) = self.unread {
            let skill = escape_line(&self.name);
            return Err(ConvertError::Restriction {
                skill,
                what: escape_line(&what),
                why: escape_line(&why),
            });
        }
        Ok(ConvertedSkill { name: self.name, draft: self.draft, lost: self.lost })
    }

    /// A restriction that is not carried over: there is no manifest without it.
    fn refuse(&mut self, what: &str, why: &str) {
        self.unread.get_or_insert_with(|| (what.to_owned(), why.to_owned()));
    }

    fn lose(&mut self, key: &str, why: &str) {
        self.lost.push(format!("{key}: {why}"));
    }

    /// Changes the draft, unless it would not be a manifest any more.
    fn carry(&mut self, key: &str, change: impl FnOnce(&mut ManifestDraft)) {
        if let Err(why) = self.try_change(change) {
            self.lose(key, &why);
        }
    }

    /// The same for what restricts the skill.
    fn restrict(&mut self, key: &str, change: impl FnOnce(&mut ManifestDraft)) {
        if let Err(why) = self.try_change(change) {
            self.refuse(key, &why);
        }
    }

    fn try_change(&mut self, change: impl FnOnce(&mut ManifestDraft)) -> Result<(), String> {
        let before = self.draft.clone();
        change(&mut self.draft);
        self.draft.to_text().map(drop).map_err(|error| {
            self.draft = before;
            error.to_string().lines().next().unwrap_or_default().to_owned()
        })
    }

    fn runtime(&mut self, runtime: &str) {
        let known = match runtime {
            "native" => return,
            "wasm" => "wasm",
            "docker" | "oci" | "container" => "oci",
            other => return self.lose("runtime", &format!("there is no runtime `{other}` here")),
        };
        self.carry("runtime", |draft| drop(draft.rest.insert("runtime".to_owned(), json!(known))));
    }

    fn capabilities(&mut self, capabilities: &Table) {
        for (key, value) in capabilities {
            let place = format!("capabilities.{key}");
            match (key.as_str(), value) {
                ("filesystem", toml::Value::Array(list)) => {
                    self.each(&place, list, Self::filesystem);
                }
                ("volumes", toml::Value::Array(list)) => self.each(&place, list, Self::volume),
                ("network", toml::Value::Array(list)) => self.each(&place, list, Self::network),
                ("network", toml::Value::String(none)) if none == "none" => {}
                ("filesystem", toml::Value::String(none)) if none == "none" => {}
                ("env_allowlist" | "env", toml::Value::Array(list)) => {
                    self.each(&place, list, |own, place, name| {
                        let entry = DraftEntry::new(name.to_owned(), [format!("{place}: {name}")]);
                        own.carry(&format!("{place}: {name}"), |draft| draft.env.push(entry));
                    });
                }
                ("env_blocklist", value) => match texts(value) {
                    Some(names) => {
                        for name in names {
                            self.restrict(&format!("{place}: {name}"), |draft| {
                                push_into(draft.rest_of(&["permissions", "env_vars"]), "deny", json!(name));
                            });
                        }
                    }
                    None => self.refuse(&place, "expected a list of names"),
                },
                (_, value) => self.lose(&place, &format!("there is nothing for `{}` here", short(value))),
            }
        }
    }

    fn each(&mut self, place: &str, list: &[toml::Value], act: impl Fn(&mut Self, &str, &str)) {
        for value in list {
            match value.as_str() {
                Some(text) => act(self, place, text),
                None => self.lose(place, &format!("`{}` is not text", short(value))),
            }
        }
    }

    fn filesystem(&mut self, place: &str, text: &str) {
        let entry = |path: &str| DraftEntry::new(path.to_owned(), [format!("{place}: {text}")]);
        let key = format!("{place}: {text}");
        match text.split_once(':') {
            Some(("read" | "r" | "ro", path)) => self.carry(&key, |draft| draft.read.push(entry(path))),
            Some(("write" | "rw" | "w", path)) => self.carry(&key, |draft| draft.write.push(entry(path))),
            _ => self.lose(&key, "expected read:PATH or write:PATH"),
        }
    }

    fn volume(&mut self, place: &str, text: &str) {
        let mut parts = text.split(':');
        let (Some(host), inside, mode) = (parts.next(), parts.next(), parts.next()) else { return };
        let key = format!("{place}: {text}");
        let entry = DraftEntry::new(host.to_owned(), [key.clone()]);
        let options: Vec<&str> = mode.into_iter().chain(parts).flat_map(|part| part.split(',')).collect();
        for option in options.iter().filter(|option| !["ro", "rw"].contains(option)) {
            self.lose(&key, &format!("there is nothing for `{option}` here"));
        }
        if options.contains(&"ro") {
            self.carry(&key, |draft| draft.read.push(entry));
        } else {
            self.carry(&key, |draft| draft.write.push(entry));
        }
        if let Some(inside) = inside.filter(|inside| *inside != host) {
            self.lose(&key, &format!("it is found at {host} here, not at {inside}"));
        }
    }

    fn network(&mut self, place: &str, text: &str) {
        let key = format!("{place}: {text}");
        let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
        let (protocol, usual) = match scheme {
            "https" | "wss" => ("https", 443),
            "http" | "ws" => ("http", 80),
            "tcp" => ("tcp", 443),
            "udp" => ("udp", 443),
            other => return self.lose(&key, &format!("`{other}` is not spoken of here")),
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) => (name, port.parse::<u16>().ok()),
            None => (host, Some(usual)),
        };
        let Some(port) = port else { return self.lose(&key, "it has no port that can be read") };
        if name == "*" {
            return self.lose(&key, "no skill may reach every host; name the hosts");
        }
        let rule = json!({ "domain": name, "ports": [port], "protocol": protocol });
        self.carry(&key, |draft| draft.egress.push(DraftEntry::new(rule, [key.clone()])));
        if !path.is_empty() {
            self.lose(&key, &format!("a host is granted as a whole, not only /{path}"));
        }
    }

    fn resources(&mut self, resources: &Table) {
        for (key, value) in resources {
            let place = format!("resources.{key}");
            let (name, new) = match (key.as_str(), value) {
                ("memory", toml::Value::String(size)) => ("memory_mb", json!(size)),
                ("disk", toml::Value::String(size)) => ("disk_mb", json!(size)),
                ("timeout", toml::Value::Integer(seconds)) => ("max_runtime_seconds", json!(seconds)),
                ("timeout", toml::Value::String(time)) => ("max_runtime_seconds", json!(time)),
                ("cpu", value) => {
                    let Some(percent) = share_of(value) else {
                        self.lose(&place, &format!("`{}` is not a number of cores", short(value)));
                        continue;
                    };
                    ("max_cpu_percent", json!(percent))
                }
                (_, value) => {
                    self.lose(&place, &format!("there is nothing for `{}` here", short(value)));
                    continue;
                }
            };
            self.carry(&place, |draft| drop(draft.rest_of(&["resources"]).insert(name.to_owned(), new)));
        }
    }

    fn commands(&mut self, commands: &Table) {
        let programs = commands.get("commands").and_then(texts).unwrap_or_default();
        if programs.is_empty() {
            return self.refuse("allowed_commands.commands", "expected a list of commands");
        }
        let mut rules = Map::new();
        rules.insert("allow".to_owned(), json!(programs));
        for (key, value) in commands {
            let place = format!("allowed_commands.{key}");
            match key.as_str() {
                "commands" => {}
                "allowed_args" | "forbidden_args" => {
                    let Some(list) = texts(value) else {
                        self.refuse(&place, "expected a list of texts");
                        continue;
                    };
                    // To forbid nothing is no restriction; to allow nothing is one that a manifest cannot say.
                    if list.is_empty() {
                        if key == "allowed_args" {
                            self.refuse(&place, "it allows no argument at all");
                        }
                        continue;
                    }
                    let each: Map<String, Value> =
                        programs.iter().map(|program| (program.clone(), json!(list))).collect();
                    rules.insert(key.clone(), Value::Object(each));
                }
                _ => self.refuse(&place, "it is not known here"),
            }
        }
        self.restrict("allowed_commands", |draft| {
            drop(draft.rest_of(&["permissions"]).insert("commands".to_owned(), Value::Object(rules)));
        });
    }

    fn entrypoint(&mut self, skill: &Table) {
        let words = |value: &toml::Value| match value {
            toml::Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
            other => texts(other),
        };
        let mut all: Vec<String> = Vec::new();
        for key in ["command", "entrypoint", "args"] {
            let Some(value) = skill.get(key) else { continue };
            match words(value) {
                None => self.lose(key, &format!("`{}` is neither text nor a list of texts", short(value))),
                Some(_) if key == "entrypoint" && !all.is_empty() => {
                    self.lose(key, "it is started by `command`");
                }
                Some(words) => all.extend(words),
            }
        }
        let Some((command, arguments)) = all.split_first() else {
            return self.lose(
                "entrypoint",
                "the file does not say how the skill is started; say it when you run it",
            );
        };
        let value = json!({ "command": command, "args": arguments });
        self.carry("entrypoint", |draft| {
            draft.entrypoint = Some(DraftEntry::new(value, Vec::<String>::new()));
        });
    }
}

impl ManifestDraft {
    /// A section of what is kept as it is.
    fn rest_of(&mut self, path: &[&str]) -> &mut Map<String, Value> {
        let mut map = &mut self.rest;
        for key in path {
            let entry = map.entry((*key).to_owned()).or_insert_with(|| json!({}));
            if !entry.is_object() {
                *entry = json!({});
            }
            let Value::Object(inner) = entry else { unreachable!("it was made an object") };
            map = inner;
        }
        map
    }
}

/// A list of texts, and nothing else in it.
fn texts(value: &toml::Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

fn push_into(map: &mut Map<String, Value>, key: &str, value: Value) {
    let list = map.entry(key.to_owned()).or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        list.push(value);
    }
}

/// Cores as percent of one.
fn share_of(value: &toml::Value) -> Option<u32> {
    let cores = match value {
        toml::Value::Float(cores) => *cores,
        toml::Value::Integer(cores) => i32::try_from(*cores).ok()?.into(),
        toml::Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    let percent = (cores * 100.0).round();
    // Between 1 percent and a thousand cores, so that it is a whole number of 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was compared")]
    (1.0..=100_000.0).contains(&percent).then_some(percent as u32)
}

fn short(value: &toml::Value) -> String {
    skillsandbox_text::shorten(&value.to_string(), 60, "…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(rest: &str) -> String {
        format!("[[skills]]\nname = 'a'\ncommand = 'git status'\n{rest}")
    }

    #[test]
    fn a_restriction_that_cannot_be_read_is_an_error() {
        for rest in [
            "[skills.allowed_commands]\ncommands = ['git']\nforbidden_args = '--exec'\n",
            "[skills.allowed_commands]\ncommands = ['git']\nallowed_args = [1, 2]\n",
            "[skills.allowed_commands]\ncommands = ['git']\nallowed_args = []\n",
            "[skills.allowed_commands]\ncommands = ['git']\nforbidden_args = ['--exec', 1]\n",
            "[skills.allowed_commands]\ncommands = ['git']\nforbidden_arguments = ['--exec']\n",
            "[skills.allowed_commands]\ncommands = 'git'\n",
            "allowed_commands = ['git']\n",
            "[skills.capabilities]\nenv_blocklist = 'TOKEN'\n",
            "[skills.capabilities]\nenv_blocklist = ['TOKEN', 1]\n",
            "[skills.capabilities]\nenv_blocklist = ['A B']\n",
        ] {
            let result = convert_toml(&skill(rest));
            assert!(matches!(result, Err(ConvertError::Restriction { .. })), "{rest}: {result:?}");
        }
    }

    #[test]
    fn whatever_else_is_not_understood_is_named() {
        for (rest, lost) in [
            ("args = 5\n", "args: "),
            ("args = ['a', 5]\n", "args: "),
            ("entrypoint = 'main.py'\n", "entrypoint: "),
            ("[skills.capabilities]\nvolumes = ['/data:/data:ro,z']\n", "`z`"),
        ] {
            let skills = convert_toml(&skill(rest)).unwrap();
            assert!(skills[0].lost.iter().any(|line| line.contains(lost)), "{rest}: {:?}", skills[0].lost);
        }
        let read_only =
            convert_toml(&skill("[skills.capabilities]\nvolumes = ['/data:/data:ro,z']\n")).unwrap();
        assert!(read_only[0].draft.write.is_empty() && read_only[0].draft.read.len() == 1);
    }
}
