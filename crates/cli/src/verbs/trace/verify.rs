//! `skillsandbox trace verify`: is this trace as it was written, and is it the one that was recorded?

use std::path::Path;

use clap::Args;
use serde_json::json;
use skillsandbox_manifest::user_folders;
use skillsandbox_store::history::{Error as HistoryError, History};
use skillsandbox_store::signing::{PublicKey, SigningError, SigningKey, TraceSignature};
use skillsandbox_tracer::{TraceDigest, TraceError, VerifiedTrace};

use super::reference::TraceReference;
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};

/// Check that a trace is as the run wrote it, and the one that was recorded
///
/// Finds every edit, removal, reordering and truncation, and an end that does not follow from the events. Whoever writes the
/// whole file anew can make it fit again: against that, it is compared with the history of this user where the run is in it, with its signature
/// where it has one, and with the digest that the run printed where that is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox trace verify --last
  skillsandbox trace verify trace.json
  skillsandbox trace verify trace.json --digest \"$(cat trace.digest)\"
  skillsandbox trace verify trace.json --key 3b6a27bc…             # it has to be signed with this key
  skillsandbox trace verify --format json trace.json | jq .how

Exit codes: 0 intact, 1 not intact, another one than was recorded, or not signed as it has to be, 2 the file cannot be read.")]
pub(crate) struct TraceVerifyArgs {
    #[command(flatten)]
    trace: TraceReference,

    /// The digest that the run printed, kept somewhere else
    #[arg(long, value_name = "HEX")]
    digest: Option<TraceDigest>,

    /// The public key that it has to be signed with; without it, the user's own, and then it may be unsigned
    #[arg(long, value_name = "PUBLIC_KEY")]
    key: Option<PublicKey>,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl TraceVerifyArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let file = self.trace.resolve()?;
        let verified = match skillsandbox_tracer::verify_trace(&file) {
            Err(error @ TraceError::Read { .. }) => return Err(error.into()),
            verified => verified,
        };
        let checks = verified.as_ref().ok().map(|verified| self.checks(&file, verified));
        match self.format {
            OutputFormat::Text => tell(&file, &verified, checks.as_ref())?,
            OutputFormat::Json => output::json(&report(&verified, checks.as_ref()))?,
        }
        Ok(match checks {
            Some(checks) if checks.wrong().is_none() => ExitAnswer::Yes,
            _ => ExitAnswer::No,
        })
    }

    fn checks(&self, file: &Path, verified: &VerifiedTrace) -> OriginChecks {
        let history = user_folders::history_file()
            .map_or(Ok(None), |file| History::read(&file))
            .map_err(|error| error.to_string());
        OriginChecks {
            digest: self.digest.filter(|digest| *digest != verified.digest),
            recorded: Recorded::of(history.as_ref(), verified),
            signed: self.signed(file, history.as_ref().ok().and_then(Option::as_ref), verified),
        }
    }

    /// Whether it is signed, and by whom: beside the trace, or in the history.
    fn signed(&self, file: &Path, history: Option<&History>, verified: &VerifiedTrace) -> Signed {
        let id = verified.header.trace_id;
        let beside = match TraceSignature::read(&TraceSignature::beside(file)) {
            Ok(beside) => beside,
            Err(error) => return Signed::Wrong(error.to_string()),
        };
        let signature = beside.or_else(|| history?.signature(id).ok().flatten());
        let Some(signature) = signature else {
            return match self.key {
                Some(_) => Signed::Wrong("it is not signed".to_owned()),
                None => Signed::No,
            };
        };
        let own = || SigningKey::load(&SigningKey::user_file()?).map(|key| key.public());
        let key = match self.key.map_or_else(own, Ok) {
            Ok(key) => key,
            // Somebody else's trace: nobody can say whose signature this is.
            Err(SigningError::NoKey(_) | SigningError::NoHome) => return Signed::Unchecked(signature.key),
            Err(error) => return Signed::Wrong(error.to_string()),
        };
        if let Err(fault) = signature.check(&key) {
            return Signed::Wrong(fault.to_string());
        }
        if signature.statement.trace_id != id || signature.statement.digest != verified.digest.to_string() {
            return Signed::Wrong("its signature is that of another trace".to_owned());
        }
        // The head that was signed is the one that the history has for this run.
        let details = history.and_then(|history| history.find(&id.to_string()).ok());
        if details.is_some_and(|details| details.record.link.as_ref() != Some(&signature.statement.history)) {
            return Signed::Wrong(
                "the history is not the one that was signed: it was written anew".to_owned(),
            );
        }
        Signed::By(key)
    }
}

