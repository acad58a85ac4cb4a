//! `skillsandbox inspect`: what would this skill get?

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use skillsandbox_manifest::{Access, GrantPath, Manifest, Places, Spanned};
use skillsandbox_run::{LoadedSkill, Refusal};
use skillsandbox_text::quote_word;

use super::policy::PolicyArgs;
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};
use crate::render;
use crate::style::{BOLD, DIM, RESET};

/// Show what a skill would get: its permissions with every default and path resolved, narrowed by your policy as a run would be
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox inspect examples/skills/weather
  skillsandbox inspect --format json examples/skills/weather | jq .permissions.network
  skillsandbox inspect --no-policy skills/weather    # what it declares, whatever your policy says")]
pub(crate) struct InspectArgs {
    /// A folder that holds a skillsandbox.yaml
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "show_capabilities")]
    format: OutputFormat,

    /// The same as --format text
    #[arg(long)]
    show_capabilities: bool,

    #[command(flatten)]
    policy: PolicyArgs,
}

impl InspectArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let loaded = self.policy.find([&self.dir]).and_then(|policy| LoadedSkill::load(&self.dir, &policy));
        let skill = match loaded {
            Ok(skill) => skill,
            Err(Refusal::Load(error) | Refusal::Policy(error)) => {
                output::message(&render::load_error(&error));
                return Ok(ExitAnswer::No);
            }
            Err(other) => return Err(other.into()),
        };
        match self.format {
            OutputFormat::Text => output::result(&as_text(&skill))?,
            OutputFormat::Json => output::json(&as_json(&skill)?)?,
        }
        Ok(ExitAnswer::Yes)
    }
}

fn as_json(skill: &LoadedSkill) -> anyhow::Result<Value> {
    let (manifest, places) = (skill.manifest(), skill.places());
    let mut value = serde_json::to_value(manifest)?;
    let files = manifest.filesystem();
    for (name, grants) in [("read", &files.read), ("write", &files.write), ("forbidden", &files.forbidden)] {
        if let Some(list) = value.pointer_mut(&format!("/permissions/filesystem/{name}")) {
            *list = json!(resolved(grants, places));
        }
    }
    if let (true, Some(object)) = (skill.policy().is_some(), value.as_object_mut()) {
        object.insert("narrowed_by_policy".to_owned(), json!(skill.changes()));
    }
    Ok(value)
}

/// Whether a write grant covers the skill's own manifest, named from the root or from home.
fn reaches_own_folder(manifest: &Manifest, places: &Places) -> bool {
    let own: Result<GrantPath, _> = Manifest::FILE_NAME.parse();
    own.is_ok_and(|own| manifest.filesystem().access(&own.resolve(places), places) == Some(Access::Write))
}

fn resolved(grants: &[Spanned<GrantPath>], places: &Places) -> Vec<String> {
    grants.iter().map(|grant| grant.resolve(places).display().to_string()).collect()
}

/// Lines of a name and its values; nothing is said to be allowed by being left out.
struct PermissionPage(String);

impl PermissionPage {
    fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "\n{BOLD}{text}{RESET}");
    }

    fn line(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.0, "  {name:<10} {}", visible(value));
    }

    fn list<T: ToString>(&mut self, name: &str, values: &[T]) {
        if values.is_empty() {
            let _ = writeln!(self.0, "  {name:<10} {DIM}nothing{RESET}");
        }
        for (i, value) in values.iter().enumerate() {
            self.line(if i == 0 { name } else { "" }, &value.to_string());
        }
    }
}

fn as_text(loaded: &LoadedSkill) -> String {
    let (manifest, places) = (loaded.manifest(), loaded.places());
    let skill = manifest.skill();
    let mut page = PermissionPage(format!("{BOLD}{} {}{RESET}", skill.name, skill.version));
    let description = skill.description.as_ref().map_or(String::new(), |text| format!(": {}", visible(text)));
    let _ = writeln!(page.0, "{description}");

    page.heading("starts");
    let entry = manifest.entrypoint();
    let command = quote_word(&entry.command.to_string());
    let words = std::iter::once(command).chain(entry.args.iter().map(|arg| quote_word(arg)));
    page.line("command", &words.collect::<Vec<_>>().join(" "));
    page.line("runtime", manifest.runtime().as_str());

    page.heading("may reach");
    page.list("network", &manifest.network().egress);
    if !manifest.network().egress.is_empty() {
        page.line("resolver", &manifest.network().resolver.to_string());
    }

    page.heading("may touch, besides its own folder (read-only) and private directories");
    let files = manifest.filesystem();
    page.list("read", &resolved(&files.read, places));
    page.list("write", &resolved(&files.write, places));
    page.list("never", &resolved(&files.forbidden, places));
    if reaches_own_folder(manifest, places) {
        page.line("", "(a write grant lies above the skill's own folder, which stays read-only)");
    }

    page.heading("sees of the environment");
    page.list("variables", &manifest.env_vars().allow);
    page.list("never", &manifest.env_vars().deny);

    page.heading("may execute");
    match manifest.commands() {
        None => page.line("programs", "any that the sandbox holds"),
        Some(commands) => {
            page.list("programs", &commands.allow);
            for (program, words) in &commands.allowed_args {
                page.line("", &format!("{program}: only {}", quoted_list(words)));
            }
            for (program, words) in &commands.forbidden_args {
                page.line("", &format!("{program}: never {}", quoted_list(words)));
            }
        }
    }
    page.line("syscalls", manifest.syscall_profile().as_str());

    page.heading("may use");
    let resources = manifest.resources();
    page.line("memory", &resources.memory.to_string());
    page.line("cpu", &format!("{} % of one core", resources.cpu_percent));
    page.line("processes", &resources.processes.to_string());
    page.line("open files", &resources.open_files.to_string());
    page.line("disk", &resources.disk.to_string());
    page.line("time", &format!("{} s", resources.runtime.as_secs()));
    page.line("output", &resources.output.to_string());

    if !manifest.parameters().is_empty() {
        page.heading("takes");
        for parameter in manifest.parameters() {
            let required = if parameter.required { ", required" } else { "" };
            let secret = if parameter.secret { ", secret" } else { "" };
            page.line(&parameter.name, &format!("{}{required}{secret}", parameter.kind));
        }
    }
    if loaded.policy().is_some() {
        page.heading("taken away by the policy");
        page.list("", loaded.changes());
    }
    page.0
}

fn quoted_list(words: &[String]) -> String {
    if words.is_empty() {
        return "without arguments".to_owned();
    }
    words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(", ")
}
