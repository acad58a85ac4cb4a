//! The user manager, played by a thread on a bus of its own: the daemon between the two is the real one, and refuses what is not
//! well-formed.

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use super::super::dbus::{CALL, DbusBody, DbusCall, DbusConnection, DbusMessage, ERROR, RETURN};
use super::super::kernel::CgroupKernel as _;
use super::super::systemd;
use super::fake::FakeKernel;
use super::*;

const MIB: u64 = 1 << 20;
const ALL: GroupLimits =
    GroupLimits { memory: Some(64 * MIB), processes: Some(8), cpu_percent: Some(150), counts_cpu: false };
const PID: i32 = 4711;

/// A bus that ends with the test.
struct BusDaemon {
    child: Child,
    folder: tempfile::TempDir,
}

impl BusDaemon {
    /// `None`, said loudly, where there is no dbus-daemon; `SKILLSANDBOX_REQUIRE=dbus` makes that a failure.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("bus.conf");
        let text = format!(
            "<busconfig><type>session</type><listen>unix:path={}/bus</listen><auth>EXTERNAL</auth><policy context=\"default\">\
             <allow send_destination=\"*\"/><allow receive_sender=\"*\"/><allow own=\"*\"/></policy></busconfig>",
            folder.path().display()
        );
        fs::write(&config, text).unwrap();
        let mut command = Command::new("dbus-daemon");
        command.arg("--config-file").arg(config).args(["--nofork", "--nopidfile", "--print-address"]);
        let mut child = match command.stdout(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => {
                let required = std::env::var("SKILLSANDBOX_REQUIRE").is_ok_and(|list| list.contains("dbus"));
                assert!(!required, "dbus-daemon: {error}");
                let _ = writeln!(io::stderr(), "SKIPPED: dbus-daemon: {error}; apt-get install dbus");
                return None;
            }
        };
        // It listens when it says where.
        let mut byte = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        Some(Self { child, folder })
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("bus")
    }
}

impl Drop for BusDaemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How the manager behaves.
#[derive(Clone, Copy, PartialEq)]
enum ManagerBehaviour {
    Obliging,
    /// It has no cpu controller to give.
    WithoutCpu,
    /// It sets what it likes.
    Lax,
    Refusing,
    /// It says yes, and does nothing.
    Idle,
}

/// One request, answered.
fn manager(
    daemon: &BusDaemon,
    fake: &Arc<FakeKernel>,
    manager: ManagerBehaviour,
) -> JoinHandle<ScopeProperties> {
    let mut bus = DbusConnection::connect(&daemon.socket()).unwrap();
    let mut body = DbusBody::default();
    body.string("org.freedesktop.systemd1");
    body.number(0);
    bus.call(&DbusCall {
        destination: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus",
        member: "RequestName",
        signature: "su",
        body,
    })
    .unwrap();
    let fake = fake.clone();
    std::thread::spawn(move || {
        let message = loop {
            // Ends by the connection's own patience.
            let message = bus.receive().unwrap();
            if message.kind == CALL && message.member.as_deref() == Some("StartTransientUnit") {
                break message;
            }
        };
        let request = ScopeProperties::read(&message);
        if !matches!(manager, ManagerBehaviour::Refusing | ManagerBehaviour::Idle) {
            act(&fake, manager, &request);
        }
        let sender = message.sender.clone().unwrap();
        let mut body = DbusBody::default();
        if manager == ManagerBehaviour::Refusing {
            body.string("Unit is\nnot wanted.");
            let fields = [(4, "s", "org.freedesktop.systemd1.Refused"), (6, "s", &*sender), (8, "g", "s")];
            bus.send(ERROR, Some(message.serial), &fields, &body).unwrap();
        } else {
            body.string("/org/freedesktop/systemd1/job/1");
            bus.send(RETURN, Some(message.serial), &[(6, "s", &*sender), (8, "g", "o")], &body).unwrap();
        }
        request
    })
}

/// What a manager does for such a request.
fn act(fake: &FakeKernel, manager: ManagerBehaviour, request: &ScopeProperties) {
    let path = format!("app.slice/{}", request.unit);
    let folder = fake.group(&path, "", &format!("{PID}\n"));
    let number = |name: &str| request.numbers.get(name).copied().unwrap();
    let mut files = vec![
        ("memory.max", number("MemoryMax").to_string()),
        ("memory.swap.max", number("MemorySwapMax").to_string()),
        ("pids.max", number("TasksMax").to_string()),
        ("cpu.max", format!("{} 50000", number("CPUQuotaPerSecUSec") / 20)),
    ];
    match manager {
        ManagerBehaviour::WithoutCpu => fs::remove_file(folder.join("cpu.max")).unwrap(),
        ManagerBehaviour::Lax => files[0].1 = "max".to_owned(),
        _ => {}
    }
    for (file, text) in files {
        if folder.join(file).exists() {
            fake.write(&folder.join(file), &text).unwrap();
        }
    }
    fake.moved.lock().unwrap().insert(PID, format!("/{path}"));
}

