//! Files that are the kernel or the machine. They are opened, and never written or read: that they can be opened is enough.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::{Scene, read};

const fn file(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::KernelFile, name, control, what, run)
}
const ROOT: Control = Control::Root;
const MACHINE: Control = Control::Host("a host may not have the file");

/// What a program may expect in `/dev`, and nothing else.
const HARMLESS: &[&str] = &["null", "zero", "full", "random", "urandom"];

pub(super) const TECHNIQUES: &[Technique] = &[
    file("proc-core-pattern", ROOT, "Opens what the kernel runs on a crash.", |_| {
        writable(&["/proc/sys/kernel/core_pattern"])
    }),
    file("proc-modprobe", MACHINE, "Opens what the kernel runs to find modules.", |_| {
        writable(&["/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug"])
    }),
    file("proc-binfmt", MACHINE, "Opens what decides which program runs which file.", |_| {
        writable(&["/proc/sys/fs/binfmt_misc/register"])
    }),
    file("proc-sysctl", ROOT, "Opens settings of the kernel.", |_| {
        writable(&["/proc/sys/vm/drop_caches", "/proc/sys/kernel/panic", "/proc/sys/net/ipv4/ip_forward"])
    }),
    file("proc-sysrq", MACHINE, "Opens what restarts the machine.", |_| writable(&["/proc/sysrq-trigger"])),
    file("proc-memory", MACHINE, "Opens the memory of the machine.", |_| {
        readable(&["/proc/kcore", "/dev/mem", "/dev/kmem", "/dev/port"])
    }),
    file("proc-log", MACHINE, "Opens the kernel's log.", |_| readable(&["/proc/kmsg", "/dev/kmsg"])),
    file("proc-symbols", ROOT, "Reads where the kernel is in memory.", |_| {
        let table = read(Path::new("/proc/kallsyms"))?;
        let shown =
            |line: &&[u8]| line.first().is_some_and(u8::is_ascii_hexdigit) && !line.starts_with(b"00000000");
        match table.split(|byte| *byte == b'\n').find(shown) {
            Some(_) => Ok("addresses are shown".into()),
            None => Err(Stopped::held("no address is shown")),
        }
    }),
    file("proc-own-limits", MACHINE, "Opens what spares a process when memory is short.", |_| {
        // Everybody may make itself a more likely victim; a less likely one only root. Writing the same is harmless.
        let own = "/proc/self/oom_score_adj";
        let now: i32 = fs::read_to_string(own)?.trim().parse().map_err(std::io::Error::other)?;
        fs::write(own, format!("{}", now - 1))?;
        fs::write(own, format!("{now}"))?;
        Ok("it is spared more".into())
    }),
    file("sys-writable", MACHINE, "Opens settings of devices and of the kernel.", |_| {
        writable(&[
            "/sys/kernel/uevent_helper",
            "/sys/power/state",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/module/kernel/parameters/panic",
            "/sys/block/vda/queue/scheduler",
        ])
    }),
    file("sys-debug", MACHINE, "Lists what developers see of the kernel.", |_| {
        any_of(["/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security"].map(|path| {
            let listed =
                fs::read_dir(path).map_err(Stopped::from).and_then(|entries| match entries.count() {
                    0 => Err(Stopped::held("it is empty")),
                    count => Ok(format!("{count} entries")),
                });
            (path, listed)
        }))
    }),
    file("sys-firmware", MACHINE, "Lists the variables of the firmware.", |_| {
        listed(&["/sys/firmware/efi/efivars"])
    }),
    file("cgroup-writable", MACHINE, "Opens control groups, which bound it and others.", |_| cgroups()),
    file("dev-nodes", Control::User, "Lists devices beyond the harmless ones.", |_| nodes()),
    file("dev-chmod", ROOT, "Changes the mode of the harmless devices, to the same.", |_| {
        any_of(HARMLESS.iter().map(|name| {
            let path = Path::new("/dev").join(name);
            let mode = fs::metadata(&path).map(|file| file.permissions());
            let changed = mode.and_then(|mode| fs::set_permissions(&path, mode));
            (name, changed.map(|()| "the kernel did it".to_owned()).map_err(Stopped::from))
        }))
    }),
    file("dev-chown", ROOT, "Changes the owner of the harmless devices, to the same.", |_| {
        any_of(HARMLESS.iter().map(|name| {
            let path = Path::new("/dev").join(name);
            let owner = fs::metadata(&path).map(|file| (file.uid(), file.gid()));
            let changed =
                owner.and_then(|(user, group)| std::os::unix::fs::chown(&path, Some(user), Some(group)));
            (name, changed.map(|()| "the kernel did it".to_owned()).map_err(Stopped::from))
        }))
    }),
    file("dev-open", MACHINE, "Opens devices of the machine.", |_| {
        readable(&["/dev/kvm", "/dev/fuse", "/dev/vsock", "/dev/net/tun", "/dev/loop-control"])
    }),
];

/// Opened for writing without being cut, and closed.
fn writable(paths: &[&str]) -> Tried {
    any_of(paths.iter().map(|path| {
        let opened = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path);
        (*path, opened.map(|_| "can be written".to_owned()).map_err(Stopped::from))
    }))
}

fn readable(paths: &[&str]) -> Tried {
    any_of(paths.iter().map(|path| {
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        (*path, opened.map(|_| "can be opened".to_owned()).map_err(Stopped::from))
    }))
}

fn listed(paths: &[&str]) -> Tried {
    any_of(paths.iter().map(|path| {
        let listed = fs::read_dir(path).map_err(Stopped::from).and_then(|entries| match entries.count() {
            0 => Err(Stopped::held("it is empty")),
            count => Ok(format!("{count} entries")),
        });
        (*path, listed)
    }))
}

/// The root of the tree and the group of this process, in either version.
fn cgroups() -> Tried {
    let mut folders = vec!["/sys/fs/cgroup".to_owned(), "/sys/fs/cgroup/unified".to_owned()];
    for line in fs::read_to_string("/proc/self/cgroup").unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kind), Some(group)) = (parts.next(), parts.next()) else { continue };
        let kind = kind.trim_start_matches("name=");
        folders.push(format!("/sys/fs/cgroup/{kind}{group}"));
    }
    let names = ["cgroup.procs", "release_agent", "memory.max", "memory.limit_in_bytes", "pids.max"];
    let files = folders.iter().flat_map(|folder| names.map(|name| format!("{folder}/{name}")));
    let files: Vec<String> = files.filter(|path| Path::new(path).exists()).collect();
    if files.is_empty() {
        return Err(Stopped::held("no control group can be seen"));
    }
    writable(&files.iter().map(String::as_str).collect::<Vec<_>>())
}

fn nodes() -> Tried {
    let mut found = Vec::new();
    for entry in fs::read_dir("/dev")?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_device = entry.file_type().is_ok_and(|kind| kind.is_char_device() || kind.is_block_device());
        if is_device && !HARMLESS.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(Stopped::held("only harmless ones"));
    }
    let shown: Vec<_> = found.iter().take(12).map(String::as_str).collect();
    Ok(format!("{} more: {} …", found.len(), shown.join(" ")))
}
