//! Rounds: rehearse, see what was wanted, grant what may be granted, rehearse again, until nothing new is wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillsandbox_manifest::{EgressRule, user_folders};
use skillsandbox_run::{
    Job, OutputTarget, Refusal, RunExit, RunOptions, StopHandle, Unrecorded, real_path, run,
};
use skillsandbox_terms::ObserveLevel;

use crate::never_granted::{why_never, why_never_now};
use crate::observation::{ObservationSink, Observations};
use crate::outcome::{RunOutcome, SteadyParts};
use crate::places::LearnPlaces;
use crate::proposal::{FileGrant, LearnFinding, Proposals};
use crate::raised_limits::{RaisedLimit, raise_limits};

/// Most rounds. What a program wants only after so many refusals, it is seen wanting when it is learnt again.
pub const MOST_ROUNDS: usize = 5;
/// Most times that limits are raised in one round.
const MOST_RAISES: usize = 2;
/// Most times that something is tried without.
const MOST_DOUBTED: usize = 16;
/// Where the system keeps what is not in every sandbox.
const OF_SYSTEM: [&str; 4] = ["/etc", "/var", "/run", "/usr"];
/// Most paths that arguments name.
const MOST_NAMED: usize = 64;
/// A path that nothing lies below.
const NOWHERE: &str = "/nowhere";
/// Most bytes of each output that are kept of a rehearsal.
const MOST_OUTPUT: usize = 1 << 20;

/// A rehearsal that is told how it goes.
pub trait RehearsalObserver {
    /// A round begins, from 1.
    fn round(&mut self, number: usize) {
        let _ = number;
    }

    /// A round has shown that this is wanted, too.
    fn wanted(&mut self, grants: &[FileGrant]) {
        let _ = grants;
    }

    /// So many grants are tried without, one after the other.
    fn doubted(&mut self, count: usize) {
        let _ = count;
    }
}

/// Nobody is told.
impl RehearsalObserver for () {}

/// What is rehearsed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Rehearsal {
    /// What is wanted of the run, with all that is granted already.
    pub job: Job,
    /// Where grants are named from.
    pub places: LearnPlaces,
    /// Ends a rehearsal from elsewhere.
    pub stop: StopHandle,
    /// What each rehearsal is given as standard input; nothing unless set.
    pub input: Option<Arc<[u8]>>,
    /// Variables of the job that nobody asked for: whether they are needed is tried.
    pub doubted_variables: Vec<String>,
    /// What the job may reach, and a rehearsal may not.
    closed: Vec<EgressRule>,
    /// Grants of the job that a rehearsal does not have.
    left_out: Vec<LearnFinding>,
}

/// What one run in a rehearsal came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct RehearsedRun {
    /// How it ended.
    pub exit: RunExit,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: Vec<u8>,
    /// What it did.
    pub seen: Observations,
}

/// What rehearsals have shown.
#[derive(Debug)]
#[non_exhaustive]
pub struct RehearsalResult {
    /// How many rounds there were.
    pub rounds: usize,
    /// Whether the last one wanted nothing new.
    pub is_settled: bool,
    /// The last one.
    pub last: RehearsedRun,
    /// All that was seen, of all rounds.
    pub seen: Observations,
    /// What is proposed.
    pub proposals: Proposals,
    /// What was wanted of the system, and made no difference.
    pub done_without: Vec<FileGrant>,
    /// Variables of [`Rehearsal::doubted_variables`] that made a difference.
    pub needed_variables: Vec<String>,
    /// Limits that had to be raised.
    pub raised: Vec<RaisedLimit>,
}

/// What is known between rounds.
#[derive(Debug, Default)]
struct LearnState {
    granted: BTreeSet<FileGrant>,
    refused: Vec<(PathBuf, LearnFinding)>,
    seen: Observations,
    raised: Vec<RaisedLimit>,
}

