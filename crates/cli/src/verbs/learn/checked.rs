//! `learn --verify` and `learn --diff`: a manifest held against what a skill is seen to do.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::json;
use skillsandbox_learn::{
    DeclaredGrant, FileGrant, LearnPlaces, ManifestDifference, Necessity, Observations, Rehearsal,
    observe_trace,
};
use skillsandbox_manifest::Manifest;
use skillsandbox_run::Refusal;
use skillsandbox_tracer::read_trace;

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, message, visible};
use crate::style::{BOLD, DIM, GREEN, RESET, YELLOW};

/// The version of the JSON forms.
const VERSION: u32 = 1;

/// Rehearses without each grant, and says which are needed.
pub(super) fn verify(
    rehearsal: &Rehearsal,
    manifest: &Manifest,
    format: OutputFormat,
) -> Result<anyhow::Result<ExitAnswer>, Refusal> {
    let places = &rehearsal.places;
    let grants = declared(manifest, places);
    if format == OutputFormat::Text {
        message(&format!("{} grants, each rehearsed without ...", grants.len()));
    }
    let verified = rehearsal.verify(&grants, |grant, necessity| {
        if format == OutputFormat::Text {
            let (mark, word) = in_words(necessity);
            message(&format!("  {mark}{}{RESET}  {word}", visible(&describe(grant, places))));
        }
    })?;
    let is_needless =
        |necessity: &Necessity| matches!(necessity, Necessity::NotNeeded | Necessity::ReadIsEnough);
    let needless = verified.iter().filter(|(_, necessity)| is_needless(necessity)).count();
    let shown = match format {
        OutputFormat::Text => {
            message(&match needless {
                0 => format!("{GREEN}each grant is needed{RESET}"),
                1 => format!(
                    "{YELLOW}1 grant is more than this run needs{RESET}: take it out, or run it with other arguments"
                ),
                many => format!(
                    "{YELLOW}{many} grants are more than this run needs{RESET}: take them out, or run it with other arguments"
                ),
            });
            Ok(())
        }
        OutputFormat::Json => output::json(&json!({
            "version": VERSION,
            "grants": verified.iter().map(|(grant, necessity)| json!({
                "grant": describe(grant, places),
                "needed": matches!(necessity, Necessity::Needed(_)),
                "why": in_words(necessity).1,
            })).collect::<Vec<_>>(),
        })),
    };
    Ok(shown.map(|()| if needless == 0 { ExitAnswer::Yes } else { ExitAnswer::No }))
}

/// What is declared and unused, used and undeclared.
pub(super) fn diff(
    manifest: &Manifest,
    seen: &Observations,
    places: &LearnPlaces,
    format: OutputFormat,
) -> anyhow::Result<ExitAnswer> {
    let difference = ManifestDifference::of(manifest, seen, places);
    match format {
        OutputFormat::Text => {
            let parts = [
                ("declared and unused", &difference.unused),
                ("used and undeclared", &difference.undeclared),
                ("tried, and never granted", &difference.never),
            ];
            let mut text = String::new();
            for (heading, lines) in parts.iter().filter(|(_, lines)| !lines.is_empty()) {
                let _ = writeln!(text, "{BOLD}{heading}{RESET}");
                for line in *lines {
                    let _ = writeln!(text, "  {}", visible(line));
                }
            }
            if text.is_empty() {
                text.push_str("what is declared is what is used\n");
            }
            output::result(&text)?;
        }
        OutputFormat::Json => output::json(&json!({
            "version": VERSION,
            "unused": difference.unused,
            "undeclared": difference.undeclared,
            "never_granted": difference.never,
        }))?,
    }
    Ok(if difference.is_empty() { ExitAnswer::Yes } else { ExitAnswer::No })
}

/// What a trace shows.
pub(super) fn seen_in(
    trace: &Path,
    manifest: &Manifest,
    places: &LearnPlaces,
) -> anyhow::Result<Observations> {
    let trace = read_trace(trace).with_context(|| format!("{}", trace.display()))?;
    Ok(observe_trace(&trace, manifest, places))
}

/// What a manifest grants.
pub(super) fn declared(manifest: &Manifest, places: &LearnPlaces) -> Vec<DeclaredGrant> {
    let bases = places.bases();
    let files = manifest.filesystem();
    let writes = files.write.iter().map(|grant| FileGrant::Write(grant.value.resolve(&bases)));
    let reads = files.read.iter().map(|grant| FileGrant::Read(grant.value.resolve(&bases)));
    let hosts = manifest.network().egress.iter().map(|rule| DeclaredGrant::Host(rule.value.clone()));
    let variables =
        manifest.env_vars().allow.iter().map(|pattern| DeclaredGrant::Variable(pattern.value.clone()));
    writes.chain(reads).map(DeclaredGrant::File).chain(hosts).chain(variables).collect()
}

/// A grant in a few words.
pub(super) fn describe(grant: &DeclaredGrant, places: &LearnPlaces) -> String {
    let spell = |path: &Path| places.spell(path).unwrap_or_else(|| path.display().to_string());
    match grant {
        DeclaredGrant::File(FileGrant::Read(path)) => format!("read {}", spell(path)),
        DeclaredGrant::File(FileGrant::Write(path)) => format!("write {}", spell(path)),
        DeclaredGrant::Host(rule) => format!("network {rule}"),
        DeclaredGrant::Variable(pattern) => format!("variable {pattern}"),
    }
}

fn in_words(necessity: &Necessity) -> (anstyle::Style, String) {
    match necessity {
        Necessity::Needed(why) => (GREEN, format!("needed: without it, {}", visible(why))),
        Necessity::NotNeeded => (YELLOW, "not needed: the run comes to the same without it".to_owned()),
        Necessity::ReadIsEnough => (YELLOW, "to be read is enough".to_owned()),
        Necessity::Unknown(why) => (DIM, format!("cannot be told: {}", visible(why))),
    }
}
