//! The permissions of a skill, enumerated once: what the lock records, what an update is compared by, what a policy takes away, and what
//! `inspect` shows all come from here.
//!
//! [`PermissionSet::declared`] takes the manifest apart field by field, without `..`: a new key of the manifest does not compile until it
//! has a place here, and a new field of the set does not compile until [`PermissionSet::compare`] has been taught it. The document's front
//! matter is taken apart in the same way.

mod compare;
mod document;
mod limits;
mod parameters;
mod quoting;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

pub use self::compare::{PermissionChange, PermissionDiff};
pub use self::document::DocumentPermissions;
pub use self::limits::{LimitValue, ResourceLimit};
pub use self::parameters::ParameterRule;
use self::quoting::quote_argument;

use crate::commands::{CommandPermissions, Entrypoint, ProgramSpec};
use crate::env_vars::EnvPermissions;
use crate::filesystem::FilePermissions;
use crate::front_matter::FrontMatter;
use crate::manifest::{DeclaredPermissions, Manifest, SkillIdentity, Syscalls};
use crate::network::{EgressRule, NetworkPermissions};

/// What a skill may touch, by its own declaration, in words that can be read, stored and compared.
///
/// The default is nothing at all. A set that was stored before a field existed has that field as unknown (`None`), which counts as
/// nothing when it is compared.
///
/// ```
/// use skillsandbox_manifest::{Manifest, PermissionSet};
///
/// let version = |resolver: &str| Manifest::parse(&format!(r#"
/// skill: {{ name: weather, version: "1" }}
/// permissions: {{ network: {{ resolver: {resolver}, egress: [{{ domain: api.weather.test }}] }} }}
/// entrypoint: {{ command: python3, args: [main.py] }}
/// "#));
/// let old = PermissionSet::declared(Some(&version("system")?), None);
/// let new = PermissionSet::declared(Some(&version("192.0.2.53")?), None);
/// let diff = old.compare(&new);
/// assert_eq!(diff.wider[0].to_string(), "permissions.network.resolver: changed from system to 192.0.2.53");
/// assert!(new.compare(&old).wider.is_empty());
/// # Ok::<(), skillsandbox_manifest::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionSet {
    /// Hosts, one entry a port: `api.weather.test 443/https`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Files that may be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Files that may be read and written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// Files that may not be touched, whatever is granted above them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<String>,
    /// Unix sockets that may be connected to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unix_sockets: Vec<String>,
    /// Environment variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_vars: Vec<String>,
    /// Environment variables that it never sees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_vars_deny: Vec<String>,
    /// Programs, each with its rules about arguments (`git only log status never --exec`); `None` for any that the sandbox holds.
    pub commands: Option<Vec<String>>,
    /// What the document tells an agent: its tools, those it may not use, and settings. In the lock its fields stand beside the others.
    #[serde(flatten)]
    pub document: DocumentPermissions,
    /// The profile of system calls; `None` without a manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syscalls: Option<String>,
    /// Limits, by their names in the manifest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, LimitValue>,
    /// Who resolves names; `None` where it is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolver: Option<String>,
    /// What runs it; `None` where it is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The program that is started and its arguments; `None` where it is not recorded, or there is no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<Vec<String>>,
    /// The values that it takes; `None` where they are not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Vec<ParameterRule>>,
}

impl Default for PermissionSet {
    fn default() -> Self {
        Self {
            network: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            forbidden: Vec::new(),
            unix_sockets: Vec::new(),
            env_vars: Vec::new(),
            env_vars_deny: Vec::new(),
            // Here `None` would be more, not less.
            commands: Some(Vec::new()),
            document: DocumentPermissions::default(),
            syscalls: None,
            resources: BTreeMap::new(),
            resolver: None,
            runtime: None,
            entrypoint: None,
            parameters: None,
        }
    }
}

/// One permission: where it stands in the manifest, and what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionEntry {
    /// `permissions.network.egress`.
    pub path: &'static str,
    /// `api.weather.test 443/https`.
    pub text: String,
}

impl std::fmt::Display for PermissionEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}

