//! The sum of a tree, on real processes. The shell that a test starts stands for the sandbox's init.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};

use super::super::accounting::{ProcessTree, TreeUsage};
use super::*;

const MIB: u64 = 1 << 20;

/// A tree that is ready, and ends by itself: each process of it waits for the end of one input, which comes with the drop.
struct StartedTree {
    child: Child,
    input: Option<ChildStdin>,
}

impl StartedTree {
    /// A shell; descendants that do nothing are `cat <&3`.
    fn shell(script: &str) -> Self {
        Self::new(Command::new("sh").arg("-c").arg(format!("exec 3<&0\n{script}\necho ready; read end <&3")))
    }

    /// Python as the child of a shell; descendants that do nothing call `rest()`. `None`, said loudly, where there is no Python.
    fn python(script: &str) -> Option<Self> {
        if Command::new("python3").arg("-c").arg("").status().is_err() {
            let _ = writeln!(io::stderr(), "SKIPPED: there is no python3");
            return None;
        }
        let script = format!(
            "import ctypes, mmap, os, threading\n\
             def ready(): print('ready', flush=True)\n\
             def rest():\n    os.read(0, 1)\n    os._exit(0)\n\
             {script}"
        );
        // Not the last command, or some shells become it.
        Some(Self::new(Command::new("sh").arg("-c").arg("python3 -c \"$1\"; exit $?").arg("sh").arg(script)))
    }

    fn new(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        Self { child, input }
    }

    fn tree(&self) -> ProcessTree {
        ProcessTree::of(i32::try_from(self.child.id()).unwrap())
    }
}

