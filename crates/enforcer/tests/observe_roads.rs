//! What is told of the roads past names is what the kernel did: the loader, second names, memory, devices, moved folders, replaced
//! files, descriptors that were handed on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::Folder;
use common::cases::{Case, Notes, Place, access, agree, case, cases, cases_of, leads_to};
use skillsandbox_enforcer::{
    AccessVerdict, Command, EndCause, Execution, ObserveLevel, ObservedAction, Observer, OutputMode,
    PlanBuilder,
};

/// Executes in a child. The error is that of `execve` alone: what a program does once it runs is another matter.
const EXECUTES: &str = "
def executes(*argv, by=None):
    mine, its = os.pipe()
    pid = os.fork()
    if pid == 0:
        null = os.open('/dev/null', os.O_WRONLY); os.dup2(null, 1); os.dup2(null, 2)
        try: os.execve(argv[0] if by is None else by, list(argv), {})
        except OSError as e: os.write(its, b'%d' % e.errno)
        os._exit(1)
    os.close(its)
    failed = os.read(mine, 10)
    os.close(mine)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if failed: raise OSError(int(failed), 'execve')
    return status
def slurp(path):
    with open(path, 'rb') as f: return f.read()
def fill(fd, data):
    while data: data = data[os.write(fd, data):]
def in_memory(data):
    fd = os.memfd_create('x', 0); fill(fd, data)
    return fd
def nameless(data):
    fd = os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o755); fill(fd, data)
    again = os.open('/proc/self/fd/%d' % fd, os.O_RDONLY); os.close(fd); os.set_inheritable(again, True)
    return again
def removed(data):
    fd = os.open('/tmp/removed', os.O_CREAT | os.O_RDWR, 0o755); fill(fd, data); os.close(fd)
    again = os.open('/tmp/removed', os.O_RDONLY); os.unlink('/tmp/removed'); os.set_inheritable(again, True)
    return again
";

/// The loader of this machine's programs.
fn loader() -> PathBuf {
    let found = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    found.iter().map(PathBuf::from).find(|path| path.exists()).expect("a loader")
}

fn executions(case: &Case) -> Vec<&Execution> {
    let of = |told: &'_ skillsandbox_enforcer::ObservedEvent| matches!(told.tried, ObservedAction::Exec(_));
    let told = case.told.iter().filter(|told| of(told));
    told.map(|told| match &told.tried {
        ObservedAction::Exec(exec) => exec,
        _ => unreachable!(),
    })
    .collect()
}