/// Where each permission stands: in the manifest, or in the document's front matter.
pub(crate) mod paths {
    pub(crate) const EGRESS: &str = "permissions.network.egress";
    pub(crate) const RESOLVER: &str = "permissions.network.resolver";
    pub(crate) const READ: &str = "permissions.filesystem.read";
    pub(crate) const WRITE: &str = "permissions.filesystem.write";
    pub(crate) const FORBIDDEN: &str = "permissions.filesystem.forbidden";
    pub(crate) const UNIX_SOCKETS: &str = "permissions.filesystem.unix_sockets";
    pub(crate) const ENV_ALLOW: &str = "permissions.env_vars.allow";
    pub(crate) const ENV_DENY: &str = "permissions.env_vars.deny";
    pub(crate) const COMMANDS: &str = "permissions.commands";
    pub(crate) const TOOLS: &str = "allowed-tools";
    pub(crate) const DISALLOWED_TOOLS: &str = "disallowed-tools";
    pub(crate) const SETTINGS: &str = "front matter";
    pub(crate) const SYSCALLS: &str = "permissions.syscalls.profile";
    pub(crate) const RUNTIME: &str = "runtime";
    pub(crate) const ENTRYPOINT: &str = "entrypoint";
    pub(crate) const PARAMETERS: &str = "parameters";
}

/// What stands for a list that is not there.
const ANY_PROGRAM: &str = "any program";
const ANY_TOOL: &str = "any tool, since none is named";

impl PermissionSet {
    /// What a manifest and a document declare. A skill without a manifest is granted nothing by it, but an agent may give it tools.
    #[must_use]
    pub fn declared(manifest: Option<&Manifest>, document: Option<&FrontMatter>) -> Self {
        let document = document.map_or_else(DocumentPermissions::unlimited, DocumentPermissions::of);
        Self { document, ..manifest.map(Self::of_manifest).unwrap_or_default() }
    }

    /// Every field of a manifest, each once. No `..` here: see the module's documentation.
    fn of_manifest(manifest: &Manifest) -> Self {
        let Manifest { skill, runtime, permissions, resources, parameters, entrypoint } = manifest;
        // Who it is, not what it may do.
        let SkillIdentity { name: _, version: _, description: _ } = skill;
        let DeclaredPermissions { network, filesystem, env_vars, syscalls, commands } = permissions;
        let NetworkPermissions { egress, resolver } = network;
        let FilePermissions { read, write, forbidden, unix_sockets } = filesystem;
        let EnvPermissions { allow, deny } = env_vars;
        let Syscalls { profile } = syscalls;
        Self {
            network: egress.iter().flat_map(|rule| hosts_of(&rule.value)).collect(),
            read: texts(read.iter().map(|path| &path.value)),
            write: texts(write.iter().map(|path| &path.value)),
            forbidden: texts(forbidden.iter().map(|path| &path.value)),
            unix_sockets: texts(unix_sockets.iter().map(|path| &path.value)),
            env_vars: texts(allow.iter().map(|name| &name.value)),
            env_vars_deny: texts(deny.iter().map(|name| &name.value)),
            commands: commands.as_ref().map(programs_of),
            document: DocumentPermissions::unlimited(), // the document's, by `declared`
            syscalls: Some(profile.as_str().to_owned()),
            resources: limits::record(resources),
            resolver: Some(resolver.to_string()),
            runtime: Some(runtime.as_str().to_owned()),
            entrypoint: entrypoint.as_ref().map(words_of),
            parameters: Some(parameters.iter().map(ParameterRule::of).collect()),
        }
    }

