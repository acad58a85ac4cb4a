//! What to do about a wall that cannot be put up here.

use crate::step::Step;

/// The cure for a step that failed, where one is known.
pub(crate) fn of(step: Step, errno: i32) -> Option<String> {
    let _ = (step, errno);
    None
}
