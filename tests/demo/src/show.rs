//! The show, on the stage: five parts and a table.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Seek as _};
use std::net::ToSocketAddrs as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::evidence::{ByHand, Evidence, Played, Ran, Scan, Should};
use crate::place::{EVIDENCE, ON_STAGE, SKILLS, TRACES};
use crate::record;
use crate::screen::Screen;
use crate::sink::{ADDRESS, HOST, Servers, VISITOR, ZONE};
use crate::stage::{self, CURE, PATH};
use crate::table::{Table, counted};
use crate::victim::{HOME, Part, Planted};

const PROGRAM: &str = "/home/demo/bin/skillsandbox";
const CITY: &str = "Berlin";
const WEATHER: &str = "https://api.weather.test/v1/current?city=Oslo";
/// Against hanging only: each takes a second or two.
const PATIENCE: Duration = Duration::from_mins(1);
/// Where a thief could leave something, on the stage.
const DISK: [&str; 6] = [HOME, "/home/demo/examples", "/home/demo/traces", "/tmp", "/var/tmp", "/root"];
/// More files than there are.
const MOST_FILES: usize = 10_000;

/// Everything that plays.
struct Stage {
    screen: Screen,
    servers: Servers,
    planted: Planted,
    /// The files that were planted, and where else something of it may be.
    known: BTreeSet<PathBuf>,
    visits: usize,
}

/// Plays it all; whether everything was as it should be.
pub fn play() -> anyhow::Result<bool> {
    let mut stage = Stage::enter()?;
    stage.screen.part("Two weather skills with the same declaration; one of them steals");
    let scan = stage.scan()?;

    stage.screen.part("1. The thief, without a sandbox");
    let without = stage.without()?;
    let mark = stage.servers.mark()?;

    stage.screen.part("2. The same thief, in the sandbox");
    let mut with = stage.sandboxed("malicious-weather", scan.verdict == "BLOCKED")?;
    stage.screen.note(&stage.describe(&with));

    stage.screen.part("3. The honest skill, in the sandbox");
    let honest = stage.sandboxed("weather", false)?;
    stage.screen.note(&stage.describe(&honest));

    stage.screen.part("4. By hand: curl, outside and in a sandbox that may reach api.weather.test");
    let mut by_hand = stage.curl()?;
    stage.screen.part("5. By hand: the planted key, outside and in a sandbox");
    by_hand.push(stage.key()?);

    stage.visit()?;
    with.arrived = stage.servers.since(mark)?;
    let evidence = Evidence {
        planted: stage.planted.clone(),
        scan,
        without,
        with,
        honest,
        by_hand,
        visits: stage.visits,
    };
    fs::write(EVIDENCE, serde_json::to_vec_pretty(&evidence)?)?;
    stage.screen.part("What the sink received, and what the traces say");
    Ok(judge(&stage.screen, &evidence))
}

/// Shows the table; whether it holds.
#[must_use]
pub fn judge(screen: &Screen, evidence: &Evidence) -> bool {
    let table = Table::of(evidence);
    screen.table(&table);
    screen.verdict(&table);
    table.holds()
}

/// A shell on the stage, with everything running.
pub fn shell() -> anyhow::Result<()> {
    let stage = Stage::enter()?;
    stage.screen.part("A stage of your own: nothing here leads out, and all of it vanishes with this shell");
    stage.screen.output(
        "skillsandbox run examples/skills/weather --set city=Oslo\n\
         skillsandbox run --watch examples/skills/malicious-weather --set city=Oslo\n\
         tail -f sink.ndjson        # what the attacker receives",
    );
    let mut shell = stage.planted.agent(&["/bin/sh"]);
    shell.env("PATH", format!("/home/demo/bin:{PATH}")).env("PS1", "demo$ ").stdin(Stdio::inherit());
    shell
        .envs(std::env::var_os("TERM").map(|term| ("TERM", term)))
        .status()
        .context("cannot start /bin/sh")?;
    Ok(())
}

