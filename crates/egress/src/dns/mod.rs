//! The wire format of DNS: questions of the confined program are answered here, and names that are dialled are asked for.

pub(crate) mod answer;
pub(crate) mod client;
#[cfg(any(fuzzing, test))]
pub(crate) mod hostile;
mod wire;

#[cfg(test)]
mod tests;
