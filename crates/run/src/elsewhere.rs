//! Systems that are not Linux: what a run would have can be seen, but nothing is run, because nothing would hold it.

use skillsandbox_manifest::Runtime;
use skillsandbox_tracer::{Event, Recorder, What};

use crate::backend::{Backend, Preview, Ran, Standing, Wall};
use crate::job::Job;
use crate::refusal::Refusal;
use crate::session::Streams;
use crate::streams::Printed;

/// Shows, and refuses to run.
#[derive(Debug)]
pub(crate) struct Elsewhere;

fn why() -> String {
    format!("the walls of a run are Linux's, and this is {}: only --dry-run works here", std::env::consts::OS)
}

impl Backend for Elsewhere {
    fn runtime(&self) -> Runtime {
        Runtime::Native
    }

    fn preview(&self, job: &Job) -> Result<Preview, Refusal> {
        let wall = |layer, purpose, holds: Vec<String>| Wall {
            layer,
            purpose,
            holds,
            standing: Standing::Missing,
            missing: Vec::new(),
            cure: Vec::new(),
            best_effort: false,
        };
        let paths = |word: &str, paths: &[std::path::PathBuf]| {
            paths.iter().map(|path| format!("{word} {}", path.display())).collect::<Vec<_>>()
        };
        let files =
            [paths("read", &job.read), paths("write", &job.write), paths("never", &job.forbidden)].concat();
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
        Ok(Preview { program: job.program.to_string_lossy().into_owned(), layers, refused: Some(why()) })
    }

    fn run(&self, job: &Job, mut recorder: Recorder, _: &Streams) -> Ran {
        let refusal = Refusal::Runtime { runtime: job.runtime, why: why() };
        let error = Some(refusal.to_string());
        recorder.record(Event::new(What::RunEnded {
            exit_code: None,
            signal: None,
            end: "refused".to_owned(),
            error,
        }));
        let (stdout, stderr) = (Printed::default(), Printed::default());
        Ran { ended: Err(refusal), recorded: recorder.finish(), stdout, stderr }
    }
}
