//! Version 2 by way of systemd's user manager.
//!
//! Who logged in by ssh is in a group of root's, where nothing can be made. But the user's own manager has a part of the tree delegated
//! to it, and puts processes into a scope on request. A scope cannot be without a process, so it is made when there is one:
//! [`ControlGroup::adopt`](super::ControlGroup::adopt).
//!
//! The manager ignores a limit whose controller it does not have, so each is read back from the kernel before anything is believed.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::dbus::{DbusBody, DbusCall, DbusConnection};
use super::host::CgroupHost;
use super::{
    ControlGroup, GroupLimits, LimitMechanism, MAX_PIDS, MadeFolders, PERIOD, at_most, leftovers, open, read,
};

/// How long the manager may take to appear, and to move a process: two seconds each.
const ROUNDS: u32 = 400;
const WAIT: Duration = Duration::from_millis(5);

/// A scope that was not asked for yet.
pub(super) struct PendingScope {
    bus: DbusConnection,
    host: CgroupHost,
    wanted: GroupLimits,
}

/// The user's bus: `unix:path=…` of the environment, otherwise where it always is.
pub(super) fn socket() -> Result<PathBuf, String> {
    if let Ok(addresses) = env::var("DBUS_SESSION_BUS_ADDRESS") {
        let path = addresses.split(';').find_map(|address| {
            address.strip_prefix("unix:")?.split(',').find_map(|pair| pair.strip_prefix("path="))
        });
        return path
            .map(PathBuf::from)
            .ok_or_else(|| "DBUS_SESSION_BUS_ADDRESS names no path of a socket".to_owned());
    }
    match env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
        Some(folder) if folder.is_absolute() => Ok(folder.join("bus")),
        _ => Err("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set, so there is no user session"
            .to_owned()),
    }
}

/// Finds the manager. Nothing is made before there is a process for it.
pub(super) fn create(host: &CgroupHost, wanted: &GroupLimits, socket: &Path) -> Result<ControlGroup, String> {
    // Without this mount, nothing could be read back.
    host.unified_group()?;
    let mut bus = DbusConnection::connect(socket)?;
    find_manager(&mut bus, socket)
        .map_err(|error| format!("{}: no manager of units: {error}", socket.display()))?;
    Ok(ControlGroup {
        mechanism: LimitMechanism::CgroupV2Systemd,
        folder: None,
        join: Vec::new(),
        memory: None,
        pids: None,
        cpu: None,
        cpu_account: None,
        made: MadeFolders::new(Arc::clone(&host.kernel)),
        promise: Some(PendingScope { bus, host: host.clone(), wanted: *wanted }),
    })
}

/// Asks the bus for the manager. The bus may have been started by our own knock, and then the manager joins it only a moment later; that
/// there is one is seen by its own socket beside the bus.
fn find_manager(bus: &mut DbusConnection, socket: &Path) -> Result<(), String> {
    let comes = socket.parent().is_some_and(|folder| folder.join("systemd/private").exists());
    let mut asked = 0;
    loop {
        let mut body = DbusBody::default();
        body.string("org.freedesktop.systemd1");
        let answer = bus.call(&DbusCall {
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "GetNameOwner",
            signature: "s",
            body,
        });
        asked += 1;
        match answer {
            Ok(_) => return Ok(()),
            Err(reason) if !comes || asked == ROUNDS => return Err(reason),
            Err(_) => std::thread::sleep(WAIT),
        }
    }
}

impl PendingScope {
    /// Has a process moved into a scope of its own, and fills in the group.
    pub(super) fn keep(mut self, pid: i32, group: &mut ControlGroup) -> Result<(), String> {
        let unit = format!("{}.scope", leftovers::name());
        let number = u32::try_from(pid).map_err(|_| format!("{pid} is not a process number"))?;
        self.bus.call(&DbusCall {
            destination: "org.freedesktop.systemd1",
            path: "/org/freedesktop/systemd1",
            interface: "org.freedesktop.systemd1.Manager",
            member: "StartTransientUnit",
            signature: "ssa(sv)a(sa(sv))",
            body: scope_request(&unit, number, &self.wanted),
        })?;
        let folder = self.wait(pid, &unit)?;
        // From here on it is ours to end.
        group.made.folders.push(folder.clone());
        let kernel = &*self.host.kernel;
        for (file, text) in [("cgroup.max.descendants", "0"), ("memory.oom.group", "1")] {
            // There are managers that have set it already, and kernels that do not have it.
            let _ = kernel.write(&folder.join(file), text);
        }
        self.check(&folder)?;
        group.folder = Some(open(&folder)?);
        group.memory = Some(folder.clone());
        group.pids = Some(folder.clone());
        group.cpu = Some(folder);
        Ok(())
    }

