//! A skill on this machine: its folder, and what it may do when the user's policy has had its say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use skillsandbox_manifest as manifest;
use skillsandbox_manifest::{
    GrantBases, GrantPath, Manifest, PolicyChange, ProgramSpec, Resolver, Spanned, user_folders,
};

use crate::found_manifest::{FoundManifest, UNKNOWN_VERSION};
use crate::job::{Job, JobLimits, PlaceAuthor, ProgramRules};
use crate::manifest_origin::{InstalledSkill, LoadChoice, ManifestOrigin};
use crate::person_grants::PersonGrants;
use crate::reach::real_path;
use crate::refusal::Refusal;
use crate::resolved_grants::FileReach;
use crate::session::keep_out;
use crate::user_policy::UserPolicy;
use crate::workspace::Workspace;
use crate::{call, caller_command, state, written_places};

/// A skill's folder, and what it may do.
#[derive(Debug, Clone)]
pub struct LoadedSkill {
    folder: PathBuf,
    manifest: Manifest,
    changes: Vec<PolicyChange>,
    resolver_wish: Option<IpAddr>,
    places: GrantBases,
    policy: UserPolicy,
    origin: ManifestOrigin,
    installed: Option<InstalledSkill>,
    workspace: Option<Workspace>,
    granted: PersonGrants,
    path_base: Option<PathBuf>,
    /// Why a person should look at the manifest that is used.
    remark: Option<String>,
}

/// What a caller gives a skill.
#[derive(Debug, Clone, Default)]
pub struct SkillCall {
    /// Arguments that come after the manifest's own; where it has no entrypoint, the command.
    pub arguments: Vec<OsString>,
    /// The values of its parameters.
    pub parameters: Map<String, Value>,
}

impl LoadedSkill {
    /// Reads the declaration in a folder, and narrows it by the user's policy, which its scans go by, too.
    ///
    /// # Errors
    /// A declaration that cannot be read or is not valid, and no home that `~` could stand for.
    pub fn load(folder: &Path, policy: &UserPolicy) -> Result<Self, Refusal> {
        let found =
            FoundManifest { manifest: Manifest::load(folder)?, origin: ManifestOrigin::Skill, remark: None };
        Self::assemble(folder, found, &LoadChoice::default(), policy)
    }

    /// The same for any skill: by the manifest that the person names, the user's own for it, the skill's own, or safe defaults, the first that
    /// there is; with what the person adds for one run.
    ///
    /// # Errors
    /// As for [`load`](Self::load); a manifest that somebody else could have written; a workspace that lies in the skill.
    pub fn load_with(folder: &Path, choice: &LoadChoice, policy: &UserPolicy) -> Result<Self, Refusal> {
        Self::assemble(folder, FoundManifest::find(folder, choice)?, choice, policy)
    }

    fn assemble(
        folder: &Path,
        found: FoundManifest,
        choice: &LoadChoice,
        policy: &UserPolicy,
    ) -> Result<Self, Refusal> {
        let FoundManifest { manifest, origin, remark } = found;
        let failed = |source| Refusal::Folder { path: folder.to_owned(), source };
        let folder = folder.canonicalize().map_err(failed)?;
        let home = user_folders::home().ok_or(Refusal::NoHome)?;
        let mut places = GrantBases::new(&folder, home);
        if let Some(workspace) = &choice.workspace {
            workspace.check_outside(&folder)?;
            places = places.with_workspace(workspace.folder());
        }
        choice.grants.check_paths(&folder)?;
        let manifest = choice.grants.add_to(manifest)?;
        let resolver_wish = match manifest.network().resolver {
            Resolver::System => None,
            Resolver::Address(address) => Some(address),
        };
        let (manifest, changes) = policy.narrow(manifest, &places);
        Ok(Self {
            folder,
            manifest,
            changes,
            resolver_wish,
            places,
            policy: policy.clone(),
            origin,
            installed: choice.installed.clone(),
            workspace: choice.workspace.clone(),
            granted: choice.grants.clone(),
            path_base: choice.path_base.clone(),
            remark,
        })
    }

