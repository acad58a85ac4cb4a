//! What the process itself may do: capabilities, users, limits. Here `through` means that a right is left that nobody needs.

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};
use nix::unistd::{Gid, Uid, geteuid, setgid, setgroups, setresgid, setresuid, setuid};

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::Scene;
use crate::{status, sys};

const fn right(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Credential, name, control, what, run)
}
const INHERITED: Control = Control::Host("depends on who starts it");

pub(super) const TECHNIQUES: &[Technique] = &[
    right("cap-effective", Control::Root, "Looks for capabilities in use.", |_| empty("CapEff")),
    right("cap-permitted", Control::Root, "Looks for capabilities that could be used.", |_| empty("CapPrm")),
    right("cap-inheritable", INHERITED, "Looks for capabilities to be inherited.", |_| empty("CapInh")),
    right("cap-bounding", Control::User, "Looks for capabilities a program could give.", |_| empty("CapBnd")),
    right("cap-ambient", INHERITED, "Looks for capabilities that programs keep.", |_| empty("CapAmb")),
    right("no-new-privileges", Control::User, "Looks whether programs may give rights.", |_| {
        is_set("NoNewPrivs", "1")
    }),
    right("seccomp-mode", Control::User, "Looks whether calls are filtered.", |_| is_set("Seccomp", "2")),
    right("securebits", Control::User, "Looks whether root is special, now or later.", |_| {
        // NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE, each with its lock (capabilities(7)).
        const WANTED: i32 = 0b1100_1111;
        let bits = sys::prctl(libc::PR_GET_SECUREBITS, 0)?;
        match WANTED & !bits {
            0 => Err(Stopped::held(format!("{bits:#x}"))),
            missing => Ok(format!("{bits:#x}, without {missing:#x}")),
        }
    }),
    right("setuid", Control::Root, "Becomes another user.", |_| {
        any_of(
            others().map(|id| (id, setuid(Uid::from_raw(id)).map_err(Stopped::from).map(|()| changed(id)))),
        )
    }),
    right("setresuid", Control::Root, "Becomes another user in all three ways.", |_| {
        any_of(others().map(|id| {
            let id = Uid::from_raw(id);
            (id, setresuid(id, id, id).map_err(Stopped::from).map(|()| changed(id.as_raw())))
        }))
    }),
    right("setgid", Control::Root, "Becomes a member of another group.", |_| {
        any_of(
            [0, 1, 65534]
                .into_iter()
                .filter(|id| *id != nix::unistd::getegid().as_raw())
                .map(|id| (id, setgid(Gid::from_raw(id)).map_err(Stopped::from).map(|()| changed(id)))),
        )
    }),
    right("setresgid", Control::Root, "Becomes a member of another group in all three ways.", |_| {
        let id = Gid::from_raw(65534);
        setresgid(id, id, id)?;
        Ok(changed(65534))
    }),
    right("setgroups", Control::Root, "Leaves all groups, some of which may forbid.", |_| {
        setgroups(&[])?;
        Ok("it has none now".into())
    }),
    right("raise-limit", INHERITED, "Raises a limit that was set for it.", |_| {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        if hard == RLIM_INFINITY {
            return Ok("there is none".into());
        }
        setrlimit(Resource::RLIMIT_NOFILE, soft, hard + 1)?;
        Ok("raised".into())
    }),
    right("core-limit", INHERITED, "Looks whether a crash may leave its memory in a file.", |_| {
        match getrlimit(Resource::RLIMIT_CORE)? {
            (_, 0) => Err(Stopped::held("0")),
            // Too small for a file, and the one value that keeps it from a program that core_pattern pipes to (core(5)).
            (_, 1) => Err(Stopped::held("1")),
            (_, hard) => Ok(format!("up to {hard} bytes")),
        }
    }),
    right(
        "core-limit-lower",
        Control::User,
        "Lowers the limit that keeps crashes from their handler.",
        |_| {
            // A handler that core_pattern pipes to is run for any limit but 1 (core(5)), and it runs as root on the host.
            setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
            Ok("lowered".into())
        },
    ),
    right("core-dump", INHERITED, "Crashes, and looks whether its memory is in a file.", core_dump),
    right("realtime", Control::Root, "Runs before everything else.", |_| {
        sys::become_realtime()?;
        Ok("it does".into())
    }),
];

/// Users this process is not.
fn others() -> impl Iterator<Item = u32> {
    [0, 1, 65534].into_iter().filter(|id| *id != geteuid().as_raw())
}

fn changed(id: u32) -> String {
    format!("it is {id} now")
}

fn empty(set: &str) -> Tried {
    match status::mask(set)? {
        0 => Err(Stopped::held("none")),
        mask => Ok(format!("{mask:016x}")),
    }
}

fn is_set(field: &str, wanted: &str) -> Tried {
    let is = status::field(field)?;
    if is == wanted { Err(Stopped::held(is)) } else { Ok(format!("it is {is}, not {wanted}")) }
}

/// The file, if there is one, falls in the granted folder and is removed.
fn core_dump(scene: &Scene) -> Tried {
    use nix::sys::wait::{WaitStatus, waitpid};
    let folder = scene.scratch_dir("core")?;
    let Some(child) = sys::fork().map_err(|error| Stopped::unable(crate::outcome::shown(&error)))? else {
        let _ = std::env::set_current_dir(&folder);
        if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_CORE) {
            let _ = setrlimit(Resource::RLIMIT_CORE, hard, hard);
        }
        std::process::abort();
    };
    let ended = waitpid(child, None);
    let left = std::fs::read_dir(&folder).map_or(0, Iterator::count);
    let _ = std::fs::remove_dir_all(&folder);
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let pattern = pattern.trim();
    match ended? {
        WaitStatus::Signaled(_, _, true) => Ok(format!("dumped, by the pattern `{pattern}`")),
        status if left > 0 => Ok(format!("{left} files left behind, {status:?}")),
        status => Err(Stopped::held(format!("{status:?}, nothing dumped; the pattern is `{pattern}`"))),
    }
}
