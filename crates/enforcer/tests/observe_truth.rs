//! What is told of a call is what the kernel did: the same paths and operations, judged and tried.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod common;

use std::path::Path;

use common::cases::{Place, access, agree, case, cases, leads_to};
use skillsandbox_enforcer::{AccessVerdict, FileOperation, ObserveLevel, ObservedAction, ObservedEvent};

/// Every kind of place with every kind of operation.
#[test]
fn row_140_verdicts_are_what_the_kernel_says() {
    // Grants below a folder that the run has for itself are still grants.
    for folder in ["/var/tmp", "/tmp"] {
        verdicts_are_right(&Place::below(folder));
    }
}

fn verdicts_are_right(place: &Place) {
    let prelude = "
os.symlink(W, '/tmp/to-write'); os.symlink(R, '/tmp/to-read'); os.symlink(O, '/tmp/to-other'); os.symlink('/', '/tmp/root')
os.symlink('nowhere', '/tmp/dangling')
os.symlink('loop', '/tmp/loop')
os.mkdir('/tmp/d'); write('/tmp/f')
PLACES = dict(tmp='/tmp', home=os.environ['HOME'], write=W, read=R, other=O, hidden=W+'/forbidden', usr='/usr/share', dev='/dev', shm='/dev/shm', etc='/etc', top='/', run='/run', proc='/proc', var='/var',
    by_link_write='/tmp/to-write', by_link_read='/tmp/to-read', by_link_other='/tmp/to-other', up='/tmp/to-other/../other', by_root='/tmp/root' + O)
";
    let places = [
        "tmp",
        "home",
        "write",
        "read",
        "other",
        "hidden",
        "usr",
        "dev",
        "shm",
        "etc",
        "top",
        "run",
        "proc",
        "var",
        "by_link_write",
        "by_link_read",
        "by_link_other",
        "up",
        "by_root",
    ];
    let mut lines = String::new();
    for at in places {
        for (name, code) in [
            ("read", "read(@ + '/file')"),
            ("read-absent", "read(@ + '/absent')"),
            ("list", "os.close(os.open(@, os.O_RDONLY | os.O_DIRECTORY))"),
            ("make", "os.close(os.open(@ + '/made', os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))"),
            ("read-made", "read(@ + '/made')"),
            ("chmod", "os.chmod(@ + '/made', 0o640)"),
            ("truncate", "os.truncate(@ + '/made', 0)"),
            ("rename", "os.rename(@ + '/made', @ + '/renamed')"),
            ("link", "os.link(@ + '/renamed', @ + '/linked')"),
            ("symlink", "os.symlink('/usr/bin/env', @ + '/link')"),
            ("read-symlink", "read(@ + '/link')"),
            ("write-symlink", "os.close(os.open(@ + '/link', os.O_WRONLY))"),
            ("remove-symlink", "os.unlink(@ + '/link')"),
            ("mkdir", "os.mkdir(@ + '/folder')"),
            ("rmdir", "os.rmdir(@ + '/folder')"),
            ("fifo", "os.mkfifo(@ + '/fifo')"),
            ("unlink", "os.unlink(@ + '/renamed')"),
            ("tmpfile", "os.close(os.open(@, os.O_TMPFILE | os.O_RDWR, 0o600))"),
        ] {
            let code = code.replace('@', &format!("PLACES['{at}']"));
            lines.extend([at, "/", name, ": ", &code, "\n"]);
        }
    }
    let cases = cases(place, ObserveLevel::Full, prelude, &lines);
    assert_eq!(cases.len(), places.len() * 18);
    let read_only = case(&cases, "read/make");
    assert_eq!(read_only.errno, libc::EROFS, "the control");
    let rule = |name| format!("{:?}", access(case(&cases, name).told.last().unwrap()).unwrap().0);
    assert!(rule("write/make").contains(place.write.to_str().unwrap()), "{}", rule("write/make"));
    agree(&cases);
}

