//! The checked manifest: one that exists is valid.

use serde::Serialize;
use serde_json::{Map, Value};
use skillsandbox_text::is_deceptive;

use skillsandbox_terms::{Runtime, SyscallProfile};

use crate::commands::{CommandPermissions, Entrypoint, ProgramSpec};
use crate::decode::{Decode, Decoder};
use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Fault, Invalid, Span, Spanned, quoted};
use crate::env_vars::{EnvPattern, EnvPermissions};
use crate::filesystem::{FilePermissions, GrantBases, GrantPath};
use crate::network::{EgressRule, NetworkPermissions};
use crate::parameters::{InvalidParameters, Parameter, validate};
use crate::resources::{DeclaredLimits, ResourceLimits};
use crate::{MAX_BYTES, raw, yaml};

/// What a skill is, what it may touch, and how it is started.
///
/// It can only be had from a text that passed every check, so code that holds one need not check again. It
/// serialises to the form it is written in, with every default filled in.
///
/// ```
/// use skillsandbox_manifest::{Manifest, Protocol};
///
/// let manifest = Manifest::parse(r#"
/// skill: { name: weather-lookup, version: "0.1.0" }
/// permissions:
///   network:
///     egress: [{ domain: api.weather.test }]
/// entrypoint: { command: python3, args: [main.py] }
/// "#)?;
/// let rule = &manifest.network().egress[0];
/// assert_eq!(rule.ports.iter().collect::<Vec<_>>(), [&443]);
/// assert_eq!(rule.protocol, Protocol::Tcp);
/// assert!(manifest.filesystem().write.is_empty());
/// # Ok::<(), skillsandbox_manifest::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    pub(crate) skill: SkillIdentity,
    pub(crate) runtime: Runtime,
    pub(crate) permissions: DeclaredPermissions,
    pub(crate) resources: ResourceLimits,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parameters: Vec<Parameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entrypoint: Option<Entrypoint>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DeclaredPermissions {
    pub(crate) network: NetworkPermissions,
    pub(crate) filesystem: FilePermissions,
    pub(crate) env_vars: EnvPermissions,
    pub(crate) syscalls: Syscalls,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commands: Option<CommandPermissions>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Syscalls {
    pub(crate) profile: SyscallProfile,
}

/// Who the skill is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillIdentity {
    /// Lower-case letters, digits, `-`, `_` and `.`; safe as a file's name.
    pub name: Spanned<String>,
    /// Its version.
    pub version: Spanned<String>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Spanned<String>>,
}

impl Manifest {
    /// The name of the file beside the skill.
    pub const FILE_NAME: &'static str = "skillsandbox.yaml";

