//! Files that are not text, and files that say they are something else: part of CHECK-05 and CHECK-08.
//!
//! What was found in archives is data from `archive.rs`; here it is weighed. An archive that could be read is no finding: what
//! is in it was scanned like the rest.

use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::archive::Oddity;
use crate::kind::{self, ArchiveKind};
use crate::rule::{CheckId, Status};
use crate::skill::{Skill, SkillFile};

/// The rules that are judged here, and what each looks for.
pub(crate) const EXPLAINED: &[(CheckId, &str, &str)] = &[
    (
        CheckId::Obfuscation,
        "ambiguous-archive",
        "Two programs would unpack an archive differently: names, sizes or members that only one of them sees",
    ),
    (
        CheckId::Obfuscation,
        "fake-extension",
        "A file's name says picture, sound, font, document or text, and its bytes are a program, a script or an archive",
    ),
    (CheckId::Obfuscation, "polyglot", "A file is of one kind at its beginning and an archive at its end"),
    (
        CheckId::Obfuscation,
        "trailing-data",
        "Data stands behind the end of a picture, or between the members of an archive",
    ),
    (CheckId::SupplyChain, "archive-bomb", "An archive unpacks to more than 200 times its size"),
    (
        CheckId::SupplyChain,
        "archive-escape",
        "A member of an archive would be written outside the folder it is unpacked to",
    ),
    (CheckId::SupplyChain, "archive-link", "A member of an archive is a link or a device"),
    (
        CheckId::SupplyChain,
        "embedded-archive",
        "An archive comes with the skill that could not be read in full",
    ),
    (
        CheckId::SupplyChain,
        "embedded-program",
        "A compiled program comes with the skill, so nobody can read what it does",
    ),
    (CheckId::SupplyChain, "office-macros", "An Office document has macros, which run when it is opened"),
    (
        CheckId::SupplyChain,
        "password-archive",
        "An archive is closed to scanners by a password; BLOCK where the skill tells it",
    ),
    (
        CheckId::SupplyChain,
        "remote-part",
        "An Office document loads a template or an object from elsewhere when it is opened",
    ),
];

/// What is said of a file.
pub(crate) struct Judgement {
    pub(crate) path: String,
    pub(crate) check: CheckId,
    pub(crate) rule: &'static str,
    pub(crate) status: Status,
    pub(crate) why: String,
    pub(crate) advice: &'static str,
}

/// Judges all files of a skill.
pub(crate) fn judge(skill: &Skill) -> Vec<Judgement> {
    let mut found: Vec<Judgement> = skill.files.iter().flat_map(file).collect();
    let mut told = None;
    for (path, oddity) in &skill.oddities {
        let password = *oddity == Oddity::Password && *told.get_or_insert_with(|| tells_a_password(skill));
        let (check, rule, status, why, advice) = weigh(oddity, password);
        found.push(Judgement { path: path.clone(), check, rule, status, why, advice });
    }
    found
}

/// Programs, and names that promise something else.
fn file(file: &SkillFile) -> Vec<Judgement> {
    let judgement = |check, rule, why, advice| Judgement {
        path: file.path.clone(),
        check,
        rule,
        status: Status::Warn,
        why,
        advice,
    };
    let mut found = Vec::new();
    let program = kind::program(&file.bytes)
        .or_else(|| (file.kind == kind::FileKind::Executable).then_some("by its name a compiled program"));
    if let Some(program) = program {
        let why = format!("A compiled program comes with the skill: {program}");
        found.push(judgement(CheckId::SupplyChain, "embedded-program", why, "Ask for the source instead."));
    }
    let is = match kind::archive(&file.bytes) {
        _ if program.is_some() => program,
        _ if kind::is_script(&file.bytes) => Some("a script"),
        // Documents of today are archives.
        Some(ArchiveKind::Zip) if kind::promises(&file.path) == Some("a document") => None,
        Some(_) => Some("an archive"),
        None => None,
    };
    if let (Some(is), Some(promised)) = (is, kind::promises(&file.path)) {
        let why = format!("Its name says that it is {promised}, its bytes say that it is {is}");
        found.push(judgement(CheckId::Obfuscation, "fake-extension", why, "Ask why it is disguised."));
    }
    found
}

