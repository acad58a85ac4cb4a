//! The sections of a page, from the banner to the timeline.

use std::collections::BTreeMap;

use super::super::story::{RunEnding, RunStory, StoryMood};
use super::super::tally::{TraceTally, VerdictCounts};
use super::super::tree::{TracedProcessTree, TreeRow};
use super::super::words::{self, counted, size};
use super::PageOptions;
use super::markup::Markup;
use super::timeline::{self, TimelinePart};
use crate::{
    AttackClass, AttackSeverity, Classification, EventKind, EventVerdict, Prevention, Trace, TraceHeader,
};
use skillsandbox_text::Keep;

/// Rows of a table.
const ROWS: usize = 200;
/// Processes that have a row.
const PROCESSES: usize = 400;
/// Programs of a process that are named.
const PROGRAMS: usize = 8;
/// Events that are named to prove one finding.
const EVIDENCE: usize = 24;
/// Columns of a text in a table.
const WIDE: usize = 300;

/// Everything between the beginning and the end of the body.
pub(super) fn write(out: &mut Markup, trace: &Trace, options: PageOptions) {
    let (mut tally, mut tree) = (TraceTally::default(), TracedProcessTree::default());
    for event in &trace.events {
        tally.add(event);
        tree.add(event);
    }
    let classes = classes(trace);
    let rows = timeline::timeline(trace, &classes);
    banner(out, trace, &tally);
    out.tag("<main>\n");
    cards(out, trace, &tally);
    this_run(out, trace, options);
    findings(out, trace, &rows);
    processes(out, &tree);
    denied(out, &tally, &rows);
    network(out, &tally);
    files(out, &tally);
    events(out, trace, &rows);
    out.tag("</main>\n");
}

/// Which event proves what.
fn classes(trace: &Trace) -> BTreeMap<u64, Vec<AttackClass>> {
    let mut classes: BTreeMap<u64, Vec<AttackClass>> = BTreeMap::new();
    for found in &trace.violation_summary.classifications {
        for place in &found.evidence {
            let list = classes.entry(*place).or_default();
            if !list.contains(&found.class) {
                list.push(found.class);
            }
        }
    }
    classes
}

fn banner(out: &mut Markup, trace: &Trace, tally: &TraceTally) {
    let story = RunStory::of(trace, tally);
    out.tag(match story.mood {
        StoryMood::Good => "<header class=\"banner good\">\n",
        StoryMood::Held => "<header class=\"banner held\">\n",
        StoryMood::Bad => "<header class=\"banner bad\">\n",
    });
    out.tag("<p class=\"kicker\">SkillSandbox trace</p>\n<h1><bdi>");
    out.theirs(&trace.header.skill_name, 120, Keep::Start).tag("</bdi>");
    if let Some(version) = &trace.header.skill_version {
        out.tag(" <bdi class=\"soft\">").theirs(version, 60, Keep::Start).tag("</bdi>");
    }
    out.tag("</h1>\n<dl>");
    out.tag("<dt>What happened</dt><dd>").sentence(&story.happened, 1200).tag("</dd>");
    out.tag("<dt>What got out</dt><dd>").sentence(&story.got_out, 1200).tag("</dd>");
    out.tag("<dt>What to do</dt><dd>").ours(&story.advice).tag("</dd></dl>\n</header>\n");
}

fn cards(out: &mut Markup, trace: &Trace, tally: &TraceTally) {
    let summary = &trace.violation_summary;
    out.tag("<section class=\"cards\">\n");
    let ending = RunEnding::of(&trace.events);
    card(out, "<div class=\"stat\"><b>", ending.exit.as_deref().unwrap_or("no end"), "how it ended");
    card(out, "<div class=\"stat\"><b>", &words::duration(summary.duration_us), "from start to end");
    card(out, "<div class=\"stat\"><b>", &tally.all.total().to_string(), "events, repeats counted");
    card(out, "<div class=\"stat allowed\"><b>", &tally.all.allowed.to_string(), "allowed");
    let open = |count: u64, hit: &'static str| if count > 0 { hit } else { "<div class=\"stat\"><b>" };
    let denied = open(tally.all.denied, "<div class=\"stat denied\"><b>");
    card(out, denied, &tally.all.denied.to_string(), "denied");
    card(out, "<div class=\"stat\"><b>", &tally.all.failed.to_string(), "failed or not there");
    let unknown = open(tally.all.unknown, "<div class=\"stat denied\"><b>");
    card(out, unknown, &tally.all.unknown.to_string(), "unknown");
    let is_complete = summary.complete && summary.lost == 0 && summary.incomplete_because.is_empty();
    if is_complete {
        card(out, "<div class=\"stat allowed\"><b>", "complete", "all that could be observed");
    } else {
        let lost = if summary.lost > 0 { counted(summary.lost, "event") + " lost" } else { String::new() };
        let why = if lost.is_empty() { "see below why" } else { lost.as_str() };
        card(out, "<div class=\"stat denied\"><b>", "not complete", why);
    }
    out.tag("</section>\n");
}

