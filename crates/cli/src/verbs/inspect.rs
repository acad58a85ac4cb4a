//! `skillsandbox inspect`: what would this skill get?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use skillsandbox_manifest::{
    FileAccess, GrantBases, GrantPath, LoadError, Manifest, NarrowedManifest, PermissionSet, Policy,
    Resolver, ResourceLimit, quote_argument, user_folders,
};

use crate::output::{self, Answer, visible};
use crate::render;
use crate::style::{BOLD, DIM, RESET};

/// Show what a skill would get: its permissions with every default and path resolved
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox inspect examples/skills/weather
  skillsandbox inspect --format json examples/skills/weather | jq .permissions.network
  skillsandbox inspect --policy ~/.config/skillsandbox/policy.yaml skills/weather")]
pub(crate) struct Inspect {
    /// A folder that holds a skillsandbox.yaml
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text", conflicts_with = "show_capabilities")]
    format: Format,

    /// The same as --format text
    #[arg(long)]
    show_capabilities: bool,

    /// Narrow by a policy file, as a run would
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Inspect {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let loaded = Manifest::load(&self.dir)
            .and_then(|manifest| Ok((manifest, self.policy.as_ref().map(Policy::load).transpose()?)));
        let (manifest, policy) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return Ok(refuse(&error)),
        };
        let places = places(&self.dir)?;
        let narrowed = policy.map(|policy| policy.narrow(&manifest, &places));
        let manifest = narrowed.as_ref().map_or(&manifest, |narrowed| &narrowed.manifest);
        let manifest = &manifest.with_absolute_paths(&places);
        match self.format {
            Format::Text => output::result(&as_text(manifest, narrowed.as_ref(), &places))?,
            Format::Json => output::json(&as_json(manifest, narrowed.as_ref())?)?,
        }
        Ok(Answer::Yes)
    }
}

fn refuse(error: &LoadError) -> Answer {
    output::message(&render::load_error(error));
    Answer::No
}

/// Where the skill's folder and the user's home really are.
fn places(dir: &Path) -> anyhow::Result<GrantBases> {
    let skill_dir = dir.canonicalize().with_context(|| format!("cannot resolve {}", dir.display()))?;
    let home =
        user_folders::home().context("there is no home directory: HOME is not set to an absolute path")?;
    Ok(GrantBases::new(skill_dir, home))
}

/// The manifest's paths are resolved already.
fn as_json(manifest: &Manifest, narrowed: Option<&NarrowedManifest>) -> anyhow::Result<Value> {
    let mut value = serde_json::to_value(manifest)?;
    if let (Some(narrowed), Some(object)) = (narrowed, value.as_object_mut()) {
        object.insert("narrowed_by_policy".to_owned(), json!(narrowed.changes));
    }
    Ok(value)
}

/// Whether a write grant covers the skill's own manifest, named from the root or from home.
fn reaches_own_folder(manifest: &Manifest, places: &GrantBases) -> bool {
    let own: Result<GrantPath, _> = Manifest::FILE_NAME.parse();
    own.is_ok_and(|own| manifest.filesystem().access(&own.resolve(places), places) == Some(FileAccess::Write))
}

/// Lines of a name and its values; nothing is said to be allowed by being left out.
struct Page(String);

impl Page {
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

fn as_text(manifest: &Manifest, narrowed: Option<&NarrowedManifest>, places: &GrantBases) -> String {
    let skill = manifest.skill();
    let mut page = Page(format!("{BOLD}{} {}{RESET}", skill.name, skill.version));
    let description = skill.description.as_ref().map_or(String::new(), |text| format!(": {}", visible(text)));
    let _ = writeln!(page.0, "{description}");

    // No `..`: a new permission does not compile until it is shown.
    let PermissionSet {
        network,
        read,
        write,
        forbidden,
        env_vars,
        env_vars_deny,
        commands,
        tools: _, // the document's, which an agent goes by
        syscalls,
        resources,
        resolver,
        runtime,
        entrypoint,
        parameters,
    } = PermissionSet::declared(Some(manifest), None);

    page.heading("starts");
    let words = entrypoint.iter().flatten().map(|word| quote_argument(word));
    page.line("command", &words.collect::<Vec<_>>().join(" "));
    page.list("runtime", runtime.as_slice());

    page.heading("may reach");
    page.list("network", &network);
    if !network.is_empty() || manifest.network().resolver != Resolver::System {
        page.list("resolver", resolver.as_slice());
    }

    page.heading("may touch, besides its own folder (read-only) and private directories");
    page.list("read", &read);
    page.list("write", &write);
    page.list("never", &forbidden);
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
    if let Some(narrowed) = narrowed {
        page.heading("taken away by the policy");
        page.list("", &narrowed.changes);
    }
    page.0
}

fn limit_name(limit: ResourceLimit) -> &'static str {
    match limit {
        ResourceLimit::Memory => "memory",
        ResourceLimit::CpuPercent => "cpu",
        ResourceLimit::Processes => "processes",
        ResourceLimit::OpenFiles => "open files",
        ResourceLimit::Disk => "disk",
        ResourceLimit::Runtime => "time",
        ResourceLimit::Output => "output",
    }
}
