//! A run as spans of OpenTelemetry: what a collector gets, and what a bad one can do.
#![cfg(feature = "otel")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_test_support::missing;

mod collector;
mod environment;
mod hostile;
mod https;
mod rotel;
mod spans;
mod variables;

use collector::Collector;
use skillsandbox_tracer::otel::{DeliveryReport, OtelSettings};
use skillsandbox_tracer::{Event, RecordedTrace, Recorder, TraceHeader};

/// Settings by these variables and no others.
fn settings(variables: &[(&str, &str)]) -> OtelSettings {
    let look_up = |name: &str| Some((*variables.iter().find(|(known, _)| *known == name)?.1).to_owned());
    OtelSettings::from_variables(look_up).unwrap().unwrap()
}

/// Settings that send to this address.
fn to(endpoint: &str) -> OtelSettings {
    settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)])
}

/// Records these events, as the program under test does, and says what became of them.
fn export(
    settings: OtelSettings,
    header: &TraceHeader,
    events: Vec<Event>,
) -> (RecordedTrace, DeliveryReport) {
    export_by(settings, header, events, |recorder| recorder)
}

fn export_by(
    settings: OtelSettings,
    header: &TraceHeader,
    events: Vec<Event>,
    prepare: impl FnOnce(Recorder) -> Recorder,
) -> (RecordedTrace, DeliveryReport) {
    let (exporter, handle) = settings.start(header).unwrap();
    let mut recorder = prepare(Recorder::new(header, None, vec![Box::new(exporter)]));
    for event in events {
        recorder.record(event);
    }
    (recorder.finish(), handle.finish())
}

/// Ten seconds and not two: a machine that does other things beside may take its time, and a collector that works is worth it.
fn patient(collector: &Collector) -> OtelSettings {
    to(&collector.endpoint()).patience(std::time::Duration::from_secs(30))
}