fn card(out: &mut Markup, open: &'static str, value: &str, name: &str) {
    out.tag(open).ours(value).tag("</b><span>").ours(name).tag("</span></div>\n");
}

/// What the run was given and held to, and where this page comes from.
fn this_run(out: &mut Markup, trace: &Trace, options: PageOptions) {
    out.tag("<section><h2>This run</h2>\n<dl class=\"facts\">\n");
    let TraceHeader { format, trace_id, started, tool, host, .. } = &trace.header;
    if let Some(command) = trace.events.iter().find_map(|event| match &event.kind {
        EventKind::RunStarted { command } => Some(words::command_line(command)),
        _ => None,
    }) {
        fact(out, "command", &command);
    }
    // What the sandbox said of itself: grants, limits, variables, credentials, what was missing.
    let stated = trace.events.iter().filter_map(|event| match &event.kind {
        EventKind::Policy { subject, message, figures } => Some((subject, message, figures)),
        _ => None,
    });
    let mut count = 0_usize;
    for (subject, message, figures) in stated {
        count += 1;
        if count > ROWS {
            continue;
        }
        let figures: Vec<String> =
            figures.iter().take(12).map(|(name, count)| format!("{name} {count}")).collect();
        let figures = if figures.is_empty() { String::new() } else { format!(" ({})", figures.join(", ")) };
        fact(out, subject, &format!("{message}{figures}"));
    }
    if let more @ 1.. = count.saturating_sub(ROWS) {
        fact(out, "more", &format!("{more} further lines are in the trace"));
    }
    for reason in trace.violation_summary.incomplete_because.iter().take(20) {
        fact(out, "not complete because", reason);
    }
    if let Some(digest) = options.digest {
        fact(out, "digest of the trace", &digest.to_string());
    }
    fact(out, "trace", &trace_id.to_string());
    fact(out, "began", &started.to_string());
    fact(out, "written by", tool);
    fact(out, "format", format);
    for (name, value) in host.iter().take(40) {
        fact(out, name, value);
    }
    out.tag("</dl></section>\n");
}

fn fact(out: &mut Markup, name: &str, value: &str) {
    out.tag("<dt>").theirs(name, 40, Keep::Start).tag("</dt><dd>");
    out.theirs(value, 600, Keep::Ends).tag("</dd>\n");
}

fn findings(out: &mut Markup, trace: &Trace, rows: &TimelinePart) {
    out.tag("<section><h2>What it amounts to</h2>\n");
    let found = &trace.violation_summary.classifications;
    if found.is_empty() {
        out.tag("<p class=\"soft\">Nothing: no attempt fits a known attack.</p></section>\n");
        return;
    }
    out.tag("<table class=\"findings\"><thead><tr><th>severity</th><th>finding</th><th>outcome</th>");
    out.tag("<th>technique</th><th>proved by</th></tr></thead><tbody>\n");
    let mut worst_first: Vec<&Classification> = found.iter().collect();
    worst_first.sort_by_key(|found| {
        (found.prevention() == Prevention::Prevented, std::cmp::Reverse(found.severity))
    });
    for found in worst_first.iter().take(ROWS) {
        finding(out, found, rows);
    }
    out.tag("</tbody></table>\n");
    more(out, found.len().saturating_sub(ROWS) as u64, "finding");
    out.tag("</section>\n");
}

