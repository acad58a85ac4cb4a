//! What a run would have on this host, wall by wall.

use skillsandbox_enforcer::{
    Command, Cure, HostSupport, Layer, LayerResolution, PathAccess, PathSource, Plan, PlanInspection,
    ResolvedStanding, RunLimits,
};

use super::refused;
use crate::backend::{LayerPreview, RunPreview};
use crate::refusal::Refusal;
use skillsandbox_terms::LayerStanding;

/// Tries what this host has in processes that are thrown away; nothing of the job is executed.
pub(super) fn preview(plan: &Plan, command: &Command) -> Result<RunPreview, Refusal> {
    let inspection = plan.inspect(command).map_err(refused)?;
    let support = HostSupport::probe();
    let resolution = plan.resolve(&support);
    let refused = match resolution.refuses() {
        Some(resolved) => Some(format!("the {} layer is not available", resolved.layer.name())),
        None => support.refused_otherwise().map(str::to_owned),
    };
    let layers = resolution.layers.iter().map(|resolved| wall(resolved, &inspection)).collect();
    Ok(RunPreview { program: inspection.program.to_string_lossy().into_owned(), layers, refused })
}

fn wall(resolved: &LayerResolution, inspection: &PlanInspection) -> LayerPreview {
    let (standing, missing, cure) = match &resolved.standing {
        ResolvedStanding::Full => (LayerStanding::Full, Vec::new(), None),
        ResolvedStanding::Partial { missing, cure } => {
            (LayerStanding::Partial, missing.clone(), cure.as_ref())
        }
        ResolvedStanding::Missing { reason, cure } => {
            (LayerStanding::Missing, vec![reason.clone()], cure.as_ref())
        }
    };
    LayerPreview {
        layer: resolved.layer.name(),
        purpose: resolved.layer.purpose(),
        holds: holds(resolved.layer, inspection),
        standing,
        missing,
        cure: cure.map(cured).unwrap_or_default(),
        best_effort: resolved.best_effort,
    }
}

fn cured(cure: &Cure) -> Vec<String> {
    std::iter::once(cure.what.clone()).chain(cure.lines.iter().cloned()).collect()
}

/// What this run would have of a layer, where that depends on the run.
fn holds(layer: Layer, inspection: &PlanInspection) -> Vec<String> {
    match layer {
        Layer::Env => inspection.variables.clone(),
        Layer::Mounts => mounts(inspection),
        Layer::Network if inspection.egress.is_empty() => vec!["no network at all".to_owned()],
        Layer::Network => inspection.egress.clone(),
        Layer::Cgroup => limits(&inspection.limits),
        Layer::Rlimits => vec![
            format!("{} open files a process", inspection.limits.open_files),
            format!("{} for the largest file", size(inspection.limits.disk)),
        ],
        Layer::Seccomp => vec![format!("profile {}", inspection.profile)],
        Layer::Namespaces
        | Layer::Lifetime
        | Layer::Fds
        | Layer::Caps
        | Layer::NoNewPrivs
        | Layer::Landlock => Vec::new(),
    }
}

fn mounts(inspection: &PlanInspection) -> Vec<String> {
    let asked = inspection.grants.iter().filter(|grant| grant.source != PathSource::System);
    let mut lines: Vec<String> = asked
        .map(|grant| {
            let word = if grant.access == PathAccess::Write { "write" } else { "read " };
            let made = if grant.would_be_created { " (would be created)" } else { "" };
            format!("{word} {}{made}", grant.path.display())
        })
        .collect();
    lines.extend(inspection.unix_sockets.iter().map(|path| format!("socket {}", path.display())));
    let resolved = inspection.resolved.iter();
    lines.extend(resolved.map(|led| format!("{} leads to {}", led.path.display(), led.target.display())));
    lines.extend(inspection.masked.iter().map(|path| format!("never {}", path.display())));
    let system = inspection.grants.len()
        - inspection.grants.iter().filter(|grant| grant.source != PathSource::System).count();
    lines.push(format!("read  {system} folders and files of the system"));
    lines.push(format!("write private /tmp and home, {} together", size(inspection.limits.disk)));
    lines
}

fn limits(limits: &RunLimits) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(bytes) = limits.memory {
        lines.push(format!("{} of memory", size(bytes)));
    }
    if let Some(count) = limits.processes {
        lines.push(format!("{count} processes"));
    }
    if let Some(percent) = limits.cpu_percent {
        lines.push(format!("{percent} % of one core"));
    }
    if let Some(time) = limits.cpu_time {
        lines.push(format!("{} s of processor time", time.as_secs_f64()));
    }
    if let Some(timeout) = limits.timeout {
        lines.push(format!("{} s", timeout.as_secs_f64()));
    }
    lines
}

/// Bytes as people write them, where that is exact.
fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}
