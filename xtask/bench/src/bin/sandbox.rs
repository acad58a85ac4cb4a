//! What the sandbox costs: to start, to go on in, and after thousands of runs. Everything is measured beside its alternative in the same
//! run, in turns; figures of different runs do not compare.
//!
//! ```text
//! cargo xtask bench enforcer      start, steady and soak, one after the other
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::path::Path;
use std::process::{Command as Bare, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use skillsandbox_enforcer::{Command, ObserveLevel, ObservedEvent, Observer, Plan, PlanBuilder};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|count| count.parse().ok());
    match what.as_str() {
        "start" => start(count.unwrap_or(200)),
        "steady" => steady(count.unwrap_or(10)),
        "soak" => soak(count.unwrap_or(2000)),
        "ends" => ends(count.unwrap_or(50)),
        "observed" => observed(count.unwrap_or(10)),
        "once" => once(),
        _ => println!("sandbox start|steady|observed|soak|ends [COUNT]"),
    }
}

/// The policy of the comparison: system folders, a private /tmp and home, an empty environment, no network, no limits.
fn policy() -> PlanBuilder {
    Plan::builder()
}

/// The same as far as bubblewrap can express it. It has neither Landlock nor a filter of calls here.
fn bubblewrap() -> Option<Vec<String>> {
    let there = Bare::new("bwrap")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !there {
        println!("bubblewrap is not installed: no row for it");
        return None;
    }
    let mut words: Vec<String> =
        "bwrap --unshare-all --new-session --die-with-parent --clearenv --uid 1000 --gid 1000 --hostname \
         sandbox --ro-bind /usr /usr --proc /proc --dev /dev --tmpfs /tmp --tmpfs /home"
            .split_whitespace()
            .map(str::to_owned)
            .collect();
    for name in ["bin", "sbin", "lib", "lib64"] {
        if std::fs::read_link(Path::new("/").join(name)).is_ok() {
            words.extend(["--symlink".into(), format!("usr/{name}"), format!("/{name}")]);
        } else {
            words.extend(["--ro-bind-try".into(), format!("/{name}"), format!("/{name}")]);
        }
    }
    // What this sandbox has of /etc as well.
    let inspection = policy().build().unwrap().inspect(&Command::new("/bin/true")).unwrap();
    for grant in inspection.grants.iter().filter(|grant| grant.path.starts_with("/etc")) {
        let path = grant.path.display().to_string();
        words.extend(["--ro-bind".into(), path.clone(), path]);
    }
    Some(words)
}

/// A name, and what is timed under it.
type Row<'a> = (&'static str, Box<dyn FnMut() + 'a>);

fn start(count: usize) {
    let plan = policy().build().unwrap();
    let command = Command::new("/bin/true");
    let bwrap = bubblewrap();
    // Without the pieces of /etc that this sandbox has, for whoever does not want them there.
    let fewer: Option<Vec<String>> = bwrap.as_ref().map(|words| {
        let etc = words.iter().position(|word| word.starts_with("/etc")).map_or(words.len(), |at| at - 1);
        words[..etc].to_vec()
    });
    let own = std::env::current_exe().unwrap();
    let mut rows: Vec<Row<'_>> = vec![
        ("bare fork and exec", Box::new(|| bare(Bare::new("/bin/true")))),
        (
            "spawn from a program that runs",
            Box::new(|| assert!(plan.spawn(&command).unwrap().wait().unwrap().success())),
        ),
        (
            "a program that starts, spawns and ends",
            Box::new(|| {
                let mut program = Bare::new(&own);
                program.arg("once");
                bare(program);
            }),
        ),
    ];
    for (name, words) in [("bubblewrap, without /etc", &fewer), ("bubblewrap", &bwrap)] {
        if let Some(words) = words {
            rows.push((
                name,
                Box::new(move || {
                    let mut program = Bare::new(&words[0]);
                    program.args(&words[1..]).arg("/bin/true");
                    bare(program);
                }),
            ));
        }
    }
    let medians = in_turns(count, &mut rows);
    println!("start of /bin/true, medians of {count}, in turns");
    let reference = bwrap.is_some().then(|| medians[medians.len() - 1]);
    for ((name, _), median) in rows.iter().zip(&medians) {
        let beside = reference
            .map(|reference| format!("{:6.2} x bubblewrap", median.as_secs_f64() / reference.as_secs_f64()));
        println!(
            "{:8.3} ms  {:6.2} x bare  {}  {name}",
            median.as_secs_f64() * 1e3,
            median.as_secs_f64() / medians[0].as_secs_f64(),
            beside.unwrap_or_default()
        );
    }
}

