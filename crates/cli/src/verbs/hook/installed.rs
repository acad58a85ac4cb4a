//! Whether settings of a product call this hook so that it can refuse: what `--print-settings` prints does, and whatever differs is named.

use std::path::Path;

use clap::{Parser as _, ValueEnum as _};
use serde_json::{Map, Value};
use skillsandbox_text::{shorten_line, split_words};

use super::{DEADLINE, HookArgs, Product, ProductName, ShellChoice};
use crate::args::{Cli, CliVerb};
use crate::verbs::discover::confinement::{is_our_program, wide_path};

/// The plugin that brings the hook to Claude Code.
const PLUGIN: &str = "skillsandbox@skillsandbox";
/// What the hook is called where hooks have names.
const NAME: &str = "skillsandbox";

/// What settings say of the hook.
#[derive(Debug, Default)]
pub(crate) struct SettingsHook {
    /// Whether it is called before each tool call, and can refuse.
    pub(crate) calls: bool,
    /// Why calls of it that are there cannot be relied on.
    pub(crate) weak: Vec<String>,
    /// Whether the settings switch it off.
    pub(crate) is_off: bool,
}

/// Looks at the settings of a product; `folder` is where relative paths are taken to begin.
pub(crate) fn settings_hook(root: &Value, product: &str, folder: &Path) -> SettingsHook {
    let mut found = SettingsHook::default();
    let Ok(name) = ProductName::from_str(product, false) else { return found };
    let product = name.product();
    found.is_off = is_switched_off(root);
    for (plugin, enabled) in root.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten() {
        if enabled == &Value::Bool(true) && plugin.split('@').next() == Some(NAME) {
            if plugin == PLUGIN {
                found.calls = true;
            } else {
                found.weak.push("a plugin of another marketplace has its name".to_owned());
            }
        }
    }
    let groups = root.get("hooks").and_then(|hooks| hooks.get(product.event)).and_then(Value::as_array);
    for group in groups.into_iter().flatten() {
        for hook in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
            let Some(command) = hook.get("command").and_then(Value::as_str) else { continue };
            if !command.contains("skillsandbox") || !command.contains("hook") {
                continue;
            }
            match check(group, hook, command, name, product, folder) {
                Ok(()) => found.calls = true,
                Err(why) => found.weak.push(why),
            }
        }
    }
    found
}

/// All hooks, or this one by its name.
fn is_switched_off(root: &Value) -> bool {
    let is = |pointer: &str, wanted: bool| root.pointer(pointer) == Some(&Value::Bool(wanted));
    let lists =
        ["/hooks/disabled", "/hooksConfig/disabled"].into_iter().filter_map(|list| root.pointer(list));
    let mut named = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    is("/disableAllHooks", true)
        || is("/hooksConfig/enabled", false)
        || is("/tools/enableHooks", false)
        || is("/features/hooks", false)
        || is("/features/codex_hooks", false)
        || named.any(|name| name.contains(NAME))
}

/// Holds an entry against the one that `--print-settings` prints for its command.
fn check(
    group: &Value,
    hook: &Value,
    command: &str,
    name: ProductName,
    product: &Product,
    folder: &Path,
) -> Result<(), String> {
    let printed = (product.settings)(command);
    let printed = printed.pointer(&format!("/hooks/{}/0/hooks/0", product.event));
    let entry = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let printed: Map<String, Value> = entry(printed);
    for (key, value) in &entry(Some(group)) {
        match (key.as_str(), value) {
            ("hooks", _) => {}
            ("matcher", Value::String(matcher)) if matches!(matcher.as_str(), "" | "*" | ".*") => {}
            ("matcher", _) => return Err("it is called for some tools only".to_owned()),
            _ => return Err(format!("its group says `{}`, which was not printed", shown(key))),
        }
    }
    let hook = entry(Some(hook));
    if hook.get("type") != printed.get("type") {
        return Err("it is not of the type `command`".to_owned());
    }
    for (key, value) in &hook {
        match (key.as_str(), printed.get(key)) {
            ("timeout", Some(usual)) => check_timeout(value, usual)?,
            (_, Some(usual)) if value == usual => {}
            (_, Some(_)) => return Err(format!("its `{}` is not what was printed", shown(key))),
            (_, None) => return Err(format!("it says `{}`, which was not printed", shown(key))),
        }
    }
    let words = split_words(command).ok_or("its command has something in it for a shell to do")?;
    let program = words.first().map(String::as_str).unwrap_or_default();
    if !is_our_program(program) {
        return Err("it calls a program that is not this one".to_owned());
    }
    let own = std::iter::once("skillsandbox").chain(words.iter().skip(1).map(String::as_str));
    match Cli::try_parse_from(own).map(|cli| cli.verb) {
        Ok(CliVerb::Hook(arguments)) if arguments.product == name => arguments.check_strength(folder),
        Ok(CliVerb::Hook(_)) => Err("it is the hook of another product".to_owned()),
        Ok(_) => Err("it calls another verb of skillsandbox".to_owned()),
        Err(_) => Err("skillsandbox would not start with these arguments".to_owned()),
    }
}

/// A product goes on after a hook that takes longer than this: the answer has to come before. The printed one has the product's unit, and is of 30 seconds.
fn check_timeout(value: &Value, usual: &Value) -> Result<(), String> {
    let second = usual.as_f64().unwrap_or(30.0) / 30.0;
    let least = DEADLINE.as_secs_f64();
    match value.as_f64() {
        Some(timeout) if timeout / second > least => Ok(()),
        _ => Err(format!("its timeout is not longer than the {least} seconds that a decision may take")),
    }
}

fn shown(key: &str) -> String {
    shorten_line(key, 40)
}

impl HookArgs {
    /// Why these flags leave little to refuse.
    fn check_strength(&self, folder: &Path) -> Result<(), String> {
        if self.print_settings {
            return Err("it prints settings and decides nothing: --print-settings".to_owned());
        }
        match self.shell {
            ShellChoice::Pass => return Err("it lets command lines pass: --shell pass".to_owned()),
            ShellChoice::Ask | ShellChoice::Deny => {}
        }
        if !self.approve.is_empty() {
            return Err("it approves calls that you would be asked about: --approve".to_owned());
        }
        if !self.policy.is_own() {
            return Err("it does not go by your own policy".to_owned());
        }
        let mut roots = self.root.iter().chain(&self.read_root).chain(&self.write_root);
        roots.find_map(|root| wide_path(root, folder)).map_or(Ok(()), Err)
    }
}