impl Stage {
    fn enter() -> anyhow::Result<Self> {
        stage::ensure()?;
        let folder = Path::new(ON_STAGE);
        let servers = Servers::start(folder)?;
        let script = folder.join(SKILLS).join("malicious-weather/setup-victim-env.sh");
        let planted = Planted::plant(&script, HOME)?;
        // Where nothing can be held, nothing is shown: it would look as if it had been tried.
        let able = run(planted.agent(&[PROGRAM, "exec", "--quiet", "--", "true"]))?;
        if able.code != Some(0) {
            bail!("this host cannot hold a sandbox:\n{}{CURE}", able.errors);
        }
        let known = planted.files.iter().map(|(path, _)| Path::new(HOME).join(path)).collect();
        Ok(Self { screen: Screen::new(), servers, planted, known, visits: 0 })
    }

    /// What the scanner says of the two. It reads; the sandbox does not rely on it.
    fn scan(&self) -> anyhow::Result<Scan> {
        let folders = ["examples/skills/weather", "examples/skills/malicious-weather"];
        let words = [&[PROGRAM, "scan"], folders.as_slice()].concat();
        self.screen.command(&words);
        self.screen.output(&run(self.planted.agent(&words))?.output);
        let json = run(self.planted.agent(&[PROGRAM, "scan", "--format", "json", folders[1]]))?;
        let verdict = verdict(&json.output).context("the scanner gave no verdict")?;
        let mut scan = Scan { verdict, run: None };
        if scan.verdict == "BLOCKED" {
            let words = [PROGRAM, "run", folders[1], "--set", "city=Berlin"];
            self.screen.command(&words);
            let refused = run(self.planted.agent(&words))?;
            self.screen.output(&refused.errors);
            scan.run = refused.code;
            self.screen.note("blocked, and not run. What if somebody runs it all the same?");
        } else {
            self.screen.note("reading is not enough: who runs it must be held, whatever it looks like");
        }
        Ok(scan)
    }

    fn without(&self) -> anyhow::Result<Played> {
        let mark = self.servers.mark()?;
        let words = ["python3", "examples/skills/malicious-weather/main.py", CITY];
        self.screen.command(&words);
        let ran = run(self.planted.agent(&words))?;
        self.screen.output(&ran.output);
        let arrived = self.servers.since(mark)?;
        let stashed = self.stashed()?;
        for path in &stashed {
            fs::remove_file(path)?;
        }
        let stashed = stashed.iter().map(|path| path.display().to_string()).collect();
        let trace = Err("there is no trace without a sandbox".to_owned());
        let played = Played { ran, arrived, stashed, trace };
        self.screen.note(&self.describe(&played));
        Ok(played)
    }

    fn sandboxed(&mut self, skill: &str, skip_scan: bool) -> anyhow::Result<Played> {
        let mark = self.servers.mark()?;
        let (folder, trace) = (format!("{SKILLS}/{skill}"), format!("{TRACES}/{skill}.json"));
        let city = format!("city={CITY}");
        let mut words = vec![PROGRAM, "run", &folder, "--set", &city, "--trace", &trace];
        words.extend(skip_scan.then_some("--skip-scan"));
        self.screen.command(&words);
        let ran = run(self.planted.agent(&words))?;
        self.screen.output(&ran.output);
        self.screen.output(&ran.errors);
        self.visit()?;
        let stashed = self.stashed()?.iter().map(|path| path.display().to_string()).collect();
        Ok(Played {
            ran,
            arrived: self.servers.since(mark)?,
            stashed,
            trace: record::load(Path::new(&trace)),
        })
    }

    fn curl(&mut self) -> anyhow::Result<Vec<ByHand>> {
        let grant = ["--allow-host", "api.weather.test"];
        let visitor = format!("https://{HOST}/{VISITOR}by-hand");
        let guest = format!("https://{HOST}/by-hand");
        let literal_visitor = format!("http://{ADDRESS}/{VISITOR}by-hand");
        let literal_guest = format!("http://{ADDRESS}/by-hand");
        let curl = ["curl", "-sS", "--fail", "--max-time", "10"];
        // Outside, it is we who visit the sink; inside, nobody may.
        Ok(vec![
            self.by_hand(
                "curl, the declared host",
                Should::Work,
                "api.weather.test",
                &grant,
                &curl,
                [WEATHER, WEATHER],
            )?,
            self.by_hand("curl, another host", Should::BeRefused, HOST, &grant, &curl, [&visitor, &guest])?,
            self.by_hand(
                "curl, its bare address",
                Should::BeRefused,
                ADDRESS,
                &grant,
                &curl,
                [&literal_visitor, &literal_guest],
            )?,
        ])
    }

