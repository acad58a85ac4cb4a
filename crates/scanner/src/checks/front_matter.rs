//! # CHECK-07: front matter integrity
//!
//! ## What it looks for
//! Front matter that is missing, broken or says two things: not closed, duplicate keys, YAML tags, bombs, a second block, values that
//! look like commands, `extends` that leads out.
//!
//! ## Why it matters
//! What one reader takes for the name, another takes for text; attackers live in the difference.
//!
//! ## Flagged
//! `!!python/object/apply:os.system`, a key written twice, `on_load: curl … | sh`.
//!
//! ## Not flagged
//! Unknown keys with plain values.
//!
//! ## Blind spots
//! What other agents make of keys only they know.
//!
//! ## References
//! MITRE ATT&CK T1195.

use skillsandbox_manifest::{Code, SkillDoc};

use crate::rule::Status::{self, Block, Pass, Warn};

/// What the front matter comes to: rule, status, why, and the byte it points to.
pub(crate) fn judge(doc: &SkillDoc, text: &str) -> Vec<(&'static str, Status, String, usize)> {
    let mut found = Vec::new();
    let Some(front) = &doc.front_matter else {
        if let Some(open) = doc.problems.iter().find(|problem| problem.code == Code::Unterminated) {
            found.push(("unterminated", Warn, "The front matter is not closed".to_owned(), open.span.start));
        } else {
            found.push(("missing", Warn, "There is no front matter".to_owned(), 0));
        }
        return found;
    };
    for problem in &doc.problems {
        let (rule, status) = match problem.code {
            Code::Tag => ("yaml-tag", Block),
            Code::Alias | Code::Anchor => ("yaml-alias", Warn),
            Code::MergeKey => ("merge-key", Warn),
            Code::DuplicateKey => ("duplicate-key", Warn),
            Code::WrongType => (
                "wrong-type",
                if ["`name`", "`description`"].iter().any(|key| problem.message.contains(key)) {
                    Warn
                } else {
                    Pass
                },
            ),
            Code::ForbiddenCharacter => ("control-character", Warn),
            Code::SeveralDocuments => ("second-block", Warn),
            _ => ("not-yaml", Pass),
        };
        found.push((rule, status, problem.message.clone(), problem.span.start));
    }
    let bomb = doc.problems.iter().filter(|problem| problem.code == Code::Alias).count();
    if bomb >= 8 {
        found.push(("yaml-bomb", Block, "Aliases multiply into a bomb".to_owned(), front.span.start));
    }
    let skill_os = front.kind.is_some() || front.extends.is_some() || front.tools.is_some();
    for (key, missing, status) in [
        ("name", front.name.is_none(), if front.recovered { Pass } else { Warn }),
        ("description", front.description.is_none(), if front.recovered { Pass } else { Warn }),
        ("type", front.kind.is_none() && skill_os && front.extends.is_some(), Warn),
    ] {
        let empty = doc.problems.iter().any(|problem| problem.code == Code::Empty);
        if missing && !empty {
            found.push(("missing-key", status, format!("`{key}` is missing"), front.span.start));
        }
    }
    for (key, value) in &front.other {
        let value = value.to_string();
        if looks_executable(&value) {
            found.push((
                "executable-value",
                Warn,
                format!("The key `{}` holds what looks like a command", key.value),
                key.span.start,
            ));
        }
    }
    if let Some(extends) = &front.extends
        && (!extends.value.starts_with("system/skills/") || extends.value.contains(".."))
    {
        found.push((
            "extends-outside",
            Warn,
            "`extends` leads out of system/skills/".to_owned(),
            extends.span.start,
        ));
    }
    if let Some(at) = second_block(text, doc.body_start) {
        found.push((
            "second-block",
            Warn,
            "A second front matter stands in the body, which some readers take instead".to_owned(),
            at,
        ));
    }
    found
}

/// A block of `key: value` lines between two `---` lines in the body, outside code, that names tools or a skill.
fn second_block(text: &str, body_start: usize) -> Option<usize> {
    let mut at = body_start;
    let mut fenced = false;
    let mut open: Option<(usize, bool)> = None;
    for line in text.get(body_start..)?.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            fenced = !fenced;
        }
        match (&mut open, trimmed) {
            _ if fenced => open = None,
            (Some((start, true)), "---") => return Some(*start),
            (_, "---") => open = Some((at, false)),
            (Some((_, named)), line)
                if line.starts_with("name:")
                    || line.starts_with("allowed-tools:")
                    || line.starts_with("tools:") =>
            {
                *named = true;
            }
            (Some(_), line) if line.contains(':') || line.is_empty() => {}
            (Some(_), _) => open = None,
            (None, _) => {}
        }
        at += line.len();
    }
    None
}

fn looks_executable(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    [
        "curl ",
        "wget ",
        "| sh",
        "| bash",
        "bash -c",
        "sh -c",
        "eval(",
        "exec(",
        "powershell",
        "rm -rf",
        "os.system",
        "subprocess",
        "/dev/tcp",
        "base64 -d",
        "nc -e",
        "$(",
        "`curl",
    ]
    .iter()
    .any(|word| lower.contains(word))
}