    /// Every permission in readable form, in the manifest's order.
    ///
    /// ```
    /// use skillsandbox_manifest::{Manifest, PermissionSet};
    ///
    /// let manifest = Manifest::parse(r#"
    /// skill: { name: weather, version: "1" }
    /// permissions: { filesystem: { read: [/srv/data] } }
    /// entrypoint: { command: python3, args: [main.py, "two words"] }
    /// "#)?;
    /// let entries = PermissionSet::declared(Some(&manifest), None).entries();
    /// let entries: Vec<_> = entries.iter().map(ToString::to_string).collect();
    /// assert!(entries.contains(&"permissions.filesystem.read: /srv/data".to_owned()));
    /// assert!(entries.contains(&"entrypoint: python3 main.py 'two words'".to_owned()));
    /// assert!(entries.contains(&"resources.memory_mb: 256 MiB".to_owned()));
    /// # Ok::<(), skillsandbox_manifest::Invalid>(())
    /// ```
    #[must_use]
    pub fn entries(&self) -> Vec<PermissionEntry> {
        let Self {
            network,
            read,
            write,
            forbidden,
            unix_sockets,
            env_vars,
            env_vars_deny,
            commands,
            document,
            syscalls,
            resources,
            resolver,
            runtime,
            entrypoint,
            parameters,
        } = self;
        let mut entries = Vec::new();
        let mut add = |path, texts: &[String]| {
            entries.extend(texts.iter().map(|text| PermissionEntry { path, text: text.clone() }));
        };
        add(paths::ENTRYPOINT, entrypoint.as_deref().map(quoting::quote_words).as_slice());
        add(paths::RUNTIME, runtime.as_slice());
        add(paths::EGRESS, network);
        add(paths::RESOLVER, resolver.as_slice());
        add(paths::READ, read);
        add(paths::WRITE, write);
        add(paths::FORBIDDEN, forbidden);
        add(paths::UNIX_SOCKETS, unix_sockets);
        add(paths::ENV_ALLOW, env_vars);
        add(paths::ENV_DENY, env_vars_deny);
        add(paths::COMMANDS, commands.as_deref().unwrap_or(&[ANY_PROGRAM.to_owned()]));
        add(paths::SYSCALLS, syscalls.as_slice());
        let DocumentPermissions { tools, disallowed_tools, settings } = document;
        add(paths::TOOLS, tools.as_deref().unwrap_or(&[ANY_TOOL.to_owned()]));
        add(paths::DISALLOWED_TOOLS, disallowed_tools);
        let settings: Vec<String> = settings.iter().map(document::show_setting).collect();
        add(paths::SETTINGS, &settings);
        for limit in ResourceLimit::ALL {
            let value = resources.get(limit.key());
            add(limit.path(), value.map(|value| limit.show(value)).as_slice());
        }
        let parameters: Vec<String> = parameters.iter().flatten().map(ToString::to_string).collect();
        add(paths::PARAMETERS, &parameters);
        entries
    }

    /// In a few words, for a list.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        for (what, list) in [
            ("hosts", &self.network),
            ("reads", &self.read),
            ("writes", &self.write),
            ("sockets", &self.unix_sockets),
            ("variables", &self.env_vars),
        ] {
            if !list.is_empty() {
                parts.push(format!("{what} {}", shorten(list)));
            }
        }
        if let Some(tools) = self.document.tools.as_ref().filter(|tools| !tools.is_empty()) {
            parts.push(format!("tools {}", shorten(tools)));
        }
        if let Some(resolver) = self.resolver.as_ref().filter(|resolver| *resolver != "system") {
            parts.push(format!("resolver {resolver}"));
        }
        if parts.is_empty() { "nothing declared".to_owned() } else { parts.join("; ") }
    }
}

/// The program and its arguments.
fn words_of(entrypoint: &Entrypoint) -> Vec<String> {
    let Entrypoint { command, args } = entrypoint;
    std::iter::once(command.value.to_string()).chain(args.iter().map(|arg| arg.value.clone())).collect()
}

/// A rule as one entry a port: each can be compared by itself.
fn hosts_of(rule: &EgressRule) -> impl Iterator<Item = String> {
    let EgressRule { to, ports, protocol } = rule;
    ports.iter().map(move |port| format!("{to} {port}/{protocol}"))
}

/// Each program with its rules about arguments.
fn programs_of(commands: &CommandPermissions) -> Vec<String> {
    let CommandPermissions { allow, allowed_args, forbidden_args } = commands;
    let rule = |program: &ProgramSpec| {
        let list = |lists: &BTreeMap<ProgramSpec, Vec<String>>, lead: &str| match lists.get(program) {
            Some(words) if words.is_empty() => format!(" {lead}"),
            Some(words) => format!(" {lead} {}", quoting::quote_words(words)),
            None => String::new(),
        };
        let program = quote_argument(&program.to_string());
        (program, list(allowed_args, "only"), list(forbidden_args, "never"))
    };
    let rules = allow.iter().map(|program| rule(&program.value));
    rules.map(|(program, only, never)| format!("{program}{only}{never}")).collect()
}

fn texts<T: ToString>(list: impl Iterator<Item = T>) -> Vec<String> {
    list.map(|item| item.to_string()).collect()
}

/// The first two, and how many more.
fn shorten(list: &[String]) -> String {
    let mut text = list.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let more @ 1.. = list.len().saturating_sub(2) {
        let _ = write!(text, " and {more} more");
    }
    text
}

#[cfg(test)]
mod tests;
