//! How much slower a program gets when each thing that it does is shown as it happens.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::setup;
use crate::workspace::{cargo, succeed, target_dir};

/// Runs of each kind, in turns; medians are compared.
const RUNS: usize = 5;

/// Looks for 20,000 files, each another one, so that nothing is folded; in between it works, so that there are about 10,000 in a second.
/// Says how long that took, by its own clock.
const PROGRAM: &str = "
import time, os
count = 20000
start = time.perf_counter()
for number in range(count):
    try: os.close(os.open('/tmp/%d' % number, 0))
    except OSError: pass
    total = 0
    for step in range(600): total += step
print(time.perf_counter() - start)
";

pub(crate) fn run() -> anyhow::Result<()> {
    let environment = setup::run()?;
    succeed(cargo(["build", "--release", "--package", "skillsandbox"]).envs(environment))?;
    let binary = target_dir()?.join("release/skillsandbox");
    let (mut unseen, mut recorded, mut watched) = (Vec::new(), Vec::new(), Vec::new());
    let mut lines = 0;
    for _ in 0..RUNS {
        unseen.push(once(&binary, &["--observe", "off"])?.0);
        recorded.push(once(&binary, &[])?.0);
        let (seconds, shown) = once(&binary, &["--watch"])?;
        watched.push(seconds);
        lines = shown;
    }
    let [unseen, recorded, watched] = [unseen, recorded, watched].map(median);
    println!("20,000 files looked for, with work in between, by the program's own clock; medians of {RUNS}");
    println!("  not observed         {unseen:.3} s, {:.0} a second", 20_000.0 / unseen);
    println!("  recorded             {recorded:.3} s, {:.2} x", recorded / unseen);
    println!("  recorded and shown   {watched:.3} s, {:.3} x recorded; {lines} lines", watched / recorded);
    Ok(())
}

/// Seconds that the program says it took, and lines that were shown. Whoever shows them reads as fast as they come.
fn once(binary: &Path, flags: &[&str]) -> anyhow::Result<(f64, usize)> {
    let mut command = Command::new(binary);
    command.args(["exec", "--quiet", "--no-history"]).args(flags).args(["--", "python3", "-c", PROGRAM]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start it")?;
    let mut shown = child.stderr.take().context("it has an output")?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        shown.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).lines().count())
    });
    let mut said = String::new();
    child.stdout.take().context("it has an output")?.read_to_string(&mut said)?;
    child.wait()?;
    let lines = reader.join().map_err(|_| anyhow::anyhow!("the reader failed"))??;
    Ok((said.trim().parse().with_context(|| format!("it said {said:?}"))?, lines))
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or_default()
}
