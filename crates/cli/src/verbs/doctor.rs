//! `skillsandbox doctor`: would a run start here, and if not, what is to be done?

use clap::Args;

use crate::args::OutputFormat;
use crate::output::ExitAnswer;

/// Say whether this host can hold a sandbox: what there is of each layer, and what to do about what is missing
#[derive(Debug, Args)]
#[command(
    after_help = "Everything is tried in processes that are thrown away; nothing is changed on this host.
Exit codes: 0 a run would start, 1 it would not, 2 wrong usage.

Examples:
  skillsandbox doctor
  skillsandbox doctor --format json | jq '.layers[] | select(.state != \"available\")'"
)]
pub(crate) struct DoctorArgs {
    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

#[cfg(target_os = "linux")]
impl DoctorArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let support = skillsandbox_enforcer::HostSupport::probe();
        match self.format {
            OutputFormat::Text => crate::output::result(&linux::page(&support))?,
            OutputFormat::Json => crate::output::json(&linux::json(&support)?)?,
        }
        Ok(if support.is_ready() { ExitAnswer::Yes } else { ExitAnswer::No })
    }
}

#[cfg(not(target_os = "linux"))]
impl DoctorArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let system = std::env::consts::OS;
        let verdict = "not Linux: only scanning, validation and policies work here";
        match self.format {
            OutputFormat::Text => crate::output::result(&format!("{verdict} ({system})\n"))?,
            OutputFormat::Json => crate::output::json(
                &serde_json::json!({ "ready": false, "verdict": verdict, "system": system }),
            )?,
        }
        Ok(ExitAnswer::No)
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt::Write as _;

    use serde_json::{Value, json};
    use skillsandbox_enforcer::{
        Container, Cure, HostFacts, HostSupport, KernelKind, LayerState, LayerSupport, LimitMechanism,
        ObserveSupport, TrialRun,
    };

    use crate::output::visible;
    use crate::style::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

    pub(super) fn json(support: &HostSupport) -> anyhow::Result<Value> {
        let mut value = serde_json::to_value(support)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("ready".to_owned(), json!(support.is_ready()));
            object.insert("verdict".to_owned(), json!(verdict(support)));
        }
        Ok(value)
    }

    /// A line a layer, what is wrong with it below; then facts; then the verdict.
    pub(super) fn page(support: &HostSupport) -> String {
        let mut page = String::new();
        for layer in &support.layers {
            line(&mut page, layer);
        }
        let _ = writeln!(page, "\n{BOLD}this host{RESET}");
        for (name, value) in facts(&support.facts, &support.trial) {
            let _ = writeln!(page, "  {name:<12} {}", visible(&value));
        }
        let colour = if support.is_ready() { GREEN } else { RED };
        let _ = writeln!(page, "\n{colour}{}{RESET}", visible(&verdict(support)));
        page
    }

    fn line(page: &mut String, support: &LayerSupport) {
        let (colour, word) = match &support.state {
            LayerState::Available => (GREEN, "ok"),
            LayerState::Partial { .. } => (YELLOW, "partial"),
            LayerState::Missing { .. } => (RED, "missing"),
            LayerState::Untried { .. } => (YELLOW, "untried"),
        };
        let (name, purpose) = (support.layer.name(), support.layer.purpose());
        let _ = writeln!(page, "{colour}{word:<8}{RESET} {name:<12} {DIM}{purpose}{RESET}");
        match &support.state {
            LayerState::Partial { missing, cure: remedy } => {
                for text in missing {
                    said(page, text);
                }
                cure(page, remedy.as_ref());
            }
            LayerState::Missing { reason, cure: remedy } => {
                said(page, reason);
                cure(page, remedy.as_ref());
            }
            LayerState::Untried { reason } => said(page, reason),
            LayerState::Available => {}
        }
    }

    fn said(page: &mut String, text: &str) {
        let _ = writeln!(page, "         {}", visible(text));
    }

    fn cure(page: &mut String, cure: Option<&Cure>) {
        let Some(cure) = cure else { return };
        let _ = writeln!(page, "         {BOLD}cure:{RESET} {}", visible(&cure.what));
        for line in &cure.lines {
            let _ = writeln!(page, "             {}", visible(line));
        }
    }

    fn facts(facts: &HostFacts, trial: &TrialRun) -> Vec<(&'static str, String)> {
        let kind = match facts.kernel_kind {
            KernelKind::Wsl2 => ", in WSL 2",
            KernelKind::Wsl1 => ", which is WSL 1 and not Linux",
            KernelKind::Gvisor => ", which is gVisor and not Linux",
            KernelKind::Linux => "",
        };
        let landlock = facts.landlock.map_or("none".to_owned(), |version| format!("version {version}"));
        let limits = match facts.limiting.mechanism {
            LimitMechanism::CgroupV2 => "a cgroup",
            LimitMechanism::CgroupV2Systemd => "a cgroup that systemd makes",
            LimitMechanism::CgroupV1 => "cgroups of the older kind (v1)",
            LimitMechanism::Supervised => "the launching program",
        };
        let place = match facts.container {
            Some(Container::Docker) => "with the marks of a Docker container",
            Some(Container::Podman) => "in a Podman container",
            Some(Container::Kubernetes) => "in a Kubernetes pod",
            Some(Container::Other) => "in a container",
            None => "no container that is known",
        };
        let own = if facts.is_own_sandbox { ", inside a sandbox of skillsandbox" } else { "" };
        let observed = match &facts.observation {
            ObserveSupport::Possible => "possible".to_owned(),
            ObserveSupport::Nested => "not possible: a sandbox around this one listens already".to_owned(),
            ObserveSupport::Impossible(reason) => format!("not possible: {reason}"),
        };
        let ran = match trial {
            TrialRun::Ran { program } => format!("{program} ran in a sandbox"),
            TrialRun::Refused { reason, .. } => format!("refused: {reason}"),
            TrialRun::NotTried => "not tried: no program here is known to do nothing".to_owned(),
        };
        vec![
            ("kernel", format!("{} ({}){kind}", facts.kernel, facts.architecture)),
            ("user", if facts.is_root { "root" } else { "ordinary" }.to_owned()),
            ("place", format!("{place}{own}")),
            ("landlock", landlock),
            ("limits", format!("held by {limits}")),
            ("filters", format!("{} around this command", facts.seccomp_filters)),
            ("observation", observed),
            ("a run", ran),
        ]
    }

    fn verdict(support: &HostSupport) -> String {
        let wrong = |support: &&LayerSupport| {
            matches!(support.state, LayerState::Missing { .. } | LayerState::Untried { .. })
        };
        let missing: Vec<&str> =
            support.layers.iter().filter(wrong).map(|support| support.layer.name()).collect();
        let partial = support
            .layers
            .iter()
            .filter(|support| matches!(support.state, LayerState::Partial { .. }))
            .count();
        if !missing.is_empty() {
            format!("not ready: a run would be refused; missing or untried: {}", missing.join(", "))
        } else if let Some(reason) = support.refused_otherwise() {
            format!("not ready: a run was refused: {reason}")
        } else if partial > 0 {
            format!("ready: a run would start, with {partial} of {} layers in part", support.layers.len())
        } else {
            format!("ready: a run would start, with all {} layers", support.layers.len())
        }
    }
}
