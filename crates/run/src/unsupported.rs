//! Systems that are not Linux: what a run would have can be seen, but nothing is run, because nothing would hold it.

use skillsandbox_manifest::Runtime;
use skillsandbox_tracer::Recorder;

use crate::backend::{Backend, BackendResult, LayerPreview, RunPreview};
use crate::job::Job;
use crate::refusal::Refusal;
use crate::session::{RunStreams, refuse};
use skillsandbox_terms::LayerStanding;

/// Shows, and refuses to run.
#[derive(Debug)]
pub(crate) struct UnsupportedBackend;

fn why() -> String {
    let system = std::env::consts::OS;
    format!(
        "the walls of a run are Linux's, and this is {system}: only --dry-run works here; use a Linux machine, WSL 2 or a container"
    )
}

impl Backend for UnsupportedBackend {
    fn runtime(&self) -> Runtime {
        Runtime::Native
    }

    fn preview(&self, job: &Job) -> Result<RunPreview, Refusal> {
        let wall = |layer, purpose, holds: Vec<String>| LayerPreview {
            layer,
            purpose,
            holds,
            standing: LayerStanding::Missing,
            missing: Vec::new(),
            cure: Vec::new(),
            best_effort: false,
        };
        let paths = |word: &str, paths: &[std::path::PathBuf]| {
            paths.iter().map(|path| format!("{word} {}", path.display())).collect::<Vec<_>>()
        };
        let files = [
            paths("read", &job.read),
            paths("write", &job.write),
            paths("connect", &job.unix_sockets),
            paths("never", &job.forbidden),
        ]
        .concat();
        let environment = job.allow_env.iter().chain(job.set_env.keys()).cloned().collect();
        let layers = vec![
            wall("env", "only declared variables", environment),
            wall("mounts", "only declared files exist", files),
            wall(
                "network",
                "only declared hosts can be reached",
                job.egress.iter().map(ToString::to_string).collect(),
            ),
            wall("seccomp", "only ordinary system calls", vec![format!("profile {}", job.profile)]),
        ];
        Ok(RunPreview { program: job.program.to_string_lossy().into_owned(), layers, refused: Some(why()) })
    }

    fn run(&self, job: &Job, recorder: Recorder, _: &RunStreams) -> BackendResult {
        refuse(recorder, Refusal::Runtime { runtime: job.runtime, why: why() })
    }
}

#[cfg(test)]
mod tests {
    use skillsandbox_tracer::TraceHeader;

    use super::*;

    #[test]
    fn row_154_elsewhere_a_plan_is_shown_and_nothing_is_run() {
        let mut job = Job::new("x", "true");
        job.allow_env = vec!["LANG".into()];
        job.write = vec!["/srv/x".into()];
        let preview = UnsupportedBackend.preview(&job).unwrap();
        assert!(preview.refused.as_ref().unwrap().contains("only --dry-run works here"), "{preview:?}");
        assert!(preview.layers.iter().all(|wall| wall.standing == LayerStanding::Missing));
        let held: Vec<&String> = preview.layers.iter().flat_map(|wall| &wall.holds).collect();
        assert!(held.contains(&&"LANG".to_owned()) && held.contains(&&"write /srv/x".to_owned()), "{held:?}");
        let recorder = Recorder::new(&TraceHeader::new("x", "test"), None, Vec::new());
        let ran = UnsupportedBackend.run(&job, recorder, &RunStreams::default());
        let refusal = ran.ended.unwrap_err();
        assert_eq!(refusal.exit_code(), 125);
        assert!(refusal.to_string().contains("Linux"), "{refusal}");
        assert_eq!(ran.recorded.summary.events, 1);
    }
}
