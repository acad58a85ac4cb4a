//! The closing table: computed from the evidence, row by row, with whatever is not as it should be.

use serde_json::Value;
use skillsandbox_tracer::{AttackClass, Trace};

use crate::evidence::{ByHand, Evidence, Played, Should};
use crate::record;
use crate::sink::{HOST, ZONE};
use crate::victim::Part;

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The vector.
    pub what: String,
    /// Without the sandbox.
    pub without: String,
    /// In it.
    pub with: String,
    /// What the trace has of it.
    pub record: String,
    /// What is not as it should be.
    pub wrong: Vec<String>,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its rows.
    pub rows: Vec<Row>,
}

/// Heads of the columns.
pub const HEADS: [&str; 4] = ["", "without a sandbox", "in the sandbox", "on record as"];

impl Table {
    /// Judges.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let mut rows = vec![
            environment(evidence),
            files(evidence),
            agent(evidence),
            https(evidence),
            dns(evidence),
            stash(evidence),
            whole(evidence),
            answer(evidence),
        ];
        rows.extend(evidence.by_hand.iter().map(by_hand));
        rows.extend(scan(evidence));
        Self { rows }
    }

    /// Whether everything is as it should be.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.wrong.is_empty())
    }
}

/// Collects a row.
struct Judge(Row);

impl Judge {
    fn new(what: &str) -> Self {
        let [without, with, record] = [const { String::new() }; 3];
        Self(Row { what: what.to_owned(), without, with, record, wrong: Vec::new() })
    }

    fn should(&mut self, is_so: bool, otherwise: &str) {
        if !is_so {
            self.0.wrong.push(otherwise.to_owned());
        }
    }

    /// What the record says, if there is one and it says what it should.
    fn record(
        &mut self,
        played: &Result<Trace, String>,
        says: impl FnOnce(&Trace) -> Result<String, String>,
    ) {
        match played.as_ref().map_err(Clone::clone).and_then(says) {
            Ok(text) => self.0.record = text,
            Err(why) => {
                "nothing it should be".clone_into(&mut self.0.record);
                self.0.wrong.push(why);
            }
        }
    }

    /// Part of what was planted: all of it arrived without the sandbox, none in it.
    fn arrived(&mut self, evidence: &Evidence, part: Part) {
        let count = evidence.planted.count(part);
        let of = |played: &Played| {
            let all = format!("{}\n{}", played.arrived.sent(), played.arrived.spelt());
            evidence.planted.found_in(part, &all)
        };
        let (without, with) = (of(&evidence.without), of(&evidence.with));
        self.0.without = format!("{without} of {count} arrived");
        self.0.with = format!("{with} of {count}");
        self.should(count > 0, "nothing was planted");
        self.should(
            without == count,
            "not all arrived without the sandbox, so the other column shows nothing",
        );
        self.should(with == 0, "LEAKED");
    }
}

/// `1 name`, `2 names`.
#[must_use]
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn environment(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("secrets in variables");
    judge.arrived(evidence, Part::Variables);
    let planted = evidence.planted.variables.len();
    // Reading a variable is no system call: what is on record is that they were not there to read.
    judge.record(&evidence.with.trace, |trace| {
        let stripped = record::environment(trace, "stripped");
        let secrets = record::environment(trace, "stripped_secrets");
        let enough = usize::try_from(stripped).is_ok_and(|stripped| stripped >= planted) && secrets > 0;
        let text = format!("policy: {stripped} variables withheld");
        if enough { Ok(text) } else { Err(format!("{text}, of {planted} that were planted")) }
    });
    judge.0
}

fn files(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("credential files");
    judge.arrived(evidence, Part::Files);
    let files = &evidence.planted.files;
    judge.record(&evidence.with.trace, |trace| {
        for (path, _) in files {
            record::file_refused(trace, &format!("/{path}"))?;
        }
        record::classified(trace, AttackClass::CredentialHarvesting, &["T1552.001", "T1552.004"])
    });
    judge.0
}

