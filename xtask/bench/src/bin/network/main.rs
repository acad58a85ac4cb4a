//! What name-bound egress costs: connections, lookups, bytes and the start, of the library (`Plan::spawn`) and of the released command
//! (`skillsandbox exec`, with trace and history), each beside the same client without a sandbox in the same run, in turns. Everything is
//! in a network namespace of its own (`stage.rs`).
//!
//! ```text
//! cargo xtask bench network
//! ```
//!
//! The client measures itself, from when it knows the address of the name; what its start costs is a row of its own. Where the command is
//! comes from the variable `SKILLSANDBOX`; otherwise it is looked for beside this program.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod client;
mod stage;

use std::path::{Path, PathBuf};
use std::process::Command as Bare;
use std::time::Instant;

use skillsandbox_enforcer::egress::{NetworkRule, Protocol};
use skillsandbox_enforcer::{Command, Plan};

use stage::{NAME, PORT, RESOLVER};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = |position: usize, default| {
        arguments.get(position).and_then(|count| count.parse().ok()).unwrap_or(default)
    };
    let part = arguments.first().map(String::as_str).unwrap_or_default();
    if part == "client" {
        return client::run(&arguments[1], &arguments[2], count(3, 0));
    }
    if !["connections", "download", "upload", "concurrent", "start"].contains(&part) {
        return println!("network connections|download|upload|concurrent|start [TURNS]");
    }
    let folder = tempfile::tempdir().unwrap();
    if let Some(status) = stage::run_there(folder.path()) {
        drop(folder);
        std::process::exit(status.code().unwrap_or(1));
    }
    stage::serve();
    let ways = [Way::Bare, Way::Library(Protocol::Tcp), Way::Library(Protocol::Http)];
    let ways: Vec<Way> = ways.into_iter().chain(command().map(Way::Command)).collect();
    match part {
        "connections" => connections(&ways, folder.path(), 500, count(1, 15)),
        "download" | "upload" => gibibyte(&ways, folder.path(), part, count(1, 5)),
        "concurrent" => concurrent(&ways, folder.path(), 200, count(1, 9)),
        _ => start(count(1, 200)),
    }
}

