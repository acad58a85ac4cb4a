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
        let support = skillsandbox_enforcer::Support::probe();
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
        Container, Cure, Facts, KernelKind, LayerSupport, Mechanism, Observation, State, Support, Trial,
    };

    use crate::output::visible;
    use crate::style::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

    pub(super) fn json(support: &Support) -> anyhow::Result<Value> {
        let mut value = serde_json::to_value(support)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("ready".to_owned(), json!(support.is_ready()));
            object.insert("verdict".to_owned(), json!(verdict(support)));
        }
        Ok(value)
    }

    /// A line a layer, what is wrong with it below; then facts; then the verdict.
    pub(super) fn page(support: &Support) -> String {
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
            State::Available => (GREEN, "ok"),
            State::Partial { .. } => (YELLOW, "partial"),
            State::Missing { .. } => (RED, "missing"),
            _ => (YELLOW, "untried"),
        };
        let (name, purpose) = (support.layer.name(), support.layer.purpose());
        let _ = writeln!(page, "{colour}{word:<8}{RESET} {name:<12} {DIM}{purpose}{RESET}");
        match &support.state {
            State::Partial { missing, cure: remedy } => {
                for text in missing {
                    said(page, text);
                }
                cure(page, remedy.as_ref());
            }
            State::Missing { reason, cure: remedy } => {
                said(page, reason);
                cure(page, remedy.as_ref());
            }
            State::Untried { reason } => said(page, reason),
            _ => {}
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

    fn facts(facts: &Facts, trial: &Trial) -> Vec<(&'static str, String)> {
        let kind = match facts.kernel_kind {
            KernelKind::Wsl2 => ", in WSL 2",
            KernelKind::Wsl1 => ", which is WSL 1 and no Linux",
            KernelKind::Gvisor => ", which is gVisor and no Linux",
            _ => "",
        };
        let landlock = facts.landlock.map_or("none".to_owned(), |version| format!("version {version}"));
        let limits = match facts.limiting.mechanism {
            Mechanism::CgroupV2 => "a cgroup",
            Mechanism::CgroupV2Systemd => "a cgroup that systemd makes",
            Mechanism::CgroupV1 => "cgroups of the older kind (v1)",
            Mechanism::Supervised => "the launching program",
            _ => "something newer than this command",
        };
        let place = match facts.container {
            Some(Container::Docker) => "with the marks of a Docker container",
            Some(Container::Podman) => "in a Podman container",
            Some(Container::Kubernetes) => "in a Kubernetes pod",
            Some(_) => "in a container",
            None => "no container that is known",
        };
        let own = if facts.is_own_sandbox { ", inside a sandbox of skillsandbox" } else { "" };
        let observed = match &facts.observation {
            Observation::Possible => "possible".to_owned(),
            Observation::Nested => "not possible: a sandbox around this one listens already".to_owned(),
            Observation::Impossible(reason) => format!("not possible: {reason}"),
            _ => "unknown".to_owned(),
        };
        let ran = match trial {
            Trial::Ran { program } => format!("{program} ran in a sandbox"),
            Trial::Refused { reason, .. } => format!("refused: {reason}"),
            _ => "not tried: no program here is known to do nothing".to_owned(),
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

    fn verdict(support: &Support) -> String {
        let wrong =
            |support: &&LayerSupport| matches!(support.state, State::Missing { .. } | State::Untried { .. });
        let missing: Vec<&str> =
            support.layers.iter().filter(wrong).map(|support| support.layer.name()).collect();
        let partial =
            support.layers.iter().filter(|support| matches!(support.state, State::Partial { .. })).count();
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
