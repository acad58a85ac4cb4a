//! Part of CHECK-03: what hooks and servers of an agent run, and what its settings approve, in the files that agents read them from.
//!
//! A hook that runs a script of its own plugin is what hooks are for: it is named, and the script is judged by all rules. A command that
//! stands in the settings themselves is judged here.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::agent_files::{self, SettingsFile};
use crate::checks::agent_commands::{judge_command, names_elsewhere};
use crate::checks::tools::{AGENT_HOOK, AGENT_REDIRECT, AGENT_SERVER, PRE_APPROVAL, UNREADABLE_SETTINGS};
use crate::finding::Finding;
use crate::rule::FindingStatus::{self, Block, Pass, Warn};
use crate::rule::RuleInfo;
use crate::skill::SkillFile;

/// Deepest value that is looked into; an agent's settings have six levels.
const MAX_DEPTH: usize = 16;
/// Most findings about one file.
const MAX_FOUND: usize = 100;

/// Judges a text that an agent reads its settings from.
pub(crate) fn judge_settings(file: &SkillFile, text: &str, findings: &mut Vec<Finding>) {
    if file.is_reading || text.trim().is_empty() {
        return;
    }
    let Some(kind) = agent_files::find_settings(&file.path) else { return };
    let mut judge = SettingsJudge { file, text, found: Vec::new() };
    match kind {
        SettingsFile::Json => match parse_json(text) {
            Some(value) => judge.value(&value, 0),
            None => judge.add(&UNREADABLE_SETTINGS, Warn, "", "It is not JSON, or not all of it"),
        },
        SettingsFile::Toml => judge.toml(),
    }
    judge.found.truncate(MAX_FOUND);
    findings.append(&mut judge.found);
}

/// JSON as agents read it: with comments, and commas behind the last of a list.
fn parse_json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&plain_json(text)).ok())
}