fn tell(
    file: &Path,
    verified: &Result<VerifiedTrace, TraceError>,
    checks: Option<&OriginChecks>,
) -> anyhow::Result<()> {
    let file = visible(&file.display().to_string());
    let (verified, checks) = match (verified, checks) {
        (Ok(verified), Some(checks)) => (verified, checks),
        (Err(error), _) => {
            output::message(&format!("{file}: {}", visible(&error.to_string())));
            return Ok(());
        }
        (Ok(_), None) => return Ok(()),
    };
    if let Some((_, what)) = checks.wrong() {
        output::message(&format!("{file}: it fits together, but {}", visible(&what)));
        return Ok(());
    }
    let summary = &verified.summary;
    let complete = if summary.complete { "" } else { "; not everything that was tried is in it" };
    output::result(&format!(
        "{file}: intact, {}, {}; {} events of {}{complete}\ndigest {}\n",
        visible(&checks.signed.words()),
        visible(&checks.recorded.words()),
        summary.events,
        visible(&verified.header.skill_name),
        verified.digest
    ))
}

/// Whether an intact trace is the one that a run wrote.
struct OriginChecks {
    /// The digest that it should have, and has not.
    digest: Option<TraceDigest>,
    recorded: Recorded,
    signed: Signed,
}

/// What the history says of it.
enum Recorded {
    /// It is the one.
    Same,
    /// Its run has another one.
    Other(String),
    /// The run is there, and no digest of its trace.
    NoDigest,
    /// The history has no such run.
    No,
    /// There is a history, and it cannot be read.
    Unreadable(String),
}

/// Whose signature it has.
enum Signed {
    By(PublicKey),
    /// There is no key to check with.
    Unchecked(String),
    No,
    Wrong(String),
}

impl Recorded {
    fn of(history: Result<&Option<History>, &String>, verified: &VerifiedTrace) -> Self {
        let history = match history {
            Ok(Some(history)) => history,
            Ok(None) => return Self::No,
            Err(error) => return Self::Unreadable(error.clone()),
        };
        match history.find(&verified.header.trace_id.to_string()) {
            Ok(details) => match details.record.digest {
                Some(digest) if digest == verified.digest.to_string() => Self::Same,
                Some(digest) => Self::Other(digest),
                None => Self::NoDigest,
            },
            Err(HistoryError::Unknown(_)) => Self::No,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Same => "recorded",
            Self::Other(_) => "other",
            Self::NoDigest => "no_digest",
            Self::No => "not_recorded",
            Self::Unreadable(_) => "unreadable",
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Same => "recorded in the history".to_owned(),
            Self::Other(digest) => {
                format!("it is not the one that was recorded: the history has the digest {digest}")
            }
            Self::NoDigest => "in the history without a digest".to_owned(),
            Self::No => "not in the history".to_owned(),
            Self::Unreadable(why) => format!("not compared with the history ({why})"),
        }
    }
}

impl Signed {
    fn word(&self) -> &'static str {
        match self {
            Self::By(_) => "signed",
            Self::Unchecked(_) => "unchecked",
            Self::No => "unsigned",
            Self::Wrong(_) => "wrong",
        }
    }

    fn words(&self) -> String {
        match self {
            Self::By(key) => format!("signed with {key}"),
            Self::Unchecked(key) => format!("signed with {key}, which was not checked: name it with --key"),
            Self::No => "unsigned".to_owned(),
            Self::Wrong(why) => why.clone(),
        }
    }
}

impl OriginChecks {
    /// What is wrong, in a word and in words.
    fn wrong(&self) -> Option<(&'static str, String)> {
        if let Some(digest) = self.digest {
            return Some(("other_digest", format!("it is another trace: its digest is not {digest}")));
        }
        if let Recorded::Other(_) = self.recorded {
            return Some(("other_than_recorded", self.recorded.words()));
        }
        match &self.signed {
            Signed::Wrong(why) => Some(("signature", why.clone())),
            Signed::By(_) | Signed::Unchecked(_) | Signed::No => None,
        }
    }
}

fn report(verified: &Result<VerifiedTrace, TraceError>, checks: Option<&OriginChecks>) -> serde_json::Value {
    match verified {
        Ok(verified) => {
            let mut report = json!({
                "intact": checks.is_some_and(|checks| checks.wrong().is_none()), "digest": verified.digest,
                "trace_id": verified.header.trace_id, "skill_name": verified.header.skill_name,
                "events": verified.summary.events, "complete": verified.summary.complete,
            });
            let (Some(checks), Some(object)) = (checks, report.as_object_mut()) else { return report };
            object.insert("recorded".to_owned(), json!(checks.recorded.word()));
            object.insert("signature".to_owned(), json!(checks.signed.word()));
            if let Signed::By(key) = &checks.signed {
                object.insert("key".to_owned(), json!(key.to_string()));
            }
            if let Some((how, what)) = checks.wrong() {
                object.insert("how".to_owned(), json!(how));
                object.insert("message".to_owned(), json!(what));
            }
            if let Some(digest) = checks.digest {
                object.insert("expected_digest".to_owned(), json!(digest));
            }
            report
        }
        Err(TraceError::Tampered(tampered)) => json!({
            "intact": false, "how": tampered.how.as_str(), "line": tampered.line, "sequence": tampered.sequence,
            "message": tampered.what,
        }),
        Err(error) => json!({ "intact": false, "how": "not_a_trace", "message": error.to_string() }),
    }
}
