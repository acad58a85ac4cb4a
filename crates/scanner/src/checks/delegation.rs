//! # CHECK-06: delegation chains
//!
//! ## What it looks for
//! Agents that start agents without end: many calls without a condition that ends them, a skill that starts itself, loops without
//! an end, jobs that arm themselves again, fork bombs. Across the skills of one scan: rings of skills that call each other
//! (`CHECK-06/ring`), and chains of more than three calls (`CHECK-06/deep-chain`). A call is `Skill(x)`, `Task(x)`, `extends`,
//! `../x/SKILL.md`, or a verb and a name: "hand off to `x`", "use the x skill", "run /x".
//!
//! ## Why it matters
//! Each call costs money and time, and nobody watches.
//!
//! ## Flagged
//! `Spawn yourself again with the same task`, `while true; do claude -p "$task"; done`.
//!
//! ## Not flagged
//! An orchestrator that says when it is done. A skill that tells how it is called itself; a skill that says not to call another.
//! A ring or a chain of hints: "for tables, use the x skill" says where to find something, and orders nothing.
//!
//! ## Blind spots
//! Rings through skills that are not in the same scan. Names that are put together only when the skill runs.
//!
//! ## References
//! OWASP LLM10, MITRE ATT&CK T1499.

use crate::checks::{Check, CheckInfo};
use crate::finding::Finding;
use crate::prefilter::TextSignals;
use crate::rule::CheckId::Delegation;
use crate::rule::FindingStatus::{Block, Warn};
use crate::rule::RuleScope::{Code, Words};
use crate::rule::{PatternRule, RuleFamily, code_rules};
use crate::scan_context::{ScanContext, ScanSubject};
use crate::text::PassageRole;

const FAMILY: RuleFamily = RuleFamily {
    check: Delegation,
    advice: "Ask for a bound: how many agents, how deep, and when they stop.",
    techniques: &["T1499"],
};

/// The rules about the skills of one scan together: `links.rs`.
const LINKED: RuleFamily = RuleFamily {
    check: Delegation,
    advice: "Ask where it ends: how often they call each other, and who stops them.",
    techniques: &["T1499"],
};

code_rules! {
    FAN_OUT = FAMILY
        .code("fan-out", Warn, "It starts more than three agents and names no condition that ends them")
        .role(PassageRole::Instruction)
        .techniques(&[]);
    RING = LINKED.code("ring", Warn, "Skills of one scan call each other in a ring").fact().role(PassageRole::Instruction);
    DEEP_CHAIN = LINKED
        .code("deep-chain", Warn, "A chain of more than three calls leads from this skill through others")
        .fact()
        .role(PassageRole::Instruction);
    TOO_MANY_CALLS = LINKED.code("too-many-calls", Warn, "The skill names more skills than are followed");
}

/// CHECK-06: agents that start agents.
pub(crate) struct DelegationCheck;

static INFO: CheckInfo = CheckInfo {
    id: Delegation,
    source: include_str!("delegation.rs"),
    pattern_rules: PATTERN_RULES,
    code_rules: &[CODE_RULES],
};

impl Check for DelegationCheck {
    fn info(&self) -> &'static CheckInfo {
        &INFO
    }

    fn run(&self, _: &ScanContext<'_>, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        let ScanSubject::Text(text) = subject else { return };
        let Some(start) = text.body_start.filter(|_| text.signals.has(TextSignals::AGENTS)) else { return };
        if let Some(calls) = count_fan_out(text.text.get(start..).unwrap_or_default()) {
            let why = format!("{} ({calls} calls)", FAN_OUT.summary);
            findings.push(Finding::in_file(&FAN_OUT, text.file, 0..0, why));
        }
    }
}