    /// Reads a manifest from its text; every error that can be found is in the result.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        parse_with(text, Self::lower)
    }

    /// Who the skill is.
    #[must_use]
    pub fn skill(&self) -> &SkillIdentity {
        &self.skill
    }

    /// What runs the skill.
    #[must_use]
    pub fn runtime(&self) -> Runtime {
        self.runtime
    }

    /// Which hosts it may reach.
    #[must_use]
    pub fn network(&self) -> &NetworkPermissions {
        &self.permissions.network
    }

    /// Which files it may read and write.
    #[must_use]
    pub fn filesystem(&self) -> &FilePermissions {
        &self.permissions.filesystem
    }

    /// Which environment variables it sees.
    #[must_use]
    pub fn env_vars(&self) -> &EnvPermissions {
        &self.permissions.env_vars
    }

    /// Which system calls it may make.
    #[must_use]
    pub fn syscall_profile(&self) -> SyscallProfile {
        self.permissions.syscalls.profile
    }

    /// Which programs it may execute; `None` for any that the sandbox holds.
    #[must_use]
    pub fn commands(&self) -> Option<&CommandPermissions> {
        self.permissions.commands.as_ref()
    }

    /// How much it may use.
    #[must_use]
    pub fn resources(&self) -> &ResourceLimits {
        &self.resources
    }

    /// The values it takes.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// How it is started; `None` where the caller gives the command, as for a skill with several scripts.
    #[must_use]
    pub fn entrypoint(&self) -> Option<&Entrypoint> {
        self.entrypoint.as_ref()
    }

    /// Checks the values of a call against the manifest's rules, before anything runs. The result has the
    /// defaults filled in.
    ///
    /// ```
    /// use serde_json::json;
    /// use skillsandbox_manifest::Manifest;
    ///
    /// let manifest = Manifest::parse(r#"
    /// skill: { name: weather, version: "1" }
    /// parameters: [{ name: city, type: string, required: true, max_length: 8 }]
    /// entrypoint: { command: python3 }
    /// "#)?;
    /// assert!(manifest.validate_parameters(&json!({ "city": "Oslo" })).is_ok());
    /// let error = manifest.validate_parameters(&json!({ "city": "Llanfairpwll" })).unwrap_err();
    /// assert_eq!(error.to_json()["error"]["code"], "INVALID_PARAMETERS");
    /// assert_eq!(error.to_json()["error"]["details"]["rule"], "max_length");
    /// # Ok::<(), skillsandbox_manifest::Invalid>(())
    /// ```
    pub fn validate_parameters(&self, values: &Value) -> Result<Map<String, Value>, InvalidParameters> {
        validate(&self.parameters, values)
    }

    /// The manifest as YAML, with every default filled in. Reading it again gives an equal manifest.
    #[must_use]
    // It cannot fail, and an empty text in its place could overwrite somebody's file.
    #[allow(clippy::expect_used, clippy::missing_panics_doc)]
    pub fn to_yaml(&self) -> String {
        serde_yaml::to_string(self).expect("text, numbers, lists and maps can be written")
    }

    /// The same manifest with its grants named from the root: `~` and the skill's folder as they are on this machine.
    #[must_use]
    pub fn with_absolute_paths(&self, places: &GrantBases) -> Self {
        let mut manifest = self.clone();
        let FilePermissions { read, write, forbidden, unix_sockets } = &mut manifest.permissions.filesystem;
        for grant in [read, write, forbidden, unix_sockets].into_iter().flatten() {
            grant.value = grant.value.absolute(places);
        }
        manifest
    }

    /// The same manifest with more of what a person may add for one run: hosts, variables and sockets. A policy narrows them as if they had
    /// been declared.
    #[must_use]
    pub fn with_grants(
        mut self,
        egress: impl IntoIterator<Item = EgressRule>,
        variables: impl IntoIterator<Item = EnvPattern>,
        unix_sockets: impl IntoIterator<Item = GrantPath>,
    ) -> Self {
        self.permissions.network.egress.extend(egress.into_iter().map(Spanned::from));
        self.permissions.env_vars.allow.extend(variables.into_iter().map(Spanned::from));
        self.permissions.filesystem.unix_sockets.extend(unix_sockets.into_iter().map(Spanned::from));
        self
    }

    /// The same manifest with only those of its hosts and addresses that are kept.
    #[must_use]
    pub fn retain_egress(mut self, keep: impl Fn(&EgressRule) -> bool) -> Self {
        self.permissions.network.egress.retain(|rule| keep(&rule.value));
        self
    }

    /// The first thing of the caller's workspace (`${WORKSPACE}`) that it needs, so that it cannot run without one.
    #[must_use]
    pub fn workspace_need(&self) -> Option<&GrantPath> {
        // What is forbidden in a workspace that there is not is not there.
        let FilePermissions { read, write, forbidden: _, unix_sockets } = self.filesystem();
        let files = read.iter().chain(write).chain(unix_sockets).map(|grant| &grant.value);
        let started = self.entrypoint.iter().map(|entrypoint| &entrypoint.command);
        let programs = started.chain(self.commands().into_iter().flat_map(|commands| &commands.allow));
        let programs = programs.filter_map(|program| match &program.value {
            ProgramSpec::Path(path) => Some(path),
            ProgramSpec::Name(_) => None,
        });
        files.chain(programs).find(|path| path.needs_workspace())
    }

    fn lower(raw: &raw::Manifest, sink: &mut DiagnosticSink) -> Option<Self> {
        let skill = raw.skill.0.as_ref().and_then(|raw| SkillIdentity::lower(raw, sink));
        let runtime = raw.runtime.as_ref();
        let runtime = runtime.and_then(|r| sink.check(r, format_args!("runtime"), |text| text.parse()));
        let permissions = DeclaredPermissions::lower(raw.permissions.as_ref(), sink);
        permissions.filesystem.check_own_declaration(sink);
        let resources =
            raw.resources.as_ref().map(|r| DeclaredLimits::lower(r, sink)).unwrap_or_default().or_default();
        let parameters = Parameter::lower_all(raw.parameters.as_deref().unwrap_or_default(), sink);
        let entrypoint = raw.entrypoint.as_ref().and_then(|raw| Entrypoint::lower(raw, sink));
        if let (Some(entrypoint), Some(commands)) = (&entrypoint, &permissions.commands)
            && !commands.allows(&entrypoint.command)
        {
            let message =
                format!("{} is not in `permissions.commands.allow`", quoted(&entrypoint.command.to_string()));
            let diagnostic = Diagnostic::new(Code::Contradiction, entrypoint.command.span, message);
            sink.push(diagnostic.help("add it there: the skill could not start").at("entrypoint.command"));
        }
        Some(Self {
            skill: skill?,
            runtime: runtime.map(|r| r.value).unwrap_or_default(),
            permissions,
            resources,
            parameters,
            entrypoint,
        })
    }
}

