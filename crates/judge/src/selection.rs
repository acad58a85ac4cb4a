//! What of a skill is sent: its text, within a bound, with secrets masked first. The rest is named.

use skillsandbox_scanner::{SkillFiles, UnsentFile, UnsentReason};
use skillsandbox_text::{Redactor, is_secret_name};

/// Shortest value that is taken for a secret because of the name before it.
const MIN_NAMED_VALUE: usize = 6;

/// A text as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct SentText {
    /// The file, below the skill's folder.
    pub(crate) path: String,
    /// Its text, secrets masked; each line is the line of the file.
    pub(crate) text: String,
    /// Whether it is only the beginning.
    pub(crate) is_cut: bool,
}

/// What is sent of a skill, and what is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkillSelection {
    pub(crate) texts: Vec<SentText>,
    pub(crate) not_sent: Vec<UnsentFile>,
    pub(crate) masked: usize,
}

impl SkillSelection {
    /// The text of a skill up to a number of bytes: its document first, then programs, then the rest.
    pub(crate) fn of(skill: &SkillFiles, redactor: &Redactor, most: usize) -> Self {
        let mut selection = Self::default();
        let mut left = most;
        for file in skill.list_files() {
            let mut skip =
                |reason| selection.not_sent.push(UnsentFile { path: file.path.to_owned(), reason });
            if !file.is_text {
                skip(UnsentReason::NotText);
                continue;
            }
            if left == 0 && !file.bytes.is_empty() {
                skip(UnsentReason::TooMuch);
                continue;
            }
            // Before it is cut: half a secret has no shape. What lies far behind the cut is not looked at.
            let looked_at = file.bytes.len().min(left.saturating_mul(2).saturating_add(1 << 14));
            let (mut text, masked) = mask(redactor, file.bytes.get(..looked_at).unwrap_or_default());
            let is_cut = text.len() > left || looked_at < file.bytes.len();
            if is_cut {
                skip(UnsentReason::Cut);
                text.truncate(text.floor_char_boundary(left));
            }
            left = if is_cut { 0 } else { left - text.len() };
            selection.masked += masked;
            selection.texts.push(SentText { path: file.path.to_owned(), text, is_cut });
        }
        selection
    }

    /// How many bytes are sent.
    pub(crate) fn size(&self) -> usize {
        self.texts.iter().map(|text| text.text.len()).sum()
    }
}

/// A text without secrets, and how many there were. Lines stay where they are, so that a quotation can be found in the file.
fn mask(redactor: &Redactor, bytes: &[u8]) -> (String, usize) {
    let mut out = Vec::with_capacity(bytes.len());
    let (mut rest, mut count) = (0, 0);
    for span in redactor.spans(bytes) {
        out.extend_from_slice(bytes.get(rest..span.start).unwrap_or_default());
        out.extend_from_slice(redactor.replacement(span).as_bytes());
        let inside = bytes.get(span.start..span.end).unwrap_or_default();
        out.extend(inside.iter().filter(|byte| **byte == b'\n'));
        rest = span.end;
        count += 1;
    }
    out.extend_from_slice(bytes.get(rest..).unwrap_or_default());
    let text = String::from_utf8_lossy(&out);
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        count += mask_named(line, &mut masked);
    }
    (masked, count)
}

/// A line without literal values that the name before them gives away: `password: "hunter2!"`, `API_KEY=a1b2c3d4`. What is computed stays: it is
/// what a judge has to see.
fn mask_named(line: &str, out: &mut String) -> usize {
    let mut count = 0;
    let mut done = 0;
    for (at, sign) in line.char_indices().filter(|(_, c)| matches!(c, '=' | ':')) {
        if at < done {
            continue;
        }
        let name = line.get(..at).unwrap_or_default().trim_end_matches([' ', '\t', '"', '\'', '`', ':']);
        let is_other = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
        let name = name.rsplit(is_other).next().unwrap_or_default();
        if name.is_empty() || !is_secret_name(name) {
            continue;
        }
        let from = at + sign.len_utf8();
        let after = line.get(from..).unwrap_or_default();
        let value_on = after.trim_start_matches([' ', '\t', '=', '>']);
        let value_at = from + (after.len() - value_on.len());
        let Some((start, end)) = find_literal(value_on) else { continue };
        out.push_str(line.get(done..value_at + start).unwrap_or_default());
        out.push_str(skillsandbox_text::REDACTED);
        done = value_at + end;
        count += 1;
    }
    out.push_str(line.get(done..).unwrap_or_default());
    count
}

