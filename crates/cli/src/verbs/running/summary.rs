//! What a run came to, in a few lines on standard error: an alarm first, then limits, then what was refused and what would have helped.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use anstyle::Style;
use skillsandbox_run::{DeniedAttempt, RunReport, RunStatus};
use skillsandbox_text::{Escape, Glyphs, Keep, columns};
use skillsandbox_tracer::Prevention;

use crate::output::{message, visible};
use crate::style::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

/// Denials that are shown; the trace has all.
const SHOWN: usize = 10;
/// Columns of one line where nobody says how wide the terminal is: a path may have 4,096.
const WIDEST: usize = 400;
/// No terminal is narrower than this for us.
const NARROWEST: usize = 40;
/// What stands before a hint. Nothing that a run chose the text of ever begins a line.
const HINT: &str = "allow it:";

const PLAIN: Style = Style::new();

pub(super) fn print(report: &RunReport) {
    message(&text(report, terminal_width()));
}

fn terminal_width() -> Option<usize> {
    let is_terminal = std::io::stderr().is_terminal();
    let size = is_terminal.then(|| terminal_size::terminal_size_of(std::io::stderr())).flatten();
    size.map(|(width, _)| usize::from(width.0).max(NARROWEST))
}

fn text(report: &RunReport, width: Option<usize>) -> String {
    let mut page = Page { text: String::new(), width };
    if let Some(alarm) = &report.alarm {
        page.wrapped(0, RED, "ALARM:", PLAIN, &alarm.to_string());
    }
    for limit in limits(report) {
        page.wrapped(0, YELLOW, "limit:", PLAIN, &format!("it tried to {}", with_reason(limit)));
        page.hint(2, limit.hint.as_deref());
    }
    headline(&mut page, report);
    prevented(&mut page, report);
    missed(&mut page, report);
    classes(&mut page, report);
    for note in trace_notes(report) {
        page.wrapped(2, DIM, "", DIM, &note);
    }
    page.text
}

/// Lines of a page, no wider than a terminal.
struct Page {
    text: String,
    width: Option<usize>,
}

impl Page {
    /// A paragraph of our own words: a label, and text that is wrapped below it. What a run chose is escaped.
    fn wrapped(&mut self, indent: usize, label_style: Style, label: &str, style: Style, body: &str) {
        let room = self.width.unwrap_or(usize::MAX).saturating_sub(indent).max(NARROWEST / 2);
        let mut lines = vec![String::new()];
        let mut used = 0;
        for word in label.split(' ').chain(visible(body).split(' ')).filter(|word| !word.is_empty()) {
            let wide = columns(word);
            if used > 0 && used + 1 + wide > room {
                lines.push(String::new());
                // What goes on is further in than anything that begins.
                used = 2;
            }
            let Some(line) = lines.last_mut() else { continue };
            if !line.is_empty() {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += wide;
        }
        for (number, line) in lines.iter().enumerate() {
            self.break_line();
            let rest = line.strip_prefix(label).filter(|_| number == 0 && !label.is_empty());
            let indent = if number == 0 { indent } else { indent + 2 };
            let _ = match rest {
                Some(rest) => {
                    write!(self.text, "{:indent$}{label_style}{label}{RESET}{style}{rest}{RESET}", "")
                }
                None => write!(self.text, "{:indent$}{style}{line}{RESET}", ""),
            };
        }
    }

    /// One line about what a run chose the words of: cut in the middle where it is too long, never broken, so that nothing in it begins a line.
    fn quoted(&mut self, indent: usize, what: &str, tail: &str) {
        let room = self.width.unwrap_or(WIDEST).saturating_sub(indent).max(NARROWEST / 2);
        let cut = |text: &str, room: usize| Escape::text(Glyphs::Unicode).cut(text, room, Keep::Ends);
        let tail = cut(tail, room / 2);
        let what = cut(what, room.saturating_sub(columns(&tail)));
        self.break_line();
        let _ = write!(self.text, "{:indent$}{what}{DIM}{tail}{RESET}", "");
    }

    /// What can be typed as it is: neither wrapped nor cut, and so the only line that may be wider than the terminal.
    fn hint(&mut self, indent: usize, hint: Option<&str>) {
        if let Some(hint) = hint {
            self.break_line();
            let _ = write!(self.text, "{:indent$}{GREEN}{HINT}{RESET} {}", "", visible(hint));
        }
    }

    /// Why something was refused. Of a connection it may hold a name that the run chose.
    fn reason(&mut self, indent: usize, why: &str, is_ours: bool) {
        if is_ours {
            self.wrapped(indent, DIM, "why:", DIM, why);
        } else {
            self.quoted(indent, &format!("why: {why}"), "");
        }
    }

    fn break_line(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }
}

fn limits(report: &RunReport) -> impl Iterator<Item = &DeniedAttempt> {
    report.denied.denials.iter().filter(|denial| is_limit(denial))
}

fn is_limit(denial: &DeniedAttempt) -> bool {
    denial.kind == "resource_limit_hit"
}

fn with_reason(denial: &DeniedAttempt) -> String {
    match &denial.why {
        Some(why) => format!("{}: {why}", denial.what),
        None => denial.what.clone(),
    }
}

fn headline(page: &mut Page, report: &RunReport) {
    let version = report.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let colour = if report.status() == RunStatus::Success { GREEN } else { RED };
    let how = match &report.ended {
        Err(_) => "refused, nothing was executed".to_owned(),
        Ok(ended) => {
            let code = match (ended.exit_code, ended.signal) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("ended by signal {signal}"),
                (None, None) => "ended".to_owned(),
            };
            let why = report.error().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{code} after {:.2} s{why}", ended.duration.as_secs_f64())
        }
    };
    let name = format!("{}{}:", visible(&report.skill), visible(&version));
    page.wrapped(0, BOLD, &name, colour, &how);
}

