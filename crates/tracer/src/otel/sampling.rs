//! Whether a run is exported, and under which trace.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{SpanContext, TraceContextExt as _, TraceId};
use opentelemetry_sdk::propagation::TraceContextPropagator;

use super::variables::EnvironmentVariables;

/// Who decides whether a run is exported (`OTEL_TRACES_SAMPLER`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunSampler {
    /// A parent decides, where there is one.
    by_parent: bool,
    /// Of runs without a parent, or of all: this many of one.
    ratio: f64,
}

impl Default for RunSampler {
    fn default() -> Self {
        Self { by_parent: true, ratio: 1.0 }
    }
}

impl RunSampler {
    pub(super) fn read(variables: &mut EnvironmentVariables<'_>) -> Self {
        const NAME: &str = "OTEL_TRACES_SAMPLER";
        const ARGUMENT: &str = "OTEL_TRACES_SAMPLER_ARG";
        let Some(value) = variables.get(NAME) else { return Self::default() };
        let (by_parent, kind) = match value.strip_prefix("parentbased_") {
            Some(kind) => (true, kind),
            None => (false, value.as_str()),
        };
        let ratio = match kind {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => {
                let ratio = variables.get(ARGUMENT).and_then(|ratio| ratio.parse::<f64>().ok());
                let ratio = ratio.filter(|ratio| (0.0..=1.0).contains(ratio));
                if ratio.is_none() {
                    variables.warn(format!("{ARGUMENT} is not a number from 0 to 1; every run is exported"));
                }
                ratio.unwrap_or(1.0)
            }
            _ => {
                variables.warn(format!(
                    "{NAME} names a sampler that is not known here; set it to always_on, always_off, traceidratio or one of these \
                     behind parentbased_; every run is exported unless its parent is not"
                ));
                return Self::default();
            }
        };
        Self { by_parent, ratio }
    }

    /// By the last seven bytes of the trace's number, which W3C Trace Context says are random. The SDK's own sampler looks at
    /// eight; the first of them is not random in a UUID, which is where our numbers come from.
    #[allow(clippy::cast_precision_loss, reason = "which of two runs in 2⁵³ is exported does not matter")]
    pub(super) fn samples(self, parent: Option<&SpanContext>, trace: TraceId) -> bool {
        if let Some(parent) = parent.filter(|_| self.by_parent) {
            return parent.is_sampled();
        }
        let bytes = trace.to_bytes();
        let random = bytes.iter().skip(9).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        random as f64 >= (1.0 - self.ratio) * ALL as f64
    }
}

/// One more than the largest number of seven bytes.
const ALL: u64 = 1 << 56;

/// The span that began this run, if the environment names one (`TRACEPARENT`, `TRACESTATE`).
pub(super) fn parent(variables: &mut EnvironmentVariables<'_>) -> Option<SpanContext> {
    let traceparent = variables.get("TRACEPARENT")?;
    let state = variables.get("TRACESTATE");
    let headers: HashMap<String, String> = [("traceparent".to_owned(), traceparent)]
        .into_iter()
        .chain(state.map(|state| ("tracestate".to_owned(), state)))
        .collect();
    let context = TraceContextPropagator::new().extract(&headers);
    let parent = context.span().span_context().clone();
    if !parent.is_valid() {
        variables.warn("TRACEPARENT is not of the form 00-TRACE-SPAN-FLAGS and is passed over; the run begins a trace of its own");
        return None;
    }
    Some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> (RunSampler, Option<SpanContext>, Vec<String>) {
        let look_up = |name: &str| Some((*values.iter().find(|(known, _)| *known == name)?.1).to_owned());
        let mut variables = EnvironmentVariables::new(&look_up);
        let sampler = RunSampler::read(&mut variables);
        let parent = parent(&mut variables);
        (sampler, parent, variables.warnings)
    }

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    #[test]
    fn the_standard_samplers_decide() {
        let trace = TraceId::from_hex(TRACE).unwrap();
        let wanted = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let not = format!("00-{TRACE}-00f067aa0ba902b7-00");
        for (sampler, argument, parent, expected) in [
            ("", "", "", true),
            ("", "", wanted.as_str(), true),
            ("", "", not.as_str(), false),
            ("always_on", "", &not, true),
            ("always_off", "", &wanted, false),
            ("parentbased_always_off", "", "", false),
            ("parentbased_always_off", "", &wanted, true),
            ("parentbased_always_on", "", &not, false),
            ("traceidratio", "0", &wanted, false),
            ("traceidratio", "1", &not, true),
            ("parentbased_traceidratio", "0", &wanted, true),
            ("parentbased_traceidratio", "0", "", false),
        ] {
            let values = [
                ("OTEL_TRACES_SAMPLER", sampler),
                ("OTEL_TRACES_SAMPLER_ARG", argument),
                ("TRACEPARENT", parent),
            ];
            let (sampler, parent, warnings) = read(&values);
            assert!(warnings.is_empty(), "{warnings:?}");
            assert_eq!(sampler.samples(parent.as_ref(), trace), expected, "{values:?}");
        }
    }

    #[test]
    fn a_ratio_of_runs_is_exported_though_their_numbers_are_uuids() {
        let (sampler, ..) =
            read(&[("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.25")]);
        let trace = || TraceId::from_bytes(uuid::Uuid::new_v4().into_bytes());
        let count = (0..10_000).filter(|_| sampler.samples(None, trace())).count();
        // Eleven standard deviations: never by chance, and always if the fixed bits of a UUID were looked at.
        assert!((2_000..3_000).contains(&count), "{count}");
    }

    #[test]
    fn what_is_not_understood_is_said_to_be_passed_over() {
        for (name, value) in [
            ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
            ("OTEL_TRACES_SAMPLER", "traceidratio"),
            ("TRACEPARENT", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
            ("TRACEPARENT", "garbage"),
        ] {
            let (sampler, parent, warnings) = read(&[(name, value)]);
            assert!(warnings.len() == 1 && warnings[0].contains(name), "{warnings:?}");
            assert!(parent.is_none());
            assert!(sampler.samples(None, TraceId::from_hex(TRACE).unwrap()));
        }
        let (sampler, ..) =
            read(&[("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "NaN")]);
        assert_eq!(sampler, RunSampler { by_parent: false, ratio: 1.0 });
    }

    #[test]
    fn the_state_of_the_parent_is_kept() {
        let traceparent = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let (_, parent, _) = read(&[("TRACEPARENT", &traceparent), ("TRACESTATE", "vendor=abc")]);
        assert_eq!(parent.unwrap().trace_state().header(), "vendor=abc");
    }
}
