//! Asking: the question is prepared while the skill is at hand, asked when there is time, and whatever comes of it is an opinion.

use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use skillsandbox_scanner::{
    JudgeOpinion, JudgeOutcome, JudgeTokens, ScanReport, SkillFiles, SkillJudge, UnsentFile,
};
use skillsandbox_text::Redactor;

use crate::answer::{JudgeVerdict, check_answer, read_answer, read_completion};
use crate::client::{FailedRequest, JudgeClient};
use crate::kept_answers::{AnswerKey, KeptAnswer, KeptAnswers};
use crate::prompt::{JudgePrompt, NO_CATEGORY, PROMPT_VERSION};
use crate::selection::SkillSelection;
use crate::settings::{JudgeSettings, SettingsError};

/// Questions that are asked at one time. A local model answers one after the other anyway.
pub const PARALLEL_QUESTIONS: usize = 2;

/// Questions in a row that nobody answers before no more are asked: a tree of skills does not wait for each.
const MAX_FAILURES: usize = 3;

/// A model at an endpoint that is asked about skills.
pub struct Judge {
    settings: JudgeSettings,
    client: JudgeClient,
    redactor: Redactor,
    kept: Option<KeptAnswers>,
    /// How many questions in a row were not answered.
    failures: AtomicUsize,
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// A question about one skill, ready to be asked: what would be sent, and what would not.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    digest: String,
    selection: SkillSelection,
    prompt: JudgePrompt,
    model: String,
}

impl JudgeRequest {
    /// What would be sent, exactly. The random words in it are of this question.
    #[must_use]
    pub fn body(&self) -> Value {
        self.prompt.to_body(&self.model)
    }

    /// What of the skill would not be sent.
    #[must_use]
    pub fn not_sent(&self) -> &[UnsentFile] {
        &self.selection.not_sent
    }

    /// How many bytes of the skill would be sent.
    #[must_use]
    pub fn sent_bytes(&self) -> usize {
        self.selection.size()
    }

    /// How many secrets were masked in those.
    #[must_use]
    pub fn masked_secrets(&self) -> usize {
        self.selection.masked
    }

    /// What is sent of the skill, in SHA-256.
    fn hash_sent(&self) -> String {
        let mut hash = Sha256::new();
        for text in &self.selection.texts {
            for field in [&text.path, &text.text] {
                hash.update((field.len() as u64).to_le_bytes());
                hash.update(field);
            }
        }
        HEXLOWER.encode(&hash.finalize())
    }
}

impl Judge {
    /// A judge that nobody has asked yet. Nothing is sent before [`ask`](Self::ask).
    ///
    /// # Errors
    /// A model or a key that cannot be sent; secrets that cannot be masked.
    pub fn new(settings: JudgeSettings) -> Result<Self, SettingsError> {
        settings.check()?;
        let own_key = settings.key.iter().map(|key| ("JUDGE_KEY", key.expose()));
        let secrets = settings.secrets.iter().map(|(name, value)| (name.as_str(), value.expose()));
        let redactor = Redactor::new(own_key.chain(secrets));
        let redactor = redactor.map_err(|error| SettingsError::Redaction(error.to_string()))?;
        let client = JudgeClient::new(&settings);
        let kept = settings.answers.clone().map(KeptAnswers::new);
        Ok(Self { settings, client, redactor, kept, failures: AtomicUsize::new(0) })
    }

    /// Where it is asked.
    #[must_use]
    pub fn url(&self) -> &str {
        self.settings.url.as_str()
    }

    /// The question about a skill, by the digest that its report has. Secrets are masked here; nothing is sent.
    #[must_use]
    pub fn prepare(&self, skill: &SkillFiles, digest: &str) -> JudgeRequest {
        let selection = SkillSelection::of(skill, &self.redactor, self.settings.max_bytes);
        let prompt = JudgePrompt::new(&selection);
        JudgeRequest { digest: digest.to_owned(), selection, prompt, model: self.settings.model.clone() }
    }

    /// Asks. Whatever happens is an opinion; none of them is better than not having asked.
    #[must_use]
    pub fn ask(&self, request: &JudgeRequest) -> JudgeOpinion {
        if request.selection.size() == 0 {
            let verdict = JudgeVerdict::useless(JudgeOutcome::NotHad, "the skill has no text to ask about");
            return self.opinion(request, verdict, None);
        }
        let key = AnswerKey {
            digest: request.digest.clone(),
            url: self.settings.url.as_str().to_owned(),
            model: self.settings.model.clone(),
            prompt_version: PROMPT_VERSION,
            max_bytes: self.settings.max_bytes,
            sent: request.hash_sent(),
        };
        if let Some(kept) = self.kept.as_ref().and_then(|kept| kept.find(&key)) {
            let verdict = check_answer(
                kept.harmful,
                &kept.category,
                &kept.quote,
                &kept.reason,
                &request.selection.texts,
            );
            let is_usable = matches!(verdict.outcome, JudgeOutcome::Harmful | JudgeOutcome::NoHarmSeen);
            if is_usable {
                let mut opinion = self.opinion(request, verdict, kept.tokens());
                opinion.cached = true;
                return opinion;
            }
        }
        let failures = self.failures.load(Ordering::Relaxed);
        if failures >= MAX_FAILURES {
            let why = format!("not asked any more, after {failures} questions in a row without an answer");
            let verdict = JudgeVerdict::useless(JudgeOutcome::NotHad, &why);
            return self.opinion(request, verdict, None);
        }
        let (verdict, tokens) = self.ask_endpoint(request);
        match verdict.outcome {
            JudgeOutcome::NotHad => self.failures.fetch_add(1, Ordering::Relaxed),
            _ => self.failures.swap(0, Ordering::Relaxed),
        };
        self.keep(key, &verdict, tokens);
        self.opinion(request, verdict, tokens)
    }

