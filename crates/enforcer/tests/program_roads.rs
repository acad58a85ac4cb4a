//! Roads round the list of programs that may be executed: each is open without such a list, and closed with one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use common::{Builder, Folder, plan};
use skillsandbox_enforcer::{Command, RunOutcome};

/// Perl can make any call, so it stands for every interpreter that a skill may be allowed.
fn perl(plan: Builder, script: &str) -> RunOutcome {
    common::run(plan, &Command::new("/usr/bin/perl").args(["-e", script]))
}

/// A folder that is granted for reading, with a program in it that says "ran", and one that is granted for writing.
struct Stage {
    given: Folder,
    writable: Folder,
}

impl Stage {
    fn new() -> Self {
        let (given, writable) = (Folder::new(), Folder::new());
        fs::copy("/usr/bin/echo", given.path().join("payload")).unwrap();
        Self { given, writable }
    }

    fn plan(&self) -> Builder {
        plan().read(self.given.path()).write(self.writable.path())
    }

    /// What a script that tries a road says, with every program allowed and with two.
    fn try_road(&self, road: &str) -> (RunOutcome, RunOutcome) {
        let script = format!(
            "use strict; my ($given, $out, $loader) = ('{}', '{}', '{}'); my $payload = \"$given/payload\"; \
             sub slurp {{ open(my $f, '<:raw', $_[0]) or die \"$_[0]: $!\"; local $/; <$f> }} {road}",
            self.given.path().display(),
            self.writable.path().display(),
            loader().display(),
        );
        (perl(self.plan(), &script), perl(self.plan().programs(["perl", "sh"]), &script))
    }
}

/// The loader of this machine's programs.
fn loader() -> PathBuf {
    let found = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    found.iter().map(PathBuf::from).find(|path| path.exists()).expect("a loader")
}

const MEMFD: &str = "$^F = 255; my $fd = syscall(319, my $name = 'x', 0); die \"memfd: $!\" if $fd < 0; \
                     open(my $m, '+<&=', $fd) or die; syswrite($m, slurp($payload)); ";

#[test]
fn row_173_what_a_run_may_execute_is_judged_by_what_is_executed() {
    let stage = Stage::new();
    let memfd = |then: &str| format!("{MEMFD}{then}");
    let roads = [
        ("a file in memory, by its descriptor", memfd("exec {\"/proc/self/fd/$fd\"} 'payload', 'ran';")),
        (
            "a file in memory, by execveat",
            memfd("my $e = ''; my ($a0, $a1) = (\"payload\\0\", \"ran\\0\"); \
                   my $argv = pack('PPQ', $a0, $a1, 0); my $envp = pack('Q', 0); \
                   syscall(322, $fd, $e, $argv, $envp, 0x1000);"),
        ),
        ("a file in memory, by the loader", memfd("exec $loader, \"/proc/self/fd/$fd\", 'ran';")),
        ("a file of a read grant, by the loader", "exec $loader, $payload, 'ran';".to_owned()),
        ("a file of a read grant", "chmod 0755, $payload; exec $payload, 'ran';".to_owned()),
        (
            "a copy in a write grant, by the loader",
            "open(my $f, '>:raw', \"$out/p\"); print $f slurp($payload); close $f; chmod 0755, \"$out/p\"; \
             exec $loader, \"$out/p\", 'ran';"
                .to_owned(),
        ),
        (
            "a copy in /dev/shm, by the loader",
            "open(my $f, '>:raw', '/dev/shm/p'); print $f slurp($payload); close $f; exec $loader, '/dev/shm/p', 'ran';"
                .to_owned(),
        ),
        (
            "a file without a name, by its descriptor",
            "use Fcntl; sysopen(my $f, '/tmp', O_RDWR | 020200000, 0755) or die \"tmpfile: $!\"; \
             syswrite($f, slurp($payload)); my $n = fileno($f); $^F = 255; \
             open(my $again, '<', \"/proc/self/fd/$n\") or die; close $f; $n = fileno($again); \
             exec {\"/proc/self/fd/$n\"} 'payload', 'ran';"
                .to_owned(),
        ),
        (
            "a file that was removed, by its descriptor",
            "open(my $f, '>:raw', '/tmp/p'); print $f slurp($payload); close $f; chmod 0755, '/tmp/p'; $^F = 255; \
             open(my $again, '<', '/tmp/p') or die; unlink '/tmp/p'; my $n = fileno($again); \
             exec {\"/proc/self/fd/$n\"} 'payload', 'ran';"
                .to_owned(),
        ),
    ];
    for (road, script) in roads {
        let (control, held) = stage.try_road(&script);
        assert_eq!(control.stdout.text(), "ran\n", "control: {road}: {}", control.stderr.text());
        assert_eq!(held.stdout.text(), "", "{road}");
    }
}