/// The request, read by rules of its own rather than by the code that wrote it.
struct ScopeProperties {
    unit: String,
    mode: String,
    numbers: HashMap<String, u64>,
    pids: Vec<u32>,
}

impl ScopeProperties {
    fn read(message: &DbusMessage) -> Self {
        assert_eq!(message.signature, "ssa(sv)a(sa(sv))");
        let bytes = &message.body;
        let mut at = 0;
        let number = |at: &mut usize| {
            *at = at.next_multiple_of(4) + 4;
            u32::from_le_bytes(bytes[*at - 4..*at].try_into().unwrap())
        };
        let string = |at: &mut usize| {
            let length = number(at) as usize;
            *at += length + 1;
            String::from_utf8(bytes[*at - length - 1..*at - 1].to_vec()).unwrap()
        };
        let (unit, mode) = (string(&mut at), string(&mut at));
        let mut request = Self { unit, mode, numbers: HashMap::new(), pids: Vec::new() };
        let length = number(&mut at) as usize;
        at = at.next_multiple_of(8);
        let end = at + length;
        while at < end {
            at = at.next_multiple_of(8);
            let name = string(&mut at);
            let count = usize::from(bytes[at]);
            let signature = &bytes[at + 1..=at + count];
            at += count + 2;
            match signature {
                b"s" => drop(string(&mut at)),
                b"b" => drop(request.numbers.insert(name, number(&mut at).into())),
                b"t" => {
                    at = at.next_multiple_of(8) + 8;
                    let value = u64::from_le_bytes(bytes[at - 8..at].try_into().unwrap());
                    request.numbers.insert(name, value);
                }
                b"au" => {
                    let bytes = number(&mut at);
                    request.pids = (0..bytes / 4).map(|_| number(&mut at)).collect();
                }
                _ => panic!("{name}: {signature:?}"),
            }
        }
        assert_eq!((at, number(&mut at)), (end, 0), "no auxiliary units");
        request
    }
}

/// A user whose own group is not theirs, and whose manager has a slice.
fn user() -> Arc<FakeKernel> {
    let fake = FakeKernel::unified("cpu memory pids");
    fake.write(&fake.root.join("cgroup.subtree_control"), "+cpu +memory +pids").unwrap();
    fake.group("app.slice", "+cpu +memory +pids", "");
    let own = fake.group("session.scope", "", "77\n");
    let mut odd = fake.odd.lock().unwrap();
    odd.denied.extend([own.join("cgroup.procs"), fake.root.join("cgroup.procs")]);
    drop(odd);
    fake
}

#[test]
fn a_scope_is_made_around_a_process() {
    let Some(daemon) = BusDaemon::start() else { return };
    let fake = user();
    let host = fake.host("/session.scope");
    let answers = manager(&daemon, &fake, ManagerBehaviour::Obliging);
    let mut group = systemd::create(&host, &ALL, &daemon.socket()).unwrap();
    assert_eq!((group.mechanism(), group.join().len()), (LimitMechanism::CgroupV2Systemd, 0));
    group.adopt(PID).unwrap();
    let request = answers.join().unwrap();
    assert_eq!((request.mode.as_str(), request.pids.as_slice()), ("fail", &[4711_u32][..]));
    let mut numbers: Vec<(&str, u64)> =
        request.numbers.iter().map(|(name, value)| (&**name, *value)).collect();
    numbers.sort_unstable();
    let expected = [
        ("CPUQuotaPerSecUSec", 1_500_000),
        ("Delegate", 1),
        ("MemoryMax", 64 * MIB),
        ("MemorySwapMax", 0),
        ("TasksMax", 8),
    ];
    assert_eq!(numbers, expected);
    let folder = group.folders()[0].clone();
    assert_eq!(fs::read_to_string(folder.join("memory.oom.group")).unwrap(), "1");
    fs::write(folder.join("pids.events"), "max 2\n").unwrap();
    assert_eq!(group.hits().processes, 2);
    // Again is only to look.
    group.adopt(PID).unwrap();
    assert!(group.adopt(PID + 1).is_err());
    drop(group);
    assert!(!folder.exists());
    assert!(fake.writes().contains(&"cgroup.kill 1".to_owned()));
}

