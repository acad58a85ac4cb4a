//! Descriptors that are closed by the kernel when it comes to it.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

/// Has the kernel hold these descriptors, too, and close them when it comes to it: they are sent to a socket that then nobody can reach any more, and
/// what is in such sockets is collected by a thread of the kernel's own (since Linux 6.8; before, by whoever closes the socket). Whoever closes
/// them after this does not close the last. Where it cannot be done, that is all that is lost.
pub(super) fn leave_to_kernel(descriptors: &[BorrowedFd<'_>]) {
    let pair = rustix::net::socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    let Ok((sender, holder)) = pair else { return };
    // The socket holds itself, so that it is not gone when it is closed.
    let all: Vec<BorrowedFd<'_>> = descriptors.iter().copied().chain([holder.as_fd()]).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LEFT_AT_ONCE))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if rights.push(SendAncillaryMessage::ScmRights(&all)) {
        let _ = rustix::net::sendmsg(&sender, &[IoSlice::new(&[0])], &mut rights, SendFlags::NOSIGNAL);
    }
    drop(holder);
    // Last: this is what makes the kernel look.
    drop(sender);
}

/// Most descriptors that are left to the kernel at once.
const LEFT_AT_ONCE: usize = 8;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn what_is_left_to_the_kernel_is_closed() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        leave_to_kernel(&[writer.as_fd()]);
        drop(writer);
        // A pipe ends when its last writer is closed.
        let until = Instant::now() + Duration::from_secs(30);
        let mut ended = false;
        while !ended && Instant::now() < until {
            let mut fds = [PollFd::new(&reader, PollFlags::IN)];
            let _ = poll(&mut fds, Some(&Timespec { tv_sec: 1, tv_nsec: 0 }));
            ended = fds.iter().any(|fd| fd.revents().contains(PollFlags::HUP));
        }
        assert!(ended, "nobody holds it any more");
    }

    #[test]
    fn too_many_are_closed_by_who_has_them() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        leave_to_kernel(&[writer.as_fd(); LEFT_AT_ONCE]);
        drop(writer);
        assert_eq!(rustix::io::read(&reader, &mut [0; 1]).unwrap(), 0);
    }
}