#[test]
fn row_173_a_library_of_the_skills_own_is_not_loaded() {
    let stage = Stage::new();
    let library = fs::read_dir("/usr/lib/x86_64-linux-gnu")
        .or_else(|_| fs::read_dir("/usr/lib/aarch64-linux-gnu"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with("libz.so.1"))
        .expect("zlib");
    fs::copy(library.canonicalize().unwrap(), stage.given.path().join("mine.so")).unwrap();
    let (control, held) = stage.try_road(
        "use DynaLoader; print DynaLoader::dl_load_file(\"$given/mine.so\", 0) ? 'loaded' : 'held';",
    );
    assert_eq!(control.stdout.text(), "loaded", "{}", control.stderr.text());
    assert_eq!(held.stdout.text(), "held", "{}", held.stderr.text());
    let preload = "$ENV{LD_PRELOAD} = \"$given/mine.so\"; exec '/bin/sh', '-c', 'while read -r line; do case $line in \
                   *r-xp*mine.so) echo loaded;; esac; done < /proc/self/maps';";
    let (control, held) = stage.try_road(preload);
    assert!(control.stdout.text().contains("loaded"), "{}", control.stderr.text());
    assert!(!held.stdout.text().contains("loaded"), "{}", held.stderr.text());
}

/// ELF files that name a loader, and so can be started by it, in a folder and those below it.
fn programs_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            programs_in(&entry.path(), found);
        } else if metadata.is_file() && metadata.mode() & 0o111 != 0 && found.len() < 40 {
            let head = fs::read(entry.path()).unwrap_or_default();
            let interpreted =
                head.get(..4096).is_some_and(|head| head.windows(8).any(|part| part == b"ld-linux"));
            if head.starts_with(b"\x7fELF") && interpreted {
                found.push(entry.path());
            }
        }
    }
}

#[test]
fn row_173_the_loader_starts_no_other_program_of_the_system() {
    let mut others = vec![PathBuf::from("/usr/bin/id"), PathBuf::from("/usr/sbin/chroot")];
    for folder in ["/usr/libexec", "/usr/lib/git-core", "/usr/lib/openssh", "/usr/lib/gnupg", "/usr/lib/apt"]
    {
        programs_in(Path::new(folder), &mut others);
    }
    let mut tried = 0;
    for other in others {
        // Told to verify, the loader maps the program and executes nothing of it: no other program is really started by this.
        let script =
            format!("exit system('{}', '--verify', '{}') >> 8;", loader().display(), other.display());
        let (control, held) = (perl(plan(), &script), perl(plan().programs(["perl"]), &script));
        if control.success() {
            tried += 1;
            assert!(!held.success(), "{}", other.display());
        }
    }
    assert!(tried > 4, "control: the loader takes other programs where it may");
}

#[test]
fn row_173_another_name_of_an_allowed_program_is_not_that_program() {
    let same = |path: &Path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    let second = fs::read_dir("/usr/bin").unwrap().map(|entry| entry.unwrap().path()).find(|path| {
        path.to_string_lossy().starts_with("/usr/bin/perl5")
            && path.is_file()
            && same(path) == same(Path::new("/usr/bin/perl"))
    });
    let second = second.expect("Debian's perl has two names for one file");
    let script = format!("exec {{'{}'}} 'perl', '-e', 'print \"ran\"';", second.display());
    assert_eq!(perl(plan(), &script).stdout.text(), "ran");
    assert_eq!(perl(plan().programs(["perl"]), &script).stdout.text(), "");
    // By its own name, and by a link to it, it is.
    let own = "exec {'/usr/bin/perl'} 'perl', '-e', 'print \"ran\"';";
    assert_eq!(perl(plan().programs(["perl"]), own).stdout.text(), "ran");
    let link = "symlink '/usr/bin/perl', '/tmp/other'; exec {'/tmp/other'} 'perl', '-e', 'print \"ran\"';";
    assert_eq!(perl(plan().programs(["perl"]), link).stdout.text(), "ran");
}

#[test]
fn named_programs_work_with_their_libraries_and_modules() {
    let script = "use POSIX; use Data::Dumper; use List::Util 'sum'; use Socket; print sum(1, 2), ' ', POSIX::floor(2.5);";
    let outcome = perl(plan().programs(["perl"]), script);
    assert_eq!(outcome.stdout.text(), "3 2", "{}", outcome.stderr.text());
    // A folder that is named holds libraries as well as programs.
    let stage = Stage::new();
    let named = stage.plan().programs(["perl".into(), stage.given.path().into_os_string()]);
    let script =
        format!("chmod 0755, '{0}'; exec '{0}', 'ran';", stage.given.path().join("payload").display());
    let outcome = perl(named, &script);
    assert_eq!(outcome.stdout.text(), "ran\n", "{}", outcome.stderr.text());
}