#[test]
fn what_the_manager_did_not_do_is_not_believed() {
    let Some(daemon) = BusDaemon::start() else { return };
    for (behaviour, expected) in [
        (ManagerBehaviour::WithoutCpu, "cpu.max: No such file"),
        (ManagerBehaviour::Lax, "memory.max: systemd did not set the limit: it says \"max\""),
        (
            ManagerBehaviour::Refusing,
            "StartTransientUnit: org.freedesktop.systemd1.Refused: Unit is\\nnot wanted.",
        ),
        (ManagerBehaviour::Idle, "systemd did not move the process"),
    ] {
        let fake = user();
        let host = fake.host("/session.scope");
        let answers = manager(&daemon, &fake, behaviour);
        let mut group = systemd::create(&host, &ALL, &daemon.socket()).unwrap();
        let message = group.adopt(PID).unwrap_err().to_string();
        assert!(message.contains("cgroup v2 by systemd: ") && message.contains(expected), "{message}");
        drop(answers.join().unwrap());
        // Asking again does not help.
        assert!(group.adopt(PID).is_err());
        drop(group);
        assert!(fake.groups("app.slice").is_empty());
    }
}

#[test]
fn a_manager_that_is_only_just_joining_the_bus_is_waited_for() {
    let Some(daemon) = BusDaemon::start() else { return };
    let fake = user();
    let host = fake.host("/session.scope");
    // The sign that there is one.
    fs::create_dir(daemon.folder.path().join("systemd")).unwrap();
    fs::write(daemon.folder.path().join("systemd/private"), "").unwrap();
    let mut group = std::thread::scope(|scope| {
        let group = scope.spawn(|| systemd::create(&host, &ALL, &daemon.socket()).unwrap());
        std::thread::sleep(Duration::from_millis(200));
        let answers = manager(&daemon, &fake, ManagerBehaviour::Obliging);
        (group.join().unwrap(), answers)
    });
    group.0.adopt(PID).unwrap();
    group.1.join().unwrap();
}

#[test]
fn without_a_manager_or_a_bus_it_says_so() {
    let Some(daemon) = BusDaemon::start() else { return };
    let fake = user();
    let host = fake.host("/session.scope");
    let message = systemd::create(&host, &ALL, &daemon.socket()).unwrap_err();
    assert!(
        message.contains("no manager of units: GetNameOwner: org.freedesktop.DBus.Error.NameHasNoOwner"),
        "{message}"
    );
    let missing = daemon.folder.path().join("missing");
    let message = systemd::create(&host, &ALL, &missing).unwrap_err();
    assert!(message.contains("missing: No such file or directory"), "{message}");
}

#[test]
fn a_server_that_talks_nonsense_is_left() {
    fn message(head: [u32; 3], rest: &[u8]) -> Vec<u8> {
        let mut bytes = b"OK 0\r\nl\x02\0\x01".to_vec();
        for number in head {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(rest);
        bytes
    }
    let fake = user();
    let host = fake.host("/session.scope");
    let folder = tempfile::tempdir().unwrap();
    for (index, (answer, expected)) in [
        (b"REJECTED EXTERNAL\r\n".to_vec(), "not let in: REJECTED EXTERNAL"),
        (b"".to_vec(), "failed to fill whole buffer"),
        (vec![b'x'; 1 << 16], "does not end"),
        (b"OK 0\r\n".to_vec(), "Hello: failed to fill whole buffer"),
        (b"OK 0\r\nGET / HTTP/1.1\r\n\r\n".to_vec(), "a message that cannot be read"),
        // Lengths beyond all bounds, beyond the message, and of a text beyond its field.
        (message([u32::MAX, 1, 0], b""), "a message that cannot be read"),
        (message([0, 1, u32::MAX], b""), "a message that cannot be read"),
        (message([64, 1, 0], b"short"), "failed to fill whole buffer"),
        (message([0, 1, 8], b"\x03\x01s\0\xff\xff\xff\xff"), "a message that cannot be read"),
        (message([0, 1, 8], b"\x03\xffs\0\0\0\0\0"), "a message that cannot be read"),
        (message([0, 1, 5], b"\x03\x01v\0\0\0\0\0"), "a message that cannot be read"),
        // An answer to something else, for ever.
        (message([0, 1, 0], &b"l\x02\0\x01\0\0\0\0\x01\0\0\0\0\0\0\0".repeat(500)), "no answer among many"),
    ]
    .into_iter()
    .enumerate()
    {
        let socket = folder.path().join(index.to_string());
        let listener = UnixListener::bind(&socket).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut greeting = [0; 16];
            stream.read_exact(&mut greeting).unwrap();
            let _ = stream.write_all(&answer);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            // Until the other side has gone, or it would miss what was said.
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let message = systemd::create(&host, &ALL, &socket).unwrap_err();
        assert!(message.contains(expected), "{index}: {message}");
        server.join().unwrap();
    }
}
