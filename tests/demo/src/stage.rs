//! The stage: namespaces of its own, that lead nowhere.
//!
//! `unshare` (util-linux) makes them, for root and for an ordinary user alike, without any right of the machine; `scene/stage.sh` sets the
//! scenery. Processes are counted from 1 there, so an attack without a sandbox sees those of the stage, and all of them end with it.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::place::{ARRIVED, Place};

/// On the stage, for everybody. Where the system keeps programs, and nobody's own.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Of the caller's variables, the few that say what a screen can do. All others stay outside: somebody's real secrets may be among them.
const KEPT: [&str; 4] = ["TERM", "NO_COLOR", "COLUMNS", "RUST_BACKTRACE"];
const PROGRAMS: [&str; 4] = ["python3", "curl", "ip", "mount"];
/// Where `ip` and `mount` may be besides [`PATH`].
const ROOTS_PATH: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// What to do where there is no stage, or no sandbox on it.
pub const CURE: &str = "\
`skillsandbox doctor` says what this host lacks; docs/kernel-support.md says more. A container needs no capability, a user who is not root, and
  Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined
  Podman: --security-opt seccomp=unconfined --security-opt unmask=ALL";

/// Plays there. `act` are the arguments of this program on the stage; the answer is its exit code.
pub fn play(place: &Place, act: &[&str]) -> anyhow::Result<i32> {
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|program| !is_there(program)).collect();
    if !missing.is_empty() {
        bail!("the stage needs {}, in {PATH}:{ROOTS_PATH}: install them", missing.join(", "));
    }
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--net",
        "--mount",
        "--ipc",
        "--pid",
        "--fork",
        "--mount-proc",
    ]);
    // Should this program be killed, nothing goes on there.
    command
        .args(["--kill-child", "--", "/bin/sh"])
        .arg(place.path().join("scene/stage.sh"))
        .arg(place.path());
    command.arg(place.program()).arg(std::env::current_exe()?).args(act);
    command.env_clear().env("PATH", PATH).env("LANG", "C.UTF-8");
    for name in KEPT {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    if !act.contains(&"shell") {
        command.stdin(Stdio::null());
    }
    let status = command.status().context("unshare (util-linux) is needed: install it")?;
    if !place.path().join(ARRIVED).exists() {
        bail!("no stage can be set up here ({status}).\n{CURE}");
    }
    status.code().with_context(|| format!("the demo was ended: {status}"))
}

fn is_there(program: &str) -> bool {
    let folders = [PATH, ROOTS_PATH].into_iter().flat_map(|path| path.split(':'));
    folders.into_iter().any(|folder| Path::new(folder).join(program).is_file())
}

/// Fails unless this process is on a stage, where no route leads anywhere. What follows sends credentials about.
pub fn ensure() -> anyhow::Result<()> {
    let routes = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let leading = leading_out(&routes("/proc/net/route"), &routes("/proc/net/ipv6_route"));
    if !leading.is_empty() {
        bail!("this is no stage: {} leads out", leading.join(", "));
    }
    if std::process::id() != 1 {
        bail!("this is no stage: processes that are not the demo's may be in sight");
    }
    std::fs::write(ARRIVED, "").context("cannot write to the demo's folder")
}

/// Interfaces with a route, other than loopback: the first word of a line for IPv4, below a heading; the last for IPv6 (proc(5)).
fn leading_out(v4: &str, v6: &str) -> Vec<String> {
    let v4 = v4.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let v6 = v6.lines().filter_map(|line| line.split_whitespace().last());
    let mut names: Vec<String> = v4.chain(v6).filter(|name| *name != "lo").map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_that_leads_out_is_seen() {
        let v4 = "Iface\tDestination\tGateway\neth0\t00000000\t010011AC\neth0\t000011AC\t00000000\n";
        let v6 = "00000000000000000000000000000001 80 0 00 0 00000000 00000002 00000000 80200001       lo\n";
        assert_eq!(leading_out(v4, v6), ["eth0"]);
        assert_eq!(leading_out("Iface\tDestination\n", v6), Vec::<String>::new());
        assert_eq!(leading_out("", &v6.replace("lo", "wlan0")), ["wlan0"]);
        assert_eq!(leading_out("", ""), Vec::<String>::new());
    }

    #[test]
    fn a_process_of_the_machine_is_not_on_a_stage() {
        ensure().unwrap_err();
    }
}
