//! `no_new_privs`: what is executed gains nothing by its set-user-id bit or its file capabilities.

use crate::child::step::{AtStep as _, SetupStep, StepResult};

pub(crate) fn apply() -> StepResult {
    rustix::thread::set_no_new_privs(true).at(SetupStep::NoNewPrivs)
}
