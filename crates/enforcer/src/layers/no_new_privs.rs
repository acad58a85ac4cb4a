//! `no_new_privs`: what is executed gains nothing by its set-user-id bit or its file capabilities.

use crate::child::step::{Applied, At as _, Step};

pub(crate) fn apply() -> Applied {
    rustix::thread::set_no_new_privs(true).at(Step::NoNewPrivs)
}