impl Rehearsal {
    /// Of a job, for a skill and a user in these places.
    ///
    /// What a manifest declares is the word of whoever wrote it. So hosts and sockets are closed, whatever the job has, until
    /// [`open_to`](Self::open_to) opens what a person names; and grants that are never proposed ([`why_never`](crate::why_never)) are
    /// taken out, and told among the findings.
    #[must_use]
    pub fn new(mut job: Job, mut places: LearnPlaces) -> Self {
        places.handed.extend(named_by(&job.arguments).into_iter().map(|path| real_path(&path)));
        let closed = std::mem::take(&mut job.egress);
        job.unix_sockets.clear();
        let mut left_out = Vec::new();
        let mut may_stay = |grant: FileGrant| {
            let is_own = !grant.writes() && places.skill == grant.path();
            let why = why_never(&grant, &places).filter(|_| !is_own);
            if let Some(why) = &why {
                let what = grant.path().display().to_string();
                left_out
                    .push(LearnFinding { what, why: format!("declared, and no part of a rehearsal: {why}") });
            }
            why.is_none()
        };
        job.read.retain(|path| may_stay(FileGrant::Read(path.clone())));
        job.write.retain(|path| may_stay(FileGrant::Write(path.clone())));
        Self {
            job,
            places,
            stop: StopHandle::new(),
            doubted_variables: Vec::new(),
            input: None,
            closed,
            left_out,
        }
    }

    /// Opens hosts that a person names, as far as the job may reach them.
    pub fn open_to(&mut self, named: &[EgressRule]) {
        self.job.egress.extend(self.closed.iter().filter(|rule| named.contains(rule)).cloned());
    }

    /// Rehearses until nothing new is wanted, [`MOST_ROUNDS`] times at most. Nothing of this machine is changed, and nothing leaves it but
    /// to hosts that the job grants.
    ///
    /// # Errors
    /// A job that is refused as it is.
    pub fn learn(&self, observer: &mut dyn RehearsalObserver) -> Result<RehearsalResult, Refusal> {
        let mut state = LearnState::default();
        let mut rehearsal = self.clone();
        // Programs ask whether a file is there before they open it, which nobody sees. The person named these.
        let named = named_by(&self.job.arguments).into_iter().filter(|path| path.exists());
        let named = named.map(FileGrant::Read).filter(|grant| why_never(grant, &self.places).is_none());
        state.granted.extend(named.filter(|grant| !self.has(grant)));
        let mut rounds = 0;
        loop {
            rounds += 1;
            observer.round(rounds);
            let mut last = rehearsal.run_granted(&mut state)?;
            for _ in 0..MOST_RAISES {
                let raised = raise_limits(&mut rehearsal.job, &last.exit);
                if raised.is_empty() {
                    break;
                }
                state.raised.retain(|old| !raised.iter().any(|new| new.key == old.key));
                state.raised.extend(raised);
                last = rehearsal.run_granted(&mut state)?;
            }
            state.seen.merge(&last.seen);
            let mut proposals = rehearsal.propose(&state);
            let ways = proposals.ways.iter().cloned().map(FileGrant::Read);
            let ways = ways.filter(|way| why_never_now(way, &self.places).is_none());
            let new: Vec<FileGrant> =
                proposals.files.iter().map(|one| one.grant.clone()).chain(ways).collect();
            let new: Vec<FileGrant> = new
                .into_iter()
                .filter(|grant| !self.has(grant) && !state.granted.iter().any(|known| known.covers(grant)))
                .collect();
            let is_settled = new.is_empty();
            if is_settled || rounds == MOST_ROUNDS || self.stop.is_stopped() {
                let (done_without, needed_variables) =
                    rehearsal.drop_needless(&mut proposals, &last, &state, observer)?;
                let LearnState { seen, raised, .. } = state;
                return Ok(RehearsalResult {
                    rounds,
                    is_settled,
                    last,
                    seen,
                    proposals,
                    done_without,
                    needed_variables,
                    raised,
                });
            }
            observer.wanted(&new);
            state.granted.extend(new);
        }
    }

    /// What would be granted for what was seen, as far as policy and sandbox let it.
    fn propose(&self, state: &LearnState) -> Proposals {
        let mut proposals = Proposals::of(&state.seen, &self.places);
        self.hold_to_policy(&mut proposals);
        proposals.files.retain(|one| !state.refused.iter().any(|(path, _)| path == one.grant.path()));
        proposals.findings.extend(self.left_out.iter().cloned());
        proposals.findings.extend(state.refused.iter().map(|(_, finding)| finding.clone()));
        proposals.findings.sort();
        proposals.findings.dedup();
        proposals
    }

