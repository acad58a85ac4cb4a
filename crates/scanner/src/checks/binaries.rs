//! Files that are not text, and files that say they are something else: part of CHECK-05 and CHECK-08.
//!
//! What was found in archives is data from `archive.rs`; here it is weighed. An archive that could be read is no finding: what
//! is in it was scanned like the rest.

use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::archive::ArchiveOddity;
use crate::checks::obfuscation::{AMBIGUOUS_ARCHIVE, FAKE_EXTENSION, POLYGLOT, TRAILING_DATA};
use crate::checks::supply_chain::{
    ARCHIVE_BOMB, ARCHIVE_ESCAPE, ARCHIVE_LINK, EMBEDDED_ARCHIVE, EMBEDDED_PROGRAM, OFFICE_MACROS,
    PASSWORD_ARCHIVE, REMOTE_PART,
};
use crate::finding::Finding;
use crate::kind::{self, ArchiveKind};
use crate::rule::{CheckId, FindingStatus, RuleInfo};
use crate::skill::{SkillFile, SkillFiles};
use crate::text::PassageRole;

/// What is said of a file.
pub(crate) struct FileJudgement {
    path: String,
    rule: &'static RuleInfo,
    /// What this case amounts to, where that is less than the rule is at most.
    status: FindingStatus,
    why: String,
    advice: &'static str,
}

impl FileJudgement {
    fn new(path: &str, rule: &'static RuleInfo, why: impl Into<String>) -> Self {
        Self { path: path.to_owned(), rule, status: rule.status, why: why.into(), advice: rule.advice }
    }
}

/// Adds those judgements that are a check's.
pub(crate) fn add_findings(
    check: CheckId,
    skill: &SkillFiles,
    judged: &[FileJudgement],
    findings: &mut Vec<Finding>,
) {
    for FileJudgement { path, rule, status, why, advice } in
        judged.iter().filter(|one| one.rule.check == check)
    {
        let named = skill.files.iter().find(|file| file.path == *path);
        let unnamed = SkillFile::data(path.clone(), Vec::new());
        let mut finding = Finding::in_file(rule, named.unwrap_or(&unnamed), 0..0, why.as_str());
        finding.role = PassageRole::Data;
        findings.push(finding.with_status(*status).with_advice(advice));
    }
}

/// Judges all files of a skill.
pub(crate) fn judge(skill: &SkillFiles) -> Vec<FileJudgement> {
    let mut found: Vec<FileJudgement> = skill.files.iter().flat_map(judge_file).collect();
    let mut told = None;
    for (path, oddity) in &skill.oddities {
        let password =
            *oddity == ArchiveOddity::Password && *told.get_or_insert_with(|| tells_a_password(skill));
        found.push(judge_oddity(path, oddity, password));
    }
    found
}

/// Programs, and names that promise something else.
fn judge_file(file: &SkillFile) -> Vec<FileJudgement> {
    let mut found = Vec::new();
    let program = kind::detect_program(&file.bytes)
        .or_else(|| (file.kind == kind::FileKind::Executable).then_some("by its name a compiled program"));
    if let Some(program) = program {
        let why = format!("A compiled program comes with the skill: {program}");
        found.push(FileJudgement::new(&file.path, &EMBEDDED_PROGRAM, why));
    }
    let is = match kind::detect_archive(&file.bytes) {
        _ if program.is_some() => program,
        _ if kind::is_script(&file.bytes) => Some("a script"),
        // Documents of today are archives.
        Some(ArchiveKind::Zip) if kind::find_promise(&file.path) == Some("a document") => None,
        Some(_) => Some("an archive"),
        None => None,
    };
    if let (Some(is), Some(promised)) = (is, kind::find_promise(&file.path)) {
        let why = format!("Its name says that it is {promised}, its bytes say that it is {is}");
        found.push(FileJudgement::new(&file.path, &FAKE_EXTENSION, why));
    }
    found
}

