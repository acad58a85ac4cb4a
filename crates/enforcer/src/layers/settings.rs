//! Settings of the kernel that hold for the namespaces of one run: written by the init through its own, fresh /proc, before that becomes
//! read-only.

use std::ffi::{CStr, CString};
use std::os::fd::BorrowedFd;

use rustix::fs::{Mode, OFlags};

use crate::child::step::{AtStep as _, SetupStep, StepResult};
use crate::plan::RunLimits;
use crate::sys;

/// The kernel gives numbers from here on out again once it has passed it, and none below (`RESERVED_PIDS` in kernel/pid.c).
const FIRST_REUSED: u32 = 300;

/// Most bytes in each direction of a TCP connection. The kernel lets them grow to 4 and 6 MiB otherwise, of which only cgroups of
/// version 2 take notice; between two processes of one machine a quarter of one is as fast.
const TCP_BUFFERS: &CStr = c"4096 65536 262144";

/// One setting.
#[derive(Debug)]
struct KernelSetting {
    /// Below /proc.
    file: &'static CStr,
    value: CString,
    /// Whether the run fails where it cannot be made.
    is_required: bool,
}

/// What is set, in this order.
#[derive(Debug, Default)]
pub(crate) struct KernelSettings {
    settings: Vec<KernelSetting>,
    bounds_processes: bool,
}

impl KernelSettings {
    /// `is_supervised`: no cgroup holds the limits. `is_root`: the user who runs this is root, whom `RLIMIT_NPROC` does not bound.
    pub(crate) fn prepare(limits: &RunLimits, is_supervised: bool, is_root: bool) -> Self {
        let mut settings = Vec::new();
        let processes = limits.processes.filter(|_| is_supervised && has_own_pid_limit());
        if let Some(processes) = processes {
            // The init and the command have the numbers 1 and 2. All others come from a range that has room for so many, since the
            // first numbers are passed over: the kernel then refuses one more, whoever asks.
            let others = processes.saturating_sub(1).clamp(1, crate::cgroup::MAX_PIDS - FIRST_REUSED);
            let most = FIRST_REUSED + others;
            let mut add = |file, number: u32| {
                let value = CString::new(number.to_string()).unwrap_or_default();
                settings.push(KernelSetting { file, value, is_required: is_root });
            };
            add(c"sys/kernel/ns_last_pid", FIRST_REUSED);
            add(c"sys/kernel/pid_max", most);
        }
        if limits.memory.is_some() {
            for file in [c"sys/net/ipv4/tcp_rmem", c"sys/net/ipv4/tcp_wmem"] {
                settings.push(KernelSetting { file, value: TCP_BUFFERS.to_owned(), is_required: false });
            }
        }
        Self { settings, bounds_processes: processes.is_some() }
    }

    /// Whether the numbers that processes can have are as many as the processes that there may be.
    pub(crate) fn bounds_processes(&self) -> bool {
        self.bounds_processes
    }

    /// `proc` is the new, writable /proc.
    pub(crate) fn apply(&self, proc: BorrowedFd<'_>) -> StepResult {
        for (index, setting) in self.settings.iter().enumerate() {
            let written = write(proc, setting.file, setting.value.to_bytes());
            if setting.is_required {
                written.at_index(SetupStep::Setting, index)?;
            }
        }
        Ok(())
    }

    /// What a setting was, for a message.
    pub(crate) fn describe(&self, index: u16) -> String {
        let setting = self.settings.get(usize::from(index));
        setting
            .map(|setting| {
                format!("/proc/{} to {}", setting.file.to_string_lossy(), setting.value.to_string_lossy())
            })
            .unwrap_or_default()
    }
}

fn write(proc: BorrowedFd<'_>, file: &CStr, value: &[u8]) -> sys::Result<()> {
    let file = rustix::fs::openat(proc, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(file, value)?;
    Ok(())
}

/// Whether a pid namespace has a highest number of its own (Linux 6.14). Before, there was one for the whole machine, which must not be
/// touched: root could.
pub(crate) fn has_own_pid_limit() -> bool {
    sys::kernel_release() >= Some((6, 14))
}
