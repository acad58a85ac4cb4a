//! What an instruction is after: each intent is a question to a sentence, the same in every language.
//!
//! The answer is how sure it is in plain sight: [`Block`](FindingStatus::Block) where honest texts practically never say it,
//! [`Warn`](FindingStatus::Warn) where a person should look, [`Pass`](FindingStatus::Pass) where only a hidden place makes it worth a look.

mod control;
mod harm;
mod secrets;

use super::classes::WordClass;
use super::reading::Reading;
use crate::checks::{exfiltration, injection, supply_chain};
use crate::rule::{FindingStatus, RuleInfo};

/// A sentence and what was said before it.
pub(crate) struct Said<'s> {
    pub(crate) reading: &'s Reading,
    /// What the sentence before named and told to do, where it stands just before.
    pub(crate) before: WordClass,
}

/// What a sentence was found to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldIntent {
    pub(crate) rule: &'static RuleInfo,
    /// What it amounts to in plain sight.
    pub(crate) status: FindingStatus,
    /// The verb that tells it.
    pub(crate) at: usize,
}

/// How sure a sentence tells something, and by which verb.
type Told = Option<(FindingStatus, usize)>;

/// A question to a sentence.
type Question = fn(&Said<'_>) -> Told;

/// The intents: a rule each, and the question.
const INTENTS: &[(&RuleInfo, Question)] = &[
    (&injection::TOLD_TO_DROP_RULES, control::drops_rules),
    (&injection::TOLD_PERSONA, control::takes_persona),
    (&injection::TOLD_TO_OBEY, control::obeys_content),
    (&injection::TOLD_TO_SKIP_APPROVAL, control::skips_approval),
    (&injection::TOLD_SAFETY_OFF, control::disables_safety),
    (&injection::TOLD_AGENT_CHANGE, control::changes_agent),
    (&injection::TOLD_FIRST, control::goes_first),
    (&injection::TOLD_TO_HIDE, harm::hides),
    (&injection::TOLD_TO_DECEIVE, harm::deceives),
    (&injection::TOLD_TO_FALSIFY, harm::falsifies),
    (&injection::TOLD_TO_DESTROY, harm::destroys),
    (&injection::TOLD_TO_SPREAD, harm::spreads),
    (&injection::TOLD_TO_SPEND, harm::spends),
    (&exfiltration::TOLD_TO_SEND_SECRET, secrets::sends_secret),
    (&exfiltration::TOLD_TO_READ_SECRET, secrets::reads_secret),
    (&exfiltration::TOLD_TO_SEND_TALK, secrets::sends_talk),
    (&exfiltration::TOLD_TO_ASK_SECRET, secrets::asks_secret),
    (&supply_chain::TOLD_HELPER, secrets::fetches_helper),
];

/// All that a sentence tells.
pub(crate) fn find_intents(said: &Said<'_>) -> Vec<ToldIntent> {
    // "Unless", "until", "with consent" may be no more than words: what would be certain without them is still worth a look.
    let is_limited = said.reading.has(WordClass::UNLESS);
    let unlimited = is_limited.then(|| said.reading.without(WordClass::UNLESS));
    let bare = unlimited.as_ref().map(|reading| Said { reading, before: said.before });
    let ask = |(rule, question): &(&'static RuleInfo, Question)| {
        let limited = question(said).map(|(status, at)| ToldIntent { rule, status, at });
        let certain = || {
            let (status, at) = question(bare.as_ref()?)?;
            (status == FindingStatus::Block).then_some(ToldIntent { rule, status: FindingStatus::Warn, at })
        };
        limited.or_else(certain)
    };
    INTENTS.iter().filter_map(ask).collect()
}

/// The surest of several, the first of those.
fn surest(all: impl Iterator<Item = (FindingStatus, usize)>) -> Told {
    all.max_by_key(|(status, at)| (*status, std::cmp::Reverse(*at)))
}
