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

use crate::job::{Job, JobLimits, PlaceAuthor, ProgramRules};
use crate::reach::real_path;
use crate::refusal::Refusal;
use crate::resolved_grants::FileReach;
use crate::session::keep_out;
use crate::user_policy::UserPolicy;
use crate::{call, state, written_places};

/// A skill's folder with a valid declaration in it.
#[derive(Debug, Clone)]
pub struct LoadedSkill {
    folder: PathBuf,
    manifest: Manifest,
    changes: Vec<PolicyChange>,
    resolver_wish: Option<IpAddr>,
    places: GrantBases,
    policy: UserPolicy,
}

/// What a caller gives a skill.
#[derive(Debug, Clone, Default)]
pub struct SkillCall {
    /// Arguments that come after the manifest's own.
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
        let manifest = Manifest::load(folder)?;
        let failed = |source| Refusal::Folder { path: folder.to_owned(), source };
        let folder = folder.canonicalize().map_err(failed)?;
        let home = user_folders::home().ok_or(Refusal::NoHome)?;
        let places = GrantBases::new(&folder, home);
        let resolver_wish = match manifest.network().resolver {
            Resolver::System => None,
            Resolver::Address(address) => Some(address),
        };
        let (manifest, changes) = policy.narrow(manifest, &places);
        Ok(Self { folder, manifest, changes, resolver_wish, places, policy: policy.clone() })
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

    /// Where the paths of its grants begin.
    #[must_use]
    pub fn places(&self) -> &GrantBases {
        &self.places
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
        let program = self.program(&manifest.entrypoint().command);
        let mut job = Job::new(manifest.skill().name.value.clone(), program);
        job.version = Some(manifest.skill().version.value.clone());
        job.runtime = manifest.runtime();
        let entrypoint = manifest.entrypoint();
        job.arguments = entrypoint.args.iter().map(|argument| argument.value.clone().into()).collect();
        job.arguments.extend(call.arguments.iter().cloned());
        job.workdir = Some(self.folder.clone());
        self.grants(&mut job);
        self.leave_others_alone(&mut job)?;
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
        for change in &self.changes {
            job.notes.push(("policy".to_owned(), format!("narrowed by the user's policy: {change}")));
        }
        call::hand_over(manifest, &call.parameters, &mut job)?;
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
            paths.iter().map(|path| path.resolve(&self.places)).collect::<Vec<_>>()
        };
        job.write = resolve(&files.write);
        job.read = vec![self.folder.clone()];
        // Its manifest was read there: whatever has the folder's name now must still be a folder.
        job.as_named = vec![self.folder.clone()];
        // A write grant gives reading, and may be a folder that is yet to be made.
        job.read.extend(resolve(&files.read).into_iter().filter(|path| !job.write.contains(path)));
        job.forbidden = resolve(&files.forbidden);
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