impl Drop for StartedTree {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Measured until it is as expected: a process that was started need not have got far.
fn until(tree: &mut ProcessTree, expected: impl Fn(&TreeUsage) -> bool) -> TreeUsage {
    for _ in 0..3000 {
        let measured = tree.measure();
        if expected(&measured) {
            return measured;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {:?}", tree.measure());
}

/// Asked twice, as a supervisor does.
fn over(tree: &mut ProcessTree, limit: u64) -> Option<u64> {
    tree.measure();
    tree.over_limit(limit);
    tree.measure();
    tree.over_limit(limit)
}

#[test]
fn descendants_are_counted_and_init_is_not() {
    let alone = StartedTree::shell("");
    assert_eq!(alone.tree().measure(), TreeUsage::default());
    let started = StartedTree::shell("cat <&3 & cat <&3 & (cat <&3 & cat <&3 & wait) &");
    for by_parent in [false, true] {
        let mut tree = started.tree();
        tree.ask_each_for_its_parent(by_parent);
        // Two, and a shell with two.
        let measured = until(&mut tree, |measured| measured.processes == 5);
        assert!(measured.memory > 0, "{by_parent}");
    }
    assert!(ProcessTree::of(i32::MAX).measure() == TreeUsage::default());
}

#[test]
fn orphans_of_threads_and_of_the_dead_are_found() {
    // A child of a thread that is not the first, and one whose parent has ended and whose reaper is Python.
    let Some(started) = StartedTree::python(
        "ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)\n\
         def thread():\n    if os.fork() == 0: rest()\n    os.read(0, 1)\n\
         threading.Thread(target=thread).start()\n\
         if os.fork() == 0:\n    if os.fork() == 0: rest()\n    os._exit(0)\n\
         os.wait()\n\
         ready()\nrest()",
    ) else {
        return;
    };
    // Python and its thread, and the two.
    until(&mut started.tree(), |measured| measured.processes == 4);
}

#[test]
fn memory_is_over_only_when_it_is_so_twice() {
    let Some(started) = StartedTree::python("kept = bytearray(os.urandom(1 << 20) * 96)\nready()\nrest()")
    else {
        return;
    };
    let mut tree = started.tree();
    let measured = tree.measure();
    assert!(measured.memory >= 96 * MIB, "{measured:?}");
    assert_eq!(tree.over_limit(64 * MIB), None);
    tree.measure();
    let sum = tree.over_limit(64 * MIB).unwrap();
    assert!((96 * MIB..160 * MIB).contains(&sum), "{sum}");
    // A look in between that was not over begins anew.
    assert_eq!(tree.over_limit(1024 * MIB), None);
    assert_eq!(tree.over_limit(64 * MIB), None);
    assert!(tree.over_limit(64 * MIB).is_some());
}

#[test]
fn pages_shared_after_a_fork_count_once() {
    let Some(started) = StartedTree::python(
        "kept = bytearray(os.urandom(1 << 20) * 64)\n\
         for _ in range(7):\n    if os.fork() == 0: rest()\n\
         ready()\nrest()",
    ) else {
        return;
    };
    let mut tree = started.tree();
    // Cheaply seen it is eight times as much.
    assert!(tree.measure().memory >= 512 * MIB);
    assert_eq!(over(&mut tree, 160 * MIB), None);
    assert!(over(&mut tree, 60 * MIB).is_some());
}

#[test]
fn memory_of_a_process_whose_first_thread_has_ended_is_seen() {
    let Some(started) = StartedTree::python(
        "kept = bytearray(os.urandom(1 << 20) * 96)\n\
         def thread():\n    main.join(0.2)\n    ready()\n    rest()\n\
         main = threading.main_thread()\n\
         threading.Thread(target=thread).start()\n\
         ctypes.CDLL(None).syscall({'x86_64': 60}.get(os.uname().machine, 93), 0)",
    ) else {
        return;
    };
    let mut tree = started.tree();
    let measured = until(&mut tree, |measured| measured.processes == 2);
    assert!(measured.memory >= 96 * MIB, "{measured:?}");
    assert!(over(&mut tree, 64 * MIB).is_some());
}

#[test]
fn memory_in_files_that_are_only_memory_is_seen() {
    // Written, and never mapped: nobody's resident pages. The second has no entry in the first thread's table of files.
    for hidden in ["pass", "ctypes.CDLL(None).unshare(0x400)"] {
        let Some(started) = StartedTree::python(&format!(
            "def thread():\n    {hidden}\n    file = os.memfd_create('kept')\n    for _ in range(96): os.write(file, b'x' * (1 << 20))\n    \
             os.dup(file)\n    ready()\n    rest()\n\
             threading.Thread(target=thread).start()\n\
             os.read(0, 1)"
        )) else {
            return;
        };
        let mut tree = started.tree();
        let measured = tree.measure();
        assert!(measured.memory >= 96 * MIB && measured.memory < 160 * MIB, "{hidden}: {measured:?}");
        assert!(over(&mut tree, 64 * MIB).is_some(), "{hidden}");
    }
}

#[test]
fn shared_memory_counts_and_mapped_files_do_not() {
    let Some(started) = StartedTree::python(
        "kept = mmap.mmap(-1, 96 << 20)\nfor at in range(0, 96 << 20, 4096): kept[at] = 1\n\
         for _ in range(3):\n    if os.fork() == 0:\n        sum(kept[at] for at in range(0, 96 << 20, 4096))\n        rest()\n\
         ready()\nrest()",
    ) else {
        return;
    };
    let mut tree = started.tree();
    assert!(over(&mut tree, 64 * MIB).is_some());
    assert_eq!(over(&mut tree, 200 * MIB), None);

    // Beside this program: the folder for temporary files may itself be memory.
    let folder = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
    let file = folder.path().join("file");
    fs::write(&file, vec![1_u8; 96 << 20]).unwrap();
    let Some(started) = StartedTree::python(&format!(
        "kept = mmap.mmap(os.open({:?}, os.O_RDONLY), 0, prot=mmap.PROT_READ)\n\
         sum(kept[at] for at in range(0, 96 << 20, 4096))\nready()\nrest()",
        file.display()
    )) else {
        return;
    };
    let mut tree = started.tree();
    // Cheaply seen it does, which costs a second question and nothing else.
    assert!(tree.measure().memory >= 96 * MIB);
    assert_eq!(over(&mut tree, 64 * MIB), None);
}

#[test]
fn time_of_the_living_and_of_the_dead() {
    let Some(started) = StartedTree::python(
        "import time\n\
         def busy():\n    while time.process_time() < 0.2: pass\n\
         if os.fork() == 0:\n    busy()\n    os._exit(0)\n\
         os.wait()\nbusy()\nready()\nrest()",
    ) else {
        return;
    };
    let mut tree = started.tree();
    let before = tree.measure().cpu;
    assert!(before >= Duration::from_millis(380), "{before:?}");
    drop(started);
    // It cannot become less, though all are gone.
    assert_eq!(tree.measure().cpu, before);
}

#[test]
fn a_name_cannot_forge_the_figures() {
    // The name of a process is the part in brackets of its line.
    let Some(started) = StartedTree::python(
        "kept = bytearray(os.urandom(1 << 20) * 64)\n\
         open('/proc/self/comm', 'w').write('x) R 1 1 (0\\n0')\nready()\nrest()",
    ) else {
        return;
    };
    let mut tree = started.tree();
    let measured = tree.measure();
    assert_eq!(measured.processes, 1);
    assert!(measured.memory >= 64 * MIB, "{measured:?}");
}

#[test]
#[ignore = "prints figures; it asserts nothing. Run it alone, optimised"]
fn cost_of_a_look() {
    for count in [1, 50, 500] {
        let Some(started) = StartedTree::python(&format!(
            "kept = bytearray(os.urandom(1 << 20) * 8)\n\
             for _ in range({count} - 1):\n    if os.fork() == 0: rest()\n\
             ready()\nrest()"
        )) else {
            return;
        };
        let mut tree = started.tree();
        until(&mut tree, |measured| measured.processes == count);
        // By the time on a processor, so that it does not matter who else is busy.
        let used = || -> u64 {
            let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
            text.split_whitespace().next().unwrap().parse().unwrap()
        };
        let timed = |what: &mut dyn FnMut()| {
            let before = used();
            (0..100).for_each(|_| what());
            Duration::from_nanos((used() - before) / 100)
        };
        let look = timed(&mut || assert!(tree.measure().processes > 0));
        let exact = timed(&mut || assert!(tree.over_limit(1 << 40).is_none()));
        let mut out = io::stdout();
        writeln!(out, "{count} processes: {look:?} to measure, {exact:?} without files").unwrap();
    }
}