/// For `start`: a whole program around one run.
fn once() {
    let plan = policy().build().unwrap();
    assert!(plan.spawn(&Command::new("/bin/true")).unwrap().wait().unwrap().success());
}

fn bare(mut program: Bare) {
    assert!(program.env_clear().stdin(Stdio::null()).status().unwrap().success());
}

/// Medians of each, run in turns so that whatever else the machine does hits all alike.
fn in_turns(count: usize, rows: &mut [Row<'_>]) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(count); rows.len()];
    for _ in 0..count {
        for ((_, run), times) in rows.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed());
        }
    }
    times
        .iter_mut()
        .map(|times| {
            times.sort_unstable();
            times[times.len() / 2]
        })
        .collect()
}

/// Work that says how long it took, without the start.
const STEADY: [(&str, &str); 4] = [
    (
        "python imports",
        "import json, re, asyncio, ssl, sqlite3, http.client, email, unittest, decimal, xml.etree.ElementTree",
    ),
    ("300 spawns of /bin/true", "import subprocess\nfor _ in range(300): subprocess.run(['/bin/true'])"),
    (
        "2,000 files opened and read",
        "import os\nfor _ in range(20):\n for n in range(100):\n  with open('/tmp/f%d' % n) as f: f.read()",
    ),
    ("200,000 system calls", "import os\nfor _ in range(200000): os.getppid()"),
];

fn steady(count: usize) {
    if !Path::new("/usr/bin/python3").exists() {
        println!("there is no /usr/bin/python3: nothing to compare");
        return;
    }
    let plan = policy().env("LANG", "C.UTF-8").build().unwrap();
    println!("steady state, medians of {count}, in turns; the start is not counted");
    for (name, work) in STEADY {
        let script = format!(
            "import os, time\nos.makedirs('/tmp', exist_ok=True)\nfor n in range(100): open('/tmp/f%d' % n, 'w').write('x' * 2000)\n\
             t = time.perf_counter()\n{work}\nprint(time.perf_counter() - t)\nfor n in range(100): os.remove('/tmp/f%d' % n)"
        );
        let mut bare_times = Vec::new();
        let mut own_times = Vec::new();
        for _ in 0..count {
            let output = Bare::new("/usr/bin/python3").args(["-c", &script]).env_clear().output().unwrap();
            bare_times.push(seconds(&output.stdout));
            let command = Command::new("/usr/bin/python3").args(["-c", &script]).captured(1000);
            own_times.push(seconds(&plan.spawn(&command).unwrap().wait().unwrap().stdout.bytes));
        }
        let (bare, own) = (median(&mut bare_times), median(&mut own_times));
        println!("{:8.2} ms bare  {:8.2} ms inside  {:5.3} x  {name}", bare * 1e3, own * 1e3, own / bare);
    }
}

/// Counts what it is told.
#[derive(Default)]
struct Counts(std::sync::atomic::AtomicU32);