    /// Takes out what makes no difference: files that the system keeps outside of what every sandbox has, at which programs look and go on if
    /// they are not there; and the variables that a skill without a manifest is handed.
    fn drop_needless(
        &self,
        proposals: &mut Proposals,
        last: &RehearsedRun,
        state: &LearnState,
        observer: &mut dyn RehearsalObserver,
    ) -> Result<(Vec<FileGrant>, Vec<String>), Refusal> {
        let mut kept: BTreeSet<FileGrant> =
            proposals.files.iter().map(|one| one.grant.clone()).filter(|grant| !self.has(grant)).collect();
        let doubtful = doubtful_groups(&kept);
        let variables: Vec<String> =
            self.job.allow_env.iter().filter(|name| self.doubted_variables.contains(name)).cloned().collect();
        if doubtful.is_empty() && variables.is_empty() || self.stop.is_stopped() {
            return Ok((Vec::new(), Vec::new()));
        }
        observer.doubted(doubtful.iter().map(Vec::len).sum::<usize>() + variables.len());
        let whole =
            if kept == state.granted { RunOutcome::of(last) } else { RunOutcome::of(&self.run_once(&kept)?) };
        // Only where something differs has it to be known what differs by itself.
        let mut steady = None;
        let mut is_same = |without: &RunOutcome, kept: &BTreeSet<FileGrant>, path: &Path| {
            let all = SteadyParts { stdout: true, changed: true };
            if self.stop.is_stopped() {
                return Ok(false);
            }
            if whole.is_same_but(without, all, path) {
                return Ok(true);
            }
            let steady = match steady {
                Some(steady) => steady,
                None => *steady.insert(SteadyParts::of(&whole, &RunOutcome::of(&self.run_once(kept)?))),
            };
            Ok::<bool, Refusal>(steady != all && whole.is_same_but(without, steady, path))
        };
        let mut dropped = Vec::new();
        let (mut groups, mut rounds) = (doubtful, 0);
        while let Some(group) = groups.pop() {
            rounds += 1;
            if rounds > MOST_DOUBTED {
                break;
            }
            let mut fewer = kept.clone();
            fewer.retain(|grant| !group.contains(grant));
            let without = RunOutcome::of(&self.run_once(&fewer)?);
            let place = match group.as_slice() {
                [one] => one.path(),
                several => several.first().and_then(|one| one.path().parent()).unwrap_or(Path::new(NOWHERE)),
            };
            if is_same(&without, &kept, place)? {
                kept = fewer;
                dropped.extend(group);
            } else if group.len() > 1 {
                groups.extend(group.into_iter().map(|grant| vec![grant]));
            }
        }
        proposals.files.retain(|one| !dropped.contains(&one.grant));
        let (mut needless, mut needed) = (Vec::new(), Vec::new());
        for name in variables {
            let mut fewer = self.clone();
            fewer.job.allow_env.retain(|own| *own != name && !needless.contains(own));
            let without = RunOutcome::of(&fewer.run_once(&kept)?);
            if is_same(&without, &kept, Path::new(NOWHERE))? {
                needless.push(name);
            } else {
                needed.push(name);
            }
        }
        Ok((dropped, needed))
    }

    /// One run with these grants besides the job's own.
    ///
    /// # Errors
    /// What is refused.
    pub fn run_once(&self, grants: &BTreeSet<FileGrant>) -> Result<RehearsedRun, Refusal> {
        let mut job = self.job.clone();
        job.rehearsal = true;
        job.observe = ObserveLevel::Full;
        for grant in grants {
            match grant {
                FileGrant::Read(path) => job.read.push(path.clone()),
                FileGrant::Write(path) => {
                    job.read.retain(|other| other != path);
                    job.write.push(path.clone());
                }
            }
        }
        let places = job.read.iter().chain(&job.write);
        let sink = ObservationSink::new(
            places.flat_map(|path| [real_path(path), path.clone()]).collect(),
            named_by(&job.arguments),
        );
        let folder = RehearsalFolder::make()?;
        let mut options = RunOptions::default();
        options.trace = Some(folder.0.join("trace.jsonl"));
        options.sinks.push(Box::new(sink.clone()));
        options.streams.stdout = OutputTarget::Kept;
        options.streams.stderr = OutputTarget::Kept;
        options.streams.keep = Some(MOST_OUTPUT);
        options.streams.stop = self.stop.clone();
        options.streams.input.clone_from(&self.input);
        options.tool = Some(concat!("skillsandbox-learn ", env!("CARGO_PKG_VERSION")).to_owned());
        let report = run(&job, &Unrecorded, options);
        let exit = report.ended?;
        Ok(RehearsedRun { exit, stdout: report.stdout.kept, stderr: report.stderr.kept, seen: sink.take() })
    }

