//! The standard variables, one by one.

use skillsandbox_tracer::otel::{OtelError, OtelSettings};
use std::time::Duration;

use super::collector::{Collector, attribute};
use super::{export, settings};
use skillsandbox_test_support::small_trace::{events, header};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

fn read(variables: &[(&str, &str)]) -> Result<Option<OtelSettings>, OtelError> {
    OtelSettings::from_variables(|name| {
        Some((*variables.iter().find(|(known, _)| *known == name)?.1).to_owned())
    })
}

#[test]
fn endpoints_are_made_as_the_specification_says() {
    for (variables, expected) in [
        (vec![], "http://localhost:4318/v1/traces"),
        (vec![(ENDPOINT, "")], "http://localhost:4318/v1/traces"),
        (vec![(ENDPOINT, "http://c.test:1")], "http://c.test:1/v1/traces"),
        (vec![(ENDPOINT, "http://c.test:1/")], "http://c.test:1/v1/traces"),
        (vec![(ENDPOINT, "https://c.test/otlp/")], "https://c.test/otlp/v1/traces"),
        (vec![(TRACES, "http://c.test:1/here"), (ENDPOINT, "http://d.test")], "http://c.test:1/here"),
        (vec![(TRACES, "http://c.test:1")], "http://c.test:1/"),
        (vec![(TRACES, "http://user:pass@c.test:1/x?key=secret")], "http://c.test:1/x"),
        (vec![(ENDPOINT, "http://[::1]:4318")], "http://[::1]:4318/v1/traces"),
    ] {
        assert_eq!(read(&variables).unwrap().unwrap().endpoint(), expected, "{variables:?}");
    }
    for (variable, value) in [
        (ENDPOINT, "localhost:4318"),
        (ENDPOINT, "/v1/traces"),
        (ENDPOINT, "http://"),
        (ENDPOINT, "http://c.test/?key=hunter2"),
        (TRACES, "ftp://c.test/"),
        (TRACES, "http://user:hunter2@/"),
        (TRACES, "http://c .test/hunter2"),
        (TRACES, "grpc://c.test:4317"),
    ] {
        let message = read(&[(variable, value)]).unwrap_err().to_string();
        assert!(message.starts_with(variable) && message.contains("http://localhost:4318"), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn nothing_is_exported_where_the_variables_say_so() {
    for (name, value) in
        [("OTEL_SDK_DISABLED", "true"), ("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")]
    {
        // Not even a bad endpoint matters then.
        assert!(read(&[(name, value), (ENDPOINT, "nonsense")]).unwrap().is_none(), "{name}={value}");
    }
    for (name, value) in
        [("OTEL_SDK_DISABLED", "false"), ("OTEL_SDK_DISABLED", "1"), ("OTEL_TRACES_EXPORTER", "otlp")]
    {
        assert!(read(&[(name, value)]).unwrap().is_some(), "{name}={value}");
    }
    let both = read(&[("OTEL_TRACES_EXPORTER", "console, otlp")]).unwrap().unwrap();
    assert_eq!(both.warnings().len(), 1);
    let other = read(&[("OTEL_TRACES_EXPORTER", "zipkin")]).unwrap_err().to_string();
    assert!(other.contains("OTEL_TRACES_EXPORTER=zipkin") && other.contains("otlp"), "{other}");
}

#[test]
fn another_protocol_is_refused_with_a_cure() {
    for variable in ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] {
        for value in ["grpc", "http/json"] {
            let message = read(&[(variable, value)]).unwrap_err().to_string();
            assert!(message.contains(&format!("{variable}={value}")), "{message}");
            assert!(message.contains("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"), "{message}");
        }
        assert!(read(&[(variable, "http/protobuf")]).unwrap().is_some());
    }
    // The cure works.
    let cured =
        [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")];
    assert!(read(&cured).unwrap().is_some());
}

#[test]
fn headers_are_sent_and_never_shown() {
    let collector = Collector::good();
    let endpoint = collector.endpoint();
    let settings = settings(&[
        (ENDPOINT, &endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-general=1"),
        (
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "authorization=Bearer%20hunter2, x-b = c%2Cd ,content-length=3,user-agent=me,content-type=x",
        ),
    ]);
    let shown = format!("{settings:?}");
    assert!(!shown.contains("hunter2") && shown.contains(&endpoint), "{shown}");
    let (_, delivered) = export(settings.patience(Duration::from_secs(30)), &header(), events());
    assert_eq!(delivered.warning(), None);
    let request = collector.requests().remove(0);
    assert!(request.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", request.head);
    for line in [
        "authorization: bearer hunter2",
        "x-b: c,d",
        "content-type: application/x-protobuf",
        "user-agent: me",
    ] {
        assert!(request.head.lines().any(|found| found == line), "{}", request.head);
    }
    // The one for traces stands instead of the general one, not beside it.
    assert!(!request.head.contains("x-general"));
    assert_eq!(request.head.matches("content-length").count(), 1);

    for headers in ["hunter2", "a b=hunter2", "x=hunter2%0d%0aevil: 1", "=hunter2", "x=hunter2%00"] {
        let message = read(&[("OTEL_EXPORTER_OTLP_HEADERS", headers)]).unwrap_err().to_string();
        assert!(message.contains("OTEL_EXPORTER_OTLP_HEADERS") && !message.contains("hunter2"), "{message}");
    }
}

#[test]
fn a_name_and_password_in_the_endpoint_are_sent_as_such_and_never_shown() {
    let collector = Collector::good();
    let endpoint = collector.endpoint().replace("http://", "http://user:hunter2@");
    let (_, delivered) =
        export(settings(&[(ENDPOINT, &endpoint)]).patience(Duration::from_secs(30)), &header(), events());
    assert_eq!(delivered.warning(), None);
    assert_eq!(delivered.endpoint, format!("{}/v1/traces", collector.endpoint()));
    let head = collector.requests().remove(0).head;
    assert!(head.contains("\r\nauthorization: basic dxnlcjpodw50zxiy\r\n"), "{head}");
    assert!(!head.contains("hunter2"), "{head}");
}

#[test]
fn the_resource_says_whose_spans_they_are() {
    let resource = |variables: &[(&str, &str)]| {
        let collector = Collector::good();
        let endpoint = collector.endpoint();
        let mut all = vec![(ENDPOINT, endpoint.as_str())];
        all.extend(variables);
        export(settings(&all).patience(Duration::from_secs(30)), &header(), events());
        collector.resource()
    };
    let plain = resource(&[]);
    for (key, expected) in [
        ("service.name", "skillsandbox"),
        ("service.version", "0.0.0-test"),
        ("skillsandbox.tool", "skillsandbox 0.0.0-test"),
        ("skillsandbox.host.kernel", "6.1"),
        ("skillsandbox.host.landlock", "4"),
        ("telemetry.sdk.language", "rust"),
        ("os.type", std::env::consts::OS),
    ] {
        assert_eq!(attribute(&plain, key).as_deref(), Some(expected), "{key}");
    }
    let attributes = "deployment.environment.name=ci,service.name=other,team=a%2Cb,nonsense";
    let named = resource(&[("OTEL_RESOURCE_ATTRIBUTES", attributes)]);
    assert_eq!(attribute(&named, "service.name").as_deref(), Some("other"));
    assert_eq!(attribute(&named, "team").as_deref(), Some("a,b"));
    assert_eq!(attribute(&named, "deployment.environment.name").as_deref(), Some("ci"));
    assert_eq!(attribute(&named, "skillsandbox.host.kernel").as_deref(), Some("6.1"));
    let named = resource(&[("OTEL_RESOURCE_ATTRIBUTES", attributes), ("OTEL_SERVICE_NAME", "agents")]);
    assert_eq!(attribute(&named, "service.name").as_deref(), Some("agents"));
    let odd = read(&[("OTEL_RESOURCE_ATTRIBUTES", attributes)]).unwrap().unwrap();
    let expected = "OTEL_RESOURCE_ATTRIBUTES: entry 4 is not of the form key=value and is passed over";
    assert_eq!(odd.warnings(), [expected]);
}

#[test]
fn a_run_goes_on_in_the_trace_of_its_parent() {
    let collector = Collector::good();
    let endpoint = collector.endpoint();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let settings = settings(&[(ENDPOINT, &endpoint), ("TRACEPARENT", parent), ("TRACESTATE", "vendor=abc")]);
    let header = header();
    export(settings.patience(Duration::from_secs(30)), &header, events());
    let spans = collector.spans();
    let root = spans.iter().find(|span| span.name == "sandbox.run").unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(&root.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(attribute(&root.attributes, "skillsandbox.trace_id"), Some(header.trace_id.to_string()));
    for span in &spans {
        assert_eq!(hex(&span.trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(span.trace_state, "vendor=abc");
        assert!(span.name == "sandbox.run" || span.parent_span_id == root.span_id);
    }
}

#[test]
fn what_is_not_sampled_is_not_sent() {
    let collector = Collector::good();
    let endpoint = collector.endpoint();
    for (name, value) in [
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"),
    ] {
        let settings = settings(&[(ENDPOINT, &endpoint), (name, value)]);
        let (exporter, handle) = settings.clone().start(&header()).unwrap();
        assert!(!handle.is_sampled());
        drop((exporter, handle));
        let (_, delivered) = export(settings, &header(), events());
        assert_eq!((delivered.spans, delivered.dropped, delivered.warning()), (0, 0, None));
    }
    assert!(collector.requests().is_empty());
}

#[test]
fn what_is_passed_over_is_said() {
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "many"),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/nowhere"),
        ("OTEL_TRACES_SAMPLER", "xray"),
        ("TRACEPARENT", "nonsense"),
    ] {
        let settings = read(&[(name, value)]).unwrap().unwrap();
        assert_eq!(settings.warnings().len(), 1, "{name}");
        assert!(settings.warnings()[0].starts_with(name), "{:?}", settings.warnings());
    }
    assert!(read(&[("OTEL_EXPORTER_OTLP_COMPRESSION", "none")]).unwrap().unwrap().warnings().is_empty());
    for name in ["OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"] {
        for path in ["/nowhere/at/all.pem", "/dev/zero", "/"] {
            let message = read(&[(name, path)]).unwrap_err().to_string();
            assert!(message.starts_with(name) && message.contains(path), "{message}");
        }
    }
}