    /// The answer comes when the job is queued; it is done when the process is there.
    fn wait(&self, pid: i32, unit: &str) -> Result<PathBuf, String> {
        let mut last = PathBuf::new();
        for _ in 0..ROUNDS {
            let text =
                self.host.kernel.membership(pid).map_err(|error| format!("/proc/{pid}/cgroup: {error}"))?;
            last =
                text.lines().find_map(|line| line.strip_prefix("0::")).map(PathBuf::from).unwrap_or_default();
            if last.file_name().is_some_and(|name| name == unit) {
                return self.host.unified_folder(&last);
            }
            std::thread::sleep(WAIT);
        }
        Err(format!("systemd did not move the process to {unit}; it is still in {}", last.display()))
    }

    /// Whether the kernel says what was asked for.
    fn check(&self, folder: &Path) -> Result<(), String> {
        let holds = |file: &str, holds: &dyn Fn(&str) -> bool| {
            let text =
                read(&folder.join(file)).map_err(|error| format!("systemd set no limit there: {error}"))?;
            if holds(text.trim()) {
                return Ok(());
            }
            Err(format!(
                "{}: systemd did not set the limit: it says {:?}",
                folder.join(file).display(),
                text.trim()
            ))
        };
        if let Some(memory) = self.wanted.memory {
            holds("memory.max", &at_most(memory))?;
            if folder.join("memory.swap.max").exists() {
                holds("memory.swap.max", &at_most(0))?;
            }
        }
        if let Some(processes) = self.wanted.processes {
            holds("pids.max", &at_most(processes.min(MAX_PIDS).into()))?;
        }
        if let Some(percent) = self.wanted.cpu_percent {
            // The manager chooses the period.
            holds("cpu.max", &|text| {
                let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
                match (numbers.next().flatten(), numbers.next().flatten()) {
                    (Some(quota), Some(period)) => {
                        quota.saturating_mul(100) <= u64::from(percent).saturating_mul(period)
                    }
                    _ => false,
                }
            })?;
        }
        Ok(())
    }
}

/// The arguments of `StartTransientUnit`: `org.freedesktop.systemd1(5)`, `systemd.resource-control(5)`.
fn scope_request(unit: &str, pid: u32, wanted: &GroupLimits) -> DbusBody {
    let long = |body: &mut DbusBody, name: &str, value: u64| {
        body.structure();
        body.string(name);
        body.signature("t");
        body.long(value);
    };
    let text = |body: &mut DbusBody, name: &str, value: &str| {
        body.structure();
        body.string(name);
        body.signature("s");
        body.string(value);
    };
    let mut body = DbusBody::default();
    body.string(unit);
    body.string("fail");
    body.array(8, |body| {
        text(body, "Description", "a run of a skill in SkillSandbox");
        // Forgotten when it ends, also by a failure.
        text(body, "CollectMode", "inactive-or-failed");
        body.structure();
        body.string("PIDs");
        body.signature("au");
        body.array(4, |body| body.number(pid));
        // What is below is ours, and the manager leaves it alone.
        body.structure();
        body.string("Delegate");
        body.signature("b");
        body.number(1);
        if let Some(memory) = wanted.memory {
            long(body, "MemoryMax", memory);
            long(body, "MemorySwapMax", 0);
        }
        if let Some(processes) = wanted.processes {
            long(body, "TasksMax", processes.min(MAX_PIDS).into());
        }
        if let Some(percent) = wanted.cpu_percent {
            // In a second, where ours is in a tenth.
            long(body, "CPUQuotaPerSecUSec", u64::from(percent) * (PERIOD / 10));
        }
    });
    body.array(8, |_| ());
    body
}
