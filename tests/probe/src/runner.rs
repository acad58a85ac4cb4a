//! Runs techniques one after the other, each in a process of its own, so that a kill is an outcome and not the end.

use std::io::{self, Read as _, Write};
use std::os::fd::AsFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setpgid, setsid};

use crate::outcome::{Report, Stopped, Tried, Verdict};
use crate::scene::Scene;
use crate::sys;
use crate::techniques::{Group, Technique};

/// How often a running technique is looked at.
const TICK: Duration = Duration::from_millis(1);
/// Bytes of detail that are passed on.
const MAX_DETAIL: u64 = 4096;

/// Signals that mean a refusal: the filter's; the kernel's for want of memory or by a stricter filter; the processor's where a door is
/// shut; those of limits.
const STOPS: &[Signal] =
    &[Signal::SIGSYS, Signal::SIGKILL, Signal::SIGSEGV, Signal::SIGXFSZ, Signal::SIGXCPU];

/// Where a technique runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In a child of its own.
    Child,
    /// In this process: for sandboxes that let nobody fork. A kill then ends everything.
    None,
}

/// Runs the techniques and writes a [`Report`] a line.
pub fn attack(
    scene: &Scene,
    techniques: &[&Technique],
    isolation: Isolation,
    out: &mut impl Write,
) -> io::Result<()> {
    for technique in techniques {
        let tried = match isolation {
            Isolation::Child => in_child(scene, technique),
            Isolation::None => caught(scene, technique),
        };
        serde_json::to_writer(&mut *out, &report(technique, tried))?;
        out.write_all(b"\n")?;
        // Every line at once: what was found before the end must not be lost with it.
        out.flush()?;
    }
    Ok(())
}

fn report(technique: &Technique, tried: Tried) -> Report {
    let (verdict, detail) = match tried {
        Ok(detail) => (Verdict::Through, detail),
        Err(Stopped::Held(why)) => (Verdict::Held, why),
        Err(Stopped::Unable(why)) => (Verdict::Unable, why),
    };
    Report { technique: technique.name.into(), group: technique.group.name().into(), verdict, detail }
}

fn in_child(scene: &Scene, technique: &Technique) -> Tried {
    let setup = |error: io::Error| Stopped::unable(format!("no child could be started: {error}"));
    let (mut reader, mut writer) = io::pipe().map_err(setup)?;
    let Some(child) = sys::fork().map_err(setup)? else {
        // Away from the terminal that `vhangup` would take from the user; what is about terminals keeps it.
        if technique.group == Group::Terminal {
            let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
        } else {
            let _ = setsid();
        }
        let _ = sys::prctl(libc::PR_SET_PDEATHSIG, 9);
        let (mark, detail) = match caught(scene, technique) {
            Ok(detail) => ('t', detail),
            Err(Stopped::Held(why)) => ('h', why),
            Err(Stopped::Unable(why)) => ('u', why),
        };
        let written = writer.write_all(format!("{mark}{detail}").as_bytes());
        sys::exit_now(i32::from(written.is_err()));
    };
    drop(writer);
    // What a technique left behind may hold the pipe open.
    let _ = fcntl(reader.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK));
    let ended = wait(child, Duration::from_secs(technique.seconds()));
    let _ = killpg(child, Signal::SIGKILL);
    let mut said = Vec::new();
    let _ = (&mut reader).take(MAX_DETAIL).read_to_end(&mut said);
    judge(ended, &String::from_utf8_lossy(&said))
}

fn caught(scene: &Scene, technique: &Technique) -> Tried {
    catch_unwind(AssertUnwindSafe(|| (technique.run)(scene)))
        .unwrap_or_else(|_| Err(Stopped::unable("the technique itself failed (panic)")))
}

/// Waits for a child, and ends it after its time. `None`: its time was over.
fn wait(child: Pid, limit: Duration) -> Option<WaitStatus> {
    let start = Instant::now();
    while start.elapsed() < limit {
        match waitpid(child, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => sleep(TICK),
            Ok(status) => return Some(status),
            Err(_) => return None,
        }
    }
    let _ = kill(child, Signal::SIGKILL);
    let _ = killpg(child, Signal::SIGKILL);
    let _ = waitpid(child, None);
    None
}

/// What a child said counts, even if it was ended afterwards. One that said nothing was stopped by what ended it.
fn judge(ended: Option<WaitStatus>, said: &str) -> Tried {
    let mut characters = said.chars();
    match (characters.next(), characters.as_str().to_owned()) {
        (Some('t'), detail) => return Ok(detail),
        (Some('h'), why) => return Err(Stopped::Held(why)),
        (Some('u'), why) => return Err(Stopped::Unable(why)),
        _ => {}
    }
    match ended {
        Some(WaitStatus::Signaled(_, signal, _)) if STOPS.contains(&signal) => {
            Err(Stopped::held(format!("killed by {signal}")))
        }
        Some(status) => Err(Stopped::unable(format!("the technique ended early: {status:?}"))),
        None => Err(Stopped::unable("did not end in its time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_holds_and_a_crash_or_a_hang_proves_nothing() {
        let pid = Pid::from_raw(1);
        let killed = |signal| judge(Some(WaitStatus::Signaled(pid, signal, false)), "");
        assert_eq!(killed(Signal::SIGSYS), Err(Stopped::held("killed by SIGSYS")));
        assert!(matches!(killed(Signal::SIGABRT), Err(Stopped::Unable(_))));
        assert!(matches!(judge(Some(WaitStatus::Exited(pid, 1)), ""), Err(Stopped::Unable(_))));
        assert!(matches!(judge(None, ""), Err(Stopped::Unable(_))));
    }

    #[test]
    fn what_was_said_counts_however_it_ended() {
        let killed = Some(WaitStatus::Signaled(Pid::from_raw(1), Signal::SIGKILL, false));
        assert_eq!(judge(killed, "tread it"), Ok("read it".into()));
        assert_eq!(judge(None, "hEPERM"), Err(Stopped::held("EPERM")));
    }
}
