//! A real collector, which is nobody of ours: what it says it got.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use skillsandbox_tracer::{Classifier, EventVerdict, TraceHeader};

use super::environment::child;
use super::{export_by, missing, to};
use skillsandbox_test_support::small_trace::{events, file, header};

const NAME: &str = "rotel-agent";
/// How often and for how long it is looked whether something has come: a minute.
const LOOKS: u32 = 600;
const PAUSE: Duration = Duration::from_millis(100);

/// It, running. Ended by its number when the test ends.
struct Rotel {
    child: Child,
    port: u16,
    said: PathBuf,
    _folder: tempfile::TempDir,
}

impl Rotel {
    /// Starts it; or says that there is none, where that is allowed.
    fn start() -> Option<Self> {
        let Some(program) = program() else {
            missing::skip(&[NAME]);
            return None;
        };
        // The port is free when it is looked for, and may be taken before it is used.
        let started = (0..3).find_map(|_| Self::try_start(&program));
        Some(started.expect("rotel-agent does not listen"))
    }

    fn try_start(program: &Path) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let said = folder.path().join("said");
        let out = File::create(&said).unwrap();
        let child = Command::new(program)
            .args([
                "start",
                "--exporter",
                "blackhole",
                "--debug-log",
                "traces",
                "--debug-log-verbosity",
                "detailed",
            ])
            .args([
                "--otlp-grpc-endpoint",
                "127.0.0.1:0",
                "--otlp-http-endpoint",
                &format!("127.0.0.1:{port}"),
            ])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out)
            .spawn()
            .unwrap();
        let mut rotel = Self { child, port, said, _folder: folder };
        for _ in 0..LOOKS {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(rotel);
            }
            if rotel.child.try_wait().unwrap().is_some() {
                return None;
            }
            std::thread::sleep(PAUSE);
        }
        None
    }

    fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The spans that it says it got, when there are so many.
    fn spans(&self, expected: usize) -> Vec<Got> {
        let mut before = String::new();
        for _ in 0..LOOKS {
            let said = std::fs::read_to_string(&self.said).unwrap();
            let spans = read(&said);
            // The last one may be half written: not if nothing more came since.
            if spans.len() >= expected && said == before {
                return spans;
            }
            before = said;
            std::thread::sleep(PAUSE);
        }
        panic!("fewer than {expected} spans came: {before}");
    }
}

impl Drop for Rotel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where it is: as `cargo xtask test` says, where that puts it, or on the path.
fn program() -> Option<PathBuf> {
    let told = std::env::var_os("SKILLSANDBOX_ROTEL").map(PathBuf::from);
    let target =
        Path::new(env!("CARGO_TARGET_TMPDIR")).parent().map(|target| target.join("rotel/rotel").join(NAME));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(NAME)).collect::<Vec<_>>();
    told.into_iter().chain(target).chain(on_path).find(|place| place.is_file())
}

/// A span as it printed it.
#[derive(Debug, Default)]
struct Got {
    fields: HashMap<String, String>,
    attributes: BTreeMap<String, String>,
    resource: BTreeMap<String, String>,
    events: Vec<String>,
}

impl Got {
    fn is(&self, field: &str) -> &str {
        self.fields.get(field).map_or_else(|| panic!("no {field}: {self:?}"), String::as_str)
    }

    fn says(&self, key: &str) -> &str {
        self.attributes.get(key).map_or_else(|| panic!("no {key}: {self:?}"), String::as_str)
    }

    fn time(&self, field: &str) -> u128 {
        self.is(field).parse().unwrap()
    }
}

/// Reads what it prints: `Name : value` of a span, `-> key: Type(value)` of an attribute, by the heading they stand below.
fn read(said: &str) -> Vec<Got> {
    let mut spans: Vec<Got> = Vec::new();
    let mut resource = BTreeMap::new();
    let mut heading = "";
    for line in said.lines() {
        let (indented, line) = (line.starts_with(' '), line.trim());
        if let Some(attribute) = line.strip_prefix("-> ") {
            let Some((key, value)) = attribute.split_once(": ") else { continue };
            let plain = value.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(value);
            let (key, plain) = (key.to_owned(), plain.to_owned());
            match (heading, spans.last_mut()) {
                ("Resource attributes:", _) => drop(resource.insert(key, plain)),
                ("Attributes:", Some(span)) => drop(span.attributes.insert(key, plain)),
                ("SpanEvent", Some(span)) if key == "Name" => span.events.push(plain),
                _ => {}
            }
        } else if line.starts_with("ResourceSpans #") {
            resource = BTreeMap::new();
        } else if line.starts_with("Span #") {
            spans.push(Got { resource: resource.clone(), ..Got::default() });
            heading = "Span";
        } else if line.starts_with("SpanEvent #") {
            heading = "SpanEvent";
        } else if line.ends_with(':') && !indented {
            heading = line;
        } else if let (Some((name, value)), Some(span), "Span") =
            (line.split_once(':'), spans.last_mut(), heading)
        {
            span.fields.insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }
    spans
}

fn named<'s>(spans: &'s [Got], name: &str) -> &'s Got {
    spans.iter().find(|span| span.is("Name") == name).unwrap_or_else(|| panic!("no {name}"))
}

/// All below one root, which is the only one that begins a trace or goes on in somebody's.
fn below_one_root<'s>(spans: &'s [Got], above: &str) -> &'s Got {
    let root = named(spans, "sandbox.run");
    assert_eq!(root.is("Parent ID"), above);
    for span in spans {
        assert_eq!(span.is("Trace ID"), root.is("Trace ID"));
        assert!(span.is("Name").starts_with("sandbox."));
        assert!(span.time("Start time") <= span.time("End time"));
        assert!(span.time("Start time") >= root.time("Start time"));
        assert!(span.time("End time") <= root.time("End time"));
        if span.is("Name") != "sandbox.run" {
            assert_eq!(span.is("Parent ID"), root.is("ID"), "{}", span.is("Name"));
        }
    }
    root
}