fn finding(out: &mut Markup, found: &Classification, rows: &TimelinePart) {
    out.tag(match found.severity {
        AttackSeverity::Critical | AttackSeverity::High => "<tr class=\"high\"><td><b class=\"tag denied\">",
        AttackSeverity::Medium => "<tr class=\"medium\"><td><b class=\"tag failed\">",
        AttackSeverity::Low => "<tr class=\"low\"><td><b class=\"tag\">",
    });
    out.ours(words::severity_name(found.severity)).tag("</b></td><td class=\"w\"><strong>");
    out.ours(&words::class_name(found.class).replace('_', " ")).tag("</strong><br>");
    out.theirs(&found.message, WIDE, Keep::Start).tag("</td><td>");
    out.tag(match found.prevention() {
        Prevention::Prevented => "<b class=\"tag allowed\">prevented</b>",
        Prevention::NotPrevented => "<b class=\"tag denied\">not prevented</b>",
        Prevention::Unknown => "<b class=\"tag denied\">unknown whether prevented</b>",
    });
    out.tag("</td><td class=\"w\">");
    for technique in found.techniques.iter().take(20) {
        technique_line(out, &technique.id, &technique.name);
    }
    out.tag("<span class=\"soft\">")
        .theirs(&found.mitre_tactic, 40, Keep::Start)
        .tag("</span></td><td class=\"w\">");
    for place in found.evidence.iter().take(EVIDENCE) {
        event_link(out, *place, rows);
    }
    more(out, found.evidence.len().saturating_sub(EVIDENCE) as u64, "event");
    out.tag("</td></tr>\n");
}

/// An id of ATT&CK, with its address where it is surely one: `T1552` or `T1552.001`.
fn technique_line(out: &mut Markup, id: &str, name: &str) {
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts =
        id.strip_prefix('T').map(|rest| rest.split_once('.').map_or((rest, None), |(a, b)| (a, Some(b))));
    match parts {
        Some((main, sub)) if digits(main, 4) && sub.is_none_or(|sub| digits(sub, 3)) => {
            out.tag("<a rel=\"noreferrer noopener\" target=\"_blank\" href=\"https://attack.mitre.org/techniques/T");
            out.ours(main).tag("/");
            if let Some(sub) = sub {
                out.ours(sub).tag("/");
            }
            out.tag("\">").ours(id).tag("</a> ");
        }
        _ => {
            out.theirs(id, 24, Keep::Start).tag(" ");
        }
    }
    out.theirs(name, WIDE, Keep::Start).tag("<br>");
}

/// The place of an event: a link where it has a row.
fn event_link(out: &mut Markup, place: u64, rows: &TimelinePart) {
    if rows.shown.contains(&place) {
        out.tag("<a href=\"#e").number(place).tag("\">#").number(place).tag("</a> ");
    } else {
        out.tag("#").number(place).tag(" ");
    }
}

fn processes(out: &mut Markup, tree: &TracedProcessTree) {
    out.tag("<section><h2>Processes</h2>\n");
    if tree.is_empty() {
        out.tag("<p class=\"soft\">No event names its process.</p>\n");
    }
    out.tag("<div class=\"scroll\"><table id=\"processes\" class=\"figures\"><thead><tr><th>process</th>");
    out.tag("<th class=\"n\">allowed</th><th class=\"n\">denied</th><th class=\"n\">failed</th>");
    out.tag("<th class=\"n\">unknown</th><th class=\"n\">other</th><th class=\"n\">all</th></tr></thead><tbody>\n");
    let rows = tree.rows();
    let mut rest = tree.left_out;
    for (index, row) in rows.iter().enumerate() {
        if index < PROCESSES {
            process(out, row);
        } else {
            rest = rest.plus(row.node.counts);
        }
    }
    for (name, counts) in [("no process named", tree.unnamed), ("further processes", rest)] {
        if counts.total() > 0 {
            out.tag("<tr class=\"folded\"><td class=\"w\">").ours(name).tag("</td>");
            count_cells(out, counts);
        }
    }
    out.tag("</tbody><tfoot><tr><td class=\"w\">all together</td>");
    count_cells(out, tree.total());
    out.tag("</tfoot></table></div></section>\n");
}

/// How deep a process is, as a class: the policy of the page allows no style of its own to an element.
const DEPTHS: [&str; 9] = [
    "<tr><td class=\"w d0\">",
    "<tr><td class=\"w d1\">",
    "<tr><td class=\"w d2\">",
    "<tr><td class=\"w d3\">",
    "<tr><td class=\"w d4\">",
    "<tr><td class=\"w d5\">",
    "<tr><td class=\"w d6\">",
    "<tr><td class=\"w d7\">",
    "<tr><td class=\"w d8\">",
];

fn process(out: &mut Markup, row: &TreeRow<'_>) {
    let [.., deepest] = DEPTHS;
    out.tag(DEPTHS.get(row.depth).copied().unwrap_or(deepest));
    out.theirs(row.node.binary.as_deref().unwrap_or("?"), 120, Keep::Ends);
    out.tag(" <i>(").number(row.pid.into()).tag(")</i>");
    for (program, verdict) in row.node.programs.iter().take(PROGRAMS) {
        out.tag(match verdict {
            Some(EventVerdict::Denied) => "<br><b class=\"tag denied\">exec denied</b> ",
            Some(EventVerdict::Unknown) => "<br><b class=\"tag denied\">exec, unknown whether denied</b> ",
            Some(EventVerdict::Failed) => "<br><i>exec failed</i> ",
            Some(EventVerdict::Allowed) | None => "<br><i>exec</i> ",
        });
        out.theirs(program, WIDE, Keep::Ends);
    }
    let more_programs = row.node.programs.len().saturating_sub(PROGRAMS) as u64 + row.node.more_programs;
    more(out, more_programs, "program");
    out.tag("</td>");
    count_cells(out, row.node.counts);
}

