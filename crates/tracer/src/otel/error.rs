//! Why nothing can be exported.

use std::io;

/// What keeps an export from being begun. Each says what to set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtelError {
    /// Another encoding than the one spoken here is asked for.
    #[error(
        "{variable}={value} is not spoken here; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf, and name an endpoint that takes it \
         (port 4318 by custom)"
    )]
    Protocol {
        /// The variable that asks for it.
        variable: &'static str,
        /// What it asks for.
        value: String,
    },
    /// Another kind of exporter is asked for.
    #[error("OTEL_TRACES_EXPORTER={0} is not known here; set it to otlp, or to none to export nothing")]
    Kind(String),
    /// The endpoint is not a usable address.
    #[error("{variable} is not an endpoint: {why}; set it to something like http://localhost:4318")]
    Endpoint {
        /// The variable that names it.
        variable: &'static str,
        /// What is wrong. The value itself may hold a password, and is not repeated.
        why: String,
    },
    /// A header cannot be sent.
    #[error(
        "{variable} has an entry that is not a header ({which}); write name=value,name=value, with %2C for a comma in a value"
    )]
    Header {
        /// The variable.
        variable: &'static str,
        /// Which entry: its name or, where it has none, its place. Never its value, which is often a key.
        which: String,
    },
    /// A file with certificates or a key cannot be used.
    #[error("{variable} cannot be used: {path}: {why}")]
    Certificate {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The exporter could not be made.
    #[error("the exporter cannot be made: {0}")]
    Exporter(String),
    /// The thread that exports could not be started.
    #[error("the thread that exports spans cannot be started: {0}")]
    Thread(#[source] io::Error),
}
