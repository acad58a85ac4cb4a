//! What a program that embeds this crate gets without asking for it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use skillsandbox_run::{
    HistoryError, LoadedSkill, OutputTarget, RunHistory, RunOptions, RunReport, RunRequest, RunStatus,
    ScanAdmission, SkillCall, UserPolicy, refuse_unloaded, run_skill,
};

const SECRET: &str = "correct-horse-battery-9";
const VARIABLE: &str = "EMBEDDER_API_KEY";

/// Keeps what it is told of.
#[derive(Default)]
struct Kept(Mutex<Vec<KeptRun>>);

struct KeptRun {
    tool: String,
    status: &'static str,
    secrets: Vec<(String, String)>,
}

impl RunHistory for Kept {
    fn record(&self, request: &RunRequest, report: &RunReport) -> Result<(), HistoryError> {
        let tool = request.tool.clone();
        let secrets =
            request.secrets.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
        self.0.lock().unwrap().push(KeptRun { tool, status: report.status().as_str(), secrets });
        Ok(())
    }
}

struct Broken;

impl RunHistory for Broken {
    fn record(&self, _: &RunRequest, _: &RunReport) -> Result<(), HistoryError> {
        Err("the disk is full".into())
    }
}

fn skill(folder: &Path) -> LoadedSkill {
    let manifest = format!(
        "skill: {{ name: tells, version: \"1\" }}\npermissions: {{ env_vars: {{ allow: [{VARIABLE}] }} }}\nentrypoint: {{ command: sh, args: [main.sh] }}\n"
    );
    std::fs::write(folder.join("skillsandbox.yaml"), manifest).unwrap();
    std::fs::write(folder.join("main.sh"), format!("echo it is ${VARIABLE}; cat /no/${VARIABLE}; exit 3\n"))
        .unwrap();
    LoadedSkill::load(folder, &UserPolicy::none()).unwrap()
}

/// What the observer of this machine is not told of stands in the trace of every run, under its hash.
#[test]
fn row_177_the_trace_of_a_run_names_what_no_observer_is_told_of() {
    let (folder, traces) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = traces.path().join("trace.json");
    let mut options = RunOptions::default();
    options.trace = Some(path.clone());
    options.streams.stdout = OutputTarget::Kept;
    let (skill, call) = (skill(folder.path()), SkillCall::default());
    let report =
        run_skill(&skill, &call, ScanAdmission::DangerouslySkipped, &Kept::default(), |_| {}, options);
    assert_eq!(report.status(), RunStatus::Failure, "{report:?}");
    let trace = skillsandbox_tracer::read_trace(&path).unwrap();
    let expected: Vec<&str> = skillsandbox_enforcer::unobserved_calls().collect();
    assert_eq!(trace.header.not_covered, expected);
    for call in ["fgetxattr", "fchdir", "kill", "stat"] {
        assert!(expected.contains(&call), "{call}");
    }
}

/// Started again by the tests, with a secret in its environment.
#[test]
#[ignore = "a part of the other tests"]
fn child_that_embeds() {
    let folder = tempfile::tempdir().unwrap();
    let skill = skill(folder.path());
    let history = Kept::default();
    let mut options = RunOptions::default();
    options.trace = std::env::var_os("TRACE").map(Into::into);
    options.streams.stdout = OutputTarget::Kept;
    options.history_tool = Some("embedder".to_owned());
    let call = SkillCall::default();
    let report = run_skill(&skill, &call, ScanAdmission::DangerouslySkipped, &history, |_| {}, options);
    assert_eq!(report.status(), RunStatus::Failure, "{report:?}");
    // The control: the skill had it.
    assert_eq!(report.stdout.kept, format!("it is {SECRET}\n").as_bytes());
    let kept = history.0.lock().unwrap();
    assert_eq!((kept[0].tool.as_str(), kept[0].status), ("embedder", "failure"));
    assert!(
        kept[0].secrets.contains(&(VARIABLE.to_owned(), SECRET.to_owned())),
        "the history knows what is secret"
    );
}

#[test]
fn secrets_of_the_environment_are_in_no_trace_though_nobody_asked() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.json");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_embeds", "--ignored", "--nocapture"])
        .env(VARIABLE, SECRET)
        .env("TRACE", &trace)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(trace.contains(&format!("it is [REDACTED:{VARIABLE}]")), "{trace}");
    assert!(!trace.contains(SECRET), "{trace}");
}

#[test]
fn a_history_that_cannot_be_written_stops_no_run_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let skill = skill(folder.path());
    let traces = tempfile::tempdir().unwrap();
    let mut options = RunOptions::default();
    options.trace = Some(traces.path().join("trace.json"));
    let call = SkillCall::default();
    let report = run_skill(&skill, &call, ScanAdmission::DangerouslySkipped, &Broken, |_| {}, options);
    assert_eq!(report.exit_code(), 3, "{report:?}");
    assert_eq!(report.history_error.as_deref(), Some("the disk is full"));
}

#[test]
fn a_skill_that_cannot_be_loaded_is_recorded_by_its_folders_name() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = LoadedSkill::load(folder.path(), &UserPolicy::none()).unwrap_err();
    let history = Kept::default();
    let report = refuse_unloaded(folder.path(), &RunRequest::new("run", []), &history, refusal);
    assert_eq!(Some(report.skill.as_str()), folder.path().file_name().and_then(|name| name.to_str()));
    assert_eq!(history.0.lock().unwrap()[0].status, "refused");
}