    /// Asks several questions, some at a time; `answered` is called after each. The opinions are in the order of the questions.
    pub fn ask_all(&self, requests: &[JudgeRequest], answered: &(dyn Fn() + Sync)) -> Vec<JudgeOpinion> {
        let next = AtomicUsize::new(0);
        let opinions: Mutex<Vec<(usize, JudgeOpinion)>> = Mutex::new(Vec::with_capacity(requests.len()));
        let work = || {
            while let number = next.fetch_add(1, Ordering::Relaxed)
                && let Some(request) = requests.get(number)
            {
                let opinion = self.ask(request);
                opinions.lock().unwrap_or_else(PoisonError::into_inner).push((number, opinion));
                answered();
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..PARALLEL_QUESTIONS.min(requests.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut opinions = opinions.into_inner().unwrap_or_else(PoisonError::into_inner);
        opinions.sort_by_key(|(number, _)| *number);
        opinions.into_iter().map(|(_, opinion)| opinion).collect()
    }

    /// What the endpoint says, and what it cost.
    fn ask_endpoint(&self, request: &JudgeRequest) -> (JudgeVerdict, Option<JudgeTokens>) {
        let not_had = |why: &str| (JudgeVerdict::useless(JudgeOutcome::NotHad, why), None);
        let body = match self.send(request) {
            Ok(body) => body,
            Err(failed) => return not_had(&failed.why),
        };
        let Some(completion) = read_completion(&body) else {
            return not_had("it answered with something that is not a chat completion");
        };
        let verdict = match completion.content {
            Ok(content) => read_answer(&content, &request.prompt, &request.selection.texts),
            Err(why) => JudgeVerdict::useless(JudgeOutcome::Unfit, &why),
        };
        (verdict, completion.tokens)
    }

    /// One request; a second, plainer one where the endpoint says that it does not understand the first. Both within one deadline.
    fn send(&self, request: &JudgeRequest) -> Result<Vec<u8>, FailedRequest> {
        let deadline = self.client.deadline();
        match self.client.send(request.body().to_string().as_bytes(), deadline) {
            Err(failed) if failed.is_misunderstood => {
                let plain = request.prompt.to_plain_body(&self.settings.model);
                self.client.send(plain.to_string().as_bytes(), deadline)
            }
            other => other,
        }
    }

    /// Keeps an answer of the asked form. What is none is asked for again.
    fn keep(&self, key: AnswerKey, verdict: &JudgeVerdict, tokens: Option<JudgeTokens>) {
        let harmful = match verdict.outcome {
            JudgeOutcome::Harmful => true,
            JudgeOutcome::NoHarmSeen => false,
            JudgeOutcome::Obeyed | JudgeOutcome::Unfit | JudgeOutcome::NotHad => return,
        };
        let answer = KeptAnswer {
            asked_at: 0,
            key,
            harmful,
            category: verdict.category.clone().unwrap_or_else(|| NO_CATEGORY.to_owned()),
            quote: verdict.quote.clone(),
            reason: verdict.reason.clone(),
            tokens: tokens.map(|tokens| (tokens.prompt, tokens.completion)),
        };
        if let Some(kept) = &self.kept {
            // What cannot be kept is asked for again next time.
            let _ = kept.keep(answer);
        }
    }

    /// An answer as a report has it.
    fn opinion(
        &self,
        request: &JudgeRequest,
        verdict: JudgeVerdict,
        tokens: Option<JudgeTokens>,
    ) -> JudgeOpinion {
        let JudgeVerdict { outcome, reason, category, passage, quote: _ } = verdict;
        let mut opinion = JudgeOpinion::new(outcome, self.url(), &self.settings.model, &reason);
        opinion.category = category;
        opinion.prompt_version = PROMPT_VERSION;
        opinion.sent_bytes = request.selection.size();
        opinion.masked_secrets = request.selection.masked;
        opinion.not_sent.clone_from(&request.selection.not_sent);
        opinion.tokens = tokens;
        opinion.may_block = self.settings.may_block;
        opinion.passage = passage;
        opinion
    }
}

impl SkillJudge for Judge {
    fn ask_about(&self, skill: &SkillFiles, report: &ScanReport) -> JudgeOpinion {
        self.ask(&self.prepare(skill, &report.digest))
    }
}
