//! Changing what is known about files that were not granted: modes, owners, times, attributes.

use std::fs::{self, File, Permissions};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried};
use crate::scene::{Scene, c_path};
use crate::sys;

/// After 1970.
const LONG_AGO: Duration = Duration::from_secs(86_401);

const fn metadata(name: &'static str, what: &'static str, run: fn(&Scene) -> Tried) -> Technique {
    technique(Group::Write, name, Control::User, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    metadata("meta-chmod", "Changes the mode of a file outside.", |s| {
        let path = s.outside("chmod");
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        mode_is(&path, 0o600)
    }),
    metadata("meta-fchmodat2", "Changes the mode of a file outside by the new call.", |s| {
        let path = s.outside("fchmodat2");
        sys::fchmodat2(&c_path(&path)?, 0o600)?;
        mode_is(&path, 0o600)
    }),
    metadata(
        "meta-chmod-by-descriptor",
        "Changes a mode by a descriptor that was opened for nothing.",
        |s| {
            let path = s.outside("chmod-by-descriptor");
            let file = File::options().read(true).custom_flags(libc::O_PATH).open(&path)?;
            let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
            fs::set_permissions(by_descriptor, Permissions::from_mode(0o600))?;
            mode_is(&path, 0o600)
        },
    ),
    metadata("meta-chown", "Changes the owner of a file outside, to the same.", |s| {
        let path = s.outside("chown");
        let group = fs::metadata(&path)?.gid();
        std::os::unix::fs::chown(&path, None, Some(group))?;
        Ok("the kernel did it".into())
    }),
    metadata("meta-utimes", "Changes the times of a file outside.", |s| {
        let path = s.outside("utimes");
        let then = TimeSpec::from(LONG_AGO);
        utimensat(nix::fcntl::AT_FDCWD, &path, &then, &then, UtimensatFlags::NoFollowSymlink)?;
        if fs::metadata(&path)?.modified()? != SystemTime::UNIX_EPOCH + LONG_AGO {
            return Err(Stopped::held("its time is as before"));
        }
        Ok("it is old now".into())
    }),
    metadata("meta-utimes-by-descriptor", "Changes times by a descriptor for reading.", |s| {
        let file = File::open(s.outside("utimes"))?;
        file.set_modified(SystemTime::UNIX_EPOCH)?;
        Ok("the kernel did it".into())
    }),
    technique(
        Group::Write,
        "meta-xattr",
        Control::Host("some file systems have no attributes"),
        "Gives a file outside an attribute.",
        |s| {
            sys::setxattr(&c_path(&s.outside("xattr"))?, c"user.skillsandbox-probe", b"1")?;
            Ok("it has it".into())
        },
    ),
    technique(
        Group::Write,
        "meta-flags",
        Control::Host("some file systems have no flags"),
        "Sets a flag of a file outside by a descriptor for reading.",
        |s| {
            let file = File::open(s.outside("flags"))?;
            sys::set_nodump(file.as_fd())?;
            Ok("it is set".into())
        },
    ),
    metadata("meta-watch", "Watches a file outside for being used.", |s| {
        sys::inotify_watch(&c_path(&s.outside("watched"))?)?;
        Ok("it is watched".into())
    }),
    metadata("meta-lock", "Locks a file outside, which others may wait for.", |s| {
        File::open(s.outside("watched"))?.try_lock().map_err(std::io::Error::from)?;
        Ok("it is locked".into())
    }),
];

fn mode_is(path: &std::path::Path, mode: u32) -> Tried {
    match fs::metadata(path)?.permissions().mode() & 0o7777 {
        is if is == mode => Ok(format!("it is {is:o}")),
        is => Err(Stopped::held(format!("it is {is:o} as before"))),
    }
}