/// What a link hides is told: where it leads, and that it is not granted.
#[test]
fn row_140_links_hide_nothing() {
    let place = Place::new();
    let prelude = "
os.symlink(O, '/tmp/l'); os.symlink('/', '/tmp/root'); os.symlink(W + '/inner', '/tmp/inner')
os.symlink('l2', '/tmp/l1'); os.symlink('l3', '/tmp/l2'); os.symlink(O + '/file', '/tmp/l3')
here = os.open('/tmp', os.O_RDONLY)
";
    let lines = "
folder: read('/tmp/l/file')
root: read('/tmp/root' + O + '/file')
chain: read('/tmp/l1')
shipped: read(R + '/out/file')
up: read('/tmp/inner/../../other/file')
relative: os.chdir('/tmp'); read('l/file')
descriptor: os.open('l/file', os.O_RDONLY, dir_fd=here)
home: os.symlink(O, os.environ['HOME'] + '/.aws'); read(os.path.expanduser('~/.aws/file'))
gone: os.symlink(O + '/file', '/tmp/brief'); fd = None\ntry: os.open('/tmp/brief', os.O_RDONLY)\nfinally: os.unlink('/tmp/brief')
renamed: os.rename('/tmp/l', '/tmp/m')
renamed-read: read('/tmp/m/file')
write: write('/tmp/m/new')
exec: os.execv('/tmp/m/file', ['x'])
inside: read(R + '/in')
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    agree(&cases);
    let file = place.other.join("file");
    for name in
        ["folder", "root", "chain", "shipped", "up", "relative", "descriptor", "home", "renamed-read", "exec"]
    {
        leads_to(&cases, name, &file);
        let (verdict, ..) = case(&cases, name).told.iter().filter_map(access).next_back().unwrap();
        assert_eq!(*verdict, AccessVerdict::Denied("not granted"), "{name}");
    }
    leads_to(&cases, "write", &place.other.join("new"));
    leads_to(&cases, "inside", &place.write.join("file"));
    leads_to(&cases, "renamed", Path::new("/tmp/l"));
}

/// Links in /proc lead to the thing itself, past names.
#[test]
fn row_140_descriptors_and_other_detours_are_seen() {
    let place = Place::new();
    let prelude = "
fd = os.open(W + '/file', os.O_RDONLY)
handle = os.open(W + '/file', os.O_PATH)
pipe, _ = os.pipe()
memory = os.memfd_create('hidden'); os.write(memory, open('/bin/true', 'rb').read())
top = os.open('/', os.O_RDONLY)
def child(run):
    pid = os.fork()
    if pid == 0:
        try: run()
        except OSError as e: os._exit(e.errno)
    status = os.waitpid(pid, 0)[1]
    if status: raise OSError(os.waitstatus_to_exitcode(status), 'child')
def at_empty():
    argv = (ctypes.c_char_p * 2)(b'shown', None)
    raw(322, memory, '', argv, ctypes.c_void_p(), 0x1000)
def tmpfile():
    fd = os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o600)
    raw(265, -100, '/proc/self/fd/%d' % fd, -100, '/tmp/named', 0x400)
";
    let lines = "
