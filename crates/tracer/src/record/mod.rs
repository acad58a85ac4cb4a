//! Recording a run: events get their place, repeats are folded, and every sink is told.

pub(crate) mod fold;
pub(crate) mod recorder;
