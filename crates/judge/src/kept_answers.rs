//! Answers that are kept, so that the same bytes are not sent twice. One small file each, for its owner alone, there whole or not at all, for a
//! month at most. A kept answer that cannot be read is asked for again; one that cannot be kept is asked for again next time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use skillsandbox_scanner::JudgeTokens;

/// Longest file that is read: a quotation, a reason and some names.
const MAX_FILE: u64 = 16 << 10;
/// Most answers that are kept; of more, the oldest go.
const MAX_FILES: usize = 2000;
/// Files that are left when the oldest have gone, so that not every answer looks for some.
const LEFT_FILES: usize = 1800;
/// How long an answer is used: models behind one name change.
const MAX_AGE: Duration = Duration::from_hours(30 * 24);

/// What an answer is the answer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnswerKey {
    /// The skill's digest.
    pub(crate) digest: String,
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) prompt_version: u32,
    /// How much of the skill was sent at most.
    pub(crate) max_bytes: usize,
    /// What was sent, in SHA-256: masking other secrets makes another text of the same bytes.
    pub(crate) sent: String,
}

/// An answer of the asked form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptAnswer {
    /// Seconds since 1970.
    pub(crate) asked_at: u64,
    pub(crate) key: AnswerKey,
    pub(crate) harmful: bool,
    pub(crate) category: String,
    pub(crate) quote: String,
    pub(crate) reason: String,
    /// Tokens of the question and of the answer.
    pub(crate) tokens: Option<(u64, u64)>,
}

impl KeptAnswer {
    /// What it cost.
    pub(crate) fn tokens(&self) -> Option<JudgeTokens> {
        self.tokens.map(|(prompt, completion)| JudgeTokens { prompt, completion })
    }
}

impl AnswerKey {
    /// The name of its file.
    fn file_name(&self) -> String {
        let mut hash = Sha256::new();
        let numbers = [u64::from(self.prompt_version), self.max_bytes as u64];
        for field in [&self.digest, &self.url, &self.model, &self.sent] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        for number in numbers {
            hash.update(number.to_le_bytes());
        }
        format!("{}.json", HEXLOWER.encode(&hash.finalize()))
    }
}

/// A folder of answers.
#[derive(Clone, Debug)]
pub(crate) struct KeptAnswers {
    folder: PathBuf,
}

impl KeptAnswers {
    /// Answers in a folder, which is made when the first is kept.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The answer to a question, where there is one that is not too old.
    pub(crate) fn find(&self, key: &AnswerKey) -> Option<KeptAnswer> {
        self.find_at(key, now())
    }

    fn find_at(&self, key: &AnswerKey, now: u64) -> Option<KeptAnswer> {
        let file = open(&self.folder.join(key.file_name())).ok()?;
        let mut text = String::new();
        file.take(MAX_FILE + 1).read_to_string(&mut text).ok()?;
        let answer: KeptAnswer =
            serde_json::from_str(&text).ok().filter(|_| text.len() as u64 <= MAX_FILE)?;
        let is_fresh = now.checked_sub(answer.asked_at).is_some_and(|age| age < MAX_AGE.as_secs());
        (is_fresh && answer.key == *key).then_some(answer)
    }