fn prevented(page: &mut Page, report: &RunReport) {
    let listed: Vec<&DeniedAttempt> =
        report.denied.denials.iter().filter(|denial| !is_limit(denial)).collect();
    let count = listed.len() as u64 + report.denied.omitted;
    if count > 0 {
        let kinds = if count == 1 { "1 kind of attempt" } else { &format!("{count} kinds of attempts") };
        page.wrapped(2, YELLOW, "prevented", PLAIN, kinds);
    }
    for denial in listed.iter().take(SHOWN) {
        let times = if denial.count > 1 { format!(", {} times", denial.count) } else { String::new() };
        let by = denial.process.as_deref().map(|process| format!(" by {process}")).unwrap_or_default();
        page.quoted(4, &denial.what, &format!("{by}{times}"));
        if let Some(why) = &denial.why {
            page.reason(6, why, denial.kind != "net_connect");
        }
        page.hint(6, denial.hint.as_deref());
    }
    if let more @ 1.. = count.saturating_sub(SHOWN as u64) {
        page.wrapped(4, DIM, "", DIM, &format!("and {more} more: `skillsandbox trace show` has them"));
    }
    let expected: u64 = report.denied.expected.iter().map(|expected| expected.count).sum();
    if expected > 0 {
        // Of a run that failed, one of them may be the reason after all.
        let reasons = if report.status() == RunStatus::Success { 1 } else { SHOWN };
        let reasons = report.denied.expected.iter().take(reasons).map(|expected| expected.reason);
        let reasons = reasons.collect::<Vec<_>>().join("; ");
        let text = format!("{expected} lookups that programs make and do without, such as: {reasons}");
        page.wrapped(2, DIM, "not listed:", DIM, &text);
    }
}

/// What was granted or asked for, and was not there.
fn missed(page: &mut Page, report: &RunReport) {
    for host in report.denied.unreached.iter().take(SHOWN) {
        page.quoted(2, &format!("could not reach {}", host.host), "");
        page.reason(4, &host.why, false);
    }
    for file in report.denied.missed_tmp.iter().take(SHOWN) {
        page.quoted(2, &format!("not found inside: {}", file.path.display()), "");
        page.reason(4, "/tmp inside is private, and so is /var/tmp; this machine has such a file", true);
        page.hint(4, Some(&file.hint));
    }
}

fn classes(page: &mut Page, report: &RunReport) {
    for found in &report.summary.classifications {
        let techniques: Vec<&str> = found.techniques.iter().map(|technique| technique.id.as_str()).collect();
        let how = found.prevention();
        let colour = if how == Prevention::Prevented { YELLOW } else { RED };
        let class = serde_json::to_value(found.class).ok();
        let class = class.as_ref().and_then(|class| class.as_str()).unwrap_or("unknown");
        let body = format!("{} {}, {}", found.message, techniques.join(" "), how.as_str());
        page.wrapped(2, colour, class, PLAIN, &body);
    }
}

/// What the live view says at the end, besides its tables: the alarm, limits and hints, and where the trace is.
pub(super) fn notes(report: &RunReport) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(alarm) = &report.alarm {
        // A line each: the view cuts lines in the middle.
        notes.extend([format!("ALARM: {}", alarm.what), alarm.got_out.to_string(), alarm.advice.to_owned()]);
    }
    let hinted = report.denied.denials.iter().filter(|denial| denial.hint.is_some());
    notes.extend(hinted.take(SHOWN).map(|denial| {
        let hint = denial.hint.as_deref().unwrap_or_default();
        format!("to {}, {HINT} {hint}", denial.what)
    }));
    notes.extend(
        report
            .denied
            .unreached
            .iter()
            .take(SHOWN)
            .map(|host| format!("could not reach {}: {}", host.host, host.why)),
    );
    notes.extend(report.denied.missed_tmp.iter().take(SHOWN).map(|file| {
        format!("/tmp inside is private; to show it {}, {HINT} {}", file.path.display(), file.hint)
    }));
    notes.extend(trace_notes(report));
    notes
}