fn count_cells(out: &mut Markup, counts: VerdictCounts) {
    count_cell(out, counts.allowed, "<td class=\"n allowed\">");
    count_cell(out, counts.denied, "<td class=\"n denied\">");
    count_cell(out, counts.failed, "<td class=\"n failed\">");
    count_cell(out, counts.unknown, "<td class=\"n denied\">");
    count_cell(out, counts.other, "<td class=\"n\">");
    count_cell(out, counts.total(), "<td class=\"n\">");
    out.tag("</tr>\n");
}

fn count_cell(out: &mut Markup, count: u64, some: &'static str) {
    out.tag(if count > 0 { some } else { "<td class=\"n soft\">" }).number(count).tag("</td>");
}

fn denied(out: &mut Markup, tally: &TraceTally, rows: &TimelinePart) {
    out.tag("<section><h2>Denied</h2>\n");
    if tally.violations.is_empty() {
        out.tag("<p class=\"soft\">Nothing that was tried.</p></section>\n");
        return;
    }
    out.tag("<div class=\"scroll\"><table class=\"denials\"><thead><tr><th class=\"n\">times</th><th>kind</th><th>what</th><th>rule</th>");
    out.tag("<th class=\"n\">first</th></tr></thead><tbody>\n");
    for (_, attempt) in tally.violations.most(|attempt| attempt.count).into_iter().take(ROWS) {
        out.tag("<tr><td class=\"n denied\">").number(attempt.count).tag("</td><td class=\"k\">");
        out.ours(attempt.kind).tag("</td><td class=\"w\">").theirs(&attempt.object, WIDE, Keep::Ends);
        out.tag("</td><td class=\"w\">").theirs(
            attempt.rule.as_deref().unwrap_or_default(),
            120,
            Keep::Start,
        );
        out.tag("</td><td class=\"n\">");
        event_link(out, attempt.first, rows);
        out.tag("</td></tr>\n");
    }
    out.tag("</tbody></table></div>\n");
    more(out, tally.violations.len().saturating_sub(ROWS) as u64, "kind");
    no_room(out, tally.violations.left_out);
    out.tag("</section>\n");
}

fn network(out: &mut Markup, tally: &TraceTally) {
    out.tag("<section><h2>Network</h2>\n");
    if tally.network.is_empty() {
        out.tag("<p class=\"soft\">No connection was tried.</p></section>\n");
        return;
    }
    out.tag("<div class=\"scroll\"><table class=\"figures\"><thead><tr><th>destination</th><th class=\"n\">allowed</th>");
    out.tag("<th class=\"n\">denied</th><th class=\"n\">failed</th><th class=\"n\">unknown</th>");
    out.tag("<th class=\"n\">sent</th><th class=\"n\">received</th><th>why</th></tr></thead><tbody>\n");
    let by_bytes = |flow: &super::super::tally::TrafficFlow| {
        (flow.sent.min(u64::MAX / 2)).saturating_mul(2).saturating_add(flow.verdicts.denied)
    };
    for (key, flow) in tally.network.most(by_bytes).into_iter().take(ROWS) {
        out.tag("<tr><td class=\"w\">").theirs(key, WIDE, Keep::Ends).tag("</td>");
        count_cell(out, flow.verdicts.allowed, "<td class=\"n allowed\">");
        count_cell(out, flow.verdicts.denied, "<td class=\"n denied\">");
        count_cell(out, flow.verdicts.failed, "<td class=\"n failed\">");
        count_cell(out, flow.verdicts.unknown, "<td class=\"n denied\">");
        out.tag("<td class=\"n\">")
            .ours(&size(flow.sent))
            .tag("</td><td class=\"n\">")
            .ours(&size(flow.received));
        out.tag("</td><td class=\"w\">").theirs(flow.reason.as_deref().unwrap_or_default(), 80, Keep::Start);
        out.tag("</td></tr>\n");
    }
    out.tag("</tbody></table></div>\n");
    more(out, tally.network.len().saturating_sub(ROWS) as u64, "destination");
    no_room(out, tally.network.left_out);
    out.tag("</section>\n");
}