self: read('/proc/self/status')
thread-self: read('/proc/thread-self/status')
fd: read('/proc/self/fd/%d' % fd)
dev-fd: read('/dev/fd/%d' % fd)
reopened: os.open('/proc/self/fd/%d' % handle, os.O_WRONLY)
pipe: os.open('/proc/self/fd/%d' % pipe, os.O_RDONLY | os.O_NONBLOCK)
stdout: os.open('/dev/stdout', os.O_WRONLY)
root: read('/proc/self/root/etc/passwd')
cwd: os.chdir(W); read('/proc/self/cwd/file')
root-other: read('/proc/self/root' + O + '/file')
by-number: read('/proc/%d/root%s/file' % (os.getpid(), W))
top: os.open('etc/passwd', os.O_RDONLY, dir_fd=top)
memory: child(lambda: os.execv('/proc/self/fd/%d' % memory, ['shown']))
at-empty: child(at_empty)
exe: child(lambda: os.execv('/proc/self/exe', ['python3', '-c', '']))
tmpfile: tmpfile()
init: read('/proc/1/environ')
host: read('/proc/4194300/environ')
absent: read('/proc/self/absent')
null: write('/dev/null')
exchange: write('/tmp/a'); write('/tmp/b'); raw(316, -100, '/tmp/a', -100, '/tmp/b', 2)
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    agree(&cases);
    let file = place.write.join("file");
    for name in ["fd", "dev-fd", "reopened", "cwd", "by-number"] {
        leads_to(&cases, name, &file);
    }
    leads_to(&cases, "root-other", &place.other.join("file"));
    for name in ["root", "top"] {
        leads_to(&cases, name, Path::new("/etc/passwd"));
    }
    for name in ["memory", "at-empty"] {
        let case = case(&cases, name);
        assert_eq!(case.errno, 0, "it can be done");
        let exec = case.told.iter().find_map(|told| match &told.tried {
            ObservedAction::Exec(exec) => Some(exec),
            _ => None,
        });
        let exec = exec.unwrap();
        assert_eq!(exec.real.as_ref().unwrap_or(&exec.path), Path::new("/memfd:hidden (deleted)"));
        assert!(matches!(exec.verdict, AccessVerdict::Allowed(_)), "{exec:?}");
    }
    assert!(case(&cases, "reopened").told.iter().any(|told| {
        matches!(&told.tried, ObservedAction::File(file) if file.operation == FileOperation::Write)
    }));
    let absent = case(&cases, "absent").told.iter().filter_map(access).next_back().unwrap();
    assert_eq!(*absent.0, AccessVerdict::NotThere);
}

/// Flags that the kernel does not know say nothing.
#[test]
fn writing_does_not_look_like_reading() {
    let place = Place::new();
    let lines = "
plain: raw(2, '/tmp/plain', os.O_WRONLY | os.O_CREAT, 0o600)
high: raw(2, '/tmp/high', os.O_WRONLY | os.O_CREAT | 1 << 31, 0o600)
at: raw(257, -100, '/tmp/at', os.O_WRONLY | os.O_CREAT | 1 << 31, 0o600)
creat: raw(85, '/tmp/creat', 0o600)
through: os.symlink('/tmp/target', '/tmp/through'); raw(85, '/tmp/through', 0o600)
";
    let cases = cases(&place, ObserveLevel::Full, "", lines);
    agree(&cases);
    for case in &cases {
        assert_eq!(case.errno, 0, "{case:?}");
        let ObservedAction::File(file) = &case.told.last().unwrap().tried else { panic!("{case:?}") };
        assert_eq!(file.operation, FileOperation::Write, "{case:?}");
    }
    leads_to(&cases, "through", Path::new("/tmp/target"));
}

/// A path that cannot be read fails as the kernel would have it fail, and is not left to the kernel, which looks later.
#[test]
fn what_cannot_be_read_is_not_carried_out() {
    let place = Place::new();
    let prelude = "
import mmap
libc.mmap.restype = ctypes.c_void_p
pages = libc.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, 0)
libc.mprotect(ctypes.c_void_p(pages + 4096), ctypes.c_size_t(4096), 0)
ctypes.memset(pages, ord('a'), 4096)
short = libc.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, 0)
libc.mprotect(ctypes.c_void_p(short + 4096), ctypes.c_size_t(4096), 0)
ctypes.memmove(short + 4096 - 9, b'/tmp/made\\0'[:9], 9)
ended = short + 4096 - 9
";
    let lines = "
