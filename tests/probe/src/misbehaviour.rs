//! Ill-behaved programs that a driver watches from outside, rather than techniques that judge themselves.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::setsid;

use crate::sys;

/// Bytes that `flood` writes to each of the two.
const FLOOD: usize = 8 << 20;
/// How often a daemon writes.
const TICK: Duration = Duration::from_millis(20);
/// Processes that `stubborn` leaves.
const WORKERS: usize = 3;

/// Writes 8 MiB to standard output and to standard error, taking turns.
pub fn flood() -> io::Result<()> {
    let line = [b'x'; 4096];
    for _ in 0..FLOOD / line.len() {
        io::stdout().write_all(&line)?;
        io::stderr().write_all(&line)?;
    }
    Ok(())
}

/// Uses a whole processor for so long.
pub fn spin(seconds: u64) {
    let start = Instant::now();
    let mut number = 0_u64;
    while start.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..10_000 {
            number = std::hint::black_box(number.wrapping_mul(31).wrapping_add(1));
        }
    }
}

/// Leaves a daemon (two forks and a session of its own) that adds a line to `file` every 20 ms, for so many seconds.
pub fn daemonise(seconds: u64, file: &Path) -> io::Result<()> {
    if sys::fork()?.is_some() {
        return Ok(());
    }
    let _ = setsid();
    if let Ok(None) = sys::fork() {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(seconds) {
            let opened = OpenOptions::new().create(true).append(true).open(file);
            let _ = opened.and_then(|mut file| writeln!(file, "still here"));
            sleep(TICK);
        }
    }
    sys::exit_now(0)
}

/// Ignores every signal one can, starts workers in sessions of their own that do the same, and stays for so many seconds.
pub fn stubborn(seconds: u64) -> io::Result<()> {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGPIPE] {
        sys::ignore(signal)?;
    }
    for _ in 0..WORKERS {
        if sys::fork()?.is_none() {
            let _ = setsid();
            sleep(Duration::from_secs(seconds));
            sys::exit_now(0);
        }
    }
    writeln!(io::stdout(), "stubborn")?;
    io::stdout().flush()?;
    sleep(Duration::from_secs(seconds));
    Ok(())
}
