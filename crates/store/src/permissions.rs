//! What a skill declares, as the lock keeps it, and what an update would add to it.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use skillsandbox_manifest::{
    Cidr, DomainPattern, EnvPattern, FrontMatter, GrantPath, Manifest, SyscallProfile,
};
use skillsandbox_text::is_secret_name;

/// What a skill may touch, by its own declaration, in words that can be read and compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Permissions {
    /// Hosts: `api.weather.test 443/https`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Files that may be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Files that may be written, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// Files that may not be touched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<String>,
    /// Variables of the environment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_vars: Vec<String>,
    /// Variables that it never sees.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_vars_deny: Vec<String>,
    /// Programs, each with its rules about arguments; `None` for any that the sandbox holds.
    pub commands: Option<Vec<String>>,
    /// The agent's tools; `None` where the document names none, which limits nothing.
    pub tools: Option<Vec<String>>,
    /// The profile of system calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syscalls: Option<String>,
    /// Limits, by their names in the manifest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u64>,
}

/// What changed between two versions of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PermissionDiff {
    /// What the new version may do and the old one could not.
    pub wider: Vec<Item>,
    /// What it gave up.
    pub narrower: Vec<Item>,
}

impl PermissionDiff {
    /// Whether there is anything that a user should be asked about.
    #[must_use]
    pub fn widens(&self) -> bool {
        !self.wider.is_empty()
    }
}

/// One thing that is new, or gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Item {
    /// Which part of the declaration.
    pub section: &'static str,
    /// What.
    pub what: String,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.section, self.what)
    }
}

impl Permissions {
    /// Nothing at all: whatever another declares is more.
    #[must_use]
    pub fn none() -> Self {
        Self { commands: Some(Vec::new()), tools: Some(Vec::new()), ..Self::default() }
    }

    /// What a manifest and a document declare. A skill without a manifest is granted nothing by us, but an agent may give it tools.
    #[must_use]
    pub fn declared(manifest: Option<&Manifest>, document: Option<&FrontMatter>) -> Self {
        let tools = document.and_then(|front| front.allowed_tools.as_ref().or(front.tools.as_ref()));
        let tools = tools.map(|tools| texts(tools.iter().map(|tool| &tool.value)));
        let Some(manifest) = manifest else {
            return Self { tools, commands: Some(Vec::new()), ..Self::default() };
        };
        let egress = manifest.network().egress.iter();
        let files = manifest.filesystem();
        let env = manifest.env_vars();
        let resources = serde_json::to_value(manifest.resources()).unwrap_or_default();
        let resources = resources.as_object().into_iter().flatten();
        Self {
            network: egress
                .flat_map(|rule| {
                    let rule = &rule.value;
                    rule.ports.iter().map(move |port| format!("{} {port}/{}", rule.to, rule.protocol))
                })
                .collect(),
            read: texts(files.read.iter().map(|path| &path.value)),
            write: texts(files.write.iter().map(|path| &path.value)),
            forbidden: texts(files.forbidden.iter().map(|path| &path.value)),
            env_vars: texts(env.allow.iter().map(|name| &name.value)),
            env_vars_deny: texts(env.deny.iter().map(|name| &name.value)),
            commands: manifest.commands().map(|commands| {
                let of = |program| {
                    let list = |map: &BTreeMap<_, Vec<String>>, lead: &str| {
                        map.get(program).map(|args| format!(" {lead} {}", args.join(" "))).unwrap_or_default()
                    };
                    let only = list(&commands.allowed_args, "only");
                    format!("{program}{only}{}", list(&commands.forbidden_args, "never"))
                };
                commands.allow.iter().map(|program| of(&program.value)).collect()
            }),
            tools,
            syscalls: Some(manifest.syscall_profile().as_str().to_owned()),
            resources: resources.filter_map(|(key, value)| Some((key.clone(), value.as_u64()?))).collect(),
        }
    }

    /// What another version would add, and give up.
    #[must_use]
    pub fn diff(&self, new: &Self) -> PermissionDiff {
        PermissionDiff { wider: self.gained(new), narrower: new.gained(self) }
    }

