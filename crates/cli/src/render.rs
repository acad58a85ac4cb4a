//! Diagnostics as labelled snippets, the way compilers show them.

use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use skillsandbox_manifest::{Diagnostic, Invalid, LoadError};

use crate::output::visible;

/// A refusal as a person reads it: each diagnostic with its lines of the file and what to do.
pub(crate) fn load_error(error: &LoadError) -> String {
    match error {
        LoadError::Invalid { path, invalid, .. } => invalid_text(path, invalid),
        other => {
            let title = visible(&other.to_string());
            Renderer::styled().render(&[Group::with_title(Level::ERROR.primary_title(title.as_str()))])
        }
    }
}

fn invalid_text(path: &Path, invalid: &Invalid) -> String {
    let path = visible(&path.display().to_string());
    let source = shown_source(&invalid.source);
    let mut out = String::new();
    for diagnostic in &invalid.diagnostics {
        out.push_str(&snippet(&path, &source, diagnostic));
        out.push_str("\n\n");
    }
    let count = invalid.diagnostics.len() + invalid.more;
    let more = if invalid.more > 0 { format!(", the first {} shown", invalid.diagnostics.len()) } else { String::new() };
    let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
    out.push_str(&format!("{path}: {errors}{more}"));
    out
}

fn snippet(path: &str, source: &str, diagnostic: &Diagnostic) -> String {
    let span = clamp(source, diagnostic.span.range());
    let mut annotated = Snippet::source(source).path(path);
    annotated = annotated.annotation(AnnotationKind::Primary.span(span).label(diagnostic.path.as_str()));
    if let Some(related) = &diagnostic.related {
        let span = clamp(source, related.span.range());
        annotated = annotated.annotation(AnnotationKind::Context.span(span).label(related.label.as_str()));
    }
    let title = Level::ERROR.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let mut group = title.element(annotated);
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    Renderer::styled().render(&[group])
}

/// The source with every character that could move the cursor or reorder the line replaced by one of the same
/// length in bytes, so that places stay true.
fn shown_source(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for c in source.chars() {
        let harmless = matches!(c, '\n' | '\t') || visible(c.encode_utf8(&mut [0; 4])).chars().eq([c]);
        if harmless {
            out.push(c);
        } else {
            out.extend(std::iter::repeat_n('?', c.len_utf8()));
        }
    }
    out
}

/// A span that lies in the source; a very long one is cut so that a snippet stays a screen.
fn clamp(source: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let start = source.floor_char_boundary(range.start.min(source.len()));
    let first_line = source.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let end = source.floor_char_boundary(range.end.min(start + first_line));
    start..end.max(start)
}
