//! All that observes a run, from the moment its sandbox is ready to its end.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use skillsandbox_egress::{Attempt, Broker, EgressPolicy, NamespaceSockets, NetworkRecord, PacketTap};

use super::destinations::DestinationMonitor;
use super::notify_listener::{ListenerState, NotifyListener};
use super::path_verdicts::PathJudge;
use super::record_queue::{RecordQueue, RecordSink};
use super::refusals::RefusedCall;
use super::reporter::ObservationReporter;
use super::syscall_record::{RecordedAction, SyscallRecord};
use super::{Actor, Observer};
use crate::child::Prepared;
use crate::error::Error;
use crate::layers::network;
use crate::plan::{Command, Plan};
use crate::prepare::grants::GrantedSocket;
use crate::seccomp::SyscallRules;
use crate::supervise::WakeEvent;
use crate::supervise::launch::{ChildReport, host_error};
use skillsandbox_terms::ObserveLevel;

/// The listener, the reporter, and the broker of the network.
#[derive(Debug)]
pub(crate) struct RunObservation {
    /// Until there is something to listen to.
    state: Option<ListenerState>,
    listener: Option<NotifyListener>,
    channel: Option<ObserverChannel>,
    reporter: Option<ObservationReporter>,
    wanted: ObserveLevel,
    required: bool,
    egress: Arc<EgressPolicy>,
    /// Sockets of the host that may be connected to.
    sockets: Vec<GrantedSocket>,
    /// Whether there ever was a listener.
    is_listening: bool,
}

struct ObserverChannel {
    queue: Arc<RecordQueue>,
    observer: Arc<dyn Observer>,
    paths: Option<PathJudge>,
}

impl std::fmt::Debug for ObserverChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObserverChannel").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// What was observed.
pub(crate) struct ObservationSummary {
    pub(crate) refused: Vec<RefusedCall>,
    pub(crate) network: NetworkRecord,
    pub(crate) is_listening: bool,
    pub(crate) observe_level: ObserveLevel,
    pub(crate) lost: u64,
}

impl RunObservation {
    pub(crate) fn new(
        plan: &Plan,
        command: &Command,
        rules: SyscallRules,
        paths: PathJudge,
        sockets: Vec<GrantedSocket>,
        wake: &Arc<WakeEvent>,
    ) -> Self {
        let resolver = paths.resolver();
        let channel = command.observer.clone().map(|observer| ObserverChannel {
            queue: Arc::default(),
            observer,
            paths: Some(paths),
        });
        let queue = channel.as_ref().map(|channel| Arc::clone(&channel.queue));
        let attempts = queue.clone().map(|queue| Arc::new(AttemptForwarder(queue)) as Arc<_>);
        let required = command.observe_required.then(|| Arc::clone(wake));
        let wanted = command.effective_level();
        let is_observed = wanted != ObserveLevel::Off;
        let sink = RecordSink { queue: queue.filter(|_| is_observed), required };
        Self {
            state: Some(ListenerState::new(rules, DestinationMonitor::new(attempts, wanted), sink, resolver)),
            sockets,
            listener: None,
            channel,
            reporter: None,
            wanted,
            required: command.observe_required,
            egress: Arc::new(plan.egress.clone()),
            is_listening: false,
        }
    }

    /// Makes the threads that will observe, while the sandbox is made: the program waits for them when it is ready.
    pub(crate) fn make_ready(&mut self, prepared: &Prepared) -> Result<(), Error> {
        if let Some(channel) = &mut self.channel
            && let Some(paths) = channel.paths.take()
        {
            let reporter =
                ObservationReporter::start(Arc::clone(&channel.queue), Arc::clone(&channel.observer), paths);
            self.reporter = Some(reporter.map_err(host_error("start a thread"))?);
        }
        if prepared.seccomp.notifying.is_some() {
            self.listener = Some(NotifyListener::start().map_err(host_error("start a thread"))?);
        }
        Ok(())
    }

    /// Starts to observe: the sandbox is ready, and the program is not executed yet.
    pub(crate) fn start(&mut self, prepared: &Prepared, report: &mut ChildReport) -> Result<(), Error> {
        self.start_broker(prepared, std::mem::take(&mut report.sockets))?;
        if let Some(descriptor) = report.listener.take()
            && let Some(listener) = &mut self.listener
            && let Some(mut state) = self.state.take()
        {
            state.set_sockets(report.private.take(), std::mem::take(&mut self.sockets));
            listener.listen(descriptor, state);
            self.is_listening = true;
        }
        Ok(())
    }

    /// Begins to serve the sockets that were made inside.
    fn start_broker(&mut self, prepared: &Prepared, sockets: Vec<OwnedFd>) -> Result<(), Error> {
        let (Some(served), Some(state)) = (&prepared.network.served, &mut self.state) else { return Ok(()) };
        let mut sockets = sockets.into_iter();
        let streams: Vec<_> = served.streams.iter().copied().zip(sockets.by_ref()).collect();
        let datagrams: Vec<_> = served.datagrams.iter().copied().zip(sockets.by_ref()).collect();
        let taps = network::TAPS.into_iter().zip(sockets);
        let taps: Vec<_> =
            taps.map(|((transport, is_v6), socket)| PacketTap { transport, is_v6, socket }).collect();
        let is_complete = streams.len() == served.streams.len()
            && datagrams.len() == served.datagrams.len()
            && taps.len() >= 2;
        let sockets = NamespaceSockets { streams, datagrams, taps };
        let failed = |source| Error::Host { what: "serve the network of the sandbox", source };
        if !is_complete {
            // The kernel drops descriptors for which the launching program has no room.
            return Err(failed(io::Error::from_raw_os_error(libc::EMFILE)));
        }
        let log = state.destinations.log();
        let broker = Broker::start(Arc::clone(&self.egress), sockets, log).map_err(failed)?;
        state.destinations.set_broker(broker);
        Ok(())
    }

    /// Whether something is missing that had to be reported.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.required && self.lost() > 0
    }

    fn lost(&self) -> u64 {
        self.channel.as_ref().map_or(0, |channel| channel.queue.lost_count())
    }

    /// All processes are gone. What they sent is still brought to its destination, for no longer than this; then the observer is told
    /// the rest. What was held for it goes with this observation.
    pub(crate) fn finish(&mut self, wait: Duration) -> ObservationSummary {
        let state = self.listener.take().and_then(NotifyListener::close).or(self.state.take());
        let (refused, network) = state.map_or_else(Default::default, |state| {
            (state.refusals.into_calls(), state.destinations.finish(wait))
        });
        if let Some(reporter) = &self.reporter {
            reporter.report_rest();
        }
        let observe_level = if self.is_listening { self.wanted } else { ObserveLevel::Off };
        ObservationSummary {
            refused,
            network,
            is_listening: self.is_listening,
            observe_level,
            lost: self.lost(),
        }
    }
}

/// Puts network attempts into the queue of the reporter.
#[derive(Debug)]
struct AttemptForwarder(Arc<RecordQueue>);

impl skillsandbox_egress::AttemptObserver for AttemptForwarder {
    fn tried(&self, attempt: &Attempt) {
        let actor = attempt.process.as_ref().map(|process| {
            let (pid, binary) = (process.pid, process.binary.clone());
            Arc::new(Actor { pid, thread: pid, inner_pid: None, parent: None, binary })
        });
        let action = RecordedAction::Network(attempt.clone());
        self.0.push(SyscallRecord { at: Instant::now(), actor, action });
    }
}
