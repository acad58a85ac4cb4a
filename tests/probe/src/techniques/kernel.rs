//! Parts of the kernel that a skill has no business with: each has had holes, and none is needed.

use nix::sys::ptrace;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime, clock_settime};

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of, reached, shown};
use crate::scene::Scene;
use crate::sys::{self, BARE};

const fn kernel(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Kernel, name, control, what, run)
}
const ROOT: Control = Control::Root;
const USER: Control = Control::User;
const BUILT: Control = Control::Host("kernels may be built without it, or have it switched off");
const GONE: Control = Control::Host("newer kernels have not got the call any more");
const MACHINE: Control = Control::Host("only on some machines");

pub(super) const TECHNIQUES: &[Technique] = &[
    kernel("bpf", BUILT, "Makes a map for programs in the kernel.", |_| reached(sys::bpf_map())),
    kernel("perf-event", BUILT, "Measures itself by the kernel's counters.", |_| {
        reached(sys::perf_event(0, -1))
    }),
    kernel("perf-event-cpu", BUILT, "Measures everything that runs on a processor.", |_| {
        reached(sys::perf_event(-1, 0))
    }),
    kernel("large-pages", BUILT, "Asks for pages that no limit on memory counts.", |_| {
        let tried = sys::large_pages()
            .map(|(call, got)| (call, got.map(|()| "the call succeeded".to_owned()).map_err(Stopped::from)));
        any_of(tried)
    }),
    kernel("io-uring", BUILT, "Makes a ring for calls that no filter sees.", |_| reached(sys::io_uring())),
    kernel("call-userfaultfd-user", BUILT, "Handles its own page faults.", |_| call("userfaultfd_user")),
    kernel("call-userfaultfd", BUILT, "Handles page faults of the kernel for itself.", |_| {
        call("userfaultfd")
    }),
    kernel("call-keyctl", BUILT, "Looks up a keyring.", |_| call("keyctl")),
    kernel("call-add-key", BUILT, "Adds a key to a keyring.", |_| call("add_key")),
    kernel("call-request-key", BUILT, "Asks for a key, for which the kernel may start a program.", |_| {
        call("request_key")
    }),
    kernel("call-kexec-load", BUILT, "Loads another kernel, an impossible one.", |_| call("kexec_load")),
    kernel("call-kexec-file-load", BUILT, "Loads another kernel from no file.", |_| call("kexec_file_load")),
    kernel("call-init-module", BUILT, "Loads an empty module.", |_| call("init_module")),
    kernel("call-finit-module", BUILT, "Loads a module from no file.", |_| call("finit_module")),
    kernel("call-delete-module", BUILT, "Removes a module without a name.", |_| call("delete_module")),
    kernel("call-iopl", MACHINE, "Asks for all ports of the machine.", |_| call("iopl")),
    kernel("call-ioperm", MACHINE, "Asks for one port of the machine.", |_| call("ioperm")),
    kernel("call-swapon", BUILT, "Swaps to a file that does not exist.", |_| call("swapon")),
    kernel("call-swapoff", BUILT, "Stops swapping to a file that does not exist.", |_| call("swapoff")),
    kernel("call-acct", BUILT, "Has processes recorded in a file that does not exist.", |_| call("acct")),
    kernel("call-quotactl", BUILT, "Asks for the quota of no disk.", |_| call("quotactl")),
    kernel("call-quotactl-fd", BUILT, "Asks for the quota of no descriptor.", |_| call("quotactl_fd")),
    kernel("call-modify-ldt", MACHINE, "Adds nothing to its table of segments.", |_| call("modify_ldt")),
    kernel("call-reboot", ROOT, "Asks for a restart with the wrong magic numbers.", |_| call("reboot")),
    kernel("call-syslog", BUILT, "Asks for the size of the kernel's log.", |_| call("syslog")),
    kernel("call-lookup-dcookie", GONE, "Looks up a path by a cookie.", |_| call("lookup_dcookie")),
    kernel(
        "call-nfsservctl",
        Control::Never("the call was removed with Linux 3.1"),
        "Talks to the NFS server.",
        |_| call("nfsservctl"),
    ),
    kernel("call-uselib", GONE, "Loads a library by the kernel.", |_| call("uselib")),
    kernel("call-ustat", MACHINE, "Asks for a file system by its device.", |_| call("ustat")),
    kernel("call-vhangup", ROOT, "Hangs up its terminal, having none.", |_| {
        // The runner gave this process a session of its own. If it did not succeed, the user's terminal would be gone.
        if std::fs::File::open("/dev/tty").is_ok() {
            return Err(Stopped::unable("there is a terminal to lose"));
        }
        call("vhangup")
    }),
    kernel("call-fanotify-init", BUILT, "Watches file systems.", |_| call("fanotify_init")),
    kernel("call-fanotify-content", ROOT, "Decides which files others may open.", |_| {
        call("fanotify_content")
    }),
    kernel("call-memfd-secret", BUILT, "Takes memory from the kernel's own map.", |_| call("memfd_secret")),
    kernel("clock-settime", ROOT, "Sets the clock to what it is.", |_| {
        let now: TimeSpec = clock_gettime(ClockId::CLOCK_REALTIME)?;
        reached(clock_settime(ClockId::CLOCK_REALTIME, now))
    }),
    kernel(
        "settimeofday",
        ROOT,
        "Sets the time of day to what it is.",
        |_| reached(sys::settimeofday_same()),
    ),
    kernel(
        "adjtimex",
        ROOT,
        "Sets the status of the clock to what it is.",
        |_| reached(sys::adjtimex_same()),
    ),
    kernel("sethostname", ROOT, "Changes the name of the host.", hostname),
    kernel("personality-addresses", USER, "Has programs laid out at known addresses.", |_| {
        personality(0x004_0000)
    }),
    kernel("personality-execute", USER, "Has everything that can be read be executable.", |_| {
        personality(0x040_0000)
    }),
    kernel("personality-high-bits", USER, "The same with a bit that a filter may compare.", |_| {
        sys::personality(0x004_0000 | (1 << 32))?;
        Ok("it is so now".into())
    }),
    kernel("seccomp-listener", USER, "Puts a filter with a listener of its own on itself.", |_| {
        sys::prctl(libc::PR_SET_NO_NEW_PRIVS, 1)?;
        sys::seccomp_listener()?;
        Ok("it answers its own questions".into())
    }),
    kernel("ptrace-traceme", USER, "Has its parent trace it.", |_| reached(ptrace::traceme())),
    kernel("ptrace-child", USER, "Traces a child of its own, and so its calls.", |_| {
        trace_child(ptrace::Options::empty())
    }),
    kernel("ptrace-suspend-seccomp", ROOT, "Traces a child and switches its filter off.", |_| {
        // PTRACE_O_SUSPEND_SECCOMP, which the library has not got.
        trace_child(ptrace::Options::from_bits_retain(1 << 21))
    }),
    kernel("x32-call", BUILT, "Calls by the x32 table.", |_| match sys::x32_getpid() {
        None => Err(Stopped::unable("this processor has no such table")),
        Some(result) => Ok(format!("it answered {}", result?)),
    }),
    kernel("i386-call", BUILT, "Calls by the 32-bit table, as int 0x80 does.", |_| int80(20, "getpid")),
    kernel("i386-socketcall", BUILT, "Asks for no socket by the 32-bit table.", |_| int80(102, "socketcall")),
    kernel("i386-mount", BUILT, "Asks to mount nothing by the 32-bit table.", |_| int80(21, "mount")),
    kernel("i386-ptrace", BUILT, "Has its parent trace it by the 32-bit table.", |_| int80(26, "ptrace")),
    kernel("i386-unshare", BUILT, "Leaves no name space by the 32-bit table.", |_| int80(310, "unshare")),
    kernel("i386-keyctl", BUILT, "Asks for a keyring by the 32-bit table.", |_| int80(288, "keyctl")),
];