/// What was executed is not told as prevented, and what was not is not told as allowed.
#[track_caller]
fn executions_agree(cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        let executions = executions(case);
        let is_right = match (case.errno, &*executions) {
            (_, []) => case.errno != 0,
            (0, [.., last]) => matches!(last.verdict, AccessVerdict::Allowed(_) | AccessVerdict::Unknown(_)),
            (_, [.., last]) => !matches!(last.verdict, AccessVerdict::Allowed(_)),
        };
        if !is_right {
            wrong.push(format!("{}: errno {}, told {executions:?}", case.name, case.errno));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A place whose folder for reading holds a program, by two names.
fn place_with_payload() -> Place {
    let place = Place::new();
    fs::copy("/usr/bin/true", place.read.join("payload")).unwrap();
    fs::hard_link(place.read.join("payload"), place.read.join("second")).unwrap();
    fs::copy("/usr/bin/true", place.write.join("payload")).unwrap();
    place
}

const ROADS: &str = "
direct: executes(R + '/payload')
second: executes(R + '/second')
written: executes(W + '/payload')
system: executes('/usr/bin/id')
own: executes(PYTHON, '-c', 'pass')
by-link: os.symlink(PYTHON, '/tmp/link'); executes('/tmp/link', '-c', 'pass')
new-name: os.link(W + '/payload', W + '/linked'); executes(W + '/linked')
copied: fd = os.open('/tmp/copy', os.O_CREAT | os.O_WRONLY, 0o755); fill(fd, PAYLOAD); os.close(fd); executes('/tmp/copy')
loader: executes(LOADER, '--verify', R + '/payload')
loader-runs: executes(LOADER, R + '/payload')
memory: executes('x', by=in_memory(PAYLOAD))
memory-by-name: fd = in_memory(PAYLOAD); os.set_inheritable(fd, True); executes('/proc/self/fd/%d' % fd)
nameless: executes('x', by=nameless(PAYLOAD))
nameless-by-name: executes('/proc/self/fd/%d' % nameless(PAYLOAD))
removed: executes('x', by=removed(PAYLOAD))
removed-by-name: executes('/proc/self/fd/%d' % removed(PAYLOAD))
descriptor: executes('x', by=os.open(R + '/payload', os.O_RDONLY))
";

fn roads(plan: PlanBuilder, place: &Place) -> Vec<Case> {
    let prelude = format!(
        "{EXECUTES}\nPYTHON, LOADER = os.path.realpath(sys.executable), '{}'\nPAYLOAD = slurp(R + '/payload')\n",
        loader().display()
    );
    cases_of(plan, place, ObserveLevel::Full, &prelude, ROADS)
}

#[test]
fn row_177_programs_are_told_as_they_were_executed_by_every_road() {
    let place = place_with_payload();
    // The control: every road is open where every program may be executed.
    let open = roads(place.plan(), &place);
    for case in &open {
        assert_eq!(case.errno, 0, "control: {case:?}");
    }
    executions_agree(&open);
    // What can be written cannot be executed.
    let not_written = roads(place.plan().no_exec(), &place);
    for name in ["written", "copied", "new-name"] {
        assert_ne!(case(&not_written, name).errno, 0, "{name}");
    }
    executions_agree(&not_written);
    let limited = roads(place.plan().programs(["python3"]), &place);
    for name in
        ["direct", "second", "written", "system", "memory", "copied", "nameless", "removed", "descriptor"]
    {
        assert_ne!(case(&limited, name).errno, 0, "{name}");
    }
    for name in ["own", "by-link"] {
        assert_eq!(case(&limited, name).errno, 0, "{name}");
    }
    executions_agree(&limited);
}

/// Where programs are limited, those of the system that are not named cannot be read either.
#[test]
fn row_177_a_program_that_may_not_be_read_is_not_told_as_read() {
    let place = place_with_payload();
    let lines = "
other: read('/usr/bin/id')
other-by-link: os.symlink('/usr/bin/id', '/tmp/id'); read('/tmp/id')
own: read(os.path.realpath(sys.executable))
folder: os.close(os.open('/usr/bin', os.O_RDONLY))
library: read(os.__file__)
given: read(R + '/payload')
";
    let control = cases(&place, ObserveLevel::Full, "", lines);
    assert!(control.iter().all(|case| case.errno == 0), "{control:?}");
    agree(&control);
    let plan = place.plan().programs(["python3"]);
    let limited = cases_of(plan, &place, ObserveLevel::Full, "", lines);
    assert_eq!(case(&limited, "other").errno, libc::EACCES);
    agree(&limited);
}

/// Devices are the host's: to write to one is not to change it.
#[test]
fn row_177_devices_are_told_as_the_kernel_treats_them() {
    let place = Place::new();
    let mut lines = String::new();
    for device in ["null", "zero", "full", "random", "urandom"] {
        for (name, code) in [
            ("read", "os.close(os.open('/dev/@', os.O_RDONLY))"),
            ("write", "os.close(os.open('/dev/@', os.O_WRONLY))"),
            ("append", "os.close(os.open('/dev/@', os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))"),
            ("chmod", "os.chmod('/dev/@', 0o600)"),
            ("chown", "os.chown('/dev/@', -1, os.getgid())"),
            ("truncate", "os.truncate('/dev/@', 0)"),
            ("xattr", "os.setxattr('/dev/@', 'user.x', b'')"),
            ("remove", "os.unlink('/dev/@')"),
            ("rename", "os.rename('/dev/@', '/dev/shm/@')"),
            ("link", "os.link('/dev/@', '/dev/shm/@')"),
            ("by-descriptor", "os.open('/proc/self/fd/%d' % os.open('/dev/@', os.O_PATH), os.O_WRONLY)"),
            ("chmod-by-descriptor", "os.chmod('/proc/self/fd/%d' % os.open('/dev/@', os.O_PATH), 0o600)"),
        ] {
            let code = code.replace('@', device);
            lines.extend([device, "/", name, ": ", &code, "\n"]);
        }
    }
    lines.push_str("tty: os.close(os.open('/dev/tty', os.O_RDWR))\n");
    lines.push_str("absent: os.close(os.open('/dev/sda', os.O_RDONLY))\n");
    lines.push_str("made: os.close(os.open('/dev/made', os.O_WRONLY | os.O_CREAT, 0o600))\n");
    let cases = cases(&place, ObserveLevel::Full, "", &lines);
    // As root, too: the mode of a device is the host's.
    assert_eq!(case(&cases, "full/chmod").errno, libc::EROFS);
    assert_eq!(case(&cases, "null/write").errno, 0);
    agree(&cases);
}

/// A folder above a grant is moved, and another one is made in its old place: the grant is where its mount is.
#[test]
fn row_177_a_moved_parent_and_what_takes_its_place_are_judged_by_their_mounts() {
    let folder = tempfile::Builder::new().prefix("moved").tempdir_in("/tmp").unwrap();
    let top = folder.path().canonicalize().unwrap();
    let place = Place::new();
    let (read, write) = (top.join("a/read"), top.join("a/write"));
    for folder in [&read, &write] {
        fs::create_dir_all(folder).unwrap();
        for name in ["file", "secret"] {
            fs::write(folder.join(name), "x").unwrap();
        }
    }
    let plan = place.plan().read(&read).write(&write);
    let plan = plan.forbid(read.join("secret")).forbid(write.join("secret"));
    let prelude = format!(
        "
T = '{}'
os.rename(T, '/tmp/away')
for name in ('read', 'write'): os.makedirs(T + '/a/' + name)
",
        top.display()
    );
    let mut lines = String::new();
    for at in ["T", "'/tmp/away'"] {
        for name in ["read", "write"] {
            for (operation, code) in [
                ("make", "write(@ + '/new')"),
                ("read-new", "read(@ + '/new')"),
                ("make-secret", "write(@ + '/secret')"),
                ("read-secret", "read(@ + '/secret')"),
                ("read", "read(@ + '/file')"),
                ("write", "write(@ + '/file')"),
                (
                    "descriptor",
                    "os.open('/proc/self/fd/%d' % os.open(@ + '/file', os.O_RDONLY), os.O_WRONLY)",
                ),
                ("chmod", "os.chmod(@ + '/file', 0o640)"),
                ("below", "fd = os.open(@, os.O_PATH); os.open('file', os.O_RDWR, dir_fd=fd)"),
                ("remove", "os.unlink(@ + '/new')"),
            ] {
                let code = code.replace('@', &format!("({at} + '/a/{name}')"));
                let at = if at == "T" { "old" } else { "moved" };
                lines.extend([at, "/", name, "/", operation, ": ", &code, "\n"]);
            }
        }
    }
    let cases = cases_of(plan, &place, ObserveLevel::Full, &prelude, &lines);
    for name in ["old/read/make", "old/read/descriptor", "old/write/make-secret", "moved/write/make"] {
        assert_eq!(case(&cases, name).errno, 0, "{name}");
    }
    for name in
        ["moved/read/make", "moved/read/descriptor", "moved/read/read-secret", "moved/write/read-secret"]
    {
        assert_ne!(case(&cases, name).errno, 0, "{name}");
    }
    agree(&cases);
    let rule = |name| format!("{:?}", access(case(&cases, name).told.last().unwrap()).unwrap().0);
    assert!(rule("old/read/make").contains("private to the run"), "{}", rule("old/read/make"));
    assert!(rule("moved/write/make").contains(write.to_str().unwrap()), "{}", rule("moved/write/make"));
}

/// The folder of the programs that may be executed is moved with the folder above it, and another one is made in its place.
#[test]
fn row_177_programs_in_a_moved_folder_are_told_as_they_were_executed() {
    let folder = tempfile::Builder::new().prefix("moved").tempdir_in("/tmp").unwrap();
    let top = folder.path().canonicalize().unwrap();
    let programs = top.join("a/programs");
    fs::create_dir_all(&programs).unwrap();
    fs::copy("/usr/bin/true", programs.join("named")).unwrap();
    fs::copy("/usr/bin/true", top.join("a/other")).unwrap();
    let place = place_with_payload();
    let prelude = format!("{EXECUTES}\nT = '{}'\nPAYLOAD = slurp(R + '/payload')\n", top.display());
    let lines = "
before: executes(T + '/a/programs/named')
beside: executes(T + '/a/other')
moved: os.rename(T, '/tmp/away'); executes('/tmp/away/a/programs/named')
moved-beside: executes('/tmp/away/a/other')
new: os.makedirs(T + '/a/programs'); fd = os.open(T + '/a/programs/named', os.O_CREAT | os.O_WRONLY, 0o755); fill(fd, PAYLOAD); os.close(fd); executes(T + '/a/programs/named')
by-descriptor: executes('x', by=os.open('/tmp/away/a/programs/named', os.O_RDONLY))
new-by-descriptor: executes('x', by=os.open(T + '/a/programs/named', os.O_RDONLY))
";
    for named in [vec!["python3".into(), programs.clone()], vec!["python3".into(), programs.join("named")]] {
        let plan = place.plan().read(top.join("a")).programs(named);
        let cases = cases_of(plan, &place, ObserveLevel::Full, &prelude, lines);
        for name in ["before", "moved", "by-descriptor"] {
            assert_eq!(case(&cases, name).errno, 0, "{name}");
        }
        for name in ["beside", "moved-beside", "new", "new-by-descriptor"] {
            assert_ne!(case(&cases, name).errno, 0, "{name}");
        }
        executions_agree(&cases);
    }
    // The control: where every program may be executed, so may these.
    let control = cases_of(place.plan().read(top.join("a")), &place, ObserveLevel::Full, &prelude, lines);
    assert!(control.iter().all(|case| case.errno == 0), "{control:?}");
    executions_agree(&control);
}

/// What has lost its name is not judged by what has that name now.
#[test]
fn row_177_what_was_removed_is_not_told_by_what_took_its_name() {
    let folder = tempfile::Builder::new().prefix("gone").tempdir_in("/tmp").unwrap();
    let top = folder.path().canonicalize().unwrap();
    let read = top.join("a/read");
    fs::create_dir_all(&read).unwrap();
    let place = Place::new();
    let prelude = format!(
        "
T = '{}'
write('/tmp/x')
os.mkdir('/tmp/d'); gone = os.open('/tmp/d', os.O_RDONLY); os.rmdir('/tmp/d'); os.symlink(O, '/tmp/d (deleted)')
os.makedirs('/tmp/e/f'); deep = os.open('/tmp/e/f', os.O_RDONLY); os.rmdir('/tmp/e/f'); os.rmdir('/tmp/e'); os.symlink(O, '/tmp/e')
os.rename(T, '/tmp/away'); os.makedirs(T + '/a/read')
write(T + '/a/read/file'); file = os.open(T + '/a/read/file', os.O_RDWR); os.unlink(T + '/a/read/file')
",
        top.display()
    );
    let lines = "
up: os.close(os.open('../x', os.O_RDWR, dir_fd=gone))
up-twice: os.close(os.open('../../x', os.O_RDWR, dir_fd=deep))
working: os.fchdir(gone); os.close(os.open('../x', os.O_RDWR))
made: os.close(os.open('../made', os.O_RDWR | os.O_CREAT, 0o600, dir_fd=gone))
itself: os.close(os.open('.', os.O_RDONLY, dir_fd=gone))
below: os.open('file', os.O_RDONLY, dir_fd=gone)
chmod: raw(452, file, '', 0o640, 0x1000)
again: os.close(os.open('/proc/self/fd/%d' % file, os.O_RDWR))
";
    let cases = cases_of(place.plan().read(&read), &place, ObserveLevel::Full, &prelude, lines);
    for case in &cases {
        assert_eq!(case.errno == 0, case.name != "below", "{case:?}");
        let (verdict, ..) = case.told.iter().filter_map(access).next_back().unwrap();
        let is_prevented = matches!(verdict, AccessVerdict::Denied(_) | AccessVerdict::NotThere);
        assert!(case.errno != 0 || !is_prevented, "it was done: {case:?}");
    }
}

/// Descriptors that one process of a run hands to another, and what is opened by them.
#[test]
fn row_177_descriptors_that_were_handed_on_are_told_by_what_they_are() {
    let place = Place::new();
    let prelude = "
def handed(path, flags):
    '''A descriptor that another process opened.'''
    mine, its = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try: socket.send_fds(its, [b'x'], [os.open(path, flags, 0o600)])
        except OSError as e: its.send(b'%d' % e.errno)
        os._exit(0)
    its.close()
    data, fds, _, _ = socket.recv_fds(mine, 10, 1)
    os.waitpid(pid, 0)
    if not fds: raise OSError(int(data), 'handed')
    return fds[0]
def again(path, flags, then):
    fd = handed(path, flags)
    os.close(os.open('/proc/self/fd/%d' % fd, then))
";
    let lines = "
read: again(W + '/file', os.O_RDONLY, os.O_RDONLY)
write: again(W + '/file', os.O_RDONLY, os.O_RDWR)
path-only: again(W + '/file', os.O_PATH, os.O_RDWR)
read-only: again(R + '/file', os.O_RDONLY, os.O_RDONLY)
read-only-written: again(R + '/file', os.O_RDONLY, os.O_WRONLY)
read-only-path: again(R + '/file', os.O_PATH, os.O_WRONLY)
device: again('/dev/null', os.O_PATH, os.O_WRONLY)
folder: fd = handed(R, os.O_PATH); os.close(os.open('file', os.O_RDONLY, dir_fd=fd))
folder-written: fd = handed(R, os.O_PATH); os.open('file', os.O_WRONLY, dir_fd=fd)
folder-up: fd = handed(R, os.O_PATH); os.open('../other/file', os.O_RDONLY, dir_fd=fd)
hidden: again(W + '/forbidden', os.O_PATH, os.O_RDONLY)
hidden-key: fd = handed(W + '/forbidden', os.O_PATH); os.open('key', os.O_RDONLY, dir_fd=fd)
chmod: os.chmod('/proc/self/fd/%d' % handed(R + '/file', os.O_PATH), 0o600)
other: handed(O + '/file', os.O_RDONLY)
other-path: handed(O + '/file', os.O_PATH)
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    for name in ["write", "path-only", "device"] {
        assert_eq!(case(&cases, name).errno, 0, "{name}");
    }
    for name in ["read-only-written", "read-only-path", "chmod", "hidden-key", "other"] {
        assert_ne!(case(&cases, name).errno, 0, "{name}");
    }
    agree(&cases);
    leads_to(&cases, "write", &place.write.join("file"));
    leads_to(&cases, "read-only-path", &place.read.join("file"));
}

/// Opens what has changed its meaning, and says what came of it. To ask what a name means is not told; to open it is.
const OPENS_WHAT_CHANGED: &str = "
import os, sys
path = sys.argv[1]
def tries():
    try: os.close(os.open(path, os.O_RDONLY)); return 0
    except OSError as e: return e.errno
def meaning():
    try: found = os.stat(path); return found.st_dev, found.st_ino
    except OSError as e: return e.errno
first = meaning()
os.write(1, b'%d\\n' % tries())
while meaning() == first: pass
while True: os.write(1, b'%d\\n' % tries())
";

/// A forbidden file that the host replaces, and a file below a write grant that may only be read: what is opened afterwards is not told
/// by the name that it has. A run is ended then, perhaps before it opens anything.
#[test]
fn row_177_what_was_put_in_the_place_of_a_forbidden_file_is_not_told_as_forbidden() {
    for grants_write in [false, true] {
        for _ in 0..8 {
            let folder = Folder::outside_tmp();
            let secret = folder.file("home/project/.env", "x");
            let home = folder.path().join("home");
            let new = folder.file("new", "canary");
            let plan = common::plan().timeout(Duration::from_secs(20)).forbid(&secret);
            let plan = if grants_write { plan.write(&home) } else { plan.read(&home) };
            let notes = Arc::new(Notes::default());
            let command = Command::new("python3")
                .args(["-c", OPENS_WHAT_CHANGED])
                .arg(&secret)
                .observer(Arc::clone(&notes) as Arc<dyn Observer>)
                .observe_level(ObserveLevel::Full)
                .stdout(OutputMode::Piped);
            let mut running = plan.build().unwrap().spawn(&command).unwrap();
            let mut out = running.stdout().unwrap();
            let mut first = [0; 8];
            let length = out.read(&mut first).unwrap();
            fs::rename(&new, &secret).unwrap();
            let mut printed = String::from_utf8_lossy(&first[..length]).into_owned();
            out.read_to_string(&mut printed).unwrap();
            assert_eq!(running.wait().unwrap().end, EndCause::Uncovered);
            compare(&printed, &notes, &secret);
        }
    }
}

/// One line for each time that a path was opened: what came of it.
#[track_caller]
fn compare(printed: &str, notes: &Notes, path: &Path) {
    let events = notes.0.lock().unwrap();
    let told = events.iter().filter_map(|event| match &event.tried {
        ObservedAction::File(file) if file.path == path => Some(&file.verdict),
        _ => None,
    });
    let whole = printed.lines().filter(|_| printed.ends_with('\n'));
    let pairs: Vec<_> = whole.map(|line| line.parse::<i32>().unwrap()).zip(told).collect();
    assert_eq!(pairs[0], (libc::EACCES, &AccessVerdict::Denied("forbidden")), "the control");
    for (errno, verdict) in pairs {
        let is_right = match verdict {
            AccessVerdict::Unknown(_) => true,
            AccessVerdict::Allowed(_) => errno == 0,
            _ => errno != 0,
        };
        assert!(is_right, "errno {errno}, told {verdict:?}");
    }
}