fn agent(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("the agent's own variables");
    judge.arrived(evidence, Part::Agent);
    judge.record(&evidence.with.trace, |trace| {
        record::file_refused(trace, "/proc/1/environ")?;
        record::classified(trace, AttackClass::CredentialHarvesting, &["T1003.007"])
    });
    judge.0
}

fn https(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("sent over HTTPS");
    let describe = |played: &Played| {
        let stolen = evidence.planted.all_found_in(&played.arrived.sent());
        (played.arrived.requests.len(), stolen)
    };
    let (without, with) = (describe(&evidence.without), describe(&evidence.with));
    judge.0.without = format!("{}, {}", counted(without.0, "request"), counted(without.1, "secret"));
    judge.0.with = counted(with.0, "request");
    judge.should(without.0 > 0 && without.1 > 0, "nothing arrived without the sandbox");
    judge.should(with.0 == 0, "LEAKED");
    judge.record(&evidence.with.trace, |trace| {
        record::names_refused(trace, HOST)?;
        record::classified(trace, AttackClass::CredentialExfiltration, &["T1048"])
    });
    judge.0
}

fn dns(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("sent as names (DNS)");
    let stolen = evidence.planted.all_found_in(&evidence.without.arrived.spelt());
    judge.0.without =
        format!("{}, {}", counted(evidence.without.arrived.names.len(), "name"), counted(stolen, "secret"));
    judge.0.with = counted(evidence.with.arrived.names.len(), "name");
    judge.should(stolen > 0, "nothing arrived without the sandbox");
    judge.should(evidence.with.arrived.names.is_empty(), "LEAKED");
    judge.record(&evidence.with.trace, |trace| {
        record::names_refused(trace, ZONE)?;
        record::classified(trace, AttackClass::DnsTunnelling, &["T1071.004"])
    });
    judge.0
}

fn stash(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("stashed on the disk");
    judge.0.without = format!("{} with secrets", counted(evidence.without.stashed.len(), "file"));
    judge.0.with = counted(evidence.with.stashed.len(), "file");
    judge.should(!evidence.without.stashed.is_empty(), "nothing was stashed without the sandbox");
    judge.should(evidence.with.stashed.is_empty(), "LEAKED");
    judge.record(&evidence.with.trace, |trace| {
        record::file_refused(trace, "/malicious-weather/.weather")?;
        record::classified(trace, AttackClass::UnauthorizedFileAccess, &["T1005"])
    });
    judge.0
}

/// The run as a whole: who came, whether the sink was there to see it, whether the trace saw everything.
fn whole(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("at the sink in all");
    let came = |played: &Played| played.arrived.requests.len() + played.arrived.names.len();
    judge.0.without = counted(came(&evidence.without), "arrival");
    judge.0.with = counted(came(&evidence.with), "arrival");
    judge.should(evidence.with.arrived.is_nothing(), "LEAKED");
    let arrived = &evidence.with.arrived;
    let heard = arrived.visitors.min(arrived.asking_visitors);
    let is_there = evidence.visits > 0 && heard >= evidence.visits;
    judge.should(is_there, "the sink did not hear our own visitors, so its silence shows nothing");
    judge.record(&evidence.with.trace, |trace| {
        let summary = &trace.violation_summary;
        if !summary.complete || summary.lost > 0 {
            return Err(format!("the trace is not complete: {}", summary.incomplete_because.join(", ")));
        }
        if !summary.all_prevented {
            return Err("the trace does not say that all was prevented".to_owned());
        }
        record::classified(trace, AttackClass::SupplyChainAttack, &["T1195.002"])
    });
    judge.0
}