/// The released command, if it was built.
fn command() -> Option<PathBuf> {
    let beside = || std::env::current_exe().ok().map(|own| own.with_file_name("skillsandbox"));
    let path = std::env::var_os("SKILLSANDBOX").map(PathBuf::from).or_else(beside)?;
    if !path.is_file() {
        println!("no row for the command: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// How the client is started.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    Bare,
    /// `Plan::spawn`, with a grant of this protocol.
    Library(Protocol),
    /// `skillsandbox exec`.
    Command(PathBuf),
}

impl Way {
    fn label(&self) -> String {
        match self {
            Self::Bare => "bare".to_owned(),
            Self::Library(protocol) => format!("Plan::spawn, {protocol}"),
            Self::Command(_) => "skillsandbox exec".to_owned(),
        }
    }

    /// The numbers that the client prints. What a run leaves behind is left in the folder.
    fn run(&self, what: &str, count: usize, folder: &Path) -> Vec<f64> {
        let own = std::env::current_exe().unwrap();
        let arguments = ["client", what, &format!("{NAME}:{PORT}"), &count.to_string()];
        match self {
            Self::Bare => output(Bare::new(own).args(arguments)),
            Self::Library(protocol) => {
                let command = Command::new(own).args(arguments).captured(10_000);
                let outcome = plan(*protocol).spawn(&command).unwrap().wait().unwrap();
                assert!(outcome.success(), "{}", outcome.stderr.text());
                numbers(&outcome.stdout.bytes)
            }
            Self::Command(path) => {
                let mut run = Bare::new(path);
                run.args(["exec", "--max-processes", "1024", "--allow-host", &format!("{NAME}:{PORT}")]);
                run.args(["--resolver", &RESOLVER.to_string(), "--read"]).arg(&own).arg("--").arg(&own);
                output(run.args(arguments).env("HOME", folder).env("XDG_STATE_HOME", folder.join("state")))
            }
        }
    }
}

fn plan(protocol: Protocol) -> Plan {
    let rule = NetworkRule::domain(NAME).unwrap().ports([PORT]).protocol(protocol);
    let own = std::env::current_exe().unwrap();
    Plan::builder().read(own).egress(rule).resolver(RESOLVER).build().unwrap()
}

fn output(command: &mut Bare) -> Vec<f64> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    numbers(&output.stdout)
}

fn numbers(output: &[u8]) -> Vec<f64> {
    String::from_utf8_lossy(output).split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// The number below which so many of a hundred lie, in milliseconds.
fn percentile(times: &[f64], part: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[(times.len() * part).div_ceil(100).max(1) - 1] * 1e3
}

/// Runs each in turn, another one first each time; what each has printed, by way.
fn take_turns(ways: &[Way], what: &str, count: usize, folder: &Path, turns: usize) -> Vec<Vec<Vec<f64>>> {
    let mut printed = vec![Vec::new(); ways.len()];
    for turn in 0..turns {
        for step in 0..ways.len() {
            let place = (turn + step) % ways.len();
            printed[place].push(ways[place].run(what, count, folder));
        }
    }
    printed
}

/// The first number of each run.
fn firsts(printed: &[Vec<f64>]) -> Vec<f64> {
    printed.iter().map(|numbers| numbers[0]).collect()
}

fn connections(ways: &[Way], folder: &Path, count: usize, turns: usize) {
    println!("one after the other, {count} times, medians and p90 of {turns}, in turns");
    let mut without_lookups = 0.0;
    for (what, title) in [
        ("once", "a connection, the name looked up once before"),
        ("each", "a lookup and a connection"),
        ("lookup", "a lookup alone"),
    ] {
        println!("{title}:");
        let printed: Vec<_> =
            take_turns(ways, what, count, folder, turns).iter().map(|one| firsts(one)).collect();
        let bare = percentile(&printed[0], 50);
        if what == "once" {
            without_lookups = bare;
        }
        for (way, times) in ways.iter().zip(&printed) {
            let (median, p90) = (percentile(times, 50), percentile(times, 90));
            print!("{median:9.2} ms, p90 {p90:9.2} ms  {:5.2} x bare", median / bare);
            if what == "each" {
                print!(", {:5.2} x bare without lookups", median / without_lookups);
            }
            println!("  {}", way.label());
        }
    }
}

fn gibibyte(ways: &[Way], folder: &Path, what: &str, turns: usize) {
    // The gate for HTTP wants to read what is said, and megabytes of zeros are not.
    let ways: Vec<_> = ways.iter().filter(|way| **way != Way::Library(Protocol::Http)).cloned().collect();
    println!("1 GiB, {what}, medians and p90 of {turns}, in turns");
    let printed: Vec<_> = take_turns(&ways, what, 0, folder, turns).iter().map(|one| firsts(one)).collect();
    let bare = percentile(&printed[0], 50);
    for (way, times) in ways.iter().zip(&printed) {
        let (median, p90) = (percentile(times, 50), percentile(times, 90));
        println!(
            "{median:9.2} ms, p90 {p90:9.2} ms  {:5.2} of the speed of bare  {}",
            bare / median,
            way.label()
        );
    }
}

fn concurrent(ways: &[Way], folder: &Path, count: usize, turns: usize) {
    println!(
        "{count} connections at once, medians of {turns}, in turns; connected (p50, p99), answered (p50, p99)"
    );
    let printed = take_turns(ways, "concurrent", count, folder, turns);
    for (way, printed) in ways.iter().zip(&printed) {
        let column = |place: usize| {
            let times: Vec<f64> = printed.iter().map(|numbers| numbers[place]).collect();
            percentile(&times, 50)
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(column);
        println!("{a:7.2} {b:7.2} ms   {c:7.2} {d:7.2} ms  {}", way.label());
    }
}

/// What a grant of a name adds to the start.
fn start(count: usize) {
    let without = Plan::builder().build().unwrap();
    let with = plan(Protocol::Tcp);
    let command = Command::new("/bin/true");
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..count {
        for (plan, times) in [(&without, &mut first), (&with, &mut second)] {
            let begin = Instant::now();
            assert!(plan.spawn(&command).unwrap().wait().unwrap().success());
            times.push(begin.elapsed().as_secs_f64());
        }
    }
    let (first, second) = (percentile(&first, 50), percentile(&second, 50));
    println!("a run of /bin/true by Plan::spawn, medians of {count}, in turns");
    println!("{first:8.3} ms  no network");
    println!("{second:8.3} ms  one name granted: {:+.3} ms", second - first);
}