/// Tries one row of the table of plain calls.
pub(super) fn call(name: &str) -> Tried {
    match BARE.iter().find(|call| call.name == name) {
        Some(call) => reached(call.attempt()),
        None => Err(Stopped::unable("this machine has no such call")),
    }
}

/// In a name space of names of its own, every name is its own affair. In the host's, the same name is set again.
fn hostname(scene: &Scene) -> Tried {
    if scene.shares_with_host("uts") == Some(false) {
        let changed = nix::unistd::sethostname("probe.invalid");
        let changed = changed.map_or_else(|errno| format!("{errno:?}"), |()| "only its own".to_owned());
        return Err(Stopped::held(changed));
    }
    reached(nix::unistd::sethostname(&scene.context.host.hostname))
}

fn personality(flag: u64) -> Tried {
    let before = sys::personality(0xffff_ffff)?;
    sys::personality(before | flag)?;
    match sys::personality(0xffff_ffff)? & flag {
        0 => Err(Stopped::held("it is as before")),
        _ => Ok("it is so now".into()),
    }
}

fn trace_child(options: ptrace::Options) -> Tried {
    let child = sys::fork().map_err(|error| Stopped::unable(shown(&error)))?;
    let Some(child) = child else {
        std::thread::sleep(std::time::Duration::from_secs(2));
        sys::exit_now(0);
    };
    let seized = ptrace::seize(child, options);
    let _ = nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGKILL);
    let _ = nix::sys::wait::waitpid(child, None);
    seized?;
    Ok("it is traced".into())
}

/// By this door too, what is refused for its arguments was let in.
fn int80(number: u32, name: &str) -> Tried {
    match sys::int80(number) {
        None => Err(Stopped::unable("this processor has no such door")),
        Some(result) => any_of([(name, reached(result))]),
    }
}
