//! Who named a destination: what is seen of `connect` before the packets come.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::attempt::CallingProcess;
use skillsandbox_terms::Transport;

/// Most destinations that are remembered.
const MOST: usize = 4096;

/// The time between a call and its packet, generously.
const SOON: Duration = Duration::from_millis(100);

/// The processes that named each destination lately.
#[derive(Debug, Default)]
pub(crate) struct ConnectObservations {
    seen: HashMap<SocketAddr, Vec<(Instant, CallingProcess)>>,
}

impl ConnectObservations {
    pub(crate) fn note_connect(&mut self, process: CallingProcess, destination: SocketAddr, now: Instant) {
        if self.seen.len() >= MOST && !self.seen.contains_key(&destination) {
            self.seen.retain(|_, seen| seen.iter().any(|(at, _)| now.duration_since(*at) < SOON));
            if self.seen.len() >= MOST {
                return;
            }
        }
        let seen = self.seen.entry(destination).or_default();
        seen.retain(|(at, other)| *other != process && now.duration_since(*at) < SOON);
        seen.push((now, process));
    }

    /// Who it was, unless it could have been several. Every connection has a call of its own; a datagram may come from somebody
    /// who was not seen (`sendmsg`), so a process that named its destination long ago is not taken for its sender.
    pub(crate) fn find_caller(
        &self,
        destination: SocketAddr,
        transport: Transport,
        now: Instant,
    ) -> Option<CallingProcess> {
        let seen = self.seen.get(&destination)?;
        let mut soon = seen.iter().filter(|(at, _)| now.duration_since(*at) < SOON);
        match (soon.next(), soon.next()) {
            (Some((_, only)), None) => Some(only.clone()),
            // It had to wait to be accepted.
            (None, _) if transport == Transport::Tcp => seen.last().map(|(_, process)| process.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillsandbox_terms::Transport::{Tcp, Udp};

    #[test]
    fn one_process_is_known_and_one_of_several_is_not() {
        let (a, b) = (CallingProcess::new(1, None), CallingProcess::new(2, None));
        let to: SocketAddr = "198.18.0.1:443".parse().unwrap();
        let start = Instant::now();
        let mut connects = ConnectObservations::default();
        assert_eq!(connects.find_caller(to, Udp, start), None);
        connects.note_connect(a.clone(), to, start);
        connects.note_connect(a.clone(), to, start);
        assert_eq!(connects.find_caller(to, Udp, start), Some(a.clone()));
        connects.note_connect(b.clone(), to, start);
        assert_eq!(connects.find_caller(to, Udp, start), None, "either of them");
        let later = start + Duration::from_mins(1);
        connects.note_connect(b.clone(), to, later);
        assert_eq!(connects.find_caller(to, Tcp, later), Some(b.clone()));
        let much_later = later + Duration::from_mins(1);
        assert_eq!(connects.find_caller(to, Tcp, much_later), Some(b));
        assert_eq!(connects.find_caller(to, Udp, much_later), None, "anybody");
        assert_eq!(connects.find_caller("198.18.0.1:80".parse().unwrap(), Tcp, later), None);
    }

    #[test]
    fn ever_new_destinations_are_not_kept() {
        let mut connects = ConnectObservations::default();
        let now = Instant::now();
        for number in 0..10_000_u32 {
            let to = SocketAddr::from((number.to_be_bytes(), 1));
            connects.note_connect(CallingProcess::new(1, None), to, now);
        }
        assert!(connects.seen.len() <= MOST);
    }
}
