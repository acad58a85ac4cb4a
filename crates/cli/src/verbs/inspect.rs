//! `skillsandbox inspect`: what would this skill get?

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use skillsandbox_manifest::{
    FileAccess, GrantBases, GrantPath, Manifest, PermissionSet, Resolver, ResourceLimit,
};
use skillsandbox_run::{LoadChoice, LoadedSkill, Refusal, ResolvedGrant, resolve_grants};
use skillsandbox_text::quote_word;

use super::policy::PolicyArgs;
use super::running::{grants::workspace, skill_target::SkillTarget};
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
    /// An installed skill, by its name; or a skill's folder, written with a slash: ./skill
    #[arg(value_name = "NAME|DIR")]
    skill: PathBuf,

    /// Go by this manifest, instead of your own for this skill and the skill's
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// The folder that `${WORKSPACE}` stands for
    #[arg(long, value_name = "DIR[:ro]")]
    workspace: Option<PathBuf>,

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
        let skill = match self.load() {
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

impl InspectArgs {
    fn load(&self) -> Result<LoadedSkill, Refusal> {
        let target = SkillTarget::find(&self.skill, None)?;
        let policy = self.policy.find([&target.folder])?;
        let mut choice = LoadChoice::default();
        choice.manifest.clone_from(&self.manifest);
        choice.installed = target.installed;
        choice.workspace = self.workspace.as_deref().map(workspace).transpose()?;
        LoadedSkill::load_with(&target.folder, &choice, &policy)
    }
}

/// Paths as they are here.
fn as_json(skill: &LoadedSkill) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(skill.manifest().with_absolute_paths(skill.places()))?;
    if let Some(object) = value.as_object_mut() {
        object.insert("resolved".to_owned(), json!(resolved(skill)));
        object.insert("permissions_from".to_owned(), json!(skill.origin().as_str()));
        if skill.policy().is_some() {
            object.insert("narrowed_by_policy".to_owned(), json!(skill.changes()));
        }
    }
    Ok(value)
}

/// The grants that lead elsewhere than they are named.
fn resolved(skill: &LoadedSkill) -> Vec<ResolvedGrant> {
    let declared = PermissionSet::declared(Some(&skill.manifest().with_absolute_paths(skill.places())), None);
    resolve_grants(&declared, skill.folder())
}

/// Whether a write grant covers the skill's own manifest, named from the root or from home.
fn reaches_own_folder(manifest: &Manifest, places: &GrantBases) -> bool {
    let own: Result<GrantPath, _> = Manifest::FILE_NAME.parse();
    own.is_ok_and(|own| manifest.filesystem().access(&own.resolve(places), places) == Some(FileAccess::Write))
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
    let places = loaded.places();
    let manifest = &loaded.manifest().with_absolute_paths(places);
    let skill = manifest.skill();
    let mut page = PermissionPage(format!("{BOLD}{} {}{RESET}", skill.name, skill.version));
    let description = skill.description.as_ref().map_or(String::new(), |text| format!(": {}", visible(text)));
    let _ = writeln!(page.0, "{description}");
    page.line("by", &loaded.origin().to_string());
    if let Some(remark) = loaded.remark() {
        page.line("", remark);
    }

    // No `..`: a new permission does not compile until it is shown.
    let PermissionSet {
        network,
        read,
        write,
        forbidden,
        unix_sockets,
        env_vars,
        env_vars_deny,
        commands,
        document: _, // the document's, which an agent goes by
        syscalls,
        resources,
        resolver,
        runtime,
        entrypoint,
        parameters,
    } = PermissionSet::declared(Some(manifest), None);

    page.heading("starts");
    match entrypoint {
        Some(words) => {
            let words: Vec<_> = words.iter().map(|word| quote_word(word)).collect();
            page.line("command", &words.join(" "));
        }
        None => page.line("command", "the caller's: there is no entrypoint (run … -- COMMAND)"),
    }
    page.list("runtime", runtime.as_slice());

    page.heading("may reach");
    page.list("network", &network);
    if !network.is_empty() || manifest.network().resolver != Resolver::System {
        page.list("resolver", resolver.as_slice());
        if loaded.resolver_wish().is_some() {
            page.line(
                "",
                "(the skill's own wish: a run is refused unless --resolver or your policy names one)",
            );
        }
    }

    page.heading("may touch, besides its own folder (read-only) and private directories");
    page.list("read", &read);
    page.list("write", &write);
    page.list("sockets", &unix_sockets);
    page.list("never", &forbidden);
    let resolved = resolved(loaded);
    if !resolved.is_empty() {
        page.list("leads to", &resolved);
    }
    if reaches_own_folder(manifest, places) {
        page.line("", "(a write grant lies above the skill's own folder, which stays read-only)");
    }

    page.heading("sees of the environment");
    page.list("variables", &env_vars);
    page.list("never", &env_vars_deny);

    page.heading("may execute");
    match commands {
        None => page.line("programs", "any that the sandbox holds"),
        Some(commands) => page.list("programs", &commands),
    }
    page.list("syscalls", syscalls.as_slice());

    page.heading("may use");
    for limit in ResourceLimit::ALL {
        if let Some(value) = resources.get(limit.key()) {
            page.line(limit_name(limit), &limit.show(value));
        }
    }

    if let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty()) {
        page.heading("takes");
        for parameter in parameters {
            let text = parameter.to_string();
            let rules = text.strip_prefix(&format!("{}: ", parameter.name)).unwrap_or(&text);
            page.line(&parameter.name, rules);
        }
    }
    if loaded.policy().is_some() {
        page.heading("taken away by the policy");
        page.list("", loaded.changes());
    }
    page.0
}

fn limit_name(limit: ResourceLimit) -> &'static str {
    match limit {
        ResourceLimit::Memory => "memory",
        ResourceLimit::CpuPercent => "cpu",
        ResourceLimit::CpuTime => "cpu time",
        ResourceLimit::Processes => "processes",
        ResourceLimit::OpenFiles => "open files",
        ResourceLimit::Disk => "disk",
        ResourceLimit::Runtime => "time",
        ResourceLimit::Output => "output",
    }
}