/// A text without comments, nor commas before a closing bracket.
fn plain_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut in_string = false;
    while let Some(c) = rest.next() {
        match (in_string, c, rest.peek()) {
            (true, '\\', _) => {
                out.push(c);
                out.extend(rest.next());
            }
            (_, '"', _) => {
                in_string = !in_string;
                out.push(c);
            }
            (false, '/', Some('/')) => {
                for skipped in rest.by_ref() {
                    if skipped == '\n' {
                        out.push('\n');
                        break;
                    }
                }
            }
            (false, '/', Some('*')) => {
                rest.next();
                let mut last = ' ';
                for skipped in rest.by_ref() {
                    if (last, skipped) == ('*', '/') {
                        break;
                    }
                    last = skipped;
                }
            }
            (false, '}' | ']', _) => {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Settings under judgement.
struct SettingsJudge<'s> {
    file: &'s SkillFile,
    text: &'s str,
    found: Vec<Finding>,
}

impl SettingsJudge<'_> {
    /// Adds a finding at the place of a word.
    fn add(&mut self, rule: &'static RuleInfo, status: FindingStatus, word: &str, why: &str) {
        let range = self.find(word);
        self.found.push(Finding::in_file(rule, self.file, range, why).with_status(status));
    }

    /// Where a word stands, as JSON has it or as it is.
    fn find(&self, word: &str) -> Range<usize> {
        let quoted = Value::String(word.to_owned()).to_string();
        let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        let at = [inner, word].into_iter().filter(|word| !word.is_empty()).find_map(|word| {
            let start = self.text.find(word)?;
            Some(start..start + word.len())
        });
        at.unwrap_or(0..0)
    }

    /// What an object of the settings says, and all below it.
    fn value(&mut self, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return self.add(&UNREADABLE_SETTINGS, Warn, "", "It is nested deeper than is looked at");
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.value(item, depth + 1)),
            Value::Object(object) => {
                for (key, value) in object {
                    self.entry(key, value, depth);
                }
            }
            _ => {}
        }
    }

    fn entry(&mut self, key: &str, value: &Value, depth: usize) {
        match (key, value) {
            ("hooks", Value::Object(_) | Value::Array(_)) => self.hooks(value, depth),
            ("mcpServers" | "servers" | "mcp_servers" | "context_servers", Value::Object(servers)) => {
                servers.iter().for_each(|(name, server)| self.server(name, server));
            }
            ("permissions", Value::Object(permissions)) => self.permissions(permissions),
            ("env", Value::Object(env)) => self.environment(env),
            ("statusLine", Value::Object(line)) => {
                if let Some(command) = line.get("command").and_then(Value::as_str) {
                    self.hook(command);
                }
            }
            (
                "apiKeyHelper" | "awsAuthRefresh" | "awsCredentialExport" | "otelHeadersHelper",
                Value::String(command),
            ) => {
                self.hook(command);
            }
            (key, value) => {
                self.switch(key, value);
                self.value(value, depth + 1);
            }
        }
    }

    /// Commands that hooks run: every `command` below, in whatever form an agent has them.
    fn hooks(&mut self, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return self.add(&UNREADABLE_SETTINGS, Warn, "", "It is nested deeper than is looked at");
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.hooks(item, depth + 1)),
            Value::Object(object) => {
                for (key, value) in object {
                    match (key.as_str(), value) {
                        ("command" | "bash" | "powershell" | "run", Value::String(command)) => {
                            let line = join_command(command, object.get("args"));
                            self.hook(&line);
                        }
                        (_, value) => self.hooks(value, depth + 1),
                    }
                }
            }
            _ => {}
        }
    }

    fn hook(&mut self, command: &str) {
        let judged = judge_command(command);
        let why = format!("A hook runs `{}`{}", shorten(command), judged.reason);
        self.add(&AGENT_HOOK, judged.status, first_word(command), &why);
    }

    fn server(&mut self, name: &str, server: &Value) {
        let Some(server) = server.as_object() else { return };
        let text = |key: &str| server.get(key).and_then(Value::as_str);
        if let Some(command) = text("command") {
            let line = join_command(command, server.get("args"));
            let judged = judge_command(&line);
            let why = format!("The server {} runs `{}`{}", shorten(name), shorten(&line), judged.reason);
            self.add(&AGENT_SERVER, judged.status, name, &why);
        } else if let Some(url) = text("url").or_else(|| text("httpUrl")).or_else(|| text("serverUrl")) {
            let (status, reason) = judge_remote(url, server);
            let why = format!("The server {} is {}{reason}", shorten(name), shorten(url));
            self.add(&AGENT_SERVER, status, name, &why);
        }
        for key in ["autoApprove", "alwaysAllow", "trust"] {
            match server.get(key) {
                Some(Value::Bool(true)) => {
                    let why = format!("Every tool of the server {} is approved", shorten(name));
                    self.add(&PRE_APPROVAL, Warn, key, &why);
                }
                Some(Value::Array(tools)) if tools.iter().any(|tool| tool.as_str() == Some("*")) => {
                    let why = format!("Every tool of the server {} is approved", shorten(name));
                    self.add(&PRE_APPROVAL, Warn, key, &why);
                }
                _ => {}
            }
        }
    }

    fn permissions(&mut self, permissions: &Map<String, Value>) {
        let allowed = permissions.get("allow").and_then(Value::as_array);
        for tool in allowed.into_iter().flatten().filter_map(Value::as_str) {
            if let Some(status) = judge_approval(tool) {
                let why =
                    format!("`{}` is approved, so that nothing of the kind is asked about", shorten(tool));
                self.add(&PRE_APPROVAL, status, tool, &why);
            }
        }
        for (key, value) in permissions {
            self.switch(key, value);
        }
    }

    /// Settings that switch questions off.
    fn switch(&mut self, key: &str, value: &Value) {
        const OFF: &[(&str, &str, FindingStatus)] = &[
            ("defaultMode", "bypassPermissions", Block),
            ("skipDangerousModePermissionPrompt", "true", Block),
            ("chat.tools.autoApprove", "true", Block),
            ("chat.tools.global.autoApprove", "true", Block),
            ("enableAllProjectMcpServers", "true", Warn),
            ("autoAccept", "true", Warn),
            ("yolo", "true", Warn),
        ];
        let written = match value {
            Value::String(text) => text.clone(),
            Value::Bool(flag) => flag.to_string(),
            _ => return,
        };
        if let Some((_, _, status)) =
            OFF.iter().find(|(name, off, _)| (*name, *off) == (key, written.as_str()))
        {
            self.add(
                &PRE_APPROVAL,
                *status,
                key,
                &format!("`{key}` is {written}: the user is no longer asked"),
            );
        }
    }

    /// Variables that send an agent's words elsewhere.
    fn environment(&mut self, env: &Map<String, Value>) {
        for (name, value) in env {
            let Some(value) = value.as_str() else { continue };
            let upper = name.to_ascii_uppercase();
            let is_base = ["ANTHROPIC", "OPENAI", "GEMINI", "CLAUDE", "GOOGLE", "MISTRAL"]
                .iter()
                .any(|maker| upper.starts_with(maker))
                && (upper.ends_with("_BASE_URL")
                    || upper.ends_with("_API_BASE")
                    || upper.ends_with("_ENDPOINT"));
            let is_proxy = matches!(upper.as_str(), "HTTP_PROXY" | "HTTPS_PROXY" | "ALL_PROXY");
            let is_preload = matches!(
                upper.as_str(),
                "LD_PRELOAD" | "DYLD_INSERT_LIBRARIES" | "NODE_OPTIONS" | "BASH_ENV" | "PYTHONSTARTUP"
            );
            if (is_base || is_proxy) && names_elsewhere(value) {
                let why = format!("`{name}` leads to {}", shorten(value));
                self.add(&AGENT_REDIRECT, Warn, name, &why);
            } else if is_preload {
                let why = format!("`{name}` makes every program of the agent load {}", shorten(value));
                self.add(&AGENT_HOOK, Warn, name, &why);
            }
        }
    }

    /// TOML as far as it is needed: keys and strings, a line each.
    fn toml(&mut self) {
        let mut section = String::new();
        let mut command: Option<String> = None;
        let lines: Vec<&str> = self.text.lines().collect();
        let setting = |line: &str| {
            let (key, value) = line.split_once('=')?;
            Some((key.trim().to_owned(), value.trim().to_owned()))
        };
        for line in lines {
            let line = line.trim();
            if let Some(head) = line.strip_prefix('[') {
                self.toml_server(&section, command.take());
                section = head.trim_end_matches(']').to_owned();
                continue;
            }
            let Some((key, value)) = setting(line) else { continue };
            let plain = value.trim_matches(['"', '\'']);
            match (key.as_str(), plain) {
                ("approval_policy", "never") => self.add(
                    &PRE_APPROVAL,
                    Warn,
                    "approval_policy",
                    "`approval_policy` is never: the user is no longer asked",
                ),
                ("sandbox_mode", "danger-full-access") => {
                    self.add(
                        &PRE_APPROVAL,
                        Block,
                        "sandbox_mode",
                        "`sandbox_mode` is danger-full-access: nothing is held back",
                    );
                }
                ("command", plain) => command = Some(plain.to_owned()),
                ("args", _) => {
                    let words = value
                        .trim_matches(['[', ']'])
                        .split(',')
                        .map(|word| word.trim().trim_matches(['"', '\'']));
                    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
                    command = Some(format!("{} {}", command.unwrap_or_default(), words.join(" ")));
                }
                ("notify", _) => {
                    let words: Vec<&str> = value
                        .trim_matches(['[', ']'])
                        .split(',')
                        .map(|word| word.trim().trim_matches(['"', '\'']))
                        .collect();
                    self.hook(&words.join(" "));
                }
                ("url" | "base_url", plain)
                    if names_elsewhere(plain) && section.starts_with("model_providers") =>
                {
                    self.add(
                        &AGENT_REDIRECT,
                        Warn,
                        plain,
                        &format!("The model is asked at {}", shorten(plain)),
                    );
                }
                _ => {}
            }
        }
        self.toml_server(&section, command);
    }

    fn toml_server(&mut self, section: &str, command: Option<String>) {
        let Some(line) = command.filter(|_| section.starts_with("mcp_servers")) else { return };
        let name = section.rsplit('.').next().unwrap_or_default().to_owned();
        let judged = judge_command(&line);
        let why = format!("The server {} runs `{}`{}", shorten(&name), shorten(&line), judged.reason);
        self.add(&AGENT_SERVER, judged.status, &name, &why);
    }
}

