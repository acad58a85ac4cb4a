//! What lies between the client's lines and the protocol: bounds on what is under way, and one way to end.
//!
//! The SDK starts a task for every request that it reads, and one for every answer. So reading waits while many are under way: whoever does
//! not read answers, or asks for more than can be told, is not read from. Calls that run skills do not count, since somebody may want to
//! cancel one while all slots are taken; `run_slots.rs` bounds those.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;

use crate::run_slots::SkillRunSlots;
use crate::tools;

/// Most requests and unread answers that are under way.
const MOST: usize = 64;

/// A transport that reads no further than it can answer.
#[derive(Debug)]
pub(crate) struct Backpressure<T> {
    inner: T,
    load: Arc<RequestLoad>,
    runs: SkillRunSlots,
    begun: bool,
}

#[derive(Debug, Default)]
struct RequestLoad {
    state: Mutex<LoadState>,
    less: Notify,
}

#[derive(Debug, Default)]
struct LoadState {
    asked: HashSet<RequestId>,
    unsent: usize,
}

impl<T> Backpressure<T> {
    pub(crate) fn new(inner: T, runs: SkillRunSlots) -> Self {
        Self { inner, load: Arc::default(), runs, begun: false }
    }
}

impl RequestLoad {
    fn state(&self) -> MutexGuard<'_, LoadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn room(&self) {
        loop {
            let less = self.less.notified();
            {
                let state = self.state();
                if state.asked.len() + state.unsent < MOST {
                    return;
                }
            }
            less.await;
        }
    }

    fn answered(&self, id: &RequestId) {
        self.state().asked.remove(id);
        self.less.notify_one();
    }
}

/// An answer that is being written; gone when it is, or when writing is given up.
struct UnsentAnswer(Arc<RequestLoad>);

impl UnsentAnswer {
    fn begin(load: &Arc<RequestLoad>, answers: Option<&RequestId>) -> Self {
        let mut state = load.state();
        if let Some(id) = answers {
            state.asked.remove(id);
        }
        state.unsent += 1;
        Self(Arc::clone(load))
    }
}

impl Drop for UnsentAnswer {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.unsent = state.unsent.saturating_sub(1);
        drop(state);
        self.0.less.notify_one();
    }
}

fn answers(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// Whether a request ends by itself, and soon.
fn is_short(request: &ClientRequest) -> bool {
    !matches!(request, ClientRequest::CallToolRequest(call) if call.params.name == tools::RUN_SKILL)
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Backpressure<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let unsent = UnsentAnswer::begin(&self.load, answers(&item));
        let writing = self.inner.send(item);
        async move {
            let _unsent = unsent;
            writing.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = tokio::select! {
                message = async {
                    self.load.room().await;
                    self.inner.receive().await
                } => message,
                () = self.runs.closed() => None,
            };
            let Some(message) = message else {
                // The client has gone: nobody would hear what its skills still say. The SDK would let them go on for a while.
                self.runs.close();
                return None;
            };
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.begun = true;
                    if is_short(&request.request) {
                        self.load.state().asked.insert(request.id.clone());
                    }
                }
                // The SDK takes anything but a request for the end of a client that has not begun. It means nothing yet.
                _ if !self.begun => continue,
                JsonRpcMessage::Notification(notification) => {
                    if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.load.answered(id);
                    }
                }
                _ => {}
            }
            return Some(message);
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
