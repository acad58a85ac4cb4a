//! What the front matter of a document tells an agent about the power of a skill.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::front_matter::FrontMatter;

/// What an agent is told to give a skill, or to keep from it.
///
/// The default is nothing at all, as a lock that was written before a field existed has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DocumentPermissions {
    /// The agent's tools, of `allowed-tools` and of `tools`; `None` where the document names none, which limits nothing.
    pub tools: Option<Vec<String>>,
    /// Tools that it may not use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed_tools: Vec<String>,
    /// Every other key that is not known to be a mere description (`hooks`, `extends`), with its value as JSON.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl Default for DocumentPermissions {
    fn default() -> Self {
        // Here `None` would be more, not less.
        Self { tools: Some(Vec::new()), ..Self::unlimited() }
    }
}

/// Keys that describe a skill to people, in lower case and without `-` and `_`. One that is not listed here may be a setting of some agent,
/// so that a change of it is asked about.
const DESCRIPTIVE: [&str; 29] = [
    "author",
    "authors",
    "categories",
    "category",
    "changelog",
    "color",
    "copyright",
    "created",
    "createdat",
    "date",
    "displayname",
    "documentation",
    "emoji",
    "homepage",
    "icon",
    "keywords",
    "language",
    "lastupdated",
    "maintainer",
    "maintainers",
    "repository",
    "summary",
    "tags",
    "title",
    "updated",
    "updatedat",
    "url",
    "website",
    "whentouse",
];

/// The `type` of a document that is nothing special.
const PLAIN_KIND: &str = "skill";

impl DocumentPermissions {
    /// What is said without a document.
    pub(super) fn unlimited() -> Self {
        Self { tools: None, disallowed_tools: Vec::new(), settings: BTreeMap::new() }
    }

    /// Every field of a front matter, each once. No `..` here: a new key does not compile until it has been thought of.
    pub(super) fn of(front: &FrontMatter) -> Self {
        let FrontMatter {
            allowed_tools,
            tools,
            disallowed_tools,
            kind,
            extends,
            metadata,
            other,
            // Who it is and what it is for, not what it may do.
            name: _,
            description: _,
            license: _,
            compatibility: _,
            version: _,
            source: _,
            // How it was read.
            span: _,
            recovered: _,
        } = front;
        let mut set = Self::unlimited();
        // An agent may go by either list: what one of them names may be given.
        if allowed_tools.is_some() || tools.is_some() {
            let mut known = HashSet::new();
            let named = allowed_tools.iter().chain(tools).flatten().map(|tool| &tool.value);
            set.tools = Some(super::texts(named.filter(|tool| known.insert(*tool))));
        }
        set.disallowed_tools = super::texts(disallowed_tools.iter().flatten().map(|tool| &tool.value));
        if let Some(kind) = kind.as_ref().filter(|kind| kind.value != PLAIN_KIND) {
            set.add_setting("type".to_owned(), &Value::String(kind.value.clone()));
        }
        if let Some(extends) = extends {
            set.add_setting("extends".to_owned(), &Value::String(extends.value.clone()));
        }
        // A text among the author's own entries is a description; a map is where agents look for settings, such as what to install.
        for (key, value) in metadata.iter().filter(|(_, value)| value.is_object()) {
            set.add_setting(format!("metadata.{}", key.value), value);
        }
        for (key, value) in other.iter().filter(|(key, _)| !is_descriptive(&key.value)) {
            set.add_setting(key.value.clone(), value);
        }
        set
    }

    /// A key that is there twice has both values.
    fn add_setting(&mut self, key: String, value: &Value) {
        let text = self.settings.entry(key).or_default();
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&value.to_string());
    }
}

fn is_descriptive(key: &str) -> bool {
    let plain: String = key.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    DESCRIPTIVE.contains(&plain.to_ascii_lowercase().as_str())
}

/// `hooks {"pre":"./x.sh"}`.
pub(super) fn show_setting((key, value): (&String, &String)) -> String {
    format!("{key} {value}")
}