    /// Its folder, without links in it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it may do: the declaration, narrowed by the policy.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its version; `None` where nothing says which.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        let version = &self.manifest.skill().version.value;
        let is_known = self.origin != ManifestOrigin::Defaults || version != UNKNOWN_VERSION;
        is_known.then(|| version.clone())
    }

    /// Where its manifest comes from.
    #[must_use]
    pub fn origin(&self) -> &ManifestOrigin {
        &self.origin
    }

    /// Why a person should look at the manifest that is used; `None` where nothing speaks for it.
    #[must_use]
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// What the store knows of it, where it is installed.
    #[must_use]
    pub fn installed(&self) -> Option<&InstalledSkill> {
        self.installed.as_ref()
    }

    /// What the person added, and took away, for this run.
    #[must_use]
    pub fn granted(&self) -> &PersonGrants {
        &self.granted
    }

    /// What the policy took away.
    #[must_use]
    pub fn changes(&self) -> &[PolicyChange] {
        &self.changes
    }

    /// The resolver that only the skill itself names, for which a run is refused unless the user names one.
    #[must_use]
    pub fn resolver_wish(&self) -> Option<IpAddr> {
        match self.manifest.network().resolver {
            Resolver::Address(wish) if self.policy.resolver().is_none() => Some(wish),
            Resolver::Address(_) | Resolver::System => None,
        }
    }

    /// The policy that it is under.
    #[must_use]
    pub fn policy(&self) -> &UserPolicy {
        &self.policy
    }

    /// Where relative paths among the values of parameters begin, and whether they may be written there.
    pub(crate) fn path_base(&self) -> Option<(&Path, manifest::FileAccess)> {
        let workspace = self.workspace.as_ref().map(|workspace| (workspace.folder(), workspace.access()));
        workspace.or_else(|| Some((self.path_base.as_deref()?, manifest::FileAccess::Write)))
    }

    /// Where the paths of its grants begin.
    #[must_use]
    pub fn places(&self) -> &GrantBases {
        &self.places
    }

    /// Every file and folder that a run of it may write, as it is named: by its manifest, by the person, and the workspace.
    #[must_use]
    pub fn write_grants(&self) -> Vec<PathBuf> {
        let mut job = Job::new(self.manifest.skill().name.value.clone(), "");
        self.grants(&mut job);
        job.write
    }

    /// Refuses it where it is installed and is not what was installed.
    ///
    /// # Errors
    /// That it is another.
    pub fn check_installed(&self) -> Result<(), Refusal> {
        self.installed.as_ref().map_or(Ok(()), |installed| installed.check(&self.own_writable()))
    }

    /// The files that a run of it could touch, as they are now, by where its grants lead. Grants for which a run would be refused are left out.
    ///
    /// # Errors
    /// What earlier runs could write cannot be found out.
    pub fn file_reach(&self) -> Result<FileReach, Refusal> {
        let mut job = Job::new(self.manifest.skill().name.value.clone(), "");
        self.grants(&mut job);
        keep_out(&mut job);
        written_places::apply(&mut job)?;
        Ok(FileReach::of(&job))
    }

    /// What a call of it asks for. The values are checked against the manifest's rules first.
    pub fn job(&self, call: &SkillCall) -> Result<Job, Refusal> {
        let manifest = &self.manifest;
        if let Some(grant) = manifest.workspace_need().filter(|_| self.workspace.is_none()) {
            return Err(Refusal::NoWorkspace { grant: grant.to_string() });
        }
        let workdir = self.workdir();
        let (program, arguments) = self.command(call, &workdir)?;
        let mut job = Job::new(manifest.skill().name.value.clone(), program);
        job.version = self.version();
        job.runtime = manifest.runtime();
        job.arguments = arguments;
        job.workdir = Some(workdir);
        self.grants(&mut job);
        for rule in &manifest.network().egress {
            job.egress.push(rule.value.clone());
        }
        self.choose_resolver(&mut job);
        let variables = manifest.env_vars();
        // By their full names: which a pattern reaches, the manifest alone decides.
        let allowed = |(name, _): (OsString, OsString)| {
            Some(name.into_string().ok()?).filter(|name| variables.decide(name).is_allowed())
        };
        job.allow_env = std::env::vars_os().filter_map(allowed).collect();
        job.deny_env = variables.deny.iter().map(|pattern| pattern.value.to_string()).collect();
        job.profile = manifest.syscall_profile();
        job.commands = manifest.commands().map(|commands| self.commands(commands));
        job.limits = self.limits();
        self.note_origin(&mut job);
        job.installed = self.installed.clone().map(|installed| (installed, self.own_writable()));
        for change in &self.changes {
            job.notes.push(("policy".to_owned(), format!("narrowed by the user's policy: {change}")));
        }
        self.granted.set_variables(manifest, &mut job)?;
        call::hand_over(self, &call.parameters, &mut job)?;
        self.leave_others_alone(&mut job)?;
        job.set_default_variables();
        Ok(job)
    }

    /// The policy's resolver, or the system's. What a skill wants is only noted: whoever answers for the names that it was granted chooses where
    /// they lead.
    fn choose_resolver(&self, job: &mut Job) {
        if let Resolver::Address(wish) = self.manifest.network().resolver {
            job.resolver_wish = Some(wish);
        }
        if let Some(resolver) = self.policy.resolver() {
            job.resolver_wish = self.resolver_wish;
            job.choose_resolver(resolver, "the user's policy");
        }
    }

    /// The folder it starts in: the one that the person names, the workspace, its own.
    fn workdir(&self) -> PathBuf {
        let named = self.granted.cwd.clone();
        let workspace = || self.workspace.as_ref().map(|workspace| workspace.folder().to_owned());
        named.or_else(workspace).unwrap_or_else(|| self.folder.clone())
    }

    /// What is executed: the entrypoint with the caller's arguments, or the caller's command.
    fn command(&self, call: &SkillCall, workdir: &Path) -> Result<(OsString, Vec<OsString>), Refusal> {
        if let Some(entrypoint) = self.manifest.entrypoint() {
            let own = entrypoint.args.iter();
            let own = own.map(|argument| caller_command::of_manifest(&argument.value, &self.folder, workdir));
            let arguments = own.chain(call.arguments.iter().cloned()).collect();
            return Ok((self.program(&entrypoint.command), arguments));
        }
        caller_command::of_words(&call.arguments, &self.folder, workdir)
    }

    /// What the person granted, and took away, for this run.
    pub(crate) fn describe_grants(&self) -> Vec<String> {
        self.workspace.iter().map(Workspace::describe).chain(self.granted.describe()).collect()
    }

    /// Whose word the run goes by, for the trace.
    fn note_origin(&self, job: &mut Job) {
        job.notes.push(("manifest".to_owned(), self.origin.to_string()));
        job.notes.extend(self.remark.iter().map(|remark| ("manifest".to_owned(), remark.clone())));
        let granted = self.describe_grants();
        if !granted.is_empty() {
            let text = format!("granted for this run by the person: {}", granted.join("; "));
            job.notes.push(("grants".to_owned(), text));
        }
    }

    fn program(&self, program: &ProgramSpec) -> OsString {
        match program {
            ProgramSpec::Path(path) => path.resolve(&self.places).into(),
            ProgramSpec::Name(name) => name.into(),
        }
    }

    fn commands(&self, commands: &manifest::CommandPermissions) -> ProgramRules {
        let rules = |rules: &BTreeMap<ProgramSpec, Vec<String>>| {
            rules.iter().map(|(program, words)| (self.program(program), words.clone())).collect()
        };
        ProgramRules {
            allow: commands.allow.iter().map(|program| self.program(program)).collect(),
            allowed_args: rules(&commands.allowed_args),
            forbidden_args: rules(&commands.forbidden_args),
        }
    }

    fn grants(&self, job: &mut Job) {
        let files = self.manifest.filesystem();
        let resolve = |paths: &[Spanned<GrantPath>]| {
            // What is forbidden in a workspace that there is not is not there; a grant there is refused before.
            let paths = paths.iter().map(|path| path.resolve(&self.places));
            paths.filter(|path| path.is_absolute()).collect::<Vec<_>>()
        };
        job.write = resolve(&files.write);
        job.read = vec![self.folder.clone()];
        // Its manifest was read there: whatever has the folder's name now must still be a folder.
        job.as_named = vec![self.folder.clone()];
        // A write grant gives reading, and may be a folder that is yet to be made.
        job.read.extend(resolve(&files.read).into_iter().filter(|path| !job.write.contains(path)));
        job.forbidden = resolve(&files.forbidden);
        job.unix_sockets = resolve(&files.unix_sockets);
        if let Some(workspace) = &self.workspace {
            workspace.add_to(job);
        }
        self.granted.add_paths(job);
        (job.read_within, job.write_within) = self.policy.ceilings(&self.places);
        // Its author chose what lies in it, links too.
        job.untrusted.push(written_places::place_of(&self.folder, PlaceAuthor::Skill));
        // Nobody has scanned it, so it is not there. (A link leads only to what is there anyway.)
        let git = self.folder.join(".git");
        if git.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            job.forbidden.push(git);
        }
        // What it is judged by, under the name it was found by and where that leads.
        if let Some(policy) = self.policy.file() {
            job.forbidden.extend([
                std::path::absolute(policy).unwrap_or_else(|_| policy.to_owned()),
                real_path(policy),
            ]);
            job.forbidden.dedup();
        }
    }

    /// What it may write in its own folder, as paths below that: a run of it changes it whenever it likes.
    pub(crate) fn own_writable(&self) -> Vec<String> {
        let grants = self.manifest.filesystem().write.iter();
        let real = grants.map(|grant| real_path(&grant.resolve(&self.places)));
        real.filter_map(|grant| Some(grant.strip_prefix(&self.folder).ok()?.to_string_lossy().into_owned()))
            .collect()
    }

    /// No skill may change what is installed, but for what it has in its own folder, nor what declares it.
    /// By where its grants lead, whether they exist or not: a folder that is not there yet is made.
    fn leave_others_alone(&self, job: &mut Job) -> Result<(), Refusal> {
        for grant in job.write.clone() {
            let grant = job.judge_write(grant);
            // A grant above the folder is read-only from there on. One that is the folder, or lies on the way to its declaration, is not.
            for own in [Manifest::FILE_NAME, "SKILL.md"].map(|name| self.folder.join(name)) {
                if grant.starts_with(&self.folder) && own.starts_with(&grant) {
                    return Err(Refusal::InItsReach { path: own, grant });
                }
            }
            if let ManifestOrigin::File(file) = &self.origin {
                let path = real_path(file);
                if path.starts_with(&grant) {
                    return Err(Refusal::InItsReach { path, grant });
                }
            }
            for place in state::installed() {
                // A skill's folder may also lie above the store, and then the store is not its own.
                let is_own = self.folder.starts_with(&place) && grant.starts_with(&self.folder);
                if grant.starts_with(&place) && !is_own {
                    return Err(Refusal::InItsReach { path: place, grant });
                }
            }
        }
        Ok(())
    }

    fn limits(&self) -> JobLimits {
        let resources = self.manifest.resources();
        JobLimits {
            memory: Some(resources.memory.bytes()),
            processes: Some(resources.processes),
            cpu_percent: Some(resources.cpu_percent),
            cpu_time: resources.cpu_time,
            open_files: Some(resources.open_files.into()),
            disk: Some(resources.disk.bytes()),
            timeout: Some(resources.runtime),
            output: Some(resources.output.bytes()),
        }
    }
}