    /// What `new` has and `self` does not.
    fn gained(&self, new: &Self) -> Vec<Item> {
        let mut out = Vec::new();
        let mut add = |section, what: &str| out.push(Item { section, what: what.to_owned() });
        for host in not_covered(&self.network, &new.network, reaches) {
            add("network", host);
        }
        // What may be written may be read.
        let readable: Vec<String> = self.read.iter().chain(&self.write).cloned().collect();
        for path in not_covered(&readable, &new.read, above) {
            add("read", path);
        }
        for path in not_covered(&self.write, &new.write, above) {
            add("write", path);
        }
        for path in not_covered(&new.forbidden, &self.forbidden, above) {
            add("no longer forbidden", path);
        }
        for name in not_covered(&self.env_vars, &new.env_vars, lets_see) {
            add("env_vars", name);
        }
        for name in not_covered(&new.env_vars_deny, &self.env_vars_deny, matches) {
            add("no longer denied", name);
        }
        match (&self.commands, &new.commands) {
            (Some(_), None) => add("commands", "any program"),
            (Some(old), Some(new)) => {
                for program in not_covered(old, new, |old, new| old == new) {
                    add("commands", program);
                }
            }
            (None, _) => {}
        }
        match (&self.tools, &new.tools) {
            (Some(_), None) => add("tools", "any, since none are named"),
            (Some(old), Some(new)) => {
                // `Bash` is more than `Bash(git:*)`.
                let covers = |old: &str, new: &str| old == new || new.starts_with(&format!("{old}("));
                for tool in not_covered(old, new, covers) {
                    add("tools", tool);
                }
            }
            (None, _) => {}
        }
        let profile =
            |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<SyscallProfile>().ok());
        let before = profile(&self.syscalls).unwrap_or(SyscallProfile::Strict);
        if let Some(after) = profile(&new.syscalls).filter(|after| after.stricter(before) != *after) {
            add("syscalls", after.as_str());
        }
        for (key, value) in &new.resources {
            if let Some(old) = self.resources.get(key).filter(|old| *old < value) {
                add("resources", &format!("{key}: {value}, was {old}"));
            }
        }
        out
    }

    /// In a few words, for a list.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        for (what, list) in [
            ("hosts", &self.network),
            ("reads", &self.read),
            ("writes", &self.write),
            ("variables", &self.env_vars),
        ] {
            if !list.is_empty() {
                parts.push(format!("{what} {}", shortened(list)));
            }
        }
        if let Some(tools) = self.tools.as_ref().filter(|tools| !tools.is_empty()) {
            parts.push(format!("tools {}", shortened(tools)));
        }
        if parts.is_empty() { "nothing declared".to_owned() } else { parts.join("; ") }
    }
}

fn texts<T: ToString>(list: impl Iterator<Item = T>) -> Vec<String> {
    list.map(|item| item.to_string()).collect()
}

/// The first two, and how many more.
fn shortened(list: &[String]) -> String {
    let mut text = list.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let more @ 1.. = list.len().saturating_sub(2) {
        let _ = write!(text, " and {more} more");
    }
    text
}

/// Those of `new` that nothing in `old` covers.
fn not_covered<'n>(
    old: &[String],
    new: &'n [String],
    covers: impl Fn(&str, &str) -> bool,
) -> impl Iterator<Item = &'n String> {
    new.iter().filter(move |new| !old.iter().any(|old| covers(old, new)))
}

/// Whether a grant of a host covers another. What cannot be read covers only itself.
fn reaches(old: &str, new: &str) -> bool {
    let parts = |text: &str| {
        let (host, rest) = text.split_once(' ')?;
        let (port, protocol) = rest.split_once('/')?;
        Some((host.to_owned(), port.to_owned(), protocol.to_owned()))
    };
    let (Some((host, port, protocol)), Some(new)) = (parts(old), parts(new)) else { return old == new };
    let domains = || Some(host.parse::<DomainPattern>().ok()?.covers(&new.0.parse().ok()?));
    let ranges = || Some(host.parse::<Cidr>().ok()?.covers(&new.0.parse().ok()?));
    let same_host = host == new.0 || domains().or_else(ranges).unwrap_or(false);
    let same_protocol = protocol == new.2 || (protocol == "tcp" && new.2 != "udp");
    same_host && port == new.1 && same_protocol
}