fn files(out: &mut Markup, tally: &TraceTally) {
    out.tag("<section><h2>Files</h2>\n");
    if tally.folders.is_empty() {
        out.tag("<p class=\"soft\">No file was opened.</p></section>\n");
        return;
    }
    if !tally.changed.is_empty() {
        out.tag("<h3>Changed, or tried to be</h3>\n<ul class=\"paths\">\n");
        for (path, verdicts) in tally.changed.most(|verdicts| verdicts.total()).into_iter().take(ROWS) {
            out.tag(match (verdicts.denied, verdicts.unknown) {
                (_, 1..) => "<li><b class=\"tag denied\">unknown</b> ",
                (1.., 0) => "<li><b class=\"tag denied\">denied</b> ",
                (0, 0) => "<li>",
            });
            out.theirs(path, WIDE, Keep::Ends).tag("</li>\n");
        }
        out.tag("</ul>\n");
        more(out, tally.changed.len().saturating_sub(ROWS) as u64, "file");
        no_room(out, tally.changed.left_out);
    }
    out.tag("<h3>Folders</h3>\n<div class=\"scroll\"><table class=\"figures\"><thead><tr><th>folder</th><th class=\"n\">allowed</th>");
    out.tag("<th class=\"n\">denied</th><th class=\"n\">failed</th><th class=\"n\">reads</th>");
    out.tag("<th class=\"n\">changes</th></tr></thead><tbody>\n");
    let rank = |folder: &super::super::tally::FolderCounts| {
        folder.verdicts.denied.saturating_mul(1000).saturating_add(folder.verdicts.total())
    };
    for (path, folder) in tally.folders.most(rank).into_iter().take(ROWS) {
        out.tag("<tr><td class=\"w\">").theirs(path, WIDE, Keep::Ends).tag("</td>");
        count_cell(out, folder.verdicts.allowed, "<td class=\"n allowed\">");
        count_cell(out, folder.verdicts.denied, "<td class=\"n denied\">");
        count_cell(out, folder.verdicts.failed, "<td class=\"n failed\">");
        count_cell(out, folder.reads, "<td class=\"n\">");
        count_cell(out, folder.changes, "<td class=\"n\">");
        out.tag("</tr>\n");
    }
    out.tag("</tbody></table></div>\n");
    more(out, tally.folders.len().saturating_sub(ROWS) as u64, "folder");
    no_room(out, tally.folders.left_out);
    out.tag("</section>\n");
}

fn events(out: &mut Markup, trace: &Trace, rows: &TimelinePart) {
    out.tag("<section id=\"events\"><h2>Timeline</h2>\n");
    timeline::strip(out, trace);
    out.tag("<form id=\"filters\" class=\"filters\" hidden>\n");
    out.tag(
        "<label>Text <input id=\"text\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>\n",
    );
    out.tag("<label>Verdict <select id=\"verdict\"><option value=\"\">all</option><option>denied</option>");
    out.tag("<option>unknown</option><option>failed</option><option>absent</option><option>allowed</option>");
    out.tag("<option>policy</option><option>none</option></select></label>\n<output id=\"count\"></output></form>\n");
    let total = trace.events.len() as u64;
    out.tag("<p class=\"soft\">");
    out.ours(&counted(total, "event")).ours(" in the trace; ");
    out.ours(&format!("{} here, ", counted(rows.shown.len() as u64, "row")));
    out.ours(&format!("{} counted in rows that stand for several. Times are UTC. ", rows.counted_only));
    out.tag("<code>skillsandbox trace show --all</code> shows every event.</p>\n");
    out.tag("<div class=\"scroll tall\"><table id=\"timeline\"><thead><tr><th class=\"n s\">#</th><th class=\"t\">time</th>");
    out.tag("<th>verdict</th><th>kind</th><th class=\"p\">process</th><th>what</th></tr></thead><tbody>\n");
    out.part(&rows.rows);
    out.tag("</tbody></table></div></section>\n");
}

fn more(out: &mut Markup, count: u64, what: &str) {
    if count > 0 {
        out.tag("<p class=\"soft\">and ").number(count).ours(" more ").ours(what);
        out.ours(if count == 1 { "" } else { "s" }).tag("</p>\n");
    }
}

fn no_room(out: &mut Markup, left_out: u64) {
    if left_out > 0 {
        out.tag("<p class=\"soft\">and ").ours(&counted(left_out, "event"));
        out.tag(" that this table had no room for</p>\n");
    }
}