    /// Keeps an answer, and lets the oldest go where there are too many.
    pub(crate) fn keep(&self, mut answer: KeptAnswer) -> io::Result<()> {
        answer.asked_at = now();
        let text = serde_json::to_vec(&answer)?;
        if text.len() as u64 > MAX_FILE {
            return Err(io::Error::other("the answer is too long to be kept"));
        }
        make_folder(&self.folder)?;
        let beside = self.folder.join(format!(".{}.part", uuid::Uuid::new_v4().simple()));
        let path = self.folder.join(answer.key.file_name());
        let written = create_new(&beside)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| fs::rename(&beside, &path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        self.prune(MAX_FILES, LEFT_FILES);
        written
    }

    /// Removes the oldest where there are more than `most`, and what is too old or was never finished.
    fn prune(&self, most: usize, left: usize) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else { continue };
            let is_ours = entry.path().extension().is_some_and(|end| end == "json" || end == "part");
            if found.is_file() && is_ours {
                files.push((found.modified().unwrap_or(UNIX_EPOCH), entry.path()));
            }
        }
        files.sort();
        let too_many = if files.len() > most { files.len() - left.min(files.len()) } else { 0 };
        let oldest = SystemTime::now().checked_sub(MAX_AGE).unwrap_or(UNIX_EPOCH);
        for (number, (when, path)) in files.iter().enumerate() {
            if number < too_many || *when < oldest {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A folder for its owner alone.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// A new file that only its owner can read.
fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)
}

/// Opens a plain file, without following a link or waiting for a pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a plain file")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digest: &str) -> AnswerKey {
        AnswerKey {
            digest: digest.to_owned(),
            url: "u".to_owned(),
            model: "m".to_owned(),
            prompt_version: 1,
            max_bytes: 10,
            sent: "s".to_owned(),
        }
    }

    fn answer(digest: &str) -> KeptAnswer {
        KeptAnswer {
            asked_at: 0,
            key: key(digest),
            harmful: true,
            category: "fraud".to_owned(),
            quote: "a quotation".to_owned(),
            reason: "r".to_owned(),
            tokens: Some((1, 2)),
        }
    }

    #[test]
    fn an_answer_is_found_for_its_own_question_only_and_not_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptAnswers::new(dir.path().join("a/b"));
        assert_eq!(kept.find(&key("d")), None);
        kept.keep(answer("d")).unwrap();
        let found = kept.find(&key("d")).unwrap();
        assert_eq!((found.harmful, found.tokens()), (true, Some(JudgeTokens { prompt: 1, completion: 2 })));
        for other in [
            key("e"),
            AnswerKey { url: "v".to_owned(), ..key("d") },
            AnswerKey { model: "n".to_owned(), ..key("d") },
            AnswerKey { prompt_version: 2, ..key("d") },
            AnswerKey { max_bytes: 11, ..key("d") },
            AnswerKey { sent: "t".to_owned(), ..key("d") },
        ] {
            assert_eq!(kept.find(&other), None, "{other:?}");
        }
        assert!(kept.find_at(&key("d"), now() + MAX_AGE.as_secs() - 60).is_some());
        assert_eq!(kept.find_at(&key("d"), now() + MAX_AGE.as_secs() + 60), None);
        // A clock that was set back.
        assert_eq!(kept.find_at(&key("d"), now() - 1000), None);
    }

    #[cfg(unix)]
    #[test]
    fn files_are_the_owners_alone_and_what_is_no_answer_is_passed_over() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("judge");
        let kept = KeptAnswers::new(folder.clone());
        kept.keep(answer("d")).unwrap();
        let file = folder.join(key("d").file_name());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

        let good = fs::read_to_string(&file).unwrap();
        let long = format!("{good}{}", " ".repeat(16 << 10));
        let other = serde_json::to_string(&answer("e")).unwrap();
        let extra = good.replace("\"harmful\"", "\"more\":1,\"harmful\"");
        for bad in ["", "{}", "null", "\u{0}", &good[..good.len() / 2], &long, &other, &extra] {
            fs::write(&file, bad).unwrap();
            assert_eq!(kept.find(&key("d")), None, "{bad:.60}");
        }
        fs::remove_file(&file).unwrap();
        fs::write(dir.path().join("elsewhere"), &good).unwrap();
        symlink(dir.path().join("elsewhere"), &file).unwrap();
        assert_eq!(kept.find(&key("d")), None);
        // The link itself is replaced, not what it leads to.
        kept.keep(answer("d")).unwrap();
        assert!(kept.find(&key("d")).is_some() && !fs::symlink_metadata(&file).unwrap().is_symlink());
    }

    #[test]
    fn the_oldest_go_first() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptAnswers::new(dir.path().to_owned());
        for number in 0..20 {
            kept.keep(answer(&number.to_string())).unwrap();
            let path = dir.path().join(key(&number.to_string()).file_name());
            let when = SystemTime::now() - Duration::from_secs(1000 - number);
            File::options().append(true).open(path).unwrap().set_modified(when).unwrap();
        }
        let there = |kept: &KeptAnswers| {
            (0..20).filter(|n| kept.find(&key(&n.to_string())).is_some()).collect::<Vec<u64>>()
        };
        kept.prune(20, 5);
        assert_eq!(there(&kept).len(), 20);
        kept.prune(19, 5);
        assert_eq!(there(&kept), [15, 16, 17, 18, 19]);
    }
}
