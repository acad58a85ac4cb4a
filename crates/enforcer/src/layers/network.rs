//! The network: a namespace with nothing in it but its own loopback interface.
//!
//! Nothing leads out of it. Names and addresses that are granted will be served here, by listeners that are made before the
//! program starts and handed to the launching program.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::step::{Applied, At as _, Step};
use crate::sys;

/// Switches the loopback interface on, so that a program can talk to itself.
pub(crate) fn apply() -> Applied {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    let socket = socket.at(Step::Loopback)?;
    sys::loopback::up(std::os::fd::AsFd::as_fd(&socket)).at(Step::Loopback)
}