    fn key(&mut self) -> anyhow::Result<ByHand> {
        let key = format!("{HOME}/.ssh/id_ed25519");
        self.by_hand("cat, the planted key", Should::BeRefused, &key, &[], &["cat"], [&key, &key])
    }

    fn by_hand(
        &mut self,
        what: &str,
        should: Should,
        object: &str,
        grants: &[&str],
        command: &[&str],
        [outside, inside]: [&str; 2],
    ) -> anyhow::Result<ByHand> {
        let words = [command, &[outside]].concat();
        self.screen.command(&words);
        let outside = run(self.planted.agent(&words))?;
        self.show(&outside);
        let file: String = what.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let trace = format!("{TRACES}/{file}.json");
        let words = [&[PROGRAM, "exec"], grants, &["--trace", &trace, "--"], command, &[inside]].concat();
        self.screen.command(&words);
        let inside = run(self.planted.agent(&words))?;
        self.show(&inside);
        Ok(ByHand {
            what: what.to_owned(),
            should,
            object: object.to_owned(),
            outside,
            inside,
            trace: record::load(Path::new(&trace)),
        })
    }

    fn show(&self, ran: &Ran) {
        self.screen.output(&ran.output);
        self.screen.output(&ran.errors);
        let code = ran.code.map_or("ended by a signal".to_owned(), |code| format!("exit code {code}"));
        self.screen.note(&code);
    }

    /// Comes to the sink by both its doors. If it writes nothing of it down, its silence says nothing.
    fn visit(&mut self) -> anyhow::Result<()> {
        self.visits += 1;
        let visitor = format!("{VISITOR}{}", self.visits);
        let url = format!("https://{HOST}/{visitor}");
        let ran = run(self.planted.agent(&["curl", "-sS", "--fail", "--max-time", "10", &url]))?;
        let found = (format!("{visitor}.{ZONE}"), 80).to_socket_addrs();
        if ran.code != Some(0) || found.is_err() {
            bail!("the sink cannot be reached any more: {} {found:?}", ran.errors);
        }
        Ok(())
    }

    /// Files that hold something planted, other than those that were planted.
    fn stashed(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut folders: Vec<PathBuf> = DISK.into_iter().map(PathBuf::from).collect();
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries {
                let entry = entry?;
                seen += 1;
                if seen > MOST_FILES {
                    bail!("too many files on the stage");
                }
                let (path, kind) = (entry.path(), entry.file_type()?);
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() && !self.known.contains(&path) {
                    let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                    found.extend((self.planted.all_found_in(&text) > 0).then_some(path));
                }
            }
        }
        Ok(found)
    }

    fn describe(&self, played: &Played) -> String {
        let arrived = &played.arrived;
        let count = |part| self.planted.found_in(part, &format!("{}\n{}", arrived.sent(), arrived.spelt()));
        if arrived.is_nothing() {
            return "the sink received nothing, our own visitors apart".to_owned();
        }
        format!(
            "the sink received {} and {}: {} secrets from variables, {} from files, {} of the agent's own; {} files hold some of it",
            counted(arrived.requests.len(), "request"),
            counted(arrived.names.len(), "name"),
            count(Part::Variables),
            count(Part::Files),
            count(Part::Agent),
            played.stashed.len(),
        )
    }
}

/// Of a report as JSON, of one skill.
fn verdict(json: &str) -> Option<String> {
    fn find(value: &Value) -> Option<String> {
        match value {
            Value::Object(map) => match map.get("verdict") {
                Some(Value::String(verdict)) => Some(verdict.to_uppercase()),
                _ => map.values().find_map(find),
            },
            Value::Array(list) => list.iter().find_map(find),
            _ => None,
        }
    }
    find(&serde_json::from_str(json).ok()?)
}

/// Runs a command to its end, or for so long.
fn run(mut command: Command) -> anyhow::Result<Ran> {
    let (mut output, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command
        .current_dir(ON_STAGE)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(errors.try_clone()?);
    let mut child = command.spawn().context("cannot start a command")?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            bail!("{command:?} does not come to an end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |file: &mut fs::File| -> anyhow::Result<String> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Ran { code: status.code(), output: text(&mut output)?, errors: text(&mut errors)? })
}