/// Where the trace is, and what is wrong with it.
fn trace_notes(report: &RunReport) -> Vec<String> {
    let mut notes = Vec::new();
    if let Ok(ended) = &report.ended {
        for (layer, why) in &ended.waived {
            notes.push(format!("without the {layer} layer, which was not required: {why}"));
        }
    }
    if let unknown @ 1.. = report.summary.unknown {
        notes.push(format!("of {unknown} attempts it is not known what became of them"));
    }
    for because in &report.summary.incomplete_because {
        notes.push(format!("the trace is not complete: {because}"));
    }
    let omitted = report.stdout.omitted + report.stderr.omitted;
    if omitted > 0 {
        notes.push(format!(
            "{omitted} bytes of output were thrown away: the limit is resources.max_output_bytes"
        ));
    }
    if let Some(trace) = &report.trace {
        notes.push(format!("trace: {}", trace.display()));
    }
    if let Some(digest) = &report.digest {
        notes.push(format!("digest: {digest}"));
    }
    notes
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use skillsandbox_run::DenialBook;
    use skillsandbox_tracer::{Event, EventKind, EventVerdict, NetConnection};

    use super::*;

    fn report() -> RunReport {
        skillsandbox_run::run(
            &skillsandbox_run::Job::new("tested", "/there/is/no/such/program"),
            &skillsandbox_run::Unrecorded,
            skillsandbox_run::RunOptions::default(),
        )
    }

    fn plain(report: &RunReport, width: Option<usize>) -> String {
        anstream::adapter::strip_str(&text(report, width)).to_string()
    }

    #[test]
    fn what_is_unknown_is_said_in_the_summary_and_is_not_prevented() {
        let mut report = report();
        let found = |unknown: bool| {
            serde_json::from_value(serde_json::json!({
                "class": "credential_harvesting", "severity": "high", "mitre_tactic": "credential-access", "techniques": [], "evidence": [0],
                "prevented": !unknown, "unknown": unknown, "message": "looked for credentials",
            }))
            .unwrap()
        };
        report.summary.classifications = vec![found(false)];
        let known = plain(&report, None);
        assert!(known.contains(", prevented") && !known.contains("not known"), "{known}");
        report.summary.unknown = 2;
        report.summary.classifications = vec![found(true)];
        let unknown = plain(&report, None);
        assert!(unknown.contains("of 2 attempts it is not known what became of them"), "{unknown}");
        assert!(unknown.contains(&format!(", {}", Prevention::Unknown.as_str())), "{unknown}");
        assert!(!unknown.contains(", prevented"), "{unknown}");
    }

    #[test]
    fn a_name_that_belongs_to_a_private_address_is_refused_with_that_reason() {
        let mut to = NetConnection::default();
        (to.name, to.port, to.transport) = (Some("intranet.test".into()), 443, "tcp".into());
        to.reason = Some("special_address".into());
        let rule = "the name belongs to 10.0.0.7, a private address".to_owned();
        let event = Event::new(EventKind::NetConnect(to)).with_verdict(EventVerdict::Denied, rule);
        let mut book = DenialBook::new();
        book.observe(&event, None);
        let mut report = report();
        report.denied = book.finish_trace(&[]);
        let text = plain(&report, Some(80));
        assert!(text.contains("    connect to intranet.test port 443 by tcp\n"), "{text}");
        assert!(text.contains("      why: the name belongs to 10.0.0.7, a private address\n"), "{text}");
        assert!(!text.contains(HINT), "a name does not open the way to a private address: {text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_none_begins_with_words_of_the_run() {
        for width in [40, 80, 120] {
            let mut page = Page { text: String::new(), width: Some(width) };
            let long = format!("read /srv/{}", "allow it: --read / \u{1b}[2J\n".repeat(40));
            page.quoted(4, &long, " by /usr/bin/x (1), 7 times");
            page.hint(6, Some("--read '/srv/a  b'"));
            page.reason(6, &"TLS for another server, allow it: --read / ".repeat(9), false);
            page.wrapped(0, RED, "ALARM:", PLAIN, &"it looked for credentials. ".repeat(10));
            let text = anstream::adapter::strip_str(&page.text).to_string();
            assert!(!text.contains('\u{1b}'), "{text:?}");
            for line in text.lines() {
                assert!(columns(line) <= width, "{width}: {} {line:?}", columns(line));
            }
            let hints = text.lines().filter(|line| line.trim_start().starts_with(HINT)).count();
            assert_eq!(hints, 1, "{text}");
            assert!(text.contains("      allow it: --read '/srv/a  b'\n"), "as it can be typed: {text}");
        }
    }
}
