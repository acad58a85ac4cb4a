//! What was prevented in a run, and what would have to be declared.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillsandbox_run::{DenialBook, DenialList, DeniedAttempt};
use skillsandbox_tracer::Classifier;

use super::{ToolContext, arguments};
use crate::answer::{ToolAnswer, ToolProblem, line};

/// What an agent is told of everything that was prevented.
pub(crate) const WHO: &str = "You cannot allow this yourself, and should not try another way. If the skill is meant to do it, tell the person what is missing: \
                              they would edit the skill's skillsandbox.yaml (and their policy, where that takes it away), and run it again.";

/// What it is told where the run looks like an attack.
const STOP: &str = "Nobody should allow this: the run looks like an attack. Do not run the skill again, and tell the person about it before anything else.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainDenial {
    /// The `trace_id` of an answer to `run_skill`.
    trace_id: String,
    /// The sequence of one violation; all of them when left out.
    #[serde(default)]
    sequence: Option<u64>,
}

/// What was prevented.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explanation {
    trace_id: String,
    /// The skill's name in its manifest.
    skill: String,
    violations: Vec<ReportedViolation>,
    /// How many more there are.
    violations_omitted: u64,
    /// Who can change that.
    who_can_allow_it: String,
    /// Why the trace could not be read to its end, where it could not.
    incomplete: Option<String>,
}

/// Something that was tried and prevented.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ReportedViolation {
    /// Its place in the trace.
    pub(crate) sequence: u64,
    /// `net_connect`, `dns_query`, `file`, `exec`, `syscall_refused` or `resource_limit_hit`.
    pub(crate) kind: String,
    /// What was tried: names and paths are the skill's own words.
    pub(crate) what: String,
    /// The rule that prevented it.
    pub(crate) rule: Option<String>,
    /// Who tried.
    pub(crate) process: Option<String>,
    /// How often.
    pub(crate) count: u64,
    /// How many different files or names it stands for.
    pub(crate) distinct: u64,
    /// Why, where "it is not granted" does not say it.
    pub(crate) why: Option<String>,
    /// What a person would have to add to skillsandbox.yaml, or to the command line, to allow it; null where nothing should.
    pub(crate) hint: Option<String>,
}

impl From<&DeniedAttempt> for ReportedViolation {
    fn from(denial: &DeniedAttempt) -> Self {
        Self {
            sequence: denial.sequence,
            kind: denial.kind.to_owned(),
            what: denial.what.clone(),
            rule: denial.rule.clone(),
            process: denial.process.clone(),
            count: denial.count,
            distinct: denial.distinct,
            why: denial.why.clone(),
            hint: denial.hint.clone(),
        }
    }
}

impl ReportedViolation {
    /// In a line of a list.
    pub(crate) fn tell(&self, text: &mut String) {
        let _ = write!(text, "\n- [{}] {}", self.sequence, line(&self.what));
        if self.count > 1 {
            let _ = write!(text, " ({} times)", self.count);
        }
        if let Some(process) = &self.process {
            let _ = write!(text, ", by {}", line(process));
        }
        if let Some(rule) = &self.rule {
            let _ = write!(text, "; prevented by: {}", line(rule));
        }
        if let Some(why) = &self.why {
            let _ = write!(text, "\n    why: {}", line(why));
        }
        if let Some(hint) = &self.hint {
            let _ = write!(text, "\n    a person can allow it by {}", line(hint));
        }
    }
}

pub(crate) fn explain(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let ExplainDenial { trace_id, sequence } = arguments("explain_denial", given)?;
    let mut reader = context.traces.open(&trace_id)?.reader;
    let skill = reader.header().skill_name.clone();
    let (mut book, mut classifier) = (DenialBook::new(), Classifier::new());
    let mut incomplete = None;
    let mut seen = false;
    for event in reader.by_ref() {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                incomplete = Some(error.to_string());
                break;
            }
        };
        seen |= Some(event.sequence) == sequence;
        let class = classifier.observe(&event);
        let first = event.repeats.unwrap_or(event.sequence);
        if sequence.is_none_or(|wanted| wanted == first || wanted == event.sequence) {
            book.observe(&event, class);
        }
    }
    // What the whole run amounts to decides whether it is told how to allow something.
    let mut found = classifier.finish();
    if incomplete.is_none() {
        // What did not fit into the trace was classified all the same.
        match reader.finish() {
            Ok(ending) => found.extend(ending.violation_summary.classifications),
            Err(error) => incomplete = Some(error.to_string()),
        }
    }
    let DenialList { denials, omitted, expected, is_attack, .. } = book.finish_trace(&found);
    let mut violations: Vec<ReportedViolation> = denials.iter().map(ReportedViolation::from).collect();
    if incomplete.is_some() {
        // What is missing may be what makes it an attack.
        for violation in &mut violations {
            violation.hint = None;
        }
    }
    if let (Some(wanted), true) = (sequence, violations.is_empty() && expected.is_empty()) {
        let why = if seen { "that event was not prevented" } else { "the trace has no such event" };
        return Err(ToolProblem::new(format!("there is nothing to explain at {wanted}"))
            .why(why)
            .cure("leave `sequence` out to see everything that was prevented"));
    }
    let mut text = match violations.len() {
        0 if expected.is_empty() => format!("Nothing that {} tried was prevented.", line(&skill)),
        0 => format!("Nothing that {} tried was prevented but what programs do without.", line(&skill)),
        count => format!(
            "{count} things that {} tried were prevented (names and paths are its own words):",
            line(&skill)
        ),
    };
    for violation in &violations {
        violation.tell(&mut text);
    }
    if omitted > 0 {
        let _ = write!(text, "\nand {omitted} more");
    }
    for lookups in &expected {
        let _ = write!(text, "\nPrevented {} times, and not missed: {}", lookups.count, lookups.reason);
    }
    let who = if is_attack { STOP } else { WHO };
    if !violations.is_empty() {
        let _ = write!(text, "\n{who}");
    }
    if let Some(why) = &incomplete {
        let _ = write!(text, "\nThe trace could not be read to its end: {}", line(why));
    }
    let who_can_allow_it = who.to_owned();
    let explanation = Explanation {
        trace_id,
        skill,
        violations,
        violations_omitted: omitted,
        who_can_allow_it,
        incomplete,
    };
    Ok(ToolAnswer::new(text, &explanation))
}
