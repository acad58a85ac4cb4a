//! What a run has of eyes and ears, from the moment its walls stand to its end.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use skillsandbox_egress::{Attempt, Broker, Policy, Record, Sockets, Tap};

use super::destinations::Destinations;
use super::notify_listener::{Eye, Sight};
use super::path_verdicts::Paths;
use super::record_queue::Queue;
use super::refusals::RefusedCall;
use super::reporter::Desk;
use super::syscall_record::{Raw, RawTried};
use super::{Actor, Audit, Observer};
use crate::child::Prepared;
use crate::error::Error;
use crate::layers::network;
use crate::plan::{Command, Plan};
use crate::supervise::Wake;
use crate::supervise::launch::{Said, host};

/// Who sees, who tells, and who serves the network.
#[derive(Debug)]
pub(crate) struct Auditing {
    /// Until an eye is opened, and where none is.
    sight: Option<Sight>,
    eye: Option<Eye>,
    telling: Option<Telling>,
    desk: Option<Desk>,
    wanted: Audit,
    required: bool,
    egress: Arc<Policy>,
    /// Whether there ever was an eye.
    hears: bool,
}

struct Telling {
    queue: Arc<Queue>,
    observer: Arc<dyn Observer>,
    paths: Option<Paths>,
}

impl std::fmt::Debug for Telling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telling").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// What was seen.
pub(crate) struct Audited {
    pub(crate) refused: Vec<RefusedCall>,
    pub(crate) network: Record,
    pub(crate) hears: bool,
    pub(crate) audit: Audit,
    pub(crate) lost: u64,
}

impl Auditing {
    pub(crate) fn new(plan: &Plan, command: &Command, paths: Paths, wake: &Arc<Wake>) -> Self {
        let inside = paths.inside();
        let telling = command.observer.clone().map(|observer| Telling {
            queue: Arc::default(),
            observer,
            paths: Some(paths),
        });
        let queue = telling.as_ref().map(|telling| Arc::clone(&telling.queue));
        let attempts = queue.clone().map(|queue| Arc::new(Forward(queue)) as Arc<_>);
        let required = command.audit_required.then(|| Arc::clone(wake));
        Self {
            sight: Some(Sight::new(plan.profile, Destinations::new(attempts), queue, inside, required)),
            eye: None,
            telling,
            desk: None,
            wanted: command.sees(),
            required: command.audit_required,
            egress: Arc::new(plan.egress.clone()),
            hears: false,
        }
    }

    /// Every wall stands, and the program is not executed yet.
    pub(crate) fn begin(&mut self, prepared: &Prepared, said: &mut Said) -> Result<(), Error> {
        if let Some(telling) = &mut self.telling
            && let Some(paths) = telling.paths.take()
        {
            let desk = Desk::open(Arc::clone(&telling.queue), Arc::clone(&telling.observer), paths);
            self.desk = Some(desk.map_err(host("start a thread"))?);
        }
        self.serve(prepared, std::mem::take(&mut said.sockets))?;
        if let Some(listener) = said.listener.take()
            && let Some(sight) = self.sight.take()
        {
            self.eye = Some(Eye::open(listener, sight).map_err(host("start a thread"))?);
            self.hears = true;
        }
        Ok(())
    }

    /// Begins to serve the sockets that were made inside.
    fn serve(&mut self, prepared: &Prepared, sockets: Vec<OwnedFd>) -> Result<(), Error> {
        let (Some(served), Some(sight)) = (&prepared.network.served, &mut self.sight) else { return Ok(()) };
        let mut sockets = sockets.into_iter();
        let streams: Vec<_> = served.streams.iter().copied().zip(sockets.by_ref()).collect();
        let datagrams: Vec<_> = served.datagrams.iter().copied().zip(sockets.by_ref()).collect();
        let taps = network::TAPS.into_iter().zip(sockets);
        let taps: Vec<_> =
            taps.map(|((transport, is_v6), socket)| Tap { transport, is_v6, socket }).collect();
        let is_complete = streams.len() == served.streams.len()
            && datagrams.len() == served.datagrams.len()
            && taps.len() >= 2;
        let sockets = Sockets { streams, datagrams, taps };
        let failed = |source| Error::Host { what: "serve the network of the sandbox", source };
        if !is_complete {
            // The kernel drops descriptors for which the launching program has no room.
            return Err(failed(io::Error::from_raw_os_error(libc::EMFILE)));
        }
        let ledger = sight.destinations.ledger();
        let broker = Broker::start(Arc::clone(&self.egress), sockets, ledger).map_err(failed)?;
        sight.destinations.serve(broker);
        Ok(())
    }

    /// Whether something could not be told that had to be.
    pub(crate) fn is_short(&self) -> bool {
        self.required && self.lost() > 0
    }

    fn lost(&self) -> u64 {
        self.telling.as_ref().map_or(0, |telling| telling.queue.lost())
    }

    /// All processes are gone. What they said is still brought to its destination, for no longer than this; then the observer is told
    /// of the rest.
    pub(crate) fn finish(mut self, patience: Duration) -> Audited {
        let sight = self.eye.take().and_then(Eye::close).or(self.sight.take());
        let (refused, network) = sight.map_or_else(Default::default, |sight| {
            (sight.refusals.into_calls(), sight.destinations.finish(patience))
        });
        if let Some(desk) = self.desk.take() {
            desk.close();
        }
        let audit = if self.hears { self.wanted } else { Audit::Off };
        Audited { refused, network, hears: self.hears, audit, lost: self.lost() }
    }
}

/// Attempts to reach something, on their way to the desk.
#[derive(Debug)]
struct Forward(Arc<Queue>);

impl skillsandbox_egress::Observer for Forward {
    fn tried(&self, attempt: &Attempt) {
        let actor = attempt.process.as_ref().map(|process| {
            let (pid, binary) = (process.pid, process.binary.clone());
            Arc::new(Actor { pid, thread: pid, inner_pid: None, parent: None, binary })
        });
        let what = RawTried::Network(attempt.clone());
        self.0.put(Raw { at: Instant::now(), actor, what });
    }
}