    /// One run; of grants that a sandbox refuses, such as those that lead through a link that a skill has made, it goes on without.
    fn run_granted(&self, state: &mut LearnState) -> Result<RehearsedRun, Refusal> {
        // Each time one goes at least.
        loop {
            let refusal = match self.run_once(&state.granted) {
                Err(refusal) if !state.granted.is_empty() && !self.stop.is_stopped() => refusal,
                ended => return ended,
            };
            let text = refusal.to_string();
            let named = state.granted.iter().find(|grant| text.contains(&grant.path().display().to_string()));
            let Some(culprit) = named.or_else(|| state.granted.iter().next_back()).cloned() else {
                return Err(refusal);
            };
            state.granted.remove(&culprit);
            let what = culprit.path().display().to_string();
            let why = format!("the sandbox does not grant it: {text}");
            state.refused.push((culprit.path().to_owned(), LearnFinding { what, why }));
        }
    }

    /// Whether the job grants it already.
    fn has(&self, grant: &FileGrant) -> bool {
        let writes = self.job.write.iter().map(|path| FileGrant::Write(path.clone()));
        let reads = self.job.read.iter().map(|path| FileGrant::Read(path.clone()));
        writes.chain(reads).any(|own| own.covers(grant))
    }

    /// What the user's policy does not allow is not proposed: it would be taken away again.
    fn hold_to_policy(&self, proposals: &mut Proposals) {
        let within = |bound: &Option<Vec<PathBuf>>, path: &Path| {
            bound.as_ref().is_none_or(|bound| bound.iter().any(|one| path.starts_with(real_path(one))))
        };
        let forbidden: Vec<PathBuf> = self.job.forbidden.iter().map(|path| real_path(path)).collect();
        let mut outside = Vec::new();
        proposals.files.retain(|proposal| {
            let real = real_path(proposal.grant.path());
            let is_allowed = within(&self.job.read_within, &real)
                && (!proposal.grant.writes() || within(&self.job.write_within, &real))
                && !forbidden.iter().any(|path| real.starts_with(path));
            if !is_allowed {
                outside.push(LearnFinding {
                    what: real.display().to_string(),
                    why: "your policy or the manifest forbids it".to_owned(),
                });
            }
            is_allowed
        });
        proposals.findings.extend(outside);
    }
}

/// What is tried without: grants of the system's files, those that lie in one folder together, as caches do.
fn doubtful_groups(grants: &BTreeSet<FileGrant>) -> Vec<Vec<FileGrant>> {
    let mut groups: BTreeMap<&Path, Vec<FileGrant>> = BTreeMap::new();
    for grant in grants.iter().filter(|grant| is_systems(grant.path())) {
        groups.entry(grant.path().parent().unwrap_or(grant.path())).or_default().push(grant.clone());
    }
    groups.into_values().collect()
}

/// Whether something belongs to the system, and to no person. What others put into its folders for temporary files does not.
fn is_systems(path: &Path) -> bool {
    OF_SYSTEM.iter().any(|place| path.starts_with(place)) && !path.starts_with("/var/tmp")
}

/// Absolute paths that arguments name, also behind `--flag=` and in the words of a script.
fn named_by(arguments: &[impl AsRef<OsStr>]) -> Vec<PathBuf> {
    let texts = arguments.iter().filter_map(|argument| argument.as_ref().to_str());
    let words = texts
        .flat_map(|text| std::iter::once(text).chain(text.split([' ', '\t', '\n', '\'', '"', ';', '='])));
    let paths = words.filter(|word| word.starts_with('/')).map(PathBuf::from);
    // What is to be made has a folder to be made in.
    let is_deep =
        |path: &PathBuf| path.parent().is_some_and(|parent| parent.parent().is_some() && parent.is_dir());
    let mut paths: Vec<PathBuf> = paths.filter(is_deep).take(MOST_NAMED).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Where the trace of a rehearsal lies: in the state folder, which no run sees. It goes with this.
struct RehearsalFolder(PathBuf);

impl RehearsalFolder {
    fn make() -> Result<Self, Refusal> {
        let parent = user_folders::state().ok_or(Refusal::NoHome)?.join("rehearsals");
        let folder = parent.join(uuid::Uuid::new_v4().to_string());
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|source| Refusal::Folder { path: folder.clone(), source })?;
        Ok(Self(folder))
    }
}

impl Drop for RehearsalFolder {
    fn drop(&mut self) {
        // What is left of it is a trace of nothing that happened.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
