//! Diagnostics as labelled snippets, the way compilers show them.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use skillsandbox_manifest::{Diagnostic, Invalid, LoadError};
use skillsandbox_text::is_deceptive;

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
    let mut out = String::new();
    for diagnostic in &invalid.diagnostics {
        out.push_str(&snippet(&path, &invalid.source, diagnostic));
        out.push_str("\n\n");
    }
    let count = invalid.diagnostics.len() + invalid.more;
    let more = if invalid.more > 0 {
        format!(", the first {} shown", invalid.diagnostics.len())
    } else {
        String::new()
    };
    let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
    out + &format!("{path}: {errors}{more}")
}

fn snippet(path: &str, source: &str, diagnostic: &Diagnostic) -> String {
    let excerpt = Excerpt::around(source, diagnostic);
    let mut annotated = Snippet::source(excerpt.text.as_str()).line_start(excerpt.first_line);
    let primary = AnnotationKind::Primary.span(excerpt.primary.clone());
    annotated = annotated.annotation(primary.label(diagnostic.path.as_str()));
    if let (Some(span), Some(related)) = (&excerpt.related, &diagnostic.related) {
        annotated =
            annotated.annotation(AnnotationKind::Context.span(span.clone()).label(related.label.as_str()));
    }
    let title = Level::ERROR.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let mut group = if excerpt.cut {
        // The renderer would count columns from the cut.
        let origin = Origin::path(path).line(diagnostic.line).char_column(diagnostic.column);
        title.element(origin).element(annotated)
    } else {
        title.element(annotated.path(path))
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    Renderer::styled().render(&[group])
}

/// Longest line that is shown whole; of a longer one, this much around the place.
const MAX_LINE: usize = 240;
/// Farthest a second place is shown in the same snippet.
const MAX_LINES: usize = 40;

/// The few lines of the source that a diagnostic is about, safe to print.
struct Excerpt {
    text: String,
    first_line: usize,
    primary: Range<usize>,
    related: Option<Range<usize>>,
    /// Whether the text begins in the middle of a line.
    cut: bool,
}

impl Excerpt {
    fn around(source: &str, diagnostic: &Diagnostic) -> Self {
        let primary = within_line(source, diagnostic.span.range());
        let lines = line_of(source, primary.start);
        if lines.len() > MAX_LINE {
            let start =
                source.floor_char_boundary(primary.start.saturating_sub(MAX_LINE / 3)).max(lines.start);
            let end = source.floor_char_boundary(start + MAX_LINE).min(lines.end);
            let primary = primary.start - start..primary.end.min(end) - start;
            let text = source.get(start..end).map(shown).unwrap_or_default();
            return Self { text, first_line: diagnostic.line, primary, related: None, cut: true };
        }
        let related = diagnostic.related.as_ref().map(|related| within_line(source, related.span.range()));
        let between = related.as_ref().and_then(|related| source.get(related.start..primary.start));
        let lines_between = between.map_or(0, |text| text.matches('\n').count());
        let near =
            between.is_some_and(|text| lines_between <= MAX_LINES && text.len() <= MAX_LINES * MAX_LINE);
        let related = related.filter(|_| near);
        let start = related.as_ref().map_or(lines.start, |related| line_of(source, related.start).start);
        let shift = |range: Range<usize>| range.start - start..range.end - start;
        Self {
            text: source.get(start..lines.end).map(shown).unwrap_or_default(),
            first_line: diagnostic.line - if related.is_some() { lines_between } else { 0 },
            primary: shift(primary),
            related: related.map(shift),
            cut: false,
        }
    }
}

/// The line that holds a byte, without its end.
fn line_of(source: &str, at: usize) -> Range<usize> {
    const ENDS: [char; 2] = ['\n', '\r'];
    let start = source.get(..at).and_then(|before| before.rfind(ENDS)).map_or(0, |end| end + 1);
    // A byte order mark has no width.
    let start =
        if start == 0 && source.starts_with('\u{feff}') { '\u{feff}'.len_utf8().min(at) } else { start };
    let end = source.get(at..).and_then(|rest| rest.find(ENDS)).map_or(source.len(), |end| at + end);
    start..end
}

/// A span that lies in the source, cut at the end of its first line.
fn within_line(source: &str, range: Range<usize>) -> Range<usize> {
    let start = source.floor_char_boundary(range.start.min(source.len()));
    let end = source.floor_char_boundary(range.end.min(line_of(source, start).end));
    start..end.max(start)
}

/// Text with every character that could move the cursor or reorder the line replaced by others of the same length in
/// bytes, so that places stay true.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\r' {
            // Of CRLF; a space at the end of a line is not seen.
            out.push(' ');
        } else if is_deceptive(c) {
            out.extend(std::iter::repeat_n('?', c.len_utf8()));
        } else {
            out.push(c);
        }
    }
    out
}
