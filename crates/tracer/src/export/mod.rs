//! A trace for other programs.
//!
//! - [`write_json`]: all of it, in one document.
//! - [`write_ndjson`]: an event a line, for tools that read lines.
//! - [`write_ocsf`]: for security tools that speak the Open Cybersecurity Schema Framework.
//!
//! All three are JSON, and in all three what could deceive a person who looks at it is written as an escape:
//! the values are those of the trace, to the last character.

mod ocsf;

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, PrettyFormatter};
use skillsandbox_text::EscapedJson;

pub use ocsf::{VERSION as OCSF_VERSION, write_ocsf, write_ocsf_event, write_ocsf_findings};

use crate::{Event, Trace, TraceHeader};

/// The whole trace, indented.
pub fn write_json<W: Write>(out: W, trace: &Trace) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    trace.serialize(&mut Serializer::with_formatter(&mut out, EscapedJson::new(PrettyFormatter::new())))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The events, one a line. The trace they are of is in every line, as `trace_id`.
pub fn write_ndjson<W: Write>(out: W, trace: &Trace) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    for event in &trace.events {
        write_ndjson_event(&mut out, &trace.header, event)?;
    }
    out.flush()
}

/// One event as a line of [`write_ndjson`], for traces that are too long to be held.
pub fn write_ndjson_event<W: Write>(out: &mut W, header: &TraceHeader, event: &Event) -> io::Result<()> {
    #[derive(Serialize)]
    struct NumberedEvent<'a> {
        trace_id: String,
        #[serde(flatten)]
        event: &'a Event,
    }
    line(out, &NumberedEvent { trace_id: header.trace_id.to_string(), event })
}

/// One value in one line.
fn line<W: Write>(out: &mut W, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, EscapedJson::new(CompactFormatter)))?;
    out.write_all(b"\n")
}