null: raw(257, -100, 0, 0, 0)
nonsense: raw(257, -100, 0x123456, 0, 0)
high: raw(257, -100, -4096, 0, 0)
endless: raw(257, -100, pages, 0, 0)
unended: raw(257, -100, ended, 0x41, 0o600)
long: os.open('/' + 'a' * 5000, os.O_RDONLY)
longest: os.open('/tmp' + '/.' * 2044, os.O_RDONLY)
exec: raw(59, 0, 0, 0)
rename: raw(82, '/tmp/x', 0)
descriptor: raw(257, 77, 'x', 0, 0)
empty: os.open('', os.O_RDONLY)
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    for (name, errno) in [
        ("null", libc::EFAULT),
        ("nonsense", libc::EFAULT),
        ("high", libc::EFAULT),
        ("endless", libc::ENAMETOOLONG),
        ("unended", libc::EFAULT),
        ("long", libc::ENAMETOOLONG),
        ("longest", 0),
        ("exec", libc::EFAULT),
        ("rename", libc::EFAULT),
        ("descriptor", libc::EBADF),
        ("empty", libc::ENOENT),
    ] {
        let case = case(&cases, name);
        assert_eq!(case.errno, errno, "{case:?}");
        assert_eq!(case.told.is_empty(), !matches!(name, "longest" | "empty"), "{case:?}");
    }
}

/// A process that may not be dumped is seen as well, and so are odd names and folders that are gone.
#[test]
fn processes_that_hide_and_odd_names_are_seen() {
    let place = Place::new();
    let prelude = "
os.mkdir('/tmp/gone'); os.mkdir('/tmp/odd (deleted)')
";
    let lines = r"
newline: write('/tmp/a\nb')
bytes: write(b'/tmp/\xff\xfe')
blanks: write('/tmp/ x ')
odd: os.chdir('/tmp/odd (deleted)'); write('y')
gone: os.chdir('/tmp/gone'); os.rmdir('/tmp/gone'); write('z')
hidden: libc.prctl(4, 0, 0, 0, 0); write('/tmp/hidden')
hidden-relative: os.chdir('/tmp'); write('hidden-relative')
hidden-exec: os.chmod('/tmp/hidden', 0o700); os.execv('/tmp/hidden-absent', ['x'])
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    agree(&cases);
    leads_to(&cases, "newline", Path::new("/tmp/a\nb"));
    leads_to(&cases, "blanks", Path::new("/tmp/ x "));
    leads_to(&cases, "odd", Path::new("/tmp/odd (deleted)/y"));
    leads_to(&cases, "hidden", Path::new("/tmp/hidden"));
    leads_to(&cases, "hidden-relative", Path::new("/tmp/hidden-relative"));
}

/// Nothing behind a long argument is hidden by it, and what is left out is said to be.
#[test]
fn long_command_lines_hide_nothing() {
    let place = Place::new();
    let prelude = "
def run(*argv):
    pid = os.fork()
    if pid == 0: os.execv('/bin/true', argv)
    os.waitpid(pid, 0)
";
    let lines = "
blanks: run('true', ' ' * 5000 + 'shown', 'behind')
many: run('true', *['x'] * 200, 'behind')
longer: run('true', 'x' * 20000, 'behind')
too-many: run('true', *['x'] * 300, 'behind')
too-much: run('true', *['x' * 10000] * 8, 'behind')
none: raw(59, '/absent', 0, 0)
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    for (name, is_behind, are_cut) in [
        ("blanks", true, false),
        ("many", true, false),
        ("longer", true, true),
        ("too-many", false, true),
        ("too-much", false, true),
        ("none", false, false),
    ] {
        let told = case(&cases, name).told.iter().find_map(|told| match &told.tried {
            ObservedAction::Exec(exec) => Some(exec),
            _ => None,
        });
        let exec = told.unwrap();
        assert_eq!(exec.arguments.last().is_some_and(|last| last == "behind"), is_behind, "{name}");
        assert_eq!(exec.are_cut, are_cut, "{name}");
        assert!(exec.arguments.iter().map(String::len).sum::<usize>() <= 65 << 10);
    }
}

