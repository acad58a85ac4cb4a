//! Rules about a second opinion: what a judge outside the scanner said of a skill, or why it said nothing. No check finds them; they come with
//! [`Scanner::add_opinion`](crate::Scanner::add_opinion), where a user has asked for one.

use crate::rule::CheckId::Injection;
use crate::rule::FindingStatus::{Block, Warn};
use crate::rule::{RuleFamily, RuleInfo, code_rules};
use crate::text::PassageRole;

const ADVICE: &str = "Read the passage and the reason; a model can be wrong either way.";
const ASK_AGAIN: &str = "Ask again, or another model; until then a person has to read the skill.";

const FAMILY: RuleFamily = RuleFamily { check: Injection, advice: ADVICE, techniques: &[] };

code_rules! {
    JUDGED_HARMFUL = FAMILY
        .code("judged-harmful", Block, "The judge that was asked for a second opinion calls it harmful, and quotes a passage that is there")
        .role(PassageRole::Instruction);
    JUDGE_OBEYED = FAMILY
        .code("judge-obeyed", Warn, "The judge that was asked for a second opinion did what a text among the data told it, so its answer says nothing about the skill")
        .advice("Ask a model that keeps data and instructions apart; read the skill for text that speaks to its reviewers.")
        .techniques(&["AML.T0051"]);
    JUDGE_UNFIT = FAMILY
        .code("judge-unfit", Warn, "The judge that was asked for a second opinion gave an answer that is not of the form it was asked for: the skill may have talked to it, or it is unfit")
        .advice(ASK_AGAIN);
    NO_OPINION = FAMILY
        .code("no-opinion", Warn, "A second opinion was asked for and not had")
        .advice(ASK_AGAIN)
        .fact();
    PARTIAL_OPINION = FAMILY
        .code("partial-opinion", Warn, "The judge that was asked for a second opinion was not sent all text of the skill")
        .advice("Let more be sent (`scan.judge.max_bytes` in the policy), or read the rest.")
        .fact();
}

/// All of them, for the check that they stand under.
pub(super) static RULES: &[&RuleInfo] = CODE_RULES;