static PATTERN_RULES: &[PatternRule] = &[
    FAMILY.rule(
        "self-spawn",
        Warn,
        Words,
        &[
            r"(?:spawn|re-?invok\w*|launch|clone|replicat\w+|delegat\w*\_to|recursively\_(?:call|invoke|run)|call|invoke)\_(?:itself|yourself)\b",
            r"(?:invoke|call|run|spawn|start|launch|load)\w*<3>(?:(?:this|the)\_same\_(?:skill|agent)|another\_(?:instance|copy)\_of\_(?:this|itself|yourself)|copies\_of\_(?:itself|yourself|this)|new\_instances?\_of\_(?:this|itself|yourself))\b",
            r"each\_(?:sub-?agent|child|copy|instance|of\_them)<9>(?:spawn|create|launch)\w*<4>(?:more|another|new|sub-?agents?|agents?|of\_its\_own)",
            r"agents?\_that\_(?:itself|themselves|then|each)\_(?:spawn|launch|create|start)",
            r"no\_(?:limit|bound|maximum)\_(?:on|to)\_(?:the\_)?(?:depth|recursion|agents|number\_of\_agents)",
            r"(?:must|should|will|then)\_(?:delegate|hand|call|pass)\w*\_back\_to\_(?:skill\_)?[`\x22\x27]?[a-z]",
            r"(?:number|count)\_of\_agents\_(?:doubles|grows|multiplies)",
            r"re-?invok\w+\_yourself",
            r"sub-?agents?<9>(?:spawn|create)\w*<3>(?:more|replacements|another)",
        ],
        "It is told to start itself again",
    )
    .techniques(&["T1499"]),
    FAMILY.rule(
        "endless-loop",
        Warn,
        Words,
        &[
            r"(?:retry|repeat|run|execute|spawn|continue|loop)\w*\_(?:the|this|these|each|every|all|your|that)\_(?:tasks?|loop|steps?|process|workflow|agents?|skill|prompts?|cycle|instructions?)\_(?:indefinitely|forever|endlessly|without\_(?:end|limit|stopping|termination))",
            r"(?:keep|loop|repeat|continue|iterate)\w*<4>(?:spawn|agent|task|retry|yourself|itself)\w*<4>(?:indefinitely|forever|endlessly|without\_(?:end|limit|termination))",
            r"(?:keep\_(?:going|running|looping|retrying|spawning|working)|loop|repeat)\_(?:this\_|it\_)?(?:forever|indefinitely|endlessly|without\_end)",
            r"never\_(?:stop|terminate|exit|halt)\_(?:the\_loop|spawning|running|retrying|working|looping)",
            r"(?:infinite|endless)\_(?:loop|recursion|retries)<4>(?:agent|task|spawn|until|start|create)",
            r"no\_(?:termination|exit|stop|convergence)\_condition",
        ],
        "It loops without an end",
    )
    .techniques(&["T1499"]),
    FAMILY.rule(
        "fork-bomb",
        Block,
        Code,
        &[
            r":\s?\(\)\s?\{\s*:\s*\|\s*:",
            r"while\s*(?:\(?\s*(?:true|1)\s*\)?)\s*:?\s*(?:do|\{)?\s*;?\s*(?:os\.)?fork\(",
            r"while\s+true\s*:\s*\n?\s*(?:os\.fork\(\)|data\.append|\w+\.append\([^\n]{0,40}\*\s*\d{4,})",
        ],
        "It multiplies or grows until the machine stops",
    )
    .techniques(&["T1499.001"]),
    FAMILY.rule(
        "agent-loop",
        Block,
        Code,
        &[
            r"(?s)while\s*(?:true|:|\(\s*true\s*\)|1)\b.{0,200}?(?:claude\s+-p|claude\s+--|openclaw\s|clawdbot\s|codex\s+exec|agent\.run|spawn_agent|task\(|agent\()",
        ],
        "A loop without an end starts agents",
    )
    .techniques(&["T1499"]),
    FAMILY.rule(
        "borrowed-capability",
        Block,
        Words,
        &[
            r"(?s)only\_declares<3>access.{0,160}?(?:sub-?\_?skill|invok|gains?)",
            r"(?s)by\_invoking<6>gains?<6>(?:capabilit|access|permission)",
            r"(?s)sub-?\_?skill<6>has\_unrestricted",
        ],
        "It gains through another skill what it does not declare itself",
    )
    .techniques(&["T1548"]),
];

/// Whether a text starts more than three agents and never says when it is done.
fn count_fan_out(text: &str) -> Option<usize> {
    let calls = ["Task(", "Agent(", "Task tool", "spawn_agent(", "delegate to"]
        .iter()
        .map(|call| text.matches(call).count())
        .sum();
    let lower = text.to_ascii_lowercase();
    let ends = [
        "until ",
        "at most",
        "maximum",
        "max ",
        "stop when",
        "converge",
        "terminat",
        "limit",
        "once ",
        "done when",
        "complete",
        "finish",
        "wait for",
        "collect",
    ];
    (calls > 3 && !ends.iter().any(|word| lower.contains(word))).then_some(calls)
}