#[test]
fn row_144_a_collector_gets_the_spans_of_a_run_below_one_root() {
    let Some(rotel) = Rotel::start() else { return };
    let header: TraceHeader = header();
    let settings = to(&rotel.endpoint()).patience(Duration::from_secs(30));
    let mut all = events();
    // Again: one more span, with how often and until when.
    let last = all.len() - 1;
    for _ in 0..5 {
        all.insert(last, file("/home/user/.aws/credentials", EventVerdict::Denied));
    }
    let (recorded, delivered) =
        export_by(settings, &header, all, |recorder| recorder.classify(Box::new(Classifier::new())));
    assert_eq!((delivered.spans, delivered.warning()), (9, None));

    let spans = rotel.spans(9);
    let mut names: Vec<&str> = spans.iter().map(|span| span.is("Name")).collect();
    names.sort_unstable();
    let expected = [
        "sandbox.dns.query",
        "sandbox.exec",
        "sandbox.fs.violation",
        "sandbox.fs.violation",
        "sandbox.net.connect",
        "sandbox.net.connect",
        "sandbox.policy",
        "sandbox.run",
        "sandbox.syscall.refused",
    ];
    assert_eq!(names, expected);
    let root = below_one_root(&spans, "");
    assert_eq!(root.is("Trace ID"), header.trace_id.simple().to_string());
    let started = u128::try_from(header.started.as_nanosecond()).unwrap();
    let took = u128::from(recorded.summary.duration_us) * 1000;
    assert_eq!(root.time("Start time"), started);
    assert_eq!(root.time("End time"), started + took);
    assert_eq!(root.is("Status code"), "STATUS_CODE_ERROR");
    assert_eq!(root.is("Status message"), "10 attempts were denied");
    assert_eq!(root.says("skillsandbox.skill.name"), "weather-lookup");
    assert_eq!(root.says("skillsandbox.denied"), "10");
    assert_eq!(root.says("skillsandbox.all_prevented"), recorded.summary.all_prevented.to_string());
    assert!(root.says("skillsandbox.mitre.techniques").contains("T1552.001"), "{root:?}");
    assert!(root.attributes.contains_key("skillsandbox.severity"));
    assert!(root.events.iter().any(|name| name == "sandbox.classification"), "{:?}", root.events);
    assert_eq!(root.resource["service.name"], "skillsandbox");
    assert_eq!(root.resource["skillsandbox.host.landlock"], "4");

    let reads: Vec<&Got> = spans.iter().filter(|span| span.is("Name") == "sandbox.fs.violation").collect();
    for (read, count) in reads.iter().zip(["1", "5"]) {
        assert_eq!(read.says("file.path"), "/home/user/.aws/credentials");
        assert_eq!(read.says("skillsandbox.verdict"), "denied");
        assert_eq!(read.says("skillsandbox.class"), "credential_harvesting");
        assert_eq!(read.says("skillsandbox.count"), count);
        assert_eq!(read.says("process.pid"), "4711");
        assert_eq!(read.is("Status code"), "STATUS_CODE_ERROR");
        assert_eq!(read.is("Status message"), "filesystem.read");
    }
    let exec = named(&spans, "sandbox.exec");
    assert_eq!(exec.says("process.executable.path"), "/bin/sh");
    assert_eq!(exec.says("process.command_args"), "Str(sh), Str(-c)");
    let lookup = named(&spans, "sandbox.dns.query");
    assert_eq!(lookup.is("Kind"), "SPAN_KIND_CLIENT");
    assert_eq!(lookup.says("dns.question.name"), "collector.evil.test");
    let statuses = spans.iter().filter(|span| span.is("Name") == "sandbox.net.connect");
    let statuses: Vec<&str> = statuses.map(|span| span.is("Status code")).collect();
    assert_eq!(statuses, ["STATUS_CODE_ERROR", "STATUS_CODE_UNSET"]);
    let call = named(&spans, "sandbox.syscall.refused");
    assert_eq!(call.says("skillsandbox.syscall.name"), "ptrace");
    let policy = named(&spans, "sandbox.policy");
    assert_eq!(policy.says("skillsandbox.policy.figures.stripped"), "37");
    assert_eq!(policy.is("Status code"), "STATUS_CODE_UNSET");
}

#[test]
fn row_144_the_standard_variables_are_honoured() {
    let Some(rotel) = Rotel::start() else { return };
    child(
        "environment::exports",
        &[
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/v1/traces", rotel.endpoint())),
            // Were it asked, nothing would come.
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.invalid:4318"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_BSP_EXPORT_TIMEOUT", "30000"),
            ("OTEL_SERVICE_NAME", "agents"),
            ("OTEL_RESOURCE_ATTRIBUTES", "team=red%20one,service.name=other"),
            ("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ],
    );
    let spans = rotel.spans(8);
    assert_eq!(spans.len(), 8);
    let root = below_one_root(&spans, "00f067aa0ba902b7");
    assert_eq!(root.is("Trace ID"), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(root.resource["service.name"], "agents");
    assert_eq!(root.resource["team"], "red one");
    // And those that say that nothing is to come.
    for (name, value) in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        let endpoint = rotel.endpoint();
        child("environment::exports_nothing", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint), (name, value)]);
    }
    assert_eq!(rotel.spans(8).len(), 8);
}
