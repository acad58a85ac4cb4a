//! The other known form of a declaration, in TOML (`[[skills]]`), as a manifest; what cannot be carried over is named.

use serde_json::{Map, Value, json};
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
    let mut converted: Vec<ConvertedSkill> =
        skills.iter().filter_map(toml::Value::as_table).map(|skill| Conversion::of(skill).finish()).collect();
    if converted.is_empty() {
        return Err(ConvertError::NoSkills);
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
}

impl Conversion {
    fn of(skill: &Table) -> Self {
        let text = |key: &str| skill.get(key).and_then(toml::Value::as_str);
        let name = text("name").unwrap_or("skill").to_owned();
        let mut draft = ManifestDraft::new(&name, text("version"), text("description"));
        draft.about.push("Converted by `skillsandbox convert` from a declaration in TOML.".to_owned());
        let mut own = Self { name: name.clone(), draft, lost: Vec::new() };
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
                (other, value) => own.lose(other, &format!("there is nothing for `{}` here", short(value))),
            }
        }
        own.entrypoint(skill);
        own
    }

    fn finish(self) -> ConvertedSkill {
        ConvertedSkill { name: self.name, draft: self.draft, lost: self.lost }
    }

    fn lose(&mut self, key: &str, why: &str) {
        self.lost.push(format!("{key}: {why}"));
    }

    /// Changes the draft, unless it would not be a manifest any more.
    fn carry(&mut self, key: &str, change: impl FnOnce(&mut ManifestDraft)) {
        let before = self.draft.clone();
        change(&mut self.draft);
        if let Err(error) = self.draft.to_text() {
            self.draft = before;
            let why = error.to_string();
            self.lose(key, why.lines().next().unwrap_or_default());
        }
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
                ("env_blocklist", toml::Value::Array(list)) => self.each(&place, list, |own, place, name| {
                    own.carry(&format!("{place}: {name}"), |draft| {
                        push_into(draft.rest_of(&["permissions", "env_vars"]), "deny", json!(name));
                    });
                }),
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
        if mode == Some("ro") {
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
        let words = |key: &str| -> Vec<String> {
            let list = commands.get(key).and_then(toml::Value::as_array);
            list.into_iter().flatten().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
        };
        let programs = words("commands");
        if programs.is_empty() {
            return self.lose("allowed_commands", "it names no command");
        }
        let mut rules = Map::new();
        rules.insert("allow".to_owned(), json!(programs));
        for key in ["allowed_args", "forbidden_args"] {
            let list = words(key);
            if !list.is_empty() {
                let each: Map<String, Value> =
                    programs.iter().map(|program| (program.clone(), json!(list))).collect();
                rules.insert(key.to_owned(), Value::Object(each));
            }
        }
        for key in commands.keys() {
            if !["commands", "allowed_args", "forbidden_args"].contains(&key.as_str()) {
                self.lose(&format!("allowed_commands.{key}"), "there is nothing for it here");
            }
        }
        self.carry("allowed_commands", |draft| {
            drop(draft.rest_of(&["permissions"]).insert("commands".to_owned(), Value::Object(rules)));
        });
    }

    fn entrypoint(&mut self, skill: &Table) {
        let words = |key: &str| -> Option<Vec<String>> {
            match skill.get(key)? {
                toml::Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
                toml::Value::Array(list) => {
                    list.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()
                }
                _ => None,
            }
        };
        let mut all = words("command").or_else(|| words("entrypoint")).unwrap_or_default();
        all.extend(words("args").unwrap_or_default());
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