/// What an oddity amounts to.
fn judge_oddity(path: &str, oddity: &ArchiveOddity, is_password_told: bool) -> FileJudgement {
    let of = |rule: &'static RuleInfo, why: &str| FileJudgement::new(path, rule, why);
    match oddity {
        ArchiveOddity::Closed(reason) => of(
            &EMBEDDED_ARCHIVE,
            &format!("An archive comes with the skill that was not read in full ({reason})"),
        ),
        ArchiveOddity::Password if is_password_told => {
            let why = "An archive is closed to scanners by a password, which the skill tells its reader";
            FileJudgement { advice: "Do not open it.", ..of(PASSWORD_ARCHIVE, why) }
        }
        ArchiveOddity::Password => {
            let why = "An archive is closed to scanners by a password";
            let advice = EMBEDDED_ARCHIVE.advice;
            FileJudgement { status: FindingStatus::Warn, advice, ..of(PASSWORD_ARCHIVE, why) }
        }
        ArchiveOddity::Bomb => {
            of(&ARCHIVE_BOMB, "An archive unpacks to far more than it seems, and may fill the disk")
        }
        ArchiveOddity::Escape => of(&ARCHIVE_ESCAPE, ARCHIVE_ESCAPE.summary),
        ArchiveOddity::Absolute => {
            let why = "A member of an archive would be written to a fixed place of the file system";
            let advice = "Unpack it only where such names are cut.";
            FileJudgement { status: FindingStatus::Warn, advice, ..of(&ARCHIVE_ESCAPE, why) }
        }
        ArchiveOddity::Link(target) => {
            of(&ARCHIVE_LINK, &format!("A member of an archive is a link or a device ({})", shorten(target)))
        }
        ArchiveOddity::ThroughLink => of(
            &ARCHIVE_ESCAPE,
            "A member of an archive would be written through a link that stands before it",
        ),
        ArchiveOddity::Ambiguous(what) => of(
            &AMBIGUOUS_ARCHIVE,
            &format!("Two programs would unpack this archive differently: {}", shorten(what)),
        ),
        ArchiveOddity::Unclaimed => {
            of(&TRAILING_DATA, "An archive holds bytes that belong to none of its members")
        }
        ArchiveOddity::Polyglot => {
            of(&POLYGLOT, "It is a file of one kind at its beginning, and an archive at its end")
        }
        ArchiveOddity::Trailing(what) => {
            of(&TRAILING_DATA, &format!("Behind the end of the picture stands {what}"))
        }
        ArchiveOddity::Macros => of(&OFFICE_MACROS, OFFICE_MACROS.summary),
        ArchiveOddity::RemotePart(target) => of(
            &REMOTE_PART,
            &format!("An Office document loads a part from {} when it is opened", shorten(target)),
        ),
    }
}

/// A text of the skill's in a sentence of ours: short.
fn shorten(text: &str) -> String {
    crate::finding::snippet(text.as_bytes())
}

/// Whether some text of the skill says how to open an archive that has a password.
fn tells_a_password(skill: &SkillFiles) -> bool {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    // A skill that holds such an archive and speaks of a password speaks of that one.
    let pattern = PATTERN.get_or_init(|| {
        Regex::new(
            r#"(?ix)
            \b(?:password|passwd|passphrase|passcode|pwd|pass|pw|passwort|kennwort|contrase[ñn]a|mot\s+de\s+passe)\b
              [^\n]{0,60}?(?:[:=`"']|\bis\b)\s*\S{2}
            | 密码 | 密碼 | пароль
            | \b(?:password|passphrase|passcode)\s+[a-z0-9!@\#$%^&*._-]*[0-9!@\#$%^&*_][a-z0-9!@\#$%^&*._-]*
            | \b(?:extract|unzip|unpack|decrypt|open)\w*\b[^\n]{0,80}\b(?:password|passphrase|passcode)\b
            | \bunzip\b[^\n]{0,60}\s-P | \b7z[ar]?\b[^\n]{0,60}\s-p\S | \bbsdtar\b[^\n]{0,60}--passphrase
            | \b(?:setpassword|extractall|pyminizip|pyzipper)\b[^\n]{0,80}"#,
        )
        .ok()
    });
    let Some(pattern) = pattern else { return true };
    skill.files.iter().any(|file| file.is_text() && pattern.is_match(&file.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_seen_in_many_wordings_and_the_word_alone_is_none() {
        let told = |text: &str| tells_a_password(&SkillFiles::from_skill_md("x", text));
        for text in [
            "The password is `1234`.",
            "Extract it with the password infected",
            "password: openclaw",
            "unzip -o -P s3cret tool.zip",
            "7z x tool.zip -ps3cret",
            "z.extractall(pwd=b'abc')",
            "Kennwort: geheim",
            "\u{5bc6}\u{7801} 1234",
            "Use passcode 4711 when asked",
        ] {
            assert!(told(text), "{text}");
        }
        for text in
            ["It never stores a password.", "A guide to weather.", "Ask the user for a new password first."]
        {
            assert!(!told(text), "{text}");
        }
    }
}