/// Where the literal is that a text begins with: in quotes, or a word that is no expression.
fn find_literal(text: &str) -> Option<(usize, usize)> {
    let is_value = |value: &str| {
        value.len() >= MIN_NAMED_VALUE
            && !value.contains("://")
            && !value.contains(|c: char| c.is_whitespace() || matches!(c, '$' | '{' | '(' | '[' | '<'))
    };
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(quote) = quote {
        let rest = text.get(1..)?;
        let end = rest.find(quote)?;
        return is_value(rest.get(..end)?).then_some((1, 1 + end));
    }
    let end = text
        .find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '#' | '"' | '\''))
        .unwrap_or(text.len());
    let word = text.get(..end)?;
    let mixed = word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic());
    (is_value(word) && mixed && !word.contains('.')).then_some((0, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(files: &[(&str, &[u8])], most: usize) -> SkillSelection {
        let skill = SkillFiles::from_memory("x", files.iter().map(|(path, bytes)| (*path, bytes.to_vec())));
        SkillSelection::of(&skill, &Redactor::of_shapes().unwrap(), most)
    }

    #[test]
    fn the_document_goes_first_and_what_is_left_out_is_named() {
        let files: &[(&str, &[u8])] = &[
            ("a.txt", b"aaaa"),
            ("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            ("run.py", b"pppp"),
            ("SKILL.md", b"ssss"),
        ];
        let whole = select(files, 100);
        let order: Vec<&str> = whole.texts.iter().map(|text| text.path.as_str()).collect();
        assert_eq!(order, ["SKILL.md", "run.py", "a.txt"]);
        assert_eq!(whole.not_sent.len(), 1);
        assert_eq!(whole.not_sent[0].reason, UnsentReason::NotText);

        let half = select(files, 6);
        assert_eq!(half.size(), 6);
        let reasons: Vec<_> = half.not_sent.iter().map(|file| (file.path.as_str(), file.reason)).collect();
        assert_eq!(
            reasons,
            [
                ("run.py", UnsentReason::Cut),
                ("a.txt", UnsentReason::TooMuch),
                ("logo.png", UnsentReason::NotText)
            ]
        );
        assert!(half.texts[1].is_cut && half.texts[1].text == "pp");
    }

    #[test]
    fn a_cut_is_between_characters_and_never_more_than_the_bound() {
        for most in 0..40 {
            let text = "héllo wörld \u{1f600}".repeat(3);
            let sent = select(&[("SKILL.md", text.as_bytes())], most);
            assert!(sent.size() <= most, "{most}");
            assert_eq!(sent.not_sent.is_empty(), most >= text.len());
        }
    }

    #[test]
    fn secrets_are_masked_and_lines_stay() {
        let key = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zaB3dE6gH");
        let pem =
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nq2zXk3Jv\n-----END RSA PRIVATE KEY-----";
        let text = format!("one {key}\n{pem}\npassword = \"hunter22\"\nlast\n");
        let sent = select(&[("SKILL.md", text.as_bytes())], 10_000);
        let got = &sent.texts[0].text;
        assert!(!got.contains(&key) && !got.contains("q2zXk3Jv") && !got.contains("hunter22"), "{got}");
        assert_eq!(got.lines().count(), text.lines().count(), "{got}");
        assert_eq!(got.lines().last(), Some("last"));
        assert!(sent.masked >= 3, "{}", sent.masked);
    }

    #[test]
    fn a_secret_across_the_cut_is_masked_too() {
        let key = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zaB3dE6gH");
        for most in 90..150 {
            let text = format!("{}{key} and more text", "x".repeat(99) + " ");
            let sent = select(&[("SKILL.md", text.as_bytes())], most);
            assert!(!sent.texts[0].text.contains("ghp_aB"), "{most}");
        }
    }

    #[test]
    fn literals_go_and_what_is_computed_stays() {
        for (line, expected) in [
            ("password: \"hunter22\"\n", "password: \"[REDACTED]\"\n"),
            ("API_KEY=a1b2c3d4e5 # x\n", "API_KEY=[REDACTED] # x\n"),
            ("{\"api_key\": \"a1b2c3d4\", \"n\": 1}", "{\"api_key\": \"[REDACTED]\", \"n\": 1}"),
            ("token := 'abcdef123'", "token := '[REDACTED]'"),
            ("token = os.environ[\"TOKEN\"]", "token = os.environ[\"TOKEN\"]"),
            ("password = getpass()", "password = getpass()"),
            ("API_KEY=$KEY", "API_KEY=$KEY"),
            (
                "webhook_secret = \"https://collector.test/x1\"",
                "webhook_secret = \"https://collector.test/x1\"",
            ),
            ("password: ask the user for it", "password: ask the user for it"),
            ("épassword=a1234567", "épassword=[REDACTED]"),
            ("note = \"hunter22\"", "note = \"hunter22\""),
        ] {
            let mut out = String::new();
            mask_named(line, &mut out);
            assert_eq!(out, expected);
        }
    }
}