/// What an oddity amounts to.
fn weigh(oddity: &Oddity, password_told: bool) -> (CheckId, &'static str, Status, String, &'static str) {
    const READABLE: &str = "Ask for the files themselves, not packed.";
    const DISGUISE: &str = "Ask what is carried there, and why unseen.";
    let (hidden, supply) = (CheckId::Obfuscation, CheckId::SupplyChain);
    let (warn, block) = (Status::Warn, Status::Block);
    match oddity {
        Oddity::Closed(reason) => {
            let why = format!("An archive comes with the skill that was not read in full ({reason})");
            (supply, "embedded-archive", warn, why, READABLE)
        }
        Oddity::Password if password_told => {
            let why = "An archive is closed to scanners by a password, which the skill tells its reader";
            (supply, "password-archive", block, why.to_owned(), "Do not open it.")
        }
        Oddity::Password => {
            let why = "An archive is closed to scanners by a password";
            (supply, "password-archive", warn, why.to_owned(), READABLE)
        }
        Oddity::Bomb => {
            let why = "An archive unpacks to far more than it seems, and may fill the disk";
            (supply, "archive-bomb", warn, why.to_owned(), "Do not unpack it.")
        }
        Oddity::Escape => {
            let why = "A member of an archive would be written outside the folder it is unpacked to";
            (supply, "archive-escape", block, why.to_owned(), "Do not unpack it.")
        }
        Oddity::Absolute => {
            let why = "A member of an archive would be written to a fixed place of the file system";
            (supply, "archive-escape", warn, why.to_owned(), "Unpack it only where such names are cut.")
        }
        Oddity::Link(target) => {
            let why = format!("A member of an archive is a link or a device ({})", shown(target));
            (supply, "archive-link", warn, why, "Do not unpack it before it is known what it leads to.")
        }
        Oddity::ThroughLink => {
            let why = "A member of an archive would be written through a link that stands before it";
            (supply, "archive-escape", block, why.to_owned(), "Do not unpack it.")
        }
        Oddity::Ambiguous(what) => {
            let why = format!("Two programs would unpack this archive differently: {}", shown(what));
            (hidden, "ambiguous-archive", warn, why, DISGUISE)
        }
        Oddity::Unclaimed => {
            let why = "An archive holds bytes that belong to none of its members";
            (hidden, "trailing-data", warn, why.to_owned(), DISGUISE)
        }
        Oddity::Polyglot => {
            let why = "It is a file of one kind at its beginning, and an archive at its end";
            (hidden, "polyglot", warn, why.to_owned(), DISGUISE)
        }
        Oddity::Trailing(what) => {
            let why = format!("Behind the end of the picture stands {what}");
            (hidden, "trailing-data", warn, why, DISGUISE)
        }
        Oddity::Macros => {
            let why = "An Office document has macros, which run when it is opened";
            (supply, "office-macros", warn, why.to_owned(), "Ask for the document without them.")
        }
        Oddity::RemotePart(target) => {
            let why = format!("An Office document loads a part from {} when it is opened", shown(target));
            (supply, "remote-part", warn, why, "Ask for the document without it.")
        }
    }
}

/// A text of the skill's in a sentence of ours: short.
fn shown(text: &str) -> String {
    crate::finding::snippet(text.as_bytes())
}

/// Whether some text of the skill says how to open an archive that has a password.
fn tells_a_password(skill: &Skill) -> bool {
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
    fn every_rule_is_explained() {
        let text = || "x".to_owned();
        let odd = [
            Oddity::Closed(text()),
            Oddity::Password,
            Oddity::Bomb,
            Oddity::Escape,
            Oddity::Absolute,
            Oddity::Link(text()),
            Oddity::ThroughLink,
            Oddity::Ambiguous(text()),
            Oddity::Unclaimed,
            Oddity::Polyglot,
            Oddity::Trailing("text"),
            Oddity::Macros,
            Oddity::RemotePart(text()),
        ];
        let odd = odd.iter().map(|oddity| weigh(oddity, false)).map(|(check, rule, ..)| (check, rule));
        let program = SkillFile::new("a.png".to_owned(), b"\x7fELF\x02\x01\x01\0".to_vec());
        let files = file(&program).into_iter().map(|judgement| (judgement.check, judgement.rule));
        for (check, rule) in odd.chain(files) {
            let name = format!("{}/{rule}", check.as_str());
            assert!(crate::explain_rule(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_password_is_seen_in_many_wordings_and_the_word_alone_is_none() {
        let told = |text: &str| tells_a_password(&Skill::from_skill_md("x", text));
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
