//! Sentences that skills hold: honest ones, and those of attackers. All written for these tests; addresses lead nowhere.

pub(crate) mod honest;
pub(crate) mod hostile;
