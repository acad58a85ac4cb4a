//! What a hostile program may try with a gate.