/// What an approved tool amounts to; `None` where it is narrow.
fn judge_approval(tool: &str) -> Option<FindingStatus> {
    let lower: String = tool.to_ascii_lowercase().chars().filter(|c| !c.is_whitespace()).collect();
    let (name, argument) =
        lower.split_once('(').map_or((lower.as_str(), ""), |(name, rest)| (name, rest.trim_end_matches(')')));
    let everything = matches!(argument, "" | "*" | "**" | ":*" | "*:*");
    match name {
        "*" => Some(Block),
        "bash" | "shell" | "run_shell_command" | "powershell" if everything => Some(Warn),
        "bash" | "shell"
            if ["sudo", "rm:", "rm*", "curl:*", "sh:", "bash:", "eval"]
                .iter()
                .any(|word| argument.starts_with(word)) =>
        {
            Some(Warn)
        }
        _ => None,
    }
}

/// What a server on another machine amounts to: one that a secret of another service is sent to.
fn judge_remote(url: &str, server: &Map<String, Value>) -> (FindingStatus, String) {
    if !names_elsewhere(url) {
        return (Pass, ", on this machine".to_owned());
    }
    let host = url
        .split("://")
        .nth(1)
        .unwrap_or(url)
        .split(['/', ':', '?'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let headers = server.get("headers").and_then(Value::as_object);
    for value in headers.into_iter().flatten().filter_map(|(_, value)| value.as_str()) {
        let named = value.split_once("${").and_then(|(_, rest)| rest.split(['}', ':']).next());
        let Some(secret) = named.map(|name| name.trim_start_matches("env.")) else { continue };
        let generic = ["api", "key", "token", "secret", "access", "auth", "mcp", "the", "env", "bearer"];
        let lower = secret.to_ascii_lowercase();
        let mut parts = lower.split('_').filter(|part| part.len() >= 3 && !generic.contains(part)).peekable();
        if parts.peek().is_some() && !parts.any(|part| host.contains(part)) {
            return (Warn, format!(", and gets `{}`, which is not its own", shorten(secret)));
        }
    }
    if url.starts_with("http://") {
        return (Warn, ", without encryption".to_owned());
    }
    (Pass, ", on another machine".to_owned())
}

/// A command with its arguments, in a line.
fn join_command(command: &str, arguments: Option<&Value>) -> String {
    let mut line = command.to_owned();
    for word in arguments.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        line.push(' ');
        line.push_str(word);
    }
    line
}

fn first_word(command: &str) -> &str {
    command.split_whitespace().next().unwrap_or_default()
}

/// A passage of settings for a sentence.
fn shorten(text: &str) -> String {
    crate::finding::snippet(text.as_bytes())
}