fn above(old: &str, new: &str) -> bool {
    let covers = || Some(old.parse::<GrantPath>().ok()?.covers(&new.parse().ok()?));
    old == new || covers().unwrap_or(false)
}

/// Whether a pattern of variables covers a name. A wildcard does not show secrets; to name one is more.
fn lets_see(old: &str, new: &str) -> bool {
    old == new || (matches(old, new) && !is_secret_name(new))
}

fn matches(old: &str, new: &str) -> bool {
    old == new || (!new.contains('*') && old.parse::<EnvPattern>().is_ok_and(|old| old.matches(new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(permissions: &str) -> Permissions {
        let text = format!(
            "skill: {{ name: a, version: '1' }}\npermissions:\n{permissions}\nentrypoint: {{ command: python3 }}\n"
        );
        Permissions::declared(Some(&Manifest::parse(&text).unwrap()), None)
    }

    fn wider(old: &str, new: &str) -> Vec<String> {
        declared(old).diff(&declared(new)).wider.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_new_is_named_and_what_was_covered_is_not() {
        let none = Vec::<String>::new();
        let net = |rules: &str| format!("  network: {{ egress: [{rules}] }}");
        let a = net("{ domain: a.test }");
        assert_eq!(wider(&net(""), &a), ["network: a.test 443/tcp"]);
        assert_eq!(wider(&a, &net("")), none);
        assert_eq!(wider(&net("{ domain: '*.weather.test' }"), &net("{ domain: x.weather.test }")), none);
        assert_eq!(
            wider(&net("{ domain: x.weather.test }"), &net("{ domain: '*.weather.test' }")),
            ["network: *.weather.test 443/tcp"]
        );
        assert_eq!(wider(&a, &net("{ domain: a.test, ports: [443, 80] }")), ["network: a.test 80/tcp"]);
        assert_eq!(wider(&a, &net("{ domain: a.test, protocol: https }")), none);
        assert_eq!(wider(&net("{ domain: a.test, protocol: https }"), &a), ["network: a.test 443/tcp"]);
        assert_eq!(wider(&net("{ cidr: 10.0.0.0/8 }"), &net("{ cidr: 10.1.0.0/16 }")), none);
        let files = |text: &str| format!("  filesystem: {{ {text} }}");
        assert_eq!(wider(&files("read: [/srv]"), &files("read: [/srv/a]")), none);
        assert_eq!(wider(&files("read: [/srv]"), &files("write: [/srv]")), ["write: /srv"]);
        assert_eq!(wider(&files("write: [/srv]"), &files("read: [/srv]")), none);
        assert_eq!(
            wider(&files("read: [/srv], forbidden: [/srv/key]"), &files("read: [/srv]")),
            ["no longer forbidden: /srv/key"]
        );
        let env = |text: &str| format!("  env_vars: {{ {text} }}");
        assert_eq!(wider(&env("allow: ['APP_*']"), &env("allow: [APP_MODE]")), none);
        assert_eq!(wider(&env("allow: ['APP_*']"), &env("allow: [APP_TOKEN]")), ["env_vars: APP_TOKEN"]);
        assert_eq!(
            wider(&env("allow: ['APP_*'], deny: [APP_X]"), &env("allow: ['APP_*']")),
            ["no longer denied: APP_X"]
        );
        assert_eq!(wider("  commands: { allow: [python3] }", "  syscalls: {}"), ["commands: any program"]);
        assert_eq!(wider("  syscalls: { profile: strict }", "  syscalls: {}"), ["syscalls: default"]);
        assert_eq!(wider("  syscalls: {}", "  syscalls: { profile: strict }"), none);
    }

    #[test]
    fn tools_are_compared_too() {
        let tools = |list: Option<&[&str]>| Permissions {
            tools: list.map(|list| list.iter().map(|tool| (*tool).to_owned()).collect()),
            ..Permissions::default()
        };
        let wider = |old, new| tools(old).diff(&tools(new)).widens();
        assert!(wider(Some(&["Read"]), Some(&["Read", "Bash"])));
        assert!(wider(Some(&["Bash(git:*)"]), Some(&["Bash"])));
        assert!(!wider(Some(&["Bash"]), Some(&["Bash(git:*)"])));
        assert!(wider(Some(&["Read"]), None));
        assert!(!wider(None, Some(&["Bash"])));
    }
}
