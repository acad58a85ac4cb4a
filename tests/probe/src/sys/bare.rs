//! Calls that can be made with arguments that cannot do anything: numbers, constant texts and null. What the kernel answers says
//! whether it looked at the arguments at all.

use std::ffi::CStr;
use std::io;

use super::check;

/// One argument.
#[derive(Clone, Copy, Debug)]
enum Arg {
    Number(i64),
    Text(&'static CStr),
}
use Arg::{Number, Text};

const NULL: Arg = Number(0);
const NO_FD: Arg = Number(-1);
const CWD: Arg = Number(libc::AT_FDCWD as i64);

/// A call with its arguments. Only the table below makes them, which is why trying one is safe.
#[derive(Debug)]
pub(crate) struct Bare {
    pub(crate) name: &'static str,
    number: libc::c_long,
    arguments: &'static [Arg],
}

impl Bare {
    pub(crate) fn attempt(&self) -> io::Result<i64> {
        let mut raw = [0; 6];
        for (slot, argument) in raw.iter_mut().zip(self.arguments) {
            *slot = match *argument {
                Number(number) => number,
                Text(text) => text.as_ptr() as i64,
            };
        }
        let [first, second, third, fourth, fifth, sixth] = raw;
        // SAFETY: every row of `BARE` hands over numbers, null and constant texts that end in NUL and that the call only reads. No
        // row names a call that maps, unmaps or writes memory of this process with such arguments.
        check(unsafe { libc::syscall(self.number, first, second, third, fourth, fifth, sixth) })
    }
}

const fn bare(name: &'static str, number: libc::c_long, arguments: &'static [Arg]) -> Bare {
    Bare { name, number, arguments }
}

/// A file that does not exist, for calls that would switch something if it did.
const NOWHERE: Arg = Text(c"/nonexistent/skillsandbox-probe");

/// The table. A comment says why a row is harmless where that is not plain.
pub(crate) const BARE: &[Bare] = &[
    // The new way to mount: each asks for the right to mount before it looks at a descriptor.
    bare("fsopen", libc::SYS_fsopen, &[Text(c"tmpfs"), NULL]),
    bare("fspick", libc::SYS_fspick, &[CWD, Text(c"/"), NULL]),
    bare("fsmount", libc::SYS_fsmount, &[NO_FD, NULL, NULL]),
    bare("fsconfig", libc::SYS_fsconfig, &[NO_FD, Number(6), NULL, NULL, NULL]),
    bare("move_mount", libc::SYS_move_mount, &[NO_FD, Text(c""), NO_FD, Text(c""), Number(0x44)]),
    // OPEN_TREE_CLONE | AT_RECURSIVE: a copy that is attached nowhere and goes with its descriptor.
    bare("open_tree", libc::SYS_open_tree, &[CWD, Text(c"/"), Number(0x8001)]),
    bare("mount_setattr", libc::SYS_mount_setattr, &[NO_FD, Text(c""), Number(0x1000), NULL, Number(32)]),
    bare("open_tree_attr", 467, &[CWD, Text(c"/"), Number(0x8001), NULL, NULL]),
    // UFFD_USER_MODE_ONLY, and without.
    bare("userfaultfd_user", libc::SYS_userfaultfd, &[Number(1)]),
    bare("userfaultfd", libc::SYS_userfaultfd, &[NULL]),
    // KEYCTL_GET_KEYRING_ID of the session keyring, without making one.
    bare("keyctl", libc::SYS_keyctl, &[NULL, Number(-3), NULL]),
    // Nothing is in it, and it goes with this process: KEY_SPEC_PROCESS_KEYRING.
    bare("add_key", libc::SYS_add_key, &[Text(c"user"), Text(c"probe"), Text(c"x"), Number(1), Number(-2)]),
    bare("request_key", libc::SYS_request_key, &[Text(c"user"), Text(c"skillsandbox-none"), NULL, NULL]),
    // Flags and counts that do not exist, so that not even an image that is loaded already is taken out.
    bare("kexec_load", libc::SYS_kexec_load, &[NULL, Number(1000), NULL, Number(0x4000)]),
    #[cfg(target_arch = "x86_64")]
    bare("kexec_file_load", libc::SYS_kexec_file_load, &[NO_FD, NO_FD, NULL, NULL, Number(0x4000)]),
    // An empty module.
    bare("init_module", libc::SYS_init_module, &[NULL, NULL, Text(c"")]),
    bare("finit_module", libc::SYS_finit_module, &[NO_FD, Text(c""), NULL]),
    bare("delete_module", libc::SYS_delete_module, &[NULL, NULL]),
    #[cfg(target_arch = "x86_64")]
    bare("iopl", libc::SYS_iopl, &[Number(3)]),
    // The port of the power-on self test; allowed to this process only, and not used.
    #[cfg(target_arch = "x86_64")]
    bare("ioperm", libc::SYS_ioperm, &[Number(0x80), Number(1), Number(1)]),
    bare("swapon", libc::SYS_swapon, &[NOWHERE, NULL]),
    bare("swapoff", libc::SYS_swapoff, &[NOWHERE]),
    // Not null, which would end accounting.
    bare("acct", libc::SYS_acct, &[NOWHERE]),
    // Q_GETFMT of user quotas.
    bare("quotactl", libc::SYS_quotactl, &[Number(0x80_0004 << 8), NOWHERE, NULL, NULL]),
    bare("quotactl_fd", 443, &[NO_FD, Number(0x80_0004 << 8), NULL, NULL]),
    // Writing an entry of no bytes.
    #[cfg(target_arch = "x86_64")]
    bare("modify_ldt", libc::SYS_modify_ldt, &[Number(1), NULL, NULL]),
    // Neither magic number: nothing but EINVAL can come of it.
    bare("reboot", libc::SYS_reboot, &[NULL, NULL, NULL, NULL]),
    // SYSLOG_ACTION_SIZE_BUFFER.
    bare("syslog", libc::SYS_syslog, &[Number(10), NULL, NULL]),
    #[cfg(target_arch = "x86_64")]
    bare("lookup_dcookie", libc::SYS_lookup_dcookie, &[NULL, NULL, NULL]),
    bare("nfsservctl", libc::SYS_nfsservctl, &[NULL, NULL, NULL]),
    #[cfg(target_arch = "x86_64")]
    bare("uselib", libc::SYS_uselib, &[NOWHERE]),
    #[cfg(target_arch = "x86_64")]
    bare("ustat", libc::SYS_ustat, &[NULL, NULL]),
    // FAN_CLASS_NOTIF | FAN_REPORT_FID, which ordinary users have; FAN_CLASS_CONTENT, which could answer for others.
    bare("fanotify_init", libc::SYS_fanotify_init, &[Number(0x200), NULL]),
    bare("fanotify_content", libc::SYS_fanotify_init, &[Number(4), NULL]),
    bare("memfd_secret", 447, &[NULL]),
    // In a process without a terminal: the runner gives each technique a session of its own.
    bare("vhangup", libc::SYS_vhangup, &[]),
    bare("pivot_root", libc::SYS_pivot_root, &[NOWHERE, NOWHERE]),
    // MNT_EXPIRE and MNT_DETACH exclude each other, which the kernel finds after it found that the caller may unmount.
    bare("umount2", libc::SYS_umount2, &[Text(c"/"), Number(6)]),
    // No such file system: the caller may mount, but not this.
    bare("mount", libc::SYS_mount, &[Text(c"none"), Text(c"/"), Text(c"skillsandbox-none"), NULL, NULL]),
];
