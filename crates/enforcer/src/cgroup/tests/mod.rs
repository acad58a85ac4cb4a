//! Logic on a kernel that is played (`v2`, `v1`, `hosts`, `systemd`), and the real one of the machine the tests run on (`real`, `tree`).

mod fake;
mod hosts;
mod real;
#[cfg(feature = "systemd")]
mod systemd;
mod tree;
mod v1;
mod v2;

use super::*;