/// Text to raw form to checked form; every complaint on the way ends in the result.
pub(crate) fn parse_with<R: Decode, T>(
    text: &str,
    lower: impl FnOnce(&R, &mut DiagnosticSink) -> Option<T>,
) -> Result<T, Invalid> {
    let mut sink = DiagnosticSink::default();
    if text.len() > MAX_BYTES {
        let message = format!("the text has {} bytes; at most {MAX_BYTES} are read", text.len());
        sink.push(Diagnostic::new(Code::TooLarge, Span::default(), message));
        return Err(Invalid { source: String::new(), ..sink.into_invalid("") });
    }
    refuse_deceptive(text, &mut sink);
    let tree = yaml::read(text, &mut sink);
    let raw = tree.and_then(|tree| R::decode(&tree, &mut Decoder::new(&mut sink)));
    let checked = raw.and_then(|raw| lower(&raw, &mut sink));
    match checked {
        Some(checked) if sink.is_empty() => Ok(checked),
        _ => Err(sink.into_invalid(text)),
    }
}

/// A comment, too, can make a grant look like something else.
fn refuse_deceptive(text: &str, sink: &mut DiagnosticSink) {
    // A byte order mark may open the text; CR is a line end, as YAML has it; NUL is told apart by the reader.
    let fine = |at: usize, c: char| matches!(c, '\r' | '\0') || (c == '\u{feff}' && at == 0);
    for (at, c) in
        text.char_indices().filter(|(at, c)| is_deceptive(*c) && !fine(*at, *c)).take(MAX_DECEPTIVE)
    {
        let message =
            format!("the character U+{:04X} hides or reorders text, or moves the cursor", u32::from(c));
        let span = Span::new(at, at + c.len_utf8());
        sink.push(
            Diagnostic::new(Code::ForbiddenCharacter, span, message).help("remove it; in comments too"),
        );
    }
}

/// How many such characters are shown: they come in swarms.
const MAX_DECEPTIVE: usize = 5;

impl DeclaredPermissions {
    pub(crate) fn lower(raw: Option<&raw::Permissions>, sink: &mut DiagnosticSink) -> Self {
        let network = raw.and_then(|raw| raw.network.as_ref());
        let filesystem = raw.and_then(|raw| raw.filesystem.as_ref());
        let env_vars = raw.and_then(|raw| raw.env_vars.as_ref());
        let commands = raw.and_then(|raw| raw.commands.as_ref());
        let profile = raw.and_then(|raw| raw.syscalls.as_ref()?.profile.as_ref());
        let path = format_args!("permissions.syscalls.profile");
        Self {
            network: network.map(|raw| NetworkPermissions::lower(raw, sink)).unwrap_or_default(),
            filesystem: filesystem.map(|raw| FilePermissions::lower(raw, sink)).unwrap_or_default(),
            env_vars: env_vars.map(|raw| EnvPermissions::lower(raw, sink)).unwrap_or_default(),
            syscalls: Syscalls {
                profile: profile
                    .and_then(|p| sink.check(p, path, |text| text.parse()))
                    .map(|p| p.value)
                    .unwrap_or_default(),
            },
            commands: commands.map(|raw| CommandPermissions::lower(raw, sink)),
        }
    }
}

impl SkillIdentity {
    fn lower(raw: &raw::Skill, sink: &mut DiagnosticSink) -> Option<Self> {
        let name = raw.name.0.as_ref();
        let name =
            name.and_then(|name| sink.check(name, format_args!("skill.name"), |text| check_name(text)));
        let version = raw.version.0.as_ref();
        let version =
            version.and_then(|v| sink.check(v, format_args!("skill.version"), |text| check_version(text)));
        Some(Self { name: name?, version: version?, description: raw.description.clone() })
    }
}

pub(crate) fn check_name(text: &str) -> Result<String, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::new(Code::EmptyValue, "the skill's name is empty"));
    }
    if is_name(text) {
        return Ok(text.to_owned());
    }
    let fault = Fault::new(Code::InvalidName, format!("{} cannot be a skill's name", quoted(text)));
    let lower = text.to_lowercase();
    let words: Vec<_> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let better = words.join("-");
    let help = "lower-case letters, digits, `-`, `_` and `.`, at most 64";
    Err(if is_name(&better) {
        fault.help(format!("{help}; for example `{better}`"))
    } else {
        fault.help(help)
    })
}

/// Names become names of files, so they keep to what every system takes, and never begin like an option.
fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let sane = |c: char| word(c) || matches!(c, '-' | '_' | '.');
    text.len() <= 64
        && text.starts_with(word)
        && text.chars().all(sane)
        && !text.ends_with('.')
        && !text.contains("..")
}

pub(crate) fn check_version(text: &str) -> Result<String, Fault> {
    if text.trim().is_empty() {
        return Err(Fault::new(Code::EmptyValue, "the skill's version is empty"));
    }
    let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '_');
    if text.len() > 64 || !text.chars().all(sane) {
        let message = format!("{} cannot be a version", quoted(text));
        return Err(
            Fault::new(Code::InvalidName, message).help("letters, digits, `.`, `-`, `+` and `_`, at most 64")
        );
    }
    Ok(text.to_owned())
}
