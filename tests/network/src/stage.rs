//! Where the tests play: a network namespace of their own.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Says to a test executable that it is on the stage, and which namespace it came from.
const VARIABLE: &str = "SKILLSANDBOX_STAGE";

/// Against hanging only: a test takes seconds.
const PATIENCE: Duration = Duration::from_mins(3);

/// Where distributions put `ip`, which is not on an ordinary user's path everywhere.
const IP: [&str; 3] = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"];

/// What is at home on the stage, without being an address of an interface: servers bind to any of it.
///
/// `9.9.0.0/16` and `2600:9::/32` are taken for addresses of everybody's.
const LOCAL: [&str; 12] = [
    "9.9.0.0/16",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.51.100.0/24",
    "2600:9::/32",
    "64:ff9b::/96",
    "fd00::/8",
    "2001:db8::/32",
    "2002::/16",
];

/// Runs the calling test in a network namespace that leads nowhere. `test` is its name, without which it would not be found again.
///
/// A test executable starts itself there once more, for this one test: so each has a process of its own, whose descriptors and
/// memory are its own too. Works for root and for an ordinary user alike, who is root of that namespace.
pub fn on_stage(test: &str, act: impl FnOnce()) {
    if let Some(outside) = std::env::var_os(VARIABLE) {
        assert_ne!(outside, namespace(), "the stage is the network that it was to keep apart");
        return act();
    }
    // The scenery is set by a shell that then becomes the test.
    let script = format!("set -e\n{}exec \"$@\"", scenery());
    let mut staged = Command::new("unshare");
    staged.args(["--user", "--map-root-user", "--net", "--", "/bin/sh", "-c", &script, "stage"]);
    staged.arg(std::env::current_exe().unwrap());
    staged.args([test, "--exact", "--nocapture", "--test-threads=1", "--include-ignored"]);
    staged.env(VARIABLE, namespace()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output =
        bounded(staged.spawn().unwrap_or_else(|error| panic!("unshare (util-linux) is needed: {error}")));
    let bytes = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&bytes);
    assert!(output.status.success(), "{test}, on the stage: {}\n{said}", output.status);
    // A name that is wrong would be a test that never ran.
    assert!(said.contains("1 passed"), "{test} was not found again:\n{said}");
}

/// Interfaces and routes; fails where anything but loopback is up, which would lead out.
fn scenery() -> String {
    let ip = ip_program();
    let mut script = format!("{ip} link set lo up\n");
    for range in LOCAL {
        let family = if range.contains(':') { "-6" } else { "-4" };
        script.extend([ip, " ", family, " route add local ", range, " dev lo\n"]);
    }
    // Unlike IPv4, IPv6 asks whose address it is that a server binds to.
    script += "echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind\n";
    // Servers and sandboxes share the descriptors of one process; a test that wants few of them says so.
    script += "ulimit -S -n \"$(ulimit -H -n)\"\n";
    script.extend(["others=$(", ip, " -o link show up | grep -v ' lo: ' || true)\n"]);
    script += "test -z \"$others\" || { echo \"the stage leads out: $others\" >&2; exit 1; }\n";
    script
}

fn ip_program() -> &'static str {
    let found = IP.into_iter().find(|path| std::path::Path::new(path).is_file());
    found.expect("ip (iproute2) is needed")
}

/// `ip …`, on the stage.
pub fn ip(arguments: &str) {
    assert!(std::env::var_os(VARIABLE).is_some(), "not on the stage");
    let output = Command::new(ip_program()).args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A process of this executable that runs one ignored test: a launching program that may be killed or starved.
#[must_use]
pub fn helper(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    command
}

/// What a child says to its end, which it is brought to if it takes too long.
#[must_use]
pub fn bounded(child: Child) -> Output {
    let pid = rustix::process::Pid::from_child(&child);
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        if is_done.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    guard.join().unwrap();
    output
}

/// Waits for something to come about; against hanging only.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE / 3, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn namespace() -> std::ffi::OsString {
    std::fs::read_link("/proc/self/ns/net").unwrap().into()
}