/// Who talks to a daemon by its socket opens no file.
#[test]
fn row_140_connections_to_sockets_in_folders_are_seen() {
    let place = Place::new();
    let _daemon = std::os::unix::net::UnixListener::bind(place.other.join("daemon")).unwrap();
    let prelude = "
server = socket.socket(socket.AF_UNIX); server.bind('/tmp/own'); server.listen()
def reach(path):
    with socket.socket(socket.AF_UNIX) as s: s.connect(path)
def send(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s: s.sendto(b'x', path)
";
    let lines = "
own: reach('/tmp/own')
relative: os.chdir('/tmp'); reach('own')
other: reach(O + '/daemon')
by-link: os.symlink(O + '/daemon', '/tmp/d'); reach('/tmp/d')
datagram: send(O + '/daemon')
absent: reach('/tmp/absent')
abstract: reach('\\0abstract')
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    let (datagrams, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|case| case.name == "datagram");
    // There is no socket to send it from.
    assert!(matches!(&datagrams[0].told[0].tried, ObservedAction::Refused(call) if call.name == "socket"));
    assert_eq!(datagrams[0].errno, libc::ESOCKTNOSUPPORT);
    agree(&others);
    for name in ["other", "by-link"] {
        leads_to(&others, name, &place.other.join("daemon"));
    }
    for case in others {
        let ObservedAction::File(file) = &case.told.last().unwrap().tried else { panic!("{case:?}") };
        assert_eq!(file.operation, FileOperation::Connect, "{case:?}");
    }
}

/// One thread executes a program while the first one goes on opening files: what the new program does is not told as the old one's.
#[test]
fn a_program_is_known_by_its_own_name_from_its_first_call_on() {
    let place = Place::new();
    let prelude = "
import time
def child():
    pid = os.fork()
    if pid == 0:
        # The first thread opens until the other one, in the middle of that, replaces them both.
        threading.Thread(target=lambda: (time.sleep(0.02), os.execv('/bin/cat', ['cat', W + '/file']))).start()
        while True: os.close(os.open('/etc/passwd', os.O_RDONLY))
    os.waitpid(pid, 0)
";
    let lines: String = (0..20).map(|at| format!("{at}: child()\n")).collect();
    for case in cases(&place, ObserveLevel::Full, prelude, &lines) {
        let by = |told: &ObservedEvent| told.actor.as_ref().unwrap().binary.clone().unwrap();
        let read = case.told.iter().find(
            |told| matches!(&told.tried, ObservedAction::File(file) if file.path == place.write.join("file")),
        );
        assert!(by(read.unwrap()).ends_with("cat"), "{}: {read:?}", case.name);
        let loaded = case.told.iter().rev().find(
            |told| matches!(&told.tried, ObservedAction::File(file) if file.path.ends_with("ld.so.cache")),
        );
        assert!(by(loaded.unwrap()).ends_with("cat"), "{}: {loaded:?}", case.name);
    }
}

/// What is learnt of a file without opening it: its attributes, that it changes, that it is a folder to work in.
#[test]
fn attributes_watches_and_working_folders_are_seen() {
    let place = Place::new();
    let prelude = "
def watch(path):
    fd = raw(294, 0)
    try: raw(254, fd, path, 0x2)
    finally: os.close(fd)
def attribute(path, follow=True):
    try: os.getxattr(path, 'user.x', follow_symlinks=follow)
    except OSError as e:
        if e.errno not in (61, 95): raise
";
    let lines = "
getxattr: attribute(R + '/file')
getxattr-out: attribute(O + '/file')
getxattr-by-link: attribute(R + '/out/file')
getxattr-of-link: attribute(R + '/out', False)
listxattr: os.listxattr(R + '/file')
listxattr-out: os.listxattr(O + '/file')
llistxattr: os.listxattr(R + '/out', follow_symlinks=False)
watch: watch(W)
watch-out: watch(O)
watch-by-link: watch(R + '/out')
chdir: os.chdir(W)
chdir-out: os.chdir(O)
chdir-absent: os.chdir(W + '/absent')
empty: os.chdir('')
";
    let cases = cases(&place, ObserveLevel::Full, prelude, lines);
    agree(&cases);
    for name in ["getxattr-by-link", "watch-by-link"] {
        leads_to(&cases, name, &place.other.join(if name == "watch-by-link" { "" } else { "file" }));
    }
}
