//! `--otel`: the run as spans of OpenTelemetry. A collector that is dead or slow is a warning, never more.

use skillsandbox_run::RunOptions;

#[cfg(feature = "otel")]
pub(super) use with::start;
#[cfg(not(feature = "otel"))]
pub(super) use without::start;

#[cfg(feature = "otel")]
mod with {
    use std::cell::RefCell;
    use std::rc::Rc;

    use skillsandbox_tracer::EventSink;
    use skillsandbox_tracer::otel::{OtelError, OtelHandle, OtelSettings};

    use super::RunOptions;
    use crate::output::{message, visible};
    use crate::style::{RESET, YELLOW};

    type ExporterSlot = Rc<RefCell<Option<Result<OtelHandle, OtelError>>>>;

    /// What is being exported.
    pub(in super::super) struct OtelSpans(ExporterSlot);

    /// Exports the run that these options are for. Settings that make no sense are an error, and nothing is run.
    pub(in super::super) fn start(options: &mut RunOptions) -> anyhow::Result<OtelSpans> {
        let started = ExporterSlot::default();
        let Some(settings) = OtelSettings::from_env()? else {
            message("no spans are sent: OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER says so");
            return Ok(OtelSpans(started));
        };
        for warning in settings.warnings() {
            message(&visible(warning));
        }
        let put = Rc::clone(&started);
        options.late_sinks.push(Box::new(move |header| {
            let (exporter, handle) = match settings.start(header) {
                Ok((exporter, handle)) => (Some(Box::new(exporter) as Box<dyn EventSink>), Ok(handle)),
                Err(error) => (None, Err(error)),
            };
            *put.borrow_mut() = Some(handle);
            exporter
        }));
        Ok(OtelSpans(started))
    }

    impl OtelSpans {
        /// Waits a moment for what is on its way, and says what was not delivered.
        pub(in super::super) fn finish(self) {
            let said = match self.0.take() {
                None => None,
                Some(Ok(handle)) => handle.finish().warning(),
                Some(Err(error)) => Some(format!("no spans were sent: {error}")),
            };
            if let Some(said) = said {
                message(&format!("{YELLOW}warning{RESET}: {}", visible(&said)));
            }
        }
    }
}

#[cfg(not(feature = "otel"))]
mod without {
    use super::RunOptions;

    pub(in super::super) struct OtelSpans;

    pub(in super::super) fn start(_: &mut RunOptions) -> anyhow::Result<OtelSpans> {
        anyhow::bail!("this command was built without OpenTelemetry: build it with `--features otel`")
    }

    impl OtelSpans {
        #[allow(clippy::unused_self, reason = "as with the feature")]
        pub(in super::super) fn finish(self) {}
    }
}