/// The agent gets its answer, the same from both skills, and the honest one is not accused of anything.
fn answer(evidence: &Evidence) -> Row {
    let mut judge = Judge::new("what the agent gets");
    let [without, with, honest] =
        [&evidence.without, &evidence.with, &evidence.honest].map(|played| &played.ran);
    let weather = serde_json::from_str::<Value>(&without.output).unwrap_or_default();
    // What comes from the skill's cache would show nothing of the network.
    let is_weather =
        weather.get("temperature_c").is_some_and(Value::is_number) && weather.get("cached").is_none();
    judge.0.without = (if is_weather { "the weather" } else { "no weather" }).into();
    judge.should(is_weather && without.code == Some(0), "the skill does not work without the sandbox");
    let same = with.output == without.output && honest.output == without.output;
    let well = with.code == Some(0) && honest.code == Some(0);
    judge.0.with = (if same { "the same" } else { "something else" }).into();
    judge.should(same && well, "the agent does not get the same from both skills");
    judge.record(&evidence.honest.trace, |trace| {
        if let Some(class) = trace.violation_summary.classifications.first() {
            return Err(format!("the honest skill is accused: {}", class.message));
        }
        if let Some(event) = trace.events.iter().find(|event| record::is_refusal(event)) {
            return Err(format!("the honest skill was refused something: {:?}", event.kind));
        }
        if record::received_from(trace, "api.weather.test") == 0 {
            return Err("nothing came from the weather service".to_owned());
        }
        Ok(format!(
            "honest skill: {} bytes from api.weather.test",
            record::received_from(trace, "api.weather.test")
        ))
    });
    judge.0
}

fn by_hand(tried: &ByHand) -> Row {
    let mut judge = Judge::new(&tried.what);
    let (outside, inside) = (&tried.outside, &tried.inside);
    let works = outside.code == Some(0);
    judge.0.without = (if works { "works" } else { "fails" }).into();
    judge.should(works, "it does not work without the sandbox, so the other column shows nothing");
    let code = inside.code.map_or("ended by a signal".to_owned(), |code| format!("exit code {code}"));
    match tried.should {
        Should::Work => {
            let same = inside.code == Some(0) && inside.output == outside.output && !inside.output.is_empty();
            judge.0.with = if same { "works".to_owned() } else { code };
            judge.should(same, "it does not do the same in the sandbox");
            judge.record(&tried.trace, |trace| match record::received_from(trace, &tried.object) {
                0 => Err(format!("nothing came from {}", tried.object)),
                bytes => Ok(format!("allowed: {bytes} bytes from {}", tried.object)),
            });
        }
        Should::BeRefused => {
            let leaks = inside.code == Some(0)
                || (!outside.output.is_empty() && inside.output.contains(&outside.output));
            judge.0.with = if leaks { "works".to_owned() } else { format!("refused, {code}") };
            judge.should(!leaks, "LEAKED");
            // 125 to 127: the sandbox or the command did not even start, and nothing was tried.
            judge.should(!matches!(inside.code, Some(125..=127) | None), "it did not run");
            judge.record(&tried.trace, |trace| {
                let about = &tried.object;
                let seen = if about.starts_with('/') {
                    record::file_refused(trace, about)
                } else if about.bytes().any(|byte| byte.is_ascii_alphabetic()) {
                    record::names_refused(trace, about).map(|_| ())
                } else {
                    record::connection_refused(trace, about)
                };
                seen.map(|()| format!("denied: {about}"))
            });
        }
    }
    judge.0
}

/// Only where the scanner blocks: then `run` must refuse by itself.
fn scan(evidence: &Evidence) -> Option<Row> {
    if evidence.scan.verdict != "BLOCKED" {
        return None;
    }
    let mut judge = Judge::new("`run` of what the scanner blocks");
    "not scanned".clone_into(&mut judge.0.without);
    let refused = evidence.scan.run == Some(125);
    judge.0.with = (if refused { "refused" } else { "not refused" }).into();
    "scan: BLOCKED".clone_into(&mut judge.0.record);
    judge.should(refused, "it was run although the scanner blocks it");
    Some(judge.0)
}
