//! A job as a plan of the enforcer.

use skillsandbox_enforcer::egress::NetworkRule;
use skillsandbox_enforcer::{Command, FolderAuthor, Layer, Plan, UntrustedFolder};
use skillsandbox_manifest::{Destination, EgressRule, Resolver};

use super::{commands, refused};
use crate::job::{self, Job, PlaceAuthor, ScannedFolder, UntrustedPlace};
use crate::refusal::Refusal;

/// All of it, or a refusal.
pub(super) fn plan(job: &Job) -> Result<(Plan, Command), Refusal> {
    let mut builder = Plan::builder();
    for path in &job.read {
        let looked_at = job.as_named.contains(path);
        builder = if looked_at { builder.read_as_named(path) } else { builder.read(path) };
    }
    for path in &job.write {
        builder = builder.write(path);
    }
    for (path, real) in &job.judged_writes {
        builder = builder.leads_to(path, real);
    }
    for path in &job.forbidden {
        builder = builder.forbid(path);
    }
    for path in &job.unix_sockets {
        builder = builder.unix_socket(path);
    }
    for place in &job.untrusted {
        builder = builder.no_links_in(untrusted_folder(place));
    }
    if let Some(paths) = &job.read_within {
        builder = builder.read_within(paths);
    }
    if let Some(paths) = &job.write_within {
        builder = builder.write_within(paths);
    }
    if let Some(workdir) = &job.workdir {
        builder = builder.workdir(workdir);
    }
    for pattern in &job.allow_env {
        builder = builder.allow_env(pattern);
    }
    for pattern in &job.deny_env {
        builder = builder.deny_env(pattern);
    }
    for (name, value) in &job.set_env {
        builder = builder.env(name, value);
    }
    for declared in &job.egress {
        builder = builder.egress(rule(declared)?);
    }
    if let Resolver::Address(address) = job.resolver {
        builder = builder.resolver(address);
    }
    for pin in &job.pins {
        builder = builder.pin(&pin.name, pin.port, pin.to);
    }
    if let Some(folder) = &job.tmp {
        builder = builder.tmp(folder);
    }
    for name in &job.best_effort {
        if name == commands::GAP {
            continue;
        }
        builder = builder.best_effort(layer(name)?);
    }
    if job.rehearsal {
        builder = builder.rehearse();
    }
    builder = builder.syscalls(job.profile);
    if let Some(programs) = commands::programs(job)? {
        builder = builder.programs(programs);
    }
    let plan = limits(builder, &job.limits).build().map_err(refused)?;
    Ok((plan, command(job)))
}

/// A folder whose links are not followed, as the enforcer has it.
pub(crate) fn untrusted_folder(place: &UntrustedPlace) -> UntrustedFolder {
    let author = match place.author {
        PlaceAuthor::Skill => FolderAuthor::Skill,
        PlaceAuthor::EarlierRun => FolderAuthor::EarlierRun,
    };
    UntrustedFolder::known(&place.path, place.identity, author)
}

fn limits(
    mut builder: skillsandbox_enforcer::PlanBuilder,
    limits: &job::JobLimits,
) -> skillsandbox_enforcer::PlanBuilder {
    if let Some(bytes) = limits.memory {
        builder = builder.memory(bytes);
    }
    if let Some(count) = limits.processes {
        builder = builder.processes(count);
    }
    if let Some(percent) = limits.cpu_percent {
        builder = builder.cpu_percent(percent);
    }
    if let Some(time) = limits.cpu_time {
        builder = builder.cpu_time(time);
    }
    if let Some(count) = limits.open_files {
        builder = builder.open_files(count);
    }
    if let Some(bytes) = limits.disk {
        builder = builder.disk(bytes);
    }
    if let Some(timeout) = limits.timeout {
        builder = builder.timeout(timeout);
    }
    builder
}

fn command(job: &Job) -> Command {
    let mut command =
        Command::new(&job.program).args(job.arguments.iter().cloned()).observe_level(job.observe);
    let scanned = job.scanned.clone();
    // Compared with the lock once; that they are the same files still is all that is left to ask.
    let is_compared = scanned.as_ref().is_some_and(|scanned| scanned.is_as_installed);
    let installed = job.installed.clone().filter(|_| !is_compared);
    if scanned.is_some() || installed.is_some() {
        let is_hidden = |scanned: &ScannedFolder| job.forbidden.contains(&scanned.folder.join(".git"));
        let git_is_hidden = scanned.as_ref().is_some_and(is_hidden);
        command = command.last_check(move || {
            if let Some((installed, writable)) = &installed {
                installed.check(writable).map_err(|refusal| refusal.to_string())?;
            }
            scanned.as_ref().map_or(Ok(()), |scanned| scanned.check(git_is_hidden))
        });
    }
    if job.observe_required { command.observe_required() } else { command }
}

fn layer(name: &str) -> Result<Layer, Refusal> {
    Layer::ALL.into_iter().find(|layer| layer.name() == name).ok_or_else(|| {
        let waivable: Vec<&str> =
            Layer::ALL.iter().filter(|layer| layer.may_be_waived()).map(|layer| layer.name()).collect();
        Refusal::Sandbox(format!(
            "there is no layer `{name}`; best-effort can be: {}, {}",
            waivable.join(", "),
            commands::GAP
        ))
    })
}

fn rule(declared: &EgressRule) -> Result<NetworkRule, Refusal> {
    let rule = match &declared.to {
        Destination::Domain(domain) => NetworkRule::domain(domain.to_string()),
        Destination::Cidr(cidr) => NetworkRule::cidr(cidr.network(), cidr.prefix_len()),
    };
    let rule = rule.map_err(|problem| Refusal::Sandbox(problem.to_string()))?;
    Ok(rule.ports(declared.ports.iter().copied()).protocol(declared.protocol))
}
