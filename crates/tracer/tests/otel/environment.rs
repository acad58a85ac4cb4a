//! The environment of a process, in earnest: a test cannot change its own, so it starts itself again with another.

use std::process::Command;

use skillsandbox_tracer::Recorder;
use skillsandbox_tracer::otel::{OtelExporter, OtelSettings};

use super::collector::{Collector, Manner};
use super::export;
use skillsandbox_test_support::small_trace::{events, file, header};

/// Starts one of the tests below as a process of its own.
pub(crate) fn child(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env_clear().envs(variables.iter().copied());
    let output = command.output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn the_variables_of_the_process_are_read_and_no_proxy_leads_to_this_machine() {
    let collector = Collector::good();
    let elsewhere = Collector::good();
    child(
        "environment::exports",
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=1"),
            ("OTEL_BSP_EXPORT_TIMEOUT", "30000"),
            // Not spoken here, and no reason to send nothing.
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("HTTP_PROXY", &elsewhere.endpoint()),
            ("ALL_PROXY", &elsewhere.endpoint()),
        ],
    );
    assert_eq!(collector.spans().len(), 8);
    assert!(collector.requests()[0].head.contains("x-key: 1"));
    assert!(elsewhere.requests().is_empty());
}

#[test]
#[ignore = "started by the test above, with variables"]
fn exports() {
    let header = header();
    let (exporter, handle) = OtelExporter::from_env(&header).unwrap().unwrap();
    let mut recorder = Recorder::new(&header, None, vec![Box::new(exporter)]);
    for event in events() {
        recorder.record(event);
    }
    let _ = recorder.finish();
    assert_eq!(handle.finish().warning(), None);
}

#[test]
fn a_disabled_sdk_exports_nothing() {
    child("environment::exports_nothing", &[("OTEL_SDK_DISABLED", "true")]);
}

#[test]
#[ignore = "started by the test above, with variables"]
fn exports_nothing() {
    assert!(OtelExporter::from_env(&header()).unwrap().is_none());
}

#[test]
fn keys_of_the_process_go_to_nobody_that_was_named_otherwise() {
    let collector = Collector::good();
    child(
        "environment::exports_elsewhere",
        &[
            ("TEST_COLLECTOR", &collector.endpoint()),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.invalid"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=hunter2"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-authorization=hunter2"),
            ("OTEL_RESOURCE_ATTRIBUTES", "key=hunter2"),
            ("OTEL_SERVICE_NAME", "hunter2"),
        ],
    );
    let request = collector.requests().remove(0);
    assert!(!request.head.contains("hunter2"), "{}", request.head);
    assert!(!String::from_utf8_lossy(&request.body).contains("hunter2"));
}

#[test]
#[ignore = "started by the test above, with variables"]
fn exports_elsewhere() {
    let endpoint = std::env::var("TEST_COLLECTOR").unwrap();
    let variables = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| endpoint.clone());
    let settings = OtelSettings::from_variables(variables).unwrap().unwrap();
    let (_, delivered) = export(settings.patience(std::time::Duration::from_secs(30)), &header(), events());
    assert_eq!(delivered.warning(), None);
}

#[test]
fn a_thread_that_nobody_waits_for_ends_by_itself() {
    child("environment::leaves_no_thread", &[]);
}

#[test]
#[ignore = "started by the test above: it looks at all threads of its process"]
fn leaves_no_thread() {
    let threads = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.trim() == "sandbox-otel").count()
    };
    let collectors = [Manner::Silent, Manner::Deaf, Manner::Dribbles].map(Collector::new);
    for collector in &collectors {
        let endpoint = collector.endpoint();
        let variables = |name: &str| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(endpoint.clone()),
            // Shorter than the time in which it is looked for, longer than the run.
            "OTEL_EXPORTER_OTLP_TIMEOUT" => Some("2000".to_owned()),
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE" => Some("2048".to_owned()),
            _ => None,
        };
        let settings = OtelSettings::from_variables(variables).unwrap().unwrap();
        // More than the sockets hold: who does not read keeps the writer waiting, too.
        let many = (0..2000).map(|number| {
            file(&format!("/{}/{number}", "x".repeat(4000)), skillsandbox_tracer::EventVerdict::Denied)
        });
        let settings = settings.patience(std::time::Duration::from_millis(1));
        let (_, delivered) = export(settings, &header(), many.collect());
        assert_eq!(delivered.spans, 0);
    }
    let gone = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        threads() == 0
    });
    assert!(gone, "{} threads are left", threads());
}