impl Observer for Counts {
    fn observed(&self, _: &ObservedEvent) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The same work in the same sandbox, with nothing observed, with violations, and with everything.
fn observed(count: usize) {
    if !Path::new("/usr/bin/python3").exists() {
        println!("there is no /usr/bin/python3: nothing to compare");
        return;
    }
    let opens = (
        "20,000 opens of one file",
        "import os\nfor _ in range(20000): os.close(os.open('/etc/ld.so.cache', os.O_RDONLY))",
    );
    let plan = policy().env("LANG", "C.UTF-8").build().unwrap();
    println!("observed, medians of {count}, in turns; the start is not counted");
    for (name, work) in [opens].into_iter().chain(STEADY) {
        let script = format!(
            "import os, time\nfor n in range(100): open('/tmp/f%d' % n, 'w').write('x' * 2000)\nt = time.perf_counter()\n{work}\n\
             print(time.perf_counter() - t)"
        );
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        let mut seen = 0;
        for _ in 0..count {
            for (observe_level, times) in ObserveLevel::ALL.iter().copied().zip(&mut times) {
                let counts = Arc::new(Counts::default());
                let command = Command::new("/usr/bin/python3").args(["-c", &script]).captured(1000);
                let command = command.observer(counts.clone()).observe_level(observe_level);
                let outcome = plan.spawn(&command).unwrap().wait().unwrap();
                assert_eq!(outcome.lost, 0);
                times.push(seconds(&outcome.stdout.bytes));
                seen = counts.0.load(std::sync::atomic::Ordering::Relaxed);
            }
        }
        let [off, violations, full] = times.map(|mut times| median(&mut times));
        println!(
            "{:8.2} ms off  {:5.3} x violations  {:5.3} x full, {:5.2} us an event  {name}",
            off * 1e3,
            violations / off,
            full / off,
            (full - off) * 1e6 / f64::from(seen)
        );
    }
}

fn seconds(output: &[u8]) -> f64 {
    String::from_utf8_lossy(output).trim().parse().unwrap()
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn soak(count: usize) {
    let plan = policy().memory(256 << 20).processes(32).timeout(Duration::from_mins(1)).build().unwrap();
    let command = Command::new("/bin/true").captured(1000);
    let run = || assert!(plan.spawn(&command).unwrap().wait().unwrap().success());
    for _ in 0..50 {
        run();
    }
    let before = held();
    let start = Instant::now();
    for _ in 0..count {
        run();
    }
    let each = start.elapsed() / u32::try_from(count).unwrap();
    let after = held();
    println!("{count} runs one after the other, with limits: {:.2} ms each", each.as_secs_f64() * 1e3);
    println!(
        "  descriptors {} -> {}, threads {} -> {}, resident {} -> {} KiB",
        before.0, after.0, before.1, after.1, before.2, after.2
    );
    let start = Instant::now();
    for _ in 0..4 {
        let running: Vec<_> = (0..64).map(|_| plan.spawn(&command).unwrap()).collect();
        assert!(running.into_iter().all(|running| running.wait().unwrap().success()));
    }
    println!("4 times 64 at once: {:.2} ms each", start.elapsed().as_secs_f64() * 1e3 / 256.0);
    let after = held();
    println!("  descriptors {}, threads {}, resident {} KiB", after.0, after.1, after.2);
}

/// How long after its time a tree of processes that ignores every signal is gone, and after a kill.
fn ends(count: usize) {
    let script = "trap '' TERM INT HUP; for i in 1 2 3 4 5 6 7 8; do setsid sh -c \"trap '' TERM HUP; sleep 60\" & done; sleep 60";
    let command = Command::new("/bin/sh").args(["-c", script]).captured(1000);
    let limit = Duration::from_millis(150);
    let mut late: Vec<Duration> = (0..count)
        .map(|_| {
            let plan = policy().timeout(limit).build().unwrap();
            plan.spawn(&command).unwrap().wait().unwrap().duration.saturating_sub(limit)
        })
        .collect();
    late.sort_unstable();
    println!(
        "a timeout, until all of 17 processes are gone: {:.1} ms late in the middle, {:.1} at most, of {count}",
        milliseconds(late[count / 2]),
        milliseconds(late[count - 1])
    );
    let mut late: Vec<Duration> = (0..count)
        .map(|_| {
            let running = policy().build().unwrap().spawn(&command).unwrap();
            std::thread::sleep(limit);
            let start = Instant::now();
            drop(running);
            start.elapsed()
        })
        .collect();
    late.sort_unstable();
    println!(
        "a dropped handle: {:.1} ms in the middle, {:.1} at most",
        milliseconds(late[count / 2]),
        milliseconds(late[count - 1])
    );
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Descriptors, threads and resident KiB of this process.
fn held() -> (usize, usize, u64) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    (
        count("/proc/self/fd"),
        count("/proc/self/task"),
        resident.split_whitespace().next().unwrap().parse().unwrap(),
    )
}
