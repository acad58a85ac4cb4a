//! The pieces of code in a text: a script is one, a document has its fences, a notebook its cells.

use std::borrow::Cow;
use std::ops::Range;

use crate::code::ir::Language;
use crate::kind::FileKind;
use crate::skill::SkillFile;

/// How far fences may stand from each other to count as one program: a heading and a paragraph.
const NEAR_FENCES: usize = 600;
/// Most fences of one document that are read.
const MAX_FENCES: usize = 120;

/// A piece of code.
#[derive(Debug)]
pub(crate) struct CodePiece<'s> {
    /// The number of its file.
    pub(crate) file: usize,
    pub(crate) path: &'s str,
    pub(crate) text: Cow<'s, str>,
    /// Where it stands in its file; for a notebook, where its cell does.
    pub(crate) range: Range<usize>,
    /// Whether places in it are places of the file.
    pub(crate) is_placed: bool,
    pub(crate) language: Language,
    /// Pieces of one group share their variables.
    pub(crate) group: usize,
    /// Whether it is a whole file, so that others may import it.
    pub(crate) is_file: bool,
}

impl CodePiece<'_> {
    /// A place in the piece as a place in its file.
    pub(crate) fn place(&self, range: &Range<usize>) -> Range<usize> {
        if !self.is_placed {
            return self.range.clone();
        }
        let end = self.range.end;
        (self.range.start + range.start).min(end)..(self.range.start + range.end).min(end)
    }
}

/// The language of a name in lower case by its ending.
fn ending_language(name: &str) -> Option<Language> {
    match name.rsplit_once('.').map(|(_, ending)| ending)? {
        "py" | "pyw" | "pyi" => Some(Language::Python),
        "js" | "mjs" | "cjs" | "jsx" => Some(Language::JavaScript),
        "ts" | "mts" | "cts" => Some(Language::TypeScript),
        "tsx" => Some(Language::Tsx),
        _ => None,
    }
}

/// The language of a file by its name, or by the interpreter that it names.
fn language_of(file: &SkillFile, text: &str) -> Option<Language> {
    let by_name = ending_language(&file.path.to_ascii_lowercase());
    if by_name.is_some() {
        return by_name;
    }
    let first = text.lines().next().unwrap_or_default();
    if file.kind != FileKind::Script || !first.starts_with("#!") {
        return None;
    }
    if first.contains("python") {
        Some(Language::Python)
    } else if first.contains("node") || first.contains("deno") || first.contains("bun") {
        Some(Language::JavaScript)
    } else {
        None
    }
}

/// The language that a word behind a fence names.
fn fence_language(info: &str) -> Option<Language> {
    let word = info
        .trim()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match word.as_str() {
        "python" | "py" | "python3" => Some(Language::Python),
        "js" | "javascript" | "node" | "mjs" | "jsx" => Some(Language::JavaScript),
        "ts" | "typescript" => Some(Language::TypeScript),
        "tsx" => Some(Language::Tsx),
        _ => None,
    }
}

/// The pieces of code in a text of a skill.
pub(crate) fn find_pieces<'s>(
    number: usize,
    file: &'s SkillFile,
    text: Cow<'s, str>,
    out: &mut Vec<CodePiece<'s>>,
) {
    if let Some(language) = language_of(file, &text) {
        let group = out.len();
        out.push(CodePiece {
            file: number,
            path: &file.path,
            range: 0..text.len(),
            text,
            is_placed: true,
            language,
            group,
            is_file: true,
        });
        return;
    }
    if file.path.to_ascii_lowercase().strip_suffix(".ipynb").is_some() {
        find_cells(number, file, &text, out);
    } else if file.kind == FileKind::Markdown {
        add_fences(number, file, &text, out);
    }
}

/// The code in the fences of a document.
#[allow(clippy::ptr_arg)] // what is borrowed stays so
fn add_fences<'s>(number: usize, file: &'s SkillFile, text: &Cow<'s, str>, out: &mut Vec<CodePiece<'s>>) {
    let fences = find_fences(text, out.len());
    let take = |range: &Range<usize>| match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(range.clone()).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(range.clone()).unwrap_or_default().to_owned()),
    };
    out.extend(fences.into_iter().map(|(range, language, group)| CodePiece {
        file: number,
        path: &file.path,
        text: take(&range),
        range,
        is_placed: true,
        language,
        group,
        is_file: false,
    }));
}

/// Where code stands in a document, each with its language and its group; groups are numbered from a number on.
fn find_fences(text: &str, first: usize) -> Vec<(Range<usize>, Language, usize)> {
    let mut fences: Vec<(Range<usize>, Language, usize)> = Vec::new();
    let mut open: Option<(&str, usize, usize, Option<Language>)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim().trim_start_matches(['>', ' ']);
        let mark = if trimmed.starts_with("```") {
            "```"
        } else if trimmed.starts_with("~~~") {
            "~~~"
        } else {
            continue;
        };
        let width = trimmed.bytes().take_while(|b| mark.as_bytes().first() == Some(b)).count();
        match open {
            None => {
                let language = fence_language(trimmed.trim_start_matches(['`', '~']));
                open = Some((mark, width, at, language));
            }
            // What closes is as wide as what opened, and has nothing behind it.
            Some((opened, wide, from, language))
                if opened == mark && width >= wide && width == trimmed.len() =>
            {
                open = None;
                let Some(language) = language.filter(|_| fences.len() < MAX_FENCES && from < start) else {
                    continue;
                };
                let group = match fences.last() {
                    Some((last, same, group)) if *same == language && from - last.end < NEAR_FENCES => *group,
                    _ => first + fences.len(),
                };
                fences.push((from..start, language, group));
            }
            Some(_) => {}
        }
    }
    // A fence that nobody closed goes on to the end.
    if let Some((.., from, Some(language))) = open
        && from < text.len()
    {
        fences.push((from..text.len(), language, first + fences.len()));
    }
    fences
}

/// The cells of a notebook, as one program.
fn find_cells<'s>(number: usize, file: &'s SkillFile, text: &str, out: &mut Vec<CodePiece<'s>>) {
    let Ok(notebook) = serde_json::from_str::<serde_json::Value>(text) else { return };
    let mut code = String::new();
    for cell in notebook.get("cells").and_then(|cells| cells.as_array()).into_iter().flatten() {
        if cell.get("cell_type").and_then(|kind| kind.as_str()) != Some("code") {
            continue;
        }
        match cell.get("source") {
            Some(serde_json::Value::String(source)) => code.push_str(source),
            Some(serde_json::Value::Array(lines)) => {
                lines.iter().filter_map(|line| line.as_str()).for_each(|line| code.push_str(line));
            }
            _ => {}
        }
        code.push('\n');
    }
    // Lines for the shell, which Python does not know.
    let code = code
        .lines()
        .map(|line| if line.starts_with(['!', '%']) { "" } else { line })
        .collect::<Vec<_>>()
        .join("\n");
    let group = out.len();
    out.push(CodePiece {
        file: number,
        path: &file.path,
        text: Cow::Owned(code),
        range: 0..text.len().min(1),
        is_placed: false,
        language: Language::Python,
        group,
        is_file: false,
    });
}
