//! `skillsandbox schema`: the JSON Schema of the files people write, and of the reports and traces that programs read.

use clap::{Args, ValueEnum};
use skillsandbox_manifest::schema;
use skillsandbox_scanner::schema::report;

use crate::output::{self, ExitAnswer};

/// Print the JSON Schema of skillsandbox.yaml, of a policy file, of a scan's report or of a run's trace
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox schema > skillsandbox.schema.json
  skillsandbox schema policy
  skillsandbox schema report
  skillsandbox schema trace

In an editor with the YAML language server, put this in the first line of the manifest:
  # yaml-language-server: $schema=./skillsandbox.schema.json")]
pub(crate) struct SchemaArgs {
    /// Which file's
    #[arg(value_name = "FILE", default_value = "manifest")]
    file: SchemaOf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemaOf {
    /// skillsandbox.yaml
    Manifest,
    /// A user's policy file
    Policy,
    /// One report of `scan`, as --format ndjson prints it
    Report,
    /// The trace of a run
    Trace,
}

impl SchemaArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let schema = match self.file {
            SchemaOf::Manifest => schema::manifest(),
            SchemaOf::Policy => schema::policy(),
            SchemaOf::Report => report(),
            SchemaOf::Trace => skillsandbox_tracer::schema::trace(),
        };
        output::json(&schema)?;
        Ok(ExitAnswer::Yes)
    }
}
